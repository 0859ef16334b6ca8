//! M2 against brute force: every correct reordering of very many small random traces.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{
    Construct, Event, EventNumber, Execution, Findings, Location, Lock, Op, Race, Site, StopToken,
    Strand,
};
use deadheat_offline::m2::decide::Budget;
use deadheat_offline::threads::{eraser, shb};
use deadheat_offline::{Listing, Options, Recording, m2};
use deadheat_testing::Trials;
use deadheat_testing::traces::{Shape, on_random_traces, predictable_races, random_trace, trace};
use deadheat_witness::Witnesses;

type Pair = (EventNumber, EventNumber);

/// What was compared, and what came of it.
#[derive(Default, Debug)]
struct Tally {
    traces: u64,
    with_two_strands: u64,
    races: u64,
    /// Left open by M2, and of these the races: what it misses.
    undecided: u64,
    missed: u64,
    /// Traces with atomic accesses of which all races are to be found.
    exact_with_atomics: u64,
    /// Races that are not found because orders were kept, of semaphores and the like.
    behind_kept_orders: u64,
}

fn pair(race: &Race) -> Pair {
    (race.first.event, race.second.event)
}

/// What is wrong with what M2 says of a trace, if anything.
fn problem(trace: &Execution, tally: &mut Tally) -> Option<String> {
    let truth: BTreeSet<Pair> = predictable_races(trace).unwrap().into_keys().collect();
    let witnesses = Witnesses::new(trace).unwrap();
    let strands: BTreeSet<_> = trace.events.iter().map(|e| e.strand()).collect();
    tally.traces += 1;
    tally.with_two_strands += (strands.len() <= 2) as u64;
    tally.races += truth.len() as u64;
    let ops = || trace.events.iter().map(Event::op);
    let atomics = ops().any(|op| op.construct() == Some(Construct::Atomic));
    tally.exact_with_atomics += u64::from(atomics && !ops().any(|op| keeps_order(&op)));
    for complete in [
        None,
        Some(Budget::of_events(1_000_000, StopToken::default())),
    ] {
        for all_pairs in [true, false] {
            let options = Options {
                listing: listing(all_pairs),
                complete,
            };
            let recorded = Recording::InMemory(trace);
            let found = m2::ENGINE.ask(recorded, &options).unwrap();
            for shown in &found.races {
                let (first, second) = pair(&shown.race);
                let witness = shown.witness.as_ref().unwrap();
                let spelt: Vec<EventNumber> = trace.spell_out(witness).collect();
                if let Err(refusal) = witnesses.verify(first, second, &spelt) {
                    return Some(format!("({first}, {second}): {spelt:?}: {refusal}"));
                }
                if let Err(refusal) = witnesses.verify_witness(first, second, witness) {
                    return Some(format!("({first}, {second}): {witness:?}: {refusal}"));
                }
            }
            if let Some(missed) = missed_of_recorded(trace, &options, &found) {
                return Some(format!("SHB shows {missed:?}, M2 does not"));
            }
            let exact = complete.is_some() || strands.len() <= 2;
            if exact && !found.undecided.is_empty() {
                return Some(format!("left open: {:?}", found.undecided));
            }
            let races: Vec<Race> = found.races.iter().map(|shown| shown.race).collect();
            if found.exhaustive && all_pairs {
                let found: BTreeSet<Pair> = races.iter().map(pair).collect();
                if found != truth {
                    return Some(format!("{found:?} instead of {truth:?}"));
                }
            }
            if found.exhaustive && !all_pairs {
                let found = races
                    .iter()
                    .map(|race| (places(trace, pair(race)), race.count));
                let mut expected = BTreeMap::new();
                for &pair in &truth {
                    *expected.entry(places(trace, pair)).or_insert(0) += 1;
                }
                let found: BTreeMap<_, u64> = found.collect();
                if found != expected {
                    return Some(format!("{found:?} instead of {expected:?}"));
                }
            }
            let locations: BTreeSet<_> = races.iter().map(|race| race.location).collect();
            if all_pairs && !locations.iter().eq(&found.racy) {
                return Some(format!("{locations:?} are not {:?}", found.racy));
            }
            if all_pairs && complete.is_none() {
                let open: BTreeSet<Pair> = found.undecided.iter().map(pair).collect();
                let races: BTreeSet<Pair> = races.iter().map(pair).collect();
                tally.undecided += open.len() as u64;
                tally.missed += truth.intersection(&open).count() as u64;
                for &race in truth.difference(&races).filter(|race| !open.contains(race)) {
                    match found.kept_orders {
                        true => tally.behind_kept_orders += 1,
                        false => return Some(format!("{race:?} is not even undecided")),
                    }
                }
            }
        }
    }
    None
}

