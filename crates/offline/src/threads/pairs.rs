//! All pairs of accesses that race under a partial order, among the locations that are known to.
//!
//! For each location, accesses of one strand at one place and of one kind are kept together, in the
//! order of the strand's times. An access races with those of each other strand that come after what
//! its clock covers of that strand: the end of each list, found by binary search. Pairs of events are
//! put together by pairs of places in the source.
//!
//! Cost: an access is compared with every list of its location. Very many comparisons, or pairs where
//! all pairs are wanted, end the search: [`Found::complete`] then is false, and every location that
//! races still has a pair.

use deadheat_model::{AccessKind, Location, Race, RacingAccess, Site};
use deadheat_order::{Clock, Time};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::At;
use super::accesses::History;

/// How many comparisons of an access with a list are made once every location has a pair.
pub const MAX_COMPARED: u64 = 200_000_000;

/// How many pairs are kept where all are wanted.
pub const MAX_PAIRS: usize = 1_000_000;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The races, in the order of their second accesses.
    pub races: Vec<Race>,
    /// The locations that race.
    pub locations: Vec<Location>,
    /// Whether these are all races, and their counts exact.
    pub complete: bool,
}

/// Accesses of one strand, at one place, of one kind.
struct List {
    access: RacingAccess,
    atomic: bool,
    /// Each with the strand's time and its number.
    accesses: Vec<(Time, u64)>,
}

/// Collects the pairs that race.
pub struct Pairs {
    /// How many pairs of events are kept for a pair of places.
    most: usize,
    suspects: FixedBitSet,
    lists: FxHashMap<Location, Vec<List>>,
    racy: FixedBitSet,
    by_places: FxHashMap<(Site, Site), Vec<Race>>,
    kept: usize,
    compared: u64,
    complete: bool,
}

impl Pairs {
    /// Collects the pairs of some locations: for each pair of places the first `most` pairs of events,
    /// of which the first counts all.
    pub fn new(suspects: FixedBitSet, most: usize) -> Pairs {
        Pairs {
            most,
            racy: FixedBitSet::with_capacity(suspects.len()),
            suspects,
            lists: FxHashMap::default(),
            by_places: FxHashMap::default(),
            kept: 0,
            compared: 0,
            complete: true,
        }
    }

    /// What was found.
    pub fn found(self) -> Found {
        let mut races: Vec<Race> = self.by_places.into_values().flatten().collect();
        races.sort_unstable_by_key(|race| (race.second.event, race.first.event));
        Found {
            races,
            locations: self.racy.ones().map(|x| Location(x as u64)).collect(),
            complete: self.complete,
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
            let places = (at.site.min(other.site), at.site.max(other.site));
            let known = self.by_places.entry(places).or_default();
            let racing = &list.accesses[start..];
            let room = self.most - known.len();
            self.kept += room.min(racing.len());
            known.extend(racing.iter().take(room).map(|&(_, event)| Race {
                location: x,
                first: RacingAccess { event, ..other },
                second,
                count: 0,
            }));
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
