//! The explorer, the graph engine and brute force agree on random programs.
//!
//! Brute force is [`enumerate`]: every schedule by itself, no state remembered, no step left
//! unpermuted; its executions are judged by the graph engine, which is right by inspection.

mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use deadheat_explore::{Exploration, ExploreOptions};
use deadheat_lang::{Ending, Program, Schedule, Value};
use deadheat_model::{AccessKind, Event, Execution, Op, Site, Strand};
use deadheat_offline::graph::{self, Graph};
use deadheat_offline::threads::validate;
use deadheat_testing::programs::{enumerate, on_small_programs, on_tiny_programs};

use replay::Replays;

/// A race, by what makes it the same race in another schedule.
type RaceKey = (String, (Site, AccessKind), (Site, AccessKind));

/// What brute force and the explorer must agree on.
#[derive(PartialEq, Eq, Debug)]
struct Truth {
    races: BTreeSet<RaceKey>,
    deterministic: bool,
    deadlock: bool,
    /// Whether some schedule never ends. Brute force only judges programs without.
    endless: bool,
    /// Who failed, where, how.
    errors: BTreeSet<(String, Site, String)>,
}

fn key(location: String, a: (Site, AccessKind), b: (Site, AccessKind)) -> RaceKey {
    (location, a.min(b), a.max(b))
}

fn races_of(execution: &Execution) -> BTreeSet<RaceKey> {
    races_in(&graph::check(execution), execution)
}

fn races_in(graph: &Graph, execution: &Execution) -> BTreeSet<RaceKey> {
    let names = &execution.names;
    let races = graph.races.iter().map(|race| {
        let location = names.location(race.location).to_string();
        let (first, second) = (race.first, race.second);
        key(
            location,
            (first.site, first.kind),
            (second.site, second.kind),
        )
    });
    races.collect()
}

/// A node without the order in which it came: whose, and which of that strand's.
type NodeName = (Strand, usize);

/// The computation graph without the order in which its nodes came: what each strand did node by
/// node, with the values, and which other nodes each came after.
type CanonicalGraph = BTreeMap<NodeName, (Vec<(Event, Value)>, BTreeSet<NodeName>)>;

