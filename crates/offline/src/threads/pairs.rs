//! All pairs of accesses that race under a partial order, among the locations that are known to.
//!
//! Each access is compared with those of other strands that its clock does not cover ([`AccessLog`]). Pairs of events
//! are put together by pairs of places in the source.
//!
//! Cost: an access that races with nobody, one comparison for each strand that accessed its location, or a single one if
//! these are very many and came one after the other; a race, a look-up of its places. Very many comparisons, or pairs
//! where all pairs are wanted, end the search:
//! [`Findings::all_listed`] then is false, and every location that races still has a pair.

use std::collections::hash_map::Entry;

use deadheat_model::{AccessKind, Findings, Location, Race, RacingAccess, Strand};
use deadheat_order::{Time, WideClock};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::At;
use super::access_log::{AccessLog, LoggedAccess};
use super::accesses::History;
use super::place_lists::After;
use crate::engine::Listing;

/// How many comparisons are made at locations that have a pair.
pub const MAX_COMPARED: u64 = 200_000_000;

/// How many pairs are kept where all are wanted.
pub const MAX_PAIRS: usize = 1_000_000;

/// What races are listed by: their places; or their location, too, and what is done at each place. In two numbers,
/// because it is looked up for each race.
type Key = (u64, u64);

fn key(race: &Race, listing: Listing) -> Key {
    match listing {
        Listing::Locations => {
            let [one, other] = race.ends();
            let writes = |kind| u64::from(kind == AccessKind::Write);
            let what = race.location.0 << 2 | writes(one.1) << 1 | writes(other.1);
            (what, u64::from(one.0.0) << 32 | u64::from(other.0.0))
        }
        Listing::Places | Listing::Pairs => {
            let (one, other) = race.places();
            (0, u64::from(one.0) << 32 | u64::from(other.0))
        }
    }
}

/// The races of one key.
struct Races {
    first: Race,
    kept: usize,
}

/// Collects the pairs that race.
pub struct Pairs {
    log: AccessLog,
    racy: FixedBitSet,
    list: List,
}

/// The pairs so far.
struct List {
    listing: Listing,
    /// How many pairs of events are kept for a pair of places.
    most: usize,
    /// Where in `races` those of a key are.
    listed: FxHashMap<Key, u32>,
    /// The key that was looked up last: threads that do the same race with each other at the same places.
    last: Option<(Key, u32)>,
    races: Vec<Races>,
    /// Those behind the first of their keys.
    more: Vec<Race>,
    compared: u64,
    complete: bool,
}

impl List {
    /// Adds the races of an access with those of another strand at one place.
    fn add(&mut self, x: Location, first: &After<'_>, second: RacingAccess) {
        let race = Race {
            location: x,
            first: first.access,
            second,
            count: 0,
        };
        let key = key(&race, self.listing);
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => *self.listed.entry(key).or_insert_with(|| {
                self.races.push(Races {
                    first: race,
                    kept: 0,
                });
                self.races.len() as u32 - 1
            }),
        };
        self.last = Some((key, place));
        let known = &mut self.races[place as usize];
        // Of several that the same access races with, the first stands for all.
        if self.most == 1 {
            if race.key() < known.first.key() {
                known.first = Race {
                    count: known.first.count,
                    ..race
                };
            }
            known.first.count += first.count;
            known.kept = 1;
            return;
        }
        let events = first.rest.iter().map(|instant| instant.event);
        let events = std::iter::once(first.access.event).chain(events);
        let room = self.most - known.kept;
        let each_counts = self.most == usize::MAX;
        for event in events.take(room) {
            known.kept += 1;
            if known.kept > 1 {
                self.more.push(Race {
                    first: RacingAccess {
                        event,
                        ..first.access
                    },
                    count: u64::from(each_counts),
                    ..race
                });
            }
        }
        match each_counts {
            true => known.first.count = 1,
            false => known.first.count += first.count,
        }
    }

    /// Adds what was found of other locations. Of a pair of places the first is kept, or all, as if they had been found
    /// together; if it is some, there may be twice as many.
    fn add_all(&mut self, other: List) {
        for Races { first, kept } in other.races {
            let place = match self.listed.entry(key(&first, self.listing)) {
                Entry::Vacant(vacant) => {
                    vacant.insert(self.races.len() as u32);
                    self.races.push(Races { first, kept });
                    continue;
                }
                Entry::Occupied(place) => *place.get(),
            };
            let known = &mut self.races[place as usize];
            known.kept += kept;
            if self.most == usize::MAX {
                self.more.push(first);
                continue;
            }
            let count = known.first.count + first.count;
            let (mut earlier, mut later) = (known.first, first);
            if later.key() < earlier.key() {
                (earlier, later) = (later, earlier);
            }
            known.first = Race { count, ..earlier };
            if self.most > 1 {
                self.more.push(Race { count: 0, ..later });
            }
        }
        self.more.extend(other.more);
        self.compared += other.compared;
        self.complete &= other.complete;
    }

    /// Whether no more is looked for where a race is known.
    fn is_enough(&self) -> bool {
        self.compared >= MAX_COMPARED || self.races.len() + self.more.len() >= MAX_PAIRS
    }
}

