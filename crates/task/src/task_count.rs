//! How many tasks a block still waits for.
//!
//! Simple model: a counter under a lock, and a flag that is raised when it comes to zero.
//!
//! The block itself counts as one, so that the counter cannot come to zero while the block may still start tasks. A task is
//! counted before anybody can run it, by one that is counted itself: so the counter does not come to zero too early. What
//! tasks have done happens before the block goes on: each gives its count back by a release, and whoever takes the counter to zero
//! acquires them all, raises the latch, and touches the block no more. `tests/loom.rs` tries every interleaving.
//!
//! Cost: two atomic updates a task.

use crate::sync::{AtomicUsize, Ordering};
use crate::waiter::{Latch, Waiter};

/// See the [module](self).
#[derive(Debug)]
pub struct TaskCount {
    count: AtomicUsize,
    latch: Latch,
}

impl Default for TaskCount {
    fn default() -> TaskCount {
        TaskCount {
            count: AtomicUsize::new(1),
            latch: Latch::default(),
        }
    }
}

impl TaskCount {
    /// There is one more to wait for.
    #[inline]
    pub fn begin(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// A task has ended; tells who is to be woken. The block may be gone afterwards.
    #[inline]
    pub fn end(&self) -> Option<Waiter> {
        match self.count.fetch_sub(1, Ordering::AcqRel) {
            1 => self.latch.raise(),
            _ => None,
        }
    }

    /// The block starts nothing more itself; gives what it has to wait for.
    #[inline]
    pub fn close(&self) -> Option<&Latch> {
        match self.count.fetch_sub(1, Ordering::AcqRel) {
            1 => None,
            _ => Some(&self.latch),
        }
    }
}
