//! Which candidates to decide, in which order, and how many.
//!
//! Long traces have very many pairs of events for the same two places in the source, and people want to
//! know of the places. So for two places with few pairs all are decided, and with many only until one
//! races, for each location apart; those that are near to each other first, because less has to move
//! between them. What is decided depends on the trace alone, not on how many threads decide, as long as
//! there is room for all witnesses.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::{
    EventNumber, Findings, FoundRace, Race, RacingAccess, StopReason, StopToken, Strand, Witness,
};
use rayon::prelude::*;

use super::decide::{Budget, Decider, Decision, Reordering, Search};
use super::meetings::Meeting;
use super::skeleton::{Link, Skeleton};
use crate::engine::{Options, Progress};
use crate::threads::pairs::MAX_PAIRS;

/// How many pairs of a location and two places are tried in search of one that races: at first those of so many accesses
/// of each group, as mostly one of them does, then the nearest of all.
const FIRST_TRIES: usize = 8;
const TRIES: usize = 256;

/// How many events may be moved for one pair at first; and then, if no pair races, for those that this
/// was not enough for, all together.
const EVENTS_FOR_ONE: u64 = 1 << 18;
const EVENTS: u64 = 8 << 20;

/// Up to how many pairs of two places all are tried, to count those that race; if that does not mean to
/// move more than so many events for each location, or to try more than [`MAX_PAIRS`] at all places.
const COUNTED: u64 = 4096;
const EVENTS_TO_COUNT: u64 = 1 << 16;

/// How many events and ends of strands are kept for witnesses, all together: half a gigabyte. A race that
/// would need more is left undecided, as there is no room for its proof.
const KEPT: u64 = 1 << 26;

/// All that may race at two places: by location, the groups that may meet.
pub struct Places<'a> {
    /// By location.
    pub locations: Vec<Vec<Meeting<'a>>>,
}

/// The pairs of one location and two places.
struct Unit<'a> {
    meetings: &'a [Meeting<'a>],
    /// How many pairs of accesses there are.
    pairs: u64,
    /// Whether all of them are decided, and not only until one races.
    all: bool,
}

impl Unit<'_> {
    /// Whether each pair is tried, or only those that are near.
    fn wants_all_tried(&self) -> bool {
        self.all || self.pairs <= TRIES as u64
    }
}

/// A pair of accesses and the groups it comes from.
type Pair<'a> = ([Link; 2], &'a Meeting<'a>);

/// What is known of a unit.
#[derive(Default)]
struct UnitRaces<'a> {
    /// Those that race: all if every pair is wanted, else the first.
    races: Vec<(Pair<'a>, Reordering)>,
    /// How many race, as far as they were looked at.
    count: u64,
    /// Those of which it is not known, as far as they were looked at.
    open: Vec<Pair<'a>>,
    /// How many were not looked at.
    untried: u64,
    /// Why not, if it was time to stop.
    stopped: Option<StopReason>,
}

/// Decides candidates.
pub struct Hunt<'a> {
    /// What the trace has that matters.
    pub skeleton: &'a Skeleton,
    /// What is asked for.
    pub options: Options,
    /// Asked before each pair.
    stop: StopToken,
    /// How many events and ends of strands are kept.
    kept: AtomicU64,
}

impl<'a> Hunt<'a> {
    /// Before anything is decided.
    pub fn new(skeleton: &'a Skeleton, options: Options, stop: StopToken) -> Hunt<'a> {
        Hunt {
            skeleton,
            options,
            stop,
            kept: AtomicU64::new(0),
        }
    }

    /// Decides what is wanted of all places, and makes a witness of each reordering.
    pub fn all(
        &self,
        places: &'a [Places<'a>],
        witness: impl Fn([Link; 2], &Reordering) -> Witness + Sync,
        progress: Progress,
    ) -> Findings {
        let mut prediction = Findings {
            all_listed: true,
            counted: true,
            ..Findings::default()
        };
        let mut room = MAX_PAIRS as u64;
        let mut units: Vec<(usize, Unit)> = Vec::new();
        let pairs = places.par_iter().map(|places| {
            let pairs = places.locations.par_iter().map(|m| self.count(m));
            pairs.collect()
        });
        let pairs: Vec<Vec<u64>> = pairs.collect();
        prediction.stopped = self.stop.due();
        for (index, (places, pairs)) in places.iter().zip(pairs).enumerate() {
            let sum: u64 = pairs.iter().sum();
            let all = match self.options.all_pairs() {
                true => sum <= room,
                false => sum <= room.min(COUNTED),
            };
            if all || self.options.all_pairs() {
                room = room.saturating_sub(sum);
            }
            let meetings = places.locations.iter().zip(pairs);
            let meetings = meetings.filter(|(_, pairs)| *pairs > 0);
            units.extend(meetings.map(|(meetings, pairs)| {
                let unit = Unit {
                    meetings,
                    pairs,
                    all,
                };
                (index, unit)
            }));
        }
        let done = AtomicU64::new(0);
        let decider = || Decider::new(self.skeleton);
        let known = units
            .par_iter()
            .map_init(decider, |decider, (index, unit)| {
                let known = self.unit(decider, unit);
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                progress(done, units.len() as u64);
                (*index, known)
            });
        let known: Vec<(usize, UnitRaces)> = known.collect();
        prediction.counted = known.iter().all(|(_, known)| known.untried == 0);
        for same in known.chunk_by(|a, b| a.0 == b.0) {
            self.report(same, &witness, &mut prediction);
        }
        prediction.sort();
        prediction.racy.sort_unstable();
        prediction.racy.dedup();
        prediction.exhaustive = prediction.all_listed && prediction.undecided.is_empty();
        let stopped = known.iter().find_map(|(_, known)| known.stopped);
        prediction.stopped = prediction.stopped.or(stopped);
        prediction
    }

