//! Random OpenMP programs: the variables that `deadheat run` finds racing are those that the closure of the program's
//! graph has racing, with any number of threads. A recording has no others by happens-before, and all of them where only
//! the order of tasks matters.

mod corpus;

use std::collections::BTreeSet;
use std::path::Path;

use corpus::{Promise, build_openmp, deadheat, openmp_compiler, run_openmp};
use deadheat_testing::Trials;
use deadheat_testing::openmp::c::file;
use deadheat_testing::openmp::{Program, VARIABLES};
use fastrand::Rng;
use serde_json::Value;

/// Whether programs are built so that iterations are told apart.
const TOLD_APART: bool = deadheat_instrument::PLUGIN.is_some();

/// How many programs are compiled at once.
const LOT: usize = 40;

/// The racing variables of a file of programs, as they are called in it. OpenMP's runtime loses a task now and then, and
/// the report says so: then once more.
fn found(executable: &Path, threads: usize) -> BTreeSet<String> {
    loop {
        let report = run_openmp(executable, threads);
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

/// One program at a time: what limits the promise of one says nothing of another.
#[test]
fn no_runs_promise_is_contradicted_by_another_run() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let [source, executable] = ["p.c", "p"].map(|name| directory.path().join(name));
    // Each is compiled alone, and run five times.
    let trials = Trials::new(15, 240).divided_by(20);
    let mut promises = 0;
    for trial in &trials {
        // One that can promise something, with one thread at least.
        let mut rng = trial.rng();
        let promises_something = |program: &Program| {
            program.racy(1, TOLD_APART) == [false; VARIABLES] && !program.c(0).contains("critical")
        };
        let program = std::iter::repeat_with(|| Program::random(&mut rng)).find(promises_something);
        let program = program.unwrap();
        std::fs::write(&source, file(std::slice::from_ref(&program))).unwrap();
        build_openmp(compiler, "-O1", &source, &executable);
        let runs = [1, 2, 3, 5, 8].map(|threads| {
            let report = run_openmp(&executable, threads);
            promises += usize::from(report["scope"] == "threads" || report["scope"] == "schedules");
            Promise::of(&report, format!("{threads} threads"), threads)
        });
        if let Err(what) = Promise::assert_kept(&runs) {
            panic!("{what}\n{}", program.c(0));
        }
    }
    trials.expect(promises > 10, format!("{promises} promises"));
}

fn expected(programs: &[Program], threads: usize, apart: bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (number, program) in programs.iter().enumerate() {
        let racy = program.racy(threads, apart);
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
        build_openmp(compiler, "-O1", &source, &executable);
        for threads in [1, 2, 8] {
            let (found, expected) = (
                found(&executable, threads),
                expected(&programs, threads, TOLD_APART),
            );
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
            // There, one thread's iterations are in order.
            let expected = self::expected(&programs, threads, false);
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

/// What one of two tasks does: sections of one lock, with flags, and a variable that both use.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// `critical`: a flag is set.
    Set(usize),
    /// `critical`: a flag is read, and if it is this, the variable written.
    Inside(usize, bool),
    /// `critical`: a flag is read; if it is this, the variable is written outside.
    Outside(usize, bool),
    /// The variable is read.
    Read,
}

impl Act {
    fn random(rng: &mut Rng) -> Act {
        let (flag, wanted) = (rng.usize(..2), rng.bool());
        match rng.u32(..7) {
            0..3 => Act::Set(flag),
            3 => Act::Inside(flag, wanted),
            4 | 5 => Act::Outside(flag, wanted),
            _ => Act::Read,
        }
    }

    fn c(self, number: usize) -> String {
        let critical = format!("\n#pragma omp critical(c{number})\n");
        match self {
            Act::Set(flag) => format!("{critical}f{number}[{flag}] = 1;\n"),
            Act::Inside(flag, wanted) => {
                format!(
                    "{critical}{{ if (f{number}[{flag}] == {}) x{number} = 1; }}\n",
                    wanted as u8
                )
            }
            Act::Outside(flag, wanted) => format!(
                "{{ int r;{critical}r = f{number}[{flag}];\nif (r == {}) x{number} = 1; }}\n",
                wanted as u8
            ),
            Act::Read => format!("r{number} += x{number};\n"),
        }
    }
}

/// Where a task is: its next act, and what it has decided to do first.
#[derive(Clone, Copy)]
struct At {
    next: usize,
    writes: bool,
}

/// What the variable's next use is: whether it writes, and in a section.
fn next_use(acts: &[Act], at: At, flags: [bool; 2]) -> Option<(bool, bool)> {
    if at.writes {
        return Some((true, false));
    }
    match acts.get(at.next)? {
        Act::Inside(flag, wanted) => (flags[*flag] == *wanted).then_some((true, true)),
        Act::Read => Some((false, false)),
        Act::Set(_) | Act::Outside(..) => None,
    }
}

/// Whether in some order of sections both tasks can use the variable at one time.
fn can_race(tasks: &[Vec<Act>; 2], at: [At; 2], flags: [bool; 2]) -> bool {
    let uses = [0, 1].map(|task| next_use(&tasks[task], at[task], flags));
    if let [Some((write, section)), Some((other_write, other_section))] = uses
        && (write || other_write)
        && !(section && other_section)
    {
        return true;
    }
    [0, 1].into_iter().any(|task| {
        let (mut at, mut flags) = (at, flags);
        if std::mem::take(&mut at[task].writes) {
            return can_race(tasks, at, flags);
        }
        let Some(act) = tasks[task].get(at[task].next) else {
            return false;
        };
        at[task].next += 1;
        match *act {
            Act::Set(flag) => flags[flag] = true,
            Act::Outside(flag, wanted) => at[task].writes = flags[flag] == wanted,
            Act::Inside(..) | Act::Read => {}
        }
        can_race(tasks, at, flags)
    })
}

#[test]
fn a_race_that_is_certain_is_one_in_some_order_of_sections_whose_flags_decide() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let [source, executable] = ["p.c", "p"].map(|name| directory.path().join(name));
    let trials = Trials::new(16, 120).divided_by(LOT as u64);
    let (mut certain, mut saved) = (0, 0);
    for trial in &trials {
        let mut rng = trial.rng();
        let programs: Vec<[Vec<Act>; 2]> = (0..LOT)
            .map(|_| {
                [0, 1].map(|_| {
                    (0..rng.usize(1..4))
                        .map(|_| Act::random(&mut rng))
                        .collect()
                })
            })
            .collect();
        let mut text = String::new();
        let mut calls = String::new();
        for (number, tasks) in programs.iter().enumerate() {
            let bodies = [0, 1].map(|task| -> String {
                let acts = tasks[task].iter().map(|act| act.c(number));
                acts.collect()
            });
            text += &format!(
                "static volatile int f{number}[2], x{number}, r{number};\nvoid p{number}(void) {{\n#pragma omp parallel\n\
                 #pragma omp single\n{{\n#pragma omp task\n{{ {} }}\n#pragma omp task\n{{ {} }}\n}}\n}}\n",
                bodies[0], bodies[1]
            );
            calls += &format!("p{number}();\n");
        }
        std::fs::write(
            &source,
            format!("{text}int main(void) {{\n{calls}return 0; }}\n"),
        )
        .unwrap();
        build_openmp(compiler, "-O1", &source, &executable);
        for threads in [1, 2, 4] {
            let report = run_openmp(&executable, threads);
            for race in report["races"].as_array().unwrap() {
                let name = race["variable"].as_str().unwrap();
                let Some(number) = name.strip_prefix('x') else {
                    continue;
                };
                let tasks = &programs[number.parse::<usize>().unwrap()];
                let start = At {
                    next: 0,
                    writes: false,
                };
                let can = can_race(tasks, [start; 2], [false; 2]);
                let is_certain = race["status"] == "certain";
                assert!(can || !is_certain, "{threads} threads: {tasks:?}\n{race}");
                certain += usize::from(is_certain);
                saved += usize::from(!can);
            }
        }
    }
    println!("{certain} certain, {saved} possible that are none");
    // How many of those that are none are met, and shown as possible, depends on who comes first.
    trials.expect(certain > 20, format!("{certain} certain"));
}
