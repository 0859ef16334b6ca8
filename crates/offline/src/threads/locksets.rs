//! Sets of locks, each with a number.
//!
//! Threads hold the same few sets of locks over and over: each set is kept once, and going from a set
//! to the one with a lock more or less is remembered. A set of very many locks is one with a lock less and that
//! lock: however deep locks are nested, a set takes constant space. (Such a set has a number for each order
//! in which its locks were taken.)

use std::borrow::Cow;

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

/// Up to how many locks a set is kept whole.
const FEW: usize = 64;

#[derive(Debug)]
enum Lockset {
    /// In ascending order.
    Whole(Box<[u32]>),
    /// Another set, of [`FEW`] locks or more, and a lock that it does not have.
    And(LocksetId, u32),
}

/// All sets of locks that were ever held.
#[derive(Debug)]
pub struct Locksets {
    sets: Vec<Lockset>,
    numbers: FxHashMap<Box<[u32]>, LocksetId>,
    /// What becomes of a set by a lock that is taken or given back.
    changes: FxHashMap<(LocksetId, u32), LocksetId>,
}

impl Default for Locksets {
    fn default() -> Locksets {
        let empty: Box<[u32]> = Box::default();
        Locksets {
            sets: vec![Lockset::Whole(empty.clone())],
            numbers: FxHashMap::from_iter([(empty, LocksetId(0))]),
            changes: FxHashMap::default(),
        }
    }
}

impl Locksets {
    /// The locks of a set, in ascending order.
    pub fn locks(&self, mut set: LocksetId) -> Cow<'_, [u32]> {
        let mut more = Vec::new();
        loop {
            match &self.sets[set.0 as usize] {
                Lockset::And(rest, lock) => {
                    more.push(*lock);
                    set = *rest;
                }
                Lockset::Whole(locks) if more.is_empty() => return Cow::Borrowed(locks),
                Lockset::Whole(locks) => {
                    more.extend_from_slice(locks);
                    more.sort_unstable();
                    return Cow::Owned(more);
                }
            }
        }
    }

    /// The set with a lock more, which it does not have.
    pub fn with(&mut self, set: LocksetId, lock: u32) -> LocksetId {
        if let Some(&known) = self.changes.get(&(set, lock)) {
            return known;
        }
        let number = match &self.sets[set.0 as usize] {
            Lockset::Whole(locks) if locks.len() < FEW => {
                let mut locks = locks.to_vec();
                let at = locks.partition_point(|other| *other < lock);
                locks.insert(at, lock);
                self.number(locks)
            }
            _ => self.add(Lockset::And(set, lock)),
        };
        self.changes.insert((set, lock), number);
        number
    }

    /// The set with a lock less, which it has.
    pub fn without(&mut self, set: LocksetId, lock: u32) -> LocksetId {
        match self.sets[set.0 as usize] {
            Lockset::And(rest, last) if last == lock => return rest,
            _ => {}
        }
        if let Some(&known) = self.changes.get(&(set, lock)) {
            return known;
        }
        let mut locks = self.locks(set).into_owned();
        locks.retain(|other| *other != lock);
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

    /// The number of the set of some locks, which are in ascending order.
    fn number(&mut self, mut locks: Vec<u32>) -> LocksetId {
        let more = locks.split_off(locks.len().min(FEW));
        let whole = locks.into_boxed_slice();
        let number = match self.numbers.get(&whole) {
            Some(&number) => number,
            None => {
                let number = self.add(Lockset::Whole(whole.clone()));
                self.numbers.insert(whole, number);
                number
            }
        };
        more.into_iter()
            .fold(number, |set, lock| self.with(set, lock))
    }

    fn add(&mut self, set: Lockset) -> LocksetId {
        self.sets.push(set);
        LocksetId(self.sets.len() as u32 - 1)
    }

    /// Whether two sets have no lock in common.
    pub fn disjoint(&self, a: LocksetId, b: LocksetId) -> bool {
        if a.is_empty() || b.is_empty() {
            return true;
        }
        let (a, b) = (self.locks(a), self.locks(b));
        let mut rest = &b[..];
        a.iter().all(|lock| {
            rest = &rest[rest.partition_point(|other| other < lock)..];
            rest.first() != Some(lock)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sets_are_what_was_taken_and_not_given_back() {
        let mut locksets = Locksets::default();
        let empty = LocksetId::default();
        let a = locksets.with(empty, 3);
        let ab = locksets.with(a, 1);
        assert_eq!(*locksets.locks(ab), [1, 3]);
        let b = locksets.without(ab, 3);
        assert_eq!(*locksets.locks(b), [1]);
        assert_eq!(locksets.with(empty, 1), b);
        assert_eq!(locksets.without(b, 1), empty);
        assert!(locksets.disjoint(a, b) && locksets.disjoint(empty, ab));
        assert!(!locksets.disjoint(a, ab) && !locksets.disjoint(ab, b));
        assert_eq!(locksets.intersection(ab, b), b);
        assert_eq!(locksets.intersection(a, b), empty);
    }

    #[test]
    fn sets_of_very_many_locks_are_sets_too() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut locksets = Locksets::default();
        let mut held = [(); 2].map(|()| (LocksetId::default(), BTreeSet::new()));
        for _ in 0..20_000 {
            let (id, model) = &mut held[rng.usize(..2)];
            let lock = rng.u32(..(4 * FEW as u32));
            *id = match model.insert(lock) {
                true => locksets.with(*id, lock),
                false => {
                    model.remove(&lock);
                    locksets.without(*id, lock)
                }
            };
            assert!(locksets.locks(*id).iter().eq(&*model));
            let [(a, in_a), (b, in_b)] = &held;
            assert_eq!(locksets.disjoint(*a, *b), in_a.is_disjoint(in_b));
            let common = locksets.intersection(*a, *b);
            assert!(locksets.locks(common).iter().eq(in_a.intersection(in_b)));
        }
    }

    #[test]
    fn a_set_takes_constant_space_however_deep_locks_are_nested() {
        let mut locksets = Locksets::default();
        let mut set = LocksetId::default();
        for lock in 0..100_000 {
            set = locksets.with(set, lock);
        }
        let kept = locksets.sets.iter().map(|set| match set {
            Lockset::Whole(locks) => locks.len(),
            Lockset::And(..) => 1,
        });
        assert!(kept.sum::<usize>() < 200_000);
        for lock in (0..100_000).rev() {
            set = locksets.without(set, lock);
        }
        assert!(set.is_empty());
    }
}
