//! A race: two conflicting accesses that nothing orders.

use crate::{AccessKind, EventNumber, Location, Site, Strand};

/// One of the two accesses of a race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RacingAccess {
    /// Its number in the execution.
    pub event: EventNumber,
    /// Who did it.
    pub strand: Strand,
    /// Where in the source.
    pub site: Site,
    /// Whether it reads or writes.
    pub kind: AccessKind,
}

/// Two accesses to one location by different strands, at least one a write, that the execution's
/// happens-before relation orders neither way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    /// What both touch.
    pub location: Location,
    /// The access that came first in the execution.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// How many pairs of events with the same location, sites and kinds this one stands for.
    pub count: u64,
}
