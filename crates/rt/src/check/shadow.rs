//! Shadow memory: from an address of the program to the history of its word.
//!
//! The simple model: an array of numbers, one for each eight bytes of the address space; 0 means that
//! nothing is known. The array is one mapping at a place the kernel chooses: no layout is assumed, and
//! memory is only taken for what is touched. It costs half of what the program touches.
//!
//! A bitmap notes which megabytes of the array are in use, so that all numbers can be visited. Bit by bit and
//! never taken back: a visit skips pages that are not there.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::platform::os;

/// Programs live below this address.
pub const ADDRESS_BITS: u32 = 47;
const SIZE: usize = 1 << (ADDRESS_BITS - 1);
const CHUNK_BITS: u32 = 20;
const CHUNK: usize = 1 << CHUNK_BITS;
const PAGE: usize = 4096;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Shadow {
    base: usize,
    chunks: usize,
    /// A bit for every word of `chunks` that is not 0.
    summary: usize,
}

impl Shadow {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Shadow> {
        Some(Shadow {
            base: os::reserve(SIZE)?,
            chunks: os::reserve(SIZE / CHUNK / 8)?,
            summary: os::reserve(SIZE / CHUNK / 8 / 64)?,
        })
    }

    /// Where it begins.
    pub fn base(self) -> usize {
        self.base
    }

    /// The number of the word at an address, given where the shadow begins.
    #[inline(always)]
    pub fn cell_at<'a>(base: usize, address: usize) -> &'a AtomicU32 {
        let offset = (address >> 1) & (SIZE - 1) & !3;
        // SAFETY: within the mapping, which lives as long as the process.
        unsafe { &*((base + offset) as *const AtomicU32) }
    }

    /// The number of the word at an address.
    #[inline]
    pub fn cell<'a>(self, address: usize) -> &'a AtomicU32 {
        Shadow::cell_at(self.base, address)
    }

    /// A cell is about to be used for the first time.
    #[inline]
    pub fn note(self, cell: &AtomicU32) {
        let chunk = (cell.as_ptr() as usize - self.base) >> CHUNK_BITS;
        // SAFETY: within the bitmap: a cell lies within the array.
        let word = unsafe { &*(self.chunks as *const AtomicU64).add(chunk / 64) };
        let bit = 1 << (chunk % 64);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
            let index = chunk / 64;
            // SAFETY: within the summary, which has a bit for every word.
            let word = unsafe { &*(self.summary as *const AtomicU64).add(index / 64) };
            word.fetch_or(1 << (index % 64), Ordering::Relaxed);
        }
    }

    /// Nothing is known of these addresses any more. Both ends are multiples of eight.
    pub fn clear(self, from: usize, to: usize) {
        let first = self.cell(from).as_ptr() as usize;
        let end = first + (to - from) / 2;
        let (page, last_page) = (first.next_multiple_of(PAGE), end & !(PAGE - 1));
        if page + 4 * PAGE < last_page {
            zero(first, page);
            // SAFETY: pages of the shadow's own mapping.
            unsafe { os::forget(page, last_page - page) };
            zero(last_page, end);
        } else {
            zero(first, end);
        }
    }

    /// Calls `each` with the parts of these addresses of which something may be known.
    pub fn resident(self, from: usize, to: usize, mut each: impl FnMut(usize, usize)) {
        const STEP: usize = 2 * CHUNK;
        let mut at = from;
        while at < to {
            let chunk = at / STEP;
            // SAFETY: within the bitmap: a chunk for each piece of the address space.
            let word = unsafe { &*(self.chunks as *const AtomicU64).add(chunk / 64) };
            let word = word.load(Ordering::Relaxed);
            if word == 0 {
                // Sixty-four at once: programs give back terabytes that they have reserved and hardly used.
                at = (chunk / 64 + 1) * 64 * STEP;
                continue;
            }
            let end = ((chunk + 1) * STEP).min(to);
            if word & 1 << (chunk % 64) != 0 {
                self.resident_in_chunk(at, end, &mut each);
            }
            at = end;
        }
    }

    fn resident_in_chunk(self, from: usize, to: usize, each: &mut impl FnMut(usize, usize)) {
        let page_of = |address| self.cell(address).as_ptr() as usize / PAGE;
        let start = page_of(from);
        let mut present = [0u8; CHUNK / PAGE];
        let pages = page_of(to - 1) - start + 1;
        let place = present.as_mut_ptr() as usize;
        let arguments = [start * PAGE, pages * PAGE, place, 0, 0, 0];
        // SAFETY: the kernel writes one byte a page.
        if unsafe { os::call(libc::SYS_mincore, arguments) } < 0 {
            present.fill(1);
        }
        let first = from & !(2 * PAGE - 1);
        let there = |(_, there): &(usize, &u8)| **there & 1 == 1;
        for (page, _) in present[..pages].iter().enumerate().filter(there) {
            let (start, end) = (first + page * 2 * PAGE, first + (page + 1) * 2 * PAGE);
            each(start.max(from), end.min(to));
        }
    }

    /// Nothing is known of any address any more.
    pub fn forget_all(self) {
        self.for_chunks(|chunk| {
            // SAFETY: pages of the shadow's own mapping.
            unsafe { os::forget(chunk, CHUNK) };
        });
    }

    /// Calls `each` with where each megabyte in use begins.
    fn for_chunks(self, mut each: impl FnMut(usize)) {
        for_bits(self.summary, SIZE / CHUNK / 64, |index| {
            for_bits(self.chunks + index * 8, 64, |bit| {
                each(self.base + ((index * 64 + bit) << CHUNK_BITS));
            });
        });
    }

    /// Visits every number in use, and says how many pages that were.
    pub fn visit(self, mut each: impl FnMut(u32)) -> usize {
        let mut pages = 0;
        self.for_chunks(|chunk| pages += visit_chunk(chunk, &mut each));
        pages
    }
}

