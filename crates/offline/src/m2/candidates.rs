//! Pairs of accesses that may race: the order that every correct reordering preserves leaves them unordered, and
//! they have no lock in common.
//!
//! The accesses to a location are in [groups](super::groups). Two
//! groups of different strands that conflict and share no lock are compared: as what an access needs
//! only grows along its strand, the accesses of one group that are not ordered with a given one of the
//! other are neighbours, and both ends of that range only move forward.

use deadheat_model::{AccessKind, Location, Lock, Names, Site, Strand};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

use super::groups::{Group, GroupKey, Groups};
use super::skeleton::{Access, Builder, Link, Skeleton};
use crate::threads::{At, Publish, Slot, ThreadEngine};

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

/// How many groups are compared, all locations together; and of a location that comes after these.
const MAX_COMPARED: u64 = 1 << 31;
const FEW_COMPARED: u64 = 1 << 12;

/// How many numbers may be gathered for one location.
const MAX_ROWS: usize = 1 << 22;

/// The groups of a location that may meet.
pub struct Meetings<'a> {
    /// The pairs of groups, by their two places.
    pub meetings: Vec<Meeting<'a>>,
    /// Whether these are all.
    pub all: bool,
}

/// About how many groups are compared at a time, on all cores.
const AT_A_TIME: u64 = 1 << 20;

impl Candidates {
    /// Calls with the groups that may meet of each location that can race, in their order.
    pub fn meetings<'a>(&'a self, skeleton: &'a Skeleton, mut each: impl FnMut(Meetings<'a>)) {
        let mut room = MAX_MEETINGS;
        let mut compared = 0;
        let mut rest = &self.groups[..];
        while !rest.is_empty() {
            let most = match compared < MAX_COMPARED {
                true => (room.max(FEW_MEETINGS), MAX_COMPARED),
                false => (FEW_MEETINGS, FEW_COMPARED),
            };
            let mut count = 0;
            let some = rest.iter().take_while(|(_, groups)| {
                let before = count;
                count += (groups.len() * groups.len() / 2) as u64;
                before == 0 || count <= AT_A_TIME
            });
            let (some, others) = rest.split_at(some.count());
            rest = others;
            compared += count;
            let found = some.par_iter().with_min_len(16);
            let found = found.map_init(Needs::default, |needs, (location, groups)| {
                needs.gather(groups, skeleton);
                meetings(*location, groups, skeleton, needs, most)
            });
            for found in found.collect::<Vec<_>>() {
                room = room.saturating_sub(found.meetings.len());
                each(found);
            }
        }
    }
}

/// What the accesses of a location need of other strands, close together, if each group has but one.
#[derive(Default)]
struct Needs {
    strands: usize,
    /// A row a group; none if some group has several accesses, or it would be too many.
    rows: Vec<u32>,
}

impl Needs {
    fn gather(&mut self, groups: &[Group], skeleton: &Skeleton) {
        self.strands = skeleton.strands();
        self.rows.clear();
        let single = groups.iter().all(|group| group.accesses.len() == 1);
        if single && groups.len() * self.strands <= MAX_ROWS {
            for group in groups {
                let need = |other| skeleton.need_of(group.key.strand, group.accesses[0], other);
                self.rows.extend((0..self.strands as u32).map(need));
            }
        }
    }

    /// Whether nothing orders some access of a group with some access of another.
    fn may_meet(
        &self,
        (one, at_one): (&Group, usize),
        (other, at_other): (&Group, usize),
        skeleton: &Skeleton,
    ) -> bool {
        if self.rows.is_empty() {
            let meeting = Meeting {
                location: Location(0),
                one,
                other,
            };
            return meeting
                .unordered(skeleton)
                .any(|(_, them)| them.count() > 0);
        }
        let need = |at: usize, of: &Group| self.rows[at * self.strands + of.key.strand as usize];
        need(at_one, other) <= other.accesses[0].index
            && need(at_other, one) <= one.accesses[0].index
    }
}

