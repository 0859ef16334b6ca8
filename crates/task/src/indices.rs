//! The indices of a loop that one worker has left, of which it gives some away.
//!
//! Simple model: a queue of indices. The worker takes from its front, and gives away from its back.
//!
//! Guarantee: every index is taken once, or given away once.

use std::cell::Cell;
use std::ops::Range;

/// See the [module](self).
#[derive(Debug)]
pub struct Indices {
    next: Cell<usize>,
    end: Cell<usize>,
}

impl From<Range<usize>> for Indices {
    fn from(range: Range<usize>) -> Indices {
        Indices {
            next: Cell::new(range.start),
            end: Cell::new(range.end),
        }
    }
}

impl Indices {
    /// Takes the first.
    #[inline]
    pub fn take(&self) -> Option<usize> {
        let first = self.next.get();
        (first < self.end.get()).then(|| self.next.replace(first + 1))
    }

    /// Whether none is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next.get() >= self.end.get()
    }

    /// Gives away the second half; the larger one.
    pub fn give_half(&self) -> Range<usize> {
        let left = self.end.get().saturating_sub(self.next.get());
        self.give_from(self.next.get() + left / 2)
    }

    /// Gives away all.
    pub fn give_all(&self) -> Range<usize> {
        self.give_from(self.next.get())
    }

    fn give_from(&self, first: usize) -> Range<usize> {
        first..self.end.replace(first)
    }
}
