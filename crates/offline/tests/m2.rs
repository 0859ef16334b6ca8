//! M2 against brute force.

use deadheat_explain::{Lines, Shape, Witnesses, predictable_races, random_trace, shrink};
use deadheat_model::{AccessKind, EventNumber, Trace};
use deadheat_offline::m2::decide::{Decider, Decision, Limits, Search};
use deadheat_offline::m2::skeleton::{Builder, Link, Skeleton};
use deadheat_offline::m2::witness;
use deadheat_offline::threads::{Driver, Order};

fn skeleton(trace: &Trace) -> (Skeleton, bool) {
    let legend = &trace.legend;
    let mut keep = fixedbitset::FixedBitSet::with_capacity(legend.locations.len());
    keep.insert_range(..);
    let mut builder = Builder::new(legend, keep);
    let mut driver = Driver::new(legend, Order::Kept);
    driver.feed(&trace.events, &mut builder).unwrap();
    (builder.finish(), driver.keeps_orders_of_the_schedule())
}

fn conflicting(trace: &Trace) -> Vec<(EventNumber, EventNumber)> {
    let mut pairs = Vec::new();
    for (second, b) in (1..).zip(&trace.events) {
        for (first, a) in (1..second).zip(&trace.events) {
            let (Some(x), Some(y)) = (a.access(), b.access()) else {
                continue;
            };
            if a.strand() != b.strand() && x.conflicts_with(&y) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

/// What is wrong with the decisions on a trace, if anything.
fn problem(trace: &Trace, counts: &mut [u64; 4]) -> Option<String> {
    let truth = predictable_races(trace).unwrap();
    let witnesses = Witnesses::new(trace).unwrap();
    let (skeleton, kept) = skeleton(trace);
    let strands: std::collections::HashSet<_> = trace.events.iter().map(|e| e.strand()).collect();
    for search in [Search::AsInTrace, Search::Exact] {
        let decider = Decider::new(&skeleton, search);
        for (first, second) in conflicting(trace) {
            let link = |number: EventNumber| {
                let strand = trace.event(number).unwrap().strand().0;
                Link {
                    strand,
                    index: skeleton.below(strand, number as u32),
                }
            };
            let pair = [link(first), link(second)];
            let decision = decider.decide(pair[0], pair[1], Limits { events: 100_000 });
            let is_race = truth.contains_key(&(first, second));
            match decision {
                Decision::Race(found) => {
                    let witness = witness(&skeleton, &trace.events, pair, &found);
                    let spelt: Vec<EventNumber> = trace.spell_out(&witness).collect();
                    if let Err(refusal) = witnesses.verify(first, second, &spelt) {
                        return Some(format!("({first}, {second}): {spelt:?}: {refusal}"));
                    }
                    counts[0] += 1;
                }
                Decision::NoRace if is_race && !kept => {
                    return Some(format!("({first}, {second}) said to be no race"));
                }
                Decision::NoRace => counts[1] += 1,
                Decision::Open if search == Search::Exact => {
                    return Some(format!("({first}, {second}) left open by exact search"));
                }
                Decision::Open if is_race && strands.len() == 2 && !kept => {
                    return Some(format!("({first}, {second}) missed with two strands"));
                }
                Decision::Open => counts[2 + is_race as usize] += 1,
            }
        }
    }
    None
}

#[test]
fn decisions_agree_with_brute_force() {
    let count = std::env::var("DEADHEAT_PROGRAMS").map_or(3000, |n| n.parse().unwrap());
    let mut counts = [0; 4];
    for seed in 0..count {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut shape = Shape::random(&mut rng, 14);
        shape.reentrant = rng.u8(..4) == 0;
        shape.everything = rng.u8(..4) == 0;
        let trace = random_trace(&mut rng, &shape);
        if problem(&trace, &mut counts).is_some() {
            let small = shrink(trace, |trace| problem(trace, &mut [0; 4]).is_some());
            let problem = problem(&small, &mut counts);
            panic!(
                "seed {seed}:\n{}{}",
                Lines(&small),
                problem.unwrap_or_default()
            );
        }
    }
    println!("{counts:?}: races, no races, open, open and a race");
    let _ = AccessKind::Read;
}
