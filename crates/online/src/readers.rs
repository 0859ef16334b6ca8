//! The reads of a location since its last write: the newest at hand, older ones in blocks.
//!
//! Simple model: a `Vec` of reads.
//!
//! Very many elements of an array have the same reads, and copies of them are made and compared all the time. So when the newest have
//! become [`FEW`], they go into a block that never changes, which copies share. A block
//! is as large as all before it, or larger: there are few.
//!
//! Guarantee: equal readers have the same reads in the same order. The same reads, put in one by one for each of two copies, may
//! be taken for different.
//! Cost: to add a read, a few moves in the mean (a logarithm of how many there are); to copy or to compare, O(1).

use std::sync::Arc;

use deadheat_order::Step;
use smallvec::SmallVec;

/// An earlier access to a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PastAccess {
    pub(crate) step: Step,
    /// The time of joins when it was made: no earlier join matters to it.
    pub(crate) time: u32,
    /// What whoever checks wants to know again: where in the source it is, say.
    pub(crate) mark: u32,
}

/// How many reads are kept by themselves.
pub(crate) const FEW: usize = 8;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Readers {
    newest: SmallVec<[PastAccess; 2]>,
    older: Option<Arc<Block>>,
}

#[derive(Debug)]
struct Block {
    reads: Vec<PastAccess>,
    older: Option<Arc<Block>>,
}

impl Clone for Readers {
    /// As derived, but copies the newest at once and not one by one.
    #[inline]
    fn clone(&self) -> Readers {
        Readers {
            newest: SmallVec::from_slice(&self.newest),
            older: self.older.clone(),
        }
    }
}

impl PartialEq for Readers {
    fn eq(&self, other: &Readers) -> bool {
        let same_older = match (&self.older, &other.older) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same_older && self.newest == other.newest
    }
}

impl Readers {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.newest.len() + self.blocks().map(|block| block.reads.len()).sum::<usize>()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_empty() && self.older.is_none()
    }

    /// The newest one, to be replaced; none if it is not at hand.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut PastAccess> {
        self.newest.last_mut()
    }

    /// The oldest one of those at hand.
    #[inline]
    pub(crate) fn first(&self) -> Option<&PastAccess> {
        self.newest.first()
    }

    /// Adds one.
    pub(crate) fn push(&mut self, read: PastAccess) {
        if self.newest.len() == FEW {
            let mut reads = Vec::new();
            let mut rest = self.older.take();
            let mut joined = Vec::new();
            let mut length = self.newest.len();
            while let Some(block) = rest.take_if(|block| block.reads.len() <= length) {
                length += block.reads.len();
                rest = block.older.clone();
                joined.push(block);
            }
            for block in joined.iter().rev() {
                reads.extend_from_slice(&block.reads);
            }
            reads.extend(self.newest.drain(..));
            self.older = Some(Arc::new(Block { reads, older: rest }));
        }
        self.newest.push(read);
    }

    /// All of them, in some order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PastAccess> {
        let older = self.blocks().flat_map(|block| &block.reads);
        self.newest.iter().chain(older)
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        std::iter::successors(self.older.as_deref(), |block| block.older.as_deref())
    }
}

impl From<Vec<PastAccess>> for Readers {
    /// Those given, the last one at hand.
    fn from(mut reads: Vec<PastAccess>) -> Readers {
        let few = reads.len().saturating_sub(FEW / 2);
        let newest = match few {
            0 => std::mem::take(&mut reads),
            _ => reads.split_off(few),
        };
        let older = None;
        Readers {
            newest: SmallVec::from_slice(&newest),
            older: (!reads.is_empty()).then(|| Arc::new(Block { reads, older })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: u32) -> PastAccess {
        PastAccess {
            step: Step(number),
            ..PastAccess::default()
        }
    }

    fn blocks(readers: &Readers) -> Vec<usize> {
        readers.blocks().map(|block| block.reads.len()).collect()
    }

    #[test]
    fn a_block_is_joined_with_those_that_are_no_longer() {
        let mut readers = Readers::default();
        assert!(readers == Readers::default());
        let sizes = [
            vec![],
            vec![1],
            vec![2],
            vec![1, 2],
            vec![4],
            vec![1, 4],
            vec![2, 4],
            vec![1, 2, 4],
            vec![8],
        ];
        for (full, sizes) in sizes.iter().enumerate() {
            let expected: Vec<usize> = sizes.iter().map(|size| size * FEW).collect();
            // What is at hand is only put away to make room for the next one.
            for number in 1..=FEW {
                readers.push(read(number as u32));
                assert_eq!(blocks(&readers), expected, "{full}, {number}");
            }
        }
    }

    #[test]
    fn the_last_of_a_list_is_at_hand() {
        for count in 1..3 * FEW as u32 {
            let mut readers = Readers::from((0..count).map(read).collect::<Vec<_>>());
            assert_eq!(readers.len(), count as usize);
            assert_eq!(readers.last_mut().unwrap().step, Step(count - 1));
            let first = count.min(FEW as u32 / 2);
            assert_eq!(readers.first().unwrap().step, Step(count - first));
        }
    }

    #[test]
    fn copies_share_what_is_old_and_lose_nothing() {
        let mut readers = Readers::default();
        let mut copies: Vec<(Readers, u32)> = Vec::new();
        for number in 0..10_000 {
            if number % 7 == 0 {
                copies.push((readers.clone(), number));
            }
            if number % 1000 == 999 {
                readers = Readers::from(readers.iter().copied().collect::<Vec<_>>());
            }
            readers.push(read(number));
            assert!(readers.newest.len() <= FEW);
        }
        assert!(readers.blocks().count() < 14);
        copies.push((readers, 10_000));
        for (copy, count) in &copies {
            let mut steps: Vec<u32> = copy.iter().map(|read| read.step.0).collect();
            steps.sort_unstable();
            assert!(steps.into_iter().eq(0..*count));
            assert_eq!(copy.len(), *count as usize);
            assert_eq!(copy.is_empty(), *count == 0);
        }
        let (last, _) = &copies[copies.len() - 1];
        let mut other = last.clone();
        assert!(other == *last);
        other.push(read(0));
        assert!(other != *last && last.clone() == *last);
    }
}
