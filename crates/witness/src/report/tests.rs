use serde_json::{Value, json};

use super::*;
use deadheat_testing::traces::{FIGURE_1A, FIGURE_1B, trace};

fn verify(json: &str, trace: &Execution) -> Result<Verification, ReportError> {
    verify_report(json, trace, StopToken::default())
}

#[test]
fn what_is_not_checked_before_the_time_is_up_is_not_called_verified() {
    let up = StopToken::default().or_after(std::time::Duration::ZERO);
    let report = report().to_string();
    let verification = verify_report(&report, &trace(FIGURE_1B), up).unwrap();
    assert!(!verification.all_verified());
    assert!(matches!(
        verification.races[0].verdict,
        Verdict::NotChecked(_)
    ));
}

/// What the command prints for Figure 1b.
fn report() -> Value {
    json!({
        "engine": "m2", "events": 14, "threads": 3,
        "races": [{
            "kind": "write-write", "variable": "x", "count": 1,
            "first": {"event": 2, "thread": "T1", "loc": "2"},
            "second": {"event": 14, "thread": "T3", "loc": "14"},
            "witness": [5, 6, 7, 8, 9, 10, 11, 12, 13, 1, 2, 14], "verified": true
        }],
        "undecided": [], "complete": true, "guarantee": "…"
    })
}

/// The report with one value exchanged.
fn with(pointer: &str, value: Value) -> String {
    let mut report = report();
    *report.pointer_mut(pointer).unwrap() = value;
    report.to_string()
}

fn verdicts(json: &str) -> Vec<Verdict> {
    let verification = verify(json, &trace(FIGURE_1B)).unwrap();
    let races = verification.races.into_iter();
    races.map(|race| race.verdict).collect()
}

#[test]
fn a_true_report_is_verified() {
    let verification = verify(&report().to_string(), &trace(FIGURE_1B)).unwrap();
    assert!(verification.all_verified());
    assert_eq!(
        verification.races,
        [CheckedRace {
            engine: Some("m2".into()),
            first: 2,
            second: 14,
            verdict: Verdict::Verified,
        }]
    );
}

#[test]
fn reports_come_alone_or_many_a_line_or_in_an_array() {
    let one = report().to_string();
    let pretty = format!("{:#}", report());
    for (json, races) in [
        (format!(" {one}\n"), 1),
        (pretty.clone(), 1),
        (format!("{one}\n{one}\n{pretty}"), 3),
        (format!("\n[{one}, {one}]\n"), 2),
    ] {
        assert_eq!(verdicts(&json), vec![Verdict::Verified; races], "{json}");
    }
}

#[test]
fn what_the_trace_does_not_say_is_refused() {
    let cases = [
        (
            "/races/0/first/thread",
            json!("T9"),
            "the thread of event 2 is T9",
        ),
        (
            "/races/0/second/loc",
            json!("7"),
            "the place of event 14 is 7",
        ),
        (
            "/races/0/variable",
            json!("y"),
            "the variable of event 2 is y",
        ),
        (
            "/races/0/kind",
            json!("read-write"),
            "the kind of race of event 14",
        ),
        (
            "/races/0/first/event",
            json!(99),
            "event 99 is not in the trace",
        ),
        (
            "/races/0/first/event",
            json!(0),
            "event 0 is not in the trace",
        ),
        (
            "/races/0/first/event",
            json!(1),
            "event 1 is not a plain access",
        ),
        (
            "/races/0/first/event",
            json!(3),
            "the place of event 3 is 2",
        ),
        (
            "/races/0/witness",
            json!([1, 2, 14]),
            "position 3 of the witness",
        ),
        ("/races/0/witness", json!([]), "position 1 of the witness"),
    ];
    for (pointer, value, words) in cases {
        let json = with(pointer, value);
        let verdict = &verdicts(&json)[0];
        assert!(matches!(verdict, Verdict::Refused(_)), "{json}: {verdict}");
        assert!(verdict.to_string().contains(words), "{json}: {verdict}");
    }
}

