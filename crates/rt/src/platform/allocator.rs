//! The runtime's own memory: never the program's allocator.
//!
//! Powers of two from 16 bytes to 32 KiB come from lists of free blocks, cut from mappings of 256 KiB; larger
//! blocks are mappings of their own. A block is never moved between sizes.
//!
//! Each thread keeps a few free blocks of the smaller sizes for itself, so that what it frees it gets again without asking: tasks
//! come and go. What it has too many of it gives to all, many at once, and so it does when it ends.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, UnsafeCell};

use crate::platform::os::{self, Spin};

const SMALLEST: u32 = 4;
const CLASSES: usize = 12;
const PIECE: usize = 256 << 10;
/// Of how many sizes a thread keeps blocks, and of each twice this many at most.
const KEPT_CLASSES: usize = 7;
const BATCH: u32 = 32;

/// The free blocks of a size that a thread keeps: the first, each holding the address of the next, and how many.
#[derive(Debug)]
struct Kept {
    first: Cell<usize>,
    count: Cell<u32>,
}

thread_local! {
    static KEPT: [Kept; KEPT_CLASSES] = const {
        [const {
            Kept {
                first: Cell::new(0),
                count: Cell::new(0),
            }
        }; KEPT_CLASSES]
    };
}

impl Kept {
    #[inline]
    fn pop(&self) -> Option<usize> {
        let block = self.first.get();
        if block == 0 {
            return None;
        }
        // SAFETY: a free block holds the address of the next.
        self.first.set(unsafe { *(block as *const usize) });
        self.count.set(self.count.get() - 1);
        Some(block)
    }

    #[inline]
    fn push(&self, block: usize) {
        // SAFETY: a free block, of at least as many bytes as an address.
        unsafe { *(block as *mut usize) = self.first.get() };
        self.first.set(block);
        self.count.set(self.count.get() + 1);
    }
}

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

    /// Gives all but so many of the blocks that the running thread keeps of a size to all.
    #[cold]
    fn give(&self, class: usize, kept: &Kept, rest: u32) {
        let (lock, inner) = &self.classes[class];
        let _guard = lock.lock();
        // SAFETY: the lock is held.
        let inner = unsafe { &mut *inner.get() };
        while kept.count.get() > rest
            && let Some(block) = kept.pop()
        {
            // SAFETY: a free block, of at least as many bytes as an address.
            unsafe { *(block as *mut usize) = inner.free };
            inner.free = block;
        }
    }

    /// The running thread ends: it keeps no blocks.
    pub fn give_all(&self) {
        KEPT.with(|kept| {
            for (class, kept) in kept.iter().enumerate() {
                self.give(class, kept, 0);
            }
        });
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
        if class < KEPT_CLASSES
            && let Some(block) = KEPT.with(|kept| kept[class].pop())
        {
            return block as *mut u8;
        }
        let (lock, inner) = &self.classes[class];
        let _guard = lock.lock();
        // SAFETY: the lock is held.
        let inner = unsafe { &mut *inner.get() };
        if inner.free != 0 {
            let block = inner.free as *mut usize;
            // SAFETY: a free block holds the address of the next.
            inner.free = unsafe { *block };
            if class < KEPT_CLASSES {
                KEPT.with(|kept| {
                    while kept[class].count.get() < BATCH && inner.free != 0 {
                        let next = inner.free;
                        // SAFETY: as above.
                        inner.free = unsafe { *(next as *const usize) };
                        kept[class].push(next);
                    }
                });
            }
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
        if class < KEPT_CLASSES {
            return KEPT.with(|kept| {
                kept[class].push(block as usize);
                if kept[class].count.get() > 2 * BATCH {
                    self.give(class, &kept[class], BATCH);
                }
            });
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Blocks go from thread to thread, and each belongs to one at a time; what threads have kept is there for others.
    #[test]
    fn blocks_are_disjoint_and_used_again() {
        static ALLOCATOR: Allocator = Allocator::new();
        const THREADS: usize = 4;
        const HELD: usize = 200;
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let passed: Mutex<Vec<(usize, usize)>> = Mutex::default();
        let fill = |seed: u64| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut held: Vec<(usize, usize)> = Vec::new();
            for _ in 0..20_000 {
                if held.len() < HELD && rng.bool() {
                    let size = rng.usize(8..4000);
                    // SAFETY: the size is not 0; the block is that long.
                    unsafe {
                        let block = ALLOCATOR.alloc(layout(size));
                        block.write_bytes(block as usize as u8 ^ size as u8, size);
                        held.push((block as usize, size));
                    }
                    continue;
                }
                let mut passed = passed.lock().unwrap();
                passed.append(&mut held);
                let index = rng.usize(..passed.len().max(1));
                if let Some((block, size)) = (!passed.is_empty()).then(|| passed.swap_remove(index))
                {
                    // SAFETY: a block that was written by whoever had it.
                    unsafe {
                        let bytes = std::slice::from_raw_parts(block as *const u8, size);
                        assert!(bytes.iter().all(|byte| *byte == block as u8 ^ size as u8));
                        ALLOCATOR.dealloc(block as *mut u8, layout(size));
                    }
                }
            }
            ALLOCATOR.give_all();
        };
        std::thread::scope(|scope| {
            (0..THREADS).for_each(|seed| drop(scope.spawn(move || fill(seed as u64))));
        });
        // Everything is given back, and there for a thread that has kept nothing.
        for (block, size) in passed.into_inner().unwrap() {
            // SAFETY: a block that nobody uses any more.
            unsafe { ALLOCATOR.dealloc(block as *mut u8, layout(size)) };
        }
        ALLOCATOR.give_all();
        let fresh = || {
            let (lock, inner) = &ALLOCATOR.classes[3];
            let _guard = lock.lock();
            // SAFETY: the lock is held.
            unsafe { (*inner.get()).fresh.start }
        };
        let before = fresh();
        // SAFETY: the size is not 0.
        let block = unsafe { ALLOCATOR.alloc(layout(100)) };
        assert!(before != 0 && fresh() == before && !block.is_null());
    }
}
