//! Tasks with many `isolated` sections that conflict, and few accesses outside.
//!
//! What a section does may depend on which came before it: this is what an analysis of all orders of
//! sections has to be right about.

use deadheat_lang::syntax::{self, ast};
use fastrand::Rng;

/// Writes such a program: two to four tasks with up to seven sections.
pub(super) fn program(rng: &mut Rng) -> ast::Program {
    fn section(rng: &mut Rng, to_set: &mut bool) -> String {
        let name = |rng: &mut Rng| ["a", "b", "x"][rng.usize(..3)];
        let (one, other) = (name(rng), name(rng));
        match rng.u32(..8) {
            // Others may wait for something in the middle of a section.
            6 | 7 if *to_set => {
                *to_set = false;
                match rng.bool() {
                    true => format!("isolated {{ p.set; {one} = 1; }} "),
                    false => format!("isolated {{ {one} = 1; p.set; {other} = 2; }} "),
                }
            }
            0 => "isolated { skip; } ".to_string(),
            1 => format!("isolated {{ {one} = {}; }} ", rng.u32(1..3)),
            2 => format!("isolated {{ {one} = {other}; }} "),
            3 => format!(
                "isolated {{ if {one} == {} {{ {other} = 1; }} }} ",
                rng.u32(..3)
            ),
            4 => format!("isolated {{ if {one} {{ skip; }} }} "),
            _ => format!("isolated {{ {one} = {one} + 1; }} "),
        }
    }
    let mut text = String::new();
    let mut accesses = rng.u32(1..=3);
    let mut sections = rng.u32(3..=7);
    let tasks = rng.u32(2..=4);
    let mut to_set = rng.bool();
    let with_promise = to_set;
    for _ in 0..tasks {
        let in_finish = rng.u32(..4) == 0;
        text += if in_finish {
            "finish { async { "
        } else {
            "async { "
        };
        for _ in 0..rng.u32(1..=3) {
            if sections > 0 && rng.u32(..3) > 0 {
                sections -= 1;
                text += &section(rng, &mut to_set);
            } else if with_promise && rng.u32(..3) == 0 {
                text += "p.get; ";
            } else if accesses > 0 {
                accesses -= 1;
                text += if rng.bool() { "x = 3; " } else { "let v = x; " };
                text = text.replacen("let v =", &format!("let v{accesses} ="), 1);
            }
        }
        text += if in_finish { "} } " } else { "} " };
        if sections > 0 && rng.bool() {
            sections -= 1;
            text += &section(rng, &mut to_set);
        }
    }
    if to_set {
        text += "p.set; ";
    }
    for _ in 0..accesses {
        text += "x = 4; ";
    }
    let promise = if with_promise { "promise p; " } else { "" };
    let text = format!("shared a; shared b; shared x; {promise}proc main() {{ {text} }}");
    syntax::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
