//! Pairs of accesses that may race: the order that every correct reordering preserves leaves them unordered, and
//! they have no lock in common.
//!
//! Two groups of different strands that conflict and share no lock may meet. As what an access needs only grows along
//! its strand, the accesses of a strand that are not ordered with a given one of another are neighbours. So there are two
//! ways to find whom a group meets: compare it with each other group, where both ends of that range only move forward; or
//! look the range up for each of its accesses, and see whose accesses are in it. A location with very many groups is
//! mostly one whose accesses are ordered but for the nearest, and then the ranges are short. The cheaper way is taken.

use std::collections::BTreeMap;

use deadheat_model::{AccessKind, Location, Site, StopReason, StopToken};
use rayon::prelude::*;

use super::candidates::Candidates;
use super::groups::Group;
use super::skeleton::{Access, Link, Skeleton};

/// Two groups of one location whose accesses may race.
#[derive(Clone, Copy)]
pub struct Meeting<'a> {
    /// What both access.
    pub location: Location,
    one: &'a Group,
    other: &'a Group,
}

/// How many meetings are looked at, all locations together: 400 MB; and of a location that comes after these, so
/// that each that races is likely to be found.
const MAX_MEETINGS: usize = 1 << 24;
const FEW_MEETINGS: usize = 64;

/// How many accesses are compared, all locations together; and of a location that comes after these.
const MAX_COMPARED: u64 = 1 << 31;
const FEW_COMPARED: u64 = 1 << 12;

/// About how many accesses are compared at a time, on all cores; and how many on one core, because less is not worth
/// the others.
const AT_A_TIME: u64 = 1 << 20;
const ON_ONE_CORE: u64 = 1 << 14;

/// How many numbers may be gathered for one location.
const MAX_ROWS: usize = 1 << 22;

/// The groups of a location that may meet.
pub struct Meetings<'a> {
    /// The pairs of groups, by their two places.
    pub meetings: Vec<Meeting<'a>>,
    /// Whether these are all.
    pub all: bool,
}

impl Candidates {
    /// Calls with the groups that may meet of each location that can race, in their order; until it is time to stop,
    /// and then says why.
    pub fn meetings<'a>(
        &'a self,
        skeleton: &'a Skeleton,
        stop: StopToken,
        mut each: impl FnMut(Meetings<'a>),
    ) -> Option<StopReason> {
        let mut room = MAX_MEETINGS;
        let mut compared = 0;
        let mut rest = &self.groups[..];
        while !rest.is_empty() {
            let most = match compared < MAX_COMPARED {
                true => Bounds {
                    meetings: room.max(FEW_MEETINGS),
                    compared: MAX_COMPARED - compared,
                },
                false => Bounds {
                    meetings: FEW_MEETINGS,
                    compared: FEW_COMPARED,
                },
            };
            let mut count = 0;
            let some = rest.iter().take_while(|(_, groups)| {
                let before = count;
                count += (groups.len() * groups.len() / 2) as u64;
                before == 0 || count <= AT_A_TIME
            });
            let (some, others) = rest.split_at(some.count());
            rest = others;
            let found = some.par_iter().with_min_len(16);
            let found = found.map_init(Vec::new, |rows, (location, groups)| {
                Comparison::new(*location, groups, skeleton, rows).meetings(most, stop)
            });
            for (found, cost) in found.collect::<Vec<_>>() {
                room = room.saturating_sub(found.meetings.len());
                compared += cost;
                each(found);
            }
            if let Some(why) = stop.due() {
                return Some(why);
            }
        }
        None
    }
}

/// How much is looked at for one location.
#[derive(Clone, Copy)]
struct Bounds {
    meetings: usize,
    compared: u64,
}

/// An access, and which group it is in.
type Member = (Access, u32);

/// The groups of one location, to be compared with each other.
struct Comparison<'a, 's> {
    location: Location,
    groups: &'a [Group],
    skeleton: &'a Skeleton,
    /// What each group needs of all strands, close together, if each has but one access; none if some group has
    /// several, or it would be too many.
    needs: &'s [u32],
    /// By strand, if it has any: its accesses, in their order. None if the groups are few.
    strands: Vec<(u32, Vec<Member>)>,
}

