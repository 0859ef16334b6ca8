//! All pairs of accesses that race under a partial order, among the locations that are known to.
//!
//! For each location, accesses of one strand at one place and of one kind are kept together, in the
//! order of the strand's times. An access races with those of each other strand that come after what
//! its clock covers of that strand: the end of each list, found by binary search. Pairs of events are
//! put together by pairs of places in the source.
//!
//! Cost: an access is compared with every list of its location. Very many comparisons, or pairs where
//! all pairs are wanted, end the search: [`Findings::all_listed`] then is false, and every location that
//! races still has a pair.

use deadheat_model::{AccessKind, Findings, Location, Race, RacingAccess, Site};
use deadheat_order::{Clock, Time};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

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
    accesses: Vec<(Time, u64)>,
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
    lists: FxHashMap<Location, Vec<List>>,
    racy: FixedBitSet,
    listed: FxHashMap<Key, Vec<Race>>,
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
            lists: FxHashMap::default(),
            listed: FxHashMap::default(),
            kept: 0,
            compared: 0,
            complete: true,
        }
    }

    /// What was found, in so many events.
    pub fn found(self, judged: u64) -> Findings {
        let races = self.listed.into_values().flatten().collect();
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
        let lists = self.lists.entry(x).or_default();
        let enough = self.compared >= MAX_COMPARED || self.kept >= MAX_PAIRS;
        if enough && self.racy.contains(x.index()) {
            self.complete = false;
            return;
        }
        self.compared += lists.len() as u64;
        let mut own = None;
        for (index, list) in lists.iter().enumerate() {
            let other = list.access;
            if other.strand == at.strand {
                if (other.site, other.kind, list.atomic) == (at.site, kind, atomic) {
                    own = Some(index);
                }
                continue;
            }
            let reads = kind == AccessKind::Read && other.kind == AccessKind::Read;
            if reads || atomic && list.atomic {
                continue;
            }
            let covered = clock.get(other.strand);
            let start = list.accesses.partition_point(|(time, _)| *time <= covered);
            if start == list.accesses.len() {
                continue;
            }
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
            let known = self.listed.entry(key(&race, self.listing)).or_default();
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
        let now = (clock.get(at.strand), at.number);
        match own {
            Some(own) => lists[own].accesses.push(now),
            None => lists.push(List {
                access: second,
                atomic,
                accesses: vec![now],
            }),
        }
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
}
