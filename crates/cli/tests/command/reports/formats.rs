//! What every command writes for other programs: JSON by its schema, SARIF, one identity for one finding, baselines.

use std::fs;
use std::path::Path;
use std::process::Output;

use super::identities::{fingerprints, fingerprints_of_text, page_data};
use super::schema::violations;
use super::{conforms, read};
use crate::common::{by_every_engine, deadheat, deadheat_on, root, stderr, stdout};
use serde_json::{Value, json};

const REPORT: &str = "docs/report.schema.json";

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
        "analyze examples/traces/lock-order.std".to_string(),
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
    let mut seen = 0;
    for command in commands(&folder) {
        for report in objects(&stdout(&with(&command, &["--json"]))) {
            assert_eq!(report["command"], command[0]);
            conforms(REPORT, &report, &command.join(" "));
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
        conforms(REPORT, &printed[0], "stats and verify");
    }
    // The schema is not one that anything fits.
    let schema = read(&root().join(REPORT));
    let mut broken: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    broken["races"][0]["surprise"] = json!(1);
    assert!(!violations(&schema, &broken).is_empty());
    broken["races"][0]
        .as_object_mut()
        .unwrap()
        .remove("surprise");
    assert!(violations(&schema, &broken).is_empty());
    broken["races"][0]["fingerprint"] = json!("xyz");
    assert!(!violations(&schema, &broken).is_empty());
}