/// From how many groups on it may be cheaper to look for accesses.
const MANY: usize = 256;

impl<'a, 's> Comparison<'a, 's> {
    fn new(
        location: Location,
        groups: &'a [Group],
        skeleton: &'a Skeleton,
        needs: &'s mut Vec<u32>,
    ) -> Comparison<'a, 's> {
        needs.clear();
        let strands = skeleton.strands();
        let single = groups.iter().all(|group| group.accesses.len() == 1);
        if single && groups.len() * strands <= MAX_ROWS {
            for group in groups {
                let need = |other| skeleton.need_of(group.key.strand, group.accesses[0], other);
                needs.extend((0..strands as u32).map(need));
            }
        }
        let strands = match groups.len() < MANY {
            true => Vec::new(),
            false => by_strand(groups),
        };
        Comparison {
            location,
            groups,
            skeleton,
            needs,
            strands,
        }
    }

    /// The groups that may meet, and how many accesses were compared to know.
    fn meetings(&self, most: Bounds, stop: StopToken) -> (Meetings<'a>, u64) {
        let mut meetings = Vec::new();
        let mut compared = 0;
        let mut next = 0;
        while next < self.groups.len() {
            let enough = compared >= most.compared || meetings.len() >= most.meetings;
            if enough || stop.due().is_some() {
                break;
            }
            let room = AT_A_TIME.min(most.compared - compared);
            let mut most_cost = 0;
            let some = (next..self.groups.len()).take_while(|&at| {
                let before = most_cost;
                most_cost += self.cost_by_groups(at);
                before == 0 || most_cost <= room
            });
            let some = next..next + some.count();
            next = some.end;
            if most_cost <= ON_ONE_CORE {
                let cost = some.map(|at| self.meet(at, &mut meetings));
                compared += cost.sum::<u64>();
            } else {
                let found = some.into_par_iter();
                let found = found.fold(Default::default, |(mut found, cost), at| {
                    let more = self.meet(at, &mut found);
                    (found, cost + more)
                });
                for (found, cost) in found.collect::<Vec<(Vec<Meeting>, u64)>>() {
                    meetings.extend(found);
                    compared += cost;
                }
            }
        }
        let all = next == self.groups.len() && meetings.len() <= most.meetings;
        meetings.truncate(most.meetings);
        // In place, as there may be very many; in the order of their groups.
        meetings.par_sort_unstable_by_key(|m| (m.places(), m.one.first, m.other.first));
        (Meetings { meetings, all }, compared)
    }

    /// How many accesses at most are compared to know which groups before this one it meets.
    fn cost_by_groups(&self, at: usize) -> u64 {
        (at * self.groups[at].accesses.len()) as u64
    }

    /// Adds the meetings of a group with those before it. Gives how many accesses were compared.
    fn meet(&self, at: usize, meetings: &mut Vec<Meeting<'a>>) -> u64 {
        let one = &self.groups[at];
        let meeting = |other: usize| Meeting {
            location: self.location,
            one,
            other: &self.groups[other],
        };
        let by_groups = self.cost_by_groups(at);
        let by_accesses = self.cost_of_ranges(at);
        if by_accesses < by_groups
            && let Some(mut others) = self.in_ranges(at, by_groups - by_accesses)
        {
            let cost = by_accesses + others.len() as u64;
            others.sort_unstable();
            others.dedup();
            others.retain(|&other| self.conflict(at, other as usize));
            meetings.extend(others.into_iter().map(|other| meeting(other as usize)));
            return cost;
        }
        let mut cost = 0;
        let others = (0..at).filter(|&other| {
            self.conflict(at, other) && {
                let (may_meet, compared) = self.may_meet(at, other);
                cost += compared;
                may_meet
            }
        });
        meetings.extend(others.map(meeting));
        cost
    }

