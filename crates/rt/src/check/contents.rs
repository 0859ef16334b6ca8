//! Large pieces of memory that were handed out with contents: by `calloc`, `mmap` and their like.
//!
//! The simple model: whoever hands memory out with contents has written all of it. Of a large piece most may never be used,
//! so the write of a page is made up when somebody comes there first: a bitmap says which pages wait for
//! it, a list what it was.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadheat_online::fasttrack::Record;

use crate::check::shadow::ADDRESS_BITS;
use crate::platform::os;
use crate::platform::table::Table;
use crate::platform::world::world;

/// How many bytes wait together.
pub const PAGE: usize = 2 * 4096;
/// What is larger was reserved, to be handed out piece by piece.
const LARGEST: usize = 1 << 36;

/// See the [module](self).
#[derive(Debug)]
pub struct Contents {
    /// A bit for every page that waits.
    pages: usize,
    any: AtomicBool,
    pieces: Table<Vec<Piece>>,
}

#[derive(Debug)]
struct Piece {
    from: usize,
    to: usize,
    written: Record,
}

impl Contents {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Contents> {
        Some(Contents {
            pages: os::reserve((1 << ADDRESS_BITS) / PAGE / 8)?,
            any: AtomicBool::new(false),
            pieces: Table::new(),
        })
    }

    fn page(&self, address: usize) -> (&AtomicU64, u64) {
        let page = (address & ((1 << ADDRESS_BITS) - 1)) / PAGE;
        // SAFETY: within the bitmap.
        (
            unsafe { &*(self.pages as *const AtomicU64).add(page / 64) },
            1 << (page % 64),
        )
    }

    /// Whether an address lies in a page that waits to be written.
    #[inline(always)]
    pub fn wait_at(&self, address: usize) -> bool {
        self.any.load(Ordering::Relaxed) && self.waits(address)
    }

    #[inline(never)]
    fn waits(&self, address: usize) -> bool {
        let (word, bit) = self.page(address);
        word.load(Ordering::Acquire) & bit != 0
    }

    /// The whole pages in a piece of memory, if they are to wait: what is known of them has been forgotten.
    pub fn waiting_part(from: usize, to: usize) -> Option<(usize, usize)> {
        let (first, last) = (from.next_multiple_of(PAGE), to & !(PAGE - 1));
        (first < last && last - first <= LARGEST).then_some((first, last))
    }

    /// Whole pages have been written by somebody. The caller is in the runtime.
    pub fn hand_out(&self, from: usize, to: usize, written: Record) {
        self.pieces.with(|pieces| {
            pieces.push(Piece { from, to, written });
        });
        for page in (from..to).step_by(PAGE) {
            let (word, bit) = self.page(page);
            word.fetch_or(bit, Ordering::Release);
        }
        self.any.store(true, Ordering::Release);
    }

    /// Memory means something else now. The caller is in the runtime.
    pub fn forget(&self, from: usize, to: usize) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        self.pieces.with(|pieces| {
            let overlaps = |piece: &Piece| piece.from < to && from < piece.to;
            for piece in pieces.iter().filter(|piece| overlaps(piece)) {
                let (first, last) = (piece.from.max(from & !(PAGE - 1)), piece.to.min(to));
                for page in (first..last).step_by(PAGE) {
                    let (word, bit) = self.page(page);
                    word.fetch_and(!bit, Ordering::Relaxed);
                }
            }
            pieces.retain(|piece| piece.from < from || piece.to > to);
            self.any.store(!pieces.is_empty(), Ordering::Relaxed);
        });
    }

    /// The write that the page around an address waits for.
    pub fn of(&self, address: usize) -> Option<Record> {
        self.pieces.with(|pieces| {
            let around = |piece: &&Piece| (piece.from..piece.to).contains(&address);
            pieces.iter().rev().find(around).map(|piece| piece.written)
        })
    }

    /// Calls `write` with each word of the page around an address: it is written, as far as nobody has accessed it.
    pub fn write(&self, address: usize, write: impl FnMut(usize)) {
        let from = address & !(PAGE - 1);
        world().shadow.note_at(from);
        (from..from + PAGE).step_by(8).for_each(write);
        // Whoever still finds the page waiting does the same once more.
        let (word, bit) = self.page(address);
        word.fetch_and(!bit, Ordering::AcqRel);
    }
}
