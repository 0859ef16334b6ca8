//! `deadheat analyze` and `deadheat verify` as a user meets them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{deadheat, deadheat_on, engines_of_threads_and_tasks, root, stderr, stdout};
use serde_json::{Value, json};

const FIGURE_1A: &str = "examples/traces/m2-fig1a.std";
const FIGURE_1B: &str = "examples/traces/m2-fig1b.std";

/// One JSON object for each engine.
fn reports(arguments: &[&str]) -> Vec<Value> {
    let output = deadheat(&[&["analyze", "--json"], arguments].concat());
    let text = stdout(&output);
    let lines = text.lines().map(|line| {
        serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{error}: {line}{}", stderr(&output)))
    });
    lines.collect()
}

fn report(arguments: &[&str]) -> Value {
    let mut reports = reports(arguments);
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

/// The events of the pairs in a field.
fn pairs(report: &Value, field: &str) -> Vec<(u64, u64)> {
    let event = |end: &Value| end["event"].as_u64().unwrap();
    let pairs = report[field].as_array().unwrap().iter();
    pairs
        .map(|pair| (event(&pair["first"]), event(&pair["second"])))
        .collect()
}

fn races(engine: &str, trace: &str) -> Vec<(u64, u64)> {
    pairs(&report(&["--engine", engine, trace]), "races")
}

fn status(arguments: &[&str]) -> Option<i32> {
    deadheat(arguments).status.code()
}

/// A trace in a file of its own.
fn trace_of(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// A folder for the files of a test.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    (folder, path)
}

fn verify_on(report: &Value, trace: &str) -> Output {
    deadheat_on(&["verify", "-", trace], report.to_string())
}

#[test]
fn the_figures_of_the_paper() {
    let cases = [
        ("1a", (2, 7), true),
        ("1b", (2, 14), true),
        ("2", (10, 19), true),
        ("6", (2, 10), true),
        ("7", (6, 16), true),
        ("8", (5, 13), false),
    ];
    for (figure, pair, predicted) in cases {
        let trace = format!("examples/traces/m2-fig{figure}.std");
        let report = report(&["--complete", &trace]);
        assert_eq!(
            pairs(&report, "races").contains(&pair),
            predicted,
            "{report}"
        );
        assert_eq!(report["complete"], true, "{report}");
        // What the paper says of the others.
        let others: &[&str] = match figure {
            "1a" | "1b" | "2" | "7" => &["hb", "fasttrack", "shb", "wcp", "dc"],
            _ => &[],
        };
        // And the witnesses it prints.
        let witness = match figure {
            "1a" => Some(json!([4, 5, 6, 1, 2, 7])),
            "1b" => Some(json!([5, 6, 7, 8, 9, 10, 1, 11, 12, 13, 2, 14])),
            _ => None,
        };
        if let Some(witness) = witness {
            assert_eq!(report["races"][0]["witness"], witness);
        }
        for engine in others {
            let races = races(engine, &trace);
            assert!(!races.contains(&pair), "{figure}, {engine}: {races:?}");
        }
        let verified = verify_on(&report, &trace);
        assert_eq!(verified.status.code(), Some(0), "{}", stdout(&verified));
    }
}

#[test]
fn every_example_is_in_the_index_and_says_what_it_shows() {
    let index = fs::read_to_string(root().join("examples/README.md")).unwrap();
    let mut traces = 0;
    for entry in fs::read_dir(root().join("examples/traces")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(index.contains(&format!("(traces/{name})")), "{name}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{name}");
        traces += 1;
    }
    assert!(traces >= 8, "{traces}");
}

#[test]
fn the_json_is_the_documented_object() {
    let report = report(&[FIGURE_1B]);
    assert_eq!(report["engine"], "m2");
    assert_eq!(report["events"], 14);
    assert_eq!(report["threads"], 3);
    assert_eq!(report["undecided"], json!([]));
    assert_eq!(report["complete"], true);
    assert_eq!(report["variables"], 1);
    assert_eq!(report["counts_exact"], true);
    assert!(report["seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(
        report["guarantee"],
        "these are all races of any order of its events in which each read sees what it saw (m2, 3 threads, 14 \
         events)"
    );
    let races = report["races"].as_array().unwrap();
    assert_eq!(races.len(), 1);
    let mut race = races[0].clone();
    let witness = race.as_object_mut().unwrap().remove("witness").unwrap();
    let expected = json!({
        "fingerprint": "f3df1a5ea94055ea", "rule": "predicted-race",
        "kind": "write-write", "variable": "x", "count": 1, "bug": 1,
        "first": {
            "event": 2, "thread": "T1", "access": "write", "atomic": false, "loc": "2",
            "locks": [{"name": "l1", "shared": false}],
        },
        "second": {
            "event": 14, "thread": "T3", "access": "write", "atomic": false, "loc": "14", "locks": [],
        },
        "remedy": "T1 holds `l1`, T3 does not: hold it at both accesses",
        "verified": true
    });
    assert_eq!(race, expected);
    assert_eq!(witness.as_array().unwrap().len(), 12);
    // The kind is that of the first access, then of the second.
    let fields = stdout(&deadheat(&["analyze", "--json", FIGURE_1A]));
    assert!(fields.contains(r#""kind":"write-read""#), "{fields}");
    // Without a witness there is none, and nothing is verified.
    let (_folder, path) = folder();
    let trace = trace_of(&path, "race.std", "T1|w(x)|a\nT2|w(x)|b\n");
    let race = &self::report(&["--engine", "hb", &trace])["races"][0];
    assert_eq!(race["verified"], false);
    assert!(race.get("witness").is_none(), "{race}");
}

#[test]
fn json_goes_to_a_file_if_one_is_named() {
    let (_folder, path) = folder();
    let file = path.join("report.json");
    let option = format!("--json={}", file.display());
    let output = deadheat(&["analyze", &option, FIGURE_1B]);
    // The text is printed all the same, as with every other file.
    assert!(
        stdout(&output).starts_with("race 1: "),
        "{}",
        stdout(&output)
    );
    assert_eq!(output.status.code(), Some(1));
    let output = deadheat(&["analyze", "--quiet", &option, FIGURE_1B]);
    assert_eq!(
        (stdout(&output), output.status.code()),
        (String::new(), Some(1))
    );
    let verified = deadheat(&["verify", file.to_str().unwrap(), FIGURE_1B]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
    let option = format!("--json={}", path.join("none/report.json").display());
    let output = deadheat(&["analyze", &option, FIGURE_1B]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot write"));
}

#[test]
fn a_race_is_shown_with_the_end_of_its_witness() {
    let output = deadheat(&["analyze", FIGURE_1A]);
    let text = stdout(&output);
    let expected = "\
race 1: T1 can write `x` while T2 reads it
  T1 writes at 2   (event 2)
  T2 reads at 7    (event 7)
  help: T1 holds `l`, T2 does not: hold it at both accesses
  it can happen in this order of 6 events, which has been checked:
      T1         T2
                 acq(l)
                 w(x)
                 rel(l)
      acq(l)
      w(x)  <--
                 r(x)  <--

m2: 1 race on 1 variable; 7 events, 2 threads, ";
    assert!(text.starts_with(expected), "{text}");
    let last = text.lines().last().unwrap();
    assert_eq!(
        last,
        "examples/traces/m2-fig1a.std: these are all races of any order of its events in which each read sees what it saw (m2, 2 threads, 7 events)"
    );
    assert_eq!(stdout(&deadheat(&["analyze", "--quiet", FIGURE_1A])), "");
    let coloured = stdout(&deadheat(&["analyze", "--color", "always", FIGURE_1A]));
    assert!(coloured.contains("\x1b[1;31mrace 1"), "{coloured}");
}

#[test]
fn the_documentation_shows_what_the_command_prints() {
    let docs = fs::read_to_string(root().join("docs/analyze.md")).unwrap();
    let blocks = docs.split("```console\n$ deadheat ").skip(1);
    let mut shown = 0;
    for block in blocks {
        let (block, _) = block.split_once("```").unwrap();
        let (arguments, expected) = block.split_once('\n').unwrap();
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let printed = stdout(&deadheat(&arguments));
        assert_eq!(without_times(&printed), without_times(expected));
        shown += 1;
    }
    assert!(shown >= 2, "{shown}");
}

/// A text without the times in it, and the room they take.
fn without_times(text: &str) -> Vec<String> {
    let lines = text.trim().lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = |word: &str| matches!(word, "ms" | "s");
        let kept = words
            .iter()
            .enumerate()
            .filter(|&(at, word)| !unit(word) && !words.get(at + 1).is_some_and(|next| unit(next)));
        let kept: Vec<&str> = kept.map(|(_, word)| *word).collect();
        kept.join(" ")
    });
    lines.collect()
}

#[test]
fn a_long_witness_is_cut_and_many_threads_are_listed() {
    let (_folder, path) = folder();
    // Each thread has read what the one before it wrote: all are part of the last one's witness.
    let mut text = "T0|w(c0)|1\n".to_string();
    for thread in 1..9 {
        let before = thread - 1;
        text += &format!("T{thread}|r(c{before})|2\nT{thread}|w(c{thread})|3\n");
    }
    text += "T9|r(c8)|4\nT9|w(z)|5\nT8|w(z)|6\n";
    let trace = trace_of(&path, "many.std", &text);
    let output = stdout(&deadheat(&["analyze", "--max-shown", "1000", &trace]));
    let (_, block) = output
        .split_once("T8 and T9 can write `z` at the same time\n")
        .unwrap();
    let (block, _) = block.split_once("\n\n").unwrap();
    let listed = "      … (6 events before these)\n      T3  w(c3)\n      T4  r(c3)\n";
    assert!(block.contains(listed), "{block}");
    assert!(block.contains("\n      T8  w(z)  <--"), "{block}");
    // The same in one column a thread, where there are few.
    let drawn = stdout(&deadheat(&["analyze", "examples/traces/m2-fig2.std"]));
    assert!(drawn.contains("      … (4 events before these)\n"));
    // Only so many are shown in full.
    let output = stdout(&deadheat(&["analyze", "--max-shown", "1", &trace]));
    assert_eq!(output.matches("it can happen in this order").count(), 1);
    assert!(output.contains("more races not shown; --max-shown shows more"));
}

#[test]
fn names_cannot_take_over_the_terminal() {
    let (_folder, path) = folder();
    let long = "n".repeat(5000);
    let (one, other) = ("\u{1b}[31mT1", format!("T2{long}"));
    let (x, l) = ("x\u{7}", format!("l\u{1b}{long}"));
    let text = format!(
        "{one}|acq({l})|1\n{one}|w({x})|{long}a.c:1\n{one}|rel({l})|3\n\
         {other}|acq({l})|4\n{other}|rel({l})|6\n{other}|r({x})|b\u{1b}]0;title\n"
    );
    let trace = trace_of(&path, "names.std", &text);
    for engines in ["m2", "m2,hb"] {
        let arguments = ["analyze", "--color", "always", "--engine", engines, &trace];
        let output = stdout(&deadheat(&arguments));
        assert!(output.contains("a.c:1"), "{output}");
        assert!(output.len() < 3000, "{}", output.len());
        let ours = ["\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m"];
        let rest = ours
            .iter()
            .fold(output, |text, code| text.replace(code, ""));
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!rest.contains(control), "{rest:?}");
    }
}

/// What docs/analyze.md says of witnesses in two parts, done by hand.
#[test]
fn a_long_witness_begins_as_the_trace_does() {
    let (_folder, path) = folder();
    let mut text = "T3|w(z)|0\n".to_string();
    for n in 0..50_001 {
        text += &format!("T1|w(a{})|1\nT2|w(b)|2\n", n % 7);
    }
    text += "T1|acq(l)|3\nT1|w(x)|4\nT1|rel(l)|5\nT2|acq(l)|6\nT2|rel(l)|7\nT2|w(x)|8\nT3|w(z)|9\n";
    let trace = trace_of(&path, "long.std", &text);
    let mut report = report(&[&trace]);
    assert_eq!(pairs(&report, "races"), [(100_005, 100_009)]);
    let output = verify_on(&report, &trace);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let mut tampered = report.clone();
    tampered["races"][0]["witness_prefix"]["upto"]["T1"] = json!(7);
    let output = verify_on(&tampered, &trace);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let race = report["races"][0].as_object_mut().unwrap();
    let prefix = race.remove("witness_prefix").unwrap();
    let before = prefix["before"].as_u64().unwrap();
    let spelt = text.lines().zip(1..before).filter(|(line, number)| {
        let (thread, _) = line.split_once('|').unwrap();
        let upto = &prefix["upto"][thread];
        upto.as_u64().is_some_and(|upto| *number <= upto)
    });
    let mut spelt: Vec<u64> = spelt.map(|(_, number)| number).collect();
    assert!(
        spelt.len() > 99_000 && prefix["upto"].get("T3").is_none(),
        "{prefix}"
    );
    let tail = race["witness"].as_array().unwrap();
    assert!(tail.len() < 1000, "{}", tail.len());
    spelt.extend(tail.iter().map(|number| number.as_u64().unwrap()));
    race.insert("witness".to_string(), json!(spelt));
    let output = verify_on(&report, &trace);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn pairs_of_events_are_counted_or_listed() {
    let (_folder, path) = folder();
    let text = "T1|w(x)|7\nT1|w(x)|7\nT2|w(x)|8\nT2|w(x)|8\nT2|r(x)|9\n";
    let trace = trace_of(&path, "pairs.std", text);
    for engine in ["m2", "hb", "shb", "wcp"] {
        let first = report(&["--engine", engine, &trace]);
        let all = report(&["--engine", engine, "--pairs", "all", &trace]);
        let counts = |report: &Value| -> Vec<u64> {
            let races = report["races"].as_array().unwrap().iter();
            races.map(|race| race["count"].as_u64().unwrap()).collect()
        };
        assert_eq!(counts(&first), [4, 2], "{engine}");
        assert_eq!(pairs(&first, "races"), [(1, 3), (1, 5)], "{engine}");
        let every = [(1, 3), (2, 3), (1, 4), (2, 4), (1, 5), (2, 5)];
        assert_eq!(pairs(&all, "races"), every, "{engine}");
        assert!(counts(&all).iter().all(|&count| count == 1));
    }
    let text = stdout(&deadheat(&["analyze", &trace]));
    assert!(
        text.contains("  4 pairs of events at these places\n"),
        "{text}"
    );
}

#[test]
fn several_engines_are_compared() {
    let all = reports(&["--engine", "all", FIGURE_1B]);
    let engines: Vec<&str> = all.iter().map(|r| r["engine"].as_str().unwrap()).collect();
    let [names, _] = engines_of_threads_and_tasks();
    assert_eq!(engines, names);
    let text = stdout(&deadheat(&["analyze", "--engine", "all", FIGURE_1B]));
    let rows: Vec<Vec<&str>> = text
        .lines()
        .take(8)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0][..2], ["engine", "races"]);
    let row = |engine: &str| rows.iter().find(|row| row[0] == engine).unwrap();
    // Engine, races, variables, time and its unit, misses.
    assert_eq!(row("hb")[1..3], ["0", "0"]);
    assert_eq!(row("hb")[5], "1");
    assert_eq!(row("m2")[1..3], ["1", "1"]);
    assert_eq!(row("m2")[5], "0");
    assert!(
        text.contains(
            "write-write on x: T1 writes at 2 (event 2), T3 writes at 14 (event 14); found by m2"
        ),
        "{text}"
    );
    let last = text.lines().last().unwrap();
    assert!(last.contains(", by m2: these are all races"), "{last}");
    // The order asked for, each once.
    let some = reports(&["--engine", "m2,hb,m2", FIGURE_1B]);
    assert_eq!(
        (&some[0]["engine"], &some[1]["engine"]),
        (&json!("m2"), &json!("hb"))
    );
    assert_eq!(some.len(), 2);
}

#[test]
fn what_no_witness_confirms_is_said() {
    let trace = "examples/traces/no-lock-needed.std";
    let text = stdout(&deadheat(&["analyze", "--engine", "m2,eraser", trace]));
    assert!(text.contains("eraser has "), "{text}");
    assert!(text.contains("that no witness confirms:"), "{text}");
    // Without an engine that has witnesses, nobody could have confirmed them.
    let text = stdout(&deadheat(&["analyze", "--engine", "hb,eraser", trace]));
    assert!(!text.contains("confirm"), "{text}");
}

#[test]
fn a_guarantee_says_what_is_proven() {
    let guarantee = |engine: &str, trace: &str| {
        let report = report(&["--engine", engine, trace]);
        report["guarantee"].as_str().unwrap().to_string()
    };
    let clean = "examples/traces/no-lock-needed.std";
    let cases = [
        (
            "m2",
            clean,
            "no order of its events in which each read sees what it saw has a race (m2, 2 threads, 7 events)",
        ),
        (
            "hb",
            clean,
            "no race under happens-before in this schedule; `--engine m2`",
        ),
        (
            "fasttrack",
            clean,
            "no race under happens-before in this schedule; `--engine m2`",
        ),
        ("shb", clean, "no race under schedulable happens-before"),
        ("wcp", clean, "no race that wcp predicts"),
        ("dc", clean, "no race that dc can show"),
        (
            "eraser",
            clean,
            "lack of a common lock, not necessarily a race",
        ),
        (
            "eraser",
            "examples/traces/lock-without-purpose.std",
            "lack of a common lock",
        ),
        ("hb", FIGURE_1A, "no race under happens-before"),
    ];
    for (engine, trace, words) in cases {
        let guarantee = guarantee(engine, trace);
        assert!(guarantee.starts_with(words), "{engine}: {guarantee}");
    }
    let (_folder, path) = folder();
    let racy = trace_of(&path, "racy.std", "T1|w(x)|1\nT2|w(x)|2\n");
    for (engine, words) in [
        (
            "hb",
            "the first race can happen; later ones may be consequences of it",
        ),
        (
            "shb",
            "every race shown can happen, if reads decide control flow alike",
        ),
        ("wcp", "the first race can happen, or else a deadlock can"),
    ] {
        let guarantee = guarantee(engine, &racy);
        assert!(guarantee.starts_with(words), "{engine}: {guarantee}");
    }
    let protected = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|w(x)|5\nT2|rel(l)|6\n";
    let protected = trace_of(&path, "protected.std", protected);
    assert!(guarantee("eraser", &protected).starts_with("no shared variable lacks a common lock"));
    // A semaphore orders what only one could have let go on.
    let semaphore = "T1|w(x)|1\nT1|v(s)|2\nT2|p(s)|3\nT2|w(x)|4\n";
    let one = trace_of(&path, "semaphore.std", semaphore);
    let report_of_one = report(&[&one]);
    assert_eq!(report_of_one["complete"], true);
    let guarantee = report_of_one["guarantee"].as_str().unwrap();
    assert!(
        guarantee.starts_with("no order of its events in which each read sees what it saw"),
        "{guarantee}"
    );
    let several = semaphore.replace("T2|p", "T3|v(s)|9\nT2|p");
    let several = report(&[&trace_of(&path, "semaphores.std", &several)]);
    assert_eq!(several["races"][0]["verified"], true, "{several}");
}

#[test]
fn the_exit_status_tells() {
    assert_eq!(status(&["analyze", FIGURE_1A]), Some(1));
    assert_eq!(status(&["analyze", "--engine", "hb", FIGURE_1A]), Some(0));
    assert_eq!(
        status(&["analyze", "--engine", "hb,m2", FIGURE_1A]),
        Some(1)
    );
    let clean = "examples/traces/no-lock-needed.std";
    assert_eq!(status(&["analyze", clean]), Some(0));
    assert_eq!(status(&["analyze", "--engine", "eraser", clean]), Some(1));
    assert_eq!(status(&["analyze", "no-such-trace.std"]), Some(2));
}

#[test]
fn bad_input_is_named() {
    let (_folder, path) = folder();
    let complaint = |arguments: &[&str]| {
        let output = deadheat(&[&["analyze"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
        stderr(&output)
    };
    let missing = complaint(&["no-such-trace.std"]);
    assert_eq!(missing.matches("no-such-trace.std").count(), 1, "{missing}");
    assert!(missing.contains("cannot read"), "{missing}");
    let trace = trace_of(&path, "broken.std", "T1|w(x)|1\nT1|jump(x)|2\n");
    let text = complaint(&[&trace]);
    assert!(
        text.contains("broken.std`: line 2: there is no operation `jump`"),
        "{text}"
    );
    let trace = trace_of(&path, "impossible.std", "T1|w(x)|1\nT1|rel(l)|2\n");
    for engine in ["m2", "hb", "all"] {
        let text = complaint(&["--engine", engine, &trace]);
        assert!(
            text.contains("impossible.std`: line 2: event 2: T1"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let trace = trace_of(&path, "unknown.txt", "what is this?\n");
    assert!(complaint(&[&trace]).contains(".dht (deadheat's own format), .std"));
    let trace = trace_of(&path, "false.dht", "T1|w(x)|1\n");
    assert!(complaint(&[&trace]).contains("not a .dht file"));
    let text = complaint(&["--engine", "hb,lockset", FIGURE_1A]);
    let names =
        "there is no engine `lockset`; there are spd3, esp-bags, drdp, zipper, hb, fasttrack, shb";
    assert!(text.contains(names), "{text}");
    for budget in [
        "--budget-time=soon",
        "--budget-time=-1",
        "--budget-time=1e99",
    ] {
        let text = complaint(&["--complete", budget, FIGURE_1A]);
        assert!(text.contains("expected a number of seconds"), "{text}");
    }
    for budget in [
        "--budget-memory=much",
        "--budget-memory=2X",
        "--budget-memory=99999999T",
    ] {
        let text = complaint(&["--complete", budget, FIGURE_1A]);
        assert!(text.contains("expected a number of bytes"), "{text}");
    }
    let text = complaint(&["--budget-time=5", FIGURE_1A]);
    assert!(text.contains("--complete"), "{text}");
}

#[test]
fn an_empty_trace_is_an_error_not_a_proof() {
    let (_folder, path) = folder();
    for (name, text) in [("empty.std", ""), ("comment.std", "# nothing\n")] {
        let empty = trace_of(&path, name, text);
        for engine in ["all", "hb", "m2"] {
            let output = deadheat(&["analyze", "--engine", engine, &empty]);
            assert_eq!(output.status.code(), Some(2), "{engine}, {name}");
            assert!(stderr(&output).contains("the trace has no events"));
        }
    }
}

/// What can be read only once is read once: from the first byte to the last.
#[test]
fn a_pipe_is_the_same_trace_as_the_file() {
    let (_folder, path) = folder();
    let lines = (0..2000).map(|n| format!("T{}|w(x{})|{n}\n", n % 2, n / 2));
    let text: String = lines.collect();
    let file = trace_of(&path, "long.std", &text);
    let dht = path.join("long.dht").display().to_string();
    let csv = path.join("long.table.csv").display().to_string();
    assert_eq!(status(&["convert", &file, &dht]), Some(0));
    assert_eq!(status(&["convert", &file, &csv]), Some(0));
    for file in [file, dht, csv] {
        let from_file = stdout(&deadheat(&["analyze", "--json", &file]));
        let bytes = std::fs::read(&file).unwrap();
        let piped = deadheat_on(&["analyze", "--json", "-"], bytes.clone());
        let races = |text: &str| {
            let report: serde_json::Value = serde_json::from_str(text).unwrap();
            report["races"].as_array().unwrap().len()
        };
        assert_eq!(races(&from_file), 1000, "{file}");
        assert_eq!(races(&stdout(&piped)), 1000, "{file}");
        let piped = deadheat_on(&["stats", "--json", "-"], bytes.clone());
        let stats: serde_json::Value = serde_json::from_str(&stdout(&piped)).unwrap();
        assert_eq!(stats["events"], 2000, "{file}");
    }
}

#[test]
fn a_suspicion_alone_does_not_fail_a_comparison() {
    let (_folder, path) = folder();
    let text = "T1|w(x)|1\nT1|fork(T2)|2\nT2|w(x)|3\nT2|w(y)|4\nT1|join(T2)|5\nT1|w(y)|6\n";
    let handed = trace_of(&path, "handed.std", text);
    assert_eq!(status(&["analyze", "--engine", "eraser", &handed]), Some(1));
    assert_eq!(status(&["analyze", "--engine", "all", &handed]), Some(0));
    assert_eq!(status(&["analyze", &handed, FIGURE_1A]), Some(1));
}

#[test]
fn budgets_are_read_as_people_write_them() {
    for (time, memory) in [
        ("5", "2G"),
        ("0.5", "512M"),
        ("60", "4096"),
        ("1", "1GiB"),
        ("1", "64k"),
    ] {
        let arguments = [
            "--complete",
            "--budget-time",
            time,
            "--budget-memory",
            memory,
            FIGURE_1B,
        ];
        assert_eq!(pairs(&report(&arguments), "races"), [(2, 14)]);
    }
}

/// The trace in deadheat's own format.
fn as_dht(folder: &Path, trace: &str) -> String {
    let path = folder.join("run.dht");
    let source = deadheat::trace::open(root().join(trace)).unwrap();
    deadheat::trace::convert(&source, &path, |_| {}).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn a_trace_says_the_same_in_every_format() {
    let (_folder, path) = folder();
    let without_time = |arguments: &[&str]| {
        let mut reports = reports(arguments);
        for report in &mut reports {
            report.as_object_mut().unwrap().remove("seconds");
        }
        reports
    };
    let dht = as_dht(&path, FIGURE_1B);
    let csv = path.join("run.table.csv");
    let source = deadheat::trace::open(&dht).unwrap();
    deadheat::trace::convert(&source, &csv, |_| {}).unwrap();
    for engine in ["all", "m2", "hb", "eraser", "wcp,shb"] {
        let expected = without_time(&["--engine", engine, FIGURE_1B]);
        for trace in [dht.as_str(), csv.to_str().unwrap()] {
            assert_eq!(without_time(&["--engine", engine, trace]), expected);
        }
    }
}

#[test]
fn what_is_left_of_a_damaged_trace_is_analyzed() {
    let (_folder, path) = folder();
    let dht = as_dht(&path, FIGURE_1A);
    let bytes = fs::read(&dht).unwrap();
    // The end is missing: the recording was killed.
    fs::write(&dht, &bytes[..bytes.len() - 8]).unwrap();
    for engine in ["m2", "eraser"] {
        let output = deadheat(&["analyze", "--engine", engine, &dht]);
        let warning = stderr(&output);
        assert!(
            warning.contains("run.dht`: the recording was not finished"),
            "{warning}"
        );
        assert_eq!(output.status.code(), Some(1), "{warning}");
    }
}

#[test]
fn a_tampered_report_is_refused() {
    let report = report(&[FIGURE_1B]);
    let output = verify_on(&report, FIGURE_1B);
    assert_eq!(
        stdout(&output),
        "race 1 (m2): events 2 and 14: verified\n-: 1 race, verified\n"
    );
    assert_eq!(output.status.code(), Some(0));
    let tampered = |pointer: &str, value: Value| {
        let mut report = report.clone();
        *report.pointer_mut(pointer).unwrap() = value;
        let output = verify_on(&report, FIGURE_1B);
        (output.status.code(), stdout(&output))
    };
    let (status, text) = tampered("/races/0/witness", json!([1, 2, 14]));
    assert_eq!(status, Some(1));
    assert!(
        text.contains("race 1 (m2): events 2 and 14: refused: position 3"),
        "{text}"
    );
    let summary = "-: 1 race: 0 verified, 1 refused, 0 without a witness\n";
    assert!(text.ends_with(summary), "{text}");
    let (status, text) = tampered("/races/0/variable", json!("y"));
    assert_eq!(status, Some(1));
    assert!(text.contains("the trace says x"), "{text}");
    let (status, text) = tampered("/races/0/witness", Value::Null);
    assert_eq!(status, Some(1));
    assert!(text.contains("events 2 and 14: no witness\n"), "{text}");
    let (status, text) = tampered("/races", json!([]));
    assert_eq!(
        (status, text.as_str()),
        (Some(0), "-: the report has no races\n")
    );
}

#[test]
fn a_verdict_is_json_too() {
    let mut report = report(&[FIGURE_1B]);
    let race = report["races"][0].clone();
    let mut other = race.clone();
    other["witness"] = json!([2, 14]);
    report["races"] = json!([race, other]);
    let output = deadheat_on(&["verify", "--json", "-", FIGURE_1B], report.to_string());
    assert_eq!(output.status.code(), Some(1));
    let verdict: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(verdict["all_verified"], false);
    assert_eq!(
        (&verdict["verified"], &verdict["refused"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(verdict["without_witness"], 0);
    let expected = json!({"engine": "m2", "first": 2, "second": 14, "verdict": "verified"});
    assert_eq!(verdict["races"][0], expected);
    assert_eq!(verdict["races"][1]["verdict"], "refused");
    let reason = verdict["races"][1]["reason"].as_str().unwrap();
    assert!(reason.starts_with("position 1 of the witness"), "{reason}");
}

#[test]
fn reports_of_several_engines_are_verified_together() {
    let trace = "examples/traces/m2-fig7.std";
    let lines = deadheat(&["analyze", "--json", "--engine", "m2,eraser", trace]);
    let output = deadheat_on(&["verify", "-", trace], stdout(&lines));
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("(m2): events 6 and 16: verified"), "{text}");
    assert!(
        text.contains("(eraser): events 6 and 16: no witness"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_verified_is_bad_input() {
    let (_folder, path) = folder();
    let complaint = |report: &str, trace: &str| {
        let output = deadheat_on(&["verify", "-", trace], report);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{report}: {}",
            stdout(&output)
        );
        stderr(&output)
    };
    let report = report(&[FIGURE_1B]).to_string();
    assert!(complaint("", FIGURE_1B).contains("the report is empty"));
    assert!(complaint("{", FIGURE_1B).contains("not a report of `deadheat analyze --json`"));
    assert!(complaint(&report, FIGURE_1A).contains("14 events, this one has 7"));
    assert!(complaint(&report, "no-such-trace.std").contains("cannot read"));
    let broken = trace_of(&path, "broken.std", "T1|rel(l)|1\n");
    let text = complaint(r#"{"races": []}"#, &broken);
    assert!(
        text.contains("broken.std`: line 1: the trace cannot be checked: event 1"),
        "{text}"
    );
    assert!(text.contains("; --repair leaves out"), "{text}");
    let output = deadheat(&["verify", "no-such-report.json", FIGURE_1B]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read `no-such-report.json`"));
}

/// Of a recording that broke off, what is left is judged, and said to be no more than that.
#[test]
fn a_recording_that_broke_off_is_never_called_complete() {
    let (_folder, path) = folder();
    let lines: String = (0..200_000)
        .map(|n| format!("T{}|w(x{})|{}\n", n % 2, n % 7 + 7 * (n % 2), n % 3))
        .collect();
    let text = trace_of(&path, "long.std", &lines);
    let whole = path.join("whole.dht").display().to_string();
    assert_eq!(status(&["convert", &text, &whole]), Some(0));
    let report = &reports(&[&whole])[0];
    assert_eq!(report["complete"], true);
    assert_eq!(report.get("damage"), None);
    let bytes = fs::read(&whole).unwrap();
    let cut = path.join("cut.dht");
    fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let report = &reports(&[&cut.display().to_string()])[0];
    assert_eq!(report["complete"], false);
    assert!(report["damage"].is_string());
    let sentence = report["guarantee"].as_str().unwrap();
    assert!(
        sentence.contains("what is left of the recording"),
        "{sentence}"
    );
}

#[test]
fn accesses_may_be_spelt_as_other_tools_do() {
    let (_folder, path) = folder();
    let trace = trace_of(&path, "spelt.std", "T1|wr(x)|1\nT2|rd(x)|2\n");
    let report = &reports(&[&trace])[0];
    assert_eq!(report["races"][0]["kind"], "write-read");
}

/// An event that could not have happened is told by its line, and what it is about by its name.
#[test]
fn an_event_that_could_not_have_happened_is_named_with_its_line() {
    let (_folder, path) = folder();
    for (text, said) in [
        (
            "# one\n\nT1|acq(l)|1\nT2|acq(l)|2\n",
            "line 4: event 2: T2 acquires l, which T1 holds",
        ),
        (
            "T1|w(x)|1\nT1|rel(l)|2\n",
            "line 2: event 2: T1 releases l, which it does not hold",
        ),
        (
            "T1|p(tokens)|1\n",
            "line 1: event 1: T1 takes a token from semaphore tokens, which has none",
        ),
        (
            "T1|wait(ready)|1\n",
            "line 1: event 1: T1 goes on after event ready, which is not posted",
        ),
        (
            "T1|leave(round)|1\n",
            "line 1: event 1: T1 leaves barrier round without having arrived",
        ),
        (
            "T1|fork(T2)|1\nT1|join(T2)|2\n# late\nT2|w(x)|3\n",
            "line 4: event 3: T2 does something after its end, or after it was joined",
        ),
    ] {
        let file = path.join("bad.std").display().to_string();
        fs::write(&file, text).unwrap();
        for command in ["analyze", "explain"] {
            let output = deadheat(&[command, &file]);
            assert_eq!(output.status.code(), Some(2), "{text}");
            let told = stderr(&output);
            assert!(told.contains(said), "{text}: {told}");
            // And what to do about it.
            assert!(
                told.contains("; --repair leaves out what"),
                "{text}: {told}"
            );
        }
    }
    // A record of a table may have several lines.
    let file = path.join("bad.table.csv").display().to_string();
    fs::write(&file, "thread,op,target,loc\nA,w,\"x\ny\",1\nA,rel,l,2\n").unwrap();
    let output = deadheat(&["analyze", &file]);
    assert!(
        stderr(&output).contains("line 4: event 2: A releases l"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn variables_that_race_are_listed_also_where_one_race_stands_for_several() {
    let trace = "A|w(x)|1\nA|w(y)|1\nA|w(z)|1\nB|w(x)|2\nB|w(y)|2\nB|w(z)|2\n";
    let report = stdout(&deadheat_on(&["analyze", "--json", "-"], trace));
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["races"].as_array().unwrap().len(), 1);
    assert_eq!(report["racy_variables"], serde_json::json!(["x", "y", "z"]));
    let text = stdout(&deadheat_on(&["analyze", "-"], trace));
    assert!(text.contains("\nvariables that race: x, y, z\n"), "{text}");
    // Where every variable has its race, nothing is said twice.
    let text = stdout(&deadheat_on(&["analyze", "-"], "A|w(x)|1\nB|w(x)|2\n"));
    assert!(!text.contains("variables that race"), "{text}");
}

const LOCK_ORDER: &str = "examples/traces/lock-order.std";

#[test]
fn a_deadlock_is_shown_with_what_each_thread_holds_and_the_order_that_leads_there() {
    let output = deadheat(&["analyze", LOCK_ORDER]);
    let text = stdout(&output);
    let chain = "deadlock 1: clerk and worker can wait for each other forever\n  \
                 worker holds `gate` (worker.c:11), `accounts` (worker.c:20), wants `journal` (worker.c:21)\n  \
                 clerk holds `journal` (clerk.c:31), wants `accounts` (clerk.c:32)\n  \
                 it can happen after this order of 15 events, which has been checked:\n";
    assert!(text.starts_with(chain), "{text}");
    assert!(text.contains("acq(journal)  waits\n"), "{text}");
    assert!(text.contains("\nm2: no race, 1 deadlock; "), "{text}");
    assert!(
        text.ends_with("; the deadlock shown can happen\n"),
        "{text}"
    );
    assert!(!text.contains("index` "), "{text}");
}

#[test]
fn a_deadlock_counts_unless_it_is_not_asked_for() {
    assert_eq!(status(&["analyze", LOCK_ORDER]), Some(1));
    assert_eq!(
        status(&["analyze", "--fail-on", "race", LOCK_ORDER]),
        Some(0)
    );
    assert_eq!(
        status(&["analyze", "--fail-on", "deadlock", LOCK_ORDER]),
        Some(1)
    );
    assert_eq!(status(&["analyze", "--no-deadlocks", LOCK_ORDER]), Some(0));
    assert_eq!(status(&["analyze", "--engine", "hb", LOCK_ORDER]), Some(0));
    assert_eq!(status(&["analyze", "--engine", "all", LOCK_ORDER]), Some(1));
    let without = report(&["--no-deadlocks", LOCK_ORDER]);
    assert_eq!(without.get("deadlocks"), None);
    assert_eq!(
        report(&["--engine", "hb", LOCK_ORDER]).get("deadlocks"),
        None
    );
}

#[test]
fn a_deadlock_in_json_is_verified_and_can_be_left_out_by_a_baseline() {
    let (_folder, path) = folder();
    let file = path.join("report.json");
    let file = file.to_str().unwrap();
    deadheat(&["analyze", &format!("--json={file}"), LOCK_ORDER]);
    let found = report(&[LOCK_ORDER]);
    let waits = json!([
        {"thread": "worker", "event": 9, "loc": "worker.c:21", "lock": "journal", "shared": false, "holds": [
            {"lock": "gate", "loc": "worker.c:11", "shared": false},
            {"lock": "accounts", "loc": "worker.c:20", "shared": false},
        ]},
        {"thread": "clerk", "event": 20, "loc": "clerk.c:32", "lock": "accounts", "shared": false, "holds": [
            {"lock": "journal", "loc": "clerk.c:31", "shared": false},
        ]},
    ]);
    let deadlock = &found["deadlocks"][0];
    assert_eq!(deadlock["waits"], waits);
    assert_eq!(deadlock["verified"], json!(true));
    assert_eq!(found["deadlocks_complete"], json!(true));
    assert_eq!(found["undecided_deadlocks"], json!([]));
    let verified = deadheat(&["verify", file, LOCK_ORDER]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
    assert!(stdout(&verified).ends_with(": 1 deadlock, verified\n"));
    let forged = fs::read_to_string(file).unwrap();
    let forged = trace_of(
        &path,
        "forged.json",
        &forged.replace("worker.c:20", "worker.c:12"),
    );
    assert_eq!(status(&["verify", &forged, LOCK_ORDER]), Some(1));
    let known = deadheat(&["analyze", "--baseline", file, LOCK_ORDER]);
    assert_eq!(known.status.code(), Some(0), "{}", stdout(&known));
}

/// What it says in SARIF: where the first one waits, and the order as a code flow.
#[test]
fn a_deadlock_is_a_result_in_sarif() {
    let output = deadheat(&["analyze", "--sarif", LOCK_ORDER]);
    let sarif: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["ruleId"], json!("deadlock"));
    assert_eq!(results[0]["relatedLocations"].as_array().unwrap().len(), 2);
    let flow = &results[0]["codeFlows"][0]["threadFlows"];
    assert_eq!(flow.as_array().unwrap().len(), 3);
}

#[test]
fn source_lines_show_where_locks_are_taken_and_wanted() {
    let (_folder, path) = folder();
    let source = "lock(&a);\nlock(&b);\n\nlock(&b);\nlock(&a);\n";
    let source = trace_of(&path, "locks.c", source);
    let trace = format!(
        "T1|acq(a)|{source}:1\nT1|acq(b)|{source}:2\nT1|rel(b)|{source}:2\nT1|rel(a)|{source}:2\n\
         T2|acq(b)|{source}:4\nT2|acq(a)|{source}:5\nT2|rel(a)|{source}:5\nT2|rel(b)|{source}:5\n"
    );
    let text = stdout(&deadheat(&[
        "analyze",
        &trace_of(&path, "locks.std", &trace),
    ]));
    for label in [
        "T1 takes `a`",
        "T1 wants `b`",
        "T2 takes `b`",
        "T2 wants `a`",
    ] {
        assert!(text.contains(&format!("^ {label}\n")), "{label}: {text}");
    }
}
