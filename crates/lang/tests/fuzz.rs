//! No text makes reading, running or exploring panic or go on for ever.
//!
//! Texts are made from the examples by cutting, repeating and replacing pieces, and from tokens in
//! any order.

use std::fs;
use std::path::Path;

use deadheat_lang::{ExploreOptions, MAX_DIAGNOSTICS, Program, Schedule};
use deadheat_testing::Trials;

const TOKENS: &[&str] = &[
    "shared",
    "promise",
    "lock",
    "sem",
    "event",
    "proc",
    "let",
    "if",
    "else",
    "while",
    "for",
    "in",
    "async",
    "finish",
    "isolated",
    "acquire",
    "release",
    "fork",
    "join",
    "call",
    "assert",
    "skip",
    "return",
    "alloc",
    "future",
    "main",
    "x",
    "y",
    "a",
    "p",
    "l",
    "s",
    "e",
    "f",
    "0",
    "1",
    "2",
    "9223372036854775807",
    "99999999999999999999",
    "{",
    "}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ";",
    ",",
    "=",
    ".",
    "..",
    "||",
    "&&",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "//",
    "\n",
    "\0",
    "é",
    "→",
    "@",
    "set",
    "get",
    "p",
    "v",
    "post",
    "wait",
    "clear",
];

/// Does all there is to do with a text.
fn digest(text: &str) -> bool {
    let program = match Program::parse(text) {
        Ok(program) => program,
        Err(diagnostics) => {
            assert!(!diagnostics.found.is_empty());
            assert!(diagnostics.found.len() <= MAX_DIAGNOSTICS);
            for diagnostic in &diagnostics.found {
                let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
                assert!(
                    start <= end && text.get(start..end).is_some(),
                    "{diagnostic:?}\n{text}"
                );
            }
            return false;
        }
    };
    for schedule in [Schedule::DepthFirst, Schedule::Random(1)] {
        program.run(&schedule, 500).expect("nothing to follow");
    }
    let options = ExploreOptions {
        max_states: 100,
        ..ExploreOptions::default()
    };
    program.explore(&options, |_| {});
    true
}

#[test]
fn texts_made_of_tokens() {
    for trial in &Trials::new(1, 2000) {
        let mut rng = trial.rng();
        let mut text = String::new();
        if rng.bool() {
            text += "shared x; shared a[2]; promise p; lock l; sem s; event e; proc main() { ";
        }
        for _ in 0..rng.usize(..60) {
            text += TOKENS[rng.usize(..TOKENS.len())];
            if rng.u32(..4) > 0 {
                text.push(' ');
            }
        }
        digest(&text);
    }
}

#[test]
fn texts_made_from_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let programs = files.filter(|path| path.extension().is_some_and(|e| e == "tp"));
    let sources: Vec<String> = programs.map(|p| fs::read_to_string(p).unwrap()).collect();
    assert!(!sources.is_empty());
    let trials = Trials::new(2, 2000);
    let mut accepted = 0;
    for trial in &trials {
        let mut rng = trial.rng();
        let source = &sources[rng.usize(..sources.len())];
        let mut characters: Vec<char> = source.chars().collect();
        for _ in 0..rng.usize(1..4) {
            let (a, b) = (rng.usize(..characters.len()), rng.usize(..characters.len()));
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 20));
            match rng.u32(..4) {
                0 => drop(characters.drain(from..to)),
                1 => {
                    let piece = characters[from..to].to_vec();
                    let at = rng.usize(..=characters.len());
                    characters.splice(at..at, piece);
                }
                2 => {
                    let token = TOKENS[rng.usize(..TOKENS.len())];
                    characters.splice(from..from, token.chars());
                }
                _ => {
                    let token = TOKENS[rng.usize(..TOKENS.len())];
                    characters.splice(from..to, token.chars());
                }
            }
            if characters.is_empty() {
                characters.push(' ');
            }
        }
        accepted += digest(&characters.into_iter().collect::<String>()) as u64;
    }
    // Some changes leave a program: those are run.
    trials.expect(
        accepted > trials.count() / 20,
        format!("{accepted} accepted"),
    );
}
