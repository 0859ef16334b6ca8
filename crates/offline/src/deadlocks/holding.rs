//! Which locks each strand has, event by event, and what it would have to wait for next.
//!
//! A strand that takes a lock which it has already never waits, so that is told as nothing. Cost: constant an event, as
//! long as locks are given back about in the order in which they were taken last.

use deadheat_model::{Event, EventNumber, Lock, LockTaken, Names, Op, Site, Strand};
use rustc_hash::FxHashMap;

use crate::threads::locksets::{LocksetId, Locksets};

/// What a strand can have to wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Wanted {
    /// A lock that somebody else has; for reading, unless it is alone.
    Lock { lock: u32, shared: bool },
    /// The end of a strand.
    End(u32),
}

/// A lock as part of a set: who has it for reading has something else than who has it alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HeldLock {
    pub lock: u32,
    pub shared: bool,
}

impl HeldLock {
    /// The number of such a lock in a set.
    fn number(self) -> u32 {
        self.lock << 1 | u32::from(self.shared)
    }

    /// The lock of a number.
    pub fn of_number(number: u32) -> HeldLock {
        HeldLock {
            lock: number >> 1,
            shared: number & 1 == 1,
        }
    }

    /// Whether two strands cannot have both.
    pub fn excludes(self, other: HeldLock) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

/// The largest number of locks whose numbers fit into sets.
pub(super) const MAX_LOCKS: usize = 1 << 31;

const NOBODY: u32 = u32::MAX;

/// The locks of all strands, after some events of an execution that could have happened.
pub(super) struct Holding {
    /// By strand, in the order in which it took them.
    taken: Vec<Vec<LockTaken>>,
    /// By strand: the sets of the first of these, of the first two, and so on, as far as somebody asked since they changed.
    sets: Vec<Vec<LocksetId>>,
    /// By lock: who has it alone, and how often.
    owners: Vec<(u32, u32)>,
    readers: FxHashMap<(u32, u32), u32>,
    /// All sets of [`HeldLock`]s that were ever held.
    pub locksets: Locksets,
    isolation: Lock,
}

impl Holding {
    pub fn new(names: &Names) -> Holding {
        let strands = names.strands.len();
        Holding {
            taken: vec![Vec::new(); strands],
            sets: vec![Vec::new(); strands],
            owners: vec![(NOBODY, 0); names.lock_count()],
            readers: FxHashMap::default(),
            locksets: Locksets::default(),
            isolation: names.isolation(),
        }
    }

    /// The locks that a strand has, in the order in which it took them.
    pub fn taken(&self, strand: Strand) -> &[LockTaken] {
        &self.taken[strand.index()]
    }

    /// The same as a set.
    pub fn set(&mut self, strand: Strand) -> LocksetId {
        let sets = &mut self.sets[strand.index()];
        let mut set = sets.last().copied().unwrap_or_default();
        for taken in &self.taken[strand.index()][sets.len()..] {
            let held = HeldLock {
                lock: taken.lock.0 as u32,
                shared: taken.shared,
            };
            set = self.locksets.with(set, held.number());
            sets.push(set);
        }
        set
    }

    /// What a strand may have to wait for in its next event.
    pub fn wanted(&self, event: &Event) -> Option<Wanted> {
        let strand = event.strand().0;
        let wants = |lock: Lock, shared| {
            let lock = lock.0 as u32;
            let has = self.owners[lock as usize].0 == strand
                || shared && self.readers.contains_key(&(lock, strand));
            (!has).then_some(Wanted::Lock { lock, shared })
        };
        match event.op() {
            Op::Acquire(lock) => wants(lock, false),
            Op::IsolatedBegin => wants(self.isolation, false),
            Op::AcquireShared(lock) => wants(lock, true),
            Op::Join(child) => Some(Wanted::End(child.0)),
            _ => None,
        }
    }

    /// The event has happened.
    pub fn follow(&mut self, event: &Event, number: EventNumber) {
        let strand = event.strand();
        match event.op() {
            Op::Acquire(lock) => self.own(lock, strand, number, event.site()),
            Op::IsolatedBegin => self.own(self.isolation, strand, number, event.site()),
            Op::Release(lock) => self.disown(lock, strand),
            Op::IsolatedEnd => self.disown(self.isolation, strand),
            Op::AcquireShared(lock) => {
                let depth = self.readers.entry((lock.0 as u32, strand.0)).or_default();
                *depth += 1;
                if *depth == 1 {
                    self.take(strand, lock, true, number, event.site());
                }
            }
            Op::ReleaseShared(lock) => {
                let key = (lock.0 as u32, strand.0);
                if let Some(depth) = self.readers.get_mut(&key) {
                    *depth -= 1;
                    if *depth == 0 {
                        self.readers.remove(&key);
                        self.give_back(strand, lock, true);
                    }
                }
            }
            _ => {}
        }
    }

    fn own(&mut self, lock: Lock, strand: Strand, number: EventNumber, site: Site) {
        let (owner, depth) = &mut self.owners[lock.index()];
        *depth += 1;
        if *depth == 1 {
            *owner = strand.0;
            self.take(strand, lock, false, number, site);
        }
    }

    fn disown(&mut self, lock: Lock, strand: Strand) {
        let (owner, depth) = &mut self.owners[lock.index()];
        *depth -= 1;
        if *depth == 0 {
            *owner = NOBODY;
            self.give_back(strand, lock, false);
        }
    }

    fn take(&mut self, strand: Strand, lock: Lock, shared: bool, event: EventNumber, site: Site) {
        self.taken[strand.index()].push(LockTaken {
            lock,
            shared,
            event,
            site,
        });
    }

    fn give_back(&mut self, strand: Strand, lock: Lock, shared: bool) {
        let taken = &mut self.taken[strand.index()];
        let place = taken
            .iter()
            .rposition(|taken| taken.lock == lock && taken.shared == shared);
        if let Some(place) = place {
            taken.remove(place);
            self.sets[strand.index()].truncate(place);
        }
    }
}
