//! The index: what the trace says about each of its events, read in one pass.

use deadheat_model::{Event, Location, Lock, Op, Strand};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{GRAIN, NONE, Section, Start, Vindicator};
use crate::threads::{At, Publish, Slot, ThreadEngine};

/// The sections that are open, in any order; each is found at once, however many there are.
#[derive(Default)]
pub(super) struct OpenSections {
    sections: Vec<u32>,
    /// Where they are; a strand may hold a lock for reading more than once.
    places: FxHashMap<(Strand, Lock), SmallVec<[u32; 1]>>,
}

impl OpenSections {
    fn begin(&mut self, strand: Strand, lock: Lock, section: u32) {
        let place = self.sections.len() as u32;
        self.places.entry((strand, lock)).or_default().push(place);
        self.sections.push(section);
    }

    fn end(&mut self, strand: Strand, lock: Lock, sections: &[Section]) -> Option<u32> {
        let place = self.places.get_mut(&(strand, lock))?.pop()?;
        let section = self.sections.swap_remove(place as usize);
        if let Some(&moved) = self.sections.get(place as usize) {
            let Section { strand, lock, .. } = sections[moved as usize];
            let before = self.sections.len() as u32;
            let places = self.places.get_mut(&(strand, lock)).into_iter().flatten();
            places
                .filter(|moved| **moved == before)
                .for_each(|moved| *moved = place);
        }
        Some(section)
    }
}

/// Reads a trace into a [`Vindicator`].
pub(super) struct Reader<'a> {
    pub(super) now: u32,
    pub(super) last: Vec<u32>,
    pub(super) forked: Vec<u32>,
    /// Who published to each slot, at most one event a strand.
    pub(super) slots: Vec<Vec<u32>>,
    pub(super) released: Vec<u32>,
    pub(super) written: Vec<u32>,
    pub(super) open: OpenSections,
    pub(super) found: Vindicator<'a>,
}

impl Reader<'_> {
    /// What is the same for all events.
    pub(super) fn next(&mut self, event: &Event) {
        let starts = &mut self.found.starts;
        let last = starts.last();
        let far = GRAIN.max(self.open.sections.len());
        if last.is_none_or(|last| (self.now - last.event) as usize >= far) {
            starts.push(Start {
                event: self.now,
                open: self.open.sections.clone(),
            });
        }
        let fork = std::mem::replace(&mut self.forked[event.strand().index()], NONE);
        self.comes_behind(fork);
        match event.op() {
            Op::AcquireShared(lock) => self.begin(event.strand(), lock, true),
            Op::ReleaseShared(lock) => self.end(event.strand(), lock),
            _ => {}
        }
    }

    fn comes_behind(&mut self, event: u32) {
        if event != NONE {
            self.found.hard.push((self.now, event));
        }
    }

    fn begin(&mut self, strand: Strand, lock: Lock, shared: bool) {
        let section = self.found.sections.len() as u32;
        self.found.sections.push(Section {
            lock,
            strand,
            shared,
            acquire: self.now,
            release: NONE,
        });
        self.found.section[self.now as usize] = section;
        self.open.begin(strand, lock, section);
    }

    fn end(&mut self, strand: Strand, lock: Lock) {
        let sections = &mut self.found.sections;
        if let Some(section) = self.open.end(strand, lock, sections) {
            sections[section as usize].release = self.now;
            self.found.section[self.now as usize] = section;
        }
    }

    fn observe(&mut self, location: Location) {
        self.found.observed[self.now as usize] = self.written[location.index()];
    }
}

impl ThreadEngine for Reader<'_> {
    fn read(&mut self, _: At, location: Location) {
        self.observe(location);
    }

    fn write(&mut self, _: At, location: Location) {
        self.written[location.index()] = self.now;
    }

    fn atomic_read(&mut self, _: At, location: Location) {
        self.observe(location);
    }

    fn atomic_write(&mut self, _: At, location: Location) {
        self.written[location.index()] = self.now;
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.begin(at.strand, lock, false);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.end(at.strand, lock);
        self.released[lock.index()] = self.now;
    }

    fn fork(&mut self, _: At, child: Strand) {
        self.forked[child.index()] = self.now;
    }

    fn join(&mut self, _: At, child: Strand) {
        // One that has done nothing was at least forked.
        let forked = self.forked[child.index()];
        self.comes_behind(forked);
        self.comes_behind(self.last[child.index()]);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        let slot = slot.0 as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, Vec::new());
        }
        let by = &mut self.slots[slot];
        match how {
            Publish::Replace => by.clear(),
            Publish::Add => {
                let events = self.found.events;
                by.retain(|event| events[*event as usize].strand() != at.strand);
            }
        }
        by.push(self.now);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        for &event in self.slots.get(slot.0 as usize).into_iter().flatten() {
            if self.found.events[event as usize].strand() != at.strand {
                self.found.hard.push((self.now, event));
            }
        }
    }

    fn acquire_shared(&mut self, _: At, lock: Lock) {
        self.comes_behind(self.released[lock.index()]);
    }
}