impl Pairs {
    /// Collects the pairs of some locations: for each pair of places, or location and pair of places, the
    /// first `most` pairs of events, of which the first counts all.
    pub fn new(suspects: FixedBitSet, listing: Listing, most: usize) -> Pairs {
        Pairs {
            log: AccessLog::new(&suspects, most > 1),
            racy: FixedBitSet::with_capacity(suspects.len()),
            list: List {
                listing,
                most,
                listed: FxHashMap::default(),
                last: None,
                races: Vec::new(),
                more: Vec::new(),
                compared: 0,
                complete: true,
            },
        }
    }

    /// What was found of these locations, and of others.
    pub(super) fn and(mut self, other: Pairs) -> Pairs {
        self.racy.union_with(&other.racy);
        match self.list.races.len() < other.list.races.len() {
            true => {
                let less = std::mem::replace(&mut self.list, other.list);
                self.list.add_all(less);
            }
            false => self.list.add_all(other.list),
        }
        self
    }

    /// What was found, in so many events.
    pub fn found(self, judged: u64) -> Findings {
        let List {
            races,
            more,
            complete,
            ..
        } = self.list;
        let mut races: Vec<Race> = races.into_iter().map(|races| races.first).collect();
        races.extend(more);
        Findings {
            racy: self.racy.ones().map(|x| Location(x as u64)).collect(),
            ..Findings::listed(races, complete, judged)
        }
    }

    #[inline]
    fn add(&mut self, clock: &WideClock, x: Location, access: LoggedAccess) {
        let Some(slot) = self.log.slot(x) else {
            return;
        };
        let Pairs { log, racy, list } = self;
        if list.is_enough() && racy.contains(x.index()) {
            list.complete = false;
            return;
        }
        let strand = access.at.strand;
        let comparison = log.uncovered(slot, strand, clock, access.kind, |other| {
            let reads = access.kind == AccessKind::Read && other.access.kind == AccessKind::Read;
            if !(reads || access.atomic && other.atomic) {
                racy.insert(x.index());
                list.add(x, &other, access.racing());
            }
        });
        if racy.contains(x.index()) {
            list.compared += comparison.compared;
        }
        log.add(slot, access, clock.get(strand), &comparison);
    }
}

impl History for Pairs {
    #[inline]
    fn access(&mut self, clock: &WideClock, at: At, x: Location, kind: AccessKind) {
        let atomic = false;
        self.add(clock, x, LoggedAccess { at, kind, atomic });
    }

    fn atomic(&mut self, clock: &WideClock, at: At, x: Location, kind: AccessKind) {
        let atomic = true;
        self.add(clock, x, LoggedAccess { at, kind, atomic });
    }

    #[inline]
    fn fetch(&self, x: Location) -> u64 {
        self.log.fetch(x)
    }

    fn forget(&mut self, covered: &[(Strand, Time)]) {
        self.log.forget(covered);
    }
}
