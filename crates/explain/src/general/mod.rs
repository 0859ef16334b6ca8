//! General races (chapter 5): conflicting accesses whose order is left to chance, though in this
//! execution synchronisation happened to order them.
//!
//! Two accesses are a general race if synchronisation allows either order of them. The thesis has two relations
//! (section 3.2): they *could have happened* in the other order, or they *could have been concurrent*. Both are decided.
//! Those that could have been concurrent are data races of another schedule, each with a witness; the others, two critical
//! sections that could have come the other way round, are bugs in a program that is meant to be deterministic, and
//! nothing to worry about in others.
//!
//! `must` says which orders are certain, for all pairs at once, whatever is read. It is exact for some kinds of
//! synchronisation; for others, pairs that it leaves open are decided by `search`, within a limit, and called possible
//! past that. `meeting` says which pairs could have been concurrent.

mod locks;
mod meeting;
mod must;
mod search;

use deadheat_model::{
    AccessKind, Deadlocks, EventNumber, Execution, Findings, FoundDeadlock, FoundRace, Race,
    RacingAccess, Site, StopReason, StopToken, Strand, racy,
};
use deadheat_offline::deadlocks::described;
use deadheat_witness::{NotATrace, Recording};
use rustc_hash::{FxHashMap, FxHashSet};

use self::locks::{HeldLocks, LockSet};
use self::meeting::{Meeting, Meetings};
use self::must::MustOrder;
use self::search::Orders;

/// How many pairs of accesses are compared.
const MAX_PAIRS: u64 = 20_000_000;

/// How many states are visited for one pair, and for all.
const MAX_STATES: (u64, u64) = (20_000, 400_000);

/// The longest execution that is searched for the other order of two accesses.
const MAX_SEARCHED: usize = 2_000;

/// How many events are done, in all orders that are tried, for one pair and for all.
const MAX_WORK: (u64, u64) = (1_000_000, 20_000_000);

/// The same for one circle of waits, where a complete search is asked for: states of some gigabytes.
const MAX_COMPLETE: u64 = 16_000_000;

/// The longest execution in which a prediction goes on behind the orders that it has kept.
const MAX_PREDICTED: usize = 200_000;

/// How many pairs of accesses of two places are tried.
const MAX_TRIED: usize = 16;

/// How sure it is that both orders are possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// Nothing that was looked at forbids it.
    Possible,
    /// Synchronisation allows both.
    Certain,
}

/// Why two accesses are not known to race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Apart {
    /// They never run at the same time, in whatever order the execution's events come.
    Always,
    /// Nor do these, as long as each read sees what it saw.
    WhileReadsAgree,
    /// It could not be decided whether they can run at the same time.
    Undecided,
}

/// A general race of two places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GeneralRace {
    /// Two accesses that show it, and how many pairs there are.
    pub race: Race,
    /// How sure it is.
    pub certainty: Certainty,
    /// Why it is not known to be a data race of another schedule.
    pub apart: Apart,
}

/// What is known of an execution's general races.
#[derive(Clone, Debug, Default)]
pub struct GeneralRaces {
    /// One for each pair of places that have no data race.
    pub races: Vec<GeneralRace>,
    /// One for each pair of places that have a data race in another order of the events, with that order.
    pub concurrent: Vec<FoundRace>,
    /// Whether these are all and each of them is one.
    pub exact: bool,
    /// Whether all pairs of accesses were compared.
    pub all_compared: bool,
    /// Why it was stopped before its end, if it was.
    pub stopped: Option<StopReason>,
}

/// The accesses of two places whose order is left to chance.
struct Pairs {
    /// Some pair, and how many there are.
    race: Race,
    /// The first pairs that no lock keeps apart.
    open: Vec<Race>,
    /// Whether there are more of these.
    more: bool,
}

/// An access, and the locks that were held at it.
type Access = (RacingAccess, LockSet);

/// Two places.
type Places = [(Site, AccessKind); 2];