/// A race of SHB that M2 does not show, listed alike.
fn missed_of_recorded(trace: &Execution, options: &Options, found: &Findings) -> Option<Race> {
    let recorded = shb::ENGINE.ask(Recording::InMemory(trace), options);
    let recorded = recorded.unwrap().races.into_iter();
    let same = |one: &Race, other: &Race| match options.listing {
        Listing::Pairs => one.key() == other.key(),
        _ => one.places() == other.places(),
    };
    let is_shown = |race: &Race| found.races.iter().any(|shown| same(&shown.race, race));
    recorded
        .map(|finding| finding.race)
        .find(|race| !is_shown(race))
}

fn places(trace: &Execution, (first, second): Pair) -> (Site, Site) {
    let site = |number| trace.event(number).unwrap().site();
    let (a, b) = (site(first), site(second));
    (a.min(b), a.max(b))
}

/// Some events are at the same place.
fn with_few_places(mut trace: Execution, places: u32) -> Execution {
    for event in &mut trace.events {
        *event = Event::new(event.strand(), event.op(), Site(event.site().0 % places));
    }
    trace
}

#[test]
fn what_m2_says_agrees_with_brute_force() {
    let trials = Trials::new(1, 4000);
    let some_trace = |rng: &mut fastrand::Rng| {
        let mut shape = Shape::random(rng, 16);
        if rng.bool() {
            // More of what is hard: sections of few locks by several threads.
            shape.threads = rng.usize(3..=4);
            shape.events = rng.usize(12..=18);
            shape.sections = 0.5 + rng.f64() / 3.0;
            shape.locks = rng.usize(1..=2);
            shape.locations = rng.usize(2..=3);
        }
        shape.reentrant = rng.u8(..4) == 0;
        shape.everything = rng.u8(..4) == 0;
        let places = rng.u32(2..20);
        let mut trace = with_few_places(random_trace(rng, &shape), places);
        if shape.everything && rng.bool() {
            // Without what is kept in order: of these, all races are to be found.
            trace.events.retain(|event| !keeps_order(&event.op()));
        }
        trace
    };
    let mut tally = Tally::default();
    on_random_traces(&trials, some_trace, |trace| problem(trace, &mut tally));
    let count = trials.count();
    trials.expect(
        tally.with_two_strands > count / 10
            && tally.races > count
            && tally.exact_with_atomics > count / 50,
        format!("{tally:?}"),
    );
    println!("{tally:?}");
}

/// Whether M2 keeps the recorded order of an operation, though a reordering need not.
fn keeps_order(op: &Op) -> bool {
    let construct = op.construct();
    [
        Construct::Semaphore,
        Construct::Event,
        Construct::ReadWriteLock,
    ]
    .into_iter()
    .any(|kept| construct == Some(kept))
}

fn listing(all_pairs: bool) -> Listing {
    match all_pairs {
        true => Listing::Pairs,
        false => Listing::Places,
    }
}

/// The pairs of events for which M2 has a witness, each of which the checker accepts.
fn shown(text: &str) -> BTreeSet<Pair> {
    let trace = trace(text);
    let problem = problem(&trace, &mut Tally::default());
    assert_eq!(problem, None);
    let options = Options {
        listing: Listing::Pairs,
        complete: None,
    };
    let recorded = Recording::InMemory(&trace);
    let found = m2::ENGINE.ask(recorded, &options).unwrap();
    assert!(found.undecided.is_empty());
    found.races.iter().map(|shown| pair(&shown.race)).collect()
}

