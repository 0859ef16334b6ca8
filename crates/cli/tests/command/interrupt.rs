//! Ctrl-C, SIGTERM and `--timeout` end the search, not the report: what was found is printed and written,
//! marked incomplete, and no sentence claims more.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{deadheat, stderr, stdout};
use deadheat::ENGINES;
use serde_json::Value;

/// A program with a race that shows at once, and more schedules than anybody can visit.
const ENDLESS: &str = "shared x; shared y;
proc main() {
  async { x = 1; }
  x = 2;
  for i in 0..12 { async { for j in 0..6 { isolated { y = y + i; } } } }
}";

/// The same without the race.
const ENDLESS_CLEAN: &str = "shared y;
proc main() { for i in 0..12 { async { for j in 0..6 { isolated { y = y + i; } } } } }";

/// Far above what any of these takes once it is stopped.
const SOON: Duration = Duration::from_secs(60);

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

/// Runs the command and sends it a signal after some time.
fn signalled(arguments: &[&str], signal: &str, after: Duration) -> Output {
    let start = Instant::now();
    let command = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let id = command.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success(), "it had ended before");
    let output = command.wait_with_output().unwrap();
    assert!(start.elapsed() < SOON);
    output
}

/// Accesses of eight threads, one after the other; with locks around each if they are not to race.
fn trace(path: &Path, accesses: u32, locked: bool) {
    let mut text = String::new();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..accesses {
        let (thread, variable, place) = (random.u32(..8), random.u32(..5000), random.u32(..4000));
        let kind = if random.bool() { 'r' } else { 'w' };
        match locked {
            true => writeln!(
                text,
                "T{thread}|acq(l)|1\nT{thread}|{kind}(V{variable})|{place}\nT{thread}|rel(l)|2"
            ),
            false => writeln!(text, "T{thread}|{kind}(V{variable})|{place}"),
        }
        .unwrap();
    }
    fs::write(path, text).unwrap();
}

/// One variable that eight threads access at 4,000 places: very many groups of accesses to be compared.
#[test]
fn a_time_limit_ends_the_comparison_of_accesses_to_a_hot_variable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hot.std");
    let mut random = fastrand::Rng::with_seed(7);
    let access = |_| {
        let (thread, place) = (random.u32(..8), random.u32(..4000));
        let kind = if random.bool() { 'r' } else { 'w' };
        format!("T{thread}|{kind}(x)|{place}\n")
    };
    fs::write(&path, (0..100_000).map(access).collect::<String>()).unwrap();
    let start = Instant::now();
    let output = deadheat(&[
        "analyze",
        "--engine=m2",
        "--timeout=1",
        path.to_str().unwrap(),
    ]);
    assert!(start.elapsed() < SOON / 2, "{:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("more races not shown"), "{text}");
    assert!(
        text.contains("m2 was stopped before everything was tried (its time was up"),
        "{text}"
    );
}

fn program(folder: &Path, source: &str) -> String {
    let path = folder.join("program.tp");
    fs::write(&path, source).unwrap();
    path.display().to_string()
}

#[test]
fn a_signal_ends_the_exploration_and_what_it_found_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), ENDLESS);
    let file = folder.path().join("report.json");
    let into = format!("--json={}", file.display());
    let arguments = [
        "check",
        "--explore",
        "--max-states=1000000000",
        &into,
        &program,
    ];
    for signal in ["-INT", "-TERM"] {
        let output = signalled(&arguments, signal, Duration::from_millis(400));
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(report["explored"]["complete"], false);
        assert_eq!(report["explored"]["racy_locations"][0], "x");
        let schedule = &report["explored"]["races"][0]["schedule"];
        assert!(!schedule.as_array().unwrap().is_empty());
        let guarantee = report["guarantee"].as_str().unwrap();
        assert!(guarantee.contains("interrupted"), "{guarantee}");
    }
}

