//! A race: two conflicting accesses, and nothing that keeps them apart.

use std::fmt;

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

/// Two accesses to one location by different strands, at least one a write. What makes them a race is
/// the engine's business: that happens-before orders them neither way, that a reordering brings them
/// together, or that no common lock protects them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    /// What both touch.
    pub location: Location,
    /// The access that came first in the execution.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// How many pairs of events this one stands for: those at the same two places.
    pub count: u64,
}

/// What the two accesses of a race do, the first one's kind in front.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RaceKind(pub AccessKind, pub AccessKind);

impl fmt::Display for RaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

impl Race {
    /// `write-read` and so on.
    pub fn kind(&self) -> RaceKind {
        RaceKind(self.first.kind, self.second.kind)
    }

    /// What races are sorted by: the second access, then the first.
    pub fn key(&self) -> (EventNumber, EventNumber) {
        (self.second.event, self.first.event)
    }

    /// The two places in the source, the same pair whichever access came first.
    pub fn places(&self) -> (Site, Site) {
        let (a, b) = (self.first.site, self.second.site);
        (a.min(b), a.max(b))
    }

    /// The two places with what is done there, the same pair whichever access came first.
    pub fn ends(&self) -> [(Site, AccessKind); 2] {
        let mut ends = [self.first, self.second].map(|access| (access.site, access.kind));
        ends.sort();
        ends
    }
}
