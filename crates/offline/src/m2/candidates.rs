//! Pairs of accesses that may race: nothing that every reordering keeps orders them, and they have no
//! lock in common.
//!
//! The accesses to a location are put together by strand, place, kind and the locks held. Two such
//! groups of different strands that conflict and share no lock are compared: as what an access needs
//! only grows along its strand, the accesses of one group that are not ordered with a given one of the
//! other are neighbours, and both ends of that range only move forward.

use deadheat_model::{AccessKind, Legend, Location, Lock, Site, Strand};
use fixedbitset::FixedBitSet;

use super::skeleton::{Builder, Link, Skeleton};
use crate::threads::locksets::LocksetId;
use crate::threads::{At, Publish, Slot, ThreadEngine};

/// Accesses of one strand to one location, at one place, of one kind, under the same locks.
#[derive(Clone, Debug)]
pub struct Group {
    /// Whose.
    pub strand: u32,
    /// Where in the source.
    pub site: Site,
    /// Read or write.
    pub kind: AccessKind,
    held: LocksetId,
    /// Where in the strand's chain, ascending.
    accesses: Vec<u32>,
}

impl Group {
    fn link(&self, access: usize) -> Link {
        Link {
            strand: self.strand,
            index: self.accesses[access],
        }
    }
}

/// The accesses of the locations that can race.
#[derive(Debug)]
pub struct Candidates {
    /// By location that can race.
    groups: Vec<(Location, Vec<Group>)>,
}

/// Two groups of one location whose accesses may race.
#[derive(Clone, Copy)]
pub struct Meeting<'a> {
    /// What both access.
    pub location: Location,
    one: &'a Group,
    other: &'a Group,
}

impl Candidates {
    /// The locations that can race, each with the groups that may meet.
    pub fn meetings<'a>(
        &'a self,
        skeleton: &'a Skeleton,
    ) -> impl Iterator<Item = (Location, Vec<Meeting<'a>>)> {
        self.groups.iter().filter_map(move |(location, groups)| {
            let mut meetings = Vec::new();
            for (index, one) in groups.iter().enumerate() {
                for other in &groups[..index] {
                    let conflict = one.kind == AccessKind::Write || other.kind == AccessKind::Write;
                    if conflict
                        && one.strand != other.strand
                        && skeleton.locksets.disjoint(one.held, other.held)
                    {
                        meetings.push(Meeting {
                            location: *location,
                            one,
                            other,
                        });
                    }
                }
            }
            (!meetings.is_empty()).then_some((*location, meetings))
        })
    }
}

impl Meeting<'_> {
    /// The two places, the smaller first.
    pub fn places(&self) -> (Site, Site) {
        let (a, b) = (self.one.site, self.other.site);
        (a.min(b), a.max(b))
    }

    /// Where in the source an access of one of the two groups is, and its kind.
    pub fn access(&self, access: Link) -> (Site, AccessKind) {
        match access.strand == self.one.strand {
            true => (self.one.site, self.one.kind),
            false => (self.other.site, self.other.kind),
        }
    }

    /// For each access of one group, in the order of its chain, those of the other that nothing orders
    /// with it.
    pub fn unordered<'s>(
        &'s self,
        skeleton: &'s Skeleton,
    ) -> impl Iterator<
        Item = (
            Link,
            impl DoubleEndedIterator<Item = Link> + ExactSizeIterator,
        ),
    > {
        let (one, other) = (self.one, self.other);
        let (mut low, mut high) = (0, 0);
        (0..one.accesses.len()).map(move |access| {
            let link = one.link(access);
            let needed = skeleton.need(one.strand, link.index, other.strand);
            while low < other.accesses.len() && other.accesses[low] < needed {
                low += 1;
            }
            high = high.max(low);
            while high < other.accesses.len()
                && skeleton.need(other.strand, other.accesses[high], one.strand) <= link.index
            {
                high += 1;
            }
            (link, (low..high).map(|b| other.link(b)))
        })
    }
}

/// Makes a [`Skeleton`], and notes the accesses of the locations that can race.
pub struct Collector {
    builder: Builder,
    /// By location: which of the groups, for those that can race.
    places: Vec<u32>,
    groups: Vec<(Location, Vec<Group>)>,
}

const CANNOT_RACE: u32 = u32::MAX;

impl Collector {
    /// Before the first event of a trace with these names, in which some locations matter, and some of
    /// those can race.
    pub fn new(legend: &Legend, matter: &FixedBitSet, can_race: &FixedBitSet) -> Collector {
        let mut places = vec![CANNOT_RACE; legend.locations.len()];
        let mut groups = Vec::new();
        for x in can_race.ones() {
            places[x] = groups.len() as u32;
            groups.push((Location(x as u64), Vec::new()));
        }
        Collector {
            builder: Builder::new(legend, matter),
            places,
            groups,
        }
    }

    /// All events have been told.
    pub fn finish(self) -> (Skeleton, Candidates) {
        let candidates = Candidates {
            groups: self.groups,
        };
        (self.builder.finish(), candidates)
    }

    #[inline]
    fn note(&mut self, at: At, x: Location, kind: AccessKind) {
        let place = self.places[x.index()];
        if place == CANNOT_RACE {
            return;
        }
        let index = self.builder.last(at.strand).index;
        let held = self.builder.held(at.strand);
        let groups = &mut self.groups[place as usize].1;
        let same = |group: &&mut Group| {
            (group.strand, group.site, group.kind, group.held) == (at.strand.0, at.site, kind, held)
        };
        match groups.iter_mut().rev().find(same) {
            Some(group) => group.accesses.push(index),
            None => groups.push(Group {
                strand: at.strand.0,
                site: at.site,
                kind,
                held,
                accesses: vec![index],
            }),
        }
    }
}

impl ThreadEngine for Collector {
    #[inline]
    fn read(&mut self, at: At, x: Location) {
        self.builder.read(at, x);
        self.note(at, x, AccessKind::Read);
    }

    #[inline]
    fn write(&mut self, at: At, x: Location) {
        self.builder.write(at, x);
        self.note(at, x, AccessKind::Write);
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.builder.atomic_read(at, x);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.builder.atomic_write(at, x);
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
