//! The runtime's own memory: never the program's allocator.
//!
//! Powers of two from 16 bytes to 32 KiB come from lists of free blocks, cut from mappings of 256 KiB; larger
//! blocks are mappings of their own. A block is never moved between sizes.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;

use crate::platform::os::{self, Spin};

const SMALLEST: u32 = 4;
const CLASSES: usize = 12;
const PIECE: usize = 256 << 10;

/// See the [module](self).
#[derive(Debug)]
pub struct Allocator {
    classes: [(Spin, UnsafeCell<Class>); CLASSES],
}

#[derive(Debug)]
struct Class {
    /// The first free block; each holds the address of the next.
    free: usize,
    /// Never used yet.
    fresh: std::ops::Range<usize>,
}

// SAFETY: a class is only touched with its lock held.
unsafe impl Sync for Allocator {}

impl Allocator {
    /// One without memory yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Allocator {
        Allocator {
            classes: [const {
                (
                    Spin::new(),
                    UnsafeCell::new(Class {
                        free: 0,
                        fresh: 0..0,
                    }),
                )
            }; CLASSES],
        }
    }

    /// Makes every lock free: for the only thread of a forked child.
    pub fn reset_locks(&self) {
        self.classes.iter().for_each(|(lock, _)| lock.reset());
    }

    fn class(layout: Layout) -> Option<(usize, usize)> {
        let bits = layout
            .size()
            .max(layout.align())
            .max(1)
            .next_power_of_two()
            .trailing_zeros();
        let class = bits.max(SMALLEST) - SMALLEST;
        ((class as usize) < CLASSES).then_some((class as usize, 1 << bits.max(SMALLEST)))
    }
}

// SAFETY: blocks are disjoint: each is cut from a mapping once and is on at most one list of free blocks.
// Blocks of a power of two lie at multiples of their size, since pieces lie at multiples of a page and larger
// blocks come first... alignment above a page is not asked for.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((class, size)) = Allocator::class(layout) else {
            return os::reserve(layout.size()).map_or(std::ptr::null_mut(), |at| at as *mut u8);
        };
        let (lock, inner) = &self.classes[class];
        let _guard = lock.lock();
        // SAFETY: the lock is held.
        let inner = unsafe { &mut *inner.get() };
        if inner.free != 0 {
            let block = inner.free as *mut usize;
            // SAFETY: a free block holds the address of the next.
            inner.free = unsafe { *block };
            return block.cast();
        }
        if inner.fresh.len() < size {
            let piece = if size * 8 < PIECE { PIECE / 4 } else { PIECE };
            match os::reserve(piece) {
                Some(at) => inner.fresh = at..at + piece,
                None => return std::ptr::null_mut(),
            }
        }
        let block = inner.fresh.start;
        inner.fresh.start += size;
        block as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some((class, _)) = Allocator::class(layout) else {
            // SAFETY: such blocks are mappings of their own.
            return unsafe { os::unmap(block as usize, layout.size()) };
        };
        let (lock, inner) = &self.classes[class];
        let _guard = lock.lock();
        // SAFETY: the lock is held, and the block is at least as large as an address.
        unsafe {
            let inner = &mut *inner.get();
            *block.cast::<usize>() = inner.free;
            inner.free = block as usize;
        }
    }
}
