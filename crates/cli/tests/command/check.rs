//! `deadheat check` as a user meets it.

use std::fs;

use crate::common::{deadheat, deadheat_on, root, stderr, stdout};
use serde_json::{Value, json};

const FIGURE_1: &str = "\
shared x;
promise y;
proc main() {
  async { x = 5; y.set; }
  let a = x;
  y.get;
  let b = x;
}
";

fn json_of(arguments: &[&str], source: &str) -> Value {
    let output = deadheat_on(&[&["check", "--json", "-"], arguments].concat(), source);
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| {
        panic!("{error}: {}{}", stdout(&output), stderr(&output));
    })
}

#[test]
fn the_json_is_the_documented_object() {
    let report = json_of(&["--explore"], FIGURE_1);
    assert_eq!(report["program"], "-");
    assert_eq!(report["constructs"], json!(["async", "promise"]));
    assert_eq!(report["engine"], "drdp");
    let race = &report["races"][0];
    assert_eq!(race["location"], "x");
    assert_eq!(race["kind"], "write-read");
    let first = json!({"line": 4, "column": 11, "access": "write", "task": "main/1"});
    let second = json!({"line": 5, "column": 11, "access": "read", "task": "main"});
    for (side, expected) in [("first", first), ("second", second)] {
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(race[side][field], *value, "{side}: {field}");
        }
    }
    assert_eq!(report["racy_locations"], json!(["x"]));
    assert_eq!(report["deadlock"], Value::Null);
    assert_eq!(report["error"], Value::Null);
    let explored = &report["explored"];
    assert_eq!(explored["complete"], true);
    assert_eq!(explored["deterministic"], false);
    assert_eq!(explored["racy_locations"], json!(["x"]));
    assert_eq!(explored["deadlock_possible"], false);
    assert_eq!(explored["error_possible"], false);
    assert!(explored["schedules"].as_u64().unwrap() > 0);
    assert!(explored["states"].as_u64().unwrap() > 0);
    assert!(report["guarantee"].is_string());
    assert_eq!(json_of(&[], FIGURE_1)["explored"], Value::Null);
}

#[test]
fn the_exit_status_tells() {
    let status = |arguments: &[&str], source: &str| {
        let output = deadheat_on(&[&["check", "-"], arguments].concat(), source);
        output.status.code()
    };
    assert_eq!(status(&[], "proc main() {}"), Some(0));
    assert_eq!(status(&[], FIGURE_1), Some(1));
    assert_eq!(status(&[], "proc main() {"), Some(2));
    // A race that this schedule does not show.
    let handover = fs::read_to_string(root().join("examples/handover.tp")).unwrap();
    assert_eq!(status(&[], &handover), Some(0));
    assert_eq!(status(&["--explore"], &handover), Some(1));
    // The worst of several files.
    let both = [
        "check",
        "examples/drdp-fig1.tp",
        "examples/drdp-fig1-fixed.tp",
    ];
    assert_eq!(deadheat(&both).status.code(), Some(1));
    let missing = ["check", "examples/drdp-fig1.tp", "no-such-file.tp"];
    assert_eq!(deadheat(&missing).status.code(), Some(2));
}

