//! Every link in the repository's Markdown leads to a file that exists, and to a heading that it has.
//!
//! Links to other sites are not followed, nor is what stands in code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A link, and the line it stands in, from 1.
type Link = (usize, String);

/// The Markdown files in a folder, what is built left out.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        match path.is_dir() {
            true => documents(&path, found),
            false if name.ends_with(".md") => found.push(path),
            false => {}
        }
    }
}

/// The lines of a document that are no code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !is_fence && !in_code
    })
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        let targets = line.split("](").skip(1);
        let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
        links.extend(targets.map(|target| (number, target.to_string())));
    }
    links
}

/// The names by which the headings of a document are linked to, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    let headings = prose(text).filter_map(|(_, line)| {
        let words = line.trim_start_matches('#');
        (words.len() < line.len()).then(|| words.trim())
    });
    let names = headings.map(|heading| {
        let kept = heading.to_lowercase().replace(' ', "-");
        let kept: String = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_".contains(*c))
            .collect();
        let before = used.entry(kept.clone()).or_default();
        *before += 1;
        match *before {
            1 => kept,
            n => format!("{kept}-{}", n - 1),
        }
    });
    names.collect()
}

/// What is wrong with a link in a document, if anything.
fn fault(document: &Path, target: &str) -> Option<&'static str> {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphabetic())) {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => document.to_path_buf(),
        _ => normal(&document.parent().unwrap().join(path)),
    };
    if !file.exists() {
        return Some("there is no such file");
    }
    if anchor.is_empty() || file.extension().is_none_or(|ending| ending != "md") {
        return None;
    }
    let has_it = anchors(&fs::read_to_string(&file).unwrap()).contains(anchor);
    (!has_it).then_some("the file has no such heading")
}

/// A path without `..`, whose folders need not exist for that.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            _ => normal.push(component),
        }
    }
    normal
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let mut found = Vec::new();
    documents(&root, &mut found);
    found.sort();
    let (mut followed, mut faults) = (0, Vec::new());
    for document in &found {
        for (line, target) in links(&fs::read_to_string(document).unwrap()) {
            followed += 1;
            if let Some(fault) = fault(document, &target) {
                let shown = document.strip_prefix(&root).unwrap().display();
                faults.push(format!("{shown}:{line}: {target}: {fault}"));
            }
        }
    }
    assert!(
        found.len() > 20 && followed > 100,
        "{followed} of {found:?}"
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_dead_link_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("a.md");
    let text = "# One `thing`, two\n[x](b.md) `[c](code.md)`\n```\n[d](code.md)\n# Code\n```\n## Same\n## Same\n\
                [e](#same-1), [f](https://example.org)\n";
    fs::write(&document, text).unwrap();
    let found = links(text);
    let targets: Vec<&str> = found.iter().map(|(_, target)| target.as_str()).collect();
    assert_eq!(targets, ["b.md", "#same-1", "https://example.org"]);
    assert_eq!(found[1].0, 9);
    assert_eq!(fault(&document, "b.md"), Some("there is no such file"));
    assert_eq!(fault(&document, "no/../a.md#one-thing-two"), None);
    assert_eq!(fault(&document, "#same-1"), None);
    assert_eq!(fault(&document, "https://example.org"), None);
    for dead in ["#same-2", "a.md#code"] {
        assert_eq!(fault(&document, dead), Some("the file has no such heading"));
    }
}
