//! What every command writes for other programs: JSON by its schema, SARIF, one identity for one finding, baselines.

mod common;
#[path = "common/schema.rs"]
mod schema;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{deadheat, deadheat_on, root, stderr, stdout};
use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.path().join(name), text).unwrap();
        self.path(name)
    }
}

fn objects(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.map(Result::unwrap).collect()
}

/// Every fingerprint in a value, sorted, each once.
fn fingerprints(value: &Value) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("fingerprint" | "deadheat/v1", Value::String(text)) => {
                            found.push(text.clone());
                        }
                        // No race, and not in SARIF.
                        ("general_races", _) => {}
                        _ => walk(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    found.sort();
    found.dedup();
    found
}

fn report_schema() -> Value {
    let text = fs::read_to_string(root().join("docs/report.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn conforms(schema: &Value, value: &Value, of: &str) {
    let violations = schema::violations(schema, value);
    assert!(violations.is_empty(), "{of}: {violations:#?}");
}

/// Commands with findings of every engine and kind.
fn commands(folder: &Folder) -> Vec<Vec<String>> {
    let recorded = folder.path("run.dht");
    let made = deadheat(&[
        "check",
        "-q",
        "--record",
        &recorded,
        "examples/lost-update.tp",
    ]);
    assert_eq!(made.status.code(), Some(1), "{}", stderr(&made));
    let lines = [
        "check examples/lost-update.tp".to_string(),
        "check --explore --explain examples/lost-update.tp".to_string(),
        "check --explore examples/dining-philosophers.tp examples/promise-set-twice.tp".to_string(),
        "check --all-orders examples/isolated-hides-race.tp".to_string(),
        "check examples/promise-never-set.tp".to_string(),
        "analyze examples/traces/m2-fig1b.std".to_string(),
        "analyze --engine all examples/traces/m2-fig1b.std".to_string(),
        format!("analyze --engine all {recorded}"),
        format!("explain {recorded}"),
        "explain examples/traces/m2-fig2.std".to_string(),
    ];
    let words = |line: &String| line.split(' ').map(str::to_string).collect();
    lines.iter().map(words).collect()
}

fn with(command: &[String], more: &[&str]) -> Output {
    let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
    words.splice(1..1, more.iter().copied());
    deadheat(&words)
}

#[test]
fn the_json_of_every_command_is_as_its_schema_says() {
    let folder = Folder::new();
    let schema = report_schema();
    let mut seen = 0;
    for command in commands(&folder) {
        for report in objects(&stdout(&with(&command, &["--json"]))) {
            assert_eq!(report["command"], command[0]);
            conforms(&schema, &report, &command.join(" "));
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
    let trace = "examples/traces/m2-fig1b.std";
    let report = folder.path("report.json");
    deadheat(&["analyze", &format!("--json={report}"), trace]);
    for output in [
        deadheat(&["stats", "--json", trace]),
        deadheat(&["verify", "--json", &report, trace]),
    ] {
        let printed = objects(&stdout(&output));
        assert_eq!(printed.len(), 1);
        conforms(&schema, &printed[0], "stats and verify");
    }
    // The schema is not one that anything fits.
    let mut broken: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    broken["races"][0]["surprise"] = json!(1);
    assert!(!schema::violations(&schema, &broken).is_empty());
    broken["races"][0]
        .as_object_mut()
        .unwrap()
        .remove("surprise");
    assert!(schema::violations(&schema, &broken).is_empty());
    broken["races"][0]["fingerprint"] = json!("xyz");
    assert!(!schema::violations(&schema, &broken).is_empty());
}

#[test]
fn a_finding_has_one_identity_in_json_and_sarif() {
    let folder = Folder::new();
    for command in commands(&folder) {
        let sarif = folder.path("log.sarif");
        let output = with(&command, &["--json", "--sarif", &sarif]);
        let json = json!(objects(&stdout(&output)));
        let log: Value = serde_json::from_str(&fs::read_to_string(&sarif).unwrap()).unwrap();
        let allowed = fs::read_to_string(root().join("tests/sarif.schema.json")).unwrap();
        conforms(
            &serde_json::from_str(&allowed).unwrap(),
            &log,
            &command.join(" "),
        );
        let (in_json, in_sarif) = (fingerprints(&json), fingerprints(&log));
        assert!(!in_json.is_empty(), "{command:?}");
        // What is only undecided is in JSON alone.
        let listed = in_sarif.iter().all(|found| in_json.contains(found));
        assert!(listed, "{command:?}");
        if command[0] != "analyze" {
            assert_eq!(in_json, in_sarif, "{command:?}");
        }
        for result in log["runs"][0]["results"].as_array().unwrap() {
            assert!(!result["relatedLocations"].as_array().unwrap().is_empty());
        }
    }
}

/// Check, analyze and explain have one name for one race, in whatever order and by whatever engine they find it.
#[test]
fn a_race_has_one_identity_for_every_command_and_engine() {
    let folder = Folder::new();
    let recorded = folder.path("run.dht");
    let checked = deadheat(&[
        "check",
        "--json",
        "--record",
        &recorded,
        "examples/lost-update.tp",
    ]);
    let report = &objects(&stdout(&checked))[0];
    let races = fingerprints(&report["races"]);
    assert_eq!(races.len(), 1, "one pair of lines");
    for command in [
        vec!["analyze", "--engine", "hb,m2,eraser", "--json", &recorded],
        vec!["explain", "--json", &recorded],
    ] {
        for report in objects(&stdout(&deadheat(&command))) {
            let others = fingerprints(&report["races"]);
            assert!(others.contains(&races[0]), "{command:?}: {report}");
        }
    }
}

#[test]
fn what_the_baseline_knows_is_not_new() {
    let folder = Folder::new();
    for command in commands(&folder) {
        for option in ["--json=", "--sarif="] {
            let known = folder.path("known");
            let first = with(&command, &[&format!("{option}{known}")]);
            assert_eq!(first.status.code(), Some(1), "{command:?}");
            let again = with(&command, &["--json", "--baseline", &known]);
            assert_eq!(
                again.status.code(),
                Some(0),
                "{command:?} {}",
                stdout(&again)
            );
            for report in objects(&stdout(&again)) {
                conforms(&report_schema(), &report, "with a baseline");
                assert_eq!(report["races"], json!([]));
                assert!(report["known"].as_u64().is_some());
            }
            let text = stdout(&with(&command, &["--baseline", &known]));
            assert!(text.contains("that the baseline knows"), "{text}");
            assert!(!text.contains("-->"), "{text}");
        }
    }
}

/// Lines come and go, the race stays; another race is new.
#[test]
fn a_baseline_outlives_changes_elsewhere() {
    let folder = Folder::new();
    let old = "shared x; shared y;\nproc main() {\n  async { x = 1; }\n  x = 2;\n}\n";
    let moved = "// A comment.\n\nshared x; shared y;\n\nproc main() {\n  y = 0;\n  async { x  = 1; }\n  x = 2;\n}\n";
    let more =
        "shared x; shared y;\nproc main() {\n  async { x = 1; y = 1; }\n  x = 2;\n  y = 2;\n}\n";
    let path = folder.write("a.tp", old);
    let known = folder.path("known.json");
    deadheat(&["check", &format!("--json={known}"), &path]);
    let status = |text: &str| {
        folder.write("a.tp", text);
        deadheat(&["check", "--baseline", &known, &path])
            .status
            .code()
    };
    assert_eq!(status(old), Some(0));
    assert_eq!(status(moved), Some(0));
    // The line with `x = 1` has changed, and `y` is new.
    assert_eq!(status(more), Some(1));
    // Standard input has an identity, too.
    let output = deadheat_on(&["check", "--json", "-"], old);
    fs::write(&known, &output.stdout).unwrap();
    let output = deadheat_on(&["check", "--baseline", &known, "-"], moved);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn suppressions_name_races_of_traces_and_programs() {
    let folder = Folder::new();
    let rules = folder.write("rules", "# known\nvariable:^x$\n");
    for command in [
        ["check", "examples/lost-update.tp"],
        ["analyze", "examples/traces/m2-fig1b.std"],
        ["explain", "examples/traces/m2-fig1b.std"],
    ] {
        let [command, input] = command;
        let output = deadheat(&[command, "--json", "--suppress", &rules, input]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let report = &objects(&stdout(&output))[0];
        assert!(report["suppressed"].as_u64() > Some(0), "{report}");
        assert_eq!(report["races"], json!([]));
    }
}

#[test]
fn what_is_no_baseline_is_told() {
    let folder = Folder::new();
    let trace = "examples/traces/m2-fig1b.std";
    for (text, why) in [
        ("no json", "not a report that deadheat wrote"),
        ("{\"a\": 1}", "it has neither `schema` nor `runs`"),
    ] {
        let file = folder.write("known", text);
        let output = deadheat(&["analyze", "--baseline", &file, trace]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    let output = deadheat(&["analyze", "--baseline", &folder.path("none"), trace]);
    assert_eq!(output.status.code(), Some(2));
}

/// What each format looks like, for findings of every engine: files beside this one. `DEADHEAT_BLESS=1` writes them anew.
#[test]
fn formats_look_as_they_did() {
    let folder = Folder::new();
    let trace = "examples/traces/m2-fig1b.std";
    let mut commands = vec![
        vec!["check", "--explore", "examples/handover.tp"],
        vec!["check", "--all-orders", "examples/isolated-hides-race.tp"],
        vec!["check", "examples/promise-never-set.tp"],
        vec!["check", "examples/promise-set-twice.tp"],
        vec!["explain", "examples/traces/m2-fig2.std"],
        vec!["analyze", "--engine", "all", trace],
    ];
    for engine in [
        "hb",
        "fasttrack",
        "shb",
        "wcp",
        "dc",
        "m2",
        "eraser",
        "graph",
    ] {
        commands.push(vec![
            "analyze",
            "--engine",
            engine,
            "examples/traces/m2-fig1a.std",
        ]);
    }
    for engine in ["spd3", "esp-bags", "drdp", "zipper"] {
        commands.push(vec!["check", "--engine", engine, "examples/lost-update.tp"]);
    }
    let (mut texts, mut jsons, mut sarifs) = (String::new(), String::new(), String::new());
    for command in &commands {
        let words: Vec<String> = command.iter().map(|word| word.to_string()).collect();
        let title = format!("$ deadheat {}\n", words.join(" "));
        let sarif = folder.path("log.sarif");
        texts += &format!(
            "{title}{}\n",
            timeless(&stdout(&with(&words, &["--sarif", &sarif])))
        );
        jsons += &format!("{title}{}\n", timeless(&stdout(&with(&words, &["--json"]))));
        let log: Value = serde_json::from_str(&fs::read_to_string(&sarif).unwrap()).unwrap();
        for result in log["runs"][0]["results"].as_array().unwrap() {
            sarifs += &format!("{title}{result}\n");
        }
    }
    for (name, found) in [("text", texts), ("json", jsons), ("sarif", sarifs)] {
        let path = root().join("crates/cli/tests/snapshots").join(name);
        if std::env::var_os("DEADHEAT_BLESS").is_some() {
            fs::write(&path, &found).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        for (line, (kept, found)) in (1..).zip(kept.lines().zip(found.lines())) {
            assert_eq!(
                found,
                kept,
                "{}, line {line}; DEADHEAT_BLESS=1 takes it over",
                path.display()
            );
        }
        assert_eq!(found.len(), kept.len(), "{}", path.display());
    }
}

/// Without the times that differ from run to run.
fn timeless(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut line = line.to_string();
        if let Some(at) = line.find("\"seconds\":") {
            let end = at + line[at..].find([',', '}']).unwrap();
            line.replace_range(at..end, "\"seconds\":0");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = |word: &str| word == "ms" || word == "s";
        let is_time = |at: usize| words.get(at + 1).is_some_and(|next| unit(next));
        // In a table columns are as wide as their times.
        if line.starts_with("engine ") || words.iter().any(|word| unit(word)) {
            let kept = words.iter().enumerate();
            let kept = kept.map(|(at, word)| if is_time(at) { "0" } else { word });
            let kept: Vec<&str> = kept.filter(|word| !unit(word)).collect();
            lines.push(kept.join(" "));
            continue;
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Findings outlive a place that cannot be written to.
#[test]
fn findings_are_not_lost_with_a_file() {
    let folder = Folder::new();
    let nowhere = folder.path("no/such/directory/log");
    for option in ["--sarif", "--html"] {
        let output = deadheat(&["check", option, &nowhere, "examples/lost-update.tp"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stdout(&output).contains("can write `x`"), "{option}");
        assert!(stderr(&output).contains("cannot write"), "{option}");
        if Path::new("/dev/full").exists() {
            let output = deadheat(&["check", option, "/dev/full", "examples/lost-update.tp"]);
            assert_eq!(output.status.code(), Some(2));
            assert!(stdout(&output).contains("can write `x`"), "{option}");
        }
    }
}

/// Places are shown in their files, where these are.
#[test]
fn traces_are_shown_in_their_source() {
    let folder = Folder::new();
    let source = folder.write(
        "a.c",
        "int x;\nvoid f(void) { x = 1; }\nint g(void) { return x; }\n",
    );
    let run = format!("T1|w(x)|{source}:2:16\nT2|r(x)|{source}:3:22\n");
    let trace = folder.write("run.std", &run);
    for command in ["analyze", "explain"] {
        let text = stdout(&deadheat(&[command, &trace]));
        assert!(
            text.contains("T1 can write `x` while T2 reads it"),
            "{text}"
        );
        for shown in [
            "void f(void) { x = 1; }",
            "^ write by T1 (event 1)",
            "return x; }",
            "^ read by T2 (event 2)",
        ] {
            assert!(text.contains(shown), "{command}: {shown}\n{text}");
        }
    }
    // Sources that are gone, short, or no text: less detail, the same findings.
    for content in [
        None,
        Some(&b"one line"[..]),
        Some(b"\xff\xfe\n\xc3\n\xe4\xf6\n"),
    ] {
        let path = PathBuf::from(&source);
        match content {
            None => fs::remove_file(&path).unwrap(),
            Some(bytes) => fs::write(&path, bytes).unwrap(),
        }
        let sarif = folder.path("log.sarif");
        let output = deadheat(&["analyze", "--sarif", &sarif, &trace]);
        assert_eq!(output.status.code(), Some(1));
        let text = stdout(&output);
        assert!(
            text.contains("T1 can write `x` while T2 reads it"),
            "{text}"
        );
        assert!(fs::read_to_string(sarif).unwrap().contains("deadheat/v1"));
    }
}

/// Names as long as a recursion is deep, wide characters, many threads: a page all the same, of a decent size.
#[test]
fn a_page_of_strange_names_is_made() {
    let folder = Folder::new();
    let wide = "ä".repeat(200);
    let mut run = String::new();
    for thread in 0..200 {
        run += &format!("{wide}{thread}|w(x)|a.c:{thread}\n");
    }
    let trace = folder.write("run.std", &run);
    let deep = "shared x; proc down(n) { if n > 0 { async { call down(n - 1); } } x = n; } proc main() { call down(700); }";
    let program = folder.write("deep.tp", deep);
    for command in [
        vec!["analyze", "--engine", "hb", &trace],
        vec!["explain", &trace],
        vec!["check", &program],
    ] {
        let page = folder.path("page.html");
        let words: Vec<String> = command.iter().map(|word| word.to_string()).collect();
        let output = with(&words, &["-q", "--html", &page]);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{command:?} {}",
            stderr(&output)
        );
        let size = fs::metadata(&page).unwrap().len();
        assert!(size < 60 << 20, "{command:?}: {size}");
        println!("{command:?}: {size} bytes");
    }
}

/// Ten thousand races do not scroll away the first.
#[test]
fn a_long_list_is_cut() {
    let folder = Folder::new();
    let event = |n: u32| format!("T1|w(x{n})|a.c:{n}\nT2|w(x{n})|b.c:{n}\n");
    let run: String = (1..=10_000).map(event).collect();
    let trace = folder.write("run.std", &run);
    let text = stdout(&deadheat(&["analyze", &trace]));
    assert!(text.starts_with("race 1: T1 and T2 can write `x1` at the same time\n"));
    assert!(text.contains("9,980 more races not shown"), "{text}");
    assert!(text.lines().count() < 800, "{}", text.lines().count());
    // SARIF has as many as services take, and says that there are more.
    let event = |n: u32| format!("T1|w(x{n})|a.c:{n}\nT2|w(x{n})|b.c:{n}\n");
    let run: String = (1..=10_005).map(event).collect();
    let sarif = folder.path("log.sarif");
    deadheat(&[
        "analyze",
        "-q",
        "--engine",
        "hb",
        "--sarif",
        &sarif,
        &folder.write("more.std", &run),
    ]);
    let log = fs::read_to_string(sarif).unwrap();
    assert_eq!(log.matches("\"deadheat/v1\"").count(), 10_000);
    assert!(log.contains("5 more findings only in --json"));
    let output = deadheat(&["explain", "--max-shown", "3", &trace]);
    assert!(stdout(&output).lines().count() < 300);
    let source: String = (0..100)
        .map(|n| format!("  async {{ x = {n}; }}\n"))
        .collect();
    let program = folder.write("a.tp", &format!("shared x;\nproc main() {{\n{source}}}\n"));
    let text = stdout(&deadheat(&["check", "--max-shown", "2", &program]));
    assert_eq!(text.matches("race: ").count(), 2, "{text}");
    assert!(text.contains("more races not shown; --max-shown shows more"));
}
