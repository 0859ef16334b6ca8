//! Witnesses of DC races are reorderings that can happen, on very many random traces; and what DC
//! cannot vindicate as the papers say.

use std::collections::BTreeSet;

use deadheat_model::{Event, EventNumber, Execution, Op, Site, Strand};
use deadheat_offline::threads::vindicate::Vindicator;
use deadheat_offline::threads::{hb, wcp};
use deadheat_testing::Trials;
use deadheat_testing::traces::definitions::{PartialOrders, Section, observed, sections};
use deadheat_testing::traces::{FIGURE_1A, FIGURE_1B, Shape, random_trace, synchronisation, trace};
use fastrand::Rng;

/// How many traces are tried, unless the environment says otherwise.
const TRACES: u64 = 4000;

fn some_trace(rng: &mut Rng, longest: usize) -> Execution {
    let shape = Shape::nested(rng, longest);
    random_trace(rng, &shape)
}

fn witness(trace: &Execution, one: EventNumber, other: EventNumber) -> Option<Vec<EventNumber>> {
    let vindicator = Vindicator::new(&trace.events, &trace.names).unwrap();
    let witness = vindicator.witness(one, other)?;
    Some(trace.spell_out(&witness).collect())
}

/// By event, from 0, what it waits for.
fn awaited(trace: &Execution) -> Vec<Vec<usize>> {
    let mut awaited = vec![Vec::new(); trace.events.len()];
    for (earlier, later) in synchronisation(trace) {
        awaited[later].push(earlier);
    }
    awaited
}

/// What is wrong with a witness of a race between two events, numbered from 1.
fn flaw(
    trace: &Execution,
    awaited: &[Vec<usize>],
    pair: [EventNumber; 2],
    witness: &[EventNumber],
) -> Option<String> {
    let events = &trace.events;
    let row: Vec<usize> = witness.iter().map(|number| *number as usize - 1).collect();
    let set: BTreeSet<usize> = row.iter().copied().collect();
    if set.len() != row.len() || !row.iter().all(|event| *event < events.len()) {
        return Some("events twice, or that are not there".into());
    }
    if witness[row.len() - 2..].iter().collect::<BTreeSet<_>>() != pair.iter().collect() {
        return Some("the two do not come last".into());
    }
    let mut places = vec![None; events.len()];
    for (place, &event) in row.iter().enumerate() {
        places[event] = Some(place);
    }
    let at = |event: usize| places[event];
    for (place, &event) in row.iter().enumerate() {
        let same_strand = |before: &usize| events[*before].strand() == events[event].strand();
        let before = (0..event).filter(same_strand);
        let mut before = before.chain(awaited[event].iter().copied());
        if let Some(before) = before.find(|before| at(*before).is_none_or(|at| at > place)) {
            return Some(format!("{} without {} before it", event + 1, before + 1));
        }
        if let (Op::Read(location, _), true) = (events[event].op(), place + 2 < row.len()) {
            let mut before = row[..place].iter().copied();
            let write = before.rfind(|write| events[*write].op() == Op::Write(location));
            if write != observed(events, event) {
                return Some(format!("{} sees something else", event + 1));
            }
        }
    }
    let sections = sections(events);
    for one in &sections {
        for other in sections.iter().filter(|other| other.lock == one.lock) {
            let (Some(begin), Some(later)) = (at(one.acquire), at(other.acquire)) else {
                continue;
            };
            let end = one.release.and_then(at);
            if begin < later && end.is_none_or(|end| end > later) {
                return Some(format!(
                    "{} while {} holds",
                    other.acquire + 1,
                    one.acquire + 1
                ));
            }
        }
    }
    None
}

/// What some reordering can do.
struct Truth {
    /// The pairs that race, numbered from 1.
    races: BTreeSet<(EventNumber, EventNumber)>,
    /// Whether strands can wait for each other in a circle.
    deadlock: bool,
}

