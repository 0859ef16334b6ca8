//! The proof that two accesses can meet, or that strands can come to wait for each other.

use crate::{EventNumber, Strand};

/// An order of some of a trace's events, after which two accesses are next; or the events that wait in a deadlock, which are
/// no part of it.
///
/// First come the events with numbers below `before`, as in the trace, but of each strand only those up
/// to a number; then the others, one by one. That makes the witness of a race late in a long trace as
/// short as what has to move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    /// The number of the first event that may have moved.
    pub before: EventNumber,
    /// Of each strand that has events there, in the order of their numbers: those below `before` and up to this one.
    /// Of ten thousand threads, few come before a race.
    pub upto: Vec<(Strand, EventNumber)>,
    /// The events from there on, in their new order; the last two are the accesses of a race.
    pub then: Vec<EventNumber>,
}

impl Witness {
    /// The number up to which a strand's events come first, if they are below `before`.
    pub fn last_of(&self, strand: Strand) -> EventNumber {
        last_of(&self.upto, strand)
    }
}

/// The number of a strand in a list by strand; 0 if it is not there.
pub fn last_of(upto: &[(Strand, EventNumber)], strand: Strand) -> EventNumber {
    let place = upto.binary_search_by_key(&strand, |(strand, _)| *strand);
    place.map_or(0, |place| upto[place].1)
}