#[test]
fn a_race_is_shown_with_both_lines_and_the_guarantee_last() {
    let output = deadheat_on(&["check", "-"], FIGURE_1);
    let text = stdout(&output);
    assert!(
        text.contains("race: main/1 can write `x` while main reads it"),
        "{text}"
    );
    assert!(text.contains("4 |   async { x = 5; y.set; }"), "{text}");
    assert!(text.contains("^ write by main/1"), "{text}");
    assert!(text.contains("5 |   let a = x;"), "{text}");
    assert!(text.contains("^ read by main"), "{text}");
    assert!(!text.contains("7 |"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.contains("1 racy location in this schedule"), "{text}");
    assert!(!text.contains('\x1b'), "colours where there is no terminal");
    let coloured = deadheat_on(&["check", "-", "--color", "always"], FIGURE_1);
    assert!(stdout(&coloured).contains('\x1b'));
    let quiet = deadheat_on(&["check", "-", "--quiet"], FIGURE_1);
    assert_eq!(
        (stdout(&quiet), quiet.status.code()),
        (String::new(), Some(1))
    );
}

#[test]
fn the_guarantee_says_what_is_proven() {
    let guarantee = |arguments: &[&str], source: &str| {
        let report = json_of(arguments, source);
        report["guarantee"].as_str().unwrap().to_string()
    };
    let tasks = "shared x; proc main() { finish { async { x = 1; } } x = 2; }";
    assert_eq!(
        guarantee(&[], tasks),
        "race-free and deterministic for this input, under every schedule (async, finish: 1 task, 1 join, \
         2 accesses; no locks)"
    );
    let locks = "shared x; lock l; proc main() {
        async { acquire l; x = 1; release l; } acquire l; x = 2; release l; }";
    let text = guarantee(&[], locks);
    assert!(
        text.starts_with("no race in this schedule; others may order locks differently"),
        "{text}"
    );
    let text = guarantee(&["--explore"], locks);
    assert!(
        text.starts_with("race-free for this input under every schedule, but not det"),
        "{text}"
    );
    let text = guarantee(&["--explore", "--max-states", "3"], locks);
    assert!(text.contains("not every schedule was explored"), "{text}");
    let stuck = "promise p; proc main() { async { p.get; } }";
    let text = guarantee(&[], stuck);
    assert!(
        text.contains("every schedule ends in this deadlock"),
        "{text}"
    );
}

#[test]
fn a_bound_that_is_hit_is_said() {
    let report = json_of(&["--explore", "--max-states", "2"], FIGURE_1);
    assert_eq!(report["explored"]["complete"], false);
    assert_eq!(report["explored"]["deterministic"], Value::Null);
    assert_eq!(report["explored"]["states"], 2);
    let endless = "shared x; proc main() { while x == 0 { } }";
    let report = json_of(&["--max-steps", "1000"], endless);
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("still running"), "{message}");
    // The run's own race counts, also where the search did not come so far.
    let report = json_of(&["--explore", "--max-states", "1"], FIGURE_1);
    assert_eq!(report["explored"]["racy_locations"], json!(["x"]));
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(
        guarantee.starts_with("`x` can race, and there may be more"),
        "{guarantee}"
    );
}

#[test]
fn a_run_too_long_for_the_engine_is_judged_in_part_and_that_is_said() {
    let source =
        "shared x; proc main() { for i in 0..70000 { async { } } async { x = 1; } x = 2; }";
    let report = json_of(&[], source);
    assert_eq!(report["engine"], "spd3");
    assert_eq!(report["racy_locations"], json!(["x"]));
    let report = json_of(&["--engine", "graph"], source);
    let judged = report["judged_events"].as_u64().unwrap();
    assert!(judged < report["events"].as_u64().unwrap());
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(guarantee.contains("the rest was not judged"), "{guarantee}");
    assert!(!guarantee.contains("race-free"), "{guarantee}");
}

#[test]
fn a_deadlock_names_who_waits_for_what() {
    let source = "lock a; lock b; promise p; proc main() {
  fork t { acquire b; p.get; acquire a; }
  acquire a;
  p.set;
  acquire b;
}";
    let report = json_of(&[], source);
    let waiting = &report["deadlock"]["waiting"];
    assert_eq!(waiting[0]["task"], "main");
    assert_eq!(waiting[0]["waits_for"], "lock `b`, held by main/1");
    assert_eq!(waiting[0]["line"], 5);
    assert_eq!(waiting[1]["task"], "main/1");
    assert_eq!(waiting[1]["waits_for"], "lock `a`, held by main");
    let text = stdout(&deadheat_on(&["check", "-"], source));
    assert!(text.contains("deadlock: nobody can go on"), "{text}");
    assert!(
        text.contains("main waits for lock `b`, held by main/1"),
        "{text}"
    );
}

#[test]
fn an_error_points_at_the_source() {
    let source = "promise p; proc main() {\n  p.set;\n  p.set;\n}";
    let report = json_of(&[], source);
    let error = &report["error"];
    assert_eq!(error["message"], "this promise is already set");
    assert_eq!((&error["line"], &error["column"]), (&json!(3), &json!(3)));
    assert_eq!(error["first_set"]["line"], 2);
    let text = stdout(&deadheat_on(&["check", "-"], source));
    assert!(text.contains("set first here"), "{text}");
}

