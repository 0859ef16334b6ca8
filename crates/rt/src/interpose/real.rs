//! The next definition of a function: what the program would have called without the runtime.

use std::ffi::{CStr, c_char, c_void};

unsafe extern "C" {
    fn dlvsym(library: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// The address of the next definition of a symbol.
#[cold]
pub fn find(name: &CStr) -> usize {
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
            found = $crate::interpose::real::find(NAME);
            FOUND.store(found, std::sync::atomic::Ordering::Relaxed);
        }
        std::mem::transmute::<usize, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
    }};
}

pub(crate) use real;
