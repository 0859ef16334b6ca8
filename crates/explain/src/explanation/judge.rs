//! What is true of one apparent race after the other, in the order in which the pass meets them: its
//! status, whether it is first, and what it may be an artifact of. See [`pairs`](super::pairs).

use deadheat_model::{AccessKind, EventNumber, Location, RacingAccess, Site, StopToken, Strand};
use deadheat_order::{PersistentClock, Time};
use rustc_hash::FxHashMap;

use super::prepass::{Computation, Prepass};
use super::roots::{RootSets, Roots};
use super::stairs::Stairs;
use super::{Bound, Limits, Status};

/// A pair of places with an apparent race.
pub(crate) struct Group {
    pub(crate) shown: Instance,
    /// How many pairs of computation events and locations.
    pub(crate) count: u64,
    /// How many of them overlapped in time.
    pub(crate) overlapping: u64,
    pub(crate) status: Status,
    pub(crate) is_first: bool,
    /// What it is perhaps an artifact of, if it is not first.
    pub(crate) taint: Option<Taint>,
}

/// Two accesses of a race, in the order of the trace.
#[derive(Clone, Copy)]
pub(crate) struct Instance {
    pub(crate) location: Location,
    pub(crate) first: RacingAccess,
    pub(crate) second: RacingAccess,
}

/// Which races flow into a point: the first ones of them, and one of the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taint {
    pub(crate) via: u32,
    pub(crate) roots: Option<Roots>,
}

/// What comes before a point.
#[derive(Clone, Default)]
pub(super) struct Past {
    pub(super) before: PersistentClock,
    pub(super) flow: PersistentClock,
    pub(super) taint: Option<Taint>,
}

/// The accesses of one computation event at one place to one location.
pub(super) struct Record {
    pub(super) first: Time,
    pub(super) last: Time,
    pub(super) site: Site,
    pub(super) kind: AccessKind,
    pub(super) relevant: bool,
    pub(super) computation: Computation,
    pub(super) flow: PersistentClock,
    pub(super) taint: Option<Taint>,
}

/// The access that is looked at.
pub(super) struct Second {
    pub(super) location: Location,
    pub(super) strand: Strand,
    pub(super) now: Time,
    pub(super) site: Site,
    pub(super) kind: AccessKind,
    pub(super) relevant: bool,
    pub(super) computation: Computation,
    pub(super) past: Past,
}

/// After how many queries it is asked whether to stop.
const QUERIES: u64 = 1 << 20;

/// What is known of the races so far.
pub(super) struct Judge<'a> {
    pub(super) computations: &'a [(u32, u32)],
    pub(super) intricate: bool,
    pub(super) groups: Vec<Group>,
    numbers: FxHashMap<Key, u32>,
    pub(super) stairs: Stairs<Taint>,
    /// Those of relevant reads that might have seen the write.
    pub(super) stale: Stairs<Taint>,
    pub(super) roots: RootSets,
    pub(super) queries: u64,
    /// How many were asked since it was last asked whether to stop.
    asked: u64,
    stop: StopToken,
    pub(super) pairs: u64,
    pub(super) max_groups: usize,
    pub(super) apparent: u64,
    pub(super) overlapping: u64,
    pub(super) bounds: Vec<Bound>,
}

/// Two places and what is done there, the lower one first.
type Key = [(Site, AccessKind); 2];

