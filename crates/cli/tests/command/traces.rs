//! `deadheat convert` and `deadheat stats` as a user meets them.

use std::fs;
use std::path::Path;

use crate::common::{deadheat, stderr, stdout};
use serde_json::{Value, json};

const RUN: &str = "\
# two threads, one lock
main|fork(T1)|10
main|acq(l)|11
main|w(x)|12
main|r(x)|13
main|w(y)|14
main|rel(l)|15
T1|acq(l)|20
T1|w(x)|21
T1|rel(l)|22
T1|r(x)|21
T1|req(l)|23
T1|acq(l)|23
main|join(T1)|
";

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn convert(from: &Path, to: &Path) {
    let output = deadheat(&["convert", &text(from), &text(to)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output) + &stderr(&output), "");
}

fn stats(path: &Path) -> Value {
    let output = deadheat(&["stats", "--json", &text(path)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_trace_goes_through_every_format_and_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a.std"), RUN).unwrap();
    convert(&at("a.std"), &at("b.dht"));
    convert(&at("b.dht"), &at("c.table.csv"));
    convert(&at("c.table.csv"), &at("d.std"));
    let comment = RUN.find('\n').unwrap() + 1;
    assert_eq!(fs::read_to_string(at("d.std")).unwrap(), RUN[comment..]);
    let csv = fs::read_to_string(at("c.table.csv")).unwrap();
    assert!(
        csv.starts_with("thread,op,target,loc\nmain,fork,T1,10\n"),
        "{csv}"
    );
}

/// RAPID's CSV has a column for each thread, and no places.
#[test]
fn rapids_csv_is_read_and_written_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let rapid = "fork(T2),,\nr(V1),,\n,,acq(L1)\n,,w(V1)\n,,rel(L1)\n";
    fs::write(at("a.csv"), rapid).unwrap();
    let output = deadheat(&["analyze", "--json", &text(&at("a.csv"))]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let race = &report["races"][0];
    let access = |side: &str| {
        let fields = ["event", "thread", "loc"];
        fields.map(|field| race[side][field].clone())
    };
    assert_eq!(access("first"), [json!(2), json!("T0"), json!("2")]);
    assert_eq!(access("second"), [json!(4), json!("T2"), json!("4")]);
    convert(&at("a.csv"), &at("b.dht"));
    convert(&at("b.dht"), &at("c.csv"));
    assert_eq!(fs::read_to_string(at("c.csv")).unwrap(), rapid);
    // Threads that are not called T0, T1, … have the columns in order, and a name has no comma.
    fs::write(at("d.std"), "main|fork(a)|7\na|w(x,y)|8\n").unwrap();
    convert(&at("d.std"), &at("d.csv"));
    let csv = fs::read_to_string(at("d.csv")).unwrap();
    assert_eq!(csv, "fork(T1),\n,w(x%2Cy)\n");
    convert(&at("d.csv"), &at("e.std"));
    let std = fs::read_to_string(at("e.std")).unwrap();
    assert_eq!(std, "T0|fork(T1)|1\nT1|w(x,y)|2\n");
}

/// `--rapid`: numbers for places, plain names, no comments; what RAPID does not know is refused.
#[test]
fn what_is_written_for_rapid_has_numbers_for_places() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let for_rapid =
        |from: &str, to: &str| deadheat(&["convert", "--rapid", &text(&at(from)), &text(&at(to))]);
    let run = "# a comment\nmain|fork(T 1)|a.c:3\nT 1|isolated()|a.c:9\nT 1|rdata(x|y)|a.c:10\n\
               T 1|endisolated()|a.c:9\n";
    fs::write(at("a.std"), run.replace("x|y", "x%7Cy")).unwrap();
    assert_eq!(for_rapid("a.std", "b.std").status.code(), Some(0));
    let written = fs::read_to_string(at("b.std")).unwrap();
    assert_eq!(
        written,
        "main|fork(T1)|1\nT1|acq(isolated)|2\nT1|r(V0)|3\nT1|rel(isolated)|2\n"
    );
    fs::write(at("c.std"), RUN.replace("join(T1)|", "join(T1)|9")).unwrap();
    assert_eq!(for_rapid("c.std", "d.std").status.code(), Some(0));
    let written = fs::read_to_string(at("d.std")).unwrap();
    assert!(
        written.starts_with("main|fork(T1)|10\nmain|acq(l)|11\n"),
        "{written}"
    );
    fs::write(at("e.std"), "A|w(x)|1\nA|post(e)|2\n").unwrap();
    for (from, to, why) in [
        (
            "e.std",
            "f.std",
            "event 2 is `post`, which RAPID does not know",
        ),
        ("a.std", "f.dht", "--rapid writes .std and .csv"),
    ] {
        let output = for_rapid(from, to);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert!(!at(to).exists());
    }
}

#[test]
fn stats_tell_what_is_in_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a.std"), RUN).unwrap();
    convert(&at("a.std"), &at("b.dht"));
    let mut of_dht = stats(&at("b.dht"));
    let mut of_std = stats(&at("a.std"));
    assert_eq!(of_std["bytes"], RUN.len());
    assert_eq!(of_dht["format"], "dht");
    for name in ["trace", "format", "bytes", "bytes_per_event"] {
        for report in [&mut of_dht, &mut of_std] {
            report.as_object_mut().unwrap().remove(name).unwrap();
        }
    }
    assert_eq!(of_dht, of_std);
    assert_eq!(
        of_std,
        json!({
            "schema": 1,
            "command": "stats",
            "events": 13,
            "kinds": {"acq": 3, "rel": 2, "r": 2, "w": 3, "fork": 1, "join": 1, "req": 1},
            "threads": [
                {"thread": "main", "events": 7, "first": 1, "last": 13},
                {"thread": "T1", "events": 6, "first": 7, "last": 12},
            ],
            "variables": 2, "locks": 1, "semaphores": 0, "event_variables": 0, "barriers": 0,
            "locs": 11,
            "hottest_variables": [{"variable": "x", "events": 4}, {"variable": "y", "events": 1}],
            "hottest_locs": of_std["hottest_locs"],
            "longest_sections": [
                {"lock": "l", "thread": "main", "events": 3, "first": 2, "last": 6},
                {"lock": "l", "thread": "T1", "events": 1, "first": 7, "last": 9},
            ],
            "sections": 2, "sections_not_left": 1, "damage": null,
        })
    );
    let locs = of_std["hottest_locs"].as_array().unwrap();
    assert_eq!(locs.len(), 10);
    assert_eq!(
        locs[..2],
        [
            json!({"loc": "21", "events": 2}),
            json!({"loc": "23", "events": 2})
        ]
    );
    let shown = stdout(&deadheat(&["stats", &text(&at("a.std"))]));
    for part in [
        "13 events, ",
        "2 threads, 2 variables, 1 lock, 11 places in the source",
        "  3  l held by main, events 2 to 6",
        "1 critical section is not left",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_recording_that_broke_off_can_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let lines: String = (0..200_000)
        .map(|n| format!("T{}|w(x{})|{}\n", n % 3, n % 100, n % 7))
        .collect();
    fs::write(at("a.std"), lines).unwrap();
    convert(&at("a.std"), &at("b.dht"));
    let whole = fs::read(at("b.dht")).unwrap();
    // Through the index, into the last block of events.
    fs::write(at("b.dht"), &whole[..whole.len() - 500]).unwrap();
    let output = deadheat(&["convert", &text(&at("b.dht")), &text(&at("c.dht"))]);
    assert_eq!(output.status.code(), Some(0));
    let warning = stderr(&output);
    assert!(warning.contains("warning: "), "{warning}");
    assert!(warning.contains("events are kept, at least"), "{warning}");
    let (cut, kept) = (stats(&at("b.dht")), stats(&at("c.dht")));
    assert_eq!(kept["damage"], Value::Null);
    assert_eq!(cut["damage"]["kept"], kept["events"]);
    let (kept, lost) = (
        kept["events"].as_u64().unwrap(),
        cut["damage"]["lost"].as_u64().unwrap(),
    );
    assert!(kept > 190_000 && kept + lost <= 200_000, "{kept} {lost}");
}

#[test]
fn what_is_no_trace_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| text(&directory.path().join(name));
    fs::write(at("bad.std"), "T|w(x)|1\nT|jump(x)|2\n").unwrap();
    fs::write(at("bad.csv"), "thread,op,target,loc\nT,w\n").unwrap();
    fs::write(at("two.csv"), "w(x),\nT0,w,x,1\n").unwrap();
    fs::write(at("bad.dht"), "T|w(x)|1\n").unwrap();
    fs::write(at("good.log"), "T|w(x)|1\n").unwrap();
    fs::write(at("bad.log"), "hello\n").unwrap();
    let long = "x".repeat(1_000_000);
    fs::write(at("long.std"), format!("T|w({long})|1\n")).unwrap();
    for (file, complaint) in [
        (
            "bad.std",
            "line 2: there is no operation `jump`; there are r, w, acq, ",
        ),
        ("bad.dht", "this is not a .dht file"),
        (
            "bad.csv",
            "line 2: `w` needs a target: the name of a variable: `T,w`",
        ),
        (
            "two.csv",
            "line 2: expected one event, in the column of its thread, as in `r(V1),,`",
        ),
        (
            "bad.log",
            "its name should end in .dht (deadheat's own format), .std or .csv",
        ),
        ("long.std", "line 1: this is longer than 524288 bytes"),
        ("none.std", "cannot read"),
        (".", "cannot read"),
    ] {
        let commands = [
            vec!["stats".to_string(), at(file)],
            vec!["convert".to_string(), at(file), at("out.dht")],
        ];
        for command in commands {
            let output = deadheat(&command);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(complaint), "{said}");
            assert!(said.len() < 2000, "{said}");
        }
    }
    let output = deadheat(&["stats", &at("good.log")]);
    assert_eq!(output.status.code(), Some(0));
    let output = deadheat(&["convert", &at("good.log"), &at("out.txt")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("its name should end in .dht"));
}

