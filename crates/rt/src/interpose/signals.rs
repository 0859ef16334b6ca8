//! Signal handlers of the program, called through one of the runtime's, which lets them wait if they must.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::memory::{reads, writes};
use super::real::real;
use crate::hooks::export;
use crate::order::sync;
use crate::order::thread::enter;
use crate::platform::optional_symbol::optional_symbol;

const SIGNALS: usize = 65;

/// The program's handler of a signal and its flags.
struct Entry {
    handler: AtomicUsize,
    flags: AtomicUsize,
}

static ENTRIES: [Entry; SIGNALS] = [const {
    Entry {
        handler: AtomicUsize::new(0),
        flags: AtomicUsize::new(0),
    }
}; SIGNALS];

/// The channel from whoever installs a handler to the handler, whichever thread that runs on.
fn installation(signal: c_int) -> usize {
    std::ptr::from_ref(&ENTRIES[signal as usize % SIGNALS]) as usize
}

/// What has been done happens before the handler that is about to be installed.
fn installs(signal: c_int, pc: usize) {
    sync::release(installation(signal), pc);
}

unsafe extern "C" fn handle(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: what the kernel gave.
    unsafe {
        if !crate::platform::signals::wait(number, info) {
            call(number, info, context);
        }
    }
}

unsafe fn call(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let entry = &ENTRIES[number as usize % SIGNALS];
    let handler = entry.handler.load(Ordering::Relaxed);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        return;
    }
    sync::acquire(installation(number), handler);
    super::processes::has_signal(number, handler);
    let ignored = set_ignored([0; 3]);
    // SAFETY: the program has registered the handler with these flags.
    unsafe {
        if entry.flags.load(Ordering::Relaxed) & libc::SA_SIGINFO as usize != 0 {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(handler);
            handler(number, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
            handler(number);
        }
    }
    set_ignored(ignored);
}

/// Sets what the running thread ignores, and says what that was. A handler did not ask for what the code does that it has
/// interrupted.
fn set_ignored(now: [u32; 3]) -> [u32; 3] {
    let Some(entered) = enter() else {
        return now;
    };
    let thread = entered.thread();
    let before = std::mem::replace(&mut thread.ignore, now);
    if before != now {
        thread.refresh();
    }
    before
}

/// Calls the handler of a signal that has waited.
pub fn deliver(number: c_int, info: &libc::siginfo_t) {
    let mut info = *info;
    // SAFETY: a context is all plain memory; the handler gets one as of now.
    unsafe {
        let mut context: libc::ucontext_t = std::mem::zeroed();
        libc::getcontext(&mut context);
        call(number, &mut info, (&raw mut context).cast());
    }
}

type Action = libc::sigaction;

unsafe extern "C" fn sigaction(number: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        let sigaction = real!(sigaction: fn(c_int, *const Action, *mut Action) -> c_int);
        let Some(entry) = usize::try_from(number)
            .ok()
            .and_then(|number| ENTRIES.get(number))
        else {
            return sigaction(number, new, old);
        };
        let before = (
            entry.handler.load(Ordering::Relaxed),
            entry.flags.load(Ordering::Relaxed),
        );
        let mut action: Action = if new.is_null() {
            std::mem::zeroed()
        } else {
            *new
        };
        if !new.is_null() {
            let handler = action.sa_sigaction;
            if handler != libc::SIG_DFL && handler != libc::SIG_IGN {
                entry.handler.store(handler, Ordering::Relaxed);
                entry
                    .flags
                    .store(action.sa_flags as usize, Ordering::Relaxed);
                action.sa_sigaction = handle as *const () as usize;
                action.sa_flags |= libc::SA_SIGINFO;
            }
        }
        let wrapped = if new.is_null() {
            new
        } else {
            &raw const action
        };
        let result = sigaction(number, wrapped, old);
        if result != 0 && !new.is_null() {
            entry.handler.store(before.0, Ordering::Relaxed);
            entry.flags.store(before.1, Ordering::Relaxed);
        }
        if result == 0 && !old.is_null() && (*old).sa_sigaction == handle as *const () as usize {
            (*old).sa_sigaction = before.0;
            (*old).sa_flags = before.1 as c_int;
        }
        result
    }
}

/// Rust's standard library asks, before `main`, whether somebody handles the signals of a stack that overflows. If not, it
/// does; and each thread then enters itself into a list, under a lock, when it begins and when it ends, which puts a thread
/// that has ended before all that begin later. Programs do not mean that order, and races would hide behind it: so it is
/// told that somebody does. Whoever asks later hears the truth.
fn is_asked_by_rust(number: c_int) -> bool {
    static ASKED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    let asked = match number {
        libc::SIGSEGV => &ASKED[0],
        libc::SIGBUS => &ASKED[1],
        _ => return false,
    };
    // Whoever linked the program has said that it is one of Rust.
    optional_symbol!("__deadheat_is_rust") != 0 && !asked.swap(true, Ordering::Relaxed)
}

/// The program calls it: what it gives is read, what it gets is written, and what is copied here is nobody's business.
unsafe extern "C" fn sigaction_of_program(
    number: c_int,
    new: *const Action,
    old: *mut Action,
    pc: usize,
) -> c_int {
    if !new.is_null() {
        reads(new as usize, size_of::<Action>(), pc);
        installs(number, pc);
    }
    let entered = enter();
    // SAFETY: the program's own call.
    let result = unsafe { sigaction(number, new, old) };
    drop(entered);
    if result == 0 && new.is_null() && !old.is_null() && is_asked_by_rust(number) {
        // SAFETY: it was just written.
        let action = unsafe { &mut *old };
        if action.sa_sigaction == libc::SIG_DFL {
            action.sa_sigaction = libc::SIG_IGN;
        }
    }
    if result == 0 && !old.is_null() {
        writes(old as usize, size_of::<Action>(), pc);
    }
    result
}

unsafe extern "C" fn signal(number: c_int, handler: usize, pc: usize) -> usize {
    installs(number, pc);
    // SAFETY: the program's own call.
    unsafe {
        let mut new: Action = std::mem::zeroed();
        let mut old: Action = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        match sigaction(number, &new, &mut old) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

export! {
    "sigaction" 3 => sigaction_of_program;
    "signal" 2 => signal;
}
