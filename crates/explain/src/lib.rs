//! Why a race is believed, and which to fix first.
//!
//! [`explain()`] takes an execution and gives an [`Explanation`]: which of its apparent races are feasible, which may be
//! artifacts of others, and which are first. [`general`] finds what only chance has ordered; [`edges`] lists which
//! synchronisation came before which, and [`neighbourhood()`] draws the part of it around a race.
//!
//! What an engine claims is checked here before a report sees it. [`Judgement`] takes an engine's findings and keeps
//! those races whose witnesses the independent checker of `deadheat-witness` accepts. [`Replay`] takes an exploration of
//! a program, follows each race's schedule and gives a [`VerifiedSchedule`] for those that show their race.
//! [`add_circumstances`], [`remedy()`], [`add_racing_reads`] and [`add_early_waking`] complete findings.
//!
//! ```
//! use deadheat_explain::{Limits, Status, explain};
//! use deadheat_model::{Event, Execution, Location, Names, Op, Site, Strand};
//!
//! let write = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(strand));
//! let names = Names { strands: vec!["T1".into(), "T2".into()], ..Names::default() };
//! let execution = Execution { events: vec![write(0), write(1)], names };
//! let explanation = explain(&execution, &Limits::default()).unwrap();
//! assert_eq!(explanation.races.len(), 1);
//! assert_eq!(explanation.races[0].status, Status::Feasible);
//! assert!(explanation.races[0].is_first);
//! ```

mod circumstances;
mod early_waking;
mod explanation;
pub mod general;
mod judgement;
mod program;
mod racing_reads;
mod remedy;
mod replay;

pub use circumstances::{Circumstances, add_circumstances};
pub use early_waking::add_early_waking;
pub use explanation::{
    Bound, EdgeKind, ExplainedRace, Explanation, Limits, MAX_ROOTS, Neighbourhood, ReadCounts,
    Status, edges, explain, neighbourhood,
};
pub use judgement::{JudgedRace, Judgement};
pub use program::{MAX_WAITING, ProgramFindings};
pub use racing_reads::add_racing_reads;
pub use remedy::remedy;
pub use replay::{Replay, VerifiedSchedule};
