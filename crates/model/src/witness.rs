//! The proof that two accesses can meet.

use crate::EventNumber;

/// An order of some of a trace's events, after which two accesses are next.
///
/// First come the events with numbers below `before`, as in the trace, but of each strand only those up
/// to a number; then the others, one by one. That makes the witness of a race late in a long trace as
/// short as what has to move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    /// The number of the first event that may have moved.
    pub before: EventNumber,
    /// For each strand, by number: of its events below `before`, those up to this one.
    pub upto: Vec<EventNumber>,
    /// The events from there on, in their new order; the last two are the racing accesses.
    pub then: Vec<EventNumber>,
}
