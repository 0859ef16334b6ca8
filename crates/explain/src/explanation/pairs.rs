//! All apparent races of an execution, and what is true of each: feasible or tangled, first or not.
//!
//! The thesis's graphs on single accesses, whose order the execution has. Three relations, each a clock
//! for every strand, are kept while the events go by:
//!
//! - *before* (G): what synchronisation puts before a point. Two conflicting accesses of different
//!   strands that it orders neither way are an **apparent race**.
//! - *flow* (G_E): G, and from each write to the relevant reads that saw it. What flows into an event is
//!   all it takes for the event to happen, so two accesses are **feasible** (theorem 7.3) unless the
//!   first flows into what its successor does before the second: then they are *tangled*. Executing
//!   what flows into the two, in the order of the trace, leads to a state in which both are next.
//! - *taint*: whether both accesses of some race flow into a point (the race order R, definition 8.1).
//!   A race is **first** if no race flows into either of its accesses, and if there is no race of a
//!   relevant read before the one and a write before the other: such a read might have seen that
//!   write. The second half is ours; without it theorem 8.2 does not hold (`docs/errata.md`).
//!
//! Guarantee: every race called feasible happens in some schedule that does, strand for strand, a
//! prefix of the recorded events; every first race is feasible, and some schedule shows it before
//! any two other conflicting computation events overlap. Tests compare both with every schedule.
//!
//! Races are shown one for each pair of places: the first instance that is first, or else the first of
//! the strongest status. Accesses that one computation event does at one place to one location count
//! once. Cost: linear in events and in unordered conflicting pairs, of which [`Limits::pairs`] are
//! compared; past that only the latest accesses of other strands are.

use deadheat_model::{
    Access, AccessKind, EventNumber, Execution, Location, RacingAccess, Site, Strand,
};
use deadheat_offline::threads::{At, Malformed};
use deadheat_order::{PersistentClock, Time};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::edges::{Listener, Slot, tell};
use super::prepass::{Computation, Numbering, Prepass, time};
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

/// What the pass found.
pub(crate) struct Pairs {
    pub(crate) groups: Vec<Group>,
    pub(crate) apparent: u64,
    pub(crate) overlapping: u64,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) roots: RootSets,
}

/// What comes before a point.
#[derive(Clone, Default)]
struct Past {
    before: PersistentClock,
    flow: PersistentClock,
    taint: Option<Taint>,
}

/// The accesses of one computation event at one place to one location.
struct Record {
    first: Time,
    last: Time,
    site: Site,
    kind: AccessKind,
    relevant: bool,
    computation: Computation,
    flow: PersistentClock,
    taint: Option<Taint>,
}

/// The last write of a location.
struct LastWrite {
    strand: Strand,
    time: Time,
    /// Its strand's place in the history and the record there, if it is a plain write.
    record: Option<(u32, u32)>,
    past: Past,
}

#[derive(Default)]
struct History {
    strands: Vec<(Strand, Vec<Record>)>,
    write: Option<LastWrite>,
}

impl History {
    /// Where the accesses of a strand are.
    fn place(&mut self, strand: Strand) -> usize {
        let known = self.strands.iter().position(|(other, _)| *other == strand);
        known.unwrap_or_else(|| {
            self.strands.push((strand, Vec::new()));
            self.strands.len() - 1
        })
    }
}

pub(crate) fn pairs(
    execution: &Execution,
    prepass: &Prepass,
    relevant: &FixedBitSet,
    limits: &Limits,
) -> Result<Pairs, Malformed> {
    let mut pass = Pass {
        prepass,
        relevant,
        numbering: Numbering::default(),
        histories: FxHashMap::default(),
        strands: Vec::new(),
        slots: Vec::new(),
        judge: Judge::new(prepass, limits),
    };
    tell(execution, &mut pass)?;
    let judge = pass.judge;
    Ok(Pairs {
        groups: judge.groups,
        apparent: judge.apparent,
        overlapping: judge.overlapping,
        bounds: judge.bounds,
        roots: judge.roots,
    })
}

