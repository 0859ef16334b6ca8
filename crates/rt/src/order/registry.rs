//! The threads that live, in a list, and pausing all of them.
//!
//! Whoever pauses the runtime waits until no other thread is between [`enter`](crate::order::thread::enter) and the drop of
//! its guard, and keeps them out: that is how memory is collected and processes are forked.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::order::thread::{Entered, Thread, local};
use crate::platform::os::{self, Spin, SpinGuard};

/// Threads that live, in a list.
#[derive(Debug)]
pub struct Registry {
    pub lock: Spin,
    pub first: Cell<*mut Thread>,
    pub stop: AtomicU32,
}

// SAFETY: the list is only touched with the lock held.
unsafe impl Sync for Registry {}

impl Registry {
    const fn new() -> Registry {
        Registry {
            lock: Spin::new(),
            first: Cell::new(std::ptr::null_mut()),
            stop: AtomicU32::new(0),
        }
    }
}

pub static REGISTRY: Registry = Registry::new();

/// While it lives, no other thread is between [`enter`] and the drop of its guard.
#[derive(Debug)]
pub struct Pause<'a> {
    _registry: SpinGuard<'a>,
}

impl Pause<'_> {
    /// Every thread that lives.
    pub fn threads(&self, mut each: impl FnMut(&mut Thread)) {
        let mut at = REGISTRY.first.get();
        // SAFETY: the registry is locked, and no thread but this one touches a `Thread` beyond what the
        // access path reads.
        while let Some(thread) = unsafe { at.as_mut() } {
            each(thread);
            at = thread.next;
        }
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        REGISTRY.stop.store(0, Ordering::SeqCst);
    }
}

/// Waits until all other threads are out of the runtime, and keeps them out. The caller must not be
/// between [`enter`] and the drop of its guard, or only so with `busy` taken back by [`Entered::rest`].
pub fn pause() -> Pause<'static> {
    let guard = REGISTRY.lock.lock();
    REGISTRY.stop.store(1, Ordering::SeqCst);
    os::barrier();
    let pause = Pause { _registry: guard };
    let own = local().thread.get();
    pause.threads(|thread| {
        while std::ptr::from_mut(thread) != own && thread.busy.load(Ordering::SeqCst) != 0 {
            os::yield_now();
        }
    });
    pause
}

impl Entered {
    /// Lets others pause the runtime now, if they want to.
    pub fn rest(&self) {
        self.thread().busy.store(0, Ordering::SeqCst);
        while REGISTRY.stop.load(Ordering::SeqCst) != 0 {
            os::yield_now();
        }
        self.resume();
    }

    pub fn resume(&self) {
        loop {
            self.thread().busy.store(1, Ordering::SeqCst);
            if REGISTRY.stop.load(Ordering::SeqCst) == 0 {
                return;
            }
            self.thread().busy.store(0, Ordering::SeqCst);
            os::yield_now();
        }
    }

    /// Runs something while all other threads are out of the runtime.
    pub fn alone<T>(&self, what: impl FnOnce(&Pause) -> T) -> T {
        self.thread().busy.store(0, Ordering::SeqCst);
        let pause = pause();
        let result = what(&pause);
        drop(pause);
        self.resume();
        result
    }
}

/// Ends a pause whose guard was forgotten.
pub fn resume_all() {
    REGISTRY.stop.store(0, Ordering::SeqCst);
    REGISTRY.lock.reset();
}

/// Every thread that lives. For the only thread of a forked child.
pub fn threads_before_fork(mut each: impl FnMut(&mut Thread)) {
    let mut at = REGISTRY.first.get();
    // SAFETY: no other thread exists.
    while let Some(thread) = unsafe { at.as_mut() } {
        each(thread);
        at = thread.next;
    }
}

/// Only the running thread is left: for a forked child.
pub fn keep_only_this() {
    let thread = local().thread.get();
    // SAFETY: no other thread exists.
    if let Some(thread) = unsafe { thread.as_mut() } {
        thread.next = std::ptr::null_mut();
    }
    REGISTRY.first.set(thread);
}

/// Calls `refresh` on every thread: something global has changed.
pub fn refresh_all() {
    let _guard = REGISTRY.lock.lock();
    let mut at = REGISTRY.first.get();
    // SAFETY: the registry is locked.
    while let Some(thread) = unsafe { at.as_ref() } {
        thread.refresh();
        at = thread.next;
    }
}

/// Whose thread-local variables or native stack an address lies in, and how far below the end of the former. The caller may
/// be in the runtime: a registry that is locked has no answer.
pub fn owner(address: usize) -> Option<(u32, Option<usize>)> {
    let _guard = REGISTRY.lock.try_lock()?;
    let mut at = REGISTRY.first.get();
    // SAFETY: the registry is locked.
    while let Some(thread) = unsafe { at.as_ref() } {
        // A thread that was created has its variables at the end of its stack.
        let has = |(from, to): (usize, usize)| (from..to).contains(&address);
        if has(thread.variables) || has(thread.stack) {
            let below = thread.variables.1.wrapping_sub(address);
            return Some((thread.id, has(thread.variables).then_some(below)));
        }
        at = thread.next;
    }
    None
}

/// What is found out about a thread that lives, by its number. It may be running. The caller may be in the runtime: a registry
/// that is locked has no answer.
pub fn of_thread<T>(id: u32, what: impl FnOnce(&Thread) -> Option<T>) -> Option<T> {
    let _guard = REGISTRY.lock.try_lock()?;
    let mut at = REGISTRY.first.get();
    // SAFETY: the registry is locked.
    while let Some(thread) = unsafe { at.as_ref() } {
        if thread.id == id {
            return what(thread);
        }
        at = thread.next;
    }
    None
}
