//! Pieces of memory: copies, and mappings that come and go. To unmap memory is to free it.

use deadheat_model::finding::AccessCause;
use std::ffi::{c_int, c_void};

use deadheat_online::fasttrack::Kind;
use rustc_hash::FxHashMap;

use super::calls::calls;
use super::heap::{ends, hands_out};
use super::real::real;

use crate::check::range::range;
use crate::check::shadow::ADDRESS_BITS;
use crate::hooks::export;
use crate::order::thread::{enter, local};
use crate::output::recording::{self, Stamped};
use crate::platform::checked::is_checked;
use crate::platform::table::Table;
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

/// A lock of the program begins or ends.
pub fn lock_life(lock: usize, pc: usize) {
    if is_seen(pc) && recording::on() {
        recording::lock_life(lock, pc);
    } else if is_seen(pc) {
        range(lock, 1, WRITE, AccessCause::LockLife, pc);
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
        world().contents.forget(address, end);
    }
}

type Map = *mut c_void;

/// Whether the kernel takes this for mappings, as it does whole pages of the program's address space.
fn is_mappable(at: usize, size: usize) -> bool {
    let end = at.checked_add(size);
    size > 0 && at.is_multiple_of(PAGE) && end.is_some_and(|end| end <= 1 << ADDRESS_BITS)
}

/// Mappings are about to go away. What cannot be one is left to the kernel to refuse.
fn goes(at: usize, size: usize, pc: usize) {
    if !is_mappable(at, size) {
        return;
    }
    if is_seen(pc) && recording::on() {
        recording::memory(Stamped::Freed, at, size, pc);
    } else if is_seen(pc)
        && let Some(entered) = enter()
    {
        ends(&entered, at, size, pc);
    }
    forget(at, size);
}

/// Maps memory, or the kernel refuses.
pub fn maps(size: usize, rights: usize, pc: usize, map: impl FnOnce() -> usize) -> usize {
    let result = map();
    if result != FAILED {
        forget(result, size);
        if rights as c_int != libc::PROT_NONE {
            hands_out(result, size, pc);
        }
    }
    result
}

/// Unmaps memory.
pub fn unmaps(at: usize, size: usize, pc: usize, unmap: impl FnOnce() -> usize) -> usize {
    goes(at, size, pc);
    unmap()
}

/// Makes a mapping larger or smaller, and moves it if need be.
pub fn remaps(
    (old, old_size): (usize, usize),
    new_size: usize,
    flags: usize,
    pc: usize,
    remap: impl FnOnce() -> usize,
) -> usize {
    let can_move = flags as c_int & (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) != 0;
    // Afterwards another thread may have got what was there.
    if can_move {
        goes(old, old_size, pc);
    } else if new_size < old_size {
        goes(old + new_size, old_size - new_size, pc);
    }
    let result = remap();
    if result != FAILED && can_move {
        forget(result, new_size);
        hands_out(result, new_size, pc);
    } else if result != FAILED && new_size > old_size {
        forget(old + old_size, new_size - old_size);
        hands_out(old + old_size, new_size - old_size, pc);
    }
    result
}

const PAGE: usize = 4096;
const FAILED: usize = usize::MAX;

unsafe extern "C" fn mmap(
    at: Map,
    size: usize,
    rights: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
    pc: usize,
) -> usize {
    // SAFETY: the program's own call.
    maps(size, rights as usize, pc, || unsafe {
        real!(mmap: fn(Map, usize, c_int, c_int, c_int, i64) -> usize)(
            at, size, rights, flags, file, offset,
        )
    })
}

unsafe extern "C" fn munmap(at: usize, size: usize, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let unmap = || unsafe { real!(munmap: fn(usize, usize) -> c_int)(at, size) };
    unmaps(at, size, pc, || unmap() as usize) as c_int
}

unsafe extern "C" fn mremap(
    old: usize,
    old_size: usize,
    new_size: usize,
    flags: usize,
    place: usize,
    pc: usize,
) -> usize {
    // SAFETY: the program's own call, with the word that only some flags have.
    remaps((old, old_size), new_size, flags, pc, || unsafe {
        real!(mremap: fn(usize, usize, usize, usize, usize) -> usize)(
            old, old_size, new_size, flags, place,
        )
    })
}

/// How large the pieces of shared memory are that are attached at an address.
static ATTACHED: Table<FxHashMap<usize, usize>> = Table::new();

unsafe extern "C" fn shmat(id: c_int, at: Map, flags: c_int) -> usize {
    // SAFETY: the program's own call; the kernel fills in the description of what it has attached.
    unsafe {
        let result = real!(shmat: fn(c_int, Map, c_int) -> usize)(id, at, flags);
        let mut description: libc::shmid_ds = std::mem::zeroed();
        if result != FAILED && libc::shmctl(id, libc::IPC_STAT, &mut description) == 0 {
            forget(result, description.shm_segsz);
            if let Some(_entered) = enter() {
                ATTACHED.with(|sizes| sizes.insert(result, description.shm_segsz));
            }
        }
        result
    }
}

unsafe extern "C" fn shmdt(at: usize, pc: usize) -> c_int {
    let size = enter().and_then(|_entered| ATTACHED.with(|sizes| sizes.remove(&at)));
    if let Some(size) = size {
        goes(at, size.next_multiple_of(PAGE), pc);
    }
    // SAFETY: the program's own call.
    unsafe { real!(shmdt: fn(usize) -> c_int)(at) }
}

/// What the program compares, as far as it takes to find a difference: how many bytes are the same.
pub unsafe extern "C" fn compare(a: *const u8, b: *const u8, size: usize, pc: usize) -> usize {
    // SAFETY: the program is about to read so much itself.
    let same = unsafe { (0..size).take_while(|&at| *a.add(at) == *b.add(at)).count() };
    let seen = size.min(same + 1);
    reads(a as usize, seen, pc);
    reads(b as usize, seen, pc);
    same
}

unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, size: usize, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        let same = compare(a, b, size, pc);
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
    "mmap" 6 => mmap;
    "mmap64" 6 => mmap;
    "munmap" 2 => munmap;
    "mremap" 5 => mremap;
    "shmat" plain => shmat;
    "shmdt" 1 => shmdt;
    "memcmp" 3 => memcmp;
    "bcmp" 3 => memcmp;
}