/// Tries all reorderings.
fn by_brute_force(trace: &Execution) -> Truth {
    let events = &trace.events[..];
    let orders = PartialOrders::new(trace);
    let hard = &orders.hard;
    let sections = sections(events);
    let mut races = BTreeSet::new();
    let mut deadlock = false;
    let mut seen = BTreeSet::new();
    // Which events have happened, and the last write of each location.
    let mut left: Vec<(u64, Vec<Option<usize>>)> = vec![(0, vec![None; 8])];
    while let Some((done, values)) = left.pop() {
        let has = |event: usize| done >> event & 1 == 1;
        let next: Vec<usize> = (0..events.len())
            .filter(|event| !has(*event))
            .filter(|event| (0..events.len()).all(|b| !hard.has(b, *event) || has(b)))
            .collect();
        for (at, &a) in next.iter().enumerate() {
            for &b in &next[at + 1..] {
                if events[a].conflicts_with(&events[b]) {
                    races.insert((a as EventNumber + 1, b as EventNumber + 1));
                }
            }
        }
        deadlock |= is_circle(|strand| {
            let mut all = (0..events.len()).filter(|event| !has(*event));
            let Some(next) = all.find(|event| events[*event].strand() == strand) else {
                return Vec::new();
            };
            let missing = orders.awaited.iter();
            let missing = missing.filter(|(a, b)| *b == next && !has(*a));
            let mut waits: Vec<Strand> = missing.map(|(a, _)| events[*a].strand()).collect();
            if let Op::Acquire(lock) = events[next].op() {
                let open = |one: &&Section| {
                    one.lock == lock && has(one.acquire) && !one.release.is_some_and(has)
                };
                let holder = sections
                    .iter()
                    .find(open)
                    .map(|it| events[it.acquire].strand());
                waits.extend(holder.filter(|holder| *holder != strand));
            }
            waits
        });
        for &event in &next {
            let mut values = values.clone();
            match events[event].op() {
                Op::Read(x, _) | Op::AtomicLoad(x, _) | Op::AtomicUpdate(x, _)
                    if values[x.index()] != observed(events, event) =>
                {
                    continue;
                }
                Op::Write(x) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => {
                    values[x.index()] = Some(event);
                }
                Op::Acquire(lock) => {
                    let held = sections.iter().filter(|section| section.lock == lock);
                    let mut held = held.filter(|section| section.acquire != event);
                    let begins = sections.iter().any(|section| section.acquire == event);
                    let open = |end: Option<usize>| !end.is_some_and(has);
                    if begins && held.any(|one| has(one.acquire) && open(one.release)) {
                        continue;
                    }
                }
                _ => {}
            }
            let state = (done | 1 << event, values);
            if seen.insert(state.clone()) {
                left.push(state);
            }
        }
    }
    Truth { races, deadlock }
}

/// Whether some strand waits for itself in the end.
fn is_circle(waits_for: impl Fn(Strand) -> Vec<Strand>) -> bool {
    (0..8).map(Strand).any(|strand| {
        let mut seen = BTreeSet::new();
        let mut left = waits_for(strand);
        while let Some(at) = left.pop() {
            if seen.insert(at) {
                left.extend(waits_for(at));
            }
        }
        seen.contains(&strand)
    })
}

/// The conflicting pairs that DC leaves unordered, and whether WCP does: from 1.
fn unordered(trace: &Execution) -> Vec<([EventNumber; 2], bool)> {
    let orders = PartialOrders::new(trace);
    let (dc, wcp) = (orders.doesnt_commute(), orders.weakly_causally_precedes());
    let n = trace.events.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let events = &trace.events;
    let pairs = pairs.filter(|(a, b)| events[*a].conflicts_with(&events[*b]) && !dc.has(*a, *b));
    let pairs = pairs.map(|(a, b)| {
        let numbers = [a as EventNumber + 1, b as EventNumber + 1];
        (numbers, !wcp.has(a, b))
    });
    pairs.collect()
}

#[test]
fn every_witness_can_happen() {
    let (mut pairs, mut vindicated, mut only_dc) = (0, 0, 0);
    let trials = Trials::new(6, TRACES);
    for trial in &trials {
        let trace = some_trace(&mut trial.rng(), 40);
        let awaited = awaited(&trace);
        for (pair, by_wcp) in unordered(&trace) {
            pairs += 1;
            let Some(witness) = witness(&trace, pair[0], pair[1]) else {
                continue;
            };
            vindicated += 1;
            only_dc += usize::from(!by_wcp);
            if let Some(flaw) = flaw(&trace, &awaited, pair, &witness) {
                panic!("{pair:?} by {witness:?}: {flaw}\n{}", trace);
            }
        }
    }
    println!("{vindicated} of {pairs} pairs vindicated, {only_dc} of them ordered by WCP");
    trials.expect(
        0 < only_dc && only_dc < vindicated && vindicated < pairs,
        format!("{vindicated} of {pairs}, {only_dc}"),
    );
}

