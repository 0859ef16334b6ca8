//! What came before a race: the part of the ordering graph around it (section 9.3.4).
//!
//! The last events of the two strands up to the race, and of others those that the events shown wait
//! for or see; with the edges of synchronisation and, from write to read, of data between them.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{Access, AccessKind, EventNumber, Execution, Race, Strand};
use deadheat_offline::threads::{At, ImpossibleEvent};
use rustc_hash::FxHashMap;

use super::edges::{Listener, Slot, tell};

/// How many events of each of the two strands are shown.
const MAX_OWN: usize = 12;

/// How many events are shown in all.
const MAX_EVENTS: usize = 48;

/// Why an event comes before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeKind {
    /// Synchronisation.
    Synchronisation,
    /// The second reads what the first wrote.
    Data,
}

/// A part of the ordering graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbourhood {
    /// The events shown, in the order of the execution.
    pub events: Vec<EventNumber>,
    /// What orders them, besides the order of each strand.
    pub edges: Vec<(EventNumber, EventNumber, EdgeKind)>,
}

/// The part of the ordering graph around a race, or why nobody could have done the execution.
pub fn neighbourhood(execution: &Execution, race: &Race) -> Result<Neighbourhood, ImpossibleEvent> {
    let mut collector = Collector::default();
    tell(execution, &mut collector)?;
    let mut into: BTreeMap<EventNumber, Vec<(EventNumber, EdgeKind)>> = BTreeMap::new();
    for &(from, to, kind) in &collector.edges {
        into.entry(to).or_default().push((from, kind));
    }
    let mut shown = BTreeSet::new();
    for access in [race.first, race.second] {
        let numbers = (1..=access.event.min(execution.events.len() as EventNumber)).rev();
        let is_own = |&number: &EventNumber| {
            let event = execution.event(number);
            event.is_some_and(|event| event.strand() == access.strand)
        };
        shown.extend(numbers.filter(is_own).take(MAX_OWN));
    }
    // What they wait for or see, and what that waits for or sees, as far as there is room.
    let mut open: Vec<EventNumber> = shown.iter().rev().copied().collect();
    while let Some(at) = open.pop() {
        for &(from, _) in into.get(&at).into_iter().flatten() {
            if shown.len() < MAX_EVENTS && shown.insert(from) {
                open.insert(0, from);
            }
        }
    }
    let between = collector.edges.into_iter();
    let between = between.filter(|(from, to, _)| shown.contains(from) && shown.contains(to));
    let mut edges: Vec<_> = between.collect();
    edges.sort_unstable();
    edges.dedup();
    Ok(Neighbourhood {
        events: shown.into_iter().collect(),
        edges,
    })
}

#[derive(Default)]
struct Collector {
    edges: Vec<(EventNumber, EventNumber, EdgeKind)>,
    slots: FxHashMap<Slot, Vec<EventNumber>>,
    last: FxHashMap<Strand, EventNumber>,
    forked: FxHashMap<Strand, EventNumber>,
    written: FxHashMap<u64, (Strand, EventNumber)>,
}

impl Collector {
    fn happens(&mut self, at: At) {
        self.last.insert(at.strand, at.number);
        if let Some(fork) = self.forked.remove(&at.strand) {
            self.edge(fork, at.number, EdgeKind::Synchronisation);
        }
    }

    fn edge(&mut self, from: EventNumber, to: EventNumber, kind: EdgeKind) {
        self.edges.push((from, to, kind));
    }
}

impl Listener for Collector {
    fn access(&mut self, at: At, Access { location, kind }: Access) {
        self.happens(at);
        if kind == AccessKind::Write {
            self.written.insert(location.0, (at.strand, at.number));
        } else if let Some(&(strand, write)) = self.written.get(&location.0)
            && strand != at.strand
        {
            self.edge(write, at.number, EdgeKind::Data);
        }
    }

    fn synchronises(&mut self, at: At) {
        self.happens(at);
    }

    fn publish(&mut self, at: At, slot: Slot, add: bool) {
        let published = self.slots.entry(slot).or_default();
        if !add {
            published.clear();
        }
        published.push(at.number);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        // A slot that very many have published to is shown by the last of them.
        let from = self.slots.get(&slot).cloned().unwrap_or_default();
        for from in from.into_iter().rev().take(MAX_EVENTS) {
            self.edge(from, at.number, EdgeKind::Synchronisation);
        }
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.forked.insert(child, at.number);
    }

    fn join(&mut self, at: At, child: Strand) {
        if let Some(&last) = self.last.get(&child) {
            self.edge(last, at.number, EdgeKind::Synchronisation);
        }
    }
}
