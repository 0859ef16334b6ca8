//! The random programs that tests compare on, and the comparison itself.
//!
//! Each function tries as many programs of each of its kinds, and stops at the first on which the
//! test finds a disagreement: it makes that program small and panics with it.

use std::ops::RangeInclusive;

use deadheat_lang::Program;
use deadheat_lang::syntax::ast;
use fastrand::Rng;

use super::{Family, Recipe, promises, sections, shrink, wild};
use crate::Trials;

/// How many programs of each kind are tried, unless the environment says otherwise.
const PROGRAMS: u64 = 400;

/// A kind of program.
enum Kind {
    Of(Recipe),
    /// Without discipline, of so many statements.
    Wild(RangeInclusive<u32>),
    /// Promises without a plan, of so many statements.
    Promises(RangeInclusive<u32>),
    Sections,
}

impl Kind {
    fn write(&self, rng: &mut Rng) -> ast::Program {
        match self {
            Kind::Of(recipe) => super::program(recipe, rng),
            Kind::Wild(statements) => wild::program(statements.clone(), rng),
            Kind::Promises(statements) => promises::program(statements.clone(), rng),
            Kind::Sections => sections::program(rng),
        }
    }
}

/// Tries small programs of every family, and as many without discipline.
pub fn on_small_programs(
    salt: u64,
    disagreement: impl FnMut(&Program) -> Option<String>,
) -> Trials {
    let families = Family::ALL.map(|family| Kind::Of(family.recipe()));
    let kinds: Vec<Kind> = families.into_iter().chain([Kind::Wild(3..=14)]).collect();
    on_programs(salt, &kinds, disagreement)
}

/// The same with programs so small that brute force can enumerate the schedules of most.
pub fn on_tiny_programs(salt: u64, disagreement: impl FnMut(&Program) -> Option<String>) -> Trials {
    let families = Family::ALL.map(|family| {
        Kind::Of(Recipe {
            size: 2..=5,
            ..family.recipe()
        })
    });
    let kinds: Vec<Kind> = families.into_iter().chain([Kind::Wild(3..=9)]).collect();
    on_programs(salt, &kinds, disagreement)
}

/// Which programs of tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tasks {
    /// With `async` and `finish`, of any size.
    AsyncFinish,
    /// With futures, promises and threads as well.
    All,
    /// The same, small enough to be explored.
    Small,
    /// With `isolated` sections.
    Sections,
    /// With `isolated` sections, small enough to be explored.
    SmallSections,
}

/// Tries programs of tasks.
pub fn on_programs_of_tasks(
    salt: u64,
    tasks: Tasks,
    disagreement: impl FnMut(&Program) -> Option<String>,
) -> Trials {
    on_programs(salt, &tasks.kinds(), disagreement)
}

impl Tasks {
    fn kinds(self) -> Vec<Kind> {
        let large = |family: Family| Recipe {
            strands: 16,
            size: 8..=60,
            statements: 5,
            depth: 6,
            variables: 4,
            ..family.recipe()
        };
        let with_threads = |recipe: Recipe| Recipe {
            threads: true,
            ..recipe
        };
        let with_sections = |recipe: Recipe| Recipe {
            isolated: true,
            ..recipe
        };
        let with_control = |recipe: Recipe| Recipe {
            control: 50,
            ..recipe
        };
        let large_promises = || Recipe {
            promises: 6,
            ..large(Family::Promises)
        };
        let recipes = |list: &[Recipe]| list.iter().cloned().map(Kind::Of).collect::<Vec<_>>();
        let small = [Family::AsyncFinish, Family::SharedControl].map(Family::recipe);
        let small_promises = Family::Promises.recipe();
        let small_sections = Family::Isolated.recipe();
        let mut kinds = match self {
            Tasks::AsyncFinish | Tasks::All | Tasks::Small => recipes(&small),
            Tasks::Sections | Tasks::SmallSections => {
                recipes(&[small_sections.clone(), with_control(small_sections)])
            }
        };
        kinds.extend(match self {
            Tasks::AsyncFinish => Vec::new(),
            Tasks::All | Tasks::Small => {
                recipes(&[small_promises.clone(), with_threads(small_promises)])
            }
            Tasks::Sections => recipes(&[
                large(Family::Isolated),
                with_sections(small_promises),
                with_sections(with_threads(large_promises())),
            ]),
            Tasks::SmallSections => Vec::new(),
        });
        if matches!(self, Tasks::AsyncFinish | Tasks::All) {
            let families = [Family::AsyncFinish, Family::SharedControl];
            kinds.extend(families.map(|family| Kind::Of(large(family))));
        }
        match self {
            Tasks::AsyncFinish => {}
            Tasks::All => {
                kinds.extend(recipes(&[large_promises(), with_threads(large_promises())]));
                kinds.push(Kind::Promises(6..=40));
            }
            Tasks::Small => kinds.push(Kind::Promises(4..=10)),
            Tasks::Sections | Tasks::SmallSections => kinds.push(Kind::Sections),
        }
        kinds
    }
}

fn on_programs(
    salt: u64,
    kinds: &[Kind],
    mut disagreement: impl FnMut(&Program) -> Option<String>,
) -> Trials {
    let trials = Trials::new(salt, PROGRAMS).times(kinds.len() as u64);
    for trial in &trials {
        let tree = trial.one_of(kinds).write(&mut trial.rng());
        if disagreement(&parse(&tree)).is_some() {
            let small = shrink(&tree, |tree| disagreement(&parse(tree)).is_some());
            let why = disagreement(&parse(&small)).unwrap_or_default();
            panic!("{small}\n{why}");
        }
    }
    trials
}

fn parse(tree: &ast::Program) -> Program {
    let text = tree.to_string();
    Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