struct Pass<'a> {
    prepass: &'a Prepass,
    relevant: &'a FixedBitSet,
    numbering: Numbering,
    histories: FxHashMap<u64, History>,
    /// By strand: what comes before its next event.
    strands: Vec<Past>,
    slots: Vec<Past>,
    judge: Judge<'a>,
}

impl Pass<'_> {
    #[inline]
    fn of(&mut self, strand: Strand) -> &mut Past {
        if self.strands.len() <= strand.index() {
            self.strands.resize(strand.index() + 1, Default::default());
        }
        &mut self.strands[strand.index()]
    }

    /// What comes before whatever comes after a strand's events up to now.
    fn known(&mut self, strand: Strand, now: Time) -> Past {
        let past = self.of(strand);
        past.before.raise(strand, now);
        past.flow.raise(strand, now);
        past.clone()
    }

    fn learn(&mut self, strand: Strand, known: &Past) {
        let mut past = std::mem::take(self.of(strand));
        self.judge.merge(&mut past, known);
        *self.of(strand) = past;
    }

    /// Compares an access with those of other strands, and notes it.
    fn compare(&mut self, history: &mut History, second: Second) {
        let (strand, now) = (second.strand, second.now);
        let mine = history.place(strand);
        let own = &mut history.strands[mine].1;
        let known = own
            .iter()
            .rposition(|record| record.computation != second.computation);
        let known = known.map_or(0, |before| before + 1);
        let same = |record: &Record| {
            let key = (second.site, second.kind, second.relevant);
            (record.site, record.kind, record.relevant) == key
        };
        let again = own[known..].iter().position(same);
        // Of accesses that are repeated only what others did since then is new.
        let since = again.map(|again| std::mem::replace(&mut own[known + again].last, now));
        for (place, (other, records)) in history.strands.iter().enumerate() {
            if place == mine {
                continue;
            }
            let ordered = second.past.before.get(*other);
            for record in records.iter().rev() {
                if record.first <= ordered || since.is_some_and(|since| record.last < since) {
                    break;
                }
                if second.kind == AccessKind::Write || record.kind == AccessKind::Write {
                    self.judge.pair(*other, record, &second, since.is_none());
                }
                if self.judge.pairs == 0 {
                    break;
                }
            }
        }
        if since.is_none() {
            history.strands[mine].1.push(Record {
                first: now,
                last: now,
                site: second.site,
                kind: second.kind,
                relevant: second.relevant,
                computation: second.computation,
                flow: second.past.flow.clone(),
                taint: second.past.taint,
            });
        }
        if second.kind == AccessKind::Write {
            let last = history.strands[mine].1.len() - 1;
            let record = again.map_or(last, |again| known + again);
            history.write = Some(LastWrite {
                strand,
                time: now,
                record: Some((mine as u32, record as u32)),
                past: second.past,
            });
        } else if second.relevant
            && let Some(write) = &history.write
            && write.strand != strand
            && second.past.flow.get(write.strand) < write.time
        {
            let record = write
                .record
                .map(|(place, record)| &history.strands[place as usize].1[record as usize]);
            let race = record
                .filter(|record| record.first > second.past.before.get(write.strand))
                .map(|record| self.judge.taint_of(write.strand, record, &second));
            self.see(strand, write, race);
        }
    }

    /// A strand sees what another one wrote, perhaps in a race.
    fn see(&mut self, strand: Strand, write: &LastWrite, race: Option<Taint>) {
        let before = self.of(strand).before.clone();
        let mut known = write.past.clone();
        known.flow.raise(write.strand, write.time);
        self.learn(strand, &known);
        if let Some(race) = race {
            let taint = self.of(strand).taint;
            let taint = self.judge.both(taint, Some(race));
            self.of(strand).taint = taint;
        }
        // A value that is seen orders nothing.
        self.of(strand).before = before;
    }
}

