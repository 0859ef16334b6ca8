//! M2 (Pavlogiannis, POPL 2020): predicts races that did not happen, each with a witness.
//!
//! Two accesses of a trace race if some correct reordering of it (a prefix of each strand's events, in which
//! each read observes the write that it observed) ends where both can happen next. M2 looks for such a reordering:
//! - [`exposure`](crate::threads::exposure) finds the locations that can race at all, and the locations whose
//!   accesses have the same order in every correct reordering, which do not matter;
//! - [`candidates`] takes the trace apart into what matters ([`skeleton`]), and [`meetings`] finds the pairs of
//!   accesses that may race;
//! - [`decide`] looks for a witness of a pair;
//! - [`recorded`] adds what SHB proves, if the search has left anything open or kept an order.
//!
//! Guarantee: every race has a witness. With two strands none is missed; with more, pairs for which no
//! witness was found although nothing excludes one are listed as undecided, so that what is not listed
//! at all is no race. [`Search::Exact`](decide::Search::Exact) decides these too, in time that may be exponential.
//!
//! Cost: two passes, 16 bytes for each event that matters, and for each pair what has to move.

pub mod candidates;
pub mod decide;
mod groups;
mod hunt;
pub mod meetings;
mod recorded;
pub mod skeleton;
pub mod window;
mod witness;

use std::collections::BTreeMap;

use deadheat_model::{Construct, Event, Execution, Findings, Names, Site, StopReason, StopToken};

use crate::engine::{Engine, EngineError, Options, Worth};
use crate::survey::Survey;
use crate::threads::Lowering;
use crate::threads::pairs::MAX_PAIRS;
use candidates::{Candidates, Collector};
use hunt::{Hunt, Places};
use meetings::{Meeting, Meetings};
use recorded::add_recorded;
use skeleton::{MAX_EVENTS, MAX_OBJECTS, Skeleton};
pub use witness::{order_before, witness};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "m2",
    summary: "predicts; every race has a witness, and with two threads none is missed",
    orders: &Construct::ALL,
    worth: Worth::AllAreDecided,
    cost: "linear, and for each pair of places what has to move",
    in_memory: true,
    judge: |survey, options| {
        let Execution { events, names } = survey.execution(ENGINE.name)?;
        let tables = [
            ("events", events.len(), MAX_EVENTS as usize),
            ("variables", names.locations.len(), MAX_OBJECTS),
            ("locks", names.lock_count(), MAX_OBJECTS),
        ];
        if let Some(&(what, ..)) = tables.iter().find(|(_, has, most)| has > most) {
            let engine = ENGINE.name;
            return Err(EngineError::TooLong { engine, what });
        }
        let mut found = predict(survey, events, names, options)?;
        found.judged = survey.judged;
        found.kept_orders = survey.constructs().iter().any(keeps_order);
        found.kept_atomics = survey.constructs().contains(&Construct::Atomic);
        found.exhaustive &= !found.kept_orders;
        if !found.exhaustive {
            add_recorded(survey, options, &mut found)?;
        }
        Ok(found)
    },
};

/// Whether the order that a construct made in the trace is kept, though another schedule could have made it
/// otherwise.
pub(crate) fn keeps_order(construct: &Construct) -> bool {
    use Construct::{Event, ReadWriteLock, Semaphore};
    matches!(construct, Semaphore | Event | ReadWriteLock)
}

/// Predicts the races of a trace that has been surveyed.
fn predict(
    survey: &mut Survey,
    events: &[Event],
    names: &Names,
    options: &Options,
) -> Result<Findings, EngineError> {
    let matter = survey.matter()?;
    if survey.stopped.is_some() {
        // The time that is left is for what the recorded order shows: it is too short to search.
        return Ok(Findings::default());
    }
    let mut can_race = matter.clone();
    can_race.intersect_with(&survey.exposed.exposed);
    if can_race.is_clear() {
        return Ok(Findings {
            all_listed: true,
            exhaustive: true,
            counted: true,
            ..Findings::default()
        });
    }
    let mut collector = Collector::new(names, &matter, &can_race);
    survey.feed(Lowering::Observed, &matter, &mut collector)?;
    let (skeleton, candidates) = collector.finish();
    let (by_places, all, stopped) = by_places(&candidates, &skeleton, survey.stop);
    let places = by_places.into_values();
    let places: Vec<Places> = places.map(|locations| Places { locations }).collect();
    let hunt = Hunt::new(&skeleton, *options, survey.stop);
    let witness = |pair, found: &_| witness(&skeleton, events, pair, found);
    let mut prediction = hunt.all(&places, witness, survey.progress);
    prediction.stopped = stopped.or(prediction.stopped);
    if let Some(why) = prediction.stopped {
        survey.cut_short(why);
    }
    prediction.all_listed &= all;
    prediction.exhaustive &= all;
    prediction.counted &= all;
    Ok(prediction)
}

/// What may race at two places: by location, the groups that may meet.
type ByPlaces<'a> = BTreeMap<(Site, Site), Vec<Vec<Meeting<'a>>>>;

/// What may race, by the two places; whether that is all; and why not, if it was time to stop. If there are more pairs of
/// places than anybody can look at, a location's first ones have to do for those that come after.
fn by_places<'a>(
    candidates: &'a Candidates,
    skeleton: &'a Skeleton,
    stop: StopToken,
) -> (ByPlaces<'a>, bool, Option<StopReason>) {
    let mut by_places = ByPlaces::new();
    let mut complete = true;
    let stopped = candidates.meetings(skeleton, stop, |Meetings { mut meetings, all }| {
        complete &= all;
        let mut kept = 0;
        while let Some(places) = meetings.last().map(Meeting::places) {
            let same = meetings.iter().rev().take_while(|m| m.places() == places);
            let start = meetings.len() - same.count();
            // Mostly all are left: with very many threads there is no room for another copy of them.
            let same = match start {
                0 => std::mem::take(&mut meetings),
                _ => meetings.split_off(start),
            };
            let full = by_places.len() >= MAX_PAIRS && kept > 0;
            if full && !by_places.contains_key(&places) {
                complete = false;
                continue;
            }
            kept += 1;
            by_places.entry(places).or_default().push(same);
        }
    });
    (by_places, complete && stopped.is_none(), stopped)
}
