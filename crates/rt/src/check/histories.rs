//! Where histories live: an arena of records, collected when it has grown.
//!
//! The simple model: an ever-growing array of records; a history's number is the place of its first record,
//! and its last record says that it is the last. Number 0 is the empty history.
//!
//! Histories never change, and nobody counts who refers to them: when enough have been made, the words'
//! numbers are visited and what none refers to is used again. That happens line by line (four records, 64
//! bytes): a block of 64 lines has a bitmap of those in use, and whoever makes histories takes a block and fills
//! its free lines.
//!
//! Guarantee: a history that a word or a thread's cache refers to stays. [`Histories::collect`] must be called
//! while nobody makes or reads histories, except through numbers it was told of.
//! Cost: a pointer increment to make one; a collection visits the shadow in use, and happens after at least as
//! much memory was taken as makes that cheap.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_online::fasttrack::Record;

use crate::check::longer;
use crate::platform::os;

/// The arena is in small pages up to here.
const HUGE: usize = 8 << 20;
const LINE: u32 = 4;
const BLOCK: u32 = 64 * LINE;
/// How many records there can be: histories have numbers below that.
pub const RECORDS: usize = 1 << 30;
const BLOCKS: usize = RECORDS / BLOCK as usize;
/// How many blocks are taken before the first collection, and at least between two of them.
const FEW: u32 = 1024;

/// The history of memory that is not to be looked at: no history begins there, as the first block is nobody's.
pub const UNCHECKED: u32 = 1;

/// A number that is in use.
#[derive(Clone, Copy, Debug)]
pub enum InUse {
    History(u32),
    /// See [`longer`](crate::check::longer).
    Others(u32),
}

/// See the [module](self).
#[derive(Debug)]
pub struct Histories {
    records: *mut Record,
    /// The lines in use of each block, as of the last collection.
    used: *const AtomicU64,
    /// The next block to take of those that a collection has looked at.
    sweep: AtomicU32,
    /// How many blocks the last collection looked at.
    swept: AtomicU32,
    /// How many blocks were ever taken.
    top: AtomicU32,
    /// The top at which to collect.
    limit: AtomicU32,
    /// How often that was done.
    collections: AtomicU32,
}

/// The free records a thread has in hand.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    from: u32,
    to: u32,
    block: u32,
    /// Free lines of the block that are not in `from..to` yet.
    free: u64,
}

// SAFETY: free records belong to one `RecordBuffer` at a time; others are only read.
unsafe impl Sync for Histories {}
// SAFETY: as above.
unsafe impl Send for Histories {}

impl Histories {
    /// Without any but the empty one.
    pub fn new() -> Histories {
        let records = os::reserve_or_die(RECORDS * size_of::<Record>());
        // Many histories are found at random: large pages find them faster.
        os::advise(
            records + HUGE,
            RECORDS * size_of::<Record>() - HUGE,
            libc::MADV_HUGEPAGE,
        );
        Histories {
            records: records as *mut Record,
            used: os::reserve_or_die(BLOCKS * 8) as *const AtomicU64,
            sweep: AtomicU32::new(0),
            swept: AtomicU32::new(0),
            // The first block holds number 0, which is nobody's.
            top: AtomicU32::new(1),
            limit: AtomicU32::new(FEW),
            collections: AtomicU32::new(0),
        }
    }

    /// The records of a history.
    #[inline]
    pub fn get(&self, number: u32) -> &[Record] {
        if number <= UNCHECKED {
            return &[];
        }
        // SAFETY: numbers are of histories that were written completely before anyone saw the number.
        unsafe {
            let first = self.records.add(number as usize);
            let mut length = 1;
            while !(*first.add(length - 1)).is_last() {
                length += 1;
            }
            std::slice::from_raw_parts(first, length)
        }
    }

    /// The marks that lie at a number which was given out for them.
    #[inline]
    pub fn others(&self, number: u32) -> &[AtomicU64] {
        // SAFETY: as said.
        unsafe { longer::others(self.records, number) }
    }

    /// The newest records of a history that is not empty. If the number is no longer in use, what is found there are
    /// some records that were made at some time.
    #[inline]
    pub fn newest(&self, number: u32) -> impl Iterator<Item = Record> {
        let mut last = false;
        (0..4).map_while(move |index| {
            if last {
                return None;
            }
            // SAFETY: within the arena, as no history begins at its very end. Another thread may make a record there
            // meanwhile: read as plain memory.
            let record = unsafe { self.records.add(number as usize + index).read_volatile() };
            last = record.is_last();
            Some(record)
        })
    }

    /// Whether a history that is not empty has few records, and something holds for all of them.
    #[inline]
    pub fn all(&self, number: u32, holds: impl Fn(&Record) -> bool) -> bool {
        let mut last = false;
        self.newest(number).all(|record| {
            last = record.is_last();
            holds(&record)
        }) && last
    }

