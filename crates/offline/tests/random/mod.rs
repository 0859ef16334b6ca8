//! Random programs to compare engines on.

// Each test uses some of it.
#![allow(dead_code)]

use std::ops::RangeInclusive;

use deadheat_lang::Program;
use deadheat_lang::random::{self, Family, Recipe};
use deadheat_lang::syntax::ast;

pub fn programs_per_family() -> u64 {
    let given = std::env::var("DEADHEAT_PROGRAMS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(400)
}

/// Calls `disagreement` on random programs of every family, and on as many without discipline; a
/// disagreement is reported with its seed and a minimised program.
pub fn on_random_programs(salt: u64, disagreement: impl FnMut(&Program) -> Option<String>) {
    on_programs(salt, Family::recipe, 3..=14, disagreement);
}

/// As [`on_random_programs`], with programs small enough for brute force.
pub fn on_tiny_programs(salt: u64, disagreement: impl FnMut(&Program) -> Option<String>) {
    let tiny = |family: Family| Recipe {
        size: 2..=5,
        ..family.recipe()
    };
    on_programs(salt, tiny, 3..=9, disagreement);
}

/// As [`on_random_programs`], with larger programs of the constructs that order alike in every
/// schedule: too large to explore.
pub fn on_large_programs(salt: u64, mut disagreement: impl FnMut(&Program) -> Option<String>) {
    let large = |family: Family| Recipe {
        strands: 16,
        size: 8..=60,
        statements: 5,
        depth: 6,
        variables: 4,
        ..family.recipe()
    };
    let with_promises = Recipe {
        promises: 6,
        ..large(Family::Promises)
    };
    let with_threads = Recipe {
        threads: true,
        ..with_promises.clone()
    };
    let recipes = [
        ("async and finish", large(Family::AsyncFinish)),
        ("shared control", large(Family::SharedControl)),
        ("promises", with_promises),
        ("threads", with_threads),
    ];
    for (name, recipe) in recipes {
        for seed in 0..programs_per_family() {
            let mut rng = rng(salt, seed);
            let tree = random::program(&recipe, &mut rng);
            judge(&tree, &format!("{name}, seed {seed}"), &mut disagreement);
        }
    }
}

fn on_programs(
    salt: u64,
    recipe: impl Fn(Family) -> Recipe,
    wild: RangeInclusive<u32>,
    mut disagreement: impl FnMut(&Program) -> Option<String>,
) {
    for kind in Family::ALL.map(Some).into_iter().chain([None]) {
        for seed in 0..programs_per_family() {
            let mut rng = rng(salt, seed);
            let tree = match kind {
                Some(family) => random::program(&recipe(family), &mut rng),
                None => random::wild_program(wild.clone(), &mut rng),
            };
            judge(&tree, &format!("{kind:?}, seed {seed}"), &mut disagreement);
        }
    }
}

fn rng(salt: u64, seed: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed(salt.wrapping_mul(1 << 32) + seed)
}

fn judge(
    tree: &ast::Program,
    name: &str,
    disagreement: &mut impl FnMut(&Program) -> Option<String>,
) {
    if disagreement(&parse(tree)).is_some() {
        let fails = |tree: &ast::Program| disagreement(&parse(tree)).is_some();
        let small = random::shrink(tree, fails);
        let why = disagreement(&parse(&small)).unwrap_or_default();
        panic!("{name}:\n{small}\n{why}");
    }
}

fn parse(tree: &ast::Program) -> Program {
    let text = tree.to_string();
    Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
