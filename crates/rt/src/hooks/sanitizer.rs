//! What a program that was built for a sanitizer asks of it, whichever it is: of `common_interface_defs.h` and
//! `allocator_interface.h` the part that has a meaning here.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::check::access::access;
use crate::interpose::heap::malloc_usable_size;
use crate::order::registry::owner;
use crate::order::thread::enter;
use crate::platform::heap::Header;
use crate::platform::modules::first_stack;
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
    fn __tsan_default_options() -> *const c_char;
}

/// Tells the program that a race was found, if it wants to know: it may define `__tsan_on_report`.
pub fn tell_of_race() {
    // SAFETY: it takes what describes the report, which may be nothing.
    unsafe { __tsan_on_report(std::ptr::null()) }
}

/// The suppressions that the program brings with it, as it may by defining `__tsan_default_suppressions`.
pub fn suppressions() -> &'static [u8] {
    // SAFETY: it gives a string that is always there, or nothing.
    unsafe { text(__tsan_default_suppressions()) }
}

/// The options that the program brings with it, as it may by defining `__tsan_default_options`.
pub fn options() -> &'static [u8] {
    // SAFETY: it gives a string that is always there, or nothing.
    unsafe { text(__tsan_default_options()) }
}

/// A string, or nothing.
///
/// # Safety
/// It is always there.
unsafe fn text(text: *const c_char) -> &'static [u8] {
    match text.is_null() {
        true => &[],
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(text) }.to_bytes(),
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

/// A program asks about the report of which `__tsan_on_report` tells it: there is none, deadheat's own report says it all.
extern "C" fn no_report() -> c_int {
    0
}

/// How far below an address its block is looked for.
const FAR: usize = 1 << 30;

/// The block around an address.
fn block_around(address: usize) -> Option<(usize, Header)> {
    match World::exists() {
        true => world().blocks.around(address, address.saturating_sub(FAR)),
        false => None,
    }
}

extern "C" fn allocated_begin(address: usize) -> usize {
    block_around(address).map_or(0, |(block, _)| block)
}

/// What kind of memory an address lies in, and where it begins and how long it is as far as that is known.
///
/// # Safety
/// Where there are places for the answers, they may be written.
unsafe extern "C" fn locate(
    address: usize,
    name: *mut c_char,
    name_size: usize,
    region: *mut usize,
    region_size: *mut usize,
) -> *const c_char {
    let own = || enter().and_then(|_entered| owner(address));
    let (kind, (start, size)) = match (block_around(address), own()) {
        (Some((block, header)), _) => (c"heap", (block, header.size())),
        (None, Some((_, Some(_)))) => (c"tls", (0, 0)),
        (None, Some((_, None))) => (c"stack", (0, 0)),
        (None, None) if is_on_first_stack(address) => (c"stack", (0, 0)),
        (None, None) if is_in_module(address) => (c"global", (0, 0)),
        (None, None) => (c"", (0, 0)),
    };
    // SAFETY: the caller's promise.
    unsafe {
        if !name.is_null() && name_size > 0 {
            *name = 0;
        }
        for (place, answer) in [(region, start), (region_size, size)] {
            if !place.is_null() {
                *place = answer;
            }
        }
    }
    kind.as_ptr()
}

fn is_on_first_stack(address: usize) -> bool {
    let found = enter().and_then(|_entered| first_stack());
    found.is_some_and(|(from, to)| (from..to).contains(&address))
}

fn is_in_module(address: usize) -> bool {
    // SAFETY: plain memory, which the function fills in.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(address as *const c_void, &mut found) != 0
    }
}

