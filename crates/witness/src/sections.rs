//! Which locks a strand has after any of its events, without going through the events before.
//!
//! Simple model: a *section* is a strand's acquire and the release that gives it back; they match like
//! brackets, so a lock taken twice has two sections, one inside the other. What a strand has at a place
//! are the sections that begin there or before and end behind it.
//!
//! To find them quickly, go through the sections backwards from the last that begins there or before.
//! Most are over, so each knows the nearest before it that `outlives` it, that ends later: those between
//! are over whenever it is, and from one that is over the way goes on there.
//!
//! Guarantee: exactly the simple model's. Cost: for each strand, linear in its sections and 16 bytes
//! each; an answer takes a binary search and at most as many steps as the strand had locks at one time,
//! for each lock that it has.

use std::iter::from_fn;

use deadheat_model::Strand;

use crate::recording::Recording;

/// No section, or an event behind the end of every trace.
const NONE: u32 = u32::MAX;

struct Section {
    lock: LockId,
    /// The event that takes the lock.
    acquire: u32,
    /// The event that gives it back.
    release: u32,
    outlives: u32,
}

/// A lock, by the order in which the trace first mentions them.
pub(crate) type LockId = u32;

/// The sections of one strand, by their acquires.
#[derive(Default)]
pub(crate) struct Sections {
    sections: Vec<Section>,
}

impl Sections {
    /// Begins a section and says which it is.
    pub fn begin(&mut self, lock: LockId, acquire: u32) -> u32 {
        let number = self.sections.len() as u32;
        self.sections.push(Section {
            lock,
            acquire,
            release: NONE,
            outlives: NONE,
        });
        number
    }

    /// Ends a section.
    pub fn end(&mut self, section: u32, release: u32) {
        self.sections[section as usize].release = release;
    }

    /// Says that all sections have begun and ended that do.
    ///
    /// One that is passed over here is behind one that outlives it, for all that come later: so each is
    /// passed over once.
    pub fn finish(&mut self) {
        for number in 0..self.sections.len() {
            let release = self.sections[number].release;
            let mut outlives = before(number as u32);
            while let Some(section) = self.get(outlives)
                && section.release < release
            {
                outlives = section.outlives;
            }
            self.sections[number].outlives = outlives;
        }
        self.sections.shrink_to_fit();
    }

    /// The locks of the sections that the strand is in, after its events up to a number, and their
    /// acquires.
    pub fn after(&self, end: u32) -> impl Iterator<Item = (LockId, u32)> {
        let begun = self.sections.partition_point(|s| s.acquire <= end) as u32;
        let mut next = before(begun);
        let path = from_fn(move || {
            let section = self.get(next)?;
            next = match section.release > end {
                true => before(next),
                false => section.outlives,
            };
            Some(section)
        });
        let inside = path.filter(move |section| section.release > end);
        inside.map(|section| (section.lock, section.acquire))
    }

    fn get(&self, section: u32) -> Option<&Section> {
        self.sections.get(section as usize)
    }
}

/// The section before one.
fn before(section: u32) -> u32 {
    section.checked_sub(1).unwrap_or(NONE)
}

/// Every acquire of a trace: by lock, then by strand, then as in the trace.
pub(crate) struct Acquires {
    acquires: Vec<u32>,
    /// Where each lock's end; the next one's begin there.
    ends: Vec<u32>,
}

impl Acquires {
    /// From the sections of all strands, in the strands' order, that take so many locks.
    pub fn new<'a>(strands: impl Iterator<Item = &'a Sections> + Clone, locks: usize) -> Acquires {
        let sections = || strands.clone().flat_map(|strand| &strand.sections);
        // First where each lock's begin; the place for its next acquire while they are put there.
        let mut ends = vec![0; locks + 1];
        for section in sections() {
            ends[section.lock as usize + 1] += 1;
        }
        for lock in 0..locks {
            ends[lock + 1] += ends[lock];
        }
        let mut acquires = vec![0; ends[locks] as usize];
        for section in sections() {
            let place = &mut ends[section.lock as usize];
            acquires[*place as usize] = section.acquire;
            *place += 1;
        }
        Acquires { acquires, ends }
    }

    /// A strand's last acquire of a lock, up to an event.
    pub fn last(
        &self,
        recording: &Recording,
        lock: LockId,
        strand: Strand,
        end: u32,
    ) -> Option<u32> {
        let lock = lock as usize;
        let begin = lock.checked_sub(1).map_or(0, |before| self.ends[before]);
        let acquires = &self.acquires[begin as usize..self.ends[lock] as usize];
        let key = |acquire: u32| Some((recording.event(acquire.into())?.strand(), acquire));
        let upto = acquires.partition_point(|&acquire| key(acquire) <= Some((strand, end)));
        let last = *acquires[..upto].last()?;
        (recording.event(last.into())?.strand() == strand).then_some(last)
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
                        open.push((sections.begin(0, event), model.len()));
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
                let mut found: Vec<_> = sections.after(end).map(|(_, acquire)| acquire).collect();
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
        sections.begin(0, 1);
        let mut last = sections.begin(0, 2);
        for event in (3..20_003).step_by(2) {
            let next = sections.begin(0, event);
            sections.end(last, event + 1);
            last = next;
        }
        sections.finish();
        let inside: Vec<_> = sections.after(20_002).collect();
        assert_eq!(inside, [(0, 20_001), (0, 1)]);
        let over = &sections.sections[sections.sections.len() - 2];
        assert_eq!(over.outlives, 0);
    }
}