#[test]
fn nearly_every_dc_race_that_is_one_is_vindicated() {
    // Those that are not: a section is closed although it could have been left out, and the like.
    let (mut true_races, mut vindicated) = (0, 0);
    let trials = Trials::new(7, TRACES).divided_by(4);
    for trial in &trials {
        let trace = some_trace(&mut trial.rng(), 16);
        let races = by_brute_force(&trace).races;
        for ([a, b], _) in unordered(&trace) {
            let found = witness(&trace, a, b).is_some();
            assert!(!found || races.contains(&(a, b)), "{}", trace);
            true_races += u32::from(races.contains(&(a, b)));
            vindicated += u32::from(found);
        }
    }
    println!("{vindicated} of {true_races} DC races that can happen were vindicated");
    trials.expect(
        vindicated * 1000 >= true_races * 998,
        format!("{vindicated} of {true_races}"),
    );
}

#[test]
fn witnesses_can_happen_whatever_the_window() {
    let (mut pairs, mut vindicated) = (0, 0);
    let trials = Trials::new(8, TRACES).divided_by(100);
    for trial in &trials {
        let mut rng = trial.rng();
        let trace = some_trace(&mut rng, 1500);
        let awaited = awaited(&trace);
        let vindicator = Vindicator::new(&trace.events, &trace.names).unwrap();
        for _ in 0..200 {
            let first = rng.usize(..trace.events.len());
            let second = (first + rng.usize(1..200)).min(trace.events.len() - 1);
            let pair = [first as EventNumber + 1, second as EventNumber + 1];
            let witness = vindicator.witness(pair[0], pair[1]);
            let witness = witness.map(|witness| trace.spell_out(&witness).collect::<Vec<_>>());
            let Some(witness) = witness else {
                pairs += 1;
                continue;
            };
            (pairs, vindicated) = (pairs + 1, vindicated + 1);
            if let Some(flaw) = flaw(&trace, &awaited, pair, &witness) {
                panic!("{pair:?} by {witness:?}: {flaw}\n{}", trace);
            }
        }
    }
    println!("{vindicated} of {pairs} pairs vindicated");
    trials.expect(
        0 < vindicated && vindicated < pairs,
        format!("{vindicated} of {pairs}"),
    );
}

#[test]
fn what_m2_says_about_dc_in_figure_1() {
    let a = trace(FIGURE_1A);
    assert!(unordered(&a).is_empty());
    assert_eq!(witness(&a, 2, 7), None);
    let b = trace(FIGURE_1B);
    assert_eq!(unordered(&b), [([2, 14], false)]);
    assert_eq!(witness(&b, 2, 14), None);
    // It is a race, though.
    assert!(by_brute_force(&b).races.contains(&(2, 14)));
}

#[test]
fn a_race_that_wcp_misses_and_dc_finds() {
    // Strand 1 takes m after strand 0, but does nothing there that would mind coming first.
    let trace = trace(
        "T0 w(x); T0 acq(m); T0 rel(m); T1 acq(m); T1 rel(m); T1 acq(n); T1 w(z);
        T1 rel(n); T2 acq(n); T2 r(z); T2 rel(n); T2 w(x)",
    );
    assert_eq!(unordered(&trace), [([1, 12], false)]);
    let expected = vec![4, 5, 6, 7, 8, 9, 10, 11, 1, 12];
    assert_eq!(witness(&trace, 1, 12), Some(expected));
}

#[test]
fn dc_alone_is_not_enough() {
    // Both accesses are unordered, but each read of the other's flag would see something else.
    let trace = trace("T0 w(x); T0 w(f); T1 r(f); T1 w(x)");
    assert_eq!(unordered(&trace), [([1, 4], true), ([2, 3], true)]);
    assert_eq!(witness(&trace, 1, 4), None);
    assert_eq!(witness(&trace, 2, 3), Some(vec![1, 2, 3]));
}

#[test]
fn readers_of_a_lock_keep_writers_out() {
    let trace = trace(
        "T0 w(x); T0 acq(l); T0 rel(l); T1 acq(l); T1 rel(l); T2 racq(l); T2 w(x);
        T2 rrel(l); T3 acq(l); T3 w(x); T3 rel(l)",
    );
    // The reader needs the writer before it, and may keep the lock; the later writer may not have it.
    assert_eq!(witness(&trace, 1, 7), Some(vec![4, 5, 6, 1, 7]));
    assert_eq!(witness(&trace, 7, 10), None);
}

#[test]
fn pairs_that_are_none_have_no_witness() {
    let trace = trace("T0 w(x); T0 w(x); T1 r(x); T2 r(x); T1 w(y)");
    for (one, other) in [(1, 2), (3, 4), (1, 5), (0, 1), (1, 6), (7, 9), (1, 1)] {
        assert_eq!(witness(&trace, one, other), None, "{one} {other}");
    }
    // In whichever order they are named.
    assert_eq!(witness(&trace, 3, 1), Some(vec![1, 3]));
}

