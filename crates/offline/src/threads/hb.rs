//! Happens-before: program order, forks and joins, and each release of a lock before every later
//! acquire of it.
//!
//! Sound for the first race of a trace: a later one may exist only because of what the first did.

use deadheat_model::{Lock, Names, Strand};
use deadheat_order::Clock;

use super::partial_order::{PartialOrder, StrandClocks};
use super::{At, Publish, Slot};

/// The order, as clocks.
pub struct Hb {
    pub(super) strands: StrandClocks,
    /// What the last release of each lock comes behind.
    released: Vec<Clock>,
}

impl PartialOrder for Hb {
    fn new(names: &Names) -> Hb {
        Hb {
            strands: StrandClocks::new(names.strands.len()),
            released: vec![Clock::default(); names.lock_count()],
        }
    }

    #[inline]
    fn clock(&self, strand: Strand) -> &Clock {
        self.strands.of(strand)
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        let released = &self.released[lock.index()];
        self.strands.of_mut(at.strand).join(released);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.released[lock.index()].copy_from(self.strands.of(at.strand));
        self.strands.tick(at.strand);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.strands.fork(at.strand, child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.strands.join(at.strand, child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.strands.publish(at.strand, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.strands.awaits(at.strand, slot);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.acquire(at, lock);
    }
}
