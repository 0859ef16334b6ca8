//! Every engine says what the graph says, on random programs and under any schedule.
//!
//! `DEADHEAT_PROGRAMS` says how many programs of each family to try (`make soak`: very many).

mod random;

use std::collections::{BTreeMap, BTreeSet};

use deadheat_lang::Schedule;
use deadheat_model::{AccessKind, Execution, Location, Race, Site};
use deadheat_offline::replay::{drdp, spd3};
use deadheat_offline::{Engine, esp_bags, graph};

use random::{on_random_programs, programs_per_family};

const SCHEDULES: [Schedule; 4] = [
    Schedule::DepthFirst,
    Schedule::Random(1),
    Schedule::Random(2),
    Schedule::Random(3),
];

/// A race by its location and places, with how many pairs of accesses it stands for.
type Counted = BTreeMap<(Location, [(Site, AccessKind); 2]), u64>;

fn counted(races: &[Race]) -> Counted {
    let counted = races.iter().map(|race| {
        let mut places = [race.first, race.second].map(|access| (access.site, access.kind));
        places.sort();
        ((race.location, places), race.count)
    });
    counted.collect()
}

fn locations(races: &[Race]) -> BTreeSet<Location> {
    races.iter().map(|race| race.location).collect()
}

/// What an engine says by itself, before all pairs are looked into.
fn racy_locations(engine: Engine, execution: &Execution) -> BTreeSet<Location> {
    match engine {
        Engine::EspBags => esp_bags::racy_locations(execution),
        Engine::Spd3 => {
            spd3::racy_locations(execution, Default::default())
                .unwrap()
                .0
        }
        Engine::Drdp => drdp::account(execution, Default::default()).unwrap().racy,
        Engine::Graph => locations(&graph::check(execution).unwrap().races),
    }
}

/// Compares an engine with the graph on all programs whose constructs it orders.
fn says_what_the_graph_says(engine: Engine, salt: u64, at_least: u64) {
    let (mut compared, mut racy) = (0u64, 0u64);
    on_random_programs(salt, |program| {
        if !program.constructs().iter().all(|&c| engine.orders(c)) {
            return None;
        }
        compared += 1;
        let mut has_race = false;
        for schedule in &SCHEDULES {
            let run = program.run(schedule, 10_000).unwrap();
            let truth = graph::check(&run.execution).unwrap();
            assert!(truth.complete);
            has_race |= !truth.races.is_empty();
            let (found, expected) = (
                racy_locations(engine, &run.execution),
                locations(&truth.races),
            );
            if found != expected {
                return Some(format!("{schedule:?}: {found:?}, not {expected:?}"));
            }
            let findings = engine.check(&run.execution).unwrap();
            let (found, expected) = (counted(&findings.races), counted(&truth.races));
            if found != expected {
                return Some(format!("{schedule:?}: {found:#?}\nnot {expected:#?}"));
            }
        }
        racy += u64::from(has_race);
        None
    });
    println!("{compared} programs compared, {racy} of them with races");
    assert!(compared >= at_least * programs_per_family());
    assert!(racy > compared / 10 && racy < compared * 9 / 10);
}

#[test]
fn esp_bags_says_what_the_graph_says() {
    says_what_the_graph_says(Engine::EspBags, 11, 2);
}

#[test]
fn spd3_says_what_the_graph_says() {
    says_what_the_graph_says(Engine::Spd3, 12, 2);
}

#[test]
fn drdp_says_what_the_graph_says() {
    says_what_the_graph_says(Engine::Drdp, 13, 3);
}
