//! System calls that a program makes by number: those that map memory, and those that start a process.

use std::ffi::{c_int, c_long};

use super::memory::{maps, remaps, unmaps};
use super::process::forks;
use super::real::real;
use crate::hooks::export;

/// Which function makes a call: the real one, unless it has to be seen. A call that goes on elsewhere, on another stack, must not
/// return through a function of ours.
extern "C" fn maker(number: usize, first: usize, second: usize) -> usize {
    match number as c_long {
        libc::SYS_mmap | libc::SYS_munmap | libc::SYS_mremap => {
            __deadheat_system_call as *const () as usize
        }
        number if is_fork(number, first, second) => __deadheat_system_call as *const () as usize,
        // SAFETY: it is called with the program's own arguments.
        _ => unsafe { real!(syscall: fn()) as *const () as usize },
    }
}

/// Whether a call makes a process with memory of its own, which goes on where the call returns.
#[cfg(target_arch = "x86_64")]
fn is_fork(number: c_long, flags: usize, stack: usize) -> bool {
    let apart = flags as c_int & (libc::CLONE_VM | libc::CLONE_SETTLS) == 0;
    number == libc::SYS_fork || number == libc::SYS_clone && apart && stack == 0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_fork(number: c_long, flags: usize, stack: usize) -> bool {
    let apart = flags as c_int & (libc::CLONE_VM | libc::CLONE_SETTLS) == 0;
    number == libc::SYS_clone && apart && stack == 0
}

unsafe extern "C" fn system_call(
    number: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    pc: usize,
) -> usize {
    // SAFETY: the program's own call. Words that it does not have are passed on as they were found.
    let call = || unsafe {
        real!(syscall: fn(usize, usize, usize, usize, usize, usize, usize) -> usize)(
            number, a, b, c, d, e, f,
        )
    };
    match number as c_long {
        libc::SYS_mmap => maps(b, c, pc, call),
        libc::SYS_munmap => unmaps(a, b, pc, call),
        libc::SYS_mremap => remaps((a, b), c, d, pc, call),
        _ => forks(|| call() as c_int) as usize,
    }
}

unsafe extern "C" {
    fn __deadheat_system_call();
}

export! {
    "syscall" before => maker;
    "__deadheat_system_call" 7 => system_call;
}
