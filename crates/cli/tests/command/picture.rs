//! `deadheat check --picture`: the picture of a run.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{deadheat, deadheat_on, root, stderr, stdout};
use roxmltree::{Document, Node};

fn draw(file: &Path, program: &str, more: &[&str]) -> Output {
    let file = file.to_str().unwrap();
    deadheat(&[&["check", "--json", "--picture", file, program], more].concat())
}

/// How many elements have this among their classes.
fn count(svg: &Document, class: &str) -> usize {
    let has = |node: &Node| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|name| name == class)
    };
    svg.descendants().filter(has).count()
}

#[test]
fn every_example_can_be_drawn_and_its_races_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let (file, dot) = (folder.path().join("run.svg"), folder.path().join("run.dot"));
    let (mut racy, mut clean) = (0, 0);
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tp") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let program = format!("examples/{name}");
        let output = draw(&file, &program, &[]);
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let races = report["races"].as_array().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let svg = Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(svg.root_element().tag_name().name(), "svg");
        assert!(svg.root_element().attribute("viewBox").is_some());
        assert!(count(&svg, "node") > 0, "{name}");
        let racing = count(&svg, "racing");
        assert_eq!(racing >= 2, !races.is_empty(), "{name}");
        assert_eq!(racing == 0, races.is_empty(), "{name}");
        assert_eq!(count(&svg, "race") > 0, !races.is_empty(), "{name}");
        assert_eq!(count(&svg, "hot") > 0, !races.is_empty(), "{name}");
        let lines = svg.descendants();
        let lines = lines.filter(|node| node.attribute("class") == Some("race"));
        let named: Vec<&str> = lines
            .filter_map(|line| line.first_element_child()?.text())
            .flat_map(|names| names.split(", "))
            .collect();
        for race in races {
            let location = race["location"].as_str().unwrap();
            assert!(named.contains(&location), "{name}: {named:?}");
        }
        draw(&dot, &program, &[]);
        let dot = fs::read_to_string(&dot).unwrap();
        assert!(dot.starts_with("digraph \"") && dot.ends_with("}\n"));
        assert_eq!(dot.contains("penwidth=2.5]"), !races.is_empty(), "{name}");
        match races.is_empty() {
            true => clean += 1,
            false => racy += 1,
        }
    }
    assert!(racy > 10 && clean > 10, "{racy} racy, {clean} clean");
}

#[test]
fn the_picture_says_what_each_node_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.svg");
    let output = draw(&file, "examples/zipper-fig3.tp", &[]);
    assert_eq!(output.status.code(), Some(1), "the verdict's status stays");
    let text = fs::read_to_string(&file).unwrap();
    let svg = Document::parse(&text).unwrap();
    assert_eq!(count(&svg, "node"), 11);
    assert_eq!(count(&svg, "racing"), 2);
    // Four sections, and one in the names.
    assert_eq!(count(&svg, "isolated"), 5);
    let titles: Vec<&str> = svg
        .descendants()
        .filter(|node| node.has_tag_name("title"))
        .filter_map(|node| node.text())
        .collect();
    assert!(
        titles.contains(&"main/1\nline 17: isolated, r(n), w(n)"),
        "{titles:?}"
    );
    assert!(
        titles.contains(&"main/1\nline 20: w(z) (races)"),
        "{titles:?}"
    );
    draw(&file, "examples/drdp-fig6.tp", &[]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("set(a)") && text.contains("get(b)"));
}

#[test]
fn a_name_cannot_break_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("a<b>&\"\\N.tp");
    fs::write(
        &program,
        "shared x; proc main() { async { x = 1; } x = 2; }",
    )
    .unwrap();
    let file = folder.path().join("run.svg");
    draw(&file, program.to_str().unwrap(), &[]);
    let text = fs::read_to_string(&file).unwrap();
    let svg = Document::parse(&text).unwrap();
    let title = svg.root_element().first_element_child().unwrap();
    assert!(title.text().unwrap().contains("a<b>&\"\\N.tp"));
    let file = folder.path().join("run.dot");
    draw(&file, program.to_str().unwrap(), &[]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("a<b>&amp;\\\"\\\\N.tp\" {"), "{text}");
}

/// Scripts that were written for another name of the option go on to work.
#[test]
fn the_options_former_name_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.dot");
    let output = deadheat(&[
        "check",
        "--graph",
        file.to_str().unwrap(),
        "examples/drdp-fig6.tp",
    ]);
    assert!(file.exists(), "{}", stderr(&output));
    assert!(!stdout(&deadheat(&["check", "--help"])).contains("--graph"));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, source: &str| {
        let file = folder.path().join(name);
        let output = deadheat_on(&["check", "-", "--picture", file.to_str().unwrap()], source);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        assert!(!file.exists());
        stderr(&output)
    };
    for name in ["run.png", "run", "svg"] {
        let text = refused(name, "proc main() {}");
        assert!(text.contains(".svg or .dot"), "{text}");
    }
    let tasks = |n: u32| format!("proc main() {{ for i in 0 .. {n} {{ async {{ skip; }} }} }}");
    let text = refused("large.svg", &tasks(6_000));
    assert!(
        text.contains("has 6000 nodes") && text.contains("room for 5000"),
        "{text}"
    );
    assert!(
        text.contains("a smaller input, or write a .dot file"),
        "{text}"
    );
    let text = refused("large.dot", &tasks(60_000));
    assert!(
        text.contains("has 60000 nodes") && text.contains("room for 50000"),
        "{text}"
    );
    assert!(text.trim_end().ends_with("on a smaller input"), "{text}");
    let both = ["examples/drdp-fig1.tp", "examples/drdp-fig6.tp"];
    let output = deadheat(&[&["check", "--picture", "no-such-folder/a.svg"], &both[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--picture takes one program"));
    let output = deadheat(&["check", "--picture", "no-such-folder/a.svg", both[0]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot write `no-such-folder/a.svg`"));
}

#[test]
fn the_order_of_locks_is_drawn_apart_from_starts_and_waits() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = |source: &str| {
        let (program, picture) = (folder.path().join("p.tp"), folder.path().join("p.dot"));
        fs::write(&program, source).unwrap();
        let at = |path: &Path| path.display().to_string();
        let output = deadheat(&["check", "--picture", &at(&picture), &at(&program)]);
        assert_eq!(output.status.code(), Some(0));
        fs::read_to_string(picture).unwrap()
    };
    let lock = "order of a lock's sections";
    let locked = "shared x; lock l; proc main() { fork t { acquire l; x = 1; release l; } acquire l; x = 2; release l; join t; }";
    let locked = drawn(locked);
    assert!(
        locked.contains(lock) && locked.contains("starts, or is waited for"),
        "{locked}"
    );
    assert!(!drawn("shared x; proc main() { fork t { x = 1; } join t; }").contains(lock));
}