impl<'a> Judge<'a> {
    pub(super) fn new(prepass: &'a Prepass, limits: &Limits) -> Judge<'a> {
        Judge {
            computations: &prepass.computations,
            intricate: prepass.intricate,
            groups: Vec::new(),
            numbers: FxHashMap::default(),
            stairs: Stairs::new(),
            stale: Stairs::new(),
            roots: RootSets::default(),
            queries: limits.queries,
            asked: 0,
            stop: limits.stop,
            pairs: limits.pairs,
            max_groups: limits.groups,
            apparent: 0,
            overlapping: 0,
            bounds: Vec::new(),
        }
    }

    pub(super) fn meets(&mut self, bound: Bound) {
        if !self.bounds.contains(&bound) {
            self.bounds.push(bound);
        }
    }

    pub(super) fn both(&mut self, a: Option<Taint>, b: Option<Taint>) -> Option<Taint> {
        let (Some(a), Some(b)) = (a, b) else {
            return a.or(b);
        };
        let roots = match (a.roots, b.roots) {
            (Some(a), Some(b)) => Some(self.roots.union(a, b)),
            (a, b) => a.or(b),
        };
        Some(Taint { via: b.via, roots })
    }

    /// What comes before the one point comes before the other too.
    pub(super) fn merge(&mut self, mine: &mut Past, theirs: &Past) {
        if mine.taint.is_none() && theirs.taint.is_none() && !self.stairs.is_empty() {
            mine.taint = self.meeting(&mine.flow, &theirs.flow);
        } else {
            mine.taint = self.both(mine.taint, theirs.taint);
        }
        mine.before.join(&theirs.before);
        mine.flow.join(&theirs.flow);
    }

    /// A race of which one access flows into the one point, and the other into the other.
    fn meeting(&mut self, a: &PersistentClock, b: &PersistentClock) -> Option<Taint> {
        if a.within(b) {
            return None;
        }
        let (mut found, mut queries) = (None, 0);
        let (stairs, left) = (&self.stairs, self.queries);
        b.ahead_of(a, |strand, time| {
            let partners = stairs.partners(strand.0);
            queries += partners.len() as u64;
            let ends = partners.iter().map(|&other| (other, a.get(Strand(other))));
            found = ends
                .filter_map(|end| stairs.covered(end, (strand.0, time)))
                .next();
            found.is_none() && queries < left
        });
        self.spend(queries);
        // Not to know is no reason to call anything first.
        found.or((self.queries == 0).then_some(UNKNOWN))
    }

    fn spend(&mut self, queries: u64) {
        if self.queries == 0 {
            return;
        }
        self.queries = self.queries.saturating_sub(queries);
        self.asked += queries;
        if self.queries == 0 {
            self.meets(Bound::Queries);
        } else if self.asked >= QUERIES {
            self.asked = 0;
            // One event of very many threads can ask as much as there is time for.
            if let Some(why) = self.stop.due() {
                self.queries = 0;
                self.meets(Bound::Stopped(why));
            }
        }
    }

    /// A race of a relevant read that flows into the one access, and a write that flows into the other.
    fn stale(
        &mut self,
        a: (Strand, Time, &PersistentClock),
        b: (Strand, Time, &PersistentClock),
    ) -> Option<Taint> {
        if self.stale.is_empty() {
            return None;
        }
        let upto = |(strand, time, flow): (Strand, Time, &PersistentClock), other: u32| match other
            == strand.0
        {
            true => (other, time - 1),
            false => (other, flow.get(Strand(other))),
        };
        let near = self.stale.covered(upto(a, a.0.0), upto(b, b.0.0));
        if near.is_some() {
            return near;
        }
        let asked = self.stale.pairs().len() as u64;
        self.spend(asked);
        if self.queries == 0 {
            return Some(UNKNOWN);
        }
        let covered = |(i, j)| {
            let one = self.stale.covered(upto(a, i), upto(b, j));
            one.or_else(|| self.stale.covered(upto(b, i), upto(a, j)))
        };
        self.stale.pairs().find_map(covered)
    }

    /// Why a race is not first, if it is not.
    fn cause(&mut self, strand: Strand, first: &Record, second: &Second) -> Option<Taint> {
        let taint = self.both(first.taint, second.past.taint);
        taint.or_else(|| {
            let a = (strand, first.first, &first.flow);
            let b = (second.strand, second.now, &second.past.flow);
            self.stale(a, b)
        })
    }

    /// What a race that has been judged taints others with.
    pub(super) fn taint_of(&mut self, strand: Strand, first: &Record, second: &Second) -> Taint {
        let Some(via) = self.numbers.get(&key(first, second)).copied() else {
            return UNKNOWN;
        };
        let cause = self.cause(strand, first, second);
        let roots = match cause {
            Some(cause) => cause.roots,
            None => Some(self.roots.of(via)),
        };
        Taint { via, roots }
    }

    /// Judges an apparent race.
    pub(super) fn pair(&mut self, strand: Strand, first: &Record, second: &Second, is_new: bool) {
        self.pairs = self.pairs.saturating_sub(1);
        if self.pairs == 0 {
            self.meets(Bound::Pairs);
        }
        let overlap = {
            let ends = |computation: Computation| self.computations[computation as usize];
            let (a, b) = (ends(first.computation), ends(second.computation));
            a.0 < b.1 && b.0 < a.1
        };
        if is_new {
            self.apparent += 1;
            self.overlapping += u64::from(overlap);
        }
        let flows = second.past.flow.get(strand);
        let status = match flows < first.last {
            true if overlap => Status::Actual,
            true => Status::Feasible,
            false => Status::Tangled,
        };
        let key = key(first, second);
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None if self.groups.len() >= self.max_groups => {
                self.meets(Bound::Groups);
                return;
            }
            None => {
                let number = self.groups.len() as u32;
                self.numbers.insert(key, number);
                self.groups.push(Group {
                    shown: instance(strand, first, second, status),
                    count: 0,
                    overlapping: 0,
                    status: Status::Tangled,
                    is_first: false,
                    taint: None,
                });
                number
            }
        };
        let cause = self.cause(strand, first, second);
        let is_first = cause.is_none();
        let group = &mut self.groups[number as usize];
        group.count += u64::from(is_new);
        group.overlapping += u64::from(is_new && overlap);
        let fresh = group.count == 1 && is_new;
        if fresh || (is_first, status) > (group.is_first, group.status) {
            group.shown = instance(strand, first, second, status);
            (group.status, group.is_first) = (status, is_first);
        }
        // What the first instance came after says why, so that causes never go in circles.
        if is_first {
            group.taint = None;
        } else if fresh {
            group.taint = cause;
        }
        let ends = ((strand.0, first.first), (second.strand.0, second.now));
        if !first.relevant && !second.relevant && !self.intricate && self.is_known(ends) {
            return;
        }
        let roots = match cause {
            Some(cause) => cause.roots,
            None => Some(self.roots.of(number)),
        };
        let taint = Taint { via: number, roots };
        self.stairs.insert(ends.0, ends.1, taint);
        if first.relevant || second.relevant || self.intricate {
            self.stale.insert(ends.0, ends.1, taint);
        }
    }

