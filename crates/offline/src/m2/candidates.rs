//! Pairs of accesses that may race: nothing that every reordering keeps orders them, and they have no
//! lock in common.
//!
//! The accesses to a location are put together by strand, place, kind and the locks held. Two such
//! groups of different strands that conflict and share no lock are compared: as what an access needs
//! only grows along its strand, the accesses of one group that are not ordered with a given one of the
//! other are neighbours, and both ends of that range only move forward.

use deadheat_model::{AccessKind, Location, Lock, Names, Site, Strand};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::skeleton::{Builder, Link, Skeleton};
use crate::threads::locksets::LocksetId;
use crate::threads::{At, Publish, Slot, ThreadEngine};

/// Accesses of one strand to one location, at one place, of one kind, plain or atomic, under the same locks.
#[derive(Clone, Debug)]
pub struct Group {
    /// Whose.
    pub strand: u32,
    /// Where in the source.
    pub site: Site,
    /// Read or write.
    pub kind: AccessKind,
    atomic: bool,
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

/// How many meetings are looked at, all locations together; and of a location that comes after these, so
/// that each that races is likely to be found.
const MAX_MEETINGS: usize = 1 << 26;
const FEW_MEETINGS: usize = 64;

/// The groups of a location that may meet.
pub struct Meetings<'a> {
    /// The pairs of groups.
    pub meetings: Vec<Meeting<'a>>,
    /// Whether these are all.
    pub all: bool,
}

impl Candidates {
    /// Of each location that can race, the groups that may meet.
    pub fn meetings<'a>(&'a self, skeleton: &'a Skeleton) -> impl Iterator<Item = Meetings<'a>> {
        let mut room = MAX_MEETINGS;
        self.groups.iter().map(move |(location, groups)| {
            let found = meetings(*location, groups, skeleton, room.max(FEW_MEETINGS));
            room = room.saturating_sub(found.meetings.len());
            found
        })
    }
}

fn meetings<'a>(
    location: Location,
    groups: &'a [Group],
    skeleton: &Skeleton,
    most: usize,
) -> Meetings<'a> {
    let mut meetings = Vec::new();
    for (index, one) in groups.iter().enumerate() {
        for other in &groups[..index] {
            let writes = one.kind == AccessKind::Write || other.kind == AccessKind::Write;
            if writes
                && !(one.atomic && other.atomic)
                && one.strand != other.strand
                && skeleton.locksets.disjoint(one.held, other.held)
            {
                if meetings.len() == most {
                    return Meetings {
                        meetings,
                        all: false,
                    };
                }
                meetings.push(Meeting {
                    location,
                    one,
                    other,
                });
            }
        }
    }
    Meetings {
        meetings,
        all: true,
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
    ) -> impl Iterator<Item = (Link, Unordered<'s>)> {
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
            let others = Unordered {
                strand: other.strand,
                accesses: &other.accesses[low..high],
            };
            (link, others)
        })
    }
}

/// Accesses of a group that nothing orders with an access of another.
#[derive(Clone, Copy)]
pub struct Unordered<'a> {
    strand: u32,
    accesses: &'a [u32],
}

impl<'a> Unordered<'a> {
    /// How many there are.
    pub fn count(self) -> u64 {
        self.accesses.len() as u64
    }

    /// All of them, in the order of their chain.
    pub fn links(self) -> impl Iterator<Item = Link> + 'a {
        let strand = self.strand;
        self.accesses
            .iter()
            .map(move |&index| Link { strand, index })
    }

    /// The one that is nearest to a number in the trace. There may be very many, and numbers grow along a
    /// chain.
    pub fn nearest(self, number: u32, skeleton: &Skeleton) -> Option<Link> {
        let strand = self.strand;
        let number_of = |index| skeleton.number(Link { strand, index });
        let later = self.accesses.partition_point(|&i| number_of(i) < number);
        let near = &self.accesses[later.saturating_sub(1)..];
        let near = near.iter().take(2).copied();
        let nearest = near.min_by_key(|&index| number_of(index).abs_diff(number));
        nearest.map(|index| Link { strand, index })
    }
}

/// Makes a [`Skeleton`], and notes the accesses of the locations that can race.
pub struct Collector {
    builder: Builder,
    /// By location: which of the groups, for those that can race.
    places: Vec<u32>,
    groups: Vec<(Location, Vec<Group>)>,
    /// Which group of a location it is, for those that are not among its last ones.
    known: FxHashMap<(u32, GroupKey), usize>,
}

/// Strand, place, kind, whether it is atomic, and the locks held.
type GroupKey = (u32, Site, AccessKind, bool, LocksetId);

const CANNOT_RACE: u32 = u32::MAX;

/// How many of a location's last groups are looked at before the table of all is.
const NEAR: usize = 8;

impl Collector {
    /// Before the first event of a trace with these names, in which some locations matter, and some of
    /// those can race.
    pub fn new(names: &Names, matter: &FixedBitSet, can_race: &FixedBitSet) -> Collector {
        let mut places = vec![CANNOT_RACE; names.locations.len()];
        let mut groups = Vec::new();
        for x in can_race.ones() {
            places[x] = groups.len() as u32;
            groups.push((Location(x as u64), Vec::new()));
        }
        Collector {
            builder: Builder::new(names, matter),
            places,
            groups,
            known: FxHashMap::default(),
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
    fn note(&mut self, at: At, x: Location, kind: AccessKind, atomic: bool) {
        let place = self.places[x.index()];
        if place == CANNOT_RACE {
            return;
        }
        let index = self.builder.last(at.strand).index;
        let held = self.builder.held(at.strand);
        let groups = &mut self.groups[place as usize].1;
        let key = (at.strand.0, at.site, kind, atomic, held);
        let last = groups.iter_mut().rev().take(NEAR);
        for group in last {
            if (
                group.strand,
                group.site,
                group.kind,
                group.atomic,
                group.held,
            ) == key
            {
                group.accesses.push(index);
                return;
            }
        }
        let known = self.known.entry((place, key)).or_insert(groups.len());
        match groups.get_mut(*known) {
            Some(group) => group.accesses.push(index),
            None => groups.push(Group {
                strand: at.strand.0,
                site: at.site,
                kind,
                atomic,
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
