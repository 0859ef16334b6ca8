//! The bookkeeping of an array, under several locks: one for each *stripe* of neighbouring elements.
//!
//! Simple model: one lock for all elements.
//!
//! Tasks mostly work on parts of an array that lie apart, and must not wait for each other there: a check takes longer than what
//! it checks. So an array has up to [`MOST`] stripes, of [`LEAST`] elements or more, each with its own lock. Whoever
//! accesses elements of several stripes visits them one after another, and holds one lock at a time.
//!
//! Cost: a shift to find a stripe; a lock for each stripe that an access touches.

use std::ops::Range;

use smallvec::SmallVec;

use crate::claims::Claims;
use crate::sync::{Mutex, MutexGuard, lock};
use crate::variable::Shadow;

/// How many stripes an array has, at most: a view of all of it should take few locks.
pub(crate) const MOST: usize = 8;

/// How many elements a stripe has, at least: one page of [`Histories`](crate::histories::Histories).
const LEAST: usize = 512;

/// How often a lock is tried before its thread sleeps, and how long it waits between.
const TRIES: u32 = 100;
const PAUSE: u32 = 8;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Stripes {
    stripes: SmallVec<[Stripe; 1]>,
    /// How many elements there are.
    length: usize,
    /// A stripe has 2 to the power of this many elements.
    shift: u32,
}

/// On cache lines of its own: its neighbours' locks are others'.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Stripe(Mutex<State>);

/// What is known of a stripe's elements.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) claims: Claims,
    pub(crate) shadow: Option<Shadow>,
}

impl Stripes {
    /// For so many elements. There is a stripe even for none.
    pub(crate) fn new(length: usize) -> Stripes {
        let size = length.div_ceil(MOST).max(LEAST).next_power_of_two();
        let count = length.div_ceil(size).max(1);
        Stripes {
            stripes: (0..count).map(|_| Stripe::default()).collect(),
            length,
            shift: size.trailing_zeros(),
        }
    }

    /// The stripe of an element.
    #[inline]
    pub(crate) fn of(&self, index: usize) -> usize {
        index >> self.shift
    }

    /// The stripes of some elements; if there are none, one all the same.
    pub(crate) fn around(&self, elements: Range<usize>) -> Range<usize> {
        match elements.is_empty() {
            true => 0..1,
            false => self.of(elements.start)..self.of(elements.end - 1) + 1,
        }
    }

    /// The elements of a stripe.
    #[inline]
    pub(crate) fn elements(&self, stripe: usize) -> Range<usize> {
        let start = stripe << self.shift;
        start..(start + (1 << self.shift)).min(self.length)
    }

    /// Locks a stripe. Nobody holds it for longer than a check takes, which is less than it takes to fall asleep: so
    /// whoever meets another tries again for a while.
    #[inline(always)]
    pub(crate) fn lock(&self, stripe: usize) -> MutexGuard<'_, State> {
        let mutex = &self.stripes[stripe].0;
        match mutex.try_lock() {
            Ok(state) => state,
            Err(_) => Stripes::try_again(mutex),
        }
    }

    #[cold]
    fn try_again(mutex: &Mutex<State>) -> MutexGuard<'_, State> {
        for _ in 0..TRIES {
            for _ in 0..PAUSE {
                std::hint::spin_loop();
            }
            if let Ok(state) = mutex.try_lock() {
                return state;
            }
        }
        lock(mutex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_one_stripe() {
        for length in [0, 1, 511, 512, 513, 1000, 4_096, 4_097, 1_000_000] {
            let stripes = Stripes::new(length);
            let count = stripes.stripes.len();
            assert!((1..=MOST).contains(&count));
            let mut next = 0;
            for stripe in 0..count {
                let elements = stripes.elements(stripe);
                assert_eq!(elements.start, next);
                let ends = elements.clone().take(1).chain(elements.clone().last());
                assert!(ends.into_iter().all(|index| stripes.of(index) == stripe));
                next = elements.end;
            }
            assert_eq!(next, length);
            assert_eq!(stripes.around(0..length), 0..count);
            assert_eq!(stripes.around(length..length), 0..1);
        }
    }
}
