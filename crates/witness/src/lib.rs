//! The independent checker: whether a predicted race can happen, decided without the engine that predicted it.
//!
//! A predicted race did not happen in the recorded run. What makes it true is a *witness*: an order of some of the
//! trace's events that the program could have taken and that ends with the two accesses side by side. This crate uses
//! `deadheat-model`, the vocabulary, and no other crate of deadheat; nor do the engines use it. So the checker shares no
//! code with what it checks, and whoever doubts a prediction has this crate to read.
//!
//! # Brief overview
//!
//! - [`Recording`] takes a trace in, once: which event of its strand each event is, which write it observed. It refuses
//!   a trace that could not have happened.
//! - [`State`] is a run of the trace's events in another order so far: which event can come next, and if not, which
//!   [`Obstacle`] is in the way.
//! - [`Witnesses`] does a witness in a `State`, event by event, and gives a [`Refusal`] with the place where it fails, or
//!   a [`Verified`] witness. Nothing else makes one. Of a predicted deadlock, it does the witness, and then looks
//!   whether the strands named wait in a circle.
//! - [`VerifiedReordering`] is a verified witness and its [`Spelling`], which writes witnesses out event by event: the
//!   [`Proof`](deadheat_model::finding::Proof) that a finding carries into reports.
//! - [`verify_report`] checks a whole report of `deadheat analyze --json` against the trace; it is all of
//!   `deadheat verify`.
//!
//! ```
//! use deadheat_model::{Event, Execution, Location, Op, Site, Strand};
//! use deadheat_witness::Witnesses;
//!
//! let write = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(strand));
//! let trace = Execution { events: vec![write(0), write(1)], ..Execution::default() };
//! let witnesses = Witnesses::new(&trace).unwrap();
//! assert!(witnesses.verify(1, 2, &[2, 1]).is_ok());
//! let refusal = witnesses.verify(1, 2, &[1, 1]).unwrap_err();
//! assert!(refusal.to_string().contains("event 1"));
//! ```

mod cut;
mod deadlock;
mod recording;
mod report;
mod sections;
mod spelling;
mod state;
mod verified;
mod witness;

pub use recording::{NotATrace, Recording, reads, writes};
pub use report::{
    CheckedDeadlock, CheckedRace, MAX_REPORT_BYTES, Reason, ReportError, Verdict, Verification,
    verify_report,
};
pub use spelling::{Spelling, VerifiedReordering};
pub use state::{Obstacle, State};
pub use verified::Verified;
pub use witness::{Refusal, Witnesses};
