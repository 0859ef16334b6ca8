//! What can happen when a program runs again.

use std::collections::BTreeSet;

use deadheat_lang::{RecordedSchedule, RuntimeError, WaitingStrand};
use deadheat_model::{AccessKind, Site, StopReason, Strand};

/// The most schedules that are counted: where there are more, this is their number.
pub const MAX_SCHEDULES: u64 = u64::MAX - 1;

/// What all schedules of a program have in common, and what some of them do. Everything found is
/// true, whether or not the search was complete.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exploration {
    /// Why there may be more than was found; none if everything was covered.
    pub gap: Option<Gap>,
    /// How many schedules were covered, each of which can behave differently: ways through the
    /// states visited that come to an end, or orders of sections. [`MAX_SCHEDULES`] if there are more.
    pub schedules: u64,
    /// How many states were visited; 0 where whole runs were.
    pub states: u64,
    /// Whether every schedule ends, with the same memory and the same computation graph. Unknown if
    /// the search was cut short before it found two that differ, or did not compare them.
    pub deterministic: Option<bool>,
    /// Whether some schedule never ends.
    pub endless: bool,
    /// The races, one for each location and pair of places: at most a thousand for each location, or in
    /// all where orders of sections were visited.
    pub races: Vec<PossibleRace>,
    /// A deadlock that some schedule ends in.
    pub deadlock: Option<Example<Vec<WaitingStrand>>>,
    /// Every kind of error that some schedule ends with, one for each place.
    pub errors: Vec<Example<RuntimeError>>,
    /// The names of the strands that the other fields mention, by number.
    pub strand_names: Vec<String>,
    /// How many bytes the visited states took.
    pub bytes: u64,
}

impl Exploration {
    /// Whether everything was covered.
    pub fn is_complete(&self) -> bool {
        self.gap.is_none()
    }

    /// The names of the locations that race in some schedule, sorted.
    pub fn racy_locations(&self) -> Vec<String> {
        let names = self.races.iter().map(|race| race.location.clone());
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What a strand is called.
    pub fn strand_name(&self, strand: Strand) -> &str {
        let name = self.strand_names.get(strand.index());
        name.map_or("", String::as_str)
    }
}

/// Something that a search has found just now, before it is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// Two places race.
    Race {
        /// What both touch.
        location: String,
        /// The places.
        places: [Site; 2],
    },
    /// Nobody can go on; one waits here.
    Deadlock(Site),
    /// The program fails.
    Error(RuntimeError),
}

/// Why a search did not cover everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// It visited as many states as it was allowed to.
    States,
    /// One schedule's states take too much memory.
    Memory,
    /// It visited as many orders of sections as it was allowed to, or would have to try many times as
    /// many to find those that differ.
    Orders,
    /// A run took as many steps as it was allowed to, or could not be repeated.
    Steps,
    /// A run is too large for its graph to be looked at as a whole.
    RunSize,
    /// The program can fail and sets promises: which of two sets comes first is not a matter of
    /// sections.
    Promises,
    /// A run did not take the order of sections it was to take, or a race did not show, and no other
    /// race explains that.
    Unexplained,
    /// It was stopped.
    Stopped(StopReason),
}

/// Something that can happen, with a schedule that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example<T> {
    /// What happens.
    pub what: T,
    /// A schedule that leads there. Empty if too much was found to keep one for each.
    pub schedule: RecordedSchedule,
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PossibleAccess {
    /// Where in the source.
    pub site: Site,
    /// Whether it reads or writes.
    pub kind: AccessKind,
    /// The strand that makes it, in the schedule that shows the race.
    pub strand: Strand,
}

/// A race that some schedule has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleRace {
    /// What both touch.
    pub location: String,
    /// The access that comes first in the schedule that shows the race.
    pub first: PossibleAccess,
    /// The other one.
    pub second: PossibleAccess,
    /// The strands that enter sections up to the race, one after the other, where the search was for
    /// orders of sections.
    pub sections: Vec<Strand>,
    /// A schedule that shows it, up to the second access. Empty if too many races were found to keep
    /// one for each.
    pub schedule: RecordedSchedule,
}
