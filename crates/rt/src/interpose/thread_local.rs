//! Where the running thread has its thread-local variables.
//!
//! The loader puts those of the executable and of the libraries it starts with in one piece below the thread pointer
//! (x86-64). How long that is follows from what the modules need.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, total: *mut c_void) -> c_int {
    // SAFETY: what the loader says of a module, and the caller's number.
    unsafe {
        let (info, total) = (&*info, &mut *total.cast::<usize>());
        for index in 0..usize::from(info.dlpi_phnum) {
            let header = &*info.dlpi_phdr.add(index);
            if header.p_type == libc::PT_TLS {
                *total = (*total + header.p_memsz as usize)
                    .next_multiple_of((header.p_align as usize).max(16));
            }
        }
    }
    0
}

/// From where to where; nothing if it is not known.
#[cfg(target_arch = "x86_64")]
pub fn range() -> (usize, usize) {
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    let mut size = SIZE.load(Ordering::Relaxed);
    if size == 0 {
        // SAFETY: the callback is given a number of its own.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut size).cast()) };
        SIZE.store(size, Ordering::Relaxed);
    }
    let pointer: usize;
    // SAFETY: the thread pointer points to itself.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly))
    };
    (pointer - size, pointer)
}

#[cfg(not(target_arch = "x86_64"))]
pub fn range() -> (usize, usize) {
    (0, 0)
}
