//! Which races are real, which are echoes of others, and which to fix first (netzer-thesis91).
//!
//! [`explain`] takes the events of an execution and gives an [`Explanation`]. Inside, `prepass` finds
//! where to look, `relevance` which reads decide what happens, and `pairs` all apparent races, which of
//! them are feasible, and which are first.

pub mod edges;
mod judge;
mod neighbourhood;
mod pairs;
mod prepass;
mod relevance;
mod roots;
mod stairs;

use deadheat_model::{Execution, Race, StopReason, StopToken};
use deadheat_offline::threads::ImpossibleEvent;

pub use neighbourhood::{EdgeKind, Neighbourhood, neighbourhood};
pub use relevance::ReadCounts;
pub use roots::MAX_ROOTS;

/// What is known of an apparent race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Status {
    /// One access flows into what happens before the other: perhaps the two can never meet.
    Tangled,
    /// Some schedule brings the two together.
    Feasible,
    /// The same, and in this execution their computation events overlapped.
    Actual,
}

/// How much is looked at.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many pairs of accesses are compared. Past that, an access is compared with the latest of
    /// each other strand, and counts are lower bounds.
    pub pairs: u64,
    /// How many pairs of strands are asked, in all, whether a race of theirs affects another one.
    /// Past that, no race is called first that was not before.
    pub queries: u64,
    /// How many pairs of places are told apart.
    pub groups: usize,
    /// Ends the search, not what was found: only the events before are explained.
    pub stop: StopToken,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            pairs: 50_000_000,
            queries: 500_000_000,
            groups: 1_000_000,
            stop: StopToken::default(),
        }
    }
}

/// A limit that was met, and what it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// [`Limits::pairs`].
    Pairs,
    /// [`Limits::queries`].
    Queries,
    /// [`Limits::groups`].
    Groups,
    /// How many pairs are compared of those that only chance has ordered.
    GeneralRaces,
    /// [`Limits::stop`].
    Stopped(StopReason),
}

/// An apparent race of two places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainedRace {
    /// Two accesses that show it, and how many pairs of computation events race at these two places,
    /// each location by itself.
    pub race: Race,
    /// Of these pairs, how many overlapped in time.
    pub overlapping: u64,
    /// What is known of it.
    pub status: Status,
    /// No other race can have caused it.
    pub is_first: bool,
    /// If it is not first: the first races that it is perhaps an artifact of, by index, at most
    /// [`MAX_ROOTS`]. None if a limit was met.
    pub artifact_of: Vec<usize>,
    /// If it is not first: a race that affected it directly, by index. Following these ends at a
    /// first race.
    pub after: Option<usize>,
}

/// What an execution's races are.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// How many pairs of computation events race, each pair of places and each location by itself.
    pub apparent: u64,
    /// Of these, how many overlapped in time.
    pub overlapping: u64,
    /// The races, one for each pair of places: first ones first, then as in the execution.
    pub races: Vec<ExplainedRace>,
    /// What the events say about which reads decide.
    pub reads: ReadCounts,
    /// The limits that were met.
    pub bounds: Vec<Bound>,
}

impl Explanation {
    /// Something that belongs to it was stopped before its end.
    pub fn stopped(&mut self, why: StopReason) {
        let bound = Bound::Stopped(why);
        if !self.bounds.contains(&bound) {
            self.bounds.push(bound);
        }
    }
}

/// Explains the races of an execution, or says why nobody could have done it.
pub fn explain(execution: &Execution, limits: &Limits) -> Result<Explanation, ImpossibleEvent> {
    if execution.events.len() >= u32::MAX as usize {
        return Err(ImpossibleEvent {
            number: u32::MAX.into(),
            strand: "the execution".to_string(),
            problem: "has more events than can be explained at once: record a shorter run".into(),
        });
    }
    let prepass = prepass::prepass(execution)?;
    let (relevant, reads) = relevance::relevant_reads(&execution.events);
    let found = pairs::pairs(execution, &prepass, &relevant, limits)?;
    let mut order: Vec<usize> = (0..found.groups.len()).collect();
    order.sort_by_key(|&number| {
        let group = &found.groups[number];
        (
            !group.is_first,
            group.shown.second.event,
            group.shown.first.event,
        )
    });
    let mut places = vec![0; order.len()];
    for (place, &number) in order.iter().enumerate() {
        places[number] = place;
    }
    let place = |number: u32| places.get(number as usize).copied();
    let races = order.iter().map(|&number| {
        let group = &found.groups[number];
        let taint = group.taint.filter(|_| !group.is_first);
        let roots = taint.and_then(|taint| taint.roots);
        let roots = roots.map_or(&[][..], |roots| found.roots.get(roots));
        let mut artifact_of: Vec<usize> = roots.iter().filter_map(|&race| place(race)).collect();
        artifact_of.sort_unstable();
        ExplainedRace {
            race: Race {
                location: group.shown.location,
                first: group.shown.first,
                second: group.shown.second,
                count: group.count,
            },
            overlapping: group.overlapping,
            status: group.status,
            is_first: group.is_first,
            artifact_of,
            after: taint.and_then(|taint| place(taint.via)),
        }
    });
    Ok(Explanation {
        apparent: found.apparent,
        overlapping: found.overlapping,
        races: races.collect(),
        reads,
        bounds: found.bounds,
    })
}
