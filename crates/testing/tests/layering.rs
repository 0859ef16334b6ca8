//! The crates' dependencies follow the order of the design: each crate uses only those before it.
//!
//! `testing` comes last. Only tests and benches use it, so any crate may name it among its
//! dev-dependencies, and none among the others.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The crates from the ground up.
const ORDER: [&str; 17] = [
    "model", "witness", "order", "trace", "lang", "online", "offline", "explore", "explain",
    "task", "tape", "rt", "native", "report", "deadheat", "cli", "testing",
];

/// What uses everything: nothing else may use it.
const BENCH: &str = "bench";

/// A dependency of one crate of the workspace on another, by their short names.
#[derive(Clone, Debug)]
struct Edge {
    from: String,
    to: String,
    for_tests: bool,
}

fn rank(name: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == name)
}

/// What is wrong with an edge, if anything.
fn fault(edge: &Edge) -> Option<String> {
    let Edge {
        from,
        to,
        for_tests,
    } = edge;
    let place = |name: &str| match name {
        BENCH => Ok(ORDER.len()),
        _ => rank(name).ok_or(format!("`{name}` has no place in the order: give it one")),
    };
    let (from_rank, to_rank) = match (place(from), place(to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(fault), _) | (_, Err(fault)) => return Some(fault),
    };
    let is_allowed = match to.as_str() {
        "testing" => *for_tests || from == BENCH,
        // The tests of what serves tests may use everything.
        _ if from == "testing" && *for_tests => to != BENCH,
        _ => to_rank < from_rank,
    };
    (!is_allowed).then(|| match for_tests {
        true => format!("the tests of `{from}` may not use `{to}`"),
        false => format!("`{from}` may not use `{to}`"),
    })
}

/// What cargo knows of the workspace's packages.
fn packages() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var("CARGO").unwrap_or("cargo".to_string());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The edges between the crates of the workspace.
fn edges() -> Vec<Edge> {
    let packages = packages();
    // A crate is known by its folder; its package has a longer name.
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    for package in &packages {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().file_name().unwrap();
        let name = package["name"].as_str().unwrap();
        folders.insert(name.to_string(), folder.to_string_lossy().into_owned());
    }
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
fn every_crate_uses_only_crates_before_it() {
    let edges = edges();
    assert!(edges.len() > 20, "{edges:?}");
    let faults: Vec<String> = edges.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_wrong_edge_is_a_fault() {
    let edge = |from: &str, to: &str, for_tests| Edge {
        from: from.to_string(),
        to: to.to_string(),
        for_tests,
    };
    let wrong = [
        edge("offline", "lang2", false),
        edge("offline", "explore", false),
        edge("offline", "explain", true),
        edge("lang", "lang", true),
        edge("cli", "testing", false),
        edge("deadheat", "bench", true),
        edge("testing", "bench", true),
    ];
    for edge in wrong {
        assert!(fault(&edge).is_some(), "{edge:?}");
    }
    let right = [
        edge("explore", "offline", false),
        edge("offline", "testing", true),
        edge("testing", "explain", false),
        edge("bench", "testing", false),
    ];
    for edge in right {
        assert_eq!(fault(&edge), None, "{edge:?}");
    }
}

/// The text of all files of a folder.
fn sources(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let texts = paths.map(|path| match path.is_dir() {
        true => sources(&path),
        false => std::fs::read_to_string(&path).unwrap(),
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
