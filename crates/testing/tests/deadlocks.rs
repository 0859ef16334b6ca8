//! Predicted deadlocks against brute force: every correct reordering of very many small random traces.

use std::collections::BTreeSet;

use deadheat_explain::general::decide_deadlocks;
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
    /// Left open without exact search, and of these the deadlocks: what is missed.
    undecided: u64,
    missed: u64,
}

fn predict(trace: &Execution, complete: Option<Budget>) -> Deadlocks {
    let recorded = Recording::InMemory(trace);
    let mut survey = Survey::new(recorded, &|_, _| {}, StopToken::default()).unwrap();
    let options = Options {
        listing: Listing::Places,
        complete,
    };
    let mut found = deadlocks::predict(&mut survey, &options).unwrap();
    let searched = complete.map(|budget| budget.stop);
    decide_deadlocks(trace, &mut found, searched, StopToken::default()).unwrap();
    found
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
        let open = found.undecided.iter().map(|open| open.deadlock.places());
        let open: BTreeSet<Vec<Site>> = open.collect();
        if let Some(missed) = possible.difference(&shown).find(|p| !open.contains(*p)) {
            return Some(format!("the deadlock at {missed:?} is not even undecided"));
        }
        match complete {
            None => {
                tally.undecided += open.len() as u64;
                tally.missed += open.intersection(&possible).count() as u64;
            }
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
        let isolation = trace.names.isolation();
        let taken = |op: &Op| match *op {
            Op::Acquire(lock) => Some((lock, false, depth(*op, Op::Release(lock)))),
            Op::AcquireShared(lock) => Some((lock, true, depth(*op, Op::ReleaseShared(lock)))),
            Op::IsolatedBegin => Some((isolation, false, depth(*op, Op::IsolatedEnd))),
            _ => None,
        };
        let held = own
            .iter()
            .filter_map(taken)
            .filter(|(_, _, depth)| *depth > 0);
        let mut locks: Vec<_> = held.map(|(lock, shared, _)| (lock, shared)).collect();
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
        if rng.u8(..4) == 0 {
            // Circles of three: little but locks.
            (shape.threads, shape.locks, shape.nesting) = (3, 3, 2);
            (shape.sections, shape.inner_sections) = (0.95, 0.5);
            (shape.releases, shape.empty_sections) = (0.95, 0.95);
            shape.events = rng.usize(14..=22);
            shape.forks = 0.0;
        }
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
            && tally.of_three > trials.count() / 1000
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

const CROSSED: &str = "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a);
    T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";

#[test]
fn locks_taken_in_other_orders_are_a_deadlock() {
    assert_eq!(shown(CROSSED), [[2, 6]]);
    let isolated = "T1 isolated; T1 acq(b); T1 rel(b); T1 endisolated;
        T2 acq(b); T2 isolated; T2 endisolated; T2 rel(b)";
    assert_eq!(shown(isolated), [[2, 6]]);
    let readers = "T1 racq(a); T1 acq(b); T1 rel(b); T1 rrel(a);
        T2 racq(b); T2 acq(a); T2 rel(a); T2 rrel(b)";
    assert_eq!(shown(readers), [[2, 6]]);
    let joins = "T1 fork(T2); T2 acq(a); T2 rel(a); T1 acq(a); T1 join(T2); T1 rel(a)";
    assert_eq!(shown(joins), [[2, 5]]);
}

/// T1 waits for T2 without a lock, T3 for T1 with one.
#[test]
fn who_waits_for_the_end_of_a_strand_waits_for_what_that_waits_for() {
    let text = "T3 fork(T1); T1 fork(T2); T2 acq(a); T2 rel(a); T1 join(T2);
        T3 acq(a); T3 join(T1); T3 rel(a)";
    assert_eq!(shown(text), [[3, 7, 5]]);
}

#[test]
fn philosophers_are_a_deadlock_of_all() {
    let philosopher = |n: usize| {
        let (left, right) = (n, (n + 1) % 4);
        format!("T{n} acq(f{left}); T{n} acq(f{right}); T{n} rel(f{right}); T{n} rel(f{left})")
    };
    let all: Vec<String> = (0..4).map(philosopher).collect();
    assert_eq!(shown(&all.join(";")), [[2, 6, 10, 14]]);
}

#[test]
fn a_section_may_have_to_change_its_place() {
    let text = "T1 acq(a); T1 acq(l); T1 w(x); T1 rel(l); T1 acq(b); T1 rel(b); T1 rel(a);
        T2 acq(l); T2 r(x); T2 rel(l); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";
    // What T2 reads is written while T1 has a.
    assert_eq!(shown(text), [[5, 12]]);
    let swapped = "T1 acq(l); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 rel(l);
        T2 acq(l); T2 w(x); T2 rel(l); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";
    assert_eq!(shown(swapped), [[3, 11]]);
    let trace = trace(swapped);
    let witness = &predict(&trace, None).found[0].witness;
    let order: Vec<u64> = trace.spell_out(witness).collect();
    assert_eq!(order, [7, 8, 9, 1, 2, 10]);
}

/// What other tools take for deadlocks.
#[test]
fn what_cannot_happen_is_not_predicted() {
    let none: [[u64; 2]; 0] = [];
    let silent = [
        // One thread.
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 acq(b); T1 acq(a); T1 rel(a); T1 rel(b)",
        // A guard, also one that is held for reading in one of the two.
        "T1 acq(g); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 rel(g);
         T2 acq(g); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b); T2 rel(g)",
        "T1 racq(g); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 rrel(g);
         T2 acq(g); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b); T2 rel(g)",
        // Given back in between.
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 rel(b); T2 acq(a); T2 rel(a)",
        // A lock that is not published yet: by fork, by a value, by an atomic one.
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 fork(T2);
         T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 w(p);
         T2 r(p); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 astore.release(p);
         T2 aload.acquire(p); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
        // Memory of a lock used again for another one, which is told by a value under a lock.
        "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 free(1); T1 alloc(1);
         T1 acq(h); T1 w(p); T1 rel(h); T2 acq(h); T2 r(p); T2 rel(h);
         T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
        // The first thread is joined before.
        "T0 fork(T1); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T0 join(T1); T0 fork(T2);
         T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
        // Readers.
        "T1 racq(a); T1 racq(b); T1 rrel(b); T1 rrel(a); T2 racq(b); T2 racq(a); T2 rrel(a); T2 rrel(b)",
        // A token that is the only one.
        "T0 v(s); T1 p(s); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 v(s);
         T2 p(s); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b); T2 v(s)",
    ];
    for text in silent {
        assert_eq!(shown(text), none, "{text}");
    }
}

/// The locks of a pair that is taken a million times are of four waits, and only events near to each other are tried.
#[test]
fn a_million_repetitions_cost_one() {
    let mut hot = trace(CROSSED);
    let round = std::mem::take(&mut hot.events);
    for _ in 0..100_000 {
        hot.events.extend(&round);
    }
    let found = predict(&hot, None);
    assert!(found.is_exhaustive());
    let circles: Vec<_> = found
        .found
        .iter()
        .map(|found| found.deadlock.circle())
        .collect();
    assert_eq!(circles, [[2, 6]]);
}

/// Pairs that are ordered by what each thread tells the other in turn: none of very many can be a deadlock.
#[test]
fn very_many_pairs_that_are_ordered_are_passed_over() {
    let mut turns = trace(
        "T1 r(y); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 w(x);
        T2 r(x); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b); T2 w(y)",
    );
    let round = std::mem::take(&mut turns.events);
    for _ in 0..50_000 {
        turns.events.extend(&round);
    }
    let found = predict(&turns, None);
    assert!(found.is_exhaustive() && found.found.is_empty());
}
