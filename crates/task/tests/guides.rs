//! What the guides say about tasks is so: their programs are the examples, and the commands print what they show.

#![cfg(not(loom))]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The examples as they were built with this test.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let binary = profile.join("examples").join(name);
    assert!(
        binary.exists(),
        "{} is not built: cargo build --examples",
        binary.display()
    );
    binary
}

/// The blocks of a page: what is behind the opening fence, and the text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.split_once('\n')).collect()
}

/// Whether lines come in this order; a line of `…` stands for any.
fn are_in(expected: &str, text: &str) -> Result<(), String> {
    let mut lines = text.lines();
    for line in expected.lines().filter(|line| line.trim() != "…") {
        if !lines.any(|found| found.trim() == line.trim()) {
            return Err(format!("no line is, in its place,\n{line}\nin\n{text}"));
        }
    }
    Ok(())
}

/// Runs the commands of a page, compares what they print, and looks for the page's code in the examples it runs.
fn follow(page: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(page)).unwrap();
    let text = match text.split_once("\n## Rust tasks\n") {
        Some((_, section)) => section.split("\n## ").next().unwrap(),
        None => &text,
    };
    let mut commands = 0;
    let mut code: Vec<&str> = Vec::new();
    for (language, block) in blocks(text) {
        let command = block.lines().next().unwrap();
        match command.strip_prefix("$ cargo run --example ") {
            Some(name) => {
                let output = Command::new(example(name)).output().unwrap();
                assert!(output.status.success(), "{name}: {output:?}");
                let printed = String::from_utf8(output.stdout).unwrap();
                let (_, expected) = block.split_once('\n').unwrap();
                are_in(expected, &printed).unwrap_or_else(|error| panic!("{name}: {error}"));
                let source = format!("crates/task/examples/{name}.rs");
                let source = std::fs::read_to_string(root.join(source)).unwrap();
                for block in code.drain(..) {
                    are_in(block, &source).unwrap_or_else(|error| panic!("{name}.rs: {error}"));
                }
                commands += 1;
            }
            None if language == "rust" => code.push(block),
            None => panic!("{page}: nobody runs {block}"),
        }
    }
    assert!(code.is_empty(), "no command runs {code:?}");
    commands
}

#[test]
fn the_guide_shows_what_its_programs_are_and_print() {
    assert_eq!(follow("docs/guide.md"), 3);
}

/// Programs of all constructs, each once with a race and once without: both are told.
#[test]
fn every_example_is_reported_and_then_proven() {
    for name in ["neighbours", "pipeline", "quicksort", "wavefront"] {
        let output = Command::new(example(name)).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.starts_with("race 1: "), "{name}: {printed}");
        let last = printed.lines().last().unwrap();
        assert!(
            last.contains("race-free and deterministic for this input"),
            "{name}: {printed}"
        );
    }
}

#[test]
fn the_comparison_can_fail() {
    assert!(are_in("a\n…\nc", "a\nb\nc").is_ok());
    assert!(are_in("c\na", "a\nb\nc").is_err());
}
