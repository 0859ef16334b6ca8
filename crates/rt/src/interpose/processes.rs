//! What processes have to synchronise with each other, used by the threads of one: semaphores and queues of messages of
//! System V, locks on files, and signals that are sent on purpose.

use std::ffi::c_int;
use std::sync::atomic::AtomicU8;

use super::calls::{calls, went_well};
use super::memory::{reads, writes};
use super::real::real;
use crate::order::sync;

/// Addresses that stand for channels: nobody else synchronises there. Different things may share one.
static CHANNELS: [AtomicU8; 1 << 16] = [const { AtomicU8::new(0) }; 1 << 16];

#[derive(Clone, Copy)]
enum Thing {
    Semaphore,
    Messages,
    File,
    Signal,
}

fn channel(thing: Thing, number: usize) -> usize {
    let hash = (number ^ (thing as usize) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    std::ptr::from_ref(&CHANNELS[hash >> 48]) as usize
}

/// Each semaphore that these operations change or wait for.
fn semaphores(set: usize, operations: usize, number: usize, mut each: impl FnMut(usize, i16)) {
    for index in 0..number {
        // SAFETY: the program's own list.
        let operation = unsafe { &*(operations as *const libc::sembuf).add(index) };
        let semaphore = set << 16 | usize::from(operation.sem_num);
        each(channel(Thing::Semaphore, semaphore), operation.sem_op);
    }
}

fn gives(set: usize, operations: usize, number: usize, pc: usize) {
    semaphores(set, operations, number, |channel, change| {
        if change > 0 {
            sync::release_more(channel, pc);
        }
    });
}

fn has_taken(set: usize, operations: usize, number: usize, pc: usize) {
    semaphores(set, operations, number, |channel, change| {
        if change <= 0 {
            sync::acquire(channel, pc);
        }
    });
}

/// A message begins with a word for its type.
const TYPE: usize = 8;

/// The file behind a descriptor: a lock on it is the same through each.
fn file(descriptor: usize) -> Option<usize> {
    // SAFETY: the kernel fills in what it is given.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let found =
            real!(fstat: fn(c_int, *mut libc::stat) -> c_int)(descriptor as c_int, &mut status)
                == 0;
        found.then(|| {
            channel(
                Thing::File,
                (status.st_ino ^ status.st_dev.rotate_left(32)) as usize,
            )
        })
    }
}

/// A lock that a descriptor has on its file is about to be given back.
pub fn unlocks_file(descriptor: usize, pc: usize) {
    if let Some(lock) = file(descriptor) {
        sync::release_more(lock, pc);
    }
}

/// A descriptor has got a lock on its file.
pub fn has_locked_file(descriptor: usize, pc: usize) {
    if let Some(lock) = file(descriptor) {
        sync::acquire(lock, pc);
    }
}

fn sends(signal: usize, pc: usize) {
    sync::release_more(channel(Thing::Signal, signal & 0x7f), pc);
}

/// A signal has been waited for, or its handler is about to run: whoever sent it comes before.
pub fn has_signal(signal: c_int, pc: usize) {
    if signal > 0 {
        sync::acquire(channel(Thing::Signal, signal as usize & 0x7f), pc);
    }
}

calls! { (pc, result)
    semop(set, operations, number) { gives(set, operations, number, pc); } {
        if went_well(result) { has_taken(set, operations, number, pc) }
    };
    semtimedop(set, operations, number, time) { gives(set, operations, number, pc); } {
        if went_well(result) { has_taken(set, operations, number, pc) }
    };
    msgsnd(queue, message, size, flags) {
        reads(message, TYPE + size, pc);
        sync::release_more(channel(Thing::Messages, queue), pc);
    } {};
    msgrcv(queue, message, size, kind, flags) {} {
        if result as isize >= 0 {
            sync::acquire(channel(Thing::Messages, queue), pc);
            writes(message, TYPE + result, pc);
        }
    };
    flock(descriptor, what) {
        if what as c_int & libc::LOCK_UN != 0 { unlocks_file(descriptor, pc) }
    } {
        if what as c_int & libc::LOCK_UN == 0 && went_well(result) { has_locked_file(descriptor, pc) }
    };
    kill(process, signal) { sends(signal, pc); } {};
    pthread_kill(thread, signal) { sends(signal, pc); } {};
    sigqueue(process, signal, value) { sends(signal, pc); } {};
    pthread_sigqueue(thread, signal, value) { sends(signal, pc); } {};
    sigwait(set, signal) {} {
        if went_well(result) {
            // SAFETY: the function has written it.
            has_signal(unsafe { *(signal as *const c_int) }, pc);
            writes(signal, 4, pc);
        }
    };
    sigwaitinfo(set, info) {} { has_signal(result as c_int, pc) };
    sigtimedwait(set, info, time) {} { has_signal(result as c_int, pc) };
}
