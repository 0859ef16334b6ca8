//! Pieces of memory: copies, and mappings that come and go. To unmap memory is to free it.

use deadheat_model::finding::AccessCause;
use std::ffi::{c_int, c_void};

use deadheat_online::fasttrack::Kind;

use super::calls::calls;
use super::heap::ends;
use super::real::real;
use crate::check::range::range;
use crate::hooks::export;
use crate::order::thread::{enter, local};
use crate::output::recording::{self, Stamped};
use crate::platform::checked::is_checked;
use crate::platform::world::world;

const READ: Kind = Kind {
    write: false,
    atomic: false,
};
const WRITE: Kind = Kind {
    write: true,
    atomic: false,
};

/// Whether code at an address is the program's, and not the runtime itself.
#[inline]
fn is_seen(pc: usize) -> bool {
    local().depth.get() == 0 && is_checked(pc)
}

/// The program reads a piece of memory through a function of the C library.
#[inline]
pub fn reads(address: usize, size: usize, pc: usize) {
    if is_seen(pc) {
        range(address, size, READ, AccessCause::Range, pc);
    }
}

/// The program writes a piece of memory through a function of the C library.
#[inline]
pub fn writes(address: usize, size: usize, pc: usize) {
    if is_seen(pc) {
        range(address, size, WRITE, AccessCause::Range, pc);
    }
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
        return recording::memory(Stamped::New, address, size, 0);
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

unsafe extern "C" fn munmap(at: Map, size: usize, pc: usize) -> c_int {
    // What cannot be a mapping is left to the kernel to refuse.
    let possible = (at as usize)
        .checked_add(size)
        .is_some_and(|end| end < 1 << 47);
    if possible && is_seen(pc) && recording::on() {
        recording::memory(Stamped::Freed, at as usize, size, pc);
    } else if possible
        && is_seen(pc)
        && let Some(entered) = enter()
    {
        ends(&entered, at as usize, size, pc);
    }
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

calls! { (pc, result)
    memchr(from, byte, size) {} {
        let seen = if result == 0 { size } else { result - from + 1 };
        reads(from, seen, pc)
    };
    memrchr(from, byte, size) {} {
        let seen = if result == 0 { from } else { result };
        reads(seen, from + size - seen, pc)
    };
    rawmemchr(from, byte) {} { reads(from, result - from + 1, pc) };
    memmem(from, size, part, part_size) { reads(from, size, pc); reads(part, part_size, pc); } {};
    mempcpy(to, from, size) { touch2(to, from, size, pc); } {};
    memccpy(to, from, byte, size) {} {
        let copied = if result == 0 { size } else { result - to };
        touch2(to, from, copied, pc)
    };
    swab(from, to, size) { let size = size & !1; if size as isize > 0 { touch2(to, from, size, pc) } } {};
    bzero(to, size) { writes(to, size, pc); } {};
    explicit_bzero(to, size) { writes(to, size, pc); } {};
    bcopy(from, to, size) { touch2(to, from, size, pc); } {};
}

export! {
    "mmap" plain => mmap;
    "mmap64" plain => mmap;
    "munmap" 2 => munmap;
    "memcmp" 3 => memcmp;
    "bcmp" 3 => memcmp;
}
