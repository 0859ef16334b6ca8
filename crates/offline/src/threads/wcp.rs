//! Weakly causally precedes (Kini, Mathur, Viswanathan 2017), as in m2's appendix B.
//!
//! The simple model. `a ≺ b` is the smallest relation for which
//! - what an event waits for, other than a lock, is ≺ it, if that is not the strand's own work alone: a fork
//!   before what the child does, that before its join, a post before the wait, and so on;
//! - (a), (b) the two rules of `sections.rs` hold with "comes before" read as "≺ or by program order";
//! - (c) if a happens before b or is b, b ≺ c, and c happens before d or is d, then a ≺ d.
//!
//! WCP is ≺ and program order together. So everything that happens before a fork is before all that the child
//! does, also what only a lock ordered before the fork: who forks inside a section and joins there holds the lock
//! for its child.
//!
//! Two clocks a strand say what comes before its present by happens-before (`H`) and by ≺ (`P`); a third is
//! `P` with the strand's own time, by which accesses are checked. A lock hands on `H` and `P` from its release
//! to its acquire. Whatever else puts a past event before the present, a rule or synchronisation, hands that
//! event's `H` to the present's `P`: that is (c).
//!
//! Other than in the paper (its `L` clocks, read by the strand that wrote them), a strand's sections put
//! nothing before its own later ones beyond program order, as the definition has it.
//!
//! Guarantee: contained in happens-before, so it finds all of its races and more; if it finds any, the
//! trace has a reordering with a race or a deadlock, be it one in which a strand waits to join another.
//! That is for traces that give back all locks, each before those taken earlier. In one that stops inside a
//! section, the race may be one that only the rest of the section makes possible; and if sections overlap
//! without one being inside the other, the end of the second may be all that a third waits for.
//! [`Findings::without_promise`] says so then.
//!
//! Cost: as [`dc`](super::dc), and a join of two clocks for each acquire of a lock that another strand
//! has released, a copy of two for each release.

use deadheat_model::{AccessKind, Construct, Findings, Location, Lock, Names, Strand};
use deadheat_order::{Time, WideClock};

use super::by_order::by_order;
use super::fasttrack::FastTrack;
use super::hb::Hb;
use super::partial_order::PartialOrder;
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
        let kept = options.kept();
        let found = by_order::<Wcp, Wcp, _>(survey, Lowering::Preserved, finder, options, kept)?;
        Ok(Findings {
            without_promise: match &survey.exposed {
                exposed if exposed.open => Some("this trace stops inside a critical section"),
                exposed if exposed.crossed => {
                    Some("a thread of this trace gives back a lock before one that it took later")
                }
                _ => None,
            },
            ..found
        })
    },
};

/// The order, as clocks.
pub struct Wcp {
    happens_before: Hb,
    /// What is ≺ each strand's present.
    weak: Vec<WideClock>,
    /// The same, and the strand's own time.
    present: Vec<WideClock>,
    sections: Sections,
    /// By lock.
    released: Vec<LastRelease>,
    /// Who published what each slot stands for.
    publishers: Vec<Strands>,
}

/// The last release of a lock.
#[derive(Clone)]
struct LastRelease {
    by: Option<Strand>,
    /// What was ≺ it.
    weak: WideClock,
    /// Who has ever released the lock.
    owners: Strands,
}

/// One strand or several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strands {
    None,
    One(Strand),
    Several,
}

impl Strands {
    fn add(&mut self, strand: Strand) {
        *self = match *self {
            Strands::None => Strands::One(strand),
            Strands::One(known) if known == strand => return,
            _ => Strands::Several,
        }
    }

    fn has_another_than(self, strand: Strand) -> bool {
        self != Strands::None && self != Strands::One(strand)
    }
}

/// A strand's present, which learns what is ≺ it.
struct Present<'a> {
    weak: &'a mut WideClock,
    present: &'a mut WideClock,
}

impl Learner for Present<'_> {
    #[inline]
    fn knows(&self, strand: Strand) -> Time {
        self.present.get(strand)
    }

    #[inline]
    fn learn(&mut self, clock: &WideClock) {
        if self.weak.join(clock) {
            self.present.join(clock);
        }
    }
}

impl Wcp {
    /// The strand's time by happens-before has gone up.
    fn tick(&mut self, strand: Strand) {
        let now = self.happens_before.clock(strand).get(strand);
        self.present[strand.index()].raise(strand, now);
    }

    fn present(&mut self, strand: Strand) -> Present<'_> {
        Present {
            weak: &mut self.weak[strand.index()],
            present: &mut self.present[strand.index()],
        }
    }
}

impl PartialOrder for Wcp {
    const BY_ACCESSES: bool = true;

    fn new(names: &Names) -> Wcp {
        let (strands, locks) = (names.strands.len(), names.lock_count());
        let released = LastRelease {
            by: None,
            weak: WideClock::default(),
            owners: Strands::None,
        };
        Wcp {
            weak: vec![WideClock::default(); strands],
            present: vec![WideClock::default(); strands],
            happens_before: Hb::new(names),
            sections: Sections::new(names),
            released: vec![released; locks],
            publishers: Vec::new(),
        }
    }

    fn begin(&mut self, strand: Strand) {
        self.happens_before.begin(strand);
        self.tick(strand);
    }

    #[inline]
    fn clock(&self, strand: Strand) -> &WideClock {
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
        self.sections.leaving(lock, &mut learner);
        let known = |of: Strand, by: Strand| self.present[by.index()].get(of);
        let clock = self.happens_before.clock(at.strand);
        self.sections.leave(at.strand, lock, clock, known);
        let released = &mut self.released[lock.index()];
        released.by = Some(at.strand);
        released.owners.add(at.strand);
        released.weak.copy_from(&self.weak[strand]);
        self.happens_before.release(at, lock);
        self.tick(at.strand);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.begin(child);
        let past = self.happens_before.clock(at.strand).clone();
        self.present(child).learn(&past);
        self.happens_before.fork(at, child);
        self.tick(at.strand);
    }

    fn join(&mut self, at: At, child: Strand) {
        let past = self.happens_before.clock(child).clone();
        self.present(at.strand).learn(&past);
        self.happens_before.join(at, child);
        self.sections.is_over(child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.happens_before.publish(at, slot, how);
        self.tick(at.strand);
        let slot = slot.0 as usize;
        if self.publishers.len() <= slot {
            self.publishers.resize(slot + 1, Strands::None);
        }
        if how == Publish::Replace {
            self.publishers[slot] = Strands::None;
        }
        self.publishers[slot].add(at.strand);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        let publishers = self.publishers.get(slot.0 as usize);
        if publishers.is_some_and(|who| who.has_another_than(at.strand))
            && let Some(past) = self.happens_before.published(slot).cloned()
        {
            self.present(at.strand).learn(&past);
        }
        self.happens_before.awaits(at, slot);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        if self.released[lock.index()]
            .owners
            .has_another_than(at.strand)
        {
            let past = self.happens_before.released(lock).clone();
            self.present(at.strand).learn(&past);
        }
        self.happens_before.acquire_shared(at, lock);
    }
}
