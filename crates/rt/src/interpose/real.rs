//! The next definition of a function: what the program would have called without the runtime.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn dlvsym(library: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

static HEAP_FOUND: AtomicBool = AtomicBool::new(false);

thread_local! {
    static FINDING: Cell<bool> = const { Cell::new(false) };
}

/// The address of the next definition of a symbol, and whether to remember it.
///
/// The loader itself may allocate and free on the way: the allocator is found first. While the loader looks for
/// that, it gets memory of the runtime's, which nobody takes back.
#[cold]
pub fn find(name: &CStr) -> (usize, bool) {
    if FINDING.get() {
        let stand_in = match name.to_bytes() {
            b"malloc" => stand_in_malloc as *const () as usize,
            b"calloc" => stand_in_calloc as *const () as usize,
            b"free" => nothing as *const () as usize,
            _ => look_up(name),
        };
        return (stand_in, false);
    }
    if !HEAP_FOUND.swap(true, Ordering::Relaxed) {
        super::heap::find_real();
    }
    FINDING.set(true);
    let found = look_up(name);
    FINDING.set(false);
    (found, true)
}

extern "C" fn nothing(_block: usize) {}

extern "C" fn stand_in_malloc(size: usize) -> usize {
    crate::platform::os::reserve(size.max(1)).unwrap_or(0)
}

extern "C" fn stand_in_calloc(count: usize, size: usize) -> usize {
    stand_in_malloc(count.saturating_mul(size))
}

fn look_up(name: &CStr) -> usize {
    // Of functions whose type has changed, the old definition may come first.
    let versions: &[&CStr] = match name.to_bytes().starts_with(b"pthread_cond_") {
        true => &[c"GLIBC_2.3.2"],
        false => &[],
    };
    for version in versions {
        // SAFETY: strings of C.
        let found = unsafe { dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()) };
        if !found.is_null() {
            return found as usize;
        }
    }
    // SAFETY: a string of C.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        missing as *const () as usize
    } else {
        found as usize
    }
}

/// What is called instead of a function that the C library does not have.
extern "C" fn missing() -> i32 {
    libc::ENOSYS
}

/// The next definition of a function of this name and type.
macro_rules! real {
    ($name:ident: fn($($argument:ty),*) $(-> $result:ty)?) => {{
        static FOUND: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let mut found = FOUND.load(std::sync::atomic::Ordering::Relaxed);
        if found == 0 {
            const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            };
            let (address, final_) = $crate::interpose::real::find(NAME);
            found = address;
            if final_ {
                FOUND.store(found, std::sync::atomic::Ordering::Relaxed);
            }
        }
        std::mem::transmute::<usize, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
    }};
}

pub(crate) use real;