    /// Adds what is known of the units of two places.
    fn report(
        &self,
        units: &[(usize, UnitRaces)],
        witness: &(impl Fn([Link; 2], &Reordering) -> Witness + Sync),
        prediction: &mut Findings,
    ) {
        let races = units.iter().flat_map(|(_, known)| &known.races);
        prediction
            .racy
            .extend(races.clone().map(|((_, meeting), _)| meeting.location));
        let open = units.iter().flat_map(|(_, known)| &known.open);
        let untried: u64 = units.iter().map(|(_, known)| known.untried).sum();
        if self.options.all_pairs() {
            let races = races.map(|(pair, found)| FoundRace {
                race: self.race(pair, 1),
                witness: Some(witness(pair.0, found)),
            });
            prediction.races.extend(races);
            prediction
                .undecided
                .extend(open.map(|pair| self.race(pair, 1)));
            prediction.all_listed &= untried == 0;
            return;
        }
        let first = races
            .clone()
            .map(|(pair, found)| (self.race(pair, 1), pair, found))
            .min_by_key(|(race, ..)| race.key());
        if let Some((mut race, pair, found)) = first {
            race.count = units.iter().map(|(_, known)| known.count).sum();
            prediction.races.push(FoundRace {
                race,
                witness: Some(witness(pair.0, found)),
            });
        } else {
            let count = open.clone().count() as u64 + untried;
            let first = open.map(|pair| self.race(pair, count));
            let first = first.min_by_key(Race::key);
            prediction.undecided.extend(first);
            prediction.all_listed &= untried == 0;
        }
    }

    /// Takes note of a decision.
    fn add(&self, known: &mut UnitRaces<'a>, pair: Pair<'a>, decision: Decision) {
        let place = |(pair, _): &Pair| {
            let [a, b] = pair.map(|link| self.skeleton.number(link));
            (a.max(b), a.min(b))
        };
        match decision {
            Decision::Race(found) => {
                let first = known.races.last_mut().filter(|_| !self.options.all_pairs());
                match first {
                    Some(first) => {
                        known.count += 1;
                        if place(&pair) < place(&first.0) {
                            *first = (pair, found);
                        }
                    }
                    None if self.has_room(&found) => {
                        known.count += 1;
                        known.races.push((pair, found));
                    }
                    None => known.open.push(pair),
                }
            }
            Decision::NoRace => {}
            Decision::Open => known.open.push(pair),
        }
    }

    fn has_room(&self, found: &Reordering) -> bool {
        let needed = (found.upto.len() + found.then.len()) as u64;
        self.kept.fetch_add(needed, Ordering::Relaxed) + needed <= KEPT
    }

    fn race(&self, (pair, meeting): &Pair, count: u64) -> Race {
        let access = |link: Link| {
            let (site, kind) = meeting.access(link);
            RacingAccess {
                event: EventNumber::from(self.skeleton.number(link)),
                strand: Strand(link.strand),
                site,
                kind,
            }
        };
        let [a, b] = pair.map(access);
        let (first, second) = if a.event < b.event { (a, b) } else { (b, a) };
        Race {
            location: meeting.location,
            first,
            second,
            count,
        }
    }

    /// How many pairs there are; none, if it is time to stop.
    fn count(&self, meetings: &[Meeting]) -> u64 {
        if self.stop.due().is_some() {
            return 0;
        }
        let ranges = meetings.iter().flat_map(|m| m.unordered(self.skeleton));
        ranges.map(|(_, others)| others.count()).sum()
    }

