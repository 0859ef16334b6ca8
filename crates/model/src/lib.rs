//! What an execution is.
//!
//! Every part of deadheat speaks this vocabulary. A source of events (a `.tp` program, a recorded
//! trace, a running program) produces an [`Execution`]: a sequence of [`Event`]s, each one strand
//! doing one [`Op`] at one [`Site`], beside the [`Names`] of what the numbers in the events stand for.
//! An engine reads the events and gives its [`Findings`]: [`Race`]s, some with a [`Witness`]. What a user sees of each is a
//! [`Finding`], and what a verdict as a whole promises is a [`Guarantee`].
//! [`words`] is the one table of words for operations.
//!
//! The crate has no I/O and no algorithms.
//!
//! ```
//! use deadheat_model::{Event, Location, Op, ReadKind, Site, Strand};
//!
//! let write = Event::new(Strand::MAIN, Op::Write(Location(7)), Site(0));
//! let read = Event::new(Strand(1), Op::Read(Location(7), ReadKind::Data), Site(1));
//! assert_eq!(write.op(), Op::Write(Location(7)));
//! assert!(write.access().unwrap().conflicts_with(&read.access().unwrap()));
//! ```

mod construct;
mod deadlock;
mod event;
mod execution;
pub mod finding;
mod findings;
pub mod guarantee;
mod names;
mod race;
mod stop_token;
mod witness;
pub mod words;

pub use construct::Construct;
pub use deadlock::{Deadlock, Deadlocks, FoundDeadlock, LockTaken, OpenDeadlock, Wait};
pub use event::{
    Access, AccessKind, AtomicOrdering, Barrier, Event, EventNumber, Finish, Flag, Location, Lock,
    MAX_OBJECT, Op, Promise, ReadKind, Region, Semaphore, Site, Strand,
};
pub use execution::Execution;
pub use finding::Finding;
pub use findings::{Findings, FoundRace, racy};
pub use guarantee::Guarantee;
pub use names::{Names, Parent, SiteKind, SourcePosition, StrandKind, path_name};
pub use race::{Race, RaceKind, RacingAccess};
pub use stop_token::{GRACE, StopPoll, StopReason, StopToken};
pub use witness::{Witness, last_of};