    /// Room for a history of up to so many records, and its number. None: a collection is due.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub fn room(&self, buffer: &mut RecordBuffer, length: usize) -> Option<(u32, &mut [Record])> {
        let length32 = u32::try_from(length).ok()?;
        if buffer.to - buffer.from < length32 && !self.refill(buffer, length32) {
            return None;
        }
        // SAFETY: these records are free and the buffer's alone.
        let records = unsafe {
            std::slice::from_raw_parts_mut(self.records.add(buffer.from as usize), length)
        };
        Some((buffer.from, records))
    }

    /// A history of this length was made in the records given last.
    #[inline]
    pub fn keep(&self, buffer: &mut RecordBuffer, length: usize) {
        buffer.from += length as u32;
    }

    #[cold]
    fn refill(&self, buffer: &mut RecordBuffer, length: u32) -> bool {
        if length > BLOCK {
            let blocks = length.div_ceil(BLOCK);
            return match self.row(blocks).or_else(|| self.fresh(blocks)) {
                Some(block) => {
                    *buffer = RecordBuffer {
                        from: block * BLOCK,
                        to: (block + blocks) * BLOCK,
                        block,
                        free: 0,
                    };
                    true
                }
                None => false,
            };
        }
        loop {
            if buffer.free == 0 {
                let Some(block) = self.next_block() else {
                    return false;
                };
                buffer.block = block;
                // SAFETY: the index is below BLOCKS.
                buffer.free = !unsafe { &*self.used.add(block as usize) }.load(Ordering::Relaxed);
                continue;
            }
            let first = buffer.free.trailing_zeros();
            let lines = (!(buffer.free >> first)).trailing_zeros().min(64 - first);
            buffer.free &= !(u64::MAX >> (64 - lines) << first);
            buffer.from = buffer.block * BLOCK + first * LINE;
            buffer.to = buffer.from + lines * LINE;
            if lines * LINE >= length {
                return true;
            }
        }
    }

    /// So many free blocks in a row, of those that a collection has looked at. What is passed over waits for the next one.
    fn row(&self, blocks: u32) -> Option<u32> {
        let swept = self.swept.load(Ordering::Relaxed);
        loop {
            let sweep = self.sweep.load(Ordering::Relaxed);
            let (mut first, mut end) = (sweep, sweep);
            while end - first < blocks {
                if end >= swept || end - sweep > FEW {
                    return None;
                }
                // SAFETY: the index is below BLOCKS.
                if unsafe { &*self.used.add(end as usize) }.load(Ordering::Relaxed) != 0 {
                    first = end + 1;
                }
                end += 1;
            }
            let claimed =
                self.sweep
                    .compare_exchange(sweep, end, Ordering::Relaxed, Ordering::Relaxed);
            if claimed.is_ok() {
                return Some(first);
            }
        }
    }

    fn next_block(&self) -> Option<u32> {
        let swept = self.swept.load(Ordering::Relaxed);
        while self.sweep.load(Ordering::Relaxed) < swept {
            let block = self.sweep.fetch_add(1, Ordering::Relaxed);
            if block < swept
                // SAFETY: `block` is below `swept`, which is at most BLOCKS: `used` has an entry for it.
                && unsafe { &*self.used.add(block as usize) }.load(Ordering::Relaxed) != !0
            {
                return Some(block);
            }
        }
        self.fresh(1)
    }

    fn fresh(&self, blocks: u32) -> Option<u32> {
        if self.top.load(Ordering::Relaxed) + blocks >= self.limit.load(Ordering::Relaxed) {
            return None;
        }
        Some(self.top.fetch_add(blocks, Ordering::Relaxed))
    }

    /// How often there was a collection: numbers that were not visited then are no longer what they were.
    pub fn collections(&self) -> u32 {
        self.collections.load(Ordering::Relaxed)
    }

    /// Finds out which records are in use: `visit` calls its argument with every number that is, of a history or of
    /// [`others`](Histories::others). It returns how many pages it has looked at. Afterwards there is room for a history of `length`, for whoever comes first. False:
    /// almost all of the arena is in use.
    pub fn collect(
        &self,
        length: usize,
        visit: impl FnOnce(&mut dyn FnMut(InUse)) -> usize,
    ) -> bool {
        self.collections.fetch_add(1, Ordering::Relaxed);
        let top = self.top.load(Ordering::Relaxed);
        for block in 0..top {
            self.mark(block, 0, true);
        }
        self.mark(0, 1, false);
        let mark = |line: u32| self.mark(line / 64, 1 << (line % 64), false);
        let pages = visit(&mut |number| match number {
            InUse::History(number) if number > UNCHECKED => {
                let length = self.get(number).len() as u32;
                (number / LINE..=(number + length - 1) / LINE).for_each(mark);
            }
            InUse::History(_) => (),
            InUse::Others(number) => mark(longer::record_at(number) / LINE),
        });
        let mut lines = 0;
        for block in 0..top {
            // SAFETY: the index is below BLOCKS.
            lines += unsafe { &*self.used.add(block as usize) }
                .load(Ordering::Relaxed)
                .count_ones();
        }
        self.sweep.store(0, Ordering::Relaxed);
        self.swept.store(top, Ordering::Relaxed);
        // What is free already, and as much again as is in use or as makes the visit cheap.
        let wanted = FEW.max(lines / 64).max(pages as u32 / 4);
        let free = top - lines / 64;
        // A long history needs blocks in a row, which the free ones may not be.
        let row = length as u32 / BLOCK + 2;
        let limit = top + wanted.saturating_sub(free).max(row);
        self.limit
            .store(limit.min(BLOCKS as u32), Ordering::Relaxed);
        limit < BLOCKS as u32
    }

    fn mark(&self, block: u32, lines: u64, reset: bool) {
        // SAFETY: the index is below BLOCKS.
        let word = unsafe { &*self.used.add(block as usize) };
        let before = if reset {
            0
        } else {
            word.load(Ordering::Relaxed)
        };
        word.store(before | lines, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Strand;
    use deadheat_online::fasttrack::{Kind, Step, step};
    use deadheat_order::Clock;

    /// A history of so many records, each by another thread.
    fn make(
        histories: &Histories,
        buffer: &mut RecordBuffer,
        length: u32,
        tag: u64,
    ) -> Option<u32> {
        let mut number = 0;
        for slot in 0..length {
            let kind = Kind {
                write: false,
                atomic: false,
            };
            let record = Record::new(Strand(slot), 1, kind, 0xff, tag);
            let (next, records) = histories.room(buffer, slot as usize + 1)?;
            let old = histories.get(number);
            let Step::Changed(made) = step(old, record, &Clock::default(), records, |_| ()) else {
                panic!("a new thread's record is new");
            };
            histories.keep(buffer, made);
            number = next;
        }
        Some(number)
    }

    #[test]
    fn what_is_in_use_stays_and_the_rest_is_used_again() {
        let histories = Histories::new();
        let mut rng = fastrand::Rng::with_seed(1);
        let mut buffers = [RecordBuffer::default(), RecordBuffer::default()];
        let mut live: Vec<(u32, usize, u64)> = Vec::new();
        let mut collections = 0;
        for tag in 0..400_000 {
            let length = if rng.u32(..2000) == 0 {
                300
            } else {
                rng.u32(1..6)
            };
            let buffer = &mut buffers[rng.usize(..2)];
            match make(&histories, buffer, length, tag) {
                Some(number) => live.push((number, length as usize, tag)),
                None => {
                    collections += 1;
                    buffers = [RecordBuffer::default(), RecordBuffer::default()];
                    histories.collect(length as usize, |mark| {
                        live.iter()
                            .for_each(|(number, ..)| mark(InUse::History(*number)));
                        0
                    });
                }
            }
            if live.len() > 5000 {
                live.swap_remove(rng.usize(..live.len()));
            }
            if tag % 10_000 == 0 {
                for &(number, length, tag) in &live {
                    let records = histories.get(number);
                    assert_eq!(records.len(), length);
                    assert!(records.iter().all(|record| record.origin == tag));
                }
            }
        }
        assert!(collections > 3, "{collections}");
        assert!(histories.top.load(Ordering::Relaxed) < 4 * FEW);
    }

    #[test]
    fn a_long_history_finds_room_among_short_ones() {
        let histories = Histories::new();
        let mut buffer = RecordBuffer::default();
        let mut live = Vec::new();
        while let Some(number) = make(&histories, &mut buffer, 1, 0) {
            live.push(number);
        }
        // One line of each block stays in use: nowhere are there two free blocks in a row.
        live.retain(|number| number % BLOCK == 0);
        for length in [2 * BLOCK, 40 * BLOCK] {
            buffer = RecordBuffer::default();
            histories.collect(length as usize, |mark| {
                live.iter().for_each(|number| mark(InUse::History(*number)));
                0
            });
            assert!(histories.room(&mut buffer, length as usize).is_some());
        }
        // Those that are free in a row are used again.
        buffer = RecordBuffer::default();
        histories.collect(1, |_| 0);
        let top = histories.top.load(Ordering::Relaxed);
        let (number, _) = histories.room(&mut buffer, 3 * BLOCK as usize).unwrap();
        assert!(number / BLOCK < top && histories.top.load(Ordering::Relaxed) == top);
    }
}
