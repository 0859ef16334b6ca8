//! Which code was built for checking: the executable, which carries the runtime, and the libraries that call it.
//!
//! What other code does is not seen, atomics least of all. So its calls into the C library are not looked at either:
//! half a picture would show races that are none.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::hooks::annotations::benign;
use crate::interpose::cxx_library::standard_streams;
use crate::interpose::heap::real_malloc;

const MOST: usize = 256;
/// How many bytes a call has at most.
const LONGEST_CALL: usize = 7;
/// Where each module begins and ends. If there are more than these, all code counts as checked.
static MODULES: [[AtomicUsize; 2]; MOST] = [const { [const { AtomicUsize::new(0) }; 2] }; MOST];
/// Where the code of each begins and ends.
static CODE: [[AtomicUsize; 2]; MOST] = [const { [const { AtomicUsize::new(0) }; 2] }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The library that the program's allocator is part of.
static ALLOCATOR: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
/// How many modules had been loaded when they were looked at last.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// Whether code at an address was built for checking.
#[inline]
pub fn is_checked(code: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire);
    count >= MOST || MODULES[..count].iter().any(|module| holds(module, code))
}

/// Whether checked code has a call that returns to this address.
pub fn follows_call(address: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire);
    let is_there = |code| count < MOST && CODE[..count].iter().any(|module| holds(module, code));
    let Some(start) = address.checked_sub(LONGEST_CALL) else {
        return false;
    };
    if !is_there(start) || !is_there(address) {
        return false;
    }
    // SAFETY: code of a module that was loaded when it was looked at, and whose function has not returned.
    let bytes = unsafe { &*(start as *const [u8; LONGEST_CALL]) };
    let is_indirect = |second: u8| second >> 3 & 7 == 2;
    match *bytes {
        [_, _, 0xe8, ..] => true,
        // Through a register, or memory that it points to, or a table.
        [.., 0xff, second] => is_indirect(second),
        [.., 0xff, second, _] => is_indirect(second),
        [.., 0xff, second, _, _, _, _] => is_indirect(second),
        _ => false,
    }
}

/// Whether code at an address is the allocator's: its locks order what it does with its own memory, and who calls it
/// learns nothing of who called it before.
#[inline]
pub fn is_allocator(code: usize) -> bool {
    holds(&ALLOCATOR, code)
}

#[inline]
fn holds([start, end]: &[AtomicUsize; 2], code: usize) -> bool {
    (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&code)
}

/// Looks at the modules that have been loaded. A constructor of each checked one asks for it, under the loader's lock.
pub fn update() {
    // SAFETY: the loader lets its constructors call this; the function gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(look), std::ptr::null_mut()) };
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _size: usize, _: *mut c_void) -> c_int {
    // SAFETY: what the loader gives.
    let (info, headers, name) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info, headers, CStr::from_ptr(info.dlpi_name))
    };
    let base = info.dlpi_addr as usize;
    let loaded = || {
        headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD)
    };
    let code = loaded()
        .filter(|header| header.p_flags & libc::PF_X != 0)
        .map(|header| {
            base + header.p_vaddr as usize..base + (header.p_vaddr + header.p_memsz) as usize
        })
        .next()
        .unwrap_or(0..0);
    let start = loaded().map(|header| base + header.p_vaddr as usize).min();
    let end = loaded()
        .map(|header| base + (header.p_vaddr + header.p_memsz) as usize)
        .max();
    let (Some(start), Some(end)) = (start, end) else {
        return 0;
    };
    // The first module is the executable: the number of modules is the same for all of this call.
    let is_executable = (start..end).contains(&(look as *const () as usize));
    if is_executable && LOADED.swap(info.dlpi_adds, Ordering::Relaxed) == info.dlpi_adds {
        return 1;
    }
    // What a C++ library keeps is its own to keep in order, also where its headers touch it from the program: what a locale
    // finds out about characters, it writes down without a lock.
    if is_cxx_library(name.to_bytes()) {
        benign(start, end - start);
    }
    if is_executable {
        let streams = standard_streams().into_iter();
        for (stream, size) in streams.filter(|(stream, _)| *stream != 0) {
            benign(stream, size);
        }
    }
    // SAFETY: the headers of a loaded module.
    if is_executable || unsafe { calls_runtime(base, headers) } {
        add(start..end, code);
    } else if (start..end).contains(&real_malloc()) {
        ALLOCATOR[0].store(start, Ordering::Relaxed);
        ALLOCATOR[1].store(end, Ordering::Relaxed);
    }
    0
}

fn add(module: Range<usize>, code: Range<usize>) {
    let place = COUNT.load(Ordering::Relaxed);
    if !is_checked(module.start) && place < MOST {
        for (list, range) in [(&MODULES, module), (&CODE, code)] {
            list[place][0].store(range.start, Ordering::Relaxed);
            list[place][1].store(range.end, Ordering::Relaxed);
        }
        COUNT.store(place + 1, Ordering::Release);
    }
}

fn is_cxx_library(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    name.starts_with(b"libstdc++.so") || name.starts_with(b"libc++.so")
}

const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_GNU_HASH: usize = 0x6fff_fef5;

/// Whether a library expects `__tsan_init` from elsewhere. Symbols that are only expected come before all that are
/// in the table of hashes.
unsafe fn calls_runtime(base: usize, headers: &[libc::Elf64_Phdr]) -> bool {
    let Some(dynamic) = headers
        .iter()
        .find(|header| header.p_type == libc::PT_DYNAMIC)
    else {
        return false;
    };
    // SAFETY: tables of a loaded module, as ELF defines them.
    unsafe {
        let mut entry = (base + dynamic.p_vaddr as usize) as *const [usize; 2];
        let (mut names, mut symbols, mut hashes) = (0, 0, 0);
        while (*entry)[0] != 0 {
            let [tag, value] = *entry;
            // The loader has made addresses of these, in most modules.
            let address = if value < base { base + value } else { value };
            match tag {
                DT_STRTAB => names = address,
                DT_SYMTAB => symbols = address,
                DT_GNU_HASH => hashes = address,
                _ => {}
            }
            entry = entry.add(1);
        }
        if names == 0 || symbols == 0 || hashes == 0 {
            return false;
        }
        let expected = *(hashes as *const u32).add(1) as usize;
        (1..expected).any(|index| {
            let symbol = &*(symbols as *const libc::Elf64_Sym).add(index);
            CStr::from_ptr((names + symbol.st_name as usize) as *const _) == c"__tsan_init"
        })
    }
}
