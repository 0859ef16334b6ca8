//! Running a program again, in other ways.
//!
//! [`explore`] takes a program through every schedule. [`explore_sections`] takes it through every order
//! of its `isolated` sections that can behave differently, which are far fewer, and looks for races in
//! each. Both give an [`Exploration`]: what can happen, each thing with a schedule that shows it, and
//! whether that is all.
//!
//! ```
//! use deadheat_explore::{ExploreOptions, explore};
//! use deadheat_lang::Program;
//!
//! let source = "shared x; proc main() { async { x = 1; } x = 2; }";
//! let program = Program::parse(source).unwrap();
//! let exploration = explore(&program, &ExploreOptions::default(), |_| {});
//! assert!(exploration.is_complete());
//! assert_eq!(exploration.racy_locations(), ["x"]);
//! assert_eq!(exploration.deterministic, Some(false));
//! ```

mod exploration;
mod schedules;
mod sections;

pub use exploration::{
    Example, Exploration, Gap, MAX_SCHEDULES, News, PossibleAccess, PossibleRace,
};
pub use schedules::{DEFAULT_MAX_STATES, ExploreOptions, Progress, explore};
pub use sections::{DEFAULT_MAX_ORDERS, SectionOptions, SectionProgress, explore_sections};