fn canonical_graph(graph: &Graph, events: &[Event], values: &[Value]) -> CanonicalGraph {
    let graph = &graph.graph;
    let mut names: BTreeMap<usize, NodeName> = BTreeMap::new();
    let mut nodes_of: BTreeMap<Strand, usize> = BTreeMap::new();
    for node in 0..graph.len() {
        let count = nodes_of.entry(graph.strand(node)).or_default();
        *count += 1;
        names.insert(node, (graph.strand(node), *count));
    }
    let mut of_node: BTreeMap<usize, Vec<(Event, Value)>> = BTreeMap::new();
    for ((event, value), number) in events.iter().zip(values).zip(1..) {
        // That a strand has ended is not part of the graph: it may be known of another one's node.
        if event.op() != Op::End {
            let node = graph.node_of(number).unwrap();
            of_node.entry(node).or_default().push((*event, *value));
        }
    }
    let canonical = of_node.into_iter().map(|(node, events)| {
        let before = graph.predecessors(node).chain(graph.section_before(node));
        (names[&node], (events, before.map(|p| names[&p]).collect()))
    });
    canonical.collect()
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The truth by brute force; none if there are too many schedules.
fn by_enumeration(program: &Program, max_schedules: u64) -> Option<Truth> {
    let mut races = BTreeSet::new();
    let mut ends = BTreeSet::new();
    let mut errors = BTreeSet::new();
    let mut deadlock = false;
    let complete = enumerate(program, max_schedules, 60, &mut |schedule| {
        let graph = graph::check(&schedule.execution);
        races.extend(races_in(&graph, &schedule.execution));
        let graph = canonical_graph(&graph, &schedule.events, &schedule.values);
        let ending = format!("{:?}", schedule.ending);
        ends.insert(hash((&schedule.memory, graph, ending)));
        match schedule.ending {
            Ending::Deadlock(_) => deadlock = true,
            Ending::Error(error) => {
                let strand = schedule.execution.names.strand(error.strand);
                errors.insert((strand.into_owned(), error.site, error.kind.to_string()));
            }
            Ending::Finished | Ending::StillRunning | Ending::Stopped(_) => {}
        }
    });
    complete.then_some(Truth {
        races,
        deterministic: ends.len() == 1,
        deadlock,
        endless: false,
        errors,
    })
}

fn explored_races(exploration: &Exploration) -> BTreeSet<RaceKey> {
    let races = exploration.races.iter().map(|race| {
        let (first, second) = (race.first, race.second);
        key(
            race.location.to_string(),
            (first.site, first.kind),
            (second.site, second.kind),
        )
    });
    races.collect()
}

fn by_exploration(exploration: &Exploration) -> Truth {
    let errors: BTreeSet<_> = exploration
        .errors
        .iter()
        .map(|error| {
            let strand = exploration.strand_names[error.what.strand.index()].clone();
            (strand, error.what.site, error.what.kind.to_string())
        })
        .collect();
    Truth {
        races: explored_races(exploration),
        deterministic: exploration.deterministic == Some(true),
        deadlock: exploration.deadlock.is_some(),
        endless: exploration.endless,
        errors,
    }
}

fn explore(program: &Program, reduce: bool) -> Exploration {
    let options = ExploreOptions {
        max_states: 10_000,
        reduce,
        ..Default::default()
    };
    deadheat_explore::explore(program, &options, |_| {})
}

#[test]
fn exploring_finds_what_enumerating_finds() {
    let (mut compared, mut skipped) = (0u64, 0u64);
    let (mut reduced_states, mut plain_states) = (0, 0);
    let trials = on_tiny_programs(1, |program| {
        let Some(truth) = by_enumeration(program, 1_000) else {
            skipped += 1;
            return None;
        };
        compared += 1;
        let reduced = explore(program, true);
        let plain = explore(program, false);
        reduced_states += reduced.states;
        plain_states += plain.states;
        for (name, exploration) in [("reduced", &reduced), ("plain", &plain)] {
            if !exploration.is_complete() {
                return Some(format!("{name}: not complete"));
            }
            let found = by_exploration(exploration);
            if found != truth {
                return Some(format!("{name}: {found:#?}\nbrute force: {truth:#?}"));
            }
        }
        None
    });
    println!("{compared} compared, {skipped} with too many schedules left out");
    println!("{reduced_states} states with reduction, {plain_states} without");
    trials.expect(compared > 2 * skipped, compared);
    trials.expect(reduced_states < plain_states, reduced_states);
}

#[test]
fn exploring_with_reduction_finds_what_exploring_without_finds() {
    let mut compared = 0u64;
    let trials = on_small_programs(2, |program| {
        let (reduced, plain) = (explore(program, true), explore(program, false));
        if !reduced.is_complete() || !plain.is_complete() {
            return None;
        }
        compared += 1;
        let (reduced, plain) = (by_exploration(&reduced), by_exploration(&plain));
        (reduced != plain).then(|| format!("reduced: {reduced:#?}\nplain: {plain:#?}"))
    });
    println!("{compared} compared");
    trials.expect(compared > trials.count() * 6 / 7, compared);
}

#[test]
fn random_schedules_have_together_the_races_the_explorer_finds() {
    const SCHEDULES: u64 = 200;
    let (mut by_chance, mut by_witness) = (0u64, 0u64);
    let trials = on_small_programs(3, |program| {
        let exploration = explore(program, true);
        if !exploration.is_complete() {
            return None;
        }
        let all = explored_races(&exploration);
        let mut found = BTreeSet::new();
        for seed in 0..SCHEDULES {
            let run = program.run(&Schedule::Random(seed), 10_000).unwrap();
            let races = races_of(&run.execution);
            if let Some(race) = races.difference(&all).next() {
                return Some(format!(
                    "random:{seed} has {race:?}, which was not explored"
                ));
            }
            found.extend(races);
            if found.len() == all.len() && seed > 10 {
                break;
            }
        }
        by_chance += found.len() as u64;
        // What chance did not find, the schedule that the explorer gives must show.
        for race in exploration.races.iter() {
            let (first, second) = (race.first, race.second);
            let key = key(
                race.location.to_string(),
                (first.site, first.kind),
                (second.site, second.kind),
            );
            let schedule = Schedule::Recorded(race.schedule.clone());
            let run = match program.run(&schedule, 10_000) {
                Ok(run) => run,
                Err(error) => return Some(format!("{key:?}: {error}\n{}", race.schedule)),
            };
            if !races_of(&run.execution).contains(&key) {
                return Some(format!("{key:?} does not show in\n{}", race.schedule));
            }
            by_witness += !found.contains(&key) as u64;
        }
        None
    });
    println!("{by_chance} races by chance, {by_witness} more only by the schedule that shows them");
    trials.expect(by_chance > 20 * by_witness, by_chance);
}

#[test]
fn deadlocks_and_errors_come_with_a_schedule_that_shows_them() {
    let mut replays = Replays::default();
    let trials = on_small_programs(4, |program| {
        let exploration = explore(program, true);
        match exploration.is_complete() {
            true => replays.replay(program, &exploration),
            false => None,
        }
    });
    println!("{replays:?}");
    let both = replays.deadlocks > 0 && replays.errors > 0;
    trials.expect(both, format!("{replays:?}"));
}

#[test]
fn every_run_is_a_well_formed_stream() {
    on_small_programs(5, |program| {
        for schedule in [
            Schedule::DepthFirst,
            Schedule::Random(1),
            Schedule::Random(2),
        ] {
            let run = program.run(&schedule, 10_000).unwrap();
            if let Err(error) = validate(&run.execution) {
                return Some(format!("{schedule:?}: {error}"));
            }
        }
        None
    });
}

#[test]
fn a_recorded_run_runs_the_same_again() {
    on_small_programs(6, |program| {
        let run = program.run(&Schedule::Random(9), 10_000).unwrap();
        let schedule = Schedule::Recorded(run.schedule());
        match program.run(&schedule, 10_000) {
            Ok(again) if again.execution.events == run.execution.events => None,
            Ok(_) => Some(format!("other events under\n{}", run.schedule())),
            Err(error) => Some(error.to_string()),
        }
    });
}

/// drdp-ecoop23, Theorem 11: race-free programs of asyncs and promises are deterministic, those
/// that deadlock included.
#[test]
fn race_free_programs_of_asyncs_and_promises_are_deterministic() {
    let (mut race_free, mut deadlocking) = (0u64, 0u64);
    let trials = on_small_programs(7, |program| {
        let by_program = |c: &deadheat_model::Construct| c.orders_alike_in_every_schedule();
        if !program.constructs().iter().all(by_program) {
            return None;
        }
        let exploration = explore(program, true);
        // A promise that is set twice is an error here, and a stuck task in the paper.
        if !exploration.is_complete() || !exploration.errors.is_empty() {
            return None;
        }
        if !exploration.races.is_empty() {
            return None;
        }
        race_free += 1;
        deadlocking += exploration.deadlock.is_some() as u64;
        match exploration.deterministic {
            Some(true) => None,
            // The theorem is about runs that come to an end; if one does not, none does.
            Some(false) if exploration.endless && exploration.schedules == 0 => None,
            other => Some(format!("deterministic: {other:?}")),
        }
    });
    println!("{race_free} race-free programs, {deadlocking} of them with a deadlock");
    trials.expect(
        race_free > trials.count() / 28 && deadlocking > 0,
        format!("{race_free} {deadlocking}"),
    );
}
