//! All pairs of accesses that race under a partial order, among the locations that are known to.
//!
//! For each location and strand, accesses at one place and of one kind are kept together in a list, in the
//! order of the strand's times. An access races with those of each other strand that come after what its clock
//! covers of that strand: the end of each list, found by binary search. A strand's lists are linked by their
//! last accesses, the latest first; so the lists that race come first, and none behind them is looked at. What
//! comes before all that is still to come is forgotten.
//! Pairs of events are put together by pairs of places in the source.
//!
//! Cost: an access is compared with one list of each strand that accessed its location, and with every list that
//! it races with. Very many comparisons, or pairs where all pairs are wanted, end the search:
//! [`Findings::all_listed`] then is false, and every location that races still has a pair.

use deadheat_model::{AccessKind, Findings, Location, Race, RacingAccess, Site, Strand};
use deadheat_order::{Clock, Time};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::At;
use super::accesses::History;
use crate::engine::Listing;

/// How many comparisons of an access with a list are made once every location has a pair.
pub const MAX_COMPARED: u64 = 200_000_000;

/// How many pairs are kept where all are wanted.
pub const MAX_PAIRS: usize = 1_000_000;

/// Accesses of one strand, at one place, of one kind.
struct List {
    access: RacingAccess,
    atomic: bool,
    /// Each with the strand's time and its number.
    accesses: SmallVec<[(Time, u64); 1]>,
    /// The strand's list whose last access is the next before, and the next after; or [`NO_LIST`].
    older: u32,
    newer: u32,
}

const NO_LIST: u32 = u32::MAX;

/// The accesses to one location.
#[derive(Default)]
struct OfLocation {
    /// Each strand's last access; close together, because most accesses race with none of them.
    last: SmallVec<[(Strand, Time); 4]>,
    /// In the same order.
    strands: Vec<OfStrand>,
}

/// The accesses of one strand to one location.
struct OfStrand {
    lists: Vec<List>,
    /// The list with the last access.
    newest: u32,
    /// Which list it is, once there are many.
    index: Option<Box<FxHashMap<Place, u32>>>,
}

/// A place, a kind, and whether it is atomic.
type Place = (Site, AccessKind, bool);

/// How many lists are looked through one by one.
const FEW_LISTS: usize = 16;

impl OfStrand {
    fn new() -> OfStrand {
        OfStrand {
            lists: Vec::new(),
            newest: NO_LIST,
            index: None,
        }
    }

    fn find(&self, place: Place) -> Option<u32> {
        if let Some(index) = &self.index {
            return index.get(&place).copied();
        }
        let is_it = |list: &List| (list.access.site, list.access.kind, list.atomic) == place;
        let found = self.lists.iter().position(is_it);
        found.map(|found| found as u32)
    }

    /// Notes an access, the strand's last.
    fn add(&mut self, access: RacingAccess, atomic: bool, time: Time) {
        let place = (access.site, access.kind, atomic);
        let at = self.find(place).unwrap_or_else(|| {
            self.lists.push(List {
                access,
                atomic,
                accesses: SmallVec::new(),
                older: NO_LIST,
                newer: NO_LIST,
            });
            let at = self.lists.len() as u32 - 1;
            if let Some(index) = &mut self.index {
                index.insert(place, at);
            } else if self.lists.len() > FEW_LISTS {
                let places = self.lists.iter();
                let places = places.map(|l| (l.access.site, l.access.kind, l.atomic));
                self.index = Some(Box::new(places.zip(0..).collect()));
            }
            at
        });
        self.lists[at as usize].accesses.push((time, access.event));
        if self.newest == at {
            return;
        }
        let List { older, newer, .. } = self.lists[at as usize];
        if older != NO_LIST {
            self.lists[older as usize].newer = newer;
        }
        if newer != NO_LIST {
            self.lists[newer as usize].older = older;
        }
        if self.newest != NO_LIST {
            self.lists[self.newest as usize].newer = at;
        }
        self.lists[at as usize].older = self.newest;
        self.lists[at as usize].newer = NO_LIST;
        self.newest = at;
    }

    /// Drops the lists that have no access after a time. To do that each time their number has doubled costs nothing.
    fn forget(&mut self, upto: Time) {
        let is_over = |list: &List| list.accesses.last().is_none_or(|(last, _)| *last <= upto);
        let doubled = self.lists.len() > 1 && self.lists.len().is_power_of_two();
        if !doubled || !self.lists.iter().any(is_over) {
            return;
        }
        self.index = None;
        let mut lists = std::mem::take(&mut self.lists);
        lists.retain(|list| !is_over(list));
        // The order of their last accesses is that of the links.
        lists.sort_by_key(|list| list.accesses.last().copied());
        for (list, at) in lists.iter_mut().zip(0u32..) {
            list.older = at.checked_sub(1).unwrap_or(NO_LIST);
            list.newer = at + 1;
        }
        if let Some(last) = lists.last_mut() {
            last.newer = NO_LIST;
        }
        self.newest = (lists.len() as u32).checked_sub(1).unwrap_or(NO_LIST);
        self.lists = lists;
    }

    /// The lists with accesses after a time, the latest first.
    fn after(&self, time: Time) -> impl Iterator<Item = &List> {
        let get = |at: u32| self.lists.get(at as usize);
        let lists = std::iter::successors(get(self.newest), move |list| get(list.older));
        lists.take_while(move |list| list.accesses.last().is_some_and(|(last, _)| *last > time))
    }
}

