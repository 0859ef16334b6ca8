//! Random traces as C programs, which do the same in the same order: the memory that `deadheat run` finds racing is what races
//! in the trace by happens-before, and so is what a recording has; what `deadheat run --predict` predicts is what brute force
//! finds in the trace.

mod corpus;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use corpus::{compiles, deadheat};
use deadheat::model::{AccessKind, Execution};
use deadheat_testing::Trials;
use deadheat_testing::traces::c::{Replica, TURNS, events_of_lines, file};
use deadheat_testing::traces::definitions::PartialOrders;
use deadheat_testing::traces::{Shape, predictable_races, random_trace};
use fastrand::Rng;
use serde_json::Value;

/// How many traces are compiled at once.
const LOT: usize = 100;

/// A byte of a trace's memory: which trace, and which byte.
type Byte = (usize, usize);

/// Where the races of a report begin, and how many bytes the second access has, as far as it is told.
type Report = BTreeSet<(Byte, usize)>;

fn read(report: &[u8]) -> Report {
    let report: Value = serde_json::from_slice(report).unwrap();
    let races = report["races"].as_array().unwrap().iter();
    let races = races.filter_map(|race| {
        let variable = race["variable"].as_str().unwrap();
        // A recording may have several locations of one element.
        let element = variable.split('#').next().unwrap_or(variable);
        let element = element.trim_end_matches(']');
        let (name, offset) = element.split_once('[').unwrap_or((element, "0"));
        // The threads' handles race as well, where not their creator waits for them.
        let number = name.strip_prefix('m')?;
        let byte = (number.parse().unwrap(), offset.parse().unwrap());
        // Of the first access, others may have overwritten a part; a recording does not say how much was accessed.
        let size = race["second"]["size"].as_u64().unwrap_or(8) as usize;
        Some((byte, size))
    });
    races.collect()
}

/// The bytes that the races of a report are about, and maybe those beside.
fn reach(report: &Report, replicas: &[Replica]) -> BTreeSet<Byte> {
    let bytes = report.iter().flat_map(|((trace, first), size)| {
        let bytes = match replicas[*trace].straddles() {
            true => first.saturating_sub(7)..first + 8,
            false => *first..first + size,
        };
        bytes.map(|byte| (*trace, byte))
    });
    bytes.collect()
}

/// What `deadheat run` reports of a program.
fn report(executable: &Path, further: &[&str]) -> Vec<u8> {
    let json = executable.with_extension("json");
    let options = ["--quiet", "--error-exitcode", "0", "--timeout", "60"];
    let mut run = deadheat();
    run.arg("run")
        .args(options)
        .args(further)
        .arg(format!("--json={}", json.display()))
        .arg("--")
        .arg(executable);
    let output = run.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    std::fs::read(&json).unwrap()
}

/// The racing memory of a program.
fn found(executable: &Path) -> Report {
    read(&report(executable, &[]))
}

