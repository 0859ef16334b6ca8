//! Sets of locks, each with a number.
//!
//! Threads hold the same few sets of locks over and over: each set is kept once, and going from a set
//! to the one with a lock more or less is remembered.

use rustc_hash::FxHashMap;

/// The number of a set of locks. [`LocksetId::default`] is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LocksetId(u32);

impl LocksetId {
    /// Whether it is the empty set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// All sets of locks that were ever held.
#[derive(Debug)]
pub struct Locksets {
    /// Each in ascending order.
    sets: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, LocksetId>,
    /// What becomes of a set by a lock that is taken or given back.
    changes: FxHashMap<(LocksetId, u32), LocksetId>,
}

impl Default for Locksets {
    fn default() -> Locksets {
        let empty: Box<[u32]> = Box::default();
        Locksets {
            sets: vec![empty.clone()],
            numbers: FxHashMap::from_iter([(empty, LocksetId(0))]),
            changes: FxHashMap::default(),
        }
    }
}

impl Locksets {
    /// The locks of a set, in ascending order.
    pub fn locks(&self, set: LocksetId) -> &[u32] {
        &self.sets[set.0 as usize]
    }

    /// The set with a lock more, if it did not have it, else with that lock less.
    pub fn toggle(&mut self, set: LocksetId, lock: u32) -> LocksetId {
        if let Some(&known) = self.changes.get(&(set, lock)) {
            return known;
        }
        let mut locks = self.locks(set).to_vec();
        match locks.binary_search(&lock) {
            Ok(at) => {
                locks.remove(at);
            }
            Err(at) => locks.insert(at, lock),
        }
        let number = self.number(locks);
        self.changes.insert((set, lock), number);
        number
    }

    /// The locks that two sets have in common.
    pub fn intersection(&mut self, a: LocksetId, b: LocksetId) -> LocksetId {
        let (a, b) = (self.locks(a), self.locks(b));
        let common = a
            .iter()
            .copied()
            .filter(|lock| b.binary_search(lock).is_ok());
        let common = common.collect();
        self.number(common)
    }

    fn number(&mut self, locks: Vec<u32>) -> LocksetId {
        let locks = locks.into_boxed_slice();
        match self.numbers.get(&locks) {
            Some(&number) => number,
            None => {
                let number = LocksetId(self.sets.len() as u32);
                self.sets.push(locks.clone());
                self.numbers.insert(locks, number);
                number
            }
        }
    }

    /// Whether two sets have no lock in common.
    pub fn disjoint(&self, a: LocksetId, b: LocksetId) -> bool {
        if a.is_empty() || b.is_empty() {
            return true;
        }
        let (a, mut rest) = (self.locks(a), self.locks(b));
        a.iter().all(|lock| {
            rest = &rest[rest.partition_point(|other| other < lock)..];
            rest.first() != Some(lock)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_was_taken_and_not_given_back() {
        let mut locksets = Locksets::default();
        let empty = LocksetId::default();
        let a = locksets.toggle(empty, 3);
        let ab = locksets.toggle(a, 1);
        assert_eq!(locksets.locks(ab), [1, 3]);
        let b = locksets.toggle(ab, 3);
        assert_eq!(locksets.locks(b), [1]);
        assert_eq!(locksets.toggle(empty, 1), b);
        assert_eq!(locksets.toggle(b, 1), empty);
        assert!(locksets.disjoint(a, b) && locksets.disjoint(empty, ab));
        assert!(!locksets.disjoint(a, ab) && !locksets.disjoint(ab, b));
        assert_eq!(locksets.intersection(ab, b), b);
        assert_eq!(locksets.intersection(a, b), empty);
    }
}
