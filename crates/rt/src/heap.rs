//! Blocks of the heap: where they begin, how large they are, and who allocated them.
//!
//! Sixteen bytes before a block say so. A bitmap with one bit for sixteen bytes of the address space says
//! where blocks begin, so that the block around an address is found by looking for the nearest bit
//! below it. Memory that does not come from here has no bit, and is left to whoever it came from.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::origin::Stack;
use crate::os;
use crate::shadow::ADDRESS_BITS;

const GRAIN: usize = 16;
const SPACE: usize = 1 << ADDRESS_BITS;

/// See the [module](self).
#[derive(Debug)]
pub struct Blocks {
    starts: usize,
    /// Blocks that were freed lately, for reports, in a ring: where and what.
    freed: [Freed; LATELY],
    next_freed: AtomicUsize,
}

/// How many freed blocks are remembered.
const LATELY: usize = 1024;

#[derive(Debug, Default)]
struct Freed {
    block: AtomicUsize,
    size: AtomicU64,
    who: AtomicU64,
}

/// What precedes a block.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// The size (40 bits), how far before the block its memory begins (a power of two, 5 bits), and the
    /// place it was allocated at.
    size: u64,
    chain: u32,
    /// The thread that allocated it; in a program of OpenMP, the description of the task.
    pub owner: u32,
}

const SIZE_BITS: u32 = 40;
const BEFORE_BITS: u32 = 5;

impl Header {
    /// Of a block of this size whose memory begins `before` bytes earlier, a power of two.
    pub fn new(size: usize, before: usize, stack: Stack, owner: u32) -> Header {
        let above = u64::from(stack.place) << BEFORE_BITS | u64::from(before.trailing_zeros());
        Header {
            size: above << SIZE_BITS | size as u64,
            chain: stack.chain,
            owner,
        }
    }

    /// The size that was asked for.
    pub fn size(&self) -> usize {
        (self.size & ((1 << SIZE_BITS) - 1)) as usize
    }

    /// How far before the block its memory begins.
    pub fn before(&self) -> usize {
        1 << ((self.size >> SIZE_BITS) & ((1 << BEFORE_BITS) - 1))
    }

    /// Where it was allocated.
    pub fn stack(&self) -> Stack {
        Stack {
            chain: self.chain,
            place: (self.size >> (SIZE_BITS + BEFORE_BITS)) as u32,
        }
    }
}

impl Blocks {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Blocks> {
        Some(Blocks {
            starts: os::reserve(SPACE / GRAIN / 8)?,
            freed: std::array::from_fn(|_| Freed::default()),
            next_freed: AtomicUsize::new(0),
        })
    }

    fn bit(&self, block: usize) -> (&AtomicU64, u64) {
        let grain = (block & (SPACE - 1)) / GRAIN;
        // SAFETY: within the bitmap.
        (
            unsafe { &*(self.starts as *const AtomicU64).add(grain / 64) },
            1 << (grain % 64),
        )
    }

    /// A block begins.
    ///
    /// # Safety
    /// The sixteen bytes before it are the runtime's.
    pub unsafe fn add(&self, block: usize, header: Header) {
        // SAFETY: the caller's promise.
        unsafe { ((block - GRAIN) as *mut Header).write(header) };
        let (word, bit) = self.bit(block);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// The header of a block, if it is one.
    pub fn header(&self, block: usize) -> Option<Header> {
        let (word, bit) = self.bit(block);
        let is = block.is_multiple_of(GRAIN) && word.load(Ordering::Relaxed) & bit != 0;
        // SAFETY: a bit is only set while there is a header.
        is.then(|| unsafe { *((block - GRAIN) as *const Header) })
    }

    /// A block is about to end: it is remembered for a while. Threads that end blocks at the same time may overwrite
    /// what the other has noted.
    #[inline]
    pub fn note_freed(&self, block: usize, header: Header) {
        let next = self.next_freed.load(Ordering::Relaxed);
        self.next_freed
            .store(next.wrapping_add(1), Ordering::Relaxed);
        let freed = &self.freed[next % LATELY];
        freed.block.store(block, Ordering::Relaxed);
        freed.size.store(header.size, Ordering::Relaxed);
        freed.who.store(
            u64::from(header.owner) << 32 | u64::from(header.chain),
            Ordering::Relaxed,
        );
    }

    /// The block around an address that was freed lately.
    pub fn freed_around(&self, address: usize) -> Option<(usize, Header)> {
        let last = self.next_freed.load(Ordering::Relaxed);
        let latest_first = (1..=LATELY).map(|ago| &self.freed[last.wrapping_sub(ago) % LATELY]);
        let blocks = latest_first.map(|freed| {
            let who = freed.who.load(Ordering::Relaxed);
            let size = freed.size.load(Ordering::Relaxed);
            let header = Header {
                size,
                chain: who as u32,
                owner: (who >> 32) as u32,
            };
            (freed.block.load(Ordering::Relaxed), header)
        });
        blocks
            .filter(|(block, _)| *block != 0)
            .find(|(block, header)| (*block..block + header.size().max(1)).contains(&address))
    }

    /// A block ends. None: it was none, or somebody else has ended it.
    pub fn remove(&self, block: usize) -> Option<Header> {
        let header = self.header(block)?;
        let (word, bit) = self.bit(block);
        (word.fetch_and(!bit, Ordering::Relaxed) & bit != 0).then_some(header)
    }

    /// The block around an address, if it does not begin before `lowest`.
    pub fn around(&self, address: usize, lowest: usize) -> Option<(usize, Header)> {
        let grain = (address & (SPACE - 1)) / GRAIN;
        let mut index = grain / 64;
        let mut mask = u64::MAX >> (63 - grain % 64);
        let last = (lowest & (SPACE - 1)) / GRAIN / 64;
        while index >= last {
            // SAFETY: within the bitmap.
            let word = unsafe { &*(self.starts as *const AtomicU64).add(index) }
                .load(Ordering::Relaxed)
                & mask;
            if word != 0 {
                let block = (index * 64 + 63 - word.leading_zeros() as usize) * GRAIN;
                let header = self.header(block)?;
                return (address - block < header.size().max(1)).then_some((block, header));
            }
            mask = u64::MAX;
            index = index.checked_sub(1)?;
        }
        None
    }
}
