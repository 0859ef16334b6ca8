//! What every schedule of a program says about the races of one of its executions.
//!
//! Brute force, right by inspection: a race happens in a schedule when its two accesses stand side by
//! side, and every strand has, up to there, done what it did in the execution (F_DIFF, definition
//! 3.10). It happens *unaffected* if up to there no two conflicting computation events other than its
//! own have overlapped in time: then nothing it depends on was done by halves.

use std::collections::BTreeSet;

use deadheat_model::{Access, Event, EventNumber, Op, Strand};

pub struct Truth {
    /// The races that some schedule shows, by the numbers of their events, the lower first.
    pub feasible: BTreeSet<(EventNumber, EventNumber)>,
    /// Those that some schedule shows before any other.
    pub unaffected: BTreeSet<(EventNumber, EventNumber)>,
}

/// What a strand does between two synchronising operations.
pub struct Computation {
    pub strand: Strand,
    pub first: usize,
    pub last: usize,
    pub accesses: Vec<Access>,
}

impl Truth {
    pub fn new<'a>(base: &[Event], schedules: impl Iterator<Item = &'a [Event]>) -> Truth {
        let strands = base.iter().map(|event| event.strand().index() + 1).max();
        let mut sequences: Vec<Vec<(Event, EventNumber)>> = vec![Vec::new(); strands.unwrap_or(0)];
        for (event, number) in base.iter().zip(1..) {
            sequences[event.strand().index()].push((*event, number));
        }
        let mut truth = Truth {
            feasible: BTreeSet::new(),
            unaffected: BTreeSet::new(),
        };
        for schedule in schedules {
            truth.visit(&sequences, schedule);
        }
        truth
    }

    fn visit(&mut self, sequences: &[Vec<(Event, EventNumber)>], schedule: &[Event]) {
        let mut done = vec![0; sequences.len()];
        let next = |done: &[usize], event: &Event| {
            let strand = event.strand().index();
            let &(same, number) = sequences.get(strand)?.get(done[strand])?;
            (same == *event).then_some(number)
        };
        for position in 0..schedule.len().saturating_sub(1) {
            let (x, y) = (schedule[position], schedule[position + 1]);
            let Some(number) = next(&done, &x) else {
                return;
            };
            if let (Some(a), Some(b)) = (x.access(), y.access())
                && x.strand() != y.strand()
                && a.conflicts_with(&b)
                && let Some(other) = next(&done, &y)
            {
                let pair = (number.min(other), number.max(other));
                self.feasible.insert(pair);
                if !self.unaffected.contains(&pair) && is_unaffected(&schedule[..position + 2]) {
                    self.unaffected.insert(pair);
                }
            }
            done[x.strand().index()] += 1;
        }
    }
}

/// Whether no conflicting computation events overlap but those of the last two events.
fn is_unaffected(events: &[Event]) -> bool {
    let last = [events.len() - 2, events.len() - 1];
    !conflicting_overlap(events, last.map(|index| events[index].strand().index()))
}

/// Whether two conflicting computation events overlap, other than the last ones of two strands.
pub fn conflicting_overlap(events: &[Event], strands: [usize; 2]) -> bool {
    let all = computations(events);
    let is_last = |one: &Computation| {
        strands.contains(&one.strand.index())
            && !all
                .iter()
                .any(|other| other.strand == one.strand && other.first > one.first)
    };
    all.iter().enumerate().any(|(index, a)| {
        all[..index].iter().any(|b| {
            let overlap = a.first < b.last && b.first < a.last;
            let conflict = || {
                let pairs = a.accesses.iter();
                let mut pairs = pairs.flat_map(|a| b.accesses.iter().map(move |b| (a, b)));
                pairs.any(|(a, b)| a.conflicts_with(b))
            };
            a.strand != b.strand && overlap && !(is_last(a) && is_last(b)) && conflict()
        })
    })
}

/// The computation events of a sequence.
pub fn computations(events: &[Event]) -> Vec<Computation> {
    let mut all: Vec<Computation> = Vec::new();
    let mut open: Vec<(Strand, usize)> = Vec::new();
    for (position, event) in events.iter().enumerate() {
        let strand = event.strand();
        let Some(access) = event.access() else {
            let splits = !matches!(
                event.op(),
                Op::FinishBegin(_) | Op::NewPromise(_) | Op::Alloc(_) | Op::End | Op::Begin
            );
            if splits {
                open.retain(|(other, _)| *other != strand);
            }
            continue;
        };
        match open.iter().find(|(other, _)| *other == strand) {
            Some(&(_, index)) => {
                all[index].last = position;
                all[index].accesses.push(access);
            }
            None => {
                open.push((strand, all.len()));
                all.push(Computation {
                    strand,
                    first: position,
                    last: position,
                    accesses: vec![access],
                });
            }
        }
    }
    all
}
