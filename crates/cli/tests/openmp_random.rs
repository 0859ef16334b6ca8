//! Random OpenMP programs: the variables that `deadheat run` finds racing are those that the closure of the program's
//! graph has racing, with any number of threads. A recording has no others by happens-before, and all of them where only
//! the order of tasks matters.

mod corpus;

use std::collections::BTreeSet;
use std::path::Path;

use corpus::{deadheat, openmp_compiler};
use deadheat_testing::Trials;
use deadheat_testing::openmp::c::file;
use deadheat_testing::openmp::{Program, VARIABLES};
use fastrand::Rng;
use serde_json::Value;

/// How many programs are compiled at once.
const LOT: usize = 40;

/// The racing variables of a file of programs, as they are called in it. OpenMP's runtime loses a task now and then, and
/// the report says so: then once more.
fn found(executable: &Path, threads: usize) -> BTreeSet<String> {
    loop {
        let report = run(executable, threads);
        if !report["guarantee"]
            .as_str()
            .unwrap()
            .contains("has not run")
        {
            let races = report["races"].as_array().unwrap().iter();
            return races
                .map(|race| race["variable"].as_str().unwrap().to_string())
                .collect();
        }
    }
}

fn run(executable: &Path, threads: usize) -> Value {
    let json = executable.with_extension("json");
    let run = deadheat()
        .args(["run", "--quiet", "--error-exitcode", "0"])
        .arg(format!("--json={}", json.display()))
        .arg("--")
        .arg(executable)
        .env("OMP_NUM_THREADS", threads.to_string())
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap()
}

/// The variables that race by happens-before in a recording.
fn found_in_recording(executable: &Path, threads: usize) -> BTreeSet<String> {
    let trace = executable.with_extension("dht");
    let record = deadheat()
        .args(["record", "--quiet", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(executable)
        .env("OMP_NUM_THREADS", threads.to_string())
        .output()
        .unwrap();
    assert!(record.status.success(), "{record:?}");
    let mut analyze = deadheat();
    analyze.args(["analyze", "--engine", "hb", "--pairs", "all", "--json"]);
    let output = analyze.arg(&trace).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let races = report["races"].as_array().unwrap();
    races
        .iter()
        .map(|race| race["variable"].as_str().unwrap().to_string())
        .collect()
}

fn expected(programs: &[Program], threads: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (number, program) in programs.iter().enumerate() {
        let racy = program.racy(threads);
        names.extend(
            (0..VARIABLES)
                .filter(|v| racy[*v])
                .map(|v| format!("v{number}_{v}")),
        );
    }
    names
}

#[test]
fn the_racing_variables_are_those_of_the_graph() {
    let Some(compiler) = openmp_compiler() else {
        println!(
            "skipped: install clang-19 and libomp-19-dev (`apt install clang-19 libomp-19-dev`)"
        );
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let trials = Trials::new(14, 120).divided_by(LOT as u64);
    let (mut racing, mut others, mut recorded) = (0, 0, 0);
    for trial in &trials {
        let mut rng: Rng = trial.rng();
        let programs: Vec<Program> = (0..LOT).map(|_| Program::random(&mut rng)).collect();
        let source = directory.path().join("programs.c");
        let executable = directory.path().join("programs");
        std::fs::write(&source, file(&programs)).unwrap();
        let built = deadheat()
            .arg("cc")
            .arg(format!("--with={compiler}"))
            .args(["-O1", "-fopenmp"])
            .arg(&source)
            .arg("-o")
            .arg(&executable)
            .output()
            .unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        for threads in [1, 2, 8] {
            let (found, expected) = (found(&executable, threads), expected(&programs, threads));
            racing += expected.len();
            others += LOT * VARIABLES - expected.len();
            if found != expected {
                let missed: Vec<_> = expected.difference(&found).collect();
                let invented: Vec<_> = found.difference(&expected).collect();
                let wrong = missed.iter().chain(&invented).next().unwrap();
                let number: usize = wrong[1..].split('_').next().unwrap().parse().unwrap();
                panic!(
                    "{threads} threads: missed {missed:?}, invented {invented:?}\n{}",
                    programs[number].c(number)
                );
            }
            let found = found_in_recording(&executable, threads);
            let invented: Vec<_> = found.difference(&expected).collect();
            assert!(
                invented.is_empty(),
                "recorded with {threads} threads, invented {invented:?}"
            );
            for missed in expected.difference(&found) {
                let number: usize = missed[1..].split('_').next().unwrap().parse().unwrap();
                assert!(
                    !programs[number].is_ordered_only(),
                    "recorded with {threads} threads, missed {missed}\n{}",
                    programs[number].c(number)
                );
            }
            recorded += found.len();
        }
    }
    println!(
        "{} lots of {LOT} programs: {racing} racing variables, {others} others, no difference; {recorded} in recordings",
        trials.count()
    );
    trials.expect(
        racing > 100 && others > 100 && recorded > 100,
        format!("{racing} racing, {others} others, {recorded} in recordings"),
    );
}
