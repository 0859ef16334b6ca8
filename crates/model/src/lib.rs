//! What an execution is.
//!
//! Every part of deadheat speaks this vocabulary. A source of events (a `.tp` program, a recorded
//! trace, a running program) produces an [`Execution`]: a sequence of [`Event`]s, each one strand
//! doing one [`Op`] at one [`Site`], beside [`Tables`] that give the numbers in the events their
//! names. A recorded run of a threaded program is a [`Trace`], whose [`Legend`] has the names that its
//! recorder gave. An engine reads the events and reports [`Race`]s. [`Validator`] says whether a stream of
//! events is one that some program could have produced, and names the event where it is not.
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
mod event;
mod execution;
mod race;
mod trace;
mod validate;
mod witness;

pub use construct::Construct;
pub use event::{
    Access, AccessKind, AtomicOrdering, Barrier, Event, EventNumber, Finish, Flag, Location, Lock,
    MAX_OBJECT, Op, Promise, ReadKind, Region, Semaphore, Site, Strand,
};
pub use execution::{
    Execution, LocationName, SourcePosition, StrandInfo, StrandKind, Tables, path_name,
};
pub use race::{Race, RacingAccess};
pub use trace::{Legend, Trace};
pub use validate::{IllFormed, Validator, Violation};
pub use witness::Witness;
