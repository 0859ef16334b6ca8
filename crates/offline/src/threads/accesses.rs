//! Accesses judged under a partial order: an order, and a history of accesses that asks it.

use deadheat_model::{AccessKind, Location, Lock, Names, Strand};
use deadheat_order::Clock;
use fixedbitset::FixedBitSet;

use super::partial_order::PartialOrder;
use super::{At, Publish, Slot, ThreadEngine};

/// What keeps accesses and compares each with those before it.
pub trait History: Send {
    /// A strand accesses a location; its clock says what comes before, and at its own entry when this
    /// is.
    fn access(&mut self, clock: &Clock, at: At, location: Location, kind: AccessKind);
    /// The same, atomically.
    fn atomic(&mut self, clock: &Clock, at: At, location: Location, kind: AccessKind);
}

/// A history that finds the locations that race.
pub trait Finder: History {
    /// The locations that race, or may because they have both atomic and plain accesses.
    fn suspects(self) -> FixedBitSet;
}

/// Accesses judged under an order.
pub struct Judge<O, H> {
    order: O,
    /// The accesses so far.
    pub history: H,
}

impl<O: PartialOrder, H: History> Judge<O, H> {
    /// Before the first event of a trace with these names.
    pub fn new(names: &Names, history: H) -> Judge<O, H> {
        Judge {
            order: O::new(names),
            history,
        }
    }

    #[inline(always)]
    fn access(&mut self, at: At, x: Location, kind: AccessKind) {
        self.order.before_access(at, x, kind);
        let clock = self.order.clock(at.strand);
        self.history.access(clock, at, x, kind);
        self.order.after_access(at, x, kind);
    }

    fn atomic(&mut self, at: At, x: Location, kind: AccessKind) {
        self.order.before_access(at, x, kind);
        let clock = self.order.clock(at.strand);
        self.history.atomic(clock, at, x, kind);
        self.order.after_access(at, x, kind);
    }
}

impl<O: PartialOrder, H: History> ThreadEngine for Judge<O, H> {
    #[inline]
    fn read(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Read);
    }

    #[inline]
    fn write(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Write);
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.atomic(at, x, AccessKind::Read);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.atomic(at, x, AccessKind::Write);
    }

    fn atomic_update(&mut self, at: At, x: Location) {
        // What conflicts with the read conflicts with the write.
        self.order.before_access(at, x, AccessKind::Write);
        let clock = self.order.clock(at.strand);
        self.history.atomic(clock, at, x, AccessKind::Write);
        self.order.after_access(at, x, AccessKind::Read);
        self.order.after_access(at, x, AccessKind::Write);
    }

    #[inline]
    fn acquire(&mut self, at: At, lock: Lock) {
        self.order.acquire(at, lock);
    }

    #[inline]
    fn release(&mut self, at: At, lock: Lock) {
        self.order.release(at, lock);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.order.fork(at, child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.order.join(at, child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.order.publish(at, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.order.awaits(at, slot);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.order.acquire_shared(at, lock);
    }
}