/// The general races at places that have no data race; `data_races` are the places that have. With `predict`, those that
/// could have been concurrent are told apart from the others. When it is time to stop, those found so far.
pub fn general_races(
    execution: &Execution,
    data_races: &FxHashSet<Places>,
    predict: bool,
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
    let mut left = MAX_PAIRS;
    let (found, passed) = unordered(&must, data_races, &mut left);
    let mut found: Vec<Pairs> = found.into_values().collect();
    found.sort_unstable_by_key(|pairs| pairs.race.key());
    let mut stopped = passed.err();
    let search =
        (!must.exact && execution.events.len() <= MAX_SEARCHED).then(|| Orders::new(&recording));
    let meetings = (predict && !found.is_empty()).then(|| Meetings::new(&recording, stop));
    let (mut budget, mut work) = (MAX_STATES.1, MAX_WORK.1);
    let mut concurrent = Vec::new();
    let mut races = Vec::new();
    for pairs in found {
        stopped = stopped.or_else(|| stop.due());
        let apart = match meetings.as_ref().filter(|_| stopped.is_none()) {
            Some(meetings) => apart(meetings, &pairs, &mut work),
            None => Ok(Apart::Undecided),
        };
        let apart = match apart {
            Ok(apart) => apart,
            Err(shown) => {
                concurrent.push(shown);
                continue;
            }
        };
        let race = pairs.race;
        let mut certainty = Certainty::Certain;
        if !must.exact {
            let mut states = MAX_STATES.0.min(budget);
            let given = states;
            let search = search.as_ref().filter(|_| stopped.is_none());
            let answer = search.and_then(|search| {
                search.can_precede(race.second.event, race.first.event, &mut states)
            });
            budget -= given - states;
            match answer {
                // Other instances of it may be.
                Some(false) if race.count == 1 => continue,
                Some(true) => {}
                _ => certainty = Certainty::Possible,
            }
        }
        races.push(GeneralRace {
            race,
            certainty,
            apart,
        });
    }
    let are_certain = races
        .iter()
        .all(|race| race.certainty == Certainty::Certain);
    let exact = left > 0 && (must.exact || search.is_some() && are_certain);
    Ok(GeneralRaces {
        races,
        concurrent,
        exact: exact && stopped.is_none(),
        all_compared: left > 0 && stopped.is_none(),
        stopped,
    })
}

/// Adds to the findings of a prediction that kept the orders of semaphores, flags and readers as recorded the races behind
/// them, and what is undecided there. Where all is decided nothing was kept. Findings are one for each pair of places.
pub fn add_behind_kept_orders(
    execution: &Execution,
    findings: &mut Findings,
    stop: StopToken,
) -> Result<(), NotATrace> {
    if execution.events.len() > MAX_PREDICTED || findings.stopped.is_some() {
        return Ok(());
    }
    let known = findings
        .races
        .iter()
        .map(|found| found.race.ends())
        .collect();
    let mut general = general_races(execution, &known, true, stop)?;
    // Races with atomic accesses are not among these.
    if general.all_compared && !findings.kept_atomics {
        let open = general.races.iter();
        let open = open.filter(|general| general.apart == Apart::Undecided);
        findings.undecided = open.map(|general| general.race).collect();
        let is_decided = findings.undecided.is_empty() && findings.all_listed;
        findings.kept_orders = !is_decided;
        findings.exhaustive |= !findings.kept_orders;
    }
    findings.counted &= general.concurrent.is_empty();
    findings.races.append(&mut general.concurrent);
    findings.racy.extend(racy(&findings.races));
    findings.racy.sort_unstable();
    findings.racy.dedup();
    findings.sort();
    Ok(())
}

