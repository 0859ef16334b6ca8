//! Happens-before: program order, forks and joins, and each release of a lock before every later
//! acquire of it.
//!
//! Sound for the first race of a trace: a later one may exist only because of what the first did.

use deadheat_model::{Construct, Lock, Names, Strand};
use deadheat_order::WideClock;

use super::by_order::{HALVES, by_order};
use super::fasttrack;
use super::partial_order::{PartialOrder, StrandClocks};
use super::vector_clocks::VectorClocks;
use super::{At, Lowering, Publish, Slot};
use crate::engine::{Engine, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "hb",
    summary: "happens-before, by vector clocks: the races of this schedule; the first is real",
    orders: &Construct::ALL,
    worth: Worth::FirstIsReal,
    cost: "linear; 8 bytes a variable and thread where much is shared, up to 1 GB",
    in_memory: false,
    judge: |survey, options| {
        // Where clocks for all locations are too many, epochs find the same.
        if !VectorClocks::are_for(survey.names, MAX_BYTES / HALVES) {
            return (fasttrack::ENGINE.judge)(survey, options);
        }
        let lowering = Lowering::HappensBefore;
        by_order::<Hb, Hb, _>(survey, lowering, VectorClocks::new, options, options.kept())
    },
};

/// The largest table of clocks.
const MAX_BYTES: usize = 1 << 30;

/// The order, as clocks.
pub struct Hb {
    pub(super) strands: StrandClocks,
    /// What the last release of each lock comes behind.
    released: Vec<WideClock>,
}

impl Hb {
    /// What the last release of a lock comes behind, that release included.
    pub(super) fn released(&self, lock: Lock) -> &WideClock {
        &self.released[lock.index()]
    }

    /// What a slot stands for, if anything.
    pub(super) fn published(&self, slot: Slot) -> Option<&WideClock> {
        self.strands.published(slot)
    }
}

impl PartialOrder for Hb {
    const BY_ACCESSES: bool = false;

    fn new(names: &Names) -> Hb {
        Hb {
            strands: StrandClocks::new(names.strands.len()),
            released: vec![WideClock::default(); names.lock_count()],
        }
    }

    fn begin(&mut self, strand: Strand) {
        self.strands.begin(strand);
    }

    #[inline]
    fn clock(&self, strand: Strand) -> &WideClock {
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
