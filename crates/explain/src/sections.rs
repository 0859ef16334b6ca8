//! Which locks a strand has after any of its events, without going through the events before.
//!
//! Simple model: a *section* is a strand's acquire and the release that gives it back; they match like
//! brackets, so a lock taken twice has two sections, one inside the other. What a strand has at a place
//! are the sections that begin there or before and end behind it.
//!
//! To find them quickly, each section knows its `outer` one: the one taken last of those that the strand
//! had when it took this one. Begin with the last section taken up to the place: any other that the
//! strand has there, it had already when it took that one, so all are on the path outwards. On the way
//! there may be sections that are over, many of them if locks are taken hand over hand. So each also
//! knows the next on its path that `outlives` it: those between are over whenever it is.
//!
//! Guarantee: exactly the simple model's. Cost: for each strand, linear in its sections and 16 bytes
//! each; an answer takes a binary search and at most as many steps as the strand had locks at one time,
//! for each lock that it has.

use std::iter::successors;

use deadheat_model::{Lock, Op, Strand};
use rustc_hash::FxHashMap;

use crate::recording::Recording;

/// No section, or an event behind the end of every trace.
const NONE: u32 = u32::MAX;

struct Section {
    /// The event that takes the lock.
    acquire: u32,
    /// The event that gives it back.
    release: u32,
    outer: u32,
    outlives: u32,
}

/// The sections of one strand, by their acquires.
#[derive(Default)]
pub(crate) struct Sections {
    sections: Vec<Section>,
    /// Those not yet over, and some that are, by their acquires.
    open: Vec<u32>,
}

impl Sections {
    /// Begins a section and says which it is.
    pub fn begin(&mut self, acquire: u32) -> u32 {
        let sections = &self.sections;
        while (self.open)
            .pop_if(|&mut s| sections[s as usize].release != NONE)
            .is_some()
        {}
        let number = self.sections.len() as u32;
        self.sections.push(Section {
            acquire,
            release: NONE,
            outer: self.open.last().copied().unwrap_or(NONE),
            outlives: NONE,
        });
        self.open.push(number);
        number
    }

    /// Ends a section.
    pub fn end(&mut self, section: u32, release: u32) {
        self.sections[section as usize].release = release;
    }

    /// Says that all sections have begun and ended that do.
    ///
    /// A section that is passed over here lies behind one that outlives it, from all that come later:
    /// so each is passed over once.
    pub fn finish(&mut self) {
        for number in 0..self.sections.len() {
            let Section { release, outer, .. } = self.sections[number];
            let path = successors(self.get(outer), |outer| self.get(outer.outlives));
            let passed = path.take_while(|outer| outer.release < release).last();
            self.sections[number].outlives = passed.map_or(outer, |passed| passed.outlives);
        }
        self.sections.shrink_to_fit();
        self.open = Vec::new();
    }

    /// The acquires of the sections that the strand is in, after its events up to a number.
    pub fn after(&self, end: u32) -> impl Iterator<Item = u32> {
        let begun = self.sections.partition_point(|s| s.acquire <= end);
        let last = begun.checked_sub(1).map(|last| &self.sections[last]);
        let path = successors(last, move |section| {
            self.get(match section.release > end {
                true => section.outer,
                false => section.outlives,
            })
        });
        let inside = path.filter(move |section| section.release > end);
        inside.map(|section| section.acquire)
    }

    fn get(&self, section: u32) -> Option<&Section> {
        self.sections.get(section as usize)
    }
}

/// Every acquire of a trace: by lock, then by strand, then as in the trace.
pub(crate) struct Acquires {
    acquires: Vec<u32>,
    /// Where each lock's begin and end.
    of: FxHashMap<Lock, (u32, u32)>,
}

impl Acquires {
    /// From the sections of all strands, in the strands' order.
    pub fn new<'a>(
        recording: &Recording,
        strands: impl Iterator<Item = &'a Sections> + Clone,
    ) -> Acquires {
        let acquires = || {
            let sections = strands.clone().flat_map(|strand| &strand.sections);
            sections.map(|section| section.acquire)
        };
        let mut of: FxHashMap<Lock, (u32, u32)> = FxHashMap::default();
        for lock in acquires().filter_map(|acquire| lock(recording, acquire)) {
            of.entry(lock).or_default().1 += 1;
        }
        let mut end = 0;
        for range in of.values_mut() {
            let begin = end;
            end += range.1;
            *range = (begin, begin);
        }
        let mut by_lock = vec![0; end as usize];
        for acquire in acquires() {
            if let Some(range) = lock(recording, acquire).and_then(|lock| of.get_mut(&lock)) {
                by_lock[range.1 as usize] = acquire;
                range.1 += 1;
            }
        }
        Acquires {
            acquires: by_lock,
            of,
        }
    }

    /// A strand's last acquire of a lock, up to an event.
    pub fn last(&self, recording: &Recording, lock: Lock, strand: Strand, end: u32) -> Option<u32> {
        let &(from, to) = self.of.get(&lock)?;
        let acquires = &self.acquires[from as usize..to as usize];
        let key = |acquire: u32| Some((recording.event(acquire.into())?.strand(), acquire));
        let upto = acquires.partition_point(|&acquire| key(acquire) <= Some((strand, end)));
        let last = *acquires[..upto].last()?;
        (recording.event(last.into())?.strand() == strand).then_some(last)
    }
}

/// The lock that an event takes.
pub(crate) fn lock(recording: &Recording, acquire: u32) -> Option<Lock> {
    match recording.event(acquire.into())?.op() {
        Op::Acquire(lock) => Some(lock),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random sections of one strand, ended in any order; the answer at every event against the simple
    /// model.
    #[test]
    fn a_strand_has_what_it_took_and_did_not_give_back() {
        for seed in 0..2000 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut sections, mut model, mut open) = (Sections::default(), Vec::new(), vec![]);
            // From nested in each other to hand over hand.
            let last_first = rng.f64();
            for event in 1..rng.u32(2..60) {
                match rng.u32(0..3) {
                    0 => {
                        open.push((sections.begin(event), model.len()));
                        model.push((event, NONE));
                    }
                    1 if !open.is_empty() => {
                        let last = rng.f64() < last_first;
                        let (number, index) = open.remove(if last { open.len() - 1 } else { 0 });
                        sections.end(number, event);
                        model[index].1 = event;
                    }
                    _ => {}
                }
            }
            sections.finish();
            for end in 0..60 {
                let mut found: Vec<_> = sections.after(end).collect();
                found.sort_unstable();
                let expected = model.iter().filter(|&&(a, r)| a <= end && end < r);
                let expected: Vec<_> = expected.map(|&(acquire, _)| acquire).collect();
                assert_eq!(found, expected, "seed {seed}, after {end}: {model:?}");
            }
        }
    }

    /// Hand over hand, and under a lock that is never given back: the way to it is short.
    #[test]
    fn sections_that_are_over_are_passed_over() {
        let mut sections = Sections::default();
        sections.begin(1);
        let mut before = sections.begin(2);
        for event in (3..20_003).step_by(2) {
            let next = sections.begin(event);
            sections.end(before, event + 1);
            before = next;
        }
        sections.finish();
        assert_eq!(sections.after(20_002).collect::<Vec<_>>(), [20_001, 1]);
        let last = sections.sections.last().unwrap();
        let over = sections.get(last.outer).unwrap();
        assert_eq!(over.outlives, 0);
    }
}
