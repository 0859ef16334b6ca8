//! General races (chapter 5): conflicting accesses whose order is left to chance, though in this
//! execution synchronisation happened to order them.
//!
//! Two accesses are a general race if synchronisation allows either order of them. Every data race is
//! one; those listed here are the others: two critical sections that could have come the other way
//! round, a wait that another post might have ended. They are bugs in a program that is meant to be
//! deterministic, and nothing to worry about in others. What is read does not count: whether the events
//! would still happen in another order is not asked (these are *apparent* general races).
//!
//! `must` says which orders are certain, for all pairs at once. It is exact for some kinds of
//! synchronisation; for others, pairs that it leaves open are decided by `search`, within a limit, and
//! called possible past that.

mod must;
mod search;

use deadheat_model::{
    AccessKind, EventNumber, Execution, Race, RacingAccess, Site, StopReason, StopToken, Strand,
};
use deadheat_witness::{NotATrace, Recording};
use rustc_hash::{FxHashMap, FxHashSet};

use self::must::MustOrder;
use self::search::Orders;

/// How many pairs of accesses are compared.
const MAX_PAIRS: u64 = 20_000_000;

/// How many states are visited for one pair, and for all.
const MAX_STATES: (u64, u64) = (20_000, 400_000);

/// The longest execution that is searched.
const MAX_SEARCHED: usize = 2_000;

/// How sure it is that both orders are possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// Nothing that was looked at forbids it.
    Possible,
    /// Synchronisation allows both.
    Certain,
}

/// A general race of two places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GeneralRace {
    /// Two accesses that show it, and how many pairs there are.
    pub race: Race,
    /// How sure it is.
    pub certainty: Certainty,
}

/// What is known of an execution's general races.
#[derive(Clone, Debug, Default)]
pub struct GeneralRaces {
    /// One for each pair of places.
    pub races: Vec<GeneralRace>,
    /// Whether these are all and each of them is one.
    pub exact: bool,
    /// Why it was stopped before its end, if it was.
    pub stopped: Option<StopReason>,
}

/// The general races at places that have no data race; `data_races` are the places that have. When it is time to stop,
/// those found so far.
pub fn general_races(
    execution: &Execution,
    data_races: &FxHashSet<[(Site, AccessKind); 2]>,
    stop: StopToken,
) -> Result<GeneralRaces, NotATrace> {
    let recording = Recording::new(execution)?;
    let must = match MustOrder::new(&recording, stop) {
        Ok(must) => must,
        Err(why) => {
            return Ok(GeneralRaces {
                stopped: Some(why),
                ..GeneralRaces::default()
            });
        }
    };
    let mut found: FxHashMap<[(Site, AccessKind); 2], Race> = FxHashMap::default();
    let mut histories: FxHashMap<u64, Vec<(Strand, Vec<RacingAccess>)>> = FxHashMap::default();
    let mut left = MAX_PAIRS;
    let passed = must.pass(|event, number, clock| {
        let Some(access) = event.access() else { return };
        let second = RacingAccess {
            event: number,
            strand: event.strand(),
            site: event.site(),
            kind: access.kind,
        };
        let history = histories.entry(access.location.0).or_default();
        for (strand, others) in history
            .iter()
            .filter(|(strand, _)| *strand != second.strand)
        {
            let certain = EventNumber::from(clock.get(*strand));
            let others = others.iter().rev();
            for first in others.take_while(|other| other.event > certain) {
                left = left.saturating_sub(1);
                if left == 0 {
                    break;
                }
                if first.kind == AccessKind::Read && second.kind == AccessKind::Read {
                    continue;
                }
                let race = Race {
                    location: access.location,
                    first: *first,
                    second,
                    count: 0,
                };
                if !data_races.contains(&race.ends()) {
                    found.entry(race.ends()).or_insert(race).count += 1;
                }
            }
        }
        match history
            .iter_mut()
            .find(|(strand, _)| *strand == second.strand)
        {
            Some((_, accesses)) => accesses.push(second),
            None => history.push((second.strand, vec![second])),
        }
    });
    let mut races: Vec<Race> = found.into_values().collect();
    races.sort_unstable_by_key(Race::key);
    let mut stopped = passed.err();
    let mut all_certain = must.exact && left > 0;
    let search =
        (!must.exact && execution.events.len() <= MAX_SEARCHED).then(|| Orders::new(&recording));
    let mut budget = MAX_STATES.1;
    let races = races.into_iter().filter_map(|race| {
        let mut certainty = Certainty::Certain;
        if !must.exact {
            let mut states = MAX_STATES.0.min(budget);
            let given = states;
            stopped = stopped.or_else(|| stop.due());
            let search = search.as_ref().filter(|_| stopped.is_none());
            let answer = search.and_then(|search| {
                search.can_precede(race.second.event, race.first.event, &mut states)
            });
            budget -= given - states;
            match answer {
                // Other instances of it may be.
                Some(false) if race.count == 1 => return None,
                Some(true) => {}
                _ => certainty = Certainty::Possible,
            }
        }
        Some(GeneralRace { race, certainty })
    });
    let races: Vec<GeneralRace> = races.collect();
    all_certain |= left > 0
        && search.is_some()
        && races
            .iter()
            .all(|race| race.certainty == Certainty::Certain);
    Ok(GeneralRaces {
        races,
        exact: all_certain && stopped.is_none(),
        stopped,
    })
}

#[cfg(test)]
mod tests;