/// The trace, and in the end whoever holds a lock gives it back.
fn completed(mut trace: Execution) -> Execution {
    let mut held: Vec<(Strand, Op)> = Vec::new();
    for event in &trace.events {
        match event.op() {
            Op::Acquire(lock) => held.push((event.strand(), Op::Release(lock))),
            Op::AcquireShared(lock) => held.push((event.strand(), Op::ReleaseShared(lock))),
            release @ (Op::Release(_) | Op::ReleaseShared(_)) => {
                let mut held_by = held.iter();
                let holding = held_by.rposition(|held| *held == (event.strand(), release));
                held.remove(holding.unwrap());
            }
            _ => {}
        }
    }
    let releases = held.into_iter().rev();
    let releases = releases.map(|(strand, release)| Event::new(strand, release, Site(0)));
    trace.events.extend(releases);
    trace
}

/// Whether two sections of a strand overlap without one being inside the other.
fn overlaps(trace: &Execution) -> bool {
    let sections = sections(&trace.events);
    let strand = |one: &Section| trace.events[one.acquire].strand();
    let pairs = sections
        .iter()
        .flat_map(|a| sections.iter().map(move |b| (a, b)));
    let mut pairs = pairs.filter(|(a, b)| strand(a) == strand(b) && a.acquire < b.acquire);
    pairs.any(|(a, b)| a.release > Some(b.acquire) && a.release < b.release)
}

/// The engine promises nothing where sections overlap, or are left open: here neither is possible, nor is a
/// deadlock.
#[test]
fn where_wcp_is_wrong_it_promises_nothing() {
    let hand_over_hand = "T2 acq(k); T2 acq(l); T2 r(x); T2 rel(k); T2 r(x); T2 rel(l);
        T1 acq(k); T1 acq(l); T1 rel(l); T1 w(x); T1 rel(k)";
    let left_open = "T1 acq(l); T1 w(y); T1 w(x); T2 r(y); T2 acq(k); T2 w(x); T2 rel(k)";
    for (text, why) in [(hand_over_hand, "took later"), (left_open, "stops inside")] {
        let trace = trace(text);
        let found = wcp::ENGINE.check(&trace).unwrap();
        assert!(!found.races.is_empty(), "{text}");
        assert!(
            found.without_promise.is_some_and(|said| said.contains(why)),
            "{text}"
        );
    }
    let truth = by_brute_force(&trace(hand_over_hand));
    assert!(truth.races.is_empty() && !truth.deadlock);
    let nested = trace("T1 acq(l); T1 w(x); T1 rel(l); T2 w(x)");
    assert_eq!(wcp::ENGINE.check(&nested).unwrap().without_promise, None);
}

/// Who forks inside a section and joins there holds the lock for its child.
#[test]
fn a_child_of_a_section_neither_races_with_sections_of_the_lock_nor_is_said_to() {
    let trace = trace(
        "T1 acq(l); T1 r(x); T1 rel(l); T2 acq(l); T2 fork(T3); T3 w(x); T2 join(T3); T2 rel(l)",
    );
    let truth = by_brute_force(&trace);
    assert!(truth.races.is_empty() && !truth.deadlock);
    assert_eq!(unordered(&trace), [([2, 6], false)]);
    assert_eq!(witness(&trace, 2, 6), None);
}

#[test]
fn if_wcp_finds_a_race_there_is_one_or_a_deadlock() {
    // Of traces in which happens-before finds nothing.
    let (mut races, mut deadlocks) = (0, 0);
    let trials = Trials::new(9, TRACES).times(4);
    for trial in &trials {
        let mut rng = trial.rng();
        let shape = Shape {
            everything: rng.u32(..3) == 0,
            ..Shape::nested(&mut rng, 20)
        };
        let trace = completed(random_trace(&mut rng, &shape));
        // Brute force keeps the order of posts and waits, and would let the clear come in between.
        let clears = |event: &Event| matches!(event.op(), Op::Clear(_));
        if trace.events.iter().any(clears) || overlaps(&trace) {
            continue;
        }
        let found = wcp::ENGINE.check(&trace).unwrap();
        assert_eq!(found.without_promise, None);
        let by_hb = hb::ENGINE.check(&trace).unwrap();
        if by_hb.races.is_empty() && !found.races.is_empty() {
            let truth = by_brute_force(&trace);
            races += u32::from(!truth.races.is_empty());
            deadlocks += u32::from(truth.races.is_empty());
            let something = !truth.races.is_empty() || truth.deadlock;
            assert!(something, "{:?}\n{trace}", found.races);
        }
    }
    println!("{races} with races, {deadlocks} with a deadlock only");
    trials.expect(races > 0, races);
}