/// What orders neither access of the recorded run is no reason not to show them.
#[test]
fn what_the_recorded_order_shows_is_shown() {
    let plain_and_atomic = shown("T1 w(x); T2 astore.relaxed(x)");
    assert_eq!(plain_and_atomic, BTreeSet::from([(1, 2)]));
    let posts = shown("T1 w(x); T1 post(e); T2 post(e); T2 w(x)");
    assert_eq!(posts, BTreeSet::from([(1, 4)]));
    let stores = shown("T1 w(x); T1 astore.relaxed(a); T2 astore.relaxed(a); T2 w(x)");
    assert_eq!(stores, BTreeSet::from([(1, 4)]));
    let rounds = shown(
        "T1 arrive(b); T2 arrive(b); T1 leave(b); T2 leave(b); T1 w(x);
        T3 arrive(b); T4 arrive(b); T3 leave(b); T4 leave(b); T3 w(x)",
    );
    assert_eq!(rounds, BTreeSet::from([(5, 10)]));
}

/// An atomic load may observe an earlier store than the last one that could come before it.
#[test]
fn a_prediction_reorders_atomic_accesses() {
    let races = shown(
        "T1 astore.seqcst(a); T2 acq(l); T2 aload.seqcst(a); T2 w(x); T2 rel(l);
        T1 acq(l); T1 rel(l); T1 astore.seqcst(a); T1 w(x)",
    );
    assert_eq!(races, BTreeSet::from([(4, 9)]));
}

/// Completing 2's section on k takes in its section on l, which comes after both accesses; 0 has l.
#[test]
fn a_completed_section_may_bring_others_that_come_after_both_accesses() {
    let races = shown(
        "T2 acq(k); T2 w(c); T0 acq(l); T0 w(x); T1 r(c); T1 w(x); T0 rel(l);
        T2 acq(l); T2 rel(l); T2 rel(k)",
    );
    assert_eq!(races, BTreeSet::from([(2, 5), (4, 6)]));
}

/// Completing 2's section on l takes in a part of 3's on m, which comes before all that was in the way;
/// 4's on m is then in the way too. 5 keeps all sections from being completed at once.
#[test]
fn a_completed_section_may_bring_others_that_come_before_what_moves() {
    let races = shown(
        "T3 acq(m); T3 w(y); T3 rel(m); T4 acq(m); T4 w(q); T4 rel(m); T2 acq(l);
        T2 w(a); T2 r(y); T2 rel(l); T0 r(a); T0 acq(l); T0 rel(l); T0 w(x);
        T5 acq(n); T5 w(f); T1 r(q); T1 r(f); T1 w(x); T0 w(z); T5 r(z); T5 rel(n)",
    );
    assert!(races.contains(&(14, 19)));
}

/// 1's section on l cannot be completed without the first access, because of the join: so 2's comes first,
/// although it does not in the trace.
#[test]
fn a_section_that_needs_an_access_to_end_comes_last() {
    let races = shown(
        "T0 w(x); T1 acq(l); T1 w(a); T1 join(T0); T1 rel(l); T2 acq(l); T2 w(b);
        T2 rel(l); T3 r(b); T3 r(a); T3 w(x)",
    );
    assert_eq!(races, BTreeSet::from([(1, 11), (3, 10), (7, 9)]));
}

/// Two threads write one location at one place: the pairs are very many, and only near ones are kept.
#[test]
fn very_many_pairs_of_two_places_take_no_longer_than_their_accesses() {
    let mut long = Execution::default();
    long.names.strands = vec!["A".to_string(), "B".to_string()];
    long.names.locations = vec!["x".to_string()];
    long.names.sites = vec!["1".to_string()];
    let write = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(0));
    long.events = (0..1_000_000).map(|n| write(n % 2)).collect();
    let recorded = Recording::InMemory(&long);
    let found = m2::ENGINE.ask(recorded, &Options::default());
    let found = found.unwrap();
    assert!(found.exhaustive && !found.counted);
    assert_eq!(found.races.len(), 1);
    assert_eq!(pair(&found.races[0].race), (1, 2));
}