/// What races are listed by: their places; or their location, too, and what is done at each place.
type Key = (Option<Location>, [(Site, AccessKind); 2]);

fn key(race: &Race, listing: Listing) -> Key {
    match listing {
        Listing::Locations => (Some(race.location), race.ends()),
        Listing::Places | Listing::Pairs => {
            let (one, other) = race.places();
            (None, [(one, AccessKind::Read), (other, AccessKind::Read)])
        }
    }
}

/// Collects the pairs that race.
pub struct Pairs {
    listing: Listing,
    /// How many pairs of events are kept for a pair of places.
    most: usize,
    suspects: FixedBitSet,
    accessed: FxHashMap<Location, OfLocation>,
    /// Of each strand, what comes before all accesses that are still to come.
    covered: Vec<Time>,
    racy: FixedBitSet,
    /// Where in `races` those of a key are.
    listed: FxHashMap<Key, u32>,
    /// The key that was looked up last: threads that do the same race with each other at the same places.
    last: Option<(Key, u32)>,
    races: Vec<Vec<Race>>,
    kept: usize,
    compared: u64,
    complete: bool,
}

impl Pairs {
    /// Collects the pairs of some locations: for each pair of places, or location and pair of places, the
    /// first `most` pairs of events, of which the first counts all.
    pub fn new(suspects: FixedBitSet, listing: Listing, most: usize) -> Pairs {
        Pairs {
            listing,
            most,
            racy: FixedBitSet::with_capacity(suspects.len()),
            suspects,
            accessed: FxHashMap::default(),
            covered: Vec::new(),
            listed: FxHashMap::default(),
            last: None,
            races: Vec::new(),
            kept: 0,
            compared: 0,
            complete: true,
        }
    }

    /// What was found, in so many events.
    pub fn found(self, judged: u64) -> Findings {
        let races = self.races.into_iter().flatten().collect();
        Findings {
            racy: self.racy.ones().map(|x| Location(x as u64)).collect(),
            ..Findings::listed(races, self.complete, judged)
        }
    }

    fn add(&mut self, clock: &Clock, at: At, x: Location, kind: AccessKind, atomic: bool) {
        let second = RacingAccess {
            event: at.number,
            strand: at.strand,
            site: at.site,
            kind,
        };
        let OfLocation { last, strands } = self.accessed.entry(x).or_default();
        let enough = self.compared >= MAX_COMPARED || self.kept >= MAX_PAIRS;
        if enough && self.racy.contains(x.index()) {
            self.complete = false;
            return;
        }
        self.compared += strands.len() as u64;
        let others = last.iter().zip(0..).filter_map(|(&(strand, last), place)| {
            let covered = clock.get(strand);
            (strand != at.strand && last > covered).then_some((place, covered))
        });
        let lists = others.flat_map(|(place, covered): (usize, Time)| {
            let lists = strands[place].after(covered);
            lists.map(move |list| (list, covered))
        });
        for (list, covered) in lists {
            self.compared += 1;
            let other = list.access;
            let reads = kind == AccessKind::Read && other.kind == AccessKind::Read;
            if reads || atomic && list.atomic {
                continue;
            }
            let start = list.accesses.partition_point(|(time, _)| *time <= covered);
            self.racy.insert(x.index());
            let racing = &list.accesses[start..];
            let race = Race {
                location: x,
                first: RacingAccess {
                    event: racing[0].1,
                    ..other
                },
                second,
                count: 0,
            };
            let key = key(&race, self.listing);
            let place = match self.last {
                Some((last, place)) if last == key => place,
                _ => *self.listed.entry(key).or_insert_with(|| {
                    self.races.push(Vec::new());
                    self.races.len() as u32 - 1
                }),
            };
            self.last = Some((key, place));
            let known = &mut self.races[place as usize];
            let room = self.most - known.len();
            self.kept += room.min(racing.len());
            known.extend(racing.iter().take(room).map(|&(_, event)| Race {
                first: RacingAccess { event, ..other },
                ..race
            }));
            // Of several that the same access races with, the first stands for all.
            if self.most == 1 && race.key() < known[0].key() {
                known[0] = Race {
                    count: known[0].count,
                    ..race
                };
            }
            match self.most {
                usize::MAX => known
                    .iter_mut()
                    .rev()
                    .take(racing.len())
                    .for_each(|r| r.count = 1),
                _ => known[0].count += racing.len() as u64,
            }
        }
        let mine = last.iter().position(|(strand, _)| *strand == at.strand);
        let mine = mine.unwrap_or_else(|| {
            last.push((at.strand, 0));
            strands.push(OfStrand::new());
            strands.len() - 1
        });
        let now = clock.get(at.strand);
        last[mine].1 = now;
        let covered = self.covered.get(at.strand.index());
        strands[mine].forget(covered.copied().unwrap_or(0));
        strands[mine].add(second, atomic, now);
    }
}

impl History for Pairs {
    #[inline]
    fn access(&mut self, clock: &Clock, at: At, x: Location, kind: AccessKind) {
        if self.suspects.contains(x.index()) {
            self.add(clock, at, x, kind, false);
        }
    }

    fn atomic(&mut self, clock: &Clock, at: At, x: Location, kind: AccessKind) {
        if self.suspects.contains(x.index()) {
            self.add(clock, at, x, kind, true);
        }
    }

    fn forget(&mut self, covered: &[Time]) {
        self.covered.clear();
        self.covered.extend_from_slice(covered);
    }
}
