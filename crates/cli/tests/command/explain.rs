//! `deadheat explain` and `check --explain`, end to end.

use crate::common::{deadheat, stdout};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&deadheat(arguments))).unwrap()
}

/// T1 reads `s` behind T2's write and so does what T2 did before once more: the race on `z` is an echo.
const ECHO: &str = "\
T1|fork(T2)|1
T2|w(z)|2
T2|w(s)|3
T1|r(s)|4
T1|w(z)|5
";

fn echo() -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".std").tempfile().unwrap();
    std::fs::write(file.path(), ECHO).unwrap();
    file
}

#[test]
fn what_to_fix_first_comes_first() {
    let trace = echo();
    let output = deadheat(&["explain", trace.path().to_str().unwrap()]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("\nFix first:\n  1. T2 can write `s` while T1 reads it (feasible)\n"),
        "{text}"
    );
    // Nobody has said which reads decide what the program does.
    assert!(
        text.starts_with("It is not known which reads decide"),
        "{text}"
    );
    assert!(
        text.contains("Explains 1 other race (one leads to the next: 1 → 2)"),
        "{text}"
    );
    assert!(text.contains("2. write-write on z"), "{text}");
    assert!(
        text.contains("(tangled, perhaps only because of 1)"),
        "{text}"
    );
}

#[test]
fn the_json_is_that_of_the_design() {
    let trace = echo();
    let report = json(&["explain", "--json", trace.path().to_str().unwrap()]);
    assert_eq!(report["apparent"], 2);
    let races = report["races"].as_array().unwrap();
    assert_eq!(races.len(), 2);
    let first = &races[0];
    assert_eq!(first["id"], 1);
    assert_eq!(first["kind"], "write-read");
    assert_eq!(first["variable"], "s");
    assert_eq!(first["count"], 1);
    assert_eq!(first["first"]["event"], 3);
    assert_eq!(first["first"]["thread"], "T2");
    assert_eq!(first["second"]["loc"], "4");
    assert_eq!(first["status"], "feasible");
    assert_eq!(first["is_first"], true);
    assert_eq!(first["artifact_of"], Value::Array(vec![]));
    assert_eq!(races[1]["status"], "tangled");
    assert_eq!(races[1]["artifact_of"], serde_json::json!([1]));
    assert_eq!(races[1]["chain"], serde_json::json!([1, 2]));
    let partitions = serde_json::json!([
        {"id": 1, "first": true, "races": [1], "after": []},
        {"id": 2, "first": false, "races": [2], "after": [1]},
    ]);
    assert_eq!(report["partitions"], partitions);
    assert_eq!(report["general_races"], Value::Array(vec![]));
    assert!(
        report["guarantee"]
            .as_str()
            .unwrap()
            .contains("1 to fix first")
    );
}

/// M2's Figure 1: nothing races in the run itself; the prediction comes with its witness.
#[test]
fn predicted_races_come_with_their_witness() {
    let report = json(&["explain", "--json", "examples/traces/m2-fig1b.std"]);
    assert_eq!(report["apparent"], 0);
    assert_eq!(report["races"][0]["status"], "predicted");
    assert_eq!(report["races"][0]["is_first"], true);
    assert_eq!(report["races"][0]["verified"], true);
    assert!(report["races"][0]["witness"].as_array().unwrap().len() > 2);
    let report = json(&[
        "explain",
        "--json",
        "--no-predict",
        "examples/traces/m2-fig1b.std",
    ]);
    assert_eq!(report["races"], Value::Array(vec![]));
}

/// The text and the JSON of an explanation of one run of a program.
fn explained(source: &str, seed: u64) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (program, trace) = (folder.path().join("p.tp"), folder.path().join("p.dht"));
    std::fs::write(&program, source).unwrap();
    let (program, trace) = (program.to_str().unwrap(), trace.to_str().unwrap());
    let schedule = format!("random:{seed}");
    let run = deadheat(&[
        "check",
        "--quiet",
        "--schedule",
        &schedule,
        "--record",
        trace,
        program,
    ]);
    assert_ne!(run.status.code(), Some(2), "{run:?}");
    let text = stdout(&deadheat(&["explain", trace]));
    (text, json(&["explain", "--json", trace]))
}

/// In some runs the wait takes the token of the one, in some of the other.
#[test]
fn what_a_semaphore_has_ordered_by_chance_is_a_race_with_a_witness() {
    let source =
        "shared x; sem s; proc main() { fork a { x = 1; s.v; } fork b { s.v; } s.p; x = 2; }";
    let mut predicted = 0;
    for seed in 0..8 {
        let (text, report) = explained(source, seed);
        assert!(!text.contains("Ordered by chance"), "{text}");
        let race = &report["races"][0];
        if race["status"] == "predicted" {
            predicted += 1;
            assert_eq!(race["verified"], true);
            assert!(race["witness"].as_array().unwrap().len() > 2);
        } else {
            assert_eq!(race["status"], "feasible");
        }
    }
    assert!(predicted > 0);
}

