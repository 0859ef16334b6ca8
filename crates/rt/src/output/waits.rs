//! Which thread waits for what: for `deadheat run`, which says so of a program that is stuck when its time is up.
//!
//! Each thread has a place in the mailbox, by its number, and writes there before it calls what may block. Whoever looks needs nobody's
//! help then.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_tape::mailbox::{Wait, Waits};

use crate::order::thread::{enter, local};
use crate::platform::os;
use crate::platform::world::world;

/// The place of threads that nobody looks at.
static UNSEEN: Wait = Wait {
    what: AtomicU32::new(0),
    tid: AtomicU32::new(0),
    object: AtomicU64::new(0),
    pc: AtomicU64::new(0),
};

/// The running thread is about to call what may block.
#[inline]
pub fn begin(what: Waits, object: usize, pc: usize) {
    if let Some(wait) = place() {
        wait.object.store(object as u64, Ordering::Relaxed);
        wait.pc.store(pc as u64, Ordering::Relaxed);
        wait.what.store(what as u32, Ordering::Release);
    }
}

/// It goes on.
#[inline]
pub fn end() {
    if let Some(wait) = place() {
        wait.what.store(0, Ordering::Release);
    }
}

#[inline]
fn place() -> Option<&'static Wait> {
    // SAFETY: the thread's own.
    let thread = unsafe { local().thread.get().as_ref()? };
    let place = thread.wait.get().or_else(find)?;
    // All threads would write to it, and wait for each other's caches.
    (!std::ptr::eq(place, &UNSEEN)).then_some(place)
}

#[cold]
fn find() -> Option<&'static Wait> {
    let entered = enter()?;
    let thread = entered.thread();
    let place = world().findings.wait(thread.id);
    thread.wait.set(Some(place.unwrap_or(&UNSEEN)));
    // SAFETY: asks for a number.
    let tid = unsafe { os::call(libc::SYS_gettid, [0; 6]) };
    place?.tid.store(tid as u32, Ordering::Relaxed);
    place
}