#[test]
fn a_schedule_can_be_saved_and_followed() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("schedule.txt");
    let saved_path = saved.to_str().unwrap();
    let random = ["--schedule", "random:5", "--save-schedule", saved_path];
    let first = json_of(&random, FIGURE_1);
    let trace = format!("trace:{saved_path}");
    let again = json_of(&["--schedule", &trace], FIGURE_1);
    assert_eq!(first["races"], again["races"]);
    assert!(fs::read_to_string(&saved).unwrap().contains("main/1"));

    let complaint = |schedule: &str| {
        fs::write(&saved, schedule).unwrap();
        let output = deadheat_on(&["check", "-", "--schedule", &trace], FIGURE_1);
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(complaint("main\nmain/1/\n").contains("line 2"));
    let blocked = complaint("main 3\n");
    assert!(
        blocked.contains("line 1 of the schedule: main cannot go on"),
        "{blocked}"
    );
    assert!(complaint("main/7\n").contains("main/7 has not been started"));
}

#[test]
fn the_readme_shows_what_the_command_prints() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut blocks = readme.split("```").skip(1).step_by(2);
    let shown = blocks
        .find_map(|block| block.strip_prefix("console\n$ deadheat check "))
        .expect("the README shows a check");
    let (arguments, expected) = shown.split_once('\n').unwrap();
    let arguments: Vec<&str> = std::iter::once("check")
        .chain(arguments.split_whitespace())
        .collect();
    let printed = stdout(&deadheat(&arguments));
    assert_eq!(printed.trim(), expected.trim());
}

#[test]
fn the_engine_that_fits_is_chosen() {
    let tasks = "shared x; proc main() { finish { async { x = 1; } } x = 2; }";
    let future = "shared x; proc main() { let f = future { x = 1; }; f.get; x = 2; }";
    let thread = "shared x; proc main() { fork t { x = 1; } join t; x = 2; }";
    let isolated = "shared x; proc main() { async { isolated { x = 1; } } isolated { x = 2; } }";
    let expected = [
        (tasks, "spd3"),
        (future, "drdp"),
        (FIGURE_1, "drdp"),
        (thread, "drdp"),
        (isolated, "zipper"),
    ];
    for (source, engine) in expected {
        assert_eq!(json_of(&[], source)["engine"], engine, "{source}");
    }
}

#[test]
fn every_engine_finds_the_race_it_can_order() {
    let source = "shared x; proc main() { finish { async { x = 1; } x = 2; } x = 3; }";
    for engine in ["esp-bags", "spd3", "drdp", "graph"] {
        let report = json_of(&["--engine", engine], source);
        assert_eq!(report["engine"], engine);
        assert_eq!(report["racy_locations"], json!(["x"]), "{engine}");
        let races = report["races"].as_array().unwrap();
        assert_eq!(races.len(), 1, "{engine}: {races:?}");
        assert_eq!(races[0]["first"]["task"], "main/1", "{engine}");
        assert_eq!(races[0]["second"]["task"], "main", "{engine}");
    }
}

#[test]
fn an_engine_that_cannot_order_a_construct_names_one_that_can() {
    let promise = "promise p;\nproc main() {\n  async { p.set; }\n  p.get;\n}";
    let isolated = "shared x;\nproc main() {\n  isolated { x = 1; }\n}";
    let expected = [
        (
            promise,
            "spd3",
            "line 3, column 11, uses `promise`",
            "--engine drdp",
        ),
        (
            promise,
            "esp-bags",
            "line 3, column 11, uses `promise`",
            "--engine drdp",
        ),
        (
            isolated,
            "esp-bags",
            "line 3, column 3, uses `isolated`",
            "--engine zipper",
        ),
        (
            isolated,
            "drdp",
            "line 3, column 3, uses `isolated`",
            "--engine zipper",
        ),
    ];
    let lock = "lock l; shared x;\nproc main() {\n  acquire l; x = 1; release l;\n}";
    let expected = expected.into_iter().chain([(
        lock,
        "zipper",
        "line 3, column 3, uses `lock`",
        "--engine hb",
    )]);
    for (source, engine, what, instead) in expected {
        let output = deadheat_on(&["check", "--engine", engine, "-"], source);
        assert_eq!(output.status.code(), Some(2));
        let complaint = stderr(&output);
        assert!(complaint.contains(what), "{complaint}");
        assert!(complaint.contains(instead), "{complaint}");
    }
    let output = deadheat_on(&["check", "--engine", "tsan", "-"], isolated);
    assert_eq!(output.status.code(), Some(2));
    let complaint = stderr(&output);
    assert!(
        complaint.contains("there are spd3, esp-bags, drdp, zipper, hb, fasttrack"),
        "{complaint}"
    );
}