#[test]
fn accesses_under_one_lock_never_run_at_the_same_time() {
    let source = "shared x; lock l; proc main() { fork a { acquire l; x = 1; release l; }
        acquire l; x = 2; release l; }";
    let (text, report) = explained(source, 1);
    assert!(
        text.contains("(no data race in any order of these events; a bug only if"),
        "{text}"
    );
    assert_eq!(report["general_races"][0]["concurrent"], "never");
}

/// Who reads another value may do something else.
#[test]
fn accesses_that_a_value_keeps_apart_are_not_said_to_be_race_free() {
    let source = "shared x; shared y; lock l; proc main() {
        fork a { x = 1; acquire l; y = 1; release l; }
        acquire l; let v = y; release l; if v { x = 2; } }";
    let reports = (0..20).map(|seed| explained(source, seed));
    let ordered = reports
        .filter(|(_, report)| report["general_races"].as_array().unwrap().len() > 1)
        .inspect(|(text, report)| {
            let of_x = report["general_races"].as_array().unwrap().iter();
            let mut of_x = of_x.filter(|race| race["variable"] == "x");
            assert_eq!(
                of_x.next().unwrap()["concurrent"],
                "if-reads-differ",
                "{text}"
            );
            assert!(
                text.contains("may race in a schedule in which a read sees another value"),
                "{text}"
            );
        });
    assert!(ordered.count() > 0);
}

#[test]
fn what_was_not_decided_is_not_said_to_be_race_free() {
    let source = "shared x; lock l; proc main() { fork a { acquire l; x = 1; release l; }
        acquire l; x = 2; release l; }";
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("p.tp");
    std::fs::write(&program, source).unwrap();
    let trace = folder.path().join("p.dht");
    let (program, trace) = (program.to_str().unwrap(), trace.to_str().unwrap());
    deadheat(&["check", "--quiet", "--record", trace, program]);
    let asked = ["explain", "--no-predict", "--fail-on", "incomplete", trace];
    let output = deadheat(&asked);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(
        text.contains("perhaps a data race in another schedule"),
        "{text}"
    );
    assert!(
        text.contains("1 pair of places that only chance has ordered may race"),
        "{text}"
    );
}

#[test]
fn a_picture_shows_both_accesses_and_what_came_before() {
    let trace = echo();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("race.svg");
    let (trace, path) = (trace.path().to_str().unwrap(), file.to_str().unwrap());
    let output = deadheat(&["explain", "--picture", path, "--race", "2", trace]);
    assert_eq!(output.status.code(), Some(1));
    let svg = std::fs::read_to_string(&file).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let count = |name: &str, class: &str| {
        let nodes = document
            .descendants()
            .filter(|node| node.has_tag_name(name));
        nodes
            .filter(|node| node.attribute("class") == Some(class))
            .count()
    };
    assert_eq!(count("rect", "racing"), 2);
    assert_eq!(count("path", "race"), 1);
    assert_eq!(count("path", "data"), 1);
    assert_eq!(count("path", "sync"), 1);
    let output = deadheat(&["explain", "--picture", path, "--race", "3", trace]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("there is no race 3"), "{complaint}");
    // The same for Graphviz.
    let dot = folder.path().join("race.dot");
    let words = [
        "explain",
        "--picture",
        dot.to_str().unwrap(),
        "--race",
        "2",
        trace,
    ];
    assert_eq!(deadheat(&words).status.code(), Some(1));
    let dot = std::fs::read_to_string(dot).unwrap();
    assert!(dot.starts_with("digraph ") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches("penwidth=2.5").count(), 2, "{dot}");
    assert_eq!(dot.matches("dir=none").count(), 1, "{dot}");
    let output = deadheat(&["explain", "--picture", "race.png", trace]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(".svg or .dot"));
}

#[test]
fn a_program_is_explained_as_it_is_checked() {
    let program = "examples/netzer-queue.tp";
    let schedule = ["--schedule", "random:1"];
    let output = deadheat(&["check", "--explain", schedule[0], schedule[1], program]);
    assert!(
        stdout(&output).contains("\nFix first:\n"),
        "{}",
        stdout(&output)
    );
    let report = json(&[
        "check",
        "--explain",
        "--json",
        schedule[0],
        schedule[1],
        program,
    ]);
    let races = report["explanation"]["races"].as_array().unwrap();
    assert!(
        races
            .iter()
            .any(|race| race["is_first"] == true && race["variable"] == "tail")
    );
    assert!(json(&["check", "--json", program])["explanation"].is_null());
}

#[test]
fn a_trace_without_races_is_said_to_have_none() {
    let output = deadheat(&["explain", "examples/traces/no-lock-needed.std"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(!stdout(&output).contains("Fix first"));
    let output = deadheat(&["explain", "examples/traces/there-is-none.std"]);
    assert_eq!(output.status.code(), Some(2));
}