/// Decides circles of waits that were left open because the orders of semaphores, flags and readers were kept as recorded:
/// within some bounds, or with a `complete` search until it is to stop.
pub fn decide_deadlocks(
    execution: &Execution,
    deadlocks: &mut Deadlocks,
    complete: Option<StopToken>,
    stop: StopToken,
) -> Result<(), NotATrace> {
    let is_too_long = complete.is_none() && execution.events.len() > MAX_PREDICTED;
    if deadlocks.undecided.is_empty() || is_too_long || deadlocks.stopped.is_some() {
        return Ok(());
    }
    let recording = Recording::new(execution)?;
    let meetings = Meetings::new(&recording, complete.unwrap_or(stop));
    let mut work = MAX_WORK.1;
    for open in std::mem::take(&mut deadlocks.undecided) {
        let mut left_open = !open.all;
        let mut found = None;
        for circle in &open.circles {
            let given = match complete {
                Some(_) => MAX_COMPLETE,
                None => MAX_WORK.0.min(work),
            };
            let mut left = given;
            let answer = meetings.together(circle, &mut left);
            work = work.saturating_sub(given - left);
            match answer {
                Some(Some(witness)) => {
                    let deadlock = described(execution, circle);
                    found = Some(FoundDeadlock { deadlock, witness });
                    break;
                }
                Some(None) => {}
                None => left_open = true,
            }
        }
        match found {
            Some(found) => deadlocks.found.push(found),
            None if left_open => deadlocks.undecided.push(open),
            None => {}
        }
    }
    deadlocks.stopped = deadlocks.stopped.or_else(|| stop.due());
    deadlocks.sort();
    Ok(())
}

/// The pairs of accesses that nothing orders for certain, by their places; and why not all were compared, if they were not.
fn unordered(
    must: &MustOrder<'_, '_>,
    data_races: &FxHashSet<Places>,
    left: &mut u64,
) -> (FxHashMap<Places, Pairs>, Result<(), StopReason>) {
    let mut found: FxHashMap<Places, Pairs> = FxHashMap::default();
    let mut histories: FxHashMap<u64, Vec<(Strand, Vec<Access>)>> = FxHashMap::default();
    let mut held = HeldLocks::new(must.isolation());
    let passed = must.pass(|event, number, clock| {
        held.follow(event);
        let Some(access) = event.access() else { return };
        let second = RacingAccess {
            event: number,
            strand: event.strand(),
            site: event.site(),
            kind: access.kind,
        };
        let locks = held.of(second.strand);
        let history = histories.entry(access.location.0).or_default();
        for (strand, others) in history
            .iter()
            .filter(|(strand, _)| *strand != second.strand)
        {
            let certain = EventNumber::from(clock.get(*strand));
            let others = others.iter().rev();
            for (first, theirs) in others.take_while(|(other, _)| other.event > certain) {
                *left = left.saturating_sub(1);
                if *left == 0 {
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
                if data_races.contains(&race.ends()) {
                    continue;
                }
                let pairs = found.entry(race.ends()).or_insert_with(|| Pairs {
                    race,
                    open: Vec::new(),
                    more: false,
                });
                pairs.race.count += 1;
                if !locks.excludes(theirs) {
                    match pairs.open.len() < MAX_TRIED {
                        true => pairs.open.push(Race { count: 1, ..race }),
                        false => pairs.more = true,
                    }
                }
            }
        }
        match history
            .iter_mut()
            .find(|(strand, _)| *strand == second.strand)
        {
            Some((_, accesses)) => accesses.push((second, locks)),
            None => history.push((second.strand, vec![(second, locks)])),
        }
    });
    (found, passed.map(drop))
}

/// What keeps the accesses of two places apart, or an order in which two of them are next at the same time.
fn apart(meetings: &Meetings<'_, '_>, pairs: &Pairs, work: &mut u64) -> Result<Apart, FoundRace> {
    let mut apart = match pairs.more {
        true => Apart::Undecided,
        false => Apart::Always,
    };
    for &race in &pairs.open {
        let given = MAX_WORK.0.min(*work);
        let mut left = given;
        let answer = meetings.decide(race.first.event, race.second.event, &mut left);
        *work -= given - left;
        match answer {
            Meeting::Possible(witness) => {
                return Err(FoundRace {
                    race,
                    witness: Some(witness),
                });
            }
            Meeting::Never => {}
            Meeting::IfReadsDiffer => apart = apart.max(Apart::WhileReadsAgree),
            Meeting::Undecided => apart = Apart::Undecided,
        }
    }
    Ok(apart)
}

#[cfg(test)]
mod tests;