    /// Whether two groups would race if they met.
    fn conflict(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.groups[one].key, self.groups[other].key);
        (one.kind == AccessKind::Write || other.kind == AccessKind::Write)
            && !(one.atomic && other.atomic)
            && one.strand != other.strand
            && self.skeleton.locksets.disjoint(one.held, other.held)
    }

    /// Whether nothing orders some access of a group with some access of another, and how many of the first were compared
    /// to know.
    fn may_meet(&self, at_one: usize, at_other: usize) -> (bool, u64) {
        let (one, other) = (&self.groups[at_one], &self.groups[at_other]);
        if self.needs.is_empty() {
            let meeting = Meeting {
                location: self.location,
                one,
                other,
            };
            let mut unordered = meeting.unordered(self.skeleton);
            let found = unordered.position(|(_, them)| them.count() > 0);
            let compared = found.map_or(one.accesses.len(), |first| first + 1);
            return (found.is_some(), compared as u64);
        }
        let strands = self.skeleton.strands();
        let need = |at: usize, of: &Group| self.needs[at * strands + of.key.strand as usize];
        let may_meet = need(at_one, other) <= other.accesses[0].index
            && need(at_other, one) <= one.accesses[0].index;
        (may_meet, 1)
    }

    /// About how many accesses are compared to find the ranges of a group's accesses.
    fn cost_of_ranges(&self, at: usize) -> u64 {
        let steps = self.groups.len().ilog2() as usize;
        match self.strands.is_empty() {
            true => u64::MAX,
            false => (self.groups[at].accesses.len() * self.strands.len() * steps) as u64,
        }
    }

    /// The groups before this one with accesses that nothing orders with some access of it, an entry an access;
    /// unless there are more than so many accesses, of whatever groups.
    fn in_ranges(&self, at: usize, most: u64) -> Option<Vec<u32>> {
        let Group { key, accesses, .. } = &self.groups[at];
        let skeleton = self.skeleton;
        let mut count = 0;
        let mut others = Vec::new();
        let strands = self.strands.iter();
        for (strand, members) in strands.filter(|(strand, _)| *strand != key.strand) {
            for &access in accesses {
                let needed = skeleton.need_of(key.strand, access, *strand);
                let low = members.partition_point(|(member, _)| member.index < needed);
                let members = &members[low..];
                let high = members.partition_point(|&(member, _)| {
                    skeleton.need_of(*strand, member, key.strand) <= access.index
                });
                count += high as u64;
                if count > most {
                    return None;
                }
                let groups = members[..high].iter().map(|(_, group)| *group);
                others.extend(groups.filter(|&group| (group as usize) < at));
            }
        }
        Some(others)
    }
}

/// The accesses of all groups, by strand, in their order.
fn by_strand(groups: &[Group]) -> Vec<(u32, Vec<Member>)> {
    let mut strands: BTreeMap<u32, Vec<Member>> = BTreeMap::new();
    for (group, at) in groups.iter().zip(0..) {
        let members = strands.entry(group.key.strand).or_default();
        members.extend(group.accesses.iter().map(|&access| (access, at)));
    }
    for members in strands.values_mut() {
        members.sort_unstable_by_key(|(access, _)| access.index);
    }
    strands.into_iter().collect()
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
            low = first_from(&other.accesses, low, |other| other.index >= needed);
            high = first_from(&other.accesses, high.max(low), |access| {
                skeleton.need_of(other.key.strand, access, one.key.strand) > link.index
            });
            let others = ConcurrentAccesses {
                strand: other.key.strand,
                accesses: &other.accesses[low..high],
            };
            (link, others)
        })
    }
}

