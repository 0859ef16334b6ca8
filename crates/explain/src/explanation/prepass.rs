//! Where to look: the locations with an apparent race, and the computation events.
//!
//! Two conflicting accesses of different strands that synchronisation orders neither way are an
//! *apparent race* (chapter 6). Most locations have none. One pass with the last write and the reads
//! since, as FastTrack has them, finds those that do; it needs no more, because the first race of a
//! location is always with one of these. Locations that are accessed both plainly and atomically are
//! told as well: their plain accesses may see what atomic ones wrote.
//!
//! A *computation event* is what a strand does between two synchronisation operations (the coarsest
//! view that chapter 3 allows). They are numbered in the order in which they begin.
//!
//! Cost: constant time for most events, in the worst case the number of strands; space for the locations
//! and 8 bytes for each computation event.

use deadheat_model::{Access, AccessKind, Execution, Location, Op, Strand};
use deadheat_offline::threads::{At, ImpossibleEvent};
use deadheat_order::{Epoch, PersistentClock, Time};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::edges::{Listener, Slot, tell};

/// The number of a computation event.
pub(crate) type Computation = u32;

/// What one pass over the events tells.
#[derive(Default)]
pub(crate) struct Prepass {
    /// The locations worth looking at again.
    pub(crate) tracked: FxHashSet<u64>,
    /// The first and the last access of each computation event, by index.
    pub(crate) computations: Vec<(u32, u32)>,
    /// Whether events are used whose effect depends on more than who waits for whom: `clear` and
    /// atomic operations.
    pub(crate) intricate: bool,
}

/// Numbers computation events as they begin.
#[derive(Default)]
pub(crate) struct Numbering {
    next: Computation,
    /// By strand: what it is in the middle of.
    current: Vec<Option<Computation>>,
}

impl Numbering {
    /// The computation event that an access belongs to.
    #[inline]
    pub(crate) fn access(&mut self, strand: Strand) -> Computation {
        if self.current.len() <= strand.index() {
            self.current.resize(strand.index() + 1, None);
        }
        *self.current[strand.index()].get_or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// A strand synchronises.
    #[inline]
    pub(crate) fn synchronises(&mut self, strand: Strand) {
        if let Some(current) = self.current.get_mut(strand.index()) {
            *current = None;
        }
    }
}

pub(crate) fn prepass(execution: &Execution) -> Result<Prepass, ImpossibleEvent> {
    let mut pass = Pass::default();
    tell(execution, &mut pass)?;
    let mixed = pass
        .atomic
        .iter()
        .filter(|x| pass.histories.contains_key(x));
    pass.found.tracked.extend(mixed);
    let clears = |event: &deadheat_model::Event| matches!(event.op(), Op::Clear(_));
    pass.found.intricate = !pass.atomic.is_empty() || execution.events.iter().any(clears);
    Ok(pass.found)
}

#[derive(Default)]
struct Pass {
    /// By strand: what comes before it.
    strands: Vec<PersistentClock>,
    slots: Vec<PersistentClock>,
    histories: FxHashMap<u64, History>,
    atomic: FxHashSet<u64>,
    numbering: Numbering,
    found: Prepass,
}

impl Pass {
    #[inline]
    fn of(&mut self, strand: Strand) -> &mut PersistentClock {
        if self.strands.len() <= strand.index() {
            self.strands.resize(strand.index() + 1, Default::default());
        }
        &mut self.strands[strand.index()]
    }

    /// What comes before whatever comes after a strand's events up to now.
    fn known(&mut self, strand: Strand, now: Time) -> PersistentClock {
        let clock = self.of(strand);
        clock.raise(strand, now);
        clock.clone()
    }
}

/// The time of an event: its number, which goes up in every strand.
pub(crate) fn time(at: At) -> Time {
    at.number as Time
}

impl Listener for Pass {
    fn access(&mut self, at: At, Access { location, kind }: Access) {
        let index = time(at) - 1;
        let computation = self.numbering.access(at.strand) as usize;
        match self.found.computations.get_mut(computation) {
            Some(ends) => ends.1 = index,
            None => self.found.computations.push((index, index)),
        }
        self.of(at.strand);
        let clock = &self.strands[at.strand.index()];
        let history = self.histories.entry(location.0).or_default();
        if !history.racy && history.access(clock, Epoch::new(at.strand, time(at)), kind) {
            history.racy = true;
            history.reads = SmallVec::new();
            self.found.tracked.insert(location.0);
        }
    }

    fn synchronises(&mut self, at: At) {
        self.numbering.synchronises(at.strand);
    }

    fn publish(&mut self, at: At, slot: Slot, add: bool) {
        let known = self.known(at.strand, time(at));
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, PersistentClock::default());
        }
        match add {
            true => self.slots[slot].join(&known),
            false => self.slots[slot] = known,
        }
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        if let Some(known) = self.slots.get(slot).cloned() {
            self.of(at.strand).join(&known);
        }
    }

    fn fork(&mut self, at: At, child: Strand) {
        let known = self.known(at.strand, time(at));
        self.of(child).join(&known);
    }

    fn join(&mut self, at: At, child: Strand) {
        let known = self.known(child, time(at));
        self.of(at.strand).join(&known);
    }

    fn atomic_read(&mut self, _: At, location: Location) {
        self.atomic.insert(location.0);
    }

    fn atomic_write(&mut self, _: At, location: Location) {
        self.atomic.insert(location.0);
    }
}

/// What is kept of a location.
#[derive(Default)]
struct History {
    write: Epoch,
    reads: SmallVec<[Epoch; 1]>,
    racy: bool,
}

impl History {
    /// Notes an access; says whether it races with an earlier one.
    fn access(&mut self, clock: &PersistentClock, now: Epoch, kind: AccessKind) -> bool {
        let strand = now.strand();
        let comes_before = |epoch: &Epoch| {
            epoch.strand() == strand || epoch.is_none() || epoch.time() <= clock.get(epoch.strand())
        };
        if !comes_before(&self.write) {
            return true;
        }
        if kind == AccessKind::Read {
            match self.reads.iter_mut().find(|read| read.strand() == strand) {
                Some(read) => *read = now,
                None => self.reads.push(now),
            }
            return false;
        }
        let races = !self.reads.iter().all(comes_before);
        self.reads.clear();
        self.write = now;
        races
    }
}
