//! Deadlocks that can happen: strands that wait for each other in a circle, after a correct reordering of a trace.
//!
//! Simple model: in some correct reordering of prefixes of the strands' events, the next event of each of some strands
//! takes a lock that the next of them has (alone, or for reading if it is wanted alone), or waits for its end. Then none of
//! them ever goes on. The same reorderings count as for races ([`m2`](crate::m2)).
//!
//! - [`graph`] makes of all events that take a lock inside a section the few that wait alike, and keeps those that can be
//!   in a circle;
//! - [`circles`] lists the circles in which nobody has a lock that another of them has, too;
//! - [`hunt`] decides them, one set of places in the source after the other: with the order that sections have in the
//!   trace ([`closure`]), by M2's procedure, and, if it is asked for, by exact search.
//!
//! Who has which locks at an event does not depend on the order of events. So once events of a circle can all be next,
//! there is the deadlock.
//!
//! Guarantee: each deadlock has an order that shows it. What is neither found nor undecided cannot happen, unless there
//! are more circles than were listed. Where another schedule could have ordered what is not a lock otherwise (semaphores,
//! flags, readers of a lock), orders are found with that as recorded, and excluded without it.
//!
//! Cost: a pass that looks at locks alone; only if there are circles, what [`m2`](crate::m2) does to a trace, and some
//! work for each set of places.

mod arrangements;
mod circles;
mod closure;
mod graph;
mod holding;
mod hunt;

use std::collections::BTreeMap;

use deadheat_model::{
    Deadlock, Deadlocks, Event, EventNumber, Execution, FoundDeadlock, Names, Op, OpenDeadlock,
    Site, Wait,
};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::{EngineError, Options};
use crate::m2::keeps_order;
use crate::m2::skeleton::{Builder, MAX_EVENTS, MAX_OBJECTS, Skeleton};
use crate::survey::Survey;
use crate::threads::accesses::{Finder, Judge};
use crate::threads::fasttrack::FastTrack;
use crate::threads::shb::MustOrder;
use crate::threads::{Driver, Lowering, ThreadEngine};
use circles::Circles;
use closure::Sections;
use graph::Graph;
use holding::{Holding, MAX_LOCKS};
use hunt::{Hunt, Outcome};

/// Predicts the deadlocks of a trace that has been surveyed, and is in memory: one for each set of places at which strands
/// wait.
pub fn predict(survey: &mut Survey, options: &Options) -> Result<Deadlocks, EngineError> {
    const NAME: &str = "m2";
    let Execution { events, names } = survey.execution(NAME)?;
    let tables = [
        ("events", events.len(), MAX_EVENTS as usize),
        ("variables", names.locations.len(), MAX_OBJECTS),
        ("locks", names.lock_count(), MAX_OBJECTS.min(MAX_LOCKS)),
    ];
    if let Some(&(what, ..)) = tables.iter().find(|(_, has, most)| has > most) {
        return Err(EngineError::TooLong { engine: NAME, what });
    }
    let mut found = Deadlocks {
        all_listed: true,
        stopped: survey.stopped,
        ..Deadlocks::default()
    };
    let events = &events[..survey.judged as usize];
    let graph = match Graph::new(events, names, survey.stop) {
        Ok(graph) => graph,
        Err(why) => {
            survey.cut_short(why);
            (found.all_listed, found.stopped) = (false, Some(why));
            return Ok(found);
        }
    };
    let circles = Circles::new(&graph, names.strands.len(), survey.stop);
    found.all_listed = circles.all;
    if circles.found.is_empty() {
        found.stopped = found.stopped.or_else(|| survey.stop.due());
        return Ok(found);
    }
    let skeleton = ordered(survey, names)?;
    let events = &events[..survey.judged as usize];
    let relaxed = match survey.constructs().iter().any(keeps_order) {
        true => Some(relaxed(survey, events, names)?),
        false => None,
    };
    let mut by_places: BTreeMap<Vec<Site>, Vec<Vec<u32>>> = BTreeMap::new();
    for circle in circles.found {
        let sites = circle.iter().map(|wait| graph.waits[*wait as usize].site);
        let mut sites: Vec<Site> = sites.collect();
        sites.sort_unstable();
        by_places.entry(sites).or_default().push(circle);
    }
    let places: Vec<Vec<Vec<u32>>> = by_places.into_values().collect();
    let hunt = Hunt {
        graph: &graph,
        events,
        sections: Sections::new(&skeleton),
        skeleton: &skeleton,
        relaxed: relaxed.as_ref(),
        options: *options,
        stop: survey.stop,
        kept: 0.into(),
    };
    let outcomes = places.par_iter();
    let outcomes = outcomes.map_init(
        || hunt.deciders(),
        |deciders, circles| hunt.decide(deciders, circles),
    );
    let outcomes: Vec<Outcome> = outcomes.collect();
    let circles = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Deadlock(circle, _) => Some(circle),
        Outcome::Open(open, _) => open.circles.first(),
        Outcome::Impossible => None,
    });
    let waits = waits(events, names, circles.flatten().copied().collect());
    for outcome in outcomes {
        match outcome {
            Outcome::Deadlock(circle, witness) => found.found.push(FoundDeadlock {
                deadlock: deadlock(&waits, &circle),
                witness,
            }),
            Outcome::Impossible => {}
            Outcome::Open(open, why) => {
                let circles = open.circles.iter();
                let circles = circles.map(|circle| circle.iter().map(|&number| number.into()));
                found.undecided.push(OpenDeadlock {
                    deadlock: deadlock(&waits, &open.circles[0]),
                    circles: circles.map(Iterator::collect).collect(),
                    all: !open.more,
                });
                found.stopped = found.stopped.or(why);
            }
        }
    }
    if let Some(why) = found.stopped {
        survey.cut_short(why);
    }
    found.sort();
    Ok(found)
}