/// The first access from there on of which something holds that then holds of all later ones: near ones are looked at
/// first, in steps that double.
fn first_from(accesses: &[Access], from: usize, holds: impl Fn(Access) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    while low + step <= accesses.len() && !holds(accesses[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let end = accesses.len().min(low + step - 1);
    low + accesses[low..end].partition_point(|&access| !holds(access))
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

#[cfg(test)]
mod tests {
    use deadheat_model::{Lock, Names, Strand};
    use fixedbitset::FixedBitSet;

    use super::super::candidates::Collector;
    use super::*;
    use crate::threads::{At, ThreadEngine};

    /// Four threads with a lock that read and write a variable, and another that is never in a race.
    fn random(rng: &mut fastrand::Rng, events: u64, places: u32) -> (Skeleton, Candidates) {
        let some = |count| vec![String::new(); count];
        let names = Names {
            strands: some(4),
            locations: some(2),
            locks: some(1),
            ..Names::default()
        };
        let mut all = FixedBitSet::with_capacity(2);
        all.insert_range(..);
        let mut first = all.clone();
        first.remove(1);
        let mut collector = Collector::new(&names, &all, &first);
        let mut holder = None;
        for number in 1..=events {
            let at = At {
                number,
                strand: Strand(rng.u32(..4)),
                site: Site(rng.u32(..places)),
            };
            let x = Location(rng.u64(..2));
            match rng.u8(..8) {
                0..3 => collector.read(at, x),
                3..6 => collector.write(at, x),
                6 => collector.atomic_read(at, x),
                _ if holder.is_none() => {
                    holder = Some(at.strand);
                    collector.acquire(at, Lock(0));
                }
                _ if holder == Some(at.strand) => {
                    holder = None;
                    collector.release(at, Lock(0));
                }
                _ => collector.atomic_update(at, x),
            }
        }
        collector.finish()
    }

    #[test]
    fn both_ways_find_the_same_groups() {
        let (mut met, mut not) = (0, 0);
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let places = rng.u32(1..40);
            let (skeleton, candidates) = random(&mut rng, 200, places);
            let (location, groups) = &candidates.groups[0];
            let mut needs = Vec::new();
            let mut all = Comparison::new(*location, groups, &skeleton, &mut needs);
            all.strands = by_strand(groups);
            for at in 0..groups.len() {
                let mut by_accesses = all.in_ranges(at, u64::MAX).unwrap();
                by_accesses.sort_unstable();
                by_accesses.dedup();
                let by_groups = (0..at).filter(|&other| {
                    groups[other].key.strand != groups[at].key.strand && all.may_meet(at, other).0
                });
                let by_groups: Vec<u32> = by_groups.map(|other| other as u32).collect();
                assert_eq!(by_accesses, by_groups, "seed {seed}, group {at}");
                met += by_groups.len();
                not += at - by_groups.len();
            }
        }
        assert!(met > 10_000 && not > 10_000, "{met} {not}");
    }

    /// Very many groups of a location, of which each is ordered with all but the nearest, are not compared in pairs.
    #[test]
    fn the_groups_of_a_hot_location_are_found_by_its_accesses() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (skeleton, candidates) = random(&mut rng, 40_000, 5_000);
        let (location, groups) = &candidates.groups[0];
        let most = Bounds {
            meetings: usize::MAX,
            compared: u64::MAX,
        };
        let mut needs = Vec::new();
        let mut comparison = Comparison::new(*location, groups, &skeleton, &mut needs);
        let places = |found: &Meetings| -> Vec<_> {
            let groups = |m: &Meeting| (m.places(), m.one.first, m.other.first);
            found.meetings.iter().map(groups).collect()
        };
        let (found, cost) = comparison.meetings(most, StopToken::default());
        comparison.strands.clear();
        let (by_groups, cost_by_groups) = comparison.meetings(most, StopToken::default());
        assert!(found.all && by_groups.all);
        assert_eq!(places(&found), places(&by_groups));
        assert!(
            cost * 20 < cost_by_groups,
            "{cost} {cost_by_groups}, {} groups",
            groups.len()
        );
    }

    #[test]
    fn comparing_ends_when_it_is_time_to_stop_or_enough_is_found() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (skeleton, candidates) = random(&mut rng, 4_000, 100);
        let ended = StopToken::default().or_after(std::time::Duration::ZERO);
        let stopped = candidates.meetings(&skeleton, ended, |found| {
            assert!(found.meetings.is_empty() && !found.all);
        });
        assert_eq!(stopped, Some(StopReason::TimeUp));
        let mut whole = 0;
        let stopped = candidates.meetings(&skeleton, StopToken::default(), |found| {
            whole += found.meetings.len();
            assert!(found.all);
        });
        assert_eq!(stopped, None);
        let (location, groups) = &candidates.groups[0];
        for meetings in [0, 1, 100, whole - 1, whole] {
            let most = Bounds {
                meetings,
                compared: u64::MAX,
            };
            let mut needs = Vec::new();
            let all = Comparison::new(*location, groups, &skeleton, &mut needs);
            let (found, _) = all.meetings(most, StopToken::default());
            assert_eq!(found.meetings.len(), meetings);
            assert_eq!(found.all, meetings == whole);
        }
    }
}