#[test]
fn every_order_of_sections_is_visited_on_demand() {
    let hidden = "shared x;\nproc main() {\n  async { x = 1; isolated { skip; } }\n  isolated { skip; }\n  let v = x;\n}";
    let report = json_of(&[], hidden);
    assert_eq!(report["racy_locations"], json!([]));
    assert_eq!(report["orders"], Value::Null);
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(guarantee.contains("`--all-orders` visits"), "{guarantee}");
    let report = json_of(&["--all-orders"], hidden);
    assert_eq!(report["engine"], "zipper");
    assert_eq!(
        report["orders"],
        json!({"visited": 1, "complete": true, "deadlock_possible": false, "error_possible": false})
    );
    assert_eq!(report["racy_locations"], json!(["x"]));
    let race = &report["races"][0];
    assert_eq!(race["order"], json!(["main"]));
    // The schedule is one that `--schedule trace:` takes, and it shows the race.
    let lines: Vec<&str> = race["schedule"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l.as_str().unwrap())
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("order.txt");
    fs::write(&file, lines.join("\n")).unwrap();
    let schedule = format!("trace:{}", file.display());
    let report = json_of(&["--schedule", &schedule], hidden);
    assert_eq!(report["racy_locations"], json!(["x"]));

    let figure_2 = "shared x; shared a; proc main() { finish { async { isolated { if !a { x = 1; } } } isolated { a = 1; } let y = x; } }";
    let report = json_of(&["--all-orders"], figure_2);
    assert_eq!(
        report["orders"],
        json!({"visited": 2, "complete": true, "deadlock_possible": false, "error_possible": false})
    );
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(
        guarantee.starts_with("race-free for this input, under every schedule"),
        "{guarantee}"
    );

    let tasks = "async { isolated { x = x + 1; } } ".repeat(6);
    let many = format!("shared x; proc main() {{ {tasks} }}");
    let report = json_of(&["--all-orders", "--max-orders", "5"], &many);
    assert_eq!(
        report["orders"],
        json!({"visited": 5, "complete": false, "deadlock_possible": false, "error_possible": false})
    );
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(guarantee.contains("raise --max-orders"), "{guarantee}");

    for (arguments, complaint) in [
        (
            ["--all-orders", "--engine", "graph"],
            "needs --engine zipper",
        ),
        (
            ["--all-orders", "--engine", "zipper"],
            "--explore visits every schedule",
        ),
    ] {
        let locks = "lock l; proc main() { acquire l; release l; }";
        let output = deadheat_on(&[&["check"], &arguments[..], &["-"]].concat(), locks);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(complaint), "{}", stderr(&output));
    }
}