/// What races by happens-before in a recording of a program.
fn found_in_recording(executable: &Path) -> Report {
    let trace = executable.with_extension("dht");
    let mut record = deadheat();
    record
        .args(["record", "--quiet", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(executable);
    let output = record.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut analyze = deadheat();
    analyze.args(["analyze", "--engine", "hb", "--pairs", "all", "--json"]);
    read(&analyze.arg(&trace).output().unwrap().stdout)
}

/// The compilers that are here.
fn compilers() -> Vec<&'static str> {
    let compilers = ["clang-19", "gcc"].into_iter();
    let compilers: Vec<&str> = compilers
        .filter(|name| compiles(name, &["--version"]))
        .collect();
    if compilers.is_empty() {
        println!("skipped: install clang-19 or gcc (`apt install clang-19 gcc`)");
    }
    compilers
}

/// A program of traces, built in a directory.
fn build(directory: &Path, compiler: &str, source: &str) -> PathBuf {
    let path = |name: &str| directory.join(name);
    std::fs::write(path("turns.c"), TURNS).unwrap();
    std::fs::write(path("traces.c"), source).unwrap();
    let mut turns = Command::new(compiler);
    turns
        .args(["-O1", "-c"])
        .arg(path("turns.c"))
        .arg("-o")
        .arg(path("turns.o"));
    assert!(turns.status().unwrap().success());
    let mut build = deadheat();
    build
        .arg("cc")
        .arg(format!("--with={compiler}"))
        .args(["-O1", "-pthread"]);
    build
        .arg(path("traces.c"))
        .arg(path("turns.o"))
        .arg("-o")
        .arg(path("traces"));
    let built = build.output().unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    path("traces")
}

fn random(rng: &mut Rng) -> Replica {
    let shape = Shape {
        events: rng.usize(6..60),
        locations: rng.usize(1..=6),
        everything: rng.bool(),
        ..Shape::nested(rng, 60)
    };
    let shape = Shape {
        reentrant: shape.reentrant && !shape.everything,
        ..shape
    };
    let trace = random_trace(rng, &shape);
    Replica::new(trace, rng)
}

#[test]
fn the_racing_memory_is_that_of_the_trace() {
    let compilers = compilers();
    if compilers.is_empty() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let trials = Trials::new(27, 200).divided_by(LOT as u64);
    let (mut racing, mut others) = (0, 0);
    for trial in &trials {
        let mut rng: Rng = trial.rng();
        let replicas: Vec<Replica> = (0..LOT).map(|_| random(&mut rng)).collect();
        let all = |racy: fn(&Replica) -> BTreeSet<usize>| {
            let replicas = replicas.iter().enumerate();
            let bytes = replicas.flat_map(|(number, replica)| {
                racy(replica).into_iter().map(move |byte| (number, byte))
            });
            bytes.collect::<BTreeSet<Byte>>()
        };
        let expected = all(Replica::racy);
        let in_recording = all(Replica::may_race_in_recording);
        racing += expected.len();
        others += replicas.iter().map(Replica::bytes).sum::<usize>() - expected.len();
        let compiler = rng.choice(&compilers).unwrap();
        let executable = build(directory.path(), compiler, &file(&replicas));
        let recorded = found_in_recording(&executable);
        for (how, found, possible) in [
            ("run", found(&executable), &expected),
            ("recorded", recorded, &in_recording),
        ] {
            let reach = reach(&found, &replicas);
            let missed: Vec<_> = expected.difference(&reach).collect();
            let found: BTreeSet<Byte> = found.iter().map(|(byte, _)| *byte).collect();
            let invented: Vec<_> = found.difference(possible).collect();
            if let Some((number, _)) = missed.iter().chain(&invented).next() {
                panic!(
                    "{compiler}, {how}: missed {missed:?}, invented {invented:?}\n{}",
                    replicas[*number].c(*number)
                );
            }
        }
    }
    println!(
        "{} lots of {LOT} traces: {racing} racing bytes, {others} others, no difference",
        trials.count()
    );
    trials.expect(
        racing > 100 && others > 100,
        format!("{racing} racing, {others} others"),
    );
}

/// A small trace with races, and with more that a lock hides.
fn small(rng: &mut Rng) -> Replica {
    let shape = Shape {
        events: rng.usize(12..20),
        threads: rng.usize(2..=3),
        locations: rng.usize(2..=4),
        locks: rng.usize(1..=2),
        sections: 0.3 + rng.f64() * 0.3,
        releases: 0.4,
        empty_sections: 0.3,
        reads: 0.4 + rng.f64() * 0.3,
        everything: rng.u32(..4) == 0,
        ..Shape::random(rng, 20)
    };
    Replica::of_whole_locations(random_trace(rng, &shape), rng)
}

/// Two events of a trace: which trace, then their numbers, the smaller first.
type Pair = (usize, (u64, u64));

/// The pairs of events that a list of races is about, if each line is about an event.
fn pairs(races: &Value, events: &BTreeMap<u32, (usize, u64)>) -> BTreeSet<Pair> {
    let event = |side: &Value| {
        let line = side["loc"].as_str()?.rsplit(':').nth(1)?.parse().ok()?;
        events.get(&line).copied()
    };
    let races = races.as_array().unwrap().iter().filter_map(|race| {
        let ((trace, a), (_, b)) = (event(&race["first"])?, event(&race["second"])?);
        // The threads' handles race as well, where not their creator waits for them.
        let is_of_trace = race["variable"].as_str()?.starts_with('m');
        is_of_trace.then_some((trace, (a.min(b), a.max(b))))
    });
    races.collect()
}

/// Whether an event reads what a write that it races with may have written, or one of two writes that race.
fn is_uncertain(trace: &Execution, event: u64) -> bool {
    let access = |index: usize| trace.events[index].any_access();
    let read = event as usize - 1;
    let order = PartialOrders::new(trace).happens_before();
    let race = |a: usize, b: usize| {
        let of_two = trace.events[a].strand() != trace.events[b].strand();
        of_two && !order.has(a, b) && !order.has(b, a)
    };
    let Some((of_read, _)) = access(read) else {
        return false;
    };
    let is_write = |index: &usize| {
        let access = access(*index).map(|(access, _)| access);
        access.is_some_and(|one| one.location == of_read.location && one.kind == AccessKind::Write)
    };
    let writes: Vec<usize> = (0..trace.events.len()).filter(is_write).collect();
    let races = |a: &usize| writes.iter().any(|b| race(*a, *b));
    of_read.kind == AccessKind::Read && (races(&read) || writes.iter().any(races))
}

/// Racing reads included: the order in which accesses race is recorded, where one is over before the other begins.
#[test]
fn whatever_is_predicted_is_predictable_by_brute_force() {
    let compilers = compilers();
    if compilers.is_empty() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let trials = Trials::new(28, 400).divided_by(LOT as u64);
    let (mut right, mut missed, mut resting) = (0, 0, 0);
    for trial in &trials {
        let mut rng: Rng = trial.rng();
        let replicas: Vec<Replica> = (0..LOT).map(|_| small(&mut rng)).collect();
        let compiler = rng.choice(&compilers).unwrap();
        let source = file(&replicas);
        let executable = build(directory.path(), compiler, &source);
        let report = report(&executable, &["--predict"]);
        let report: Value = serde_json::from_slice(&report).unwrap();
        let events = events_of_lines(&source);
        let raced = pairs(&report["races"], &events);
        let predicted = pairs(&report["predicted"], &events);
        let predictable = replicas.iter().enumerate().flat_map(|(number, replica)| {
            let races = predictable_races(replica.trace()).unwrap();
            races.into_keys().map(move |pair| (number, pair))
        });
        let predictable: BTreeSet<Pair> = predictable.collect();
        if let Some((number, (a, b))) = predicted.difference(&predictable).next() {
            let replica = &replicas[*number];
            panic!(
                "{compiler}: events {a} and {b} cannot race\n{}\n{}",
                replica.trace(),
                replica.c(*number)
            );
        }
        right += predicted.len();
        for race in report["predicted"].as_array().unwrap() {
            let read = &race["rests_on"];
            // The threads' handles race as well, where not their creator waits for them.
            let variable = read["variable"]
                .as_str()
                .filter(|name| name.starts_with('m'));
            let Some(place) = variable.and(read["loc"].as_str()) else {
                continue;
            };
            let line = place.rsplit(':').nth(1).unwrap().parse().unwrap();
            if let Some((number, event)) = events.get(&line) {
                resting += 1;
                let trace = replicas[*number].trace();
                assert!(
                    is_uncertain(trace, *event),
                    "event {event} is certain\n{trace}"
                );
            }
        }
        let other = predictable.difference(&raced);
        missed += other.filter(|pair| !predicted.contains(pair)).count();
    }
    println!(
        "{} lots of {LOT} traces: {right} predictions, all right, {resting} rest on a race; {missed} missed",
        trials.count()
    );
    trials.expect(
        right > 50 && missed < right && resting > 0,
        format!("{right} right, {resting} resting, {missed} missed"),
    );
}
