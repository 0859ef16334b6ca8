//! Pieces of memory: copies, and mappings that come and go.

use std::ffi::{c_int, c_void};

use deadheat_online::fasttrack::Kind;

use super::real::real;
use crate::hooks::export;
use crate::origin::What;
use crate::range::range;
use crate::recording::{self, Record};
use crate::thread::enter;
use crate::world::world;

const READ: Kind = Kind {
    write: false,
    atomic: false,
};
const WRITE: Kind = Kind {
    write: true,
    atomic: false,
};

/// The program reads a piece of memory through a function of the C library.
#[inline]
pub fn reads(address: usize, size: usize, pc: usize) {
    range(address, size, READ, What::Range, pc);
}

/// The program writes a piece of memory through a function of the C library.
#[inline]
pub fn writes(address: usize, size: usize, pc: usize) {
    range(address, size, WRITE, What::Range, pc);
}

/// A copy.
#[inline]
pub fn touch2(to: usize, from: usize, size: usize, pc: usize) {
    reads(from, size, pc);
    writes(to, size, pc);
}

/// Nothing that was done to this memory counts any more.
pub fn forget(address: usize, size: usize) {
    if recording::on() {
        return recording::memory(Record::New, address, size, 0);
    }
    if size > 0
        && let Some(_entered) = enter()
    {
        let end = address.saturating_add(size);
        world().shadow.clear(address & !7, end.next_multiple_of(8));
        world().channels.clear(address, end);
    }
}

type Map = *mut c_void;

unsafe extern "C" fn mmap(
    at: Map,
    size: usize,
    rights: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> Map {
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(mmap: fn(Map, usize, c_int, c_int, c_int, i64) -> Map)(
            at, size, rights, flags, file, offset,
        )
    };
    if result != libc::MAP_FAILED {
        forget(result as usize, size);
    }
    result
}

unsafe extern "C" fn munmap(at: Map, size: usize) -> c_int {
    forget(at as usize, size);
    // SAFETY: the program's own call.
    unsafe { real!(munmap: fn(Map, usize) -> c_int)(at, size) }
}

unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, size: usize, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        // Only as much is read as it takes to tell the difference.
        let same = (0..size).take_while(|&at| *a.add(at) == *b.add(at)).count();
        let seen = size.min(same + 1);
        reads(a as usize, seen, pc);
        reads(b as usize, seen, pc);
        match same < size {
            true => c_int::from(*a.add(same)) - c_int::from(*b.add(same)),
            false => 0,
        }
    }
}

unsafe extern "C" fn memchr(a: *const u8, byte: c_int, size: usize, pc: usize) -> *const u8 {
    // SAFETY: the program's own call.
    let found = unsafe { real!(memchr: fn(*const u8, c_int, usize) -> *const u8)(a, byte, size) };
    let seen = if found.is_null() {
        size
    } else {
        found as usize - a as usize + 1
    };
    reads(a as usize, seen, pc);
    found
}

unsafe extern "C" fn bzero(to: *mut u8, size: usize, pc: usize) {
    writes(to as usize, size, pc);
    // SAFETY: the program's own call.
    unsafe { real!(bzero: fn(*mut u8, usize))(to, size) }
}

export! {
    "mmap" plain => mmap;
    "mmap64" plain => mmap;
    "munmap" plain => munmap;
    "memcmp" 3 => memcmp;
    "bcmp" 3 => memcmp;
    "memchr" 3 => memchr;
    "bzero" 2 => bzero;
}