#[test]
fn the_beginning_of_a_witness_may_be_told_by_thread() {
    let report = |before: u64, upto: Value, then: &[u64]| {
        let mut report = report();
        let race = &mut report["races"][0];
        race["witness_prefix"] = json!({"before": before, "upto": upto});
        race["witness"] = json!(then);
        report.to_string()
    };
    let after = [1, 2, 14];
    for (before, upto, then) in [
        (14, json!({"T2": 10, "T3": 13}), &after[..]),
        (11, json!({"T2": 99}), &[11, 12, 13, 1, 2, 14]),
        (5, json!({}), &[5, 6, 7, 8, 9, 10, 11, 12, 13, 1, 2, 14]),
    ] {
        let json = report(before, upto, then);
        assert_eq!(verdicts(&json), [Verdict::Verified], "{json}");
    }
    let refused = [
        (14, json!({"T3": 13}), "event 12 (T3|r(z)|12) needs event 7"),
        (14, json!({"T2": 10}), "comes before 3 earlier events"),
        (14, json!({"T1": 1, "T2": 10, "T3": 13}), "which T1 has"),
        (14, json!({"T2": 8, "T4": 13}), "thread T4, which the trace"),
        (14, json!({"T0": 8}), "thread T0, which the trace"),
    ];
    for (before, upto, words) in refused {
        let json = report(before, upto, &after);
        let verdict = &verdicts(&json)[0];
        assert!(matches!(verdict, Verdict::Refused(_)), "{json}: {verdict}");
        assert!(verdict.to_string().contains(words), "{json}: {verdict}");
    }
}

#[test]
fn a_thread_without_a_name_is_called_by_its_number() {
    let mut trace = trace("T1 w(x); T2 w(y); T2 w(x)");
    let json = |name: &str| {
        let (first, second) = (json!({"event": 1}), json!({"event": 3}));
        let prefix = json!({"before": 3, "upto": {name: 2}});
        let race = json!({
            "first": first, "second": second, "witness_prefix": prefix, "witness": [1, 3]
        });
        json!({"races": [race]}).to_string()
    };
    let verdict = |trace: &Execution, name| {
        let verification = verify(&json(name), trace).unwrap();
        verification.races[0].verdict.to_string()
    };
    assert_eq!(verdict(&trace, "T2"), "verified");
    trace.names.strands.clear();
    assert_eq!(verdict(&trace, "T1"), "verified");
    assert!(verdict(&trace, "T2").contains("which the trace does not have"));
    // The second's number is the first's name.
    trace.names.strands.push("T1".to_string());
    assert!(verdict(&trace, "T1").contains("several of the trace"));
}

#[test]
fn a_race_without_a_witness_is_not_verified() {
    let json = with("/races/0/witness", Value::Null);
    assert_eq!(verdicts(&json), [Verdict::NoWitness]);
    let json = r#"{"races": [{"first": {"event": 2}, "second": {"event": 14}}]}"#;
    assert_eq!(verdicts(json), [Verdict::NoWitness]);
    let verification = verify(json, &trace(FIGURE_1B)).unwrap();
    assert!(!verification.all_verified());
    assert_eq!(verification.refused().count(), 0);
}

#[test]
fn the_kind_names_the_accesses_in_either_order() {
    let trace = trace(FIGURE_1A);
    let json = |kind: &str| {
        let (first, second) = (json!({"event": 2}), json!({"event": 7}));
        let witness = [4, 5, 6, 1, 2, 7];
        json!({"races": [{"kind": kind, "first": first, "second": second, "witness": witness}]})
    };
    for (kind, verified) in [
        ("write-read", true),
        ("read-write", true),
        ("write-write", false),
    ] {
        let verification = verify(&json(kind).to_string(), &trace).unwrap();
        assert_eq!(verification.all_verified(), verified, "{kind}");
    }
}

#[test]
fn what_is_no_report_is_an_error() {
    let huge = format!("{}1", "[".repeat(100_000));
    let cases = [
        ("", "empty"),
        (" \n", "empty"),
        ("[]", "empty"),
        ("{}", "missing field `races`"),
        ("7", "not a report"),
        ("\"races\"", "not a report"),
        ("{\"races\": 7}", "not a report"),
        ("{\"races\": [7]}", "not a report"),
        ("{\"races\": []} {", "EOF"),
        ("[{\"races\": []}] {}", "trailing"),
        (&huge, "not a report"),
        (&with("/races/0/first/event", json!(-1)), "invalid value"),
        (&with("/races/0/witness", json!([1.5])), "invalid type"),
        (&with("/events", json!(15)), "15 events, this one has 14"),
        (
            r#"{"races": [{"first": {"event": 2}, "second": {"event": 14},
                "witness_prefix": {"before": 3}, "witness": []}]}"#,
            "missing field `upto`",
        ),
    ];
    for (json, words) in cases {
        let error = verify(json, &trace(FIGURE_1B)).unwrap_err();
        assert!(error.to_string().contains(words), "{json}: {error}");
    }
    let impossible = trace("T1 rel(l)");
    let error = verify(r#"{"races": []}"#, &impossible).unwrap_err();
    assert!(
        error.to_string().contains("event 1 of the trace"),
        "{error}"
    );
}

