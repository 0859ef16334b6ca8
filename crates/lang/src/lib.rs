//! The `.tp` language: the smallest programs that can have a race.
//!
//! [`Program::parse`] reads a program, or says all that is wrong with it ([`Diagnostics`]).
//! [`Program::run`] takes it through one [`Schedule`] and gives the events of that execution, for an
//! engine to judge. Who wants to take it through other schedules, step by step, has the [`machine`].
//!
//! ```
//! use deadheat_lang::{Ending, Program, Schedule};
//!
//! let program = Program::parse("shared x; proc main() { async { x = 1; } x = 2; }").unwrap();
//! let run = program.run(&Schedule::DepthFirst, 1_000).unwrap();
//! assert_eq!(run.ending, Ending::Finished);
//! assert_eq!(run.execution.events.len(), 5);
//! ```
//!
//! Inside, a program goes from text to tree (`syntax`), to instructions (`compile`, helped by
//! `constructs`, `flow` and `liveness`), which the [`machine`] steps through in the order that a
//! `schedule` chooses.

pub mod code;
mod compile;
mod constructs;
mod diagnostic;
pub mod digest;
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
pub use location::LocationName;
pub use machine::{ErrorKind, RuntimeError, WaitsFor};
pub use program::Program;
pub use run::{DEFAULT_MAX_STEPS, Ending, Run, WaitingStrand, waiting};
pub use schedule::{CannotFollow, NotASchedule, RecordedSchedule, Schedule};
