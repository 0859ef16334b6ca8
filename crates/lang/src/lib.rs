//! The `.tp` language.

mod code;
mod compile;
mod constructs;
mod diagnostic;
mod digest;
mod enumerate;
mod explore;
mod flow;
mod liveness;
mod machine;
mod program;
pub mod random;
mod run;
mod schedule;
pub mod syntax;

pub use code::Value;
pub use constructs::Construct;
pub use diagnostic::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS};
pub use enumerate::Enumerated;
pub use explore::{
    DEFAULT_MAX_STATES, Exploration, ExploreOptions, ExploredAccess, ExploredRace, Found, Progress,
};
pub use machine::{ErrorKind, RuntimeError, WaitsFor};
pub use program::Program;
pub use run::{DEFAULT_MAX_STEPS, Ending, Run, Waiting};
pub use schedule::{CannotFollow, NotASchedule, RecordedSchedule, Schedule};