fn meetings<'a>(
    location: Location,
    groups: &'a [Group],
    skeleton: &Skeleton,
    needs: &Needs,
    (most, mut compare): (usize, u64),
) -> Meetings<'a> {
    let mut meetings = Vec::new();
    let mut all = true;
    'all: for (at_one, one) in groups.iter().enumerate() {
        for (at_other, other) in groups[..at_one].iter().enumerate() {
            let writes = one.key.kind == AccessKind::Write || other.key.kind == AccessKind::Write;
            if !writes
                || one.key.atomic && other.key.atomic
                || one.key.strand == other.key.strand
                || !skeleton.locksets.disjoint(one.key.held, other.key.held)
            {
                continue;
            }
            if meetings.len() == most || compare == 0 {
                all = false;
                break 'all;
            }
            compare -= 1;
            if needs.may_meet((one, at_one), (other, at_other), skeleton) {
                meetings.push(Meeting {
                    location,
                    one,
                    other,
                });
            }
        }
    }
    meetings.sort_by_key(Meeting::places);
    Meetings { meetings, all }
}

impl Meeting<'_> {
    /// The two places, the smaller first.
    pub fn places(&self) -> (Site, Site) {
        let (a, b) = (self.one.key.site, self.other.key.site);
        (a.min(b), a.max(b))
    }

    /// Where in the source an access of one of the two groups is, and its kind.
    pub fn access(&self, access: Link) -> (Site, AccessKind) {
        match access.strand == self.one.key.strand {
            true => (self.one.key.site, self.one.key.kind),
            false => (self.other.key.site, self.other.key.kind),
        }
    }

    /// For each access of one group, in the order of its chain, those of the other that nothing orders
    /// with it.
    pub fn unordered<'s>(
        &'s self,
        skeleton: &'s Skeleton,
    ) -> impl Iterator<Item = (Link, ConcurrentAccesses<'s>)> {
        let (one, other) = (self.one, self.other);
        let (mut low, mut high) = (0, 0);
        (0..one.accesses.len()).map(move |access| {
            let link = one.link(access);
            let needed = skeleton.need_of(one.key.strand, one.accesses[access], other.key.strand);
            while low < other.accesses.len() && other.accesses[low].index < needed {
                low += 1;
            }
            high = high.max(low);
            while high < other.accesses.len()
                && skeleton.need_of(other.key.strand, other.accesses[high], one.key.strand)
                    <= link.index
            {
                high += 1;
            }
            let others = ConcurrentAccesses {
                strand: other.key.strand,
                accesses: &other.accesses[low..high],
            };
            (link, others)
        })
    }
}

/// Accesses of a group that nothing orders with an access of another.
#[derive(Clone, Copy)]
pub struct ConcurrentAccesses<'a> {
    strand: u32,
    accesses: &'a [Access],
}

impl<'a> ConcurrentAccesses<'a> {
    /// How many there are.
    pub fn count(self) -> u64 {
        self.accesses.len() as u64
    }

    /// All of them, in the order of their chain.
    pub fn links(self) -> impl Iterator<Item = Link> + 'a {
        let strand = self.strand;
        self.accesses
            .iter()
            .map(move |&Access { index, .. }| Link { strand, index })
    }

    /// The one that is nearest to a number in the trace. There may be very many, and numbers grow along a
    /// chain.
    pub fn nearest(self, number: u32, skeleton: &Skeleton) -> Option<Link> {
        let strand = self.strand;
        let number_of = |index| skeleton.number(Link { strand, index });
        let later = self
            .accesses
            .partition_point(|access| number_of(access.index) < number);
        let near = &self.accesses[later.saturating_sub(1)..];
        let near = near.iter().take(2).map(|access| access.index);
        let nearest = near.min_by_key(|&index| number_of(index).abs_diff(number));
        nearest.map(|index| Link { strand, index })
    }
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
