//! Weakly causally precedes (Kini, Mathur, Viswanathan 2017), as in m2's appendix B.
//!
//! The simple model. *Hard* order is program order with forks, joins and whatever else no schedule can
//! change. `a ≺ b` is the smallest relation for which
//! (a), (b) the two rules of `sections.rs` hold with "comes before" read as "hard or ≺";
//! (c) if a happens before b, b ≺ c and c happens before d, then a ≺ d.
//! WCP is hard order and ≺ together.
//!
//! Three clocks a strand say what comes before its present by happens-before (`H`), by ≺ (`P`), by
//! hard order; a fourth is the last two joined (`C`), by which accesses are checked. A lock hands on `H`
//! and `P` from its release to its acquire; a section's end, where a rule puts it before something,
//! hands its `H` to that one's `P`: that is (c).
//!
//! Other than in the paper (its `L` clocks, read by the strand that wrote them), a strand's sections put
//! nothing before its own later ones beyond program order, as the definition has it. That hard order is not in
//! `P` matters too: what a lock hands on of a forked strand's parent would be an order that no rule asks for.
//!
//! Guarantee: contained in happens-before, so it finds all of its races and more; if it finds any, the
//! trace has a reordering with a race or a deadlock, be it one in which a strand waits to join another.
//! (That is for traces that give back their locks: in one that breaks off inside a section, the race may
//! be one that only the rest of the section makes possible.)
//!
//! Cost: as [`dc`](super::dc), and a join of two clocks for each acquire of a lock that another strand
//! has released, a copy of three for each release.

use deadheat_model::{AccessKind, Construct, Location, Lock, Names, Strand};
use deadheat_order::{Clock, Time};

use super::by_order::{Needs, by_order};
use super::fasttrack::FastTrack;
use super::hb::Hb;
use super::partial_order::{PartialOrder, StrandClocks};
use super::sections::{Learner, Sections};
use super::{At, Lowering, Publish, Slot};
use crate::engine::{Engine, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "wcp",
    summary: "weak causal precedence: predicts; the first race, or a deadlock, is real",
    orders: &Construct::ALL,
    worth: Worth::FirstIsRealOrDeadlock,
    cost: "linear; more for each lock held",
    in_memory: false,
    judge: |survey, options| {
        let finder = |names: &Names| FastTrack::new(names.locations.len());
        let told = (Lowering::Preserved, Needs::Shared);
        by_order::<Wcp, _>(survey, told, finder, options, options.kept())
    },
};

/// The order, as clocks.
pub struct Wcp {
    happens_before: Hb,
    hard: StrandClocks,
    /// What is ≺ each strand's present.
    weak: Vec<Clock>,
    /// Both of these joined.
    present: Vec<Clock>,
    sections: Sections,
    /// By lock.
    released: Vec<Released>,
    /// What was ≺ those who published to each slot.
    published: Vec<Clock>,
}

/// The last release of a lock.
#[derive(Clone)]
struct Released {
    by: Option<Strand>,
    weak: Clock,
    hard: Clock,
}

/// A strand's present, which learns what is ≺ it.
struct Present<'a> {
    weak: &'a mut Clock,
    present: &'a mut Clock,
}

impl Learner for Present<'_> {
    #[inline]
    fn knows(&self, strand: Strand) -> Time {
        self.present.get(strand)
    }

    #[inline]
    fn learn(&mut self, times: &[Time]) {
        if self.weak.join_times(times) {
            self.present.join_times(times);
        }
    }
}

impl Wcp {
    /// Its time goes up; the other two clocks' has already.
    fn tick(&mut self, strand: Strand) {
        let now = self.hard.of(strand).get(strand);
        self.present[strand.index()].set(strand, now);
    }

    /// The strand has learnt something by hard order or by ≺.
    fn bring_together(&mut self, strand: Strand) {
        let present = &mut self.present[strand.index()];
        present.join(self.hard.of(strand));
        present.join(&self.weak[strand.index()]);
    }
}

impl PartialOrder for Wcp {
    fn new(names: &Names) -> Wcp {
        let (strands, locks) = (names.strands.len(), names.lock_count());
        let hard = StrandClocks::new(strands);
        let released = Released {
            by: None,
            weak: Clock::default(),
            hard: Clock::default(),
        };
        Wcp {
            happens_before: Hb::new(names),
            weak: vec![Clock::default(); strands],
            present: (0..strands as u32)
                .map(|strand| hard.of(Strand(strand)).clone())
                .collect(),
            hard,
            sections: Sections::new(names),
            released: vec![released; locks],
            published: Vec::new(),
        }
    }

    #[inline]
    fn clock(&self, strand: Strand) -> &Clock {
        &self.present[strand.index()]
    }

    #[inline]
    fn before_access(&mut self, at: At, location: Location, kind: AccessKind) {
        let mut learner = Present {
            weak: &mut self.weak[at.strand.index()],
            present: &mut self.present[at.strand.index()],
        };
        let sections = &mut self.sections;
        sections.access(at.strand, location, kind, &mut learner);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        let now = self.present[at.strand.index()].get(at.strand);
        self.sections.enter(at.strand, lock, now);
        let released = &self.released[lock.index()];
        if released.by.is_some_and(|by| by != at.strand) {
            self.happens_before.acquire(at, lock);
            if self.weak[at.strand.index()].join(&released.weak) {
                self.present[at.strand.index()].join(&released.weak);
            }
        }
    }

    fn release(&mut self, at: At, lock: Lock) {
        let strand = at.strand.index();
        let mut learner = Present {
            weak: &mut self.weak[strand],
            present: &mut self.present[strand],
        };
        self.sections.leaving(at.strand, lock, &mut learner);
        let known = |of: Strand, by: Strand| self.present[by.index()].get(of);
        let clock = self.happens_before.clock(at.strand);
        self.sections.leave(at.strand, lock, clock, known);
        let released = &mut self.released[lock.index()];
        released.by = Some(at.strand);
        released.weak.copy_from(&self.weak[strand]);
        released.hard.copy_from(self.hard.of(at.strand));
        self.happens_before.release(at, lock);
        self.hard.tick(at.strand);
        self.tick(at.strand);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.happens_before.fork(at, child);
        self.hard.fork(at.strand, child);
        let weak = self.weak[at.strand.index()].clone();
        self.weak[child.index()].join(&weak);
        self.bring_together(child);
        self.tick(at.strand);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.happens_before.join(at, child);
        self.hard.join(at.strand, child);
        let weak = self.weak[child.index()].clone();
        self.weak[at.strand.index()].join(&weak);
        self.bring_together(at.strand);
        self.sections.is_over(child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.happens_before.publish(at, slot, how);
        self.hard.publish(at.strand, slot, how);
        let slot = slot.0 as usize;
        if self.published.len() <= slot {
            self.published.resize(slot + 1, Clock::default());
        }
        let weak = &self.weak[at.strand.index()];
        match how {
            Publish::Replace => self.published[slot].copy_from(weak),
            Publish::Add => {
                self.published[slot].join(weak);
            }
        }
        self.tick(at.strand);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.happens_before.awaits(at, slot);
        self.hard.awaits(at.strand, slot);
        if let Some(weak) = self.published.get(slot.0 as usize) {
            self.weak[at.strand.index()].join(weak);
        }
        self.bring_together(at.strand);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.happens_before.acquire_shared(at, lock);
        let released = &self.released[lock.index()];
        self.hard.of_mut(at.strand).join(&released.hard);
        self.weak[at.strand.index()].join(&released.weak);
        self.bring_together(at.strand);
    }
}
