//! Where an execution comes from makes no difference: a run that is judged at once and the same run
//! saved as a trace and read again have the same races, by every engine that can order what it uses.

use std::collections::BTreeSet;
use std::path::Path;

use deadheat::trace;
use deadheat_lang::{Program, Schedule};
use deadheat_model::{AccessKind, Execution, Findings};
use deadheat_offline::{ENGINES, Engine};
use deadheat_testing::programs::on_small_programs;

/// A race by its names, so that numbers need not agree.
type NamedRace = (String, [(String, String, AccessKind); 2], u64);

fn named(execution: &Execution, findings: &Findings) -> (BTreeSet<NamedRace>, BTreeSet<String>) {
    let names = &execution.names;
    let races = findings.races.iter().map(|found| {
        let race = found.race;
        let access = |access: deadheat_model::RacingAccess| {
            let who = names.strand(access.strand).into_owned();
            (who, names.site(access.site).into_owned(), access.kind)
        };
        let both = [access(race.first), access(race.second)];
        (names.location(race.location).into_owned(), both, race.count)
    });
    let racy = findings.racy.iter();
    (
        races.collect(),
        racy.map(|&x| names.location(x).into_owned()).collect(),
    )
}

/// What differs between a run and the same run read back from a file, by any engine that fits.
fn difference(execution: &Execution, file: &Path) -> Option<String> {
    trace::save(file, execution).unwrap();
    let read = trace::open(file).unwrap().read_all().unwrap();
    let fits = |engine: &Engine| engine.check(execution).is_ok();
    for engine in ENGINES.iter().filter(|engine| fits(engine)) {
        let at_once = named(execution, &engine.check(execution).unwrap());
        let recorded = named(&read, &engine.check(&read).unwrap());
        if at_once != recorded {
            return Some(format!("{}: {at_once:?}\nbut {recorded:?}", engine.name));
        }
    }
    None
}

#[test]
fn a_recorded_run_has_the_races_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    on_small_programs(31, |program| {
        let run = program.run(&Schedule::Random(1), 10_000).unwrap();
        ["run.dht", "run.std"]
            .into_iter()
            .find_map(|name| difference(&run.execution, &folder.path().join(name)))
    });
}

#[test]
fn a_recorded_example_has_the_races_of_the_example() {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut compared = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tp") {
            continue;
        }
        let program = Program::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let run = program.run(&Schedule::DepthFirst, 100_000).unwrap();
        for name in ["run.dht", "run.table.csv"] {
            let difference = difference(&run.execution, &folder.path().join(name));
            assert_eq!(difference, None, "{}", path.display());
        }
        compared += 1;
    }
    assert!(compared >= 70, "only {compared} examples");
}

/// On every run, happens-before by clocks is the order of the computation graph.
#[test]
fn clocks_say_what_the_graph_says_on_every_construct() {
    let [hb, fasttrack, graph] =
        ["hb", "fasttrack", "graph"].map(|name| Engine::named(name).unwrap());
    let mut racy = 0;
    on_small_programs(32, |program| {
        for schedule in [
            Schedule::DepthFirst,
            Schedule::Random(1),
            Schedule::Random(2),
        ] {
            let execution = program.run(&schedule, 10_000).unwrap().execution;
            let truth = graph.check(&execution).unwrap();
            racy += u32::from(!truth.races.is_empty());
            let truth = named(&execution, &truth);
            for engine in [hb, fasttrack] {
                let found = named(&execution, &engine.check(&execution).unwrap());
                if found != truth {
                    return Some(format!(
                        "{} {schedule:?}: {found:?}\nnot {truth:?}",
                        engine.name
                    ));
                }
            }
        }
        None
    });
    assert!(racy > 100, "only {racy} runs with races");
}

/// The table of engines in the docs is the one that the engines' own files make.
#[test]
fn the_docs_have_the_table_of_engines() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/engines.md");
    let text = std::fs::read_to_string(docs).unwrap();
    assert!(
        text.contains(&deadheat::engine_table()),
        "docs/engines.md should have:\n{}",
        deadheat::engine_table()
    );
}
