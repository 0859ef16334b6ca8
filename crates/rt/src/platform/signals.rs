//! Signals that arrive while the thread is in the runtime wait until it is out.
//!
//! A handler of the program may run at any moment, and call hooks. The access path stands that; everything
//! else runs between `enter` and the drop of its guard, and meanwhile a handler is not called: the signal is
//! noted and handled when the guard drops. Signals that the code itself causes (a bad address) do not wait.
//! So does what a program wants to do when a race is found.

use std::sync::atomic::Ordering;

use crate::order::thread::local;

/// A signal that waits.
#[derive(Clone, Copy)]
struct Signal {
    number: i32,
    info: libc::siginfo_t,
}

/// The signals that wait on a thread. More than there is room for are handled at once: none is lost.
#[derive(Clone, Copy, Default)]
pub struct Waiting {
    count: usize,
    signals: [Option<Signal>; 4],
    /// How many races were found that the program has not been told of.
    races: u32,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waiting({})", self.count)
    }
}

/// Whether a signal must wait; it is noted then.
///
/// # Safety
/// `info` is what the kernel gave to the handler.
pub unsafe fn wait(number: i32, info: *const libc::siginfo_t) -> bool {
    let local = local();
    let thread = local.thread.get();
    let caused = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGABRT,
    ];
    if local.depth.get() == 0 || thread.is_null() || caused.contains(&number) {
        return false;
    }
    // SAFETY: the thread's own; the code that was interrupted does not touch this field while it waits.
    let waiting = unsafe { &mut (*thread).signals };
    if waiting.count == waiting.signals.len() {
        return false;
    }
    waiting.signals[waiting.count] = Some(Signal {
        number,
        // SAFETY: the kernel gave it to the handler, says the caller; it is on the stack of the handler, which runs.
        info: unsafe { *info },
    });
    waiting.count += 1;
    local.pending.store(true, Ordering::Relaxed);
    true
}

/// The running thread has found a race: the program is told when it is out of the runtime.
pub fn tell_of_race() {
    let local = local();
    let thread = local.thread.get();
    if !thread.is_null() {
        // SAFETY: the thread's own, in the runtime.
        unsafe { (*thread).signals.races += 1 };
        local.pending.store(true, Ordering::Relaxed);
    }
}

/// Handles the signals that have waited.
#[cold]
pub fn handle_waiting() {
    let local = local();
    local.pending.store(false, Ordering::Relaxed);
    let thread = local.thread.get();
    if thread.is_null() {
        return;
    }
    // SAFETY: the thread's own. A signal that arrives meanwhile is handled at once, since the thread is out of the
    // runtime.
    let waiting = unsafe { std::mem::take(&mut (*thread).signals) };
    waiting.handle();
}

impl Waiting {
    /// Handles the signals, on a thread that is out of the runtime.
    pub fn handle(&self) {
        for signal in self.signals.iter().take(self.count).flatten() {
            #[cfg(feature = "interpose")]
            crate::interpose::signals::deliver(signal.number, &signal.info);
            #[cfg(not(feature = "interpose"))]
            let _ = (signal.number, &signal.info);
        }
        for _ in 0..self.races {
            #[cfg(feature = "interpose")]
            crate::hooks::sanitizer::tell_of_race();
        }
    }
}