#[test]
fn whatever_can_go_wrong_fails_unless_told_otherwise() {
    let deadlock = "promise p; proc main() { p.get; }";
    let failure = "proc main() { assert 0; }";
    let race = "shared x; proc main() { async { x = 1; } x = 2; }";
    let hidden = "lock l; shared x;
proc main() {
  fork a { acquire l; x = 1; release l; }
  fork b { acquire l; let v = x; release l; assert v == 0; }
}";
    let status = |arguments: &[&str], source: &str| {
        let output = deadheat_on(&[&["check", "-"], arguments].concat(), source);
        output.status.code()
    };
    for source in [deadlock, failure, race] {
        assert_eq!(status(&[], source), Some(1), "{source}");
        assert_eq!(status(&["--fail-on", "incomplete"], source), Some(0));
    }
    assert_eq!(status(&["--fail-on", "race"], deadlock), Some(0));
    assert_eq!(status(&["--fail-on", "race,deadlock"], deadlock), Some(1));
    assert_eq!(status(&["--fail-on", "error"], failure), Some(1));
    assert_eq!(
        status(&["--schedule", "random:1", "--explore"], hidden),
        Some(1)
    );
    assert_eq!(
        status(
            &["--explore", "--max-states", "2", "--fail-on", "incomplete"],
            hidden
        ),
        Some(1)
    );
    let text = stderr(&deadheat_on(&["check", "-", "--fail-on", "bug"], race));
    assert!(text.contains("race, deadlock, error, incomplete"), "{text}");
}

/// A picture or a file that cannot be written is an error, and the verdict is still there.
#[test]
fn a_side_output_that_fails_does_not_take_the_verdict_with_it() {
    let race = "shared x; proc main() { async { x = 1; } x = 2; }";
    for option in [
        "--picture=/no/such/folder/run.svg",
        "--save-schedule=/no/such/folder/run.txt",
        "--record=/no/such/folder/run.dht",
        "--json=/no/such/folder/run.json",
    ] {
        let output = deadheat_on(&["check", "-", option], race);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(
            stdout(&output).contains("race: main and main/1 can write `x`"),
            "{option}"
        );
        assert!(stderr(&output).contains("/no/such/folder"), "{option}");
    }
}

/// A search that is cut short takes nothing from what the run alone proves.
#[test]
fn exploring_does_not_weaken_what_the_run_proves() {
    let many = "proc main() { for i in 0..10000 { async { skip; } } }";
    let plain = json_of(&[], many);
    let said = plain["guarantee"].as_str().unwrap();
    assert!(said.starts_with("race-free and deterministic for this input, under every schedule"));
    let explored = json_of(&["--explore", "--max-states", "1000"], many);
    assert_eq!(explored["explored"]["complete"], false);
    assert_eq!(explored["guarantee"], plain["guarantee"]);
    let arguments = [
        "check",
        "-",
        "--explore",
        "--max-states",
        "1000",
        "--fail-on",
        "incomplete",
    ];
    assert_eq!(deadheat_on(&arguments, many).status.code(), Some(0));
    // Where the run proves nothing about others, the search that was cut short says so.
    let racy_order = "shared x; lock l; proc main() { for i in 0..1000 { async { acquire l; x = x + 1; \
                      release l; } } }";
    let explored = json_of(&["--explore", "--max-states", "1000"], racy_order);
    let said = explored["guarantee"].as_str().unwrap();
    assert!(said.contains("not every schedule was explored"), "{said}");
}

/// Too many sections for their orders to be compared: no option is advised that changes nothing.
#[test]
fn orders_that_cannot_be_visited_are_not_promised() {
    let many = "shared x; proc main() { for i in 0..50000 { async { isolated { x = x + 1; } } } }";
    let report = json_of(&["--all-orders"], many);
    let said = report["guarantee"].as_str().unwrap();
    assert_eq!(report["orders"]["visited"], 0);
    assert!(said.starts_with("no race in "), "{said}");
    assert!(
        !said.contains("0 orders") && !said.contains("raise"),
        "{said}"
    );
}

/// What only one strand uses, no schedule can order otherwise.
#[test]
fn a_lock_that_one_strand_uses_orders_nothing() {
    let one = "shared x; lock l; proc main() { async { acquire l; x = 1; release l; } }";
    let said = json_of(&[], one)["guarantee"].as_str().unwrap().to_string();
    assert!(
        said.starts_with("race-free and deterministic for this input, under every"),
        "{said}"
    );
    assert!(said.contains("no lock is shared"), "{said}");
    let two = "shared x; lock l; proc main() { async { acquire l; x = 1; release l; } \
               acquire l; x = 2; release l; }";
    let said = json_of(&[], two)["guarantee"].as_str().unwrap().to_string();
    assert!(
        said.contains("others may order locks differently"),
        "{said}"
    );
}

