//! Why a race is believed, and which to fix first.
//!
//! [`explain()`] tells which apparent races of an execution are feasible, which may be artifacts of others,
//! and which are first ([`Explanation`]); [`general`] what only chance has ordered; [`edges`] which
//! synchronisation came before which.
//!
//! A predicted race did not happen in the recorded run; what makes it true is a *witness*: an order
//! of some of the trace's events that the program could have taken and that ends with the two
//! accesses side by side. [`Witnesses`] checks such an order against the trace, and shares no code
//! with the engines that find them; [`verify_report`] does so for all that a report says. What can
//! come next in a reordering of a [`Recording`] is what a [`State`] says.
//!
//! ```
//! use deadheat_explain::Witnesses;
//! use deadheat_model::{Event, Location, Op, Site, Strand, Execution};
//!
//! let write = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(strand));
//! let trace = Execution { events: vec![write(0), write(1)], ..Execution::default() };
//! let witnesses = Witnesses::new(&trace).unwrap();
//! assert!(witnesses.verify(1, 2, &[2, 1]).is_ok());
//! let refusal = witnesses.verify(1, 2, &[1, 1]).unwrap_err();
//! assert!(refusal.to_string().contains("event 1"));
//! ```

mod circumstances;
mod cut;
mod explanation;
pub mod general;
mod recording;
mod remedy;
mod replay;
mod report;
mod sections;
mod state;
mod verified;
mod witness;

pub use circumstances::add_circumstances;
pub use explanation::{
    Bound, EdgeKind, ExplainedRace, Explanation, Limits, MAX_ROOTS, Neighbourhood, ReadCounts,
    Status, edges, explain, neighbourhood,
};
pub use recording::{NotATrace, Recording, writes};
pub use remedy::remedy;
pub use replay::Replay;
pub use report::{
    CheckedRace, MAX_REPORT_BYTES, Reason, ReportError, Verdict, Verification, verify_report,
};
pub use state::{Obstacle, State};
pub use verified::{JudgedRace, Judgement, Verified};
pub use witness::{Refusal, Witnesses};
