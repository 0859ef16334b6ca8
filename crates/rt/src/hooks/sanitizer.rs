//! What a program that was built for a sanitizer asks of it, whichever it is: of `common_interface_defs.h` and
//! `allocator_interface.h` the part that has a meaning here.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::check::access::access;
use crate::interpose::heap::malloc_usable_size;
use crate::platform::world::{World, world};

use super::annotations::{nothing, zero};
use super::export;

/// Loads and stores at any address, checked.
macro_rules! unaligned {
    ($($load:ident $store:ident $type:ty, $log:literal;)*) => {
        $(unsafe extern "C" fn $load(at: *const $type, pc: usize) -> $type {
            access::<$log, false>(at as usize, pc);
            // SAFETY: the program's own access.
            unsafe { at.read_unaligned() }
        }
        unsafe extern "C" fn $store(at: *mut $type, value: $type, pc: usize) {
            access::<$log, true>(at as usize, pc);
            // SAFETY: the program's own access.
            unsafe { at.write_unaligned(value) }
        })*
    };
}

unaligned! {
    load16 store16 u16, 1;
    load32 store32 u32, 2;
    load64 store64 u64, 3;
}

unsafe extern "C" {
    fn __tsan_on_report(report: *const c_void);
    fn __tsan_default_suppressions() -> *const c_char;
}

/// Tells the program that a race was found, if it wants to know: it may define `__tsan_on_report`.
pub fn tell_of_race() {
    // SAFETY: it takes what describes the report, which may be nothing.
    unsafe { __tsan_on_report(std::ptr::null()) }
}

/// The suppressions that the program brings with it, as it may by defining `__tsan_default_suppressions`.
pub fn suppressions() -> &'static [u8] {
    // SAFETY: it gives a string that is always there, or nothing.
    unsafe {
        let text = __tsan_default_suppressions();
        match text.is_null() {
            true => &[],
            false => CStr::from_ptr(text).to_bytes(),
        }
    }
}

extern "C" fn itself(size: usize) -> usize {
    size
}

extern "C" fn report_path() -> *const c_char {
    c"stderr".as_ptr()
}

/// Prints who called whom.
extern "C" fn print_stack() {
    const DEEP: usize = 64;
    let mut stack = [std::ptr::null_mut(); DEEP];
    // SAFETY: there is room for so many.
    unsafe {
        let depth = libc::backtrace(stack.as_mut_ptr(), DEEP as c_int);
        libc::backtrace_symbols_fd(stack.as_ptr(), depth, libc::STDERR_FILENO);
    }
}

fn is_block(address: usize) -> bool {
    World::exists() && world().blocks.header(address).is_some()
}

extern "C" fn owns(block: usize) -> c_int {
    is_block(block).into()
}

unsafe extern "C" fn allocated_size(block: *mut c_void) -> usize {
    match is_block(block as usize) {
        // SAFETY: a block.
        true => unsafe { malloc_usable_size(block) },
        false => 0,
    }
}

extern "C" fn allocated_bytes() -> usize {
    // SAFETY: asks for numbers.
    unsafe { libc::mallinfo2() }.uordblks
}

extern "C" fn free_bytes() -> usize {
    // SAFETY: asks for numbers.
    unsafe { libc::mallinfo2() }.fordblks
}

extern "C" fn heap_bytes() -> usize {
    // SAFETY: asks for numbers.
    let heap = unsafe { libc::mallinfo2() };
    heap.arena + heap.hblkhd
}

export! {
    "__tsan_on_report" plain => nothing;
    "__tsan_default_suppressions" plain => zero;
    "__sanitizer_unaligned_load16" 1 => load16;
    "__sanitizer_unaligned_load32" 1 => load32;
    "__sanitizer_unaligned_load64" 1 => load64;
    "__sanitizer_unaligned_store16" 2 => store16;
    "__sanitizer_unaligned_store32" 2 => store32;
    "__sanitizer_unaligned_store64" 2 => store64;
    "__sanitizer_print_stack_trace" plain => print_stack;
    "__sanitizer_set_report_path" plain => nothing;
    "__sanitizer_set_report_fd" plain => nothing;
    "__sanitizer_get_report_path" plain => report_path;
    "__sanitizer_set_death_callback" plain => nothing;
    "__sanitizer_get_estimated_allocated_size" plain => itself;
    "__sanitizer_get_ownership" plain => owns;
    "__sanitizer_get_allocated_size" plain => allocated_size;
    "__sanitizer_get_current_allocated_bytes" plain => allocated_bytes;
    "__sanitizer_get_heap_size" plain => heap_bytes;
    "__sanitizer_get_free_bytes" plain => free_bytes;
    "__sanitizer_get_unmapped_bytes" plain => zero;
    "__sanitizer_purge_allocator" plain => nothing;
}