/// The numbers of two neighbouring words, to be changed at once.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a>([&'a AtomicU32; 2]);

impl<'a> Pair<'a> {
    /// Those from an address on, given where the shadow begins. None: they do not lie within a line of the cache, where
    /// the processor changes what it likes at once.
    #[inline(always)]
    pub fn at(base: usize, address: usize) -> Option<Pair<'a>> {
        let cells = [address, address + 8].map(|address| Shadow::cell_at(base, address));
        (cells[0].as_ptr() as usize % 64 != 60).then_some(Pair(cells))
    }

    #[inline(always)]
    pub fn cells(self) -> [&'a AtomicU32; 2] {
        self.0
    }

    #[inline(always)]
    pub fn load(self) -> [u32; 2] {
        self.0.map(|cell| cell.load(Ordering::Relaxed))
    }

    /// Replaces both, if both are as expected. Where not, the first may have been replaced all the same.
    #[inline(always)]
    pub fn replace(self, old: [u32; 2], new: [u32; 2]) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let both = |numbers: [u32; 2]| u64::from(numbers[1]) << 32 | u64::from(numbers[0]);
            let found: u64;
            // SAFETY: the two lie side by side in the mapping, within a line of the cache: to the processor this is one
            // atomic exchange. Rust's own atomics may not mix sizes.
            unsafe {
                std::arch::asm!(
                    "lock cmpxchg qword ptr [{place}], {new}",
                    place = in(reg) self.0[0].as_ptr(),
                    new = in(reg) both(new),
                    inout("rax") both(old) => found,
                    options(nostack),
                );
            }
            found == both(old)
        }
        #[cfg(not(target_arch = "x86_64"))]
        [0, 1].iter().all(|&at| {
            self.0[at]
                .compare_exchange(old[at], new[at], Ordering::Release, Ordering::Relaxed)
                .is_ok()
        })
    }
}

/// Calls `each` with the places of the bits that are set in a bitmap of the shadow.
fn for_bits(bitmap: usize, bits: usize, mut each: impl FnMut(usize)) {
    for index in 0..bits / 64 {
        // SAFETY: the caller's bitmap is that long.
        let word = unsafe { &*(bitmap as *const AtomicU64).add(index) };
        let mut bits = word.load(Ordering::Relaxed);
        while bits != 0 {
            each(index * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

fn zero(from: usize, to: usize) {
    for at in (from..to).step_by(4) {
        // SAFETY: within the shadow's mapping.
        unsafe { &*(at as *const AtomicU32) }.store(0, Ordering::Relaxed);
    }
}

fn visit_chunk(start: usize, each: &mut impl FnMut(u32)) -> usize {
    let mut present = [0u8; CHUNK / PAGE];
    let arguments = [start, CHUNK, present.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel writes one byte a page.
    if unsafe { os::call(libc::SYS_mincore, arguments) } < 0 {
        present.fill(1);
    }
    let mut pages = 0;
    for (page, _) in present
        .iter()
        .enumerate()
        .filter(|(_, there)| **there & 1 == 1)
    {
        pages += 1;
        let mut last = 0;
        for at in (start + page * PAGE..start + (page + 1) * PAGE).step_by(4) {
            // SAFETY: within the shadow's mapping.
            let number = unsafe { &*(at as *const AtomicU32) }.load(Ordering::Relaxed);
            if number != last {
                each(number);
                last = number;
            }
        }
    }
    pages
}
