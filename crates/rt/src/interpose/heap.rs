//! The heap: a block is new memory, and freeing it is a write to all of it.

use deadheat_model::finding::AccessCause;
use std::ffi::{c_int, c_void};

use deadheat_online::fasttrack::Kind;

use super::library_calls::call_of_program;
use super::memory::writes;
use super::real::real;
use crate::check::contents::Contents;
use crate::check::memo::AccessShape;
use crate::check::range::range_entered;
use crate::check::word::{WordAccess, origin};
use crate::hooks::export;
use crate::order::thread::{Entered, enter, local};
use crate::output::recording::{self, Stamped};
use crate::platform::checked::is_checked;
use crate::platform::heap::Header;
use crate::platform::world::{World, world};

fn next_malloc() -> unsafe extern "C" fn(usize) -> usize {
    // SAFETY: the function's type.
    unsafe { real!(malloc: fn(usize) -> usize) }
}

fn next_calloc() -> unsafe extern "C" fn(usize, usize) -> usize {
    // SAFETY: the function's type.
    unsafe { real!(calloc: fn(usize, usize) -> usize) }
}

fn next_realloc() -> unsafe extern "C" fn(usize, usize) -> usize {
    // SAFETY: the function's type.
    unsafe { real!(realloc: fn(usize, usize) -> usize) }
}

fn next_free() -> unsafe extern "C" fn(usize) {
    // SAFETY: the function's type.
    unsafe { real!(free: fn(usize)) }
}

/// Where the program's allocator is.
pub fn real_malloc() -> usize {
    next_malloc() as usize
}

/// Finds the real functions, before the loader needs them to find others.
pub fn find_real() {
    next_free();
    next_malloc();
    next_calloc();
    next_realloc();
}

/// What precedes a block of an ordinary alignment.
const BEFORE: usize = 16;
/// Blocks from this size on are looked at page by page.
const LARGE: usize = 256 << 10;

/// Whether blocks get headers. False: the program runs unchecked.
fn watched() -> bool {
    World::exists() || (local().depth.get() == 0 && World::begin())
}

/// A block has been allocated `before` bytes into its memory.
fn born(memory: usize, before: usize, size: usize, pc: usize) -> *mut c_void {
    if memory == 0 {
        return std::ptr::null_mut();
    }
    let block = memory + before;
    let entered = enter();
    let (call, stack, owner) = match &entered {
        Some(entered) => {
            let thread = entered.thread();
            let call = call_of_program(thread, pc);
            (call, thread.stack_at(call), thread.owner())
        }
        None => Default::default(),
    };
    // SAFETY: the bytes before the block are part of its memory.
    unsafe {
        world()
            .blocks
            .add(block, Header::new(size, before, stack, owner))
    };
    if recording::on() {
        if let Some(entered) = entered {
            let thread = entered.thread();
            thread.note_memory(Stamped::Allocated, block, size, recording::code(call, 0));
        }
    } else if !world().off() {
        world()
            .shadow
            .clear(block, (block + size).next_multiple_of(8));
    }
    block as *mut c_void
}

/// Memory is about to be given back: a write to all of it.
pub fn ends(entered: &Entered, from: usize, size: usize, pc: usize) {
    let unwatched = world().off() || entered.thread().ignore[1] > 0;
    if unwatched || !is_checked(pc) {
        return;
    }
    let write = Kind {
        write: true,
        atomic: false,
    };
    if size < LARGE {
        range_entered(entered, from, size, write, AccessCause::Free, pc);
    } else {
        world().shadow.resident(from, from + size, |from, to| {
            range_entered(entered, from, to - from, write, AccessCause::Free, pc);
        });
        world().shadow.clear(from, (from + size) & !7);
    }
}

/// Memory is handed out with contents: a write to all of it.
pub fn hands_out(from: usize, size: usize, pc: usize) {
    if recording::on() {
        return writes(from, size, pc);
    }
    let Some(entered) = enter().filter(|_| size > 0 && is_checked(pc)) else {
        return;
    };
    let thread = entered.thread();
    if world().off() || thread.ignore[1] > 0 {
        return;
    }
    let write = Kind {
        write: true,
        atomic: false,
    };
    let now = |from: usize, to: usize| {
        range_entered(&entered, from, to - from, write, AccessCause::Range, pc);
    };
    let waiting = Contents::waiting_part(from, from + size).filter(|_| size >= LARGE);
    let Some((first, last)) = waiting else {
        if size < LARGE {
            now(from, from + size);
        }
        return;
    };
    now(from, first);
    now(last, from + size);
    let shape = AccessShape::new(0xff, write).of(AccessCause::Range);
    let origin = origin(thread, &WordAccess { shape, pc });
    let written = thread.record(write, 0xff, origin);
    thread.timeline.record();
    world().contents.hand_out(first, last, written);
}

