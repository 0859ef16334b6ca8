//! Random programs to compare engines on.

// Each test uses some of it.
#![allow(dead_code)]

use std::ops::RangeInclusive;

use deadheat_lang::Program;
use deadheat_lang::random::{self, Family, Recipe};
use deadheat_lang::syntax::{self, ast};

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

/// Which random programs of tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of `async` and `finish`, of any size.
    Tasks,
    /// Of futures, promises and threads as well.
    All,
    /// Of all these, small enough to be explored.
    Small,
    /// With `isolated` sections.
    Sections,
    /// With `isolated` sections, small enough to be explored.
    SmallSections,
}

/// Calls `disagreement` on random programs of tasks; gives how many families there were.
pub fn on_programs_of_tasks(
    salt: u64,
    kind: Kind,
    mut disagreement: impl FnMut(&Program) -> Option<String>,
) -> u64 {
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
    let with_threads = |recipe: &Recipe| Recipe {
        threads: true,
        ..recipe.clone()
    };
    let small_with_threads = with_threads(&Family::Promises.recipe());
    let large_with_threads = with_threads(&with_promises);
    // With the kinds they belong to.
    use Kind::*;
    let with_sections = |recipe: &Recipe| Recipe {
        isolated: true,
        ..recipe.clone()
    };
    let promises_and_sections = with_sections(&Family::Promises.recipe());
    let large_promises_and_sections = with_sections(&large_with_threads);
    let deciding_sections = Recipe {
        control: 50,
        ..Family::Isolated.recipe()
    };
    let recipes: [(Recipe, &[Kind]); 13] = [
        (Family::AsyncFinish.recipe(), &[Tasks, All, Small]),
        (Family::SharedControl.recipe(), &[Tasks, All, Small]),
        (large(Family::AsyncFinish), &[Tasks, All]),
        (large(Family::SharedControl), &[Tasks, All]),
        (Family::Promises.recipe(), &[All, Small]),
        (small_with_threads, &[All, Small]),
        (with_promises, &[All]),
        (large_with_threads, &[All]),
        (Family::Isolated.recipe(), &[Sections, SmallSections]),
        (deciding_sections, &[Sections, SmallSections]),
        (large(Family::Isolated), &[Sections]),
        (promises_and_sections, &[Sections]),
        (large_promises_and_sections, &[Sections]),
    ];
    let mut families = 0;
    for (recipe, _) in recipes.iter().filter(|(_, kinds)| kinds.contains(&kind)) {
        families += 1;
        for seed in 0..programs_per_family() {
            let tree = random::program(recipe, &mut rng(salt, seed));
            judge(
                &tree,
                &format!("{recipe:?}, seed {seed}"),
                &mut disagreement,
            );
        }
    }
    if matches!(kind, All | Small) {
        families += 1;
        for seed in 0..programs_per_family() {
            let size = if kind == Small { 4..=10 } else { 6..=40 };
            let tree = heedless_program(size, &mut rng(salt, seed));
            judge(&tree, &format!("heedless, seed {seed}"), &mut disagreement);
        }
    }
    if matches!(kind, Sections | SmallSections) {
        families += 1;
        for seed in 0..programs_per_family() {
            let tree = sections_program(&mut rng(salt, seed));
            judge(&tree, &format!("sections, seed {seed}"), &mut disagreement);
        }
    }
    families
}

/// Tasks with many sections that conflict, and few accesses outside; what a section does may depend on
/// which came before.
fn sections_program(rng: &mut fastrand::Rng) -> ast::Program {
    fn section(rng: &mut fastrand::Rng, to_set: &mut bool) -> String {
        let name = |rng: &mut fastrand::Rng| ["a", "b", "x"][rng.usize(..3)];
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

/// Tasks that set and get promises, each set at most once, wherever it comes to mind. Much of it
/// deadlocks; what runs before is ordered in ways that nobody would write on purpose.
fn heedless_program(size: RangeInclusive<u32>, rng: &mut fastrand::Rng) -> ast::Program {
    struct Writer<'r> {
        rng: &'r mut fastrand::Rng,
        text: String,
        promises: u32,
        to_set: Vec<u32>,
        budget: u32,
        /// Few, so that one race does not hide that another one is missed.
        accesses: u32,
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
                        self.text += &match self.rng.bool() {
                            true => "x = 1; ".to_string(),
                            false => format!("let v{name} = x; "),
                        };
                    }
                    3..7 if depth > 0 => self.inside("async {", depth),
                    7..9 if depth > 0 => self.inside("finish {", depth),
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
        accesses: rng.u32(2..=4),
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
