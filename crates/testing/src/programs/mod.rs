//! Random programs, for tests and benchmarks that need many small programs of a known kind.
//!
//! [`program`] writes one by a [`Recipe`]; a [`Family`] names the recipes in common use;
//! [`shrink()`] makes a program that shows a fault as small as it can while it still shows it.
//!
//! ```
//! use deadheat_testing::programs::{self, Family};
//!
//! let mut rng = fastrand::Rng::with_seed(7);
//! let program = programs::program(&Family::Promises.recipe(), &mut rng);
//! assert!(deadheat_lang::Program::parse(&program.to_string()).is_ok());
//! ```
//!
//! What is guaranteed, whatever the recipe and the seed:
//! - The same recipe and seed give the same program, and it is always accepted when read.
//! - Only the constructs that the recipe allows are used.
//! - With [`errors`](Recipe::errors) 0, no schedule of it ends with an error.
//! - With [`racy`](Recipe::racy) 0 as well, no schedule of it has a race.
//! - With [`errors`](Recipe::errors), [`deadlocks`](Recipe::deadlocks) and [`spins`](Recipe::spins)
//!   0, no schedule of it blocks or runs forever.
//! - With [`control`](Recipe::control) 0, no value read from shared memory decides what happens.
//!
//! The other way round there is chance: a program that was written carelessly can turn out to have
//! no race.

mod author;
mod build;
mod enumeration;
mod promises;
mod samples;
mod sections;
mod shares;
mod shrink;
mod wild;

use std::ops::RangeInclusive;

use deadheat_lang::syntax::ast::Program;

pub use enumeration::{ScheduleRun, enumerate};
pub use samples::{Tasks, on_programs_of_tasks, on_small_programs, on_tiny_programs};
pub use shrink::shrink;

/// What kind of programs to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// The most strands, `main` included.
    pub strands: u32,
    /// How many accesses and synchronising operations to aim at in one execution. Writing stops
    /// when they are used up; what is begun is still completed.
    pub size: RangeInclusive<u32>,
    /// The most statements in a block, as long as the size is not used up (`main` may have more).
    pub statements: u32,
    /// How deep blocks nest.
    pub depth: u32,

    /// How many shared variables.
    pub variables: u32,
    /// How many elements the shared array has; with 0 there is none.
    pub array: u32,
    /// How many global promises. Local ones are made as well if this is not 0.
    pub promises: u32,
    /// How many locks.
    pub locks: u32,
    /// How many semaphores. Each is used either as a lock or as a signal.
    pub semaphores: u32,
    /// How many events.
    pub events: u32,

    /// Whether to use `async`.
    pub tasks: bool,
    /// Whether to use `finish`.
    pub finish: bool,
    /// Whether to use `future`.
    pub futures: bool,
    /// Whether to use `fork` and `join`.
    pub threads: bool,
    /// Whether to use `isolated`.
    pub isolated: bool,
    /// Whether to use `alloc`.
    pub cells: bool,
    /// Whether to use procedures other than `main`.
    pub procedures: bool,
    /// Whether to use `if`.
    pub branches: bool,
    /// Whether to use `for` and `while`.
    pub loops: bool,

    /// Percentage of programs that leave out synchronisation here and there.
    pub racy: u32,
    /// Percentage of programs that wait here and there for what may never come.
    pub deadlocks: u32,
    /// Percentage of programs with statements that can end the run with an error.
    pub errors: u32,
    /// Percentage of programs that wait in a loop for a shared variable to change.
    pub spins: u32,
    /// Percentage of conditions, bounds and indices that depend on shared memory.
    pub control: u32,
}

/// The kinds of programs that the engines are made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Tasks with `async` and `finish`.
    AsyncFinish,
    /// Tasks, futures, promises and fresh cells.
    Promises,
    /// Tasks with `isolated`.
    Isolated,
    /// Threads with locks, semaphores and events.
    Locks,
    /// Tasks whose control flow depends on shared memory.
    SharedControl,
    /// All constructs together.
    Everything,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 6] = [
        Family::AsyncFinish,
        Family::Promises,
        Family::Isolated,
        Family::Locks,
        Family::SharedControl,
        Family::Everything,
    ];

    /// Programs so small that every schedule can be visited: 2 to 4 strands, and mostly 4 to 14
    /// accesses and synchronising operations. About half of them have a race, and at least half
    /// have no more than a few thousand schedules.
    pub fn recipe(self) -> Recipe {
        let small = Recipe {
            strands: 4,
            size: 3..=8,
            statements: 3,
            depth: 3,
            variables: 2,
            array: 0,
            promises: 0,
            locks: 0,
            semaphores: 0,
            events: 0,
            tasks: true,
            finish: true,
            futures: false,
            threads: false,
            isolated: false,
            cells: false,
            procedures: true,
            branches: true,
            loops: true,
            racy: 70,
            deadlocks: 0,
            errors: 5,
            spins: 0,
            control: 0,
        };
        match self {
            Family::AsyncFinish => Recipe {
                variables: 1,
                array: 2,
                ..small
            },
            Family::Promises => Recipe {
                promises: 2,
                futures: true,
                cells: true,
                deadlocks: 20,
                ..small
            },
            Family::Isolated => Recipe {
                isolated: true,
                ..small
            },
            Family::Locks => Recipe {
                size: 5..=10,
                locks: 2,
                semaphores: 1,
                events: 1,
                tasks: false,
                finish: false,
                threads: true,
                deadlocks: 20,
                control: 20,
                ..small
            },
            Family::SharedControl => Recipe {
                array: 2,
                control: 80,
                spins: 3,
                ..small
            },
            Family::Everything => Recipe {
                variables: 1,
                size: 4..=8,
                array: 2,
                promises: 1,
                locks: 1,
                semaphores: 1,
                events: 1,
                futures: true,
                threads: true,
                isolated: true,
                cells: true,
                deadlocks: 15,
                spins: 2,
                control: 30,
                ..small
            },
        }
    }
}

/// Writes a program.
pub fn program(recipe: &Recipe, rng: &mut fastrand::Rng) -> Program {
    author::Author::new(recipe, rng).write()
}

/// Writes a program of about so many statements without any discipline, out of every construct:
/// valid, but many deadlock or fail.
pub fn wild_program(statements: RangeInclusive<u32>, rng: &mut fastrand::Rng) -> Program {
    wild::program(statements, rng)
}