/// Where the block around an address was allocated, and by whom. What the kernel called that thread is not known.
///
/// # Safety
/// The places for the answers may be written.
unsafe extern "C" fn allocation_stack(
    address: usize,
    trace: *mut usize,
    size: usize,
    thread: *mut c_int,
    kernel_thread: *mut c_int,
) -> c_int {
    let Some((_, header)) = block_around(address) else {
        return 0;
    };
    let mut length = 0;
    // SAFETY: the caller's promise.
    unsafe {
        for (index, caller) in header.stack().addresses().take(size).enumerate() {
            *trace.add(index) = caller as usize;
            length = index + 1;
        }
        *thread = header.owner as c_int;
        *kernel_thread = 0;
    }
    length as c_int
}

/// The module of code at an address, and how far into it that is.
///
/// # Safety
/// The places for the answers may be written.
unsafe extern "C" fn module_of(
    pc: usize,
    path: *mut c_char,
    path_size: usize,
    offset: *mut usize,
) -> c_int {
    // SAFETY: plain memory, which the function fills in.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    if unsafe { libc::dladdr(pc as *const c_void, &mut found) } == 0 || found.dli_fname.is_null() {
        return 0;
    }
    // SAFETY: a string of C, and the caller's promise.
    unsafe {
        write_text(CStr::from_ptr(found.dli_fname).to_bytes(), path, path_size);
        if !offset.is_null() {
            *offset = pc - found.dli_fbase as usize;
        }
    }
    1
}

/// What an address is called: deadheat's report says more.
///
/// # Safety
/// There is room for so many characters.
unsafe extern "C" fn symbolize(
    address: usize,
    _format: *const c_char,
    text: *mut c_char,
    size: usize,
) {
    let mut digits = [0; 18];
    digits[..2].copy_from_slice(b"0x");
    for (place, digit) in digits[2..].iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[address >> (4 * place) & 15];
    }
    // SAFETY: the caller's promise.
    unsafe { write_text(&digits, text, size) }
}

/// As much of a text as there is room for, with a zero byte at its end.
///
/// # Safety
/// There is room for so many characters.
unsafe fn write_text(text: &[u8], place: *mut c_char, size: usize) {
    if place.is_null() || size == 0 {
        return;
    }
    let length = text.len().min(size - 1);
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), length);
        *place.add(length) = 0;
    }
}

extern "C" fn one() -> c_int {
    1
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
    "__tsan_get_current_report" plain => zero;
    "__tsan_get_report_data" plain => no_report;
    "__tsan_get_report_tag" plain => no_report;
    "__tsan_get_report_stack" plain => no_report;
    "__tsan_get_report_mop" plain => no_report;
    "__tsan_get_report_loc" plain => no_report;
    "__tsan_get_report_loc_object_type" plain => no_report;
    "__tsan_get_report_mutex" plain => no_report;
    "__tsan_get_report_thread" plain => no_report;
    "__tsan_get_report_unique_tid" plain => no_report;
    "__tsan_locate_address" plain => locate;
    "__tsan_get_alloc_stack" plain => allocation_stack;
    "__tsan_default_options" plain => zero;
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
    "__sanitizer_get_allocated_size_fast" plain => allocated_size;
    "__sanitizer_get_allocated_begin" plain => allocated_begin;
    // No room for any.
    "__sanitizer_install_malloc_and_free_hooks" plain => zero;
    "__sanitizer_get_module_and_offset_for_pc" plain => module_of;
    "__sanitizer_symbolize_pc" plain => symbolize;
    "__sanitizer_symbolize_global" plain => symbolize;
    "__sanitizer_report_error_summary" plain => nothing;
    "__sanitizer_acquire_crash_state" plain => one;
    "__sanitizer_sandbox_on_notify" plain => nothing;
    "__sanitizer_cov_dump" plain => nothing;
    "__sanitizer_cov_reset" plain => nothing;
    "__sanitizer_dump_coverage" plain => nothing;
    "__sanitizer_get_current_allocated_bytes" plain => allocated_bytes;
    "__sanitizer_get_heap_size" plain => heap_bytes;
    "__sanitizer_get_free_bytes" plain => free_bytes;
    "__sanitizer_get_unmapped_bytes" plain => zero;
    "__sanitizer_purge_allocator" plain => nothing;
}