    /// The pairs of a unit to be tried, near ones first; not more than those of so many accesses of each group. Of very
    /// many, only the nearest are ever kept.
    fn pairs(&self, unit: &Unit<'a>, accesses: usize) -> Vec<Pair<'a>> {
        let few = unit.wants_all_tried();
        let number = |link| self.skeleton.number(link);
        let distance = |one, other| {
            let (one, other) = (number(one), number(other));
            (one.abs_diff(other), one.max(other))
        };
        let mut pairs = Vec::new();
        for meeting in unit.meetings {
            let unordered = meeting.unordered(self.skeleton);
            let unordered = unordered.filter(|(_, others)| others.count() > 0);
            for (one, others) in unordered.take(accesses) {
                let mut add = |other| pairs.push((distance(one, other), ([one, other], meeting)));
                if few {
                    others.links().for_each(add);
                } else {
                    let nearest = others.nearest(number(one), self.skeleton);
                    nearest.into_iter().for_each(&mut add);
                    if pairs.len() == 16 * TRIES {
                        pairs.select_nth_unstable_by_key(TRIES, |(distance, _)| *distance);
                        pairs.truncate(TRIES);
                    }
                }
            }
        }
        pairs.sort_by_key(|(distance, _)| *distance);
        if !few {
            pairs.truncate(TRIES);
        }
        pairs.into_iter().map(|(_, pair)| pair).collect()
    }

    /// Tries pairs of a unit, those of so many accesses of each group, as long as they matter.
    fn try_pairs(
        &self,
        decider: &mut Decider,
        unit: &Unit<'a>,
        accesses: usize,
        known: &mut UnitRaces<'a>,
    ) {
        let pairs = self.pairs(unit, accesses);
        known.untried = unit.pairs - pairs.len() as u64;
        let mut spent = 0;
        for pair in pairs {
            let enough = !self.options.all_pairs() && (!unit.all || spent > EVENTS_TO_COUNT);
            known.stopped = known.stopped.or_else(|| self.stop.due());
            if enough && !known.races.is_empty() || known.stopped.is_some() {
                known.untried += 1;
            } else {
                let mut little = Budget::of_events(EVENTS_FOR_ONE, self.stop);
                let decision = decider.decide(&pair.0, Search::AsInTrace, &mut little);
                self.add(known, pair, decision);
                spent += EVENTS_FOR_ONE - little.events;
            }
        }
    }

    fn unit(&self, decider: &mut Decider, unit: &Unit<'a>) -> UnitRaces<'a> {
        let mut budget = Budget::of_events(EVENTS, self.stop);
        let mut known = UnitRaces {
            stopped: self.stop.due(),
            ..UnitRaces::default()
        };
        if known.stopped.is_some() {
            known.untried = unit.pairs;
            return known;
        }
        if !unit.wants_all_tried() && !self.options.all_pairs() {
            self.try_pairs(decider, unit, FIRST_TRIES, &mut known);
            if !known.races.is_empty() || known.stopped.is_some() {
                return known;
            }
            known.open.clear();
        }
        self.try_pairs(decider, unit, usize::MAX, &mut known);
        if self.options.all_pairs() || known.races.is_empty() {
            for pair in std::mem::take(&mut known.open) {
                let decision = decider.decide(&pair.0, Search::AsInTrace, &mut budget);
                self.add(&mut known, pair, decision);
            }
        }
        if let Some(mut budget) = self.options.complete
            && (self.options.all_pairs() || known.races.is_empty())
        {
            for pair in std::mem::take(&mut known.open) {
                let decision = decider.decide(&pair.0, Search::Exact, &mut budget);
                self.add(&mut known, pair, decision);
            }
            if known.untried > 0 && known.races.is_empty() {
                self.decide_rest(decider, unit, &mut budget, &mut known);
            }
        }
        // What is still open may be so because a budget ended with the time.
        if !known.open.is_empty() {
            known.stopped = known.stopped.or_else(|| self.stop.due());
        }
        known
    }

    /// Decides all pairs of a unit of which only some were tried, until one races.
    fn decide_rest(
        &self,
        decider: &mut Decider,
        unit: &Unit<'a>,
        budget: &mut Budget,
        known: &mut UnitRaces<'a>,
    ) {
        known.open.clear();
        let mut left = unit.pairs;
        for meeting in unit.meetings {
            for (one, others) in meeting.unordered(self.skeleton) {
                for other in others.links() {
                    let pair = ([one, other], meeting);
                    match decider.decide(&pair.0, Search::Exact, budget) {
                        race @ Decision::Race(_) => {
                            self.add(known, pair, race);
                            return;
                        }
                        Decision::NoRace => left -= 1,
                        Decision::Open if known.open.is_empty() => {
                            known.open.push(pair);
                            left -= 1;
                        }
                        Decision::Open => {}
                    }
                    if budget.is_spent() {
                        known.untried = left;
                        return;
                    }
                }
            }
        }
        known.untried = left;
    }
}