/// What a trace has that matters, with all its orders.
fn ordered(survey: &mut Survey, names: &Names) -> Result<Skeleton, EngineError> {
    let matter = survey.matter()?;
    let mut builder = Builder::new(names, &matter);
    survey.feed(Lowering::Observed, &matter, &mut builder)?;
    Ok(builder.finish())
}

/// The same without semaphores, flags and readers of locks: any order that the trace's operations allow, these allow.
fn relaxed(survey: &Survey, events: &[Event], names: &Names) -> Result<Skeleton, EngineError> {
    let mut must_order: Judge<MustOrder, _> =
        Judge::new(names, FastTrack::new(names.locations.len()));
    feed_relaxed(events, names, &survey.exposed.shared, &mut must_order)?;
    let mut matter = must_order.history.suspects();
    matter.union_with(&survey.exposed.atomic);
    let mut builder = Builder::new(names, &matter);
    feed_relaxed(events, names, &matter, &mut builder)?;
    Ok(builder.finish())
}

fn feed_relaxed(
    events: &[Event],
    names: &Names,
    only: &FixedBitSet,
    engine: &mut impl ThreadEngine,
) -> Result<(), EngineError> {
    let stays = |event: &Event| match event.op() {
        Op::AcquireShared(_) | Op::ReleaseShared(_) => false,
        Op::P(_) | Op::V(_) | Op::Post(_) | Op::Clear(_) | Op::Wait(_) => false,
        Op::Read(location, _) | Op::Write(location) => only.contains(location.index()),
        _ => true,
    };
    let events = events.iter().zip(1..);
    let events = events.filter(|(event, _): &(&Event, EventNumber)| stays(event));
    let mut driver = Driver::new(names, Lowering::Observed);
    Ok(driver.feed_some(events, engine)?)
}

/// The deadlock of events of a trace that wait, each for the strand of the next.
pub fn described(trace: &Execution, circle: &[EventNumber]) -> Deadlock {
    let circle: Vec<u32> = circle.iter().map(|&number| number as u32).collect();
    let waits = waits(&trace.events, &trace.names, circle.clone());
    deadlock(&waits, &circle)
}

/// What there is to say of each event that waits.
fn waits(events: &[Event], names: &Names, mut wanted: Vec<u32>) -> FxHashMap<u32, Wait> {
    wanted.sort_unstable();
    wanted.dedup();
    let mut wanted = wanted.into_iter().peekable();
    let mut holding = Holding::new(names);
    let mut waits = FxHashMap::default();
    for (event, number) in events.iter().zip(1..) {
        let Some(&next) = wanted.peek() else { break };
        if next == number {
            wanted.next();
            let wait = Wait {
                strand: event.strand(),
                event: number.into(),
                op: event.op(),
                site: event.site(),
                holds: holding.taken(event.strand()).to_vec(),
            };
            waits.insert(number, wait);
        }
        if event.access().is_none() {
            holding.follow(event, number.into());
        }
    }
    waits
}

/// The deadlock of a circle of events, beginning with the first of them.
fn deadlock(waits: &FxHashMap<u32, Wait>, circle: &[u32]) -> Deadlock {
    let first = (0..circle.len()).min_by_key(|&at| circle[at]);
    let (start, end) = circle.split_at(first.unwrap_or(0));
    let circle = end.iter().chain(start);
    Deadlock {
        waits: circle
            .filter_map(|number| waits.get(number).cloned())
            .collect(),
    }
}
