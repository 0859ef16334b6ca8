//! Schedulable happens-before (Mathur, Kini, Viswanathan 2018): happens-before, and each read behind
//! the write whose value it saw.
//!
//! The simple model: on top of [`Hb`], a read joins the clock of the last write to its location. The
//! read is checked before it does, since it may race with that very write.
//!
//! What is kept of the last write of a location is its epoch and a snapshot (`snapshots.rs`) of what its
//! strand knew, which all writes share that the strand does until it learns something new. A read whose
//! clock covers the epoch knows all of it already and joins nothing.
//!
//! Guarantee: every race is one of some schedule, not just the first (if reads decide what happens
//! next, they decide the same).
//!
//! Cost: constant for an access that learns nothing, one join of clocks otherwise. Memory: 16 bytes a
//! location, and at most one snapshot (a clock) for each written location, in practice far fewer.

use deadheat_model::{AccessKind, Construct, Location, Lock, Names, Strand};
use deadheat_order::{Epoch, WideClock};

use super::by_order::by_order;
use super::fasttrack::FastTrack;
use super::hb::Hb;
use super::partial_order::PartialOrder;
use super::snapshots::{Snapshot, Snapshots};
use super::{At, Lowering, Publish, Slot};
use crate::engine::{Engine, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "shb",
    summary: "schedulable happens-before: all races are real",
    orders: &Construct::ALL,
    worth: Worth::AllAreReal,
    cost: "linear; constant an access that learns nothing",
    in_memory: false,
    judge: |survey, options| {
        let finder = |names: &Names| FastTrack::new(names.locations.len());
        by_order::<Hb, Shb, _>(
            survey,
            Lowering::HappensBefore,
            finder,
            options,
            options.kept(),
        )
    },
};

/// The order, as clocks.
pub type Shb = ObservationOrder<true>;

/// The part of it that every correct reordering preserves: all but the order of critical sections.
pub type MustOrder = ObservationOrder<false>;

/// The order, as clocks, with or without the order of critical sections.
pub struct ObservationOrder<const LOCKS: bool> {
    hb: Hb,
    /// By location.
    written: Vec<LastWrite>,
    snapshots: Snapshots,
    /// What each strand knows of others, if it has written since it last learnt something.
    knows: Vec<Snapshot>,
}

/// The last write of a location.
#[derive(Clone, Copy)]
struct LastWrite {
    at: Epoch,
    knowing: Snapshot,
}

impl<const LOCKS: bool> ObservationOrder<LOCKS> {
    fn has_learnt(&mut self, strand: Strand) {
        let known = std::mem::replace(&mut self.knows[strand.index()], Snapshot::NONE);
        self.snapshots.let_go(known);
    }

    fn observe(&mut self, strand: Strand, LastWrite { at, knowing }: LastWrite) {
        let clock = self.hb.strands.of_mut(strand);
        if !clock.covers(at) {
            clock.join(self.snapshots.clock(knowing));
            // The snapshot may be of an earlier write.
            clock.raise(at.strand(), at.time());
            self.has_learnt(strand);
        }
    }

    fn knowledge(&mut self, strand: Strand) -> Snapshot {
        let known = &mut self.knows[strand.index()];
        if *known == Snapshot::NONE {
            *known = self.snapshots.create();
            self.snapshots
                .fill(*known, strand, self.hb.strands.of(strand));
        }
        *known
    }
}

impl<const LOCKS: bool> PartialOrder for ObservationOrder<LOCKS> {
    const BY_ACCESSES: bool = true;

    fn new(names: &Names) -> Self {
        let strands = names.strands.len();
        let nothing = LastWrite {
            at: Epoch::default(),
            knowing: Snapshot::NONE,
        };
        ObservationOrder {
            hb: Hb::new(names),
            written: vec![nothing; names.locations.len()],
            snapshots: Snapshots::default(),
            knows: vec![Snapshot::NONE; strands],
        }
    }

    fn begin(&mut self, strand: Strand) {
        self.hb.begin(strand);
    }

    #[inline]
    fn clock(&self, strand: Strand) -> &WideClock {
        self.hb.clock(strand)
    }

    #[inline]
    fn after_access(&mut self, at: At, location: Location, kind: AccessKind) {
        match kind {
            AccessKind::Read => self.observe(at.strand, self.written[location.index()]),
            AccessKind::Write => {
                let write = LastWrite {
                    at: self.epoch(at.strand),
                    knowing: self.knowledge(at.strand),
                };
                self.snapshots.keep(write.knowing);
                let before = std::mem::replace(&mut self.written[location.index()], write);
                self.snapshots.let_go(before.knowing);
                self.hb.strands.tick(at.strand);
            }
        }
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        if LOCKS {
            self.hb.acquire(at, lock);
            self.has_learnt(at.strand);
        }
    }

    fn release(&mut self, at: At, lock: Lock) {
        if LOCKS {
            self.hb.release(at, lock);
        }
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.hb.fork(at, child);
        self.has_learnt(child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.hb.join(at, child);
        self.has_learnt(at.strand);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.hb.publish(at, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.hb.awaits(at, slot);
        self.has_learnt(at.strand);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        if LOCKS {
            self.hb.acquire_shared(at, lock);
            self.has_learnt(at.strand);
        }
    }
}