/// A block is about to be freed, if it is one. Returns where its memory begins.
fn dies(block: usize, pc: usize) -> Option<(usize, Header)> {
    if !World::exists() {
        return None;
    }
    let header = world().blocks.header(block)?;
    if recording::on() {
        // What code that is not checked does with its own blocks is its own business.
        if is_checked(pc) {
            recording::memory(Stamped::Freed, block, header.size(), pc);
        }
    } else if let Some(entered) = enter() {
        let blocks = &world().blocks;
        blocks.note_freed(block, header, entered.thread().id);
        let size = header.size();
        ends(&entered, block, size, pc);
        world().channels.clear(block, block + size);
        world().contents.forget(block, block + size);
    }
    // Nobody else has freed it meanwhile.
    world().blocks.remove(block)?;
    Some((block - header.before(), header))
}

unsafe extern "C" fn malloc(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call, with room for a header.
    unsafe {
        let malloc = next_malloc();
        match watched() {
            true => born(malloc(size.saturating_add(BEFORE)), BEFORE, size, pc),
            false => malloc(size) as *mut c_void,
        }
    }
}

unsafe extern "C" fn calloc(count: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call, with room for a header.
    unsafe {
        let calloc = next_calloc();
        if !watched() {
            return calloc(count, size) as *mut c_void;
        }
        let bytes = count.saturating_mul(size);
        let block = born(calloc(1, bytes.saturating_add(BEFORE)), BEFORE, bytes, pc);
        if !block.is_null() {
            hands_out(block as usize, bytes, pc);
        }
        block
    }
}

unsafe extern "C" fn free(block: *mut c_void, pc: usize) {
    if block.is_null() {
        return;
    }
    let memory = dies(block as usize, pc).map_or(block as usize, |(memory, _)| memory);
    // SAFETY: the program's own call, for the memory that the block was cut from.
    unsafe { next_free()(memory) }
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    if block.is_null() {
        // SAFETY: as for `malloc`.
        return unsafe { malloc(size, pc) };
    }
    // SAFETY: the program's own call, for the memory that the block was cut from.
    unsafe {
        let realloc = next_realloc();
        if size == 0 && World::exists() && world().blocks.header(block as usize).is_some() {
            free(block, pc);
            return std::ptr::null_mut();
        }
        let Some((memory, header)) = dies(block as usize, pc) else {
            return realloc(block as usize, size) as *mut c_void;
        };
        if header.before() == BEFORE {
            let new = realloc(memory, size.saturating_add(BEFORE));
            if new == 0 {
                world().blocks.add(block as usize, header);
            }
            let block = born(new, BEFORE, size, pc);
            if !block.is_null() {
                hands_out(block as usize, size.min(header.size()), pc);
            }
            return block;
        }
        let new = malloc(size, pc);
        if new.is_null() {
            world().blocks.add(block as usize, header);
            return new;
        }
        std::ptr::copy_nonoverlapping(
            block.cast::<u8>(),
            new.cast::<u8>(),
            size.min(header.size()),
        );
        next_free()(memory);
        hands_out(new as usize, size.min(header.size()), pc);
        new
    }
}

unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
    pc: usize,
) -> *mut c_void {
    // SAFETY: as for `realloc`.
    unsafe { realloc(block, count.saturating_mul(size), pc) }
}

/// A block at a multiple of `alignment`, a power of two.
unsafe fn aligned(alignment: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call, with room for a header.
    unsafe {
        let memalign = real!(memalign: fn(usize, usize) -> usize);
        if !watched() {
            return memalign(alignment, size) as *mut c_void;
        }
        let before = alignment.next_power_of_two().max(BEFORE);
        born(
            memalign(before, size.saturating_add(before)),
            before,
            size,
            pc,
        )
    }
}