/// `script` gives the command a terminal.
#[test]
fn a_terminal_shows_what_is_found_so_far_unless_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), ENDLESS);
    for search in ["--explore", "--all-orders"] {
        for quiet in ["", "--quiet"] {
            let deadheat = env!("CARGO_BIN_EXE_deadheat");
            let command = format!("{deadheat} check {search} {quiet} --timeout=2 {program}");
            let output = Command::new("script")
                .args(["-qc", &command, "/dev/null"])
                .stdin(Stdio::null())
                .output();
            let Ok(output) = output else {
                eprintln!("skipped: there is no `script`");
                return;
            };
            let text = stdout(&output);
            let told = text.matches("found so far: race on x").count();
            assert_eq!(told, usize::from(quiet.is_empty()), "{command}: {text}");
            assert_eq!(text.is_empty(), !quiet.is_empty(), "{command}: {text}");
            assert!(!text.contains(" 0/0"), "a bar without style: {text}");
        }
    }
}

#[test]
fn an_interrupted_search_that_found_nothing_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), ENDLESS_CLEAN);
    let arguments = ["check", "--explore", "--max-states=1000000000", &program];
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let output = signalled(&arguments, signal, Duration::from_millis(300));
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains("no race found so far"), "{text}");
        assert!(text.contains("interrupted"), "{text}");
        assert!(!text.contains("race-free"), "{text}");
    }
}

#[test]
fn a_time_limit_ends_every_search_of_check() {
    let folder = tempfile::tempdir().unwrap();
    let racy = program(folder.path(), ENDLESS);
    let start = Instant::now();
    for search in [
        ["--explore", "--max-states=1000000000"],
        ["--all-orders", "--max-orders=1000000000"],
    ] {
        let limit = ["--timeout=0.5", "--fail-on=incomplete", "--json", &racy];
        let arguments = [&["check"][..], &search, &limit].concat();
        let output = deadheat(&arguments);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let report = json(&output);
        assert_eq!(report["racy_locations"][0], "x", "{search:?}");
        let guarantee = report["guarantee"].as_str().unwrap();
        assert!(guarantee.contains("time was up"), "{guarantee}");
        assert!(guarantee.contains("--timeout"), "{guarantee}");
    }
    assert!(start.elapsed() < SOON);
}

#[test]
fn a_time_limit_ends_a_run_that_does_not_end() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        "shared x; shared y; proc main() { async { x = 1; } x = 2; while 1 { y = y + 1; } }";
    let program = program(folder.path(), source);
    let limit = ["--timeout=0.3", "--max-steps=100000000", "--json", &program];
    let output = deadheat(&[&["check"][..], &limit].concat());
    let report = json(&output);
    assert_eq!(report["racy_locations"][0], "x");
    assert_eq!(report["stopped"], "its time was up");
    assert_eq!(report["error"], Value::Null);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_time_limit_ends_every_engine_and_no_sentence_speaks_of_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for (name, accesses, locked) in [("racy", 100_000, false), ("clean", 60_000, true)] {
        trace(&folder.path().join("t.std"), accesses, locked);
        let trace = at(&format!("{name}.dht"));
        assert!(
            deadheat(&["convert", &at("t.std"), &trace])
                .status
                .success()
        );
        for engine in ENGINES.iter().filter(|engine| engine.orders_everything()) {
            let engine = engine.name;
            // Some read the whole trace before they judge anything: then there is just enough time for that. A machine that
            // stands still for a moment while it reads may then be done in time.
            let limits =
                (0..40).map(|grown| format!("--timeout={}", 0.001 * f64::powi(1.3, grown)));
            let stopped = |limit: &String| {
                let output = deadheat(&["analyze", "--engine", engine, limit, "--json", &trace]);
                let is_unread = output.status.code() == Some(2)
                    && stderr(&output).contains("stopped while the trace was read");
                let report = (!is_unread).then(|| json(&output))?;
                (report["stopped"] != Value::Null).then_some(report)
            };
            let mut again = (0..5).flat_map(|_| limits.clone());
            let report = again.find_map(|limit| stopped(&limit)).expect(engine);
            assert_eq!(report["stopped"], "its time was up", "{engine}");
            assert_eq!(report["complete"], false);
            let guarantee = report["guarantee"].as_str().unwrap();
            assert!(guarantee.contains("was stopped"), "{guarantee}");
            let races = report["races"].as_array().unwrap();
            match races.is_empty() {
                true => assert!(guarantee.starts_with("no race found so far"), "{guarantee}"),
                false => assert_eq!(name, "racy"),
            }
        }
    }
}