    fn is_known(&self, ends: ((u32, Time), (u32, Time))) -> bool {
        self.stairs.covered(ends.0, ends.1).is_some()
    }
}

/// The taint of what could not be looked at.
const UNKNOWN: Taint = Taint {
    via: u32::MAX,
    roots: None,
};

fn key(first: &Record, second: &Second) -> Key {
    let (a, b) = ((first.site, first.kind), (second.site, second.kind));
    if a <= b { [a, b] } else { [b, a] }
}

/// The two accesses that show the status: of accesses that are repeated, the last may be feasible
/// where the first is not.
fn instance(strand: Strand, first: &Record, second: &Second, status: Status) -> Instance {
    let early = second.past.flow.get(strand) < first.first;
    let event = match early || status == Status::Tangled {
        true => first.first,
        false => first.last,
    };
    Instance {
        location: second.location,
        first: RacingAccess {
            event: EventNumber::from(event),
            strand,
            site: first.site,
            kind: first.kind,
        },
        second: RacingAccess {
            event: EventNumber::from(second.now),
            strand: second.strand,
            site: second.site,
            kind: second.kind,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{Execution, StopReason};

    use super::*;
    use crate::explanation::prepass::prepass;

    #[test]
    fn no_more_queries_are_asked_than_there_is_time_for() {
        let prepass = prepass(&Execution::default()).unwrap();
        let judged = |stop| {
            let limits = Limits {
                stop,
                ..Limits::default()
            };
            let mut judge = Judge::new(&prepass, &limits);
            (0..QUERIES).for_each(|_| judge.spend(1));
            (judge.queries, judge.bounds)
        };
        let late = StopToken::default().or_after(Duration::ZERO);
        assert_eq!(judged(late), (0, vec![Bound::Stopped(StopReason::TimeUp)]));
        let left = Limits::default().queries - QUERIES;
        assert_eq!(judged(StopToken::default()), (left, Vec::new()));
    }
}
