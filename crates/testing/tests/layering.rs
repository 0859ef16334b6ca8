//! The crates' dependencies are those that the table of `docs/architecture.md` allows.
//!
//! The table lists the crates from the ground up and names, for each, what it may use. `testing` and `bench` come last
//! and may use all above them. Tests of a crate may use whatever is above it, and `testing`, which nothing but tests and
//! `bench` uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Measures, so it uses everything; nothing else may use it.
const BENCH: &str = "bench";
/// Serves tests alone.
const TESTING: &str = "testing";

/// A dependency of one crate of the workspace on another, by their short names.
#[derive(Clone, Debug)]
struct Edge {
    from: String,
    to: String,
    for_tests: bool,
}

/// A row of the table: a crate, and what it may use.
#[derive(Debug)]
struct Row {
    name: String,
    uses: BTreeSet<String>,
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    let words = text.split('`').skip(1).step_by(2);
    words.map(str::to_string)
}

/// The table of crates in a document: the one whose last column is what a crate may use.
fn table(document: &str) -> Vec<Row> {
    let lines = document.lines().map(str::trim);
    let mut lines = lines.skip_while(|line| !line.ends_with("| may use |"));
    lines.next();
    let mut rows: Vec<Row> = Vec::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, may_use] = cells[..] else {
            panic!("a row has three cells: {line}");
        };
        let above = || rows.iter().map(|row| row.name.clone());
        let uses: BTreeSet<String> = match may_use {
            "all above" => above().collect(),
            _ => quoted(may_use).collect(),
        };
        let above: BTreeSet<String> = above().collect();
        let below: Vec<_> = uses.difference(&above).collect();
        assert!(
            below.is_empty(),
            "{name} uses what is not above it: {below:?}"
        );
        let name = quoted(name)
            .next()
            .expect("the name of a crate, in backticks");
        rows.push(Row { name, uses });
    }
    rows
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documented() -> Vec<Row> {
    table(&fs::read_to_string(root().join("docs/architecture.md")).unwrap())
}

/// What is wrong with an edge, if anything.
fn fault(rows: &[Row], edge: &Edge) -> Option<String> {
    let Edge {
        from,
        to,
        for_tests,
    } = edge;
    let place = |name: &str| rows.iter().position(|row| row.name == name);
    let (Some(from_place), Some(to_place)) = (place(from), place(to)) else {
        return Some(format!("`{from}` or `{to}` is not in the table"));
    };
    let is_allowed = match (to.as_str(), for_tests) {
        (TESTING, true) => true,
        (TESTING, false) => from == BENCH,
        // The tests of what serves tests may use everything.
        (_, true) if from == TESTING => to != BENCH,
        (_, true) => to_place < from_place,
        (_, false) => rows[from_place].uses.contains(to),
    };
    (!is_allowed).then(|| match for_tests {
        true => format!("the tests of `{from}` may not use `{to}`"),
        false => format!("`{from}` may not use `{to}`"),
    })
}

/// What cargo knows of the workspace's packages.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".to_string());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The folder of each package: a crate is known by it, its package has a longer name.
fn folders(packages: &[Value]) -> BTreeMap<String, String> {
    let folders = packages.iter().map(|package| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().file_name().unwrap();
        let name = package["name"].as_str().unwrap();
        (name.to_string(), folder.to_string_lossy().into_owned())
    });
    folders.collect()
}

/// The edges between the crates of the workspace.
fn edges() -> Vec<Edge> {
    let packages = packages();
    let folders = folders(&packages);
    let mut edges = Vec::new();
    for package in &packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            if let Some(to) = folders.get(dependency["name"].as_str().unwrap()) {
                edges.push(Edge {
                    from: folders[package["name"].as_str().unwrap()].clone(),
                    to: to.clone(),
                    for_tests: dependency["kind"] == "dev",
                });
            }
        }
    }
    edges
}

#[test]
fn every_crate_uses_only_what_the_table_names() {
    let (rows, edges) = (documented(), edges());
    assert!(edges.len() > 20, "{edges:?}");
    let faults = edges.iter().filter_map(|edge| fault(&rows, edge));
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_table_has_every_crate_once() {
    let mut listed: Vec<String> = documented().into_iter().map(|row| row.name).collect();
    listed.sort();
    let mut folders: Vec<String> = folders(&packages()).into_values().collect();
    folders.sort();
    assert_eq!(listed, folders);
}

/// What the credibility of predictions rests on.
#[test]
fn the_checker_of_witnesses_shares_no_code_with_the_engines() {
    let edges = edges();
    let used = |from: &str| {
        let edges = edges.iter().filter(|edge| edge.from == from);
        let edges = edges.filter(|edge| !edge.for_tests);
        edges.map(|edge| edge.to.clone()).collect::<Vec<_>>()
    };
    assert_eq!(used("witness"), ["model"]);
    assert!(!used("offline").contains(&"witness".to_string()));
}

#[test]
fn a_wrong_edge_is_a_fault() {
    let rows = documented();
    let edge = |from: &str, to: &str, for_tests| Edge {
        from: from.to_string(),
        to: to.to_string(),
        for_tests,
    };
    let wrong = [
        edge("offline", "lang2", false),
        // Above it, but not in its list.
        edge("offline", "lang", false),
        edge("offline", "witness", false),
        edge("cli", "model", false),
        // Below it.
        edge("offline", "explore", false),
        edge("offline", "explain", true),
        edge("lang", "lang", true),
        edge("cli", "testing", false),
        edge("deadheat", "bench", true),
        edge("testing", "bench", true),
    ];
    for edge in wrong {
        assert!(fault(&rows, &edge).is_some(), "{edge:?}");
    }
    let right = [
        edge("explore", "offline", false),
        edge("offline", "lang", true),
        edge("offline", "testing", true),
        edge("testing", "explain", false),
        edge("bench", "testing", false),
    ];
    for edge in right {
        assert_eq!(fault(&rows, &edge), None, "{edge:?}");
    }
}

#[test]
#[should_panic(expected = "is not above it")]
fn a_row_names_only_rows_above_it() {
    table("| crate | job | may use |\n|---|---|---|\n| `a` | | `b` |\n| `b` | | |\n");
}

/// The text of all files of a folder.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let texts = paths.map(|path| match path.is_dir() {
        true => sources(&path),
        false => fs::read_to_string(&path).unwrap(),
    });
    texts.collect()
}

/// Manifests spare cargo what would be built for no test (`test = false`, `doctest = false`).
#[test]
fn what_is_not_built_for_tests_has_none() {
    let mut spared = 0;
    let packages = packages();
    let targets = packages.iter().map(|package| package["targets"].as_array());
    for target in targets.flatten().flatten() {
        let kind = target["kind"][0].as_str().unwrap();
        if !["lib", "bin"].contains(&kind) {
            continue;
        }
        let path = Path::new(target["src_path"].as_str().unwrap());
        if target["test"] == false {
            let text = sources(path.parent().unwrap());
            assert!(!text.contains("#[test]"), "{path:?}");
            spared += 1;
        }
        if kind == "lib" && target["doctest"] == false {
            let text = sources(path.parent().unwrap());
            let lines = text.lines().map(str::trim);
            let mut fences = lines.filter_map(|line| {
                let words = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
                words.trim().strip_prefix("```")
            });
            // Every second one ends what the one before it begins.
            while let (Some(begin), _) = (fences.next(), fences.next()) {
                assert_eq!(begin, "text", "{path:?}");
            }
            spared += 1;
        }
    }
    assert_eq!(spared, 4);
}
