//! Strands that wait for each other in a circle.

use crate::{EventNumber, Lock, Op, Site, StopReason, Strand, Witness};

/// A lock that a strand has when it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockTaken {
    /// Which lock.
    pub lock: Lock,
    /// Whether for reading.
    pub shared: bool,
    /// The event that took it, and where in the source that is.
    pub event: EventNumber,
    /// See `event`.
    pub site: Site,
}

/// One who waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Who.
    pub strand: Strand,
    /// The event that does not happen: what it would take, or whom it would join.
    pub event: EventNumber,
    /// What that event does.
    pub op: Op,
    /// Where in the source.
    pub site: Site,
    /// The locks that it has, in the order in which it took them.
    pub holds: Vec<LockTaken>,
}

/// Strands that wait in a circle: each for the next, the last for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// Those who wait, beginning with the one whose event comes first in the recorded order.
    pub waits: Vec<Wait>,
}

impl Deadlock {
    /// The events that wait, each for the strand of the next.
    pub fn circle(&self) -> Vec<EventNumber> {
        self.waits.iter().map(|wait| wait.event).collect()
    }

    /// The places of the waits, in their order: what deadlocks are listed by.
    pub fn places(&self) -> Vec<Site> {
        let mut places: Vec<Site> = self.waits.iter().map(|wait| wait.site).collect();
        places.sort_unstable();
        places
    }
}

/// A deadlock and the reordering after which it is there. It is the word of who found it until a checker has accepted it.
#[derive(Clone, Debug)]
pub struct FoundDeadlock {
    /// The deadlock.
    pub deadlock: Deadlock,
    /// The reordering: the events that wait are not in it.
    pub witness: Witness,
}

/// Places at which strands may wait in a circle or not.
#[derive(Clone, Debug)]
pub struct OpenDeadlock {
    /// The first circle of which it is not known.
    pub deadlock: Deadlock,
    /// The events of circles of which it is not known, this one's too.
    pub circles: Vec<Vec<EventNumber>>,
    /// Whether these are all.
    pub all: bool,
}

/// What was found of deadlocks in an execution: one for each set of places where strands wait.
#[derive(Clone, Debug, Default)]
pub struct Deadlocks {
    /// Those that some correct reordering ends in.
    pub found: Vec<FoundDeadlock>,
    /// Those of which it is not known whether one does.
    pub undecided: Vec<OpenDeadlock>,
    /// Whether all circles of locks were looked at.
    pub all_listed: bool,
    /// Why the search was stopped before its end, if it was.
    pub stopped: Option<StopReason>,
}

impl Deadlocks {
    /// Puts them in the order of the first events that wait.
    pub fn sort(&mut self) {
        self.found.sort_by_key(|found| found.deadlock.circle());
        self.undecided.sort_by_key(|open| open.deadlock.circle());
    }

    /// Whether it is known of every circle whether a reordering ends in it.
    pub fn is_exhaustive(&self) -> bool {
        self.all_listed && self.undecided.is_empty() && self.stopped.is_none()
    }
}
