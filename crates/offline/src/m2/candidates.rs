//! The accesses of a trace that may race, in [groups](super::groups), and the [skeleton](super::skeleton) of all that
//! matters. Which groups may [meet](super::meetings) is another question.

use deadheat_model::{AccessKind, Location, Lock, Names, Strand};
use fixedbitset::FixedBitSet;

use super::groups::{Group, GroupKey, Groups};
use super::skeleton::{Builder, Skeleton};
use crate::threads::{At, Publish, Slot, ThreadEngine};

/// The accesses of the locations that can race.
#[derive(Debug)]
pub struct Candidates {
    /// By location that can race.
    pub groups: Vec<(Location, Vec<Group>)>,
}

/// Makes a [`Skeleton`], and notes the accesses of the locations that can race.
pub struct Collector {
    builder: Builder,
    /// By location: which of those that can race it is.
    places: Vec<u32>,
    groups: Groups,
}

const CANNOT_RACE: u32 = u32::MAX;

impl Collector {
    /// Before the first event of a trace with these names, in which some locations matter, and some of
    /// those can race.
    pub fn new(names: &Names, matter: &FixedBitSet, can_race: &FixedBitSet) -> Collector {
        let mut places = vec![CANNOT_RACE; names.locations.len()];
        for (x, place) in can_race.ones().zip(0..) {
            places[x] = place;
        }
        Collector {
            builder: Builder::new(names, matter),
            places,
            groups: Groups::new(can_race.ones().map(|x| Location(x as u64))),
        }
    }

    /// All events have been told.
    pub fn finish(self) -> (Skeleton, Candidates) {
        let candidates = Candidates {
            groups: self.groups.finish(),
        };
        (self.builder.finish(), candidates)
    }

    #[inline]
    fn note(&mut self, at: At, x: Location, kind: AccessKind, atomic: bool) {
        let place = self.places[x.index()];
        if place == CANNOT_RACE {
            return;
        }
        let key = GroupKey {
            strand: at.strand.0,
            site: at.site,
            held: self.builder.held(at.strand),
            kind,
            atomic,
        };
        let access = self.builder.last_access(at.strand);
        self.groups.add(place, key, at.number as u32, access);
    }
}

impl ThreadEngine for Collector {
    #[inline]
    fn read(&mut self, at: At, x: Location) {
        self.builder.read(at, x);
        self.note(at, x, AccessKind::Read, false);
    }

    #[inline]
    fn write(&mut self, at: At, x: Location) {
        self.builder.write(at, x);
        self.note(at, x, AccessKind::Write, false);
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.builder.atomic_read(at, x);
        self.note(at, x, AccessKind::Read, true);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.builder.atomic_write(at, x);
        self.note(at, x, AccessKind::Write, true);
    }

    fn atomic_update(&mut self, at: At, x: Location) {
        self.builder.atomic_update(at, x);
        self.note(at, x, AccessKind::Write, true);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.builder.acquire(at, lock);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.builder.release(at, lock);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.builder.fork(at, child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.builder.join(at, child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.builder.publish(at, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.builder.awaits(at, slot);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.builder.acquire_shared(at, lock);
    }
}