#[test]
fn the_schedule_of_the_first_finding_is_saved_and_drawn_where_the_run_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    // Depth first, the child comes before.
    let source =
        "shared go; proc main() { async { isolated { go = 1; } } isolated { assert go == 1; } }";
    std::fs::write(at("p.tp"), source).unwrap();
    assert_eq!(deadheat(&["check", &at("p.tp")]).status.code(), Some(0));
    let (schedule, graph) = (at("s.txt"), at("g.dot"));
    let side = [
        "--save-schedule",
        &schedule,
        "--picture",
        &graph,
        &at("p.tp"),
    ];
    for search in ["--explore", "--all-orders"] {
        let output = deadheat(&[&["check", search][..], &side].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let again = format!("trace:{schedule}");
        let again = deadheat(&["check", "--schedule", &again, "--json", &at("p.tp")]);
        let report: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
        assert!(!report["error"].is_null(), "{search}: {}", stdout(&again));
        // In the picture the child has not run yet.
        let drawn = std::fs::read_to_string(&graph).unwrap();
        assert!(
            !drawn.contains("go = 1") && !drawn.contains("write go"),
            "{drawn}"
        );
    }
}

#[test]
fn max_shown_says_how_many_races_are_shown_in_full() {
    let source = "shared x; shared y; shared z; proc main() { async { x = 1; y = 1; z = 1; } x = 2; y = 2; z = 2; }";
    let shown = |arguments: &[&str]| {
        let text = stdout(&deadheat_on(&[&["check", "-"], arguments].concat(), source));
        text.matches("at the same time").count()
    };
    assert_eq!(shown(&[]), 3);
    assert_eq!(shown(&["--max-shown", "1"]), 1);
}

#[test]
fn options_without_effect_are_refused() {
    let program = "proc main() {}";
    for option in ["--max-states=5", "--max-orders=5"] {
        let output = deadheat_on(&["check", option, "-"], program);
        assert_eq!(output.status.code(), Some(2), "{option}");
    }
    let trace = "T1|w(x)|1\nT2|w(x)|2\n";
    let output = deadheat_on(&["analyze", "--engine=hb", "--complete", "-"], trace);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("--complete needs --engine m2"), "{text}");
    let output = deadheat_on(&["analyze", "--engine=hb,m2", "--complete", "-"], trace);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn shells_and_man_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&deadheat(&["completions", shell]));
        assert!(
            script.contains("analyze") && script.contains("max-memory"),
            "{shell}"
        );
    }
    let directory = folder.path().display().to_string();
    assert_eq!(deadheat(&["man", &directory]).status.code(), Some(0));
    for page in ["deadheat.1", "deadheat-check.1", "deadheat-analyze.1"] {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    let nowhere = folder.path().join("nowhere").display().to_string();
    assert_eq!(deadheat(&["man", &nowhere]).status.code(), Some(2));
}

#[test]
fn one_of_a_kind_is_counted_in_the_singular() {
    let output = deadheat_on(&["stats", "-"], "T1|acq(l)|1\nT1|rel(l)|1\n");
    let text = stdout(&output);
    assert!(
        text.contains("1 thread, 1 lock, 1 place in the source"),
        "{text}"
    );
}

/// Whoever waits has not used yet what it waits for: locks that only one strand has used may still be shared.
#[test]
fn a_deadlock_proves_nothing_about_schedules_that_locks_choose() {
    let stuck = "shared x; lock a; promise p;
proc main() {
  fork t1 { acquire a; p.get; release a; x = 1; }
  fork t2 { acquire a; release a; p.set; x = 2; }
}";
    let report = json_of(&[], stuck);
    assert!(report["deadlock"].is_object(), "{report}");
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(
        guarantee.contains("no race in this schedule, which ends in a deadlock")
            && guarantee.contains("`--explore` visits them all"),
        "{guarantee}"
    );
    let explored = json_of(&["--explore"], stuck);
    assert_eq!(explored["explored"]["racy_locations"], json!(["x"]));
    assert_eq!(explored["explored"]["deadlock_possible"], true);
    // Without locks every schedule does end so.
    let always = json_of(&[], "promise p; proc main() { async { p.get; } }");
    let guarantee = always["guarantee"].as_str().unwrap();
    assert!(
        guarantee.contains("every schedule ends in this deadlock"),
        "{guarantee}"
    );
}

