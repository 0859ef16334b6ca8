//! M2 against brute force: every correct reordering of very many small random traces.
//!
//! `DEADHEAT_PROGRAMS` says how many.

mod thread_traces;

use std::collections::{BTreeMap, BTreeSet};

use deadheat_explain::{Lines, Shape, Witnesses, predictable_races, random_trace, shrink};
use deadheat_model::{Event, EventNumber, Race, Site, Trace};
use deadheat_offline::m2::decide::Budget;
use deadheat_offline::{Method, Recorded, Wanted};

use thread_traces::trace;

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
    /// Races that are not found because orders were kept, of semaphores and the like.
    behind_kept_orders: u64,
}

fn pair(race: &Race) -> Pair {
    (race.first.event, race.second.event)
}

/// What is wrong with what M2 says of a trace, if anything.
fn problem(trace: &Trace, tally: &mut Tally) -> Option<String> {
    let truth: BTreeSet<Pair> = predictable_races(trace).unwrap().into_keys().collect();
    let witnesses = Witnesses::new(trace).unwrap();
    let strands: BTreeSet<_> = trace.events.iter().map(|e| e.strand()).collect();
    tally.traces += 1;
    tally.with_two_strands += (strands.len() <= 2) as u64;
    tally.races += truth.len() as u64;
    for complete in [None, Some(Budget::of_events(1_000_000))] {
        for all_pairs in [true, false] {
            let wanted = Wanted {
                all_pairs,
                complete,
            };
            let recorded = Recorded::InMemory(trace);
            let found = Method::M2.analyze(recorded, wanted, &|_, _| {}).unwrap();
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
            let exact = complete.is_some() || strands.len() <= 2;
            if exact && !found.undecided.is_empty() {
                return Some(format!("left open: {:?}", found.undecided));
            }
            let races: Vec<Race> = found.races.iter().map(|shown| shown.race).collect();
            if found.complete && all_pairs {
                let found: BTreeSet<Pair> = races.iter().map(pair).collect();
                if found != truth {
                    return Some(format!("{found:?} instead of {truth:?}"));
                }
            }
            if found.complete && !all_pairs {
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
            if all_pairs && !locations.iter().eq(&found.locations) {
                return Some(format!("{locations:?} are not {:?}", found.locations));
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

fn places(trace: &Trace, (first, second): Pair) -> (Site, Site) {
    let site = |number| trace.event(number).unwrap().site();
    let (a, b) = (site(first), site(second));
    (a.min(b), a.max(b))
}

/// Some events are at the same place.
fn with_few_places(mut trace: Trace, places: u32) -> Trace {
    for event in &mut trace.events {
        *event = Event::new(event.strand(), event.op(), Site(event.site().0 % places));
    }
    trace
}

#[test]
fn a_completed_section_may_reach_beyond_the_two_accesses() {
    // Strand 2 has forked strand 1 inside a section, in which it later takes the lock that strand 1 has.
    let begin = "0 w x\n2 acq l\n2 fork 1\n1 acq m\n1 w x\n1 rel m\n2 acq m";
    for end in ["", "\n2 rel m", "\n2 rel m\n2 rel l"] {
        let trace = trace(&format!("{begin}{end}"));
        let mut tally = Tally::default();
        assert_eq!(problem(&trace, &mut tally), None, "{}", Lines(&trace));
        assert_eq!(tally.races, 1);
    }
}

#[test]
fn what_m2_says_agrees_with_brute_force() {
    let count = std::env::var("DEADHEAT_PROGRAMS").map_or(4000, |n| n.parse().unwrap());
    let mut tally = Tally::default();
    for seed in 0..count {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut shape = Shape::random(&mut rng, 16);
        shape.reentrant = rng.u8(..4) == 0;
        shape.everything = rng.u8(..4) == 0;
        let places = rng.u32(2..20);
        let trace = with_few_places(random_trace(&mut rng, &shape), places);
        if problem(&trace, &mut tally).is_some() {
            let small = shrink(trace, |trace| {
                problem(trace, &mut Tally::default()).is_some()
            });
            let problem = problem(&small, &mut tally);
            panic!(
                "seed {seed}:\n{}{}",
                Lines(&small),
                problem.unwrap_or_default()
            );
        }
    }
    println!("{tally:?}");
    assert!(tally.with_two_strands > count / 10 && tally.races > count);
}
