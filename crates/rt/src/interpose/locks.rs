//! Locks, condition variables, barriers and semaphores.
//!
//! A lock is released before the real function gives it away, and acquired after the real function has got it, so
//! that whoever gets it finds what was released.
//!
//! What OpenMP's runtime and the allocator do with locks of their own is skipped, whichever call it is: every call here is
//! a line of one table, and the table asks ([`is_internal`]).

use std::ffi::{c_int, c_void};

use deadheat_tape::mailbox::Waits;

use super::calls::{calls, export_words, went_well, word};
use super::memory::lock_life;
use super::real::real;
use crate::check::access::access;
use crate::hooks::export;
use crate::openmp::is_runtime;
use crate::order::sync;
use crate::output::waits::{self, end as goes_on};
use crate::platform::checked::{is_allocator, is_checked};

/// Where the readers of a lock release: beside where its writers do.
fn readers(lock: usize) -> usize {
    lock + 1
}

/// Whether a lock is none of the program's: code at an address uses it to keep its own things in order.
#[inline]
fn is_internal(pc: usize) -> bool {
    is_runtime(pc) || is_allocator(pc)
}

/// A lock must live while it is used: its memory is read. Whoever takes one reads it before: what the last holder has done,
/// to make it among other things, is not known yet.
fn uses(lock: usize, pc: usize) {
    if is_checked(pc) {
        access::<0, false>(lock, pc);
    }
}

/// A lock is about to be waited for.
fn waits_for(what: Waits, lock: usize, pc: usize) {
    uses(lock, pc);
    waits::begin(what, lock, pc);
}

/// A lock begins or ends: nobody may use it meanwhile.
fn changes(lock: usize, pc: usize) {
    lock_life(lock, pc);
}

/// Whether a mutex is held now. One whose owner has died is, too.
fn is_got(result: usize) -> bool {
    [0, libc::EOWNERDEAD].contains(&(result as c_int))
}

fn got_mutex(lock: usize, result: usize, pc: usize) {
    if is_got(result) {
        sync::hold(lock, true, None, pc);
    }
}

fn got_write(lock: usize, result: usize, pc: usize) {
    if is_got(result) {
        sync::hold(lock, true, Some(readers(lock)), pc);
    }
}

fn got_read(lock: usize, result: usize, pc: usize) {
    if went_well(result) {
        sync::hold(lock, false, None, pc);
    }
}

fn gives_mutex(lock: usize, pc: usize) {
    uses(lock, pc);
    sync::unhold(lock, None, pc);
}

fn got_token(semaphore: usize, result: usize, pc: usize) {
    if went_well(result) {
        sync::take(semaphore, pc);
    }
}

/// A lock begins: whoever held one there before has no part in it.
fn begins(lock: usize, pc: usize) {
    sync::drop_held(lock);
    changes(lock, pc);
}

/// A lock ends that the running thread may hold.
fn ends_held(lock: usize, pc: usize) {
    if is_checked(pc) {
        sync::check_not_held(lock, pc);
    }
}

fn ends(lock: usize, pc: usize) {
    changes(lock, pc);
    sync::destroy(lock, pc);
}