/// Whoever waits may have come to its accesses in another schedule, whatever chose between the two.
#[test]
fn no_engine_promises_anything_behind_a_deadlock_that_the_schedule_chose() {
    let abba = "shared x; lock a; lock b; proc main() {
  fork t { acquire a; acquire b; release b; release a; x = 1; }
  fork u { acquire b; acquire a; release a; release b; x = 2; }
}";
    let semaphore = "shared x; sem s; sem t; proc main() {
  fork a { t.p; s.p; x = 1; }
  fork b { s.p; t.v; x = 2; }
  s.v; s.v;
  fork c { s.p; }
}";
    let event = "shared x; event e; proc main() {
  fork a { e.wait; x = 1; }
  fork b { e.post; e.clear; x = 2; }
}";
    for source in [abba, semaphore, event] {
        let all = json_of(&["--explore"], source);
        assert_eq!(all["explored"]["complete"], true, "{source}");
        assert_eq!(all["explored"]["racy_locations"], json!(["x"]), "{source}");
        let mut stuck = 0;
        for seed in 0..20 {
            let schedule = format!("random:{seed}");
            for engine in [
                "hb",
                "m2",
                "graph",
                "shb",
                "wcp",
                "dc",
                "fasttrack",
                "eraser",
            ] {
                let arguments = ["--schedule", &schedule, "--engine", engine];
                let report = json_of(&arguments, source);
                let guarantee = report["guarantee"].as_str().unwrap();
                assert!(
                    !guarantee.contains("race-free"),
                    "{engine}, {seed}: {guarantee}"
                );
                assert!(
                    !guarantee.contains("every schedule ends"),
                    "{engine}: {guarantee}"
                );
                if report["deadlock"].is_null() {
                    continue;
                }
                stuck += 1;
                // Nothing was decided behind the deadlock.
                let asked = ["check", "-", "--fail-on", "race", "--schedule", &schedule];
                let output = deadheat_on(&asked, source);
                assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
            }
        }
        assert!(stuck > 0, "{source}");
    }
}

/// It takes a read after another thread's write for the end of an initialisation.
#[test]
fn a_run_without_suspicion_is_not_race_free() {
    let source = "shared x; proc main() { fork a { x = 1; } fork b { let v = x; } }";
    let report = json_of(&["--engine", "eraser"], source);
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(
        guarantee.contains("that proves nothing about races"),
        "{guarantee}"
    );
    let racy = json_of(&[], source);
    assert_eq!(racy["racy_locations"], json!(["x"]));
    let locked =
        "shared x; proc main() { fork a { x = 1; } join a; fork b { x = 2; } join b; x = 3; }";
    let report = json_of(&["--engine", "eraser"], locked);
    let guarantee = report["guarantee"].as_str().unwrap();
    assert!(guarantee.contains("not necessarily a race"), "{guarantee}");
    assert_eq!(report["races"][0]["rule"], "suspect", "{report}");
}

/// m2 shows races that locks have ordered in this schedule.
#[test]
fn a_predicted_race_is_not_said_to_be_unordered_in_this_schedule() {
    let source = "shared x; lock l; proc main() {
  fork t { acquire l; x = 1; release l; }
  fork u { acquire l; release l; x = 2; }
}";
    let mut predicted = 0;
    for seed in 0..10 {
        let schedule = format!("random:{seed}");
        let own = json_of(&["--schedule", &schedule], source);
        let report = json_of(&["--schedule", &schedule, "--engine", "m2"], source);
        assert_eq!(report["racy_locations"], json!(["x"]));
        assert_eq!(report["races"][0]["rule"], "predicted-race");
        let guarantee = report["guarantee"].as_str().unwrap();
        assert!(!guarantee.contains("nothing orders"), "{guarantee}");
        predicted += u64::from(own["racy_locations"] == json!([]));
    }
    assert!(predicted > 0);
}
