//! Tasks that set and get promises without a plan, each promise set at most once.
//!
//! Many of these programs deadlock. What runs before is ordered in ways that nobody would write on
//! purpose, which is what an analysis of promises has to be right about.

use std::ops::RangeInclusive;

use deadheat_lang::syntax::{self, ast};
use fastrand::Rng;

/// Writes such a program, of about so many statements.
pub(super) fn program(size: RangeInclusive<u32>, rng: &mut Rng) -> ast::Program {
    struct Writer<'r> {
        rng: &'r mut Rng,
        text: String,
        promises: u32,
        to_set: Vec<u32>,
        budget: u32,
        /// Few, so that one race does not hide that another one is missed. One of so many is a write.
        accesses: u32,
        reads: u32,
        names: u32,
        /// Whether to use futures and threads as well.
        all: bool,
    }

    impl Writer<'_> {
        fn block(&mut self, depth: u32) {
            for _ in 0..self.rng.u32(1..=4) {
                if self.budget == 0 {
                    return;
                }
                self.budget -= 1;
                self.names += 1;
                let name = self.names;
                match self.rng.u32(..20) {
                    0..3 if self.accesses > 0 => {
                        self.accesses -= 1;
                        self.text += &match self.rng.u32(..self.reads) {
                            0 => "x = 1; ".to_string(),
                            _ => format!("let v{name} = x; "),
                        };
                    }
                    3..7 if depth > 0 => self.inside("async {", depth),
                    7 if depth > 0 => self.inside("finish {", depth),
                    // Waited for at once: the task around it goes on as if it had done this itself.
                    8 if depth > 0 => {
                        self.inside("finish { async {", depth);
                        self.text += "} ";
                    }
                    9 if depth > 0 && self.all => {
                        self.text += &format!("let f{name} = future {{ ");
                        self.block(depth - 1);
                        self.text += "}; ";
                        if self.rng.bool() {
                            self.block(depth - 1);
                            self.text += &format!("f{name}.get; ");
                        }
                    }
                    10 if depth > 0 && self.all => self.inside(&format!("fork t{name} {{"), depth),
                    11..16 => {
                        let promise = self.rng.u32(..self.promises);
                        self.text += &format!("p{promise}.get; ");
                    }
                    _ => {
                        if let Some(promise) = self.to_set.pop() {
                            self.text += &format!("p{promise}.set; ");
                        }
                    }
                }
            }
        }

        fn inside(&mut self, opening: &str, depth: u32) {
            self.text += opening;
            self.text += " ";
            self.block(depth - 1);
            self.text += "} ";
        }
    }

    let promises = rng.u32(1..=5);
    let mut to_set: Vec<u32> = (0..promises).collect();
    rng.shuffle(&mut to_set);
    let mut writer = Writer {
        budget: rng.u32(size),
        accesses: rng.u32(2..=5),
        reads: rng.u32(2..=4),
        all: rng.bool(),
        rng,
        text: String::new(),
        promises,
        to_set,
        names: 0,
    };
    while writer.budget > 0 {
        writer.block(4);
    }
    // What nobody has set, main sets in the end: fewer deadlocks.
    for promise in writer.to_set {
        writer.text += &format!("p{promise}.set; ");
    }
    let declared: String = (0..promises).map(|p| format!("promise p{p}; ")).collect();
    let text = format!("shared x; {declared} proc main() {{ {} }}", writer.text);
    syntax::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