calls! { (pc, result) unless(is_internal(pc))
    pthread_mutex_init(lock, attributes) { begins(lock, pc) } {};
    pthread_mutex_lock(lock) { waits_for(Waits::Mutex, lock, pc) } { goes_on(); got_mutex(lock, result, pc) };
    pthread_mutex_trylock(lock) { uses(lock, pc) } { got_mutex(lock, result, pc) };
    pthread_mutex_timedlock(lock, time) { waits_for(Waits::Mutex, lock, pc) } { goes_on(); got_mutex(lock, result, pc) };
    pthread_mutex_clocklock(lock, clock, time) { waits_for(Waits::Mutex, lock, pc) } { goes_on(); got_mutex(lock, result, pc) };
    pthread_mutex_unlock(lock) { gives_mutex(lock, pc) } {};
    pthread_mutex_destroy(lock) { ends(lock, pc) } {
        if result as c_int == libc::EBUSY {
            ends_held(lock, pc)
        }
    };

    pthread_spin_init(lock, shared) { begins(lock, pc) } {};
    pthread_spin_lock(lock) { uses(lock, pc) } { got_mutex(lock, result, pc) };
    pthread_spin_trylock(lock) { uses(lock, pc) } { got_mutex(lock, result, pc) };
    pthread_spin_unlock(lock) { gives_mutex(lock, pc) } {};
    pthread_spin_destroy(lock) {
        ends_held(lock, pc);
        ends(lock, pc);
    } {};

    mtx_init(lock, kind) { begins(lock, pc) } {};
    mtx_lock(lock) { waits_for(Waits::Mutex, lock, pc) } { goes_on(); got_mutex(lock, result, pc) };
    mtx_trylock(lock) { uses(lock, pc) } { got_mutex(lock, result, pc) };
    mtx_timedlock(lock, time) { waits_for(Waits::Mutex, lock, pc) } { goes_on(); got_mutex(lock, result, pc) };
    mtx_unlock(lock) { gives_mutex(lock, pc) } {};
    mtx_destroy(lock) { ends(lock, pc) } {};

    pthread_rwlock_init(lock, attributes) { begins(lock, pc) } {};
    pthread_rwlock_rdlock(lock) { waits_for(Waits::ReadWrite, lock, pc) } { goes_on(); got_read(lock, result, pc) };
    pthread_rwlock_tryrdlock(lock) { uses(lock, pc) } { got_read(lock, result, pc) };
    pthread_rwlock_timedrdlock(lock, time) { waits_for(Waits::ReadWrite, lock, pc) } { goes_on(); got_read(lock, result, pc) };
    pthread_rwlock_clockrdlock(lock, clock, time) { waits_for(Waits::ReadWrite, lock, pc) } { goes_on(); got_read(lock, result, pc) };
    pthread_rwlock_wrlock(lock) { waits_for(Waits::ReadWrite, lock, pc) } { goes_on(); got_write(lock, result, pc) };
    pthread_rwlock_trywrlock(lock) { uses(lock, pc) } { got_write(lock, result, pc) };
    pthread_rwlock_timedwrlock(lock, time) { waits_for(Waits::ReadWrite, lock, pc) } { goes_on(); got_write(lock, result, pc) };
    pthread_rwlock_clockwrlock(lock, clock, time) { waits_for(Waits::ReadWrite, lock, pc) } { goes_on(); got_write(lock, result, pc) };
    pthread_rwlock_unlock(lock) {
        uses(lock, pc);
        sync::unhold(lock, Some(readers(lock)), pc);
    } {};
    pthread_rwlock_destroy(lock) {
        ends_held(lock, pc);
        ends(lock, pc);
        sync::destroy(readers(lock), pc);
    } {};

    sem_init(semaphore, shared, value) { changes(semaphore, pc) } {};
    sem_wait(semaphore) { waits_for(Waits::Semaphore, semaphore, pc) } { goes_on(); got_token(semaphore, result, pc) };
    sem_trywait(semaphore) { uses(semaphore, pc) } { got_token(semaphore, result, pc) };
    sem_timedwait(semaphore, time) { waits_for(Waits::Semaphore, semaphore, pc) } { goes_on(); got_token(semaphore, result, pc) };
    sem_clockwait(semaphore, clock, time) { waits_for(Waits::Semaphore, semaphore, pc) } { goes_on(); got_token(semaphore, result, pc) };
    sem_post(semaphore) {
        uses(semaphore, pc);
        sync::give(semaphore, pc);
    } {};
    sem_destroy(semaphore) { ends(semaphore, pc) } {};

    pthread_barrier_init(barrier, attributes, count) {
        changes(barrier, pc);
        sync::begin_barrier(barrier, u64::from(count as u32));
    } {};
    // The real function waits for those who still leave.
    pthread_barrier_destroy(barrier) { changes(barrier, pc) } { sync::end_barrier(barrier, pc) };

    pthread_cond_init(condition, attributes) { changes(condition, pc) } {};
    pthread_cond_signal(condition) { uses(condition, pc) } {};
    pthread_cond_broadcast(condition) { uses(condition, pc) } {};
    pthread_cond_destroy(condition) { ends(condition, pc) } {};
}

unsafe extern "C" fn barrier_wait(barrier: usize, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let wait = || unsafe { real!(pthread_barrier_wait: fn(usize) -> c_int)(barrier) };
    if is_internal(pc) {
        return wait();
    }
    waits_for(Waits::Barrier, barrier, pc);
    let round = sync::arrive(barrier, pc);
    let result = wait();
    goes_on();
    if let Some(round) = round {
        sync::leave(barrier, round, pc);
    }
    // The others may be on their way out still when one of them goes on.
    uses(barrier, pc);
    result
}

export! {
    "pthread_barrier_wait" 1 => barrier_wait;
}

/// The cleanup of the C library: what it calls if a wait is cancelled.
#[repr(C)]
struct Cleanup {
    routine: extern "C" fn(*mut c_void),
    argument: *mut c_void,
    cancel_type: c_int,
    previous: *mut Cleanup,
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        routine: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

/// A cancelled wait has its mutex back before the program's own cleanup runs.
extern "C" fn wait_cancelled(mutex: *mut c_void) {
    goes_on();
    sync::hold(mutex as usize, true, None, 0);
}

/// Waits on a condition variable: the mutex is given back meanwhile.
fn waiting(condition: usize, mutex: usize, pc: usize, wait: impl FnOnce() -> usize) -> usize {
    if is_internal(pc) {
        return wait();
    }
    waits_for(Waits::Condition, condition, pc);
    uses(mutex, pc);
    sync::unhold(mutex, None, pc);
    let mut cleanup = Cleanup {
        routine: wait_cancelled,
        argument: mutex as *mut c_void,
        cancel_type: 0,
        previous: std::ptr::null_mut(),
    };
    // SAFETY: the buffer lives until it is taken out again, or its frame is unwound.
    unsafe { _pthread_cleanup_push(&mut cleanup, wait_cancelled, mutex as *mut c_void) };
    let result = wait();
    goes_on();
    // SAFETY: as above.
    unsafe { _pthread_cleanup_pop(&mut cleanup, 0) };
    sync::hold(mutex, true, None, pc);
    result
}

/// Defines and exports functions that wait on a condition variable with a mutex, however long.
macro_rules! waits {
    ($($name:ident($condition:ident, $mutex:ident $(, $limit:ident)*);)*) => {
        $(
            unsafe extern "C" fn $name(
                $condition: usize,
                $mutex: usize,
                $($limit: usize,)*
                pc: usize,
            ) -> usize {
                // SAFETY: the program's own call.
                waiting($condition, $mutex, pc, || unsafe {
                    real!($name: fn(usize, usize $(, word!($limit))*) -> usize)($condition, $mutex $(, $limit)*)
                })
            }
            export_words!($name, $condition $mutex $($limit)*);
        )*
    };
}

waits! {
    pthread_cond_wait(condition, mutex);
    pthread_cond_timedwait(condition, mutex, time);
    pthread_cond_clockwait(condition, mutex, clock, time);
    cnd_wait(condition, mutex);
    cnd_timedwait(condition, mutex, time);
}