#[test]
fn a_time_limit_ends_stats_explain_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("racy.std");
    trace(&path, 100_000, false);
    let trace = path.display().to_string();
    let output = deadheat(&["stats", "--timeout=0.001", "--json", &trace]);
    let stats = json(&output);
    assert_eq!(stats["stopped"], "its time was up");
    assert!(stats["events"].as_u64().unwrap() < 100_000);
    let output = deadheat(&["stats", "--timeout=0.001", &trace]);
    assert!(stdout(&output).contains("the beginning of the trace only"));

    let start = Instant::now();
    // As text: the JSON of as many races takes longer to read than anything here.
    let text = stdout(&deadheat(&["explain", "--timeout=0.5", &trace]));
    assert!(text.contains("the time was up (--timeout)"), "{text}");
    assert!(start.elapsed() < SOON);

    let small = folder.path().join("small.std");
    self::trace(&small, 1500, false);
    let small = small.display().to_string();
    let report = folder.path().join("report.json").display().to_string();
    let into = format!("--json={report}");
    assert_eq!(deadheat(&["analyze", &into, &small]).status.code(), Some(1));
    let output = deadheat(&["verify", "--json", &report, &small]);
    assert_eq!(json(&output)["all_verified"], true);
    let output = deadheat(&["verify", "--timeout=0", "--json", &report, &small]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("nothing was checked"), "{text}");
}

#[test]
fn a_limit_of_memory_ends_the_search_and_threads_without_number_do_not_take_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.std");
    let forks = (1..30_000).map(|n| format!("T0|fork(T{n})|1\n"));
    let writes = (1..30_000).map(|n| format!("T{n}|w(x)|2\n"));
    fs::write(&path, forks.chain(writes).collect::<String>()).unwrap();
    let trace = path.display().to_string();
    let limits = ["--max-memory=300M", "--timeout=1", "--engine", "m2"];
    let output = deadheat(&[&["analyze", "--json"][..], &limits, &[&trace]].concat());
    let report = json(&output);
    assert!(report["stopped"].is_string(), "{}", report["guarantee"]);
    assert_eq!(report["complete"], false);
}

/// A clock for each of 20,000 threads, of 20,000 entries each, would take more than ten times this memory.
#[test]
fn clocks_of_threads_that_only_fork_and_join_take_memory_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    const THREADS: u32 = 20_000;
    let forks = (1..THREADS).map(|n| format!("T0|fork(T{n})|1\n"));
    let writes = (1..THREADS).map(|n| format!("T{n}|w(x{n})|2\n"));
    let joins = (1..THREADS).map(|n| format!("T0|join(T{n})|3\n"));
    let ends = (1..THREADS).map(|n| format!("T0|w(x{n})|4\n"));
    let race = ["T1|w(y)|5\n", "T2|w(y)|6\n"].map(String::from);
    let all = forks.chain(writes).chain(race).chain(joins).chain(ends);
    fs::write(at("all.std"), all.collect::<String>()).unwrap();
    // One after the other, so that each has done all it does when the next begins.
    let chain = (1..THREADS).map(|n| format!("T0|fork(T{n})|1\nT{n}|w(x)|2\nT0|join(T{n})|3\n"));
    fs::write(at("chain.std"), chain.collect::<String>()).unwrap();
    for (trace, races) in [("all.std", 1), ("chain.std", 0)] {
        for engine in ["hb", "fasttrack", "shb", "wcp"] {
            let limits = ["--max-memory=150M", "--engine", engine];
            let trace = at(trace);
            let output = deadheat(&[&["analyze", "--json"][..], &limits, &[&trace]].concat());
            let report = json(&output);
            assert_eq!(report["stopped"], Value::Null, "{engine}, {trace}");
            assert_eq!(
                report["races"].as_array().unwrap().len(),
                races,
                "{engine}, {trace}"
            );
        }
    }
}

