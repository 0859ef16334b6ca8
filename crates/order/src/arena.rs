//! A list of 16-byte records that many threads append to at once and that are hardly ever changed.
//!
//! Simple model: a `Mutex<Vec<(u64, u64)>>`.
//!
//! The clever version never moves a record, and takes no lock but to make a segment: a counter gives out indices, and an
//! index leads to its slot in one of a few segments, each twice as large as the one before, made by
//! whoever needs it first. Records are two relaxed atomic words. A thread may read a record once it
//! has learnt its index from the thread that wrote it, in a way that orders memory (an acquiring
//! load of what a releasing store wrote): the arena itself orders nothing.
//!
//! Cost: an append is one `fetch_add` and two stores; a read is a few loads. Segments are zeroed by
//! the allocator, so memory that no record has used yet is not touched.

use std::sync::OnceLock;

use thiserror::Error;

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// No more room: an index has no more bits, or memory has run out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the order of tasks takes more memory than there is room for")]
pub struct Full;

/// Records in the first segment. Loom follows each word, so it gets few of them.
const FIRST: u32 = if cfg!(loom) { 8 } else { 1 << 12 };

/// Enough segments for [`MAX_RECORDS`].
const SEGMENTS: usize = 20;

/// How many records there can be: an index and one more bit fit into 32 bits.
pub(crate) const MAX_RECORDS: u32 = 1 << 31;

type Segment = Box<[[AtomicU64; 2]]>;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Arena {
    length: AtomicU32,
    segments: [OnceLock<Option<Segment>>; SEGMENTS],
}

impl Arena {
    /// How many records have been appended, or are being so.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.length.load(Ordering::Acquire).min(MAX_RECORDS)
    }

    /// How many bytes the records take, those in use and those kept for later.
    pub(crate) fn bytes(&self) -> usize {
        let made = self.segments.iter().filter_map(|s| s.get()?.as_ref());
        made.map(|segment| size_of_val(&**segment)).sum()
    }

    /// Appends the record made for its index, and gives that. Indices are given out in order.
    pub(crate) fn push(&self, record: impl FnOnce(u32) -> [u64; 2]) -> Result<u32, Full> {
        let index = self.length.fetch_add(1, Ordering::AcqRel);
        if index >= MAX_RECORDS {
            // Keeps the counter from wrapping, however often this is tried.
            self.length.fetch_sub(1, Ordering::AcqRel);
            return Err(Full);
        }
        let (segment, offset) = place(index);
        let made = self.segments[segment].get_or_init(|| new_segment(segment));
        let slot = &made.as_ref().ok_or(Full)?[offset];
        let record = record(index);
        slot[0].store(record[0], Ordering::Relaxed);
        slot[1].store(record[1], Ordering::Relaxed);
        Ok(index)
    }

    /// Changes a record. Whoever reads it meanwhile may find one word of each.
    pub(crate) fn replace(&self, index: u32, record: [u64; 2]) {
        let (segment, offset) = place(index);
        if let Some(Some(segment)) = self.segments.get(segment).and_then(OnceLock::get)
            && let Some(slot) = segment.get(offset)
        {
            slot[0].store(record[0], Ordering::Relaxed);
            slot[1].store(record[1], Ordering::Relaxed);
        }
    }

    /// The record at an index that `push` has given; zeros for one that it has not.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> [u64; 2] {
        let (segment, offset) = place(index);
        match self.segments.get(segment).and_then(OnceLock::get) {
            Some(Some(segment)) => match segment.get(offset) {
                Some([a, b]) => [a.load(Ordering::Relaxed), b.load(Ordering::Relaxed)],
                None => [0, 0],
            },
            _ => [0, 0],
        }
    }
}

/// Which segment an index lies in, and where in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    // Segment n starts at FIRST * (2^n - 1).
    let shifted = u64::from(index) + u64::from(FIRST);
    let segment = shifted.ilog2() - FIRST.ilog2();
    let start = u64::from(FIRST) << segment;
    (segment as usize, (shifted - start) as usize)
}

#[cfg(not(loom))]
fn new_segment(segment: usize) -> Option<Segment> {
    bytemuck::allocation::try_zeroed_slice_box((FIRST as usize) << segment).ok()
}

#[cfg(loom)]
fn new_segment(segment: usize) -> Option<Segment> {
    let slots = (0..FIRST << segment).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]);
    Some(slots.collect())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_a_slot_of_its_own() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == (FIRST as usize) << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        let (last, _) = place(MAX_RECORDS - 1);
        assert!(last < SEGMENTS);
    }

    #[test]
    fn many_threads_append_and_nothing_is_lost() {
        const EACH: u64 = 20_000;
        let arena = Arena::default();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let arena = &arena;
                scope.spawn(move || {
                    let mut last = None;
                    for n in 0..EACH {
                        let index = arena.push(|_| [thread, n]).unwrap();
                        assert_eq!(arena.get(index), [thread, n]);
                        assert!(last < Some(index), "indices come in order");
                        last = Some(index);
                    }
                });
            }
        });
        assert_eq!(u64::from(arena.len()), 4 * EACH);
        let mut records: Vec<[u64; 2]> = (0..arena.len()).map(|i| arena.get(i)).collect();
        records.sort_unstable();
        let expected = (0..4).flat_map(|thread| (0..EACH).map(move |n| [thread, n]));
        assert!(records.into_iter().eq(expected));
    }

    #[test]
    fn an_index_that_was_never_given_is_harmless() {
        assert_eq!(Arena::default().get(5), [0, 0]);
        assert_eq!(Arena::default().get(u32::MAX), [0, 0]);
    }
}
