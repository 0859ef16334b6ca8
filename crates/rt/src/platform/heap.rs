//! Blocks of the heap: where they begin, how large they are, and who allocated them.
//!
//! Sixteen bytes before a block say so. A bitmap with one bit for sixteen bytes of the address space says
//! where blocks begin, so that the block around an address is found by looking for the nearest bit
//! below it. Memory that does not come from here has no bit, and is left to whoever it came from.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::check::origin::Stack;
use crate::check::shadow::ADDRESS_BITS;
use crate::platform::os;

const GRAIN: usize = 16;
const SPACE: usize = 1 << ADDRESS_BITS;

/// See the [module](self).
#[derive(Debug)]
pub struct Blocks {
    starts: usize,
    /// Blocks that were freed lately, for reports. Threads that free at the same time write to different rings.
    freed: [Ring; RINGS],
    /// How often a ring was filled: tells which of two blocks was freed later, mostly.
    rounds: AtomicU64,
}

/// How many rings there are, and how many blocks each remembers.
const RINGS: usize = 4;
const LATELY: usize = 256;

#[derive(Debug)]
#[repr(align(128))]
struct Ring {
    freed: [Freed; LATELY],
    next: AtomicUsize,
}

/// A block that was freed: in which round, where and what.
#[derive(Debug, Default)]
struct Freed {
    round: AtomicU64,
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
            freed: std::array::from_fn(|_| Ring {
                freed: std::array::from_fn(|_| Freed::default()),
                next: AtomicUsize::new(0),
            }),
            rounds: AtomicU64::new(0),
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

    /// A block is about to be ended by a thread: it is remembered for a while. Threads with the same ring may overwrite what
    /// the other has noted.
    #[inline]
    pub fn note_freed(&self, block: usize, header: Header, thread: u32) {
        let ring = &self.freed[thread as usize % RINGS];
        let next = ring.next.load(Ordering::Relaxed);
        ring.next.store(next.wrapping_add(1), Ordering::Relaxed);
        let freed = &ring.freed[next % LATELY];
        let round = match next % LATELY {
            0 => self.rounds.fetch_add(1, Ordering::Relaxed) + 1,
            _ => self.rounds.load(Ordering::Relaxed),
        };
        freed.round.store(round, Ordering::Relaxed);
        freed.block.store(block, Ordering::Relaxed);
        freed.size.store(header.size, Ordering::Relaxed);
        freed.who.store(
            u64::from(header.owner) << 32 | u64::from(header.chain),
            Ordering::Relaxed,
        );
    }

    /// The block around an address that was freed lately.
    pub fn freed_around(&self, address: usize) -> Option<(usize, Header)> {
        let blocks = self.freed.iter().flat_map(|ring| &ring.freed).map(|freed| {
            let round = freed.round.load(Ordering::Relaxed);
            let who = freed.who.load(Ordering::Relaxed);
            let size = freed.size.load(Ordering::Relaxed);
            let header = Header {
                size,
                chain: who as u32,
                owner: (who >> 32) as u32,
            };
            (round, freed.block.load(Ordering::Relaxed), header)
        });
        let around = blocks.filter(|(_, block, header)| {
            *block != 0 && (*block..block + header.size().max(1)).contains(&address)
        });
        let latest = around.max_by_key(|(round, ..)| *round);
        latest.map(|(_, block, header)| (block, header))
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