#[test]
fn no_damage_to_a_report_makes_it_panic_or_another_race_true() {
    let mut compact = report();
    compact["races"][0]["witness_prefix"] = json!({"before": 14, "upto": {"T2": 10, "T3": 13}});
    compact["races"][0]["witness"] = json!([1, 2, 14]);
    let texts = [report(), compact].map(|report| report.to_string());
    let trace = trace(FIGURE_1B);
    let mut rng = fastrand::Rng::with_seed(7);
    let mut read = 0;
    for _ in 0..5000 {
        let mut bytes = rng.choice(&texts).unwrap().clone().into_bytes();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(0..bytes.len());
            bytes[at] = rng.choice(*b"0123456789[]{},:\"- e.").unwrap();
        }
        bytes.truncate(rng.usize(bytes.len() / 2..bytes.len() * 3).min(bytes.len()));
        let Ok(damaged) = String::from_utf8(bytes) else {
            continue;
        };
        let Ok(verification) = verify(&damaged, &trace) else {
            continue;
        };
        read += 1;
        for race in verification.races {
            let pair = (race.first, race.second);
            assert!(
                race.verdict != Verdict::Verified || pair == (2, 14),
                "{damaged}"
            );
        }
    }
    assert!(read > 100, "{read}");
}

const CROSSED: &str = "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a);
    T2 racq(b); T2 acq(a); T2 rel(a); T2 rrel(b)";

/// What the command prints for two threads that take locks in other orders.
fn circle() -> Value {
    json!({
        "engine": "m2", "events": 8, "threads": 2, "races": [],
        "deadlocks": [{
            "waits": [
                {"thread": "T1", "event": 2, "loc": "2", "lock": "b", "shared": false,
                 "holds": [{"lock": "a", "loc": "1", "shared": false}]},
                {"thread": "T2", "event": 6, "loc": "6", "lock": "a", "shared": false,
                 "holds": [{"lock": "b", "loc": "5", "shared": true}]},
            ],
            "witness": [1, 5], "verified": true, "status": "predicted"
        }],
    })
}

/// What becomes of that report, with one value exchanged.
fn verdict_with(pointer: &str, value: Value) -> Verdict {
    let mut report = circle();
    *report.pointer_mut(pointer).unwrap() = value;
    let mut verification = verify(&report.to_string(), &trace(CROSSED)).unwrap();
    let deadlock = verification.deadlocks.pop().unwrap();
    if deadlock.verdict == Verdict::Verified {
        assert_eq!(deadlock.circle, [2, 6]);
    }
    deadlock.verdict
}

#[test]
fn a_deadlock_is_what_the_trace_says_and_its_witness_leads_to_it() {
    assert_eq!(verdict_with("/engine", json!("m2")), Verdict::Verified);
    let wrong = [
        ("/deadlocks/0/witness", json!([1])),
        ("/deadlocks/0/witness", json!([5, 6, 7, 8, 1])),
        ("/deadlocks/0/waits/0/event", json!(1)),
        ("/deadlocks/0/waits/0/event", json!(3)),
        ("/deadlocks/0/waits/0/event", json!(99)),
        ("/deadlocks/0/waits/0/thread", json!("T2")),
        ("/deadlocks/0/waits/0/loc", json!("3")),
        ("/deadlocks/0/waits/0/lock", json!("a")),
        ("/deadlocks/0/waits/0/shared", json!(true)),
        ("/deadlocks/0/waits/0/holds", json!([])),
        ("/deadlocks/0/waits/0/holds/0/lock", json!("b")),
        ("/deadlocks/0/waits/0/holds/0/loc", json!("2")),
        ("/deadlocks/0/waits/1/holds/0/shared", json!(false)),
    ];
    for (pointer, value) in wrong {
        let verdict = verdict_with(pointer, value.clone());
        assert!(
            matches!(verdict, Verdict::Refused(_)),
            "{pointer} {value}: {verdict}"
        );
    }
    let none = verdict_with("/deadlocks/0/witness", Value::Null);
    assert_eq!(none, Verdict::NoWitness);
}

#[test]
fn a_deadlock_may_begin_with_a_part_of_the_trace_in_its_order() {
    let mut report = circle();
    let deadlock = report["deadlocks"][0].as_object_mut().unwrap();
    deadlock.insert("witness".to_string(), json!([5]));
    let prefix = json!({"before": 5, "upto": {"T1": 1}});
    deadlock.insert("witness_prefix".to_string(), prefix);
    let verification = verify(&report.to_string(), &trace(CROSSED)).unwrap();
    assert!(verification.all_verified());
    assert_eq!(verification.deadlocks.len(), 1);
}