unsafe extern "C" fn memalign(alignment: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe { aligned(alignment, size, pc) }
}

unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    alignment: usize,
    size: usize,
    pc: usize,
) -> c_int {
    if !alignment.is_power_of_two() || alignment < size_of::<usize>() {
        return libc::EINVAL;
    }
    // SAFETY: the program's own call.
    match unsafe { aligned(alignment, size, pc) } {
        block if block.is_null() => libc::ENOMEM,
        block => {
            // SAFETY: the program's own call.
            unsafe { *place = block };
            writes(place as usize, size_of::<usize>(), pc);
            0
        }
    }
}

unsafe extern "C" fn valloc(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe { aligned(4096, size, pc) }
}

unsafe extern "C" fn pvalloc(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe { aligned(4096, size.next_multiple_of(4096), pc) }
}

/// # Safety
/// As of the C library's.
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    if World::exists()
        && let Some(header) = world().blocks.header(block as usize)
    {
        return header.size();
    }
    // SAFETY: the program's own call.
    unsafe { real!(malloc_usable_size: fn(*mut c_void) -> usize)(block) }
}

/// C++'s `new`: where there is no memory, the real one throws or calls the program's handler.
unsafe extern "C" fn new(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe {
        match malloc(size.max(1), pc) {
            block if block.is_null() => real!(_Znwm: fn(usize) -> *mut c_void)(size),
            block => block,
        }
    }
}

unsafe extern "C" fn new_nothrow(size: usize, _tag: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe { malloc(size.max(1), pc) }
}

unsafe extern "C" fn new_aligned(size: usize, alignment: usize, pc: usize) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe {
        match aligned(alignment, size.max(1), pc) {
            block if block.is_null() => {
                real!(_ZnwmSt11align_val_t: fn(usize, usize) -> *mut c_void)(size, alignment)
            }
            block => block,
        }
    }
}

unsafe extern "C" fn new_aligned_nothrow(
    size: usize,
    alignment: usize,
    _tag: usize,
    pc: usize,
) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe { aligned(alignment, size.max(1), pc) }
}

unsafe extern "C" fn delete2(block: *mut c_void, _size: usize, pc: usize) {
    // SAFETY: the program's own call.
    unsafe { free(block, pc) }
}

unsafe extern "C" fn delete3(block: *mut c_void, _size: usize, _alignment: usize, pc: usize) {
    // SAFETY: the program's own call.
    unsafe { free(block, pc) }
}

export! {
    "malloc" 1 => malloc;
    "calloc" 2 => calloc;
    "free" 1 => free;
    "cfree" 1 => free;
    "realloc" 2 => realloc;
    "reallocarray" 3 => reallocarray;
    "memalign" 2 => memalign;
    "aligned_alloc" 2 => memalign;
    "posix_memalign" 3 => posix_memalign;
    "valloc" 1 => valloc;
    "pvalloc" 1 => pvalloc;
    "malloc_usable_size" plain => malloc_usable_size;
    "_Znwm" 1 => new;
    "_Znam" 1 => new;
    "_ZnwmRKSt9nothrow_t" 2 => new_nothrow;
    "_ZnamRKSt9nothrow_t" 2 => new_nothrow;
    "_ZnwmSt11align_val_t" 2 => new_aligned;
    "_ZnamSt11align_val_t" 2 => new_aligned;
    "_ZnwmSt11align_val_tRKSt9nothrow_t" 3 => new_aligned_nothrow;
    "_ZnamSt11align_val_tRKSt9nothrow_t" 3 => new_aligned_nothrow;
    "_ZdlPv" 1 => free;
    "_ZdaPv" 1 => free;
    "_ZdlPvm" 2 => delete2;
    "_ZdaPvm" 2 => delete2;
    "_ZdlPvRKSt9nothrow_t" 2 => delete2;
    "_ZdaPvRKSt9nothrow_t" 2 => delete2;
    "_ZdlPvSt11align_val_t" 2 => delete2;
    "_ZdaPvSt11align_val_t" 2 => delete2;
    "_ZdlPvmSt11align_val_t" 3 => delete3;
    "_ZdaPvmSt11align_val_t" 3 => delete3;
    "_ZdlPvSt11align_val_tRKSt9nothrow_t" 3 => delete3;
    "_ZdaPvSt11align_val_tRKSt9nothrow_t" 3 => delete3;
}