/// Names come from a file: what they do to a terminal is nothing.
#[test]
fn names_cannot_control_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let file = text(&directory.path().join("a.std"));
    fs::write(&file, "T\u{1b}[31m|w(\u{1b}]0;x\u{7})|\u{1b}c\n").unwrap();
    let shown = stdout(&deadheat(&["stats", "--color", "always", &file]));
    assert!(shown.contains("T\u{fffd}[31m"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn repair_reads_a_trace_that_could_not_have_happened_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    // A release without an acquire, and what T2 does after it was joined.
    let ill =
        "# ill-formed\nT1|rel(l)|1\nT1|w(x)|2\nT2|w(x)|3\nT1|join(T2)|4\nT2|w(y)|5\nT1|w(y)|6\n";
    std::fs::write(at("ill.std"), ill).unwrap();
    let refused = deadheat(&["analyze", &at("ill.std")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("line 2: "),
        "{}",
        stderr(&refused)
    );

    let left_out = "2 events that could not have happened were left out: line 2: T1 releases l, which it \
                    does not hold; line 6: T2 does something after its end";
    let report = at("report.json");
    let into = format!("--json={report}");
    for engine in ["m2", "hb"] {
        let output = deadheat(&[
            "analyze",
            "--repair",
            "--engine",
            engine,
            &into,
            &at("ill.std"),
        ]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(left_out), "{}", stderr(&output));
        let text = std::fs::read(&report).unwrap();
        let json: Value = serde_json::from_slice(&text).unwrap();
        let races = json["races"].as_array().unwrap();
        assert_eq!((races.len(), &races[0]["variable"]), (1, &"x".into()));
        assert_eq!(
            (&json["complete"], &json["events"]),
            (&false.into(), &4.into())
        );
        assert!(json["guarantee"].as_str().unwrap().contains(left_out));
    }
    let report_of_m2 = deadheat(&["analyze", "--repair", &into, &at("ill.std")]);
    assert_eq!(report_of_m2.status.code(), Some(1));
    let verified = deadheat(&["verify", "--repair", &report, &at("ill.std")]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
    let explained = deadheat(&["explain", "--repair", &at("ill.std")]);
    assert_eq!(explained.status.code(), Some(1));
    assert!(
        stdout(&explained).contains(left_out),
        "{}",
        stdout(&explained)
    );

    let converted = deadheat(&["convert", "--repair", &at("ill.std"), &at("well.std")]);
    assert!(stderr(&converted).contains(left_out));
    let well = std::fs::read_to_string(at("well.std")).unwrap();
    assert_eq!(well, "T1|w(x)|2\nT2|w(x)|3\nT1|join(T2)|4\nT1|w(y)|6\n");
    // What is well-formed is left as it is, without a word.
    let again = deadheat(&["convert", "--repair", &at("well.std"), &at("again.std")]);
    assert_eq!(
        (stderr(&again), again.status.code()),
        (String::new(), Some(0))
    );
    assert_eq!(std::fs::read_to_string(at("again.std")).unwrap(), well);
}