/// More pairs of places than anybody can look at: the first are shown, and that there are more is said.
#[test]
fn more_pairs_of_places_than_are_kept_are_not_called_all() {
    let mut wide = Execution::default();
    wide.names.strands = vec!["A".to_string(), "B".to_string()];
    wide.names.locations = vec!["x".to_string()];
    wide.names.sites = (0..2100).map(|site| site.to_string()).collect();
    let write = |n| Event::new(Strand(n % 2), Op::Write(Location(0)), Site(n));
    wide.events = (0..2100).map(write).collect();
    let recorded = Recording::InMemory(&wide);
    let found = m2::ENGINE.ask(recorded, &Options::default());
    let found = found.unwrap();
    assert!(!found.all_listed && !found.counted);
    // A million of its own, and those of the recorded order that are not among them.
    assert!((1_000_001..1_102_500).contains(&found.races.len()));
    assert_eq!(found.racy, [Location(0)]);
    let found = eraser::ENGINE.ask(recorded, &Options::default());
    let found = found.unwrap();
    assert!(!found.all_listed && !found.counted);
    assert!((1_000_000..1_002_100).contains(&found.races.len()));
    assert_eq!(found.racy, [Location(0)]);
}

/// Very many pairs of places with a fair number of pairs of events each: not all can be counted.
#[test]
fn counting_the_pairs_of_very_many_places_ends() {
    let mut wide = Execution::default();
    wide.names.strands = vec!["A".to_string(), "B".to_string()];
    wide.names.locations = vec!["x".to_string()];
    wide.names.sites = (0..600).map(|site| site.to_string()).collect();
    let write = |n: u32| Event::new(Strand(n % 2), Op::Write(Location(0)), Site(n % 600));
    wide.events = (0..24_000).map(write).collect();
    let recorded = Recording::InMemory(&wide);
    let found = m2::ENGINE.ask(recorded, &Options::default());
    let found = found.unwrap();
    assert!(found.exhaustive && !found.counted);
    assert_eq!(found.races.len(), 300 * 300);
    let counts = found.races.iter().map(|shown| shown.race.count);
    let (counted, others): (Vec<u64>, Vec<u64>) = counts.partition(|count| *count > 1);
    assert!(counted.iter().all(|count| *count == 40 * 40));
    assert!(counted.len() as u64 * 40 * 40 <= 1_000_000);
    assert!(!counted.is_empty() && !others.is_empty());
}

/// A section that stays open comes behind all others of its lock, however many there are.
#[test]
fn very_many_sections_are_put_before_one_that_stays_open() {
    let mut long = Execution::default();
    long.names.strands = vec!["A".to_string(), "B".to_string()];
    long.names.locations = vec!["x".to_string()];
    long.names.locks = vec!["l".to_string()];
    long.names.sites = vec!["1".to_string(), "2".to_string()];
    let mut push = |strand, op, site| {
        let event = Event::new(Strand(strand), op, Site(site));
        long.events.push(event);
    };
    push(0, Op::Acquire(Lock(0)), 0);
    push(0, Op::Write(Location(0)), 0);
    push(0, Op::Release(Lock(0)), 0);
    for _ in 0..40_000 {
        push(1, Op::Acquire(Lock(0)), 1);
        push(1, Op::Release(Lock(0)), 1);
    }
    push(1, Op::Write(Location(0)), 1);
    let recorded = Recording::InMemory(&long);
    let found = m2::ENGINE.ask(recorded, &Options::default());
    let found = found.unwrap();
    assert!(found.exhaustive, "{:?}", found.undecided);
    assert_eq!(pair(&found.races[0].race), (2, 80_004));
}
