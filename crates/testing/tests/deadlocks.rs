//! Predicted deadlocks against brute force: every correct reordering of very many small random traces.

use std::collections::BTreeSet;

use deadheat_model::{Deadlock, Deadlocks, Event, Execution, Op, Site, StopToken};
use deadheat_offline::m2::decide::Budget;
use deadheat_offline::{Listing, Options, Recording, Survey, deadlocks};
use deadheat_testing::Trials;
use deadheat_testing::traces::{Shape, on_random_traces, possible_deadlocks, random_trace, trace};
use deadheat_witness::Witnesses;

/// What was compared, and what came of it.
#[derive(Default, Debug)]
struct Tally {
    traces: u64,
    /// Sets of places with a deadlock, and those of more than two strands, with readers of a lock, with a join.
    possible: u64,
    of_three: u64,
    with_readers: u64,
    with_joins: u64,
    /// Where a section has to change its place.
    reordered: u64,
    /// Circles that cannot happen.
    impossible: u64,
    /// Left open without exact search, and of these the deadlocks: what is missed.
    undecided: u64,
    missed: u64,
    /// Left open with exact search, because orders are kept.
    behind_kept_orders: u64,
}

fn predict(trace: &Execution, complete: Option<Budget>) -> Deadlocks {
    let recorded = Recording::InMemory(trace);
    let mut survey = Survey::new(recorded, &|_, _| {}, StopToken::default()).unwrap();
    let options = Options {
        listing: Listing::Places,
        complete,
    };
    deadlocks::predict(&mut survey, &options).unwrap()
}

fn keeps_order(op: &Op) -> bool {
    matches!(
        op,
        Op::P(_) | Op::V(_) | Op::Post(_) | Op::Clear(_) | Op::Wait(_)
    ) || matches!(op, Op::AcquireShared(_) | Op::ReleaseShared(_))
}

/// What is wrong with what is predicted of a trace, if anything.
fn problem(trace: &Execution, tally: &mut Tally) -> Option<String> {
    let truth = possible_deadlocks(trace).unwrap();
    let site = |number: u64| trace.event(number).unwrap().site();
    let places = |circle: &[u64]| -> Vec<Site> {
        let mut places: Vec<Site> = circle.iter().map(|number| site(*number)).collect();
        places.sort_unstable();
        places
    };
    let possible: BTreeSet<Vec<Site>> = truth.keys().map(|circle| places(circle)).collect();
    tally.traces += 1;
    tally.possible += possible.len() as u64;
    for circle in truth.keys() {
        let ops = || {
            circle
                .iter()
                .map(|number| trace.event(*number).unwrap().op())
        };
        tally.of_three += u64::from(circle.len() > 2);
        tally.with_readers += u64::from(ops().any(|op| matches!(op, Op::AcquireShared(_))));
        tally.with_joins += u64::from(ops().any(|op| matches!(op, Op::Join(_))));
    }
    let witnesses = Witnesses::new(trace).unwrap();
    let kept = trace.events.iter().any(|event| keeps_order(&event.op()));
    for complete in [
        None,
        Some(Budget::of_events(1_000_000, StopToken::default())),
    ] {
        let found = predict(trace, complete);
        if !found.all_listed {
            return Some("not all circles were listed".to_string());
        }
        let mut shown = BTreeSet::new();
        for found in &found.found {
            let circle = found.deadlock.circle();
            if let Err(refusal) = witnesses.verify_deadlock(&circle, &found.witness) {
                return Some(format!("{circle:?}: {:?}: {refusal}", found.witness));
            }
            if let Some(wrong) = wrong_locks(trace, &found.deadlock) {
                return Some(wrong);
            }
            let mut sorted = circle.clone();
            sorted.sort_unstable();
            if !truth.contains_key(&sorted) {
                return Some(format!("{circle:?} is not among {:?}", truth.keys()));
            }
            if !shown.insert(places(&circle)) {
                return Some(format!("the places of {circle:?} are shown twice"));
            }
            let moved = found.witness.then.windows(2).any(|two| two[0] > two[1]);
            tally.reordered += u64::from(moved && complete.is_none());
        }
        let open = found.undecided.iter().map(Deadlock::places);
        let open: BTreeSet<Vec<Site>> = open.collect();
        if let Some(missed) = possible.difference(&shown).find(|p| !open.contains(*p)) {
            return Some(format!("the deadlock at {missed:?} is not even undecided"));
        }
        match complete {
            None => {
                tally.undecided += open.len() as u64;
                tally.missed += open.intersection(&possible).count() as u64;
                tally.impossible += u64::from(shown.is_empty() && open.is_empty() && kept);
            }
            Some(_) if kept => tally.behind_kept_orders += open.len() as u64,
            Some(_) if !open.is_empty() => return Some(format!("left open: {open:?}")),
            Some(_) => {}
        }
    }
    None
}

