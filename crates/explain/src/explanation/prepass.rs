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

use deadheat_model::{Access, AccessKind, Event, Op, Strand};
use deadheat_order::{Epoch, PersistentClock};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::synchronisation::{Listener, Slot, Synchronisation, is_synchronisation};

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

    /// A strand does something other than a plain access.
    #[inline]
    pub(crate) fn other(&mut self, strand: Strand, op: &Op) {
        if is_synchronisation(op)
            && let Some(current) = self.current.get_mut(strand.index())
        {
            *current = None;
        }
    }
}

pub(crate) fn prepass(events: &[Event], tokens: impl IntoIterator<Item = (u64, u64)>) -> Prepass {
    let mut synchronisation = Synchronisation::new(tokens);
    let mut clocks = Clocks::default();
    let mut histories: FxHashMap<u64, History> = FxHashMap::default();
    let mut atomic = FxHashSet::default();
    let mut found = Prepass::default();
    let mut numbering = Numbering::default();
    for (event, index) in events.iter().zip(0..) {
        let strand = event.strand();
        clocks.tick(strand);
        let Some(Access { location, kind }) = event.access() else {
            let op = event.op();
            numbering.other(strand, &op);
            match op {
                Op::AtomicLoad(x, _) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => {
                    atomic.insert(x.0);
                    found.intricate = true;
                }
                Op::Clear(_) => found.intricate = true,
                _ => {}
            }
            synchronisation.event(event, &mut clocks);
            continue;
        };
        let computation = numbering.access(strand) as usize;
        match found.computations.get_mut(computation) {
            Some(ends) => ends.1 = index,
            None => found.computations.push((index, index)),
        }
        let history = histories.entry(location.0).or_default();
        if !history.racy && history.access(&clocks, strand, kind) {
            history.racy = true;
            history.reads = SmallVec::new();
            found.tracked.insert(location.0);
        }
    }
    let mixed = atomic.iter().filter(|x| histories.contains_key(x));
    found.tracked.extend(mixed);
    found
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
    fn access(&mut self, clocks: &Clocks, strand: Strand, kind: AccessKind) -> bool {
        let (clock, time) = &clocks.strands[strand.index()];
        let comes_before = |epoch: &Epoch| {
            epoch.strand() == strand || epoch.is_none() || epoch.time() <= clock.get(epoch.strand())
        };
        let now = Epoch::new(strand, *time);
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

/// Happens-before, as clocks.
#[derive(Default)]
struct Clocks {
    /// By strand: what comes before it, and its own time.
    strands: Vec<(PersistentClock, u32)>,
    slots: Vec<PersistentClock>,
}

impl Clocks {
    #[inline]
    fn tick(&mut self, strand: Strand) {
        self.of(strand).1 += 1;
    }

    #[inline]
    fn of(&mut self, strand: Strand) -> &mut (PersistentClock, u32) {
        if self.strands.len() <= strand.index() {
            self.strands.resize(strand.index() + 1, Default::default());
        }
        &mut self.strands[strand.index()]
    }

    /// What comes before a strand's next event.
    fn known(&mut self, strand: Strand) -> PersistentClock {
        let (clock, time) = self.of(strand);
        clock.raise(strand, *time);
        clock.clone()
    }
}

impl Listener for Clocks {
    fn publish(&mut self, strand: Strand, slot: Slot, add: bool) {
        let known = self.known(strand);
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, PersistentClock::default());
        }
        match add {
            true => self.slots[slot].join(&known),
            false => self.slots[slot] = known,
        }
    }

    fn awaits(&mut self, strand: Strand, slot: Slot) {
        if let Some(known) = self.slots.get(slot).cloned() {
            self.of(strand).0.join(&known);
        }
    }

    fn fork(&mut self, strand: Strand, child: Strand) {
        let known = self.known(strand);
        self.of(child).0.join(&known);
    }

    fn join(&mut self, strand: Strand, child: Strand) {
        let known = self.known(child);
        self.of(strand).0.join(&known);
    }
}
