//! What shows that a finding can happen.

use std::fmt::Debug;

use crate::{EventNumber, Execution, Strand, Witness};

/// A proof that its checker has accepted. Only checkers implement it: whoever holds one need not check it again.
pub trait Proof: Debug + Send + Sync {
    /// A reordering of an execution's events, if it is one.
    fn reordering(&self) -> Option<&dyn Reordering>;

    /// Who takes the next steps, one after the other, as lines of a schedule file; nothing if it is no schedule.
    fn schedule(&self) -> Option<&[String]>;

    /// Who enters sections, one after the other, where a search over orders of sections found it.
    fn sections(&self) -> Option<&[String]> {
        None
    }
}

/// An order of some of an execution's events, after which two accesses are next.
pub trait Reordering {
    /// What is reordered.
    fn execution(&self) -> &Execution;

    /// The order, in short.
    fn witness(&self) -> &Witness;

    /// How many events it has.
    fn length(&self) -> u64;

    /// Its last `most` events, in order.
    fn end(&self, most: usize) -> Vec<EventNumber>;

    /// Of each strand that it begins with: the last of its events there.
    fn upto(&self) -> Vec<(Strand, EventNumber)>;

    /// Whether the name of a strand says which it is.
    fn names_tell(&self) -> bool;
}
