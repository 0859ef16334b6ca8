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

use deadheat_model::{Access, AccessKind, Execution, Location, Strand};
use deadheat_offline::threads::{At, ImpossibleEvent};
use deadheat_order::Time;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::edges::{Listener, Slot, tell_until};
use super::judge::{Group, Judge, Past, Record, Second, Taint};
use super::prepass::{Numbering, Prepass, time};
use super::roots::RootSets;
use super::{Bound, Limits};

/// What the pass found.
pub(crate) struct Pairs {
    pub(crate) groups: Vec<Group>,
    pub(crate) apparent: u64,
    pub(crate) overlapping: u64,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) roots: RootSets,
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
) -> Result<Pairs, ImpossibleEvent> {
    let mut pass = Pass {
        prepass,
        relevant,
        numbering: Numbering::default(),
        histories: FxHashMap::default(),
        strands: Vec::new(),
        slots: Vec::new(),
        judge: Judge::new(prepass, limits),
    };
    let stopped = tell_until(execution, &mut pass, limits.stop)?;
    let mut judge = pass.judge;
    if let Some(why) = stopped {
        judge.meets(Bound::Stopped(why));
    }
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
