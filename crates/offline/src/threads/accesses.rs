//! Accesses judged under a partial order: an order, and a history of accesses that asks it.

use deadheat_model::{AccessKind, Location, Lock, Names, Strand};
use deadheat_order::{Clock, Time};
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
    /// What each strand did up to its time in `covered` comes before all accesses that are still to come.
    fn forget(&mut self, _covered: &[Time]) {}
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
    forgetting: Option<Forgetting>,
}

/// What a history need not keep: whatever comes before the present of every strand that runs comes before all that
/// is still to come, because a strand that begins later knows what the one that forks it knows.
struct Forgetting {
    running: Vec<Strand>,
    /// How many accesses there are until it is looked at again.
    next: usize,
    covered: Vec<Time>,
}

/// After how many accesses it is looked at again what can be forgotten, at least; and at least as many as there are
/// pairs of strands that run, so that it costs an access nothing to speak of.
const FORGETS: usize = 16;

impl Forgetting {
    fn begin(&mut self, strand: Strand) {
        self.running.push(strand);
    }

    fn end(&mut self, strand: Strand) {
        self.running.retain(|running| *running != strand);
    }

    /// What comes before the present of every strand that runs, but a strand's own.
    fn covered(&mut self, order: &impl PartialOrder) -> &[Time] {
        self.next = FORGETS.max(self.running.len() * self.running.len());
        self.covered.fill(Time::MAX);
        for &strand in &self.running {
            let clock = order.clock(strand);
            let own = self.covered[strand.index()];
            for (other, covered) in self.covered.iter_mut().enumerate() {
                *covered = clock.get(Strand(other as u32)).min(*covered);
            }
            // Nobody else knows of the time that it is in.
            let before_now = clock.get(strand).saturating_sub(1);
            self.covered[strand.index()] = own.min(before_now);
        }
        &self.covered
    }
}

impl<O: PartialOrder, H: History> Judge<O, H> {
    /// Before the first event of a trace with these names.
    pub fn new(names: &Names, history: H) -> Judge<O, H> {
        Judge {
            order: O::new(names),
            history,
            forgetting: None,
        }
    }

    /// The same, of a trace in which every strand but the first is forked: the history may forget.
    pub fn forgetting(names: &Names, history: H) -> Judge<O, H> {
        Judge {
            forgetting: Some(Forgetting {
                running: Vec::new(),
                next: FORGETS,
                covered: vec![0; names.strands.len()],
            }),
            ..Judge::new(names, history)
        }
    }

    #[inline]
    fn forget(&mut self) {
        if let Some(forgetting) = &mut self.forgetting {
            forgetting.next -= 1;
            if forgetting.next == 0 {
                self.history.forget(forgetting.covered(&self.order));
            }
        }
    }

    #[inline(always)]
    fn access(&mut self, at: At, x: Location, kind: AccessKind) {
        self.order.before_access(at, x, kind);
        let clock = self.order.clock(at.strand);
        self.history.access(clock, at, x, kind);
        self.order.after_access(at, x, kind);
        self.forget();
    }

    fn atomic(&mut self, at: At, x: Location, kind: AccessKind) {
        self.order.before_access(at, x, kind);
        let clock = self.order.clock(at.strand);
        self.history.atomic(clock, at, x, kind);
        self.order.after_access(at, x, kind);
    }
}

impl<O: PartialOrder, H: History> ThreadEngine for Judge<O, H> {
    fn begin(&mut self, strand: Strand) {
        self.order.begin(strand);
        if let Some(forgetting) = &mut self.forgetting {
            forgetting.begin(strand);
        }
    }

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
        if let Some(forgetting) = &mut self.forgetting {
            forgetting.begin(child);
        }
    }

    fn join(&mut self, at: At, child: Strand) {
        self.order.join(at, child);
        if let Some(forgetting) = &mut self.forgetting {
            forgetting.end(child);
        }
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
