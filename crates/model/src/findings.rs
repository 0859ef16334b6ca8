//! What an engine found in an execution.

use rustc_hash::FxHashMap;

use crate::{Location, Race, StopReason, Witness};

/// A race and, where the engine gives one, the reordering that shows it. It is the engine's word until
/// a checker has accepted it.
#[derive(Clone, Debug)]
pub struct FoundRace {
    /// The race.
    pub race: Race,
    /// The reordering.
    pub witness: Option<Witness>,
}

impl From<Race> for FoundRace {
    fn from(race: Race) -> FoundRace {
        FoundRace {
            race,
            witness: None,
        }
    }
}

/// What an engine found in an execution.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The races, in the order of their second accesses. A location that races has at least one,
    /// unless races are listed one for each pair of places and another location stands for it.
    pub races: Vec<FoundRace>,
    /// Pairs of which it is not known whether they race.
    pub undecided: Vec<Race>,
    /// The locations that race, sorted.
    pub racy: Vec<Location>,
    /// Whether `races` are all that the engine's order or search can show.
    pub all_listed: bool,
    /// Whether `races` are all that any correct reordering of the execution shows.
    pub exhaustive: bool,
    /// Whether the counts of races are exact; otherwise they are lower bounds.
    pub counted: bool,
    /// Whether orders of semaphores, flags, readers of a lock or, with DC, atomics, which another schedule
    /// could have made otherwise, were kept as recorded.
    pub kept_orders: bool,
    /// Whether what atomic operations observed was kept, whatever their memory orders are.
    pub kept_atomics: bool,
    /// Why the engine promises nothing for this execution, if it does not.
    pub without_promise: Option<&'static str>,
    /// How many events were judged, from the first.
    pub judged: u64,
    /// Why the engine was stopped before its end, if it was.
    pub stopped: Option<StopReason>,
}

impl Findings {
    /// Findings without proofs, all of which the engine lists, out of so many events.
    pub fn listed(mut races: Vec<Race>, all_listed: bool, judged: u64) -> Findings {
        // Mostly they come in the order of their second accesses: then only those of one access are to be sorted.
        for same in races.chunk_by_mut(|a, b| a.second.event == b.second.event) {
            same.sort_by_key(Race::key);
        }
        races.sort_by_key(Race::key);
        let races: Vec<FoundRace> = races.into_iter().map(FoundRace::from).collect();
        Findings {
            racy: racy(&races),
            races,
            all_listed,
            counted: all_listed,
            judged,
            ..Findings::default()
        }
    }

    /// The engine was stopped when it had judged so many events: there may be more.
    pub fn cut_short(&mut self, why: StopReason, judged: u64) {
        self.stopped = Some(why);
        self.judged = self.judged.min(judged);
        (self.all_listed, self.exhaustive, self.counted) = (false, false, false);
    }

    /// Puts races and undecided pairs in their order.
    pub fn sort(&mut self) {
        self.races.sort_by_key(|finding| finding.race.key());
        self.undecided.sort_by_key(Race::key);
    }

    /// Keeps one race for each pair of places, which counts all.
    pub fn by_places(&mut self) {
        self.sort();
        let mut seen = FxHashMap::default();
        let races = std::mem::take(&mut self.races);
        for finding in races {
            let next = self.races.len();
            match *seen.entry(finding.race.places()).or_insert(next) {
                place if place == next => self.races.push(finding),
                place => self.races[place].race.count += finding.race.count,
            }
        }
    }
}

/// The locations of some races, sorted.
pub fn racy(races: &[FoundRace]) -> Vec<Location> {
    let mut racy: Vec<Location> = races.iter().map(|found| found.race.location).collect();
    racy.sort_unstable();
    racy.dedup();
    racy
}
