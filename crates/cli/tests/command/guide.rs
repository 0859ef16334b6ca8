//! The guide, followed to the letter: its files are written, its commands run one after the other, and what they print is
//! what the guide says. Skipped, with a message, where there is no clang.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{deadheat, root, stderr};

/// Runs a line of the guide with `sh`.
fn run(folder: &Path, line: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_deadheat"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path);
    shell.output().unwrap()
}

/// Whether a line fits one of the guide, in which `…` is anything.
fn fits(pattern: &str, line: &str) -> bool {
    let mut pieces = pattern.split('…');
    let Some(mut rest) = pieces.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut open = false;
    for piece in pieces {
        open = piece.is_empty();
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    open || rest.trim_end().is_empty()
}

/// The expected lines must be there, in this order.
fn compare(command: &str, expected: &[&str], printed: &str) {
    let mut lines = printed.lines();
    for pattern in expected
        .iter()
        .filter(|line| !line.is_empty() && **line != "…")
    {
        let found = lines.any(|line| fits(pattern, line));
        assert!(found, "$ {command}\nno line is\n{pattern}\nin\n{printed}");
    }
}

/// Follows one block of commands; gives their number.
fn follow(folder: &Path, block: &str) -> usize {
    let mut commands = 0;
    for part in format!("\n{block}").split("\n$ ").skip(1) {
        let mut lines = part.lines();
        let command = lines.next().unwrap();
        let (command, status) = match command.split_once("    # status ") {
            Some((command, status)) => (command, status.parse().unwrap()),
            None => (command, 0),
        };
        let output = run(folder, command);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let printed = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "$ {command}\n{printed}");
        compare(command, &lines.collect::<Vec<&str>>(), &printed);
        commands += 1;
    }
    commands
}

/// The commands of deadheat in a recipe; the rest is the service's.
fn recipe(folder: &Path, block: &str) -> usize {
    let commands = block.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("- ");
        let line = line.strip_prefix("run: ").unwrap_or(line);
        line.starts_with("deadheat ").then_some(line)
    });
    let mut followed = 0;
    for command in commands {
        let output = run(folder, command);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{command}: {}",
            stderr(&output)
        );
        followed += 1;
    }
    followed
}

#[test]
fn every_command_of_the_guide_does_what_the_guide_says() {
    let there = deadheat(&["cc", "-fopenmp", "--version"]);
    let clang = String::from_utf8_lossy(&there.stdout).contains("clang");
    if !there.status.success() || !clang {
        println!("skipped: clang is not installed");
        return;
    }
    let guide = fs::read_to_string(root().join("docs/guide.md")).unwrap();
    // The section about Rust is run by the library's own test, which has its programs built.
    let (before, section) = guide.split_once("\n## Rust tasks\n").unwrap();
    let (_, after) = section.split_once("\n## ").unwrap();
    let guide = format!("{before}\n## {after}");
    let folder = tempfile::tempdir().unwrap();
    let examples = root().join("examples").canonicalize().unwrap();
    symlink(examples, folder.path().join("examples")).unwrap();
    let (mut commands, mut files, mut recipes) = (0, 0, 0);
    let mut pieces = guide.split("\n```");
    let mut before = pieces.next().unwrap_or_default();
    while let (Some(block), after) = (pieces.next(), pieces.next()) {
        let (language, text) = block.split_once('\n').unwrap();
        let last = before.lines().last().unwrap_or_default();
        let file = last.strip_prefix("<!-- file: ");
        match file.and_then(|rest| rest.strip_suffix(" -->")) {
            Some(name) => {
                fs::write(folder.path().join(name), format!("{text}\n")).unwrap();
                files += 1;
            }
            None if language == "console" => commands += follow(folder.path(), text),
            None if last == "<!-- recipe -->" => recipes += recipe(folder.path(), text),
            None => panic!("a block that nobody runs: {text}"),
        }
        before = after.unwrap_or_default();
    }
    assert!(
        commands >= 15 && files >= 3 && recipes >= 4,
        "{commands} {files} {recipes}"
    );
}

#[test]
fn the_comparison_can_fail() {
    assert!(fits("a … c", "a b c"));
    assert!(fits("race: …", "race: T1"));
    assert!(!fits("a … c", "a b d"));
    assert!(!fits("race", "race: T1"));
    let wrong = std::panic::catch_unwind(|| compare("x", &["b", "a"], "a\nb\n"));
    assert!(wrong.is_err());
}
