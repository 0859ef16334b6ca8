//! The checker and the brute force against the definitions of M2, section 2, written down as they
//! are printed: sequences looked at as a whole, nothing carried from one event to the next.

use std::collections::BTreeSet;

use deadheat_model::{
    Access, AccessKind, Event, EventNumber, Execution, Location, Lock, Op, Strand,
};
use deadheat_testing::Trials;
use deadheat_testing::traces::{Shape, on_random_traces, predictable_races, random_trace};
use deadheat_witness::Witnesses;
use fastrand::Rng;

fn event(trace: &Execution, number: EventNumber) -> &Event {
    &trace.events[number as usize - 1]
}

fn strand(trace: &Execution, number: EventNumber) -> Strand {
    event(trace, number).strand()
}

/// The write that the event at `position` of a sequence observes.
fn observes(
    trace: &Execution,
    sequence: &[EventNumber],
    position: usize,
    location: Location,
) -> Option<EventNumber> {
    let before = sequence[..position].iter().rev().copied();
    let mut writes = before.filter(|&number| event(trace, number).op() == Op::Write(location));
    writes.next()
}

/// No lock is acquired twice without its release in between, by the same thread.
fn locks_hold(trace: &Execution, sequence: &[EventNumber]) -> bool {
    let uses = |lock: Lock| {
        let of_lock = sequence.iter().copied().filter(move |&number| {
            let op = event(trace, number).op();
            op == Op::Acquire(lock) || op == Op::Release(lock)
        });
        of_lock.collect::<Vec<_>>()
    };
    (0..8).map(Lock).all(|lock| {
        uses(lock).chunks(2).all(|pair| {
            event(trace, pair[0]).op() == Op::Acquire(lock)
                && pair.get(1).is_none_or(|&second| {
                    event(trace, second).op() == Op::Release(lock)
                        && strand(trace, pair[0]) == strand(trace, second)
                })
        })
    })
}

/// Forks come before what they start, joins after all of what they wait for.
fn threads_hold(trace: &Execution, sequence: &[EventNumber]) -> bool {
    let everything: Vec<_> = (1..=trace.events.len() as EventNumber).collect();
    let forks = everything
        .iter()
        .all(|&fork| match event(trace, fork).op() {
            Op::Fork(child) => sequence.iter().enumerate().all(|(at, &number)| {
                strand(trace, number) != child || sequence[..at].contains(&fork)
            }),
            _ => true,
        });
    forks
        && sequence
            .iter()
            .enumerate()
            .all(|(at, &join)| match event(trace, join).op() {
                Op::Join(child) => everything.iter().all(|number| {
                    let forks_it = event(trace, *number).op() == Op::Fork(child);
                    (strand(trace, *number) != child && !forks_it)
                        || sequence[..at].contains(number)
                }),
                _ => true,
            })
}

/// Whether a sequence of distinct events is a witness, for locks, forks and joins.
fn is_witness(trace: &Execution, sequence: &[EventNumber]) -> bool {
    let Some((before, &[e1, e2])) = sequence.split_last_chunk::<2>() else {
        return false;
    };
    let everything: Vec<_> = (1..=trace.events.len() as EventNumber).collect();
    let of = |sequence: &[EventNumber], wanted: Strand| {
        let own = sequence.iter().copied();
        own.filter(|&number| strand(trace, number) == wanted)
            .collect::<Vec<_>>()
    };
    let strands = (0..8).map(Strand);
    let prefixes = strands
        .into_iter()
        .all(|s| of(&everything, s).starts_with(&of(sequence, s)));
    let observations =
        before
            .iter()
            .enumerate()
            .all(|(at, &number)| match event(trace, number).access() {
                Some(Access {
                    location,
                    kind: AccessKind::Read,
                }) => {
                    let in_trace = observes(trace, &everything, number as usize - 1, location);
                    observes(trace, sequence, at, location) == in_trace
                }
                _ => true,
            });
    let conflict = match (event(trace, e1).access(), event(trace, e2).access()) {
        (Some(one), Some(other)) => one.conflicts_with(&other),
        _ => false,
    };
    prefixes
        && observations
        && locks_hold(trace, sequence)
        && threads_hold(trace, sequence)
        && conflict
        && strand(trace, e1) != strand(trace, e2)
}