/// A finding has one identity in JSON, SARIF, on the page and in the text: for every command and every engine.
#[test]
fn a_finding_has_one_identity_in_every_format() {
    let folder = Folder::new();
    let recorded = folder.path("run.dht");
    let mut all = commands(&folder);
    let engines: Vec<&str> = deadheat::ENGINES.iter().map(|engine| engine.name).collect();
    for engine in &engines {
        for line in [
            format!("check --engine {engine} examples/lost-update.tp"),
            format!("analyze --engine {engine} {recorded}"),
            format!("analyze --engine {engine} examples/traces/m2-fig2.std"),
        ] {
            all.push(line.split(' ').map(str::to_string).collect());
        }
    }
    let mut found_by: Vec<String> = Vec::new();
    for command in all {
        let (sarif, page) = (folder.path("log.sarif"), folder.path("page.html"));
        for old in [&sarif, &page] {
            let _ = fs::remove_file(old);
        }
        let output = with(
            &command,
            &[
                "--json",
                &format!("--sarif={sarif}"),
                &format!("--html={page}"),
            ],
        );
        if output.status.code() == Some(2) {
            // This engine cannot order what this input uses, and says so.
            assert!(stderr(&output).contains("order"), "{}", stderr(&output));
            continue;
        }
        let json = json!(objects(&stdout(&output)));
        let log = read(Path::new(&sarif));
        conforms("tests/sarif.schema.json", &log, &command.join(" "));
        let known = fingerprints(&json);
        assert_eq!(known, fingerprints(&log), "{command:?}");
        let page = page_data(Path::new(&page));
        assert_eq!(known, fingerprints(&page), "{command:?}");
        // Several engines are compared in a table, which names no finding.
        if !command.contains(&"all".to_string()) {
            let text = stdout(&with(&command, &["--ids", "--max-shown", "100000"]));
            assert_eq!(known, fingerprints_of_text(&text), "{command:?} {text}");
        }
        let results = log["runs"][0]["results"].as_array().unwrap();
        found_by.extend(results.iter().map(|result| {
            assert!(!result["relatedLocations"].as_array().unwrap().is_empty());
            let engine = result["properties"]["engine"].as_str();
            engine.unwrap().to_string()
        }));
    }
    for engine in engines {
        assert!(
            found_by.iter().any(|by| by == engine),
            "nothing found by {engine}"
        );
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
                conforms(REPORT, &report, "with a baseline");
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
        vec!["analyze", "examples/traces/m2-fig1a.std"],
    ];
    commands.extend(by_every_engine("examples/traces/m2-fig2.std"));
    let [mut texts, mut jsons, mut sarifs, mut pages] = [const { String::new() }; 4];
    for command in &commands {
        let words: Vec<String> = command.iter().map(|word| word.to_string()).collect();
        let title = format!("$ deadheat {}\n", words.join(" "));
        let (sarif, page) = (folder.path("log.sarif"), folder.path("page.html"));
        let files = [format!("--sarif={sarif}"), format!("--html={page}")];
        let files = files.each_ref().map(String::as_str);
        texts += &format!("{title}{}\n", timeless(&stdout(&with(&words, &files))));
        jsons += &format!("{title}{}\n", timeless(&stdout(&with(&words, &["--json"]))));
        let log = read(Path::new(&sarif));
        for result in log["runs"][0]["results"].as_array().unwrap() {
            sarifs += &format!("{title}{result}\n");
        }
        for chapter in page_data(Path::new(&page))["chapters"].as_array().unwrap() {
            for entry in chapter["entries"].as_array().unwrap() {
                pages += &format!("{title}{entry}\n");
            }
        }
    }
    for (name, found) in [
        ("text", texts),
        ("json", jsons),
        ("sarif", sarifs),
        ("page", pages),
    ] {
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
        let output = with(&words, &["-q", &format!("--html={page}")]);
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
        &format!("--sarif={sarif}"),
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

/// What GitHub's code scanning asks of a file: <https://docs.github.com/code-security/code-scanning>, "SARIF support". At most
/// 25,000 results and 10 MB compressed, 1,000 locations a result and 10,000 in its flows; rules, messages, places and
/// fingerprints as it needs them.
#[test]
fn code_scanning_services_take_it() {
    let folder = Folder::new();
    // As many findings as there can be, each with an order that shows it.
    let mut run = String::new();
    for n in 0..4000 {
        run += &format!(
            "T1|w(x{n})|src/first.c:{n}\nT1|acq(l)|f.c:1\nT1|w(y)|f.c:2\nT1|rel(l)|f.c:3\n"
        );
    }
    for n in 0..4000 {
        run += &format!("T2|acq(l)|f.c:4\nT2|rel(l)|f.c:5\nT2|w(x{n})|src/second.c:{n}\n");
    }
    let long = folder.write("long.std", &run);
    let mut all = commands(&folder);
    all.push(vec!["analyze".to_string(), long]);
    for command in all {
        let sarif = folder.path("log.sarif");
        with(&command, &["-q", &format!("--sarif={sarif}")]);
        let text = fs::read_to_string(&sarif).unwrap();
        let log: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let runs = log["runs"].as_array().unwrap();
        assert!(runs.len() <= 20);
        let rules = runs[0]["tool"]["driver"]["rules"].as_array().unwrap();
        for rule in rules {
            assert!(rule["shortDescription"]["text"].is_string());
            assert!(
                ["error", "warning"]
                    .contains(&rule["defaultConfiguration"]["level"].as_str().unwrap())
            );
        }
        let results = runs[0]["results"].as_array().unwrap();
        assert!(!results.is_empty() && results.len() <= 25_000);
        for result in results {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(result["ruleId"], rules[index]["id"]);
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let fingerprint = result["partialFingerprints"]["deadheat/v1"].as_str();
            assert_eq!(fingerprint.unwrap().len(), 16);
            let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
            let locations = [
                list(&result["locations"]),
                list(&result["relatedLocations"]),
            ]
            .concat();
            assert!(!locations.is_empty() && locations.len() <= 1000);
            let mut steps = Vec::new();
            for flow in list(&result["codeFlows"]) {
                for thread in list(&flow["threadFlows"]) {
                    steps.extend(list(&thread["locations"]));
                }
            }
            assert!(steps.len() <= 10_000);
            for location in locations
                .iter()
                .chain(steps.iter().map(|step| &step["location"]))
            {
                let place = &location["physicalLocation"];
                if place.is_null() {
                    continue;
                }
                let uri = place["artifactLocation"]["uri"].as_str().unwrap();
                assert!(!uri.is_empty() && !uri.contains(['\\', ' ']), "{uri}");
                assert!(place["region"]["startLine"].as_u64() >= Some(1));
                assert!(place["region"]["startColumn"].as_u64() != Some(0));
            }
        }
        let mut gzip = std::process::Command::new("gzip");
        let packed = gzip.arg("-c").arg(&sarif).output().unwrap().stdout.len();
        assert!(packed > 0 && packed <= 10 << 20, "{packed} bytes");
        // These names repeat and pack well; others may not.
        assert!(text.len() < 100 << 20, "{} bytes", text.len());
        println!(
            "{command:?}: {} results, {} bytes, {packed} packed",
            results.len(),
            text.len()
        );
    }
}
