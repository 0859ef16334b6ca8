//! Eight bits for a thread: the table that says whose they are, and from which of its times on.
//!
//! The simple model: an alias is (slot, first time), and good for the [`TIMES`] times from there on. Threads that run in a
//! slot one after the other share its alias; a slot whose time has gone past it takes another one. Aliases that nobody goes on
//! with are taken back together, once no cell says them any more.
//!
//! Guarantee: what a cell says of an alias is true as long as the cell says it. Who reads a cell and then this table may
//! find that the alias has become another's: only a change of the cell that succeeds shows that it had not.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::Strand;
use deadheat_online::mark::{ALIASES, Mark, TIMES};
use deadheat_order::Time;

use crate::platform::os::Spin;

/// An alias that nobody has.
const FREE: u64 = u64::MAX;

/// See the [module](self).
#[derive(Debug)]
pub struct Aliases {
    /// For each: the slot in the upper half, the first time in the lower.
    table: [AtomicU64; ALIASES],
    lock: Spin,
}

/// What a thread writes marks with. The first alias is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alias {
    pub number: u8,
    pub first: Time,
}

impl Alias {
    /// The epoch of marks made at a time. 0: it is not good for that time.
    #[inline]
    pub fn epoch(self, time: Time) -> u64 {
        let since = time.wrapping_sub(self.first);
        match self.number != 0 && since < TIMES {
            true => Mark::epoch(self.number, since),
            false => 0,
        }
    }
}

impl Aliases {
    /// None of them taken.
    pub const fn new() -> Aliases {
        Aliases {
            table: [const { AtomicU64::new(FREE) }; ALIASES],
            lock: Spin::new(),
        }
    }

    /// The slot and the time of a mark.
    #[inline(always)]
    pub fn of(&self, mark: Mark) -> (Strand, Time) {
        let entry = self.table[usize::from(mark.alias())].load(Ordering::Acquire);
        let (slot, first) = ((entry >> 32) as u32, entry as u32);
        (Strand(slot), first.wrapping_add(mark.time()))
    }

    /// An alias for a slot from a time on. None: all are taken.
    pub fn take(&self, slot: Strand, time: Time) -> Option<Alias> {
        let _guard = self.lock.lock();
        let fits = |entry: u64| {
            entry != FREE
                && entry >> 32 == u64::from(slot.0)
                && time.wrapping_sub(entry as u32) < TIMES
        };
        let place = |wanted: &dyn Fn(u64) -> bool| {
            (1..ALIASES).find(|&index| wanted(self.table[index].load(Ordering::Relaxed)))
        };
        if let Some(number) = place(&fits) {
            let first = self.table[number].load(Ordering::Relaxed) as u32;
            return Some(Alias {
                number: number as u8,
                first,
            });
        }
        let number = place(&|entry| entry == FREE)?;
        let entry = u64::from(slot.0) << 32 | u64::from(time);
        self.table[number].store(entry, Ordering::Release);
        Some(Alias {
            number: number as u8,
            first: time,
        })
    }

    /// The alias of a slot's time, if it has one. For those who may not take any.
    pub fn find(&self, slot: Strand, time: Time) -> Option<Alias> {
        self.table.iter().enumerate().find_map(|(number, entry)| {
            let entry = entry.load(Ordering::Relaxed);
            let alias = Alias {
                number: number as u8,
                first: entry as u32,
            };
            (entry != FREE && entry >> 32 == u64::from(slot.0) && alias.epoch(time) != 0)
                .then_some(alias)
        })
    }

    /// Whether all that are taken are so.
    pub fn are_all(&self, such: impl Fn(u8) -> bool) -> bool {
        let taken = |number: &usize| self.table[*number].load(Ordering::Relaxed) != FREE;
        (1..ALIASES).filter(taken).all(|number| such(number as u8))
    }

    /// Takes back all but those that `keeps` wants. No cell says them any more.
    pub fn take_back(&self, keeps: impl Fn(u8) -> bool) {
        let _guard = self.lock.lock();
        for (number, entry) in self.table.iter().enumerate() {
            if !keeps(number as u8) {
                entry.store(FREE, Ordering::Release);
            }
        }
    }

    /// Nobody holds the lock: for the only thread of a forked child.
    pub fn reset_lock(&self) {
        self.lock.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_good_for_its_times_and_is_given_once() {
        let aliases = Aliases::new();
        let first = aliases.take(Strand(7), 100).unwrap();
        assert_eq!(aliases.take(Strand(7), 100 + TIMES - 1), Some(first));
        let second = aliases.take(Strand(7), 100 + TIMES).unwrap();
        assert_ne!(first.number, second.number);
        assert_eq!((first.epoch(99), first.epoch(100 + TIMES)), (0, 0));
        for (alias, time) in [(first, 100), (first, 99 + TIMES), (second, 100 + TIMES)] {
            let mark = Mark(alias.epoch(time) | 1);
            assert_eq!(aliases.of(mark), (Strand(7), time));
            assert_eq!(aliases.find(Strand(7), time), Some(alias));
        }
        assert_eq!(aliases.find(Strand(8), 100), None);
        let others = (0..).map_while(|slot| aliases.take(Strand(100 + slot), 1));
        assert_eq!(others.count(), ALIASES - 1 - 2);
        aliases.take_back(|number| number == second.number);
        assert_eq!(aliases.find(Strand(7), 100), None);
        assert!(aliases.take(Strand(9), 5).is_some());
    }
}