/// Calls `visit` with every sequence of distinct events of a trace.
fn every_sequence(events: u64, sequence: &mut Vec<u64>, visit: &mut impl FnMut(&[u64])) {
    visit(sequence);
    for number in 1..=events {
        if !sequence.contains(&number) {
            sequence.push(number);
            every_sequence(events, sequence, visit);
            sequence.pop();
        }
    }
}

/// Whether checker, brute force and definition disagree on a trace.
fn disagree(trace: &Execution) -> bool {
    let witnesses = Witnesses::new(trace).unwrap();
    let mut agree = true;
    let mut races = BTreeSet::new();
    let events = trace.events.len() as u64;
    every_sequence(events, &mut Vec::new(), &mut |sequence| {
        let expected = is_witness(trace, sequence);
        let (first, second) = match *sequence {
            [.., e1, e2] => (e1.min(e2), e1.max(e2)),
            _ => (1, 2),
        };
        agree &= witnesses.verify(first, second, sequence).is_ok() == expected;
        if expected {
            races.insert((first, second));
        }
    });
    let found = predictable_races(trace).unwrap();
    !agree || !found.into_keys().eq(races)
}

#[test]
fn checker_and_brute_force_say_what_the_definition_says() {
    let (mut races, mut quiet) = (0, 0);
    let trials = Trials::new(1, 400);
    let some_trace = |rng: &mut Rng| {
        let shape = Shape {
            locks: rng.usize(0..=2),
            locations: rng.usize(1..=2),
            joins: 0.3,
            ..Shape::random(rng, 7)
        };
        random_trace(rng, &shape)
    };
    on_random_traces(&trials, some_trace, |trace| {
        match predictable_races(trace).unwrap().is_empty() {
            true => quiet += 1,
            false => races += 1,
        }
        disagree(trace).then(|| "they disagree".to_string())
    });
    trials.expect(races > 100 && quiet > 50, format!("{races} {quiet}"));
}

/// A trace with everything that orders threads, in half of them.
fn any_trace(rng: &mut Rng) -> Execution {
    let shape = Shape {
        reentrant: rng.bool(),
        everything: rng.bool(),
        ..Shape::random(rng, 14)
    };
    random_trace(rng, &shape)
}

#[test]
fn the_checker_accepts_every_witness_of_the_brute_force_and_refuses_it_beheaded() {
    let mut accepted = 0;
    let trials = Trials::new(2, 3000);
    for trial in &trials {
        let trace = any_trace(&mut trial.rng());
        let witnesses = Witnesses::new(&trace).unwrap();
        for (&(first, second), witness) in &predictable_races(&trace).unwrap() {
            let verdict = witnesses.verify(first, second, witness);
            assert_eq!(verdict, Ok(()), "{}", trace);
            assert!(witnesses.verify(first, first, witness).is_err());
            let cut = &witness[1..];
            let lost = strand(&trace, witness[0]);
            if cut.iter().any(|&number| strand(&trace, number) == lost) {
                assert!(witnesses.verify(first, second, cut).is_err());
            }
            accepted += 1;
        }
    }
    trials.expect(accepted > 5_000, accepted);
}

/// A walk through random events that can come next finds no race that the brute force has not.
#[test]
fn no_random_run_shows_a_race_that_the_brute_force_misses() {
    let mut seen = 0;
    let trials = Trials::new(3, 1500);
    for trial in &trials {
        let mut rng = trial.rng();
        let trace = any_trace(&mut rng);
        let witnesses = Witnesses::new(&trace).unwrap();
        let races = predictable_races(&trace).unwrap();
        let events = trace.events.len() as u64;
        for _ in 0..50 {
            let mut sequence: Vec<_> = (1..=events).collect();
            // A sequence that is nearly the trace, cut anywhere.
            for _ in 0..rng.usize(0..4) {
                let moved = sequence.remove(rng.usize(0..sequence.len()));
                sequence.insert(rng.usize(0..=sequence.len()), moved);
            }
            sequence.truncate(rng.usize(2..=sequence.len()));
            let &[.., e1, e2] = &sequence[..] else {
                continue;
            };
            if witnesses.verify(e1, e2, &sequence).is_ok() {
                let pair = (e1.min(e2), e1.max(e2));
                assert!(races.contains_key(&pair), "{}", trace);
                seen += 1;
            }
        }
    }
    trials.expect(seen > 1000, seen);
}
