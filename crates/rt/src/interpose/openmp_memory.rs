//! Memory that OpenMP's runtime hands out to the program: `omp_alloc` and its like, and what the `allocate` clause calls.
//!
//! The runtime has pools of its own. What it hands out is something new, whoever has used it before.

use std::ffi::c_void;

use super::real::real;
use crate::hooks::export;
use crate::openmp::memory::renew;
use crate::order::thread::enter;

type Block = *mut c_void;
type Allocator = usize;

/// A block has been handed out.
fn handed_out(block: Block, size: usize) -> Block {
    if let Some(_entered) = enter() {
        renew(block as usize, size);
    }
    block
}

unsafe extern "C" fn alloc(size: usize, allocator: Allocator) -> Block {
    // SAFETY: the program's own call.
    let block = unsafe { real!(omp_alloc: fn(usize, Allocator) -> Block)(size, allocator) };
    handed_out(block, size)
}

unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize, allocator: Allocator) -> Block {
    // SAFETY: the program's own call.
    let block = unsafe {
        real!(omp_aligned_alloc: fn(usize, usize, Allocator) -> Block)(alignment, size, allocator)
    };
    handed_out(block, size)
}

unsafe extern "C" fn calloc(count: usize, size: usize, allocator: Allocator) -> Block {
    // SAFETY: the program's own call.
    let block =
        unsafe { real!(omp_calloc: fn(usize, usize, Allocator) -> Block)(count, size, allocator) };
    handed_out(block, count.saturating_mul(size))
}

unsafe extern "C" fn aligned_calloc(
    alignment: usize,
    count: usize,
    size: usize,
    allocator: Allocator,
) -> Block {
    // SAFETY: the program's own call.
    let block = unsafe {
        real!(omp_aligned_calloc: fn(usize, usize, usize, Allocator) -> Block)(
            alignment, count, size, allocator,
        )
    };
    handed_out(block, count.saturating_mul(size))
}

unsafe extern "C" fn realloc(
    block: Block,
    size: usize,
    allocator: Allocator,
    old: Allocator,
) -> Block {
    // SAFETY: the program's own call.
    let moved = unsafe {
        real!(omp_realloc: fn(Block, usize, Allocator, Allocator) -> Block)(
            block, size, allocator, old,
        )
    };
    match moved == block {
        true => block,
        false => handed_out(moved, size),
    }
}

unsafe extern "C" fn clause_alloc(thread: i32, size: usize, allocator: Allocator) -> Block {
    // SAFETY: the program's own call.
    let block =
        unsafe { real!(__kmpc_alloc: fn(i32, usize, Allocator) -> Block)(thread, size, allocator) };
    handed_out(block, size)
}

unsafe extern "C" fn clause_aligned_alloc(
    thread: i32,
    alignment: usize,
    size: usize,
    allocator: Allocator,
) -> Block {
    // SAFETY: the program's own call.
    let block = unsafe {
        real!(__kmpc_aligned_alloc: fn(i32, usize, usize, Allocator) -> Block)(
            thread, alignment, size, allocator,
        )
    };
    handed_out(block, size)
}

export! {
    "omp_alloc" plain => alloc;
    "omp_aligned_alloc" plain => aligned_alloc;
    "omp_calloc" plain => calloc;
    "omp_aligned_calloc" plain => aligned_calloc;
    "omp_realloc" plain => realloc;
    "__kmpc_alloc" plain => clause_alloc;
    "__kmpc_aligned_alloc" plain => clause_aligned_alloc;
}