impl Listener for Pass<'_> {
    fn access(&mut self, at: At, Access { location, kind }: Access) {
        let computation = self.numbering.access(at.strand);
        if !self.prepass.tracked.contains(&location.0) {
            return;
        }
        let second = Second {
            location,
            strand: at.strand,
            now: time(at),
            site: at.site,
            kind,
            relevant: self.relevant.contains(time(at) as usize - 1),
            computation,
            past: self.of(at.strand).clone(),
        };
        let mut history = self.histories.remove(&location.0).unwrap_or_default();
        self.compare(&mut history, second);
        self.histories.insert(location.0, history);
    }

    fn synchronises(&mut self, at: At) {
        self.numbering.synchronises(at.strand);
    }

    fn publish(&mut self, at: At, slot: Slot, add: bool) {
        let known = self.known(at.strand, time(at));
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, Past::default());
        }
        match add {
            true => self.judge.merge(&mut self.slots[slot], &known),
            false => self.slots[slot] = known,
        }
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        if let Some(known) = self.slots.get(slot).cloned() {
            self.learn(at.strand, &known);
        }
    }

    fn fork(&mut self, at: At, child: Strand) {
        let known = self.known(at.strand, time(at));
        self.learn(child, &known);
    }

    fn join(&mut self, at: At, child: Strand) {
        let known = self.known(child, time(at));
        self.learn(at.strand, &known);
    }

    fn atomic_read(&mut self, at: At, location: Location) {
        let history = self.histories.remove(&location.0).unwrap_or_default();
        let flow = &self.of(at.strand).flow;
        if let Some(write) = &history.write
            && write.strand != at.strand
            && flow.get(write.strand) < write.time
        {
            self.see(at.strand, write, None);
        }
        self.histories.insert(location.0, history);
    }

    fn atomic_write(&mut self, at: At, location: Location) {
        let past = self.of(at.strand).clone();
        self.histories.entry(location.0).or_default().write = Some(LastWrite {
            strand: at.strand,
            time: time(at),
            record: None,
            past,
        });
    }
}

/// The access that is looked at.
struct Second {
    location: Location,
    strand: Strand,
    now: Time,
    site: Site,
    kind: AccessKind,
    relevant: bool,
    computation: Computation,
    past: Past,
}

/// What is known of the races so far.
struct Judge<'a> {
    computations: &'a [(u32, u32)],
    intricate: bool,
    groups: Vec<Group>,
    numbers: FxHashMap<Key, u32>,
    stairs: Stairs<Taint>,
    /// Those of relevant reads that might have seen the write.
    stale: Stairs<Taint>,
    roots: RootSets,
    queries: u64,
    pairs: u64,
    max_groups: usize,
    apparent: u64,
    overlapping: u64,
    bounds: Vec<Bound>,
}

/// Two places and what is done there, the lower one first.
type Key = [(Site, AccessKind); 2];

impl<'a> Judge<'a> {
    fn new(prepass: &'a Prepass, limits: &Limits) -> Judge<'a> {
        Judge {
            computations: &prepass.computations,
            intricate: prepass.intricate,
            groups: Vec::new(),
            numbers: FxHashMap::default(),
            stairs: Stairs::new(),
            stale: Stairs::new(),
            roots: RootSets::default(),
            queries: limits.queries,
            pairs: limits.pairs,
            max_groups: limits.groups,
            apparent: 0,
            overlapping: 0,
            bounds: Vec::new(),
        }
    }

    fn meets(&mut self, bound: Bound) {
        if !self.bounds.contains(&bound) {
            self.bounds.push(bound);
        }
    }

    fn both(&mut self, a: Option<Taint>, b: Option<Taint>) -> Option<Taint> {
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
    fn merge(&mut self, mine: &mut Past, theirs: &Past) {
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
        self.queries = self.queries.saturating_sub(queries);
        if self.queries == 0 {
            self.meets(Bound::Queries);
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
    fn taint_of(&mut self, strand: Strand, first: &Record, second: &Second) -> Taint {
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
    fn pair(&mut self, strand: Strand, first: &Record, second: &Second, is_new: bool) {
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