/// A run that takes memory without end is stopped while there is enough left to judge it.
#[test]
fn a_run_that_fills_the_memory_is_judged_as_far_as_it_got() {
    let folder = tempfile::tempdir().unwrap();
    let source = "shared x; proc main() { async { x = 1; } x = 2; while 1 { let r = alloc; } }";
    let program = program(folder.path(), source);
    let limits = ["--max-memory=200M", "--max-steps=100000000"];
    let output = deadheat(&[&["check", "--json"][..], &limits, &[&program]].concat());
    let report = json(&output);
    assert_eq!(report["stopped"], "its memory was full");
    assert_eq!(report["racy_locations"][0], "x");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn locks_nested_as_deep_as_you_like_take_memory_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nested.std");
    let taken = (0..70_000).map(|n| format!("A|acq(l{n})|1\n"));
    let given = (0..70_000).rev().map(|n| format!("A|rel(l{n})|2\n"));
    let access = std::iter::once("A|w(x)|3\n".to_string());
    let other = std::iter::once("B|w(x)|4\n".to_string());
    let text = taken.chain(access).chain(given).chain(other);
    fs::write(&path, text.collect::<String>()).unwrap();
    for engine in ["m2", "eraser", "dc"] {
        let trace = path.display().to_string();
        let limits = ["--max-memory=300M", "--engine", engine, "--json", &trace];
        let report = json(&deadheat(&[&["analyze"][..], &limits].concat()));
        assert_eq!(report["races"].as_array().unwrap().len(), 1, "{engine}");
        assert_eq!(report["stopped"], Value::Null, "{engine}");
    }
}

#[test]
fn a_report_grows_with_what_is_shown_not_with_the_square_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("racy.std");
    let line = |n: u32| format!("T{}|w(x)|{n}\n", n % 2);
    fs::write(&path, (0..600).map(line).collect::<String>()).unwrap();
    let output = deadheat(&["analyze", "--json", &path.display().to_string()]);
    let races = json(&output)["races"].as_array().unwrap().len();
    assert_eq!(races, 300 * 300);
    // Spelt out in full, the witnesses alone would take more than a hundred million bytes.
    let bytes = output.stdout.len();
    assert!(bytes < 60_000_000, "{bytes} bytes for {races} races");
}

/// Told name by name for each race, the names alone would take more than a gigabyte; SARIF of all results at once,
/// more than half of one; the page with whole names of places, five. Names agree in the characters that are shown.
#[test]
fn very_many_races_of_long_names_are_told_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.std");
    let long = "n".repeat(8000);
    let line = |n: u32| format!("{long}T{n}|w(x{long})|{n}{long}\n");
    fs::write(&path, (0..300).map(line).collect::<String>()).unwrap();
    let trace = path.display().to_string();
    let sarif = folder.path().join("report.sarif");
    let page = folder.path().join("report.html");
    let into = [
        format!("--sarif={}", sarif.display()),
        format!("--html={}", page.display()),
    ];
    for (command, count) in [
        (&["analyze", "--engine=m2"][..], "44,850 races"),
        (&["explain"], "44,850 pairs"),
    ] {
        let limits = [
            "--max-memory=250M",
            "--max-shown=1",
            &into[0],
            &into[1],
            &trace,
        ];
        let output = deadheat(&[command, &limits].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains(count), "{text}");
        let bytes = fs::metadata(&page).unwrap().len();
        assert!((1_000_000..60_000_000).contains(&bytes), "{bytes}");
        let report: Value = serde_json::from_slice(&fs::read(&sarif).unwrap()).unwrap();
        let results = report["runs"][0]["results"].as_array().unwrap();
        // A result is a bug; of the first 10,000 races each is in one.
        let others = results.iter().map(|result| {
            let others = result["properties"]["others"].as_array();
            others.map_or(0, Vec::len)
        });
        assert_eq!(results.len() + others.sum::<usize>(), 10_000);
        // `explain` shows an order for predicted races only.
        let flows = results.iter().filter_map(|result| result.get("codeFlows"));
        assert_eq!(flows.clone().next().is_some(), command[0] == "analyze");
        for flows in flows {
            let flows = &flows[0]["threadFlows"];
            assert_eq!(flows.as_array().unwrap().len(), 2);
            assert_ne!(flows[0]["id"], flows[1]["id"]);
        }
    }
}
