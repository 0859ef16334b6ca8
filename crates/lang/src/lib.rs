//! The `.tp` language: the smallest programs that can have a race.
//!
//! [`Program::parse`] reads a program, or says all that is wrong with it ([`Diagnostics`]).
//! [`Program::run`] takes it through one [`Schedule`] and gives the events of that execution, for an
//! engine to judge. [`Program::explore`] takes it through all of them and says what can happen.
//!
//! ```
//! use deadheat_lang::{ExploreOptions, Program};
//!
//! let source = "shared x; proc main() { async { x = 1; } x = 2; }";
//! let program = Program::parse(source).unwrap();
//! let exploration = program.explore(&ExploreOptions::default(), |_| {});
//! assert_eq!(exploration.racy_locations(), ["x"]);
//! assert_eq!(exploration.deterministic, Some(false));
//! ```
//!
//! Inside, a program goes from text to tree (`syntax`), to instructions (`compile`, helped by
//! `constructs`, `flow` and `liveness`), which the `machine` steps through in the order that a
//! `schedule`, or the search in `explore`, chooses.

pub mod code;
mod compile;
mod constructs;
mod diagnostic;
pub mod digest;
mod explore;
mod flow;
mod liveness;
mod location;
pub mod machine;
mod program;
mod run;
mod schedule;
pub mod syntax;

pub use code::Value;
pub use diagnostic::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS};
pub use explore::{
    DEFAULT_MAX_STATES, Exploration, ExploreOptions, ExploredAccess, ExploredRace, Found,
    MAX_SCHEDULES, Progress,
};
pub use location::LocationName;
pub use machine::{ErrorKind, RuntimeError, WaitsFor};
pub use program::Program;
pub use run::{DEFAULT_MAX_STEPS, Ending, Run, Waiting, waiting};
pub use schedule::{CannotFollow, NotASchedule, RecordedSchedule, Schedule};
