//! "Doesn't commute" (Roemer, Genç, Bond 2018), as defined in m2's appendix B: program order, forks and
//! joins, and the two rules of `sections.rs`, closed under transitivity.
//!
//! The end of a critical section comes before a later access in another section of the same lock that
//! conflicts with one of its accesses; and two sections that have anything ordered have their ends
//! ordered. Other than in [`wcp`](super::wcp) nothing is composed with happens-before: that a lock was
//! released and then taken orders nothing by itself.
//!
//! Guarantee: contained in WCP, so it finds all of its races and more; but a pair that it leaves unordered
//! may be no race. [`vindicate`](super::vindicate) tells.
//!
//! Cost: for an access, a look-up for each lock held and a join of clocks for each strand it
//! has to come behind; for a release, a binary search for each strand with leaking sections of
//! the lock. Memory: see `sections.rs`.

use deadheat_model::{AccessKind, Construct, Location, Lock, Names, Strand};
use deadheat_order::{Time, WideClock};

use super::by_order::by_order;
use super::fasttrack::FastTrack;
use super::partial_order::{PartialOrder, StrandClocks};
use super::sections::{Learner, Sections};
use super::vindicated::{TRIED, vindicated};
use super::{At, Lowering, Publish, Slot};
use crate::engine::{Engine, Listing, Options, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "dc",
    summary: "doesn't-commute: predicts; races with a witness are shown",
    orders: &Construct::ALL,
    worth: Worth::AllAreShown,
    cost: "linear, and for each suspect what its witness takes",
    in_memory: true,
    judge: |survey, options| {
        let execution = survey.execution(ENGINE.name)?;
        let finder = |names: &Names| FastTrack::new(names.locations.len());
        let (listing, most) = match options.listing {
            Listing::Pairs => (Listing::Pairs, usize::MAX),
            Listing::Places | Listing::Locations => (Listing::Places, TRIED),
        };
        let options = Options {
            listing,
            ..*options
        };
        let suspects = by_order::<Dc, Dc, _>(survey, Lowering::Preserved, finder, &options, most)?;
        vindicated(execution, survey, suspects, options.all_pairs())
    },
};

/// The order, as clocks.
pub struct Dc {
    strands: StrandClocks,
    sections: Sections,
    /// What the releases of each lock come behind, for those who take it for reading.
    released: Vec<WideClock>,
}

impl Learner for WideClock {
    #[inline]
    fn knows(&self, strand: Strand) -> Time {
        self.get(strand)
    }

    #[inline]
    fn learn(&mut self, clock: &WideClock) {
        self.join(clock);
    }
}

impl PartialOrder for Dc {
    const BY_ACCESSES: bool = true;

    fn new(names: &Names) -> Dc {
        let (strands, locks) = (names.strands.len(), names.lock_count());
        Dc {
            strands: StrandClocks::new(strands),
            sections: Sections::new(names),
            released: vec![WideClock::default(); locks],
        }
    }

    fn begin(&mut self, strand: Strand) {
        self.strands.begin(strand);
    }

    #[inline]
    fn clock(&self, strand: Strand) -> &WideClock {
        self.strands.of(strand)
    }

    #[inline]
    fn before_access(&mut self, at: At, location: Location, kind: AccessKind) {
        let learner = self.strands.of_mut(at.strand);
        self.sections.access(at.strand, location, kind, learner);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        let now = self.strands.of(at.strand).get(at.strand);
        self.sections.enter(at.strand, lock, now);
    }

    fn release(&mut self, at: At, lock: Lock) {
        let Dc {
            strands,
            sections,
            released,
        } = self;
        sections.leaving(lock, strands.of_mut(at.strand));
        let clock = strands.of(at.strand);
        let known = |of: Strand, by: Strand| strands.of(by).get(of);
        sections.leave(at.strand, lock, clock, known);
        released[lock.index()].join(clock);
        strands.tick(at.strand);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.strands.fork(at.strand, child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.strands.join(at.strand, child);
        self.sections.is_over(child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.strands.publish(at.strand, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.strands.awaits(at.strand, slot);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        let released = &self.released[lock.index()];
        self.strands.of_mut(at.strand).join(released);
    }
}