/// What is wrong with the locks that are said to be held.
fn wrong_locks(trace: &Execution, deadlock: &Deadlock) -> Option<String> {
    for wait in &deadlock.waits {
        let own = trace.events[..wait.event as usize - 1].iter();
        let own: Vec<Op> = own
            .filter(|event| event.strand() == wait.strand)
            .map(Event::op)
            .collect();
        let depth = |taken: Op, given: Op| {
            let count = |wanted: Op| own.iter().filter(|op| **op == wanted).count();
            count(taken) - count(given)
        };
        let mut locks: Vec<_> = own
            .iter()
            .filter_map(|op| match *op {
                Op::Acquire(lock) => Some((lock, false)),
                Op::AcquireShared(lock) => Some((lock, true)),
                _ => None,
            })
            .filter(|(lock, shared)| match shared {
                false => depth(Op::Acquire(*lock), Op::Release(*lock)) > 0,
                true => depth(Op::AcquireShared(*lock), Op::ReleaseShared(*lock)) > 0,
            })
            .collect();
        locks.sort_unstable();
        locks.dedup();
        let mut holds: Vec<_> = wait
            .holds
            .iter()
            .map(|held| (held.lock, held.shared))
            .collect();
        holds.sort_unstable();
        if holds != locks {
            return Some(format!(
                "event {}: {holds:?} instead of {locks:?}",
                wait.event
            ));
        }
    }
    None
}

/// Some events are at the same place.
fn with_few_places(mut trace: Execution, places: u32) -> Execution {
    for event in &mut trace.events {
        *event = Event::new(event.strand(), event.op(), Site(event.site().0 % places));
    }
    trace
}

#[test]
fn what_is_predicted_agrees_with_brute_force() {
    let trials = Trials::new(7, 4000);
    let some_trace = |rng: &mut fastrand::Rng| {
        let mut shape = Shape::nested(rng, 20);
        shape.events = rng.usize(10..=24);
        shape.threads = rng.choice([2, 2, 3, 3, 4]).unwrap_or(2);
        shape.locks = rng.usize(2..=3);
        shape.nesting = rng.usize(2..=3);
        shape.sections = 0.9;
        shape.inner_sections = 0.4 + rng.f64() / 2.0;
        shape.releases = 0.5 + rng.f64() / 2.0;
        shape.interruptions = rng.f64() / 8.0;
        shape.locations = rng.usize(1..=3);
        shape.everything = rng.u8(..3) == 0;
        let trace = random_trace(rng, &shape);
        match rng.bool() {
            true => {
                let places = rng.u32(4..20);
                with_few_places(trace, places)
            }
            false => trace,
        }
    };
    let mut tally = Tally::default();
    on_random_traces(&trials, some_trace, |trace| problem(trace, &mut tally));
    println!("{tally:?}");
    trials.expect(
        tally.possible > trials.count() / 10
            && tally.of_three > 0
            && tally.with_readers > 0
            && tally.with_joins > 0
            && tally.reordered > 0,
        format!("{tally:?}"),
    );
}

/// The circles that are predicted, by the numbers of their events, all of them proved.
fn shown(text: &str) -> Vec<Vec<u64>> {
    let trace = trace(text);
    assert_eq!(problem(&trace, &mut Tally::default()), None, "{text}");
    let found = predict(&trace, None);
    assert!(found.is_exhaustive(), "{text}: {:?}", found.undecided);
    found
        .found
        .iter()
        .map(|found| found.deadlock.circle())
        .collect()
}

#[test]
fn crossed_locks_are_a_deadlock() {
    let two =
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";
    assert_eq!(shown(two), [[2, 6]]);
}
