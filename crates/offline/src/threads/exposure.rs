//! Which locations can race at all, whatever orders them: a first look that keeps little.
//!
//! As long as there is one strand, and if it forks all others, what it does comes before all that they
//! do. Of what comes after: a location is *shared* if more than one strand accesses it and one writes,
//! and it is *exposed* if, besides, no lock is held at all accesses. Two accesses race only at exposed
//! locations, in every order that puts conflicting accesses under a common lock one behind the other;
//! and where a location is not shared, each read observes the same write in every order. So who knows
//! this has few accesses left to look at.
//!
//! Of the locks held at the first access, only the last two taken are remembered: who holds a third one at
//! all accesses of a location, and not these, has it looked at for nothing.
//!
//! Cost: 16 bytes a location.

use deadheat_model::{AccessKind, Location, Lock, Names, Strand};
use fixedbitset::FixedBitSet;

use super::{At, ThreadEngine};

/// What is known of a location.
#[derive(Clone, Copy)]
struct Use {
    /// The strand that accesses it, if there is but one; or [`NOBODY`] or [`MANY`].
    strand: u32,
    /// Locks that were held at all accesses, or [`NO_LOCK`].
    locks: [u32; 2],
    /// How often it is accessed, as far as that mattered, twice; one more if anybody writes.
    accesses: u32,
}

const NOBODY: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;
const NO_LOCK: u32 = u32::MAX;

/// Looks at a trace for the first time.
pub struct Exposure {
    /// By strand: the locks it holds, in the order in which it took them.
    held: Vec<Vec<u32>>,
    /// By lock: who holds it.
    owners: Vec<u32>,
    uses: Vec<Use>,
    /// Whether the first strand is still the only one, and what it accessed and wrote until then.
    alone: bool,
    accessed: FixedBitSet,
    written: FixedBitSet,
    /// How many strands nobody forked, and whether one of them is not the first.
    roots: usize,
    unforked: bool,
    atomic: FixedBitSet,
    crossed: bool,
}

/// The locations to look at.
pub struct SharedLocations {
    /// Those that several strands access and one writes.
    pub shared: FixedBitSet,
    /// Those of them that no lock protects.
    pub exposed: FixedBitSet,
    /// How often these are accessed, about.
    pub accesses: u64,
    /// Those with atomic accesses.
    pub atomic: FixedBitSet,
    /// Whether a strand other than the first does something that nobody started.
    pub unforked: bool,
    /// Whether some strand gives back a lock before one that it took later.
    pub crossed: bool,
    /// Whether the trace stops inside a section.
    pub open: bool,
}

impl Exposure {
    /// Before the first event of a trace with these names.
    pub fn new(names: &Names) -> Exposure {
        let unused = Use {
            strand: NOBODY,
            locks: [NO_LOCK; 2],
            accesses: 0,
        };
        let locations = || FixedBitSet::with_capacity(names.locations.len());
        Exposure {
            held: vec![Vec::new(); names.strands.len()],
            owners: vec![NOBODY; names.lock_count()],
            uses: vec![unused; names.locations.len()],
            alone: true,
            accessed: locations(),
            written: locations(),
            roots: 0,
            unforked: false,
            atomic: locations(),
            crossed: false,
        }
    }

    /// What was found.
    pub fn finish(self) -> SharedLocations {
        let locations = self.uses.len();
        let mut found = SharedLocations {
            shared: FixedBitSet::with_capacity(locations),
            exposed: FixedBitSet::with_capacity(locations),
            accesses: 0,
            atomic: self.atomic,
            unforked: self.unforked,
            crossed: self.crossed,
            open: self.held.iter().any(|held| !held.is_empty()),
        };
        for (x, seen) in self.uses.iter().enumerate() {
            // The first strand did not fork all others: nothing comes before them.
            let early = self.roots > 1 && self.accessed.contains(x) && seen.strand != NOBODY;
            let written = seen.accesses & 1 == 1 || early && self.written.contains(x);
            let atomic = found.atomic.contains(x);
            if (seen.strand == MANY || early) && written || atomic {
                found.shared.insert(x);
                if seen.locks == [NO_LOCK; 2] || early || atomic {
                    found.exposed.insert(x);
                    found.accesses += u64::from(seen.accesses / 2);
                }
            }
        }
        found
    }

    #[inline]
    fn access(&mut self, at: At, x: Location, kind: AccessKind) {
        let (x, writes) = (x.index(), kind == AccessKind::Write);
        if self.alone {
            self.accessed.insert(x);
            self.written.set(x, writes || self.written.contains(x));
            return;
        }
        let seen = &mut self.uses[x];
        let written = seen.accesses & 1 | u32::from(writes);
        if seen.strand == at.strand.0 && seen.locks == [NO_LOCK; 2] && written == seen.accesses & 1
        {
            // Nothing new, and nothing to lose.
            return;
        }
        seen.accesses = seen.accesses.saturating_add(2) & !1 | written;
        if seen.strand == NOBODY {
            seen.strand = at.strand.0;
            let held = self.held[at.strand.index()].iter().rev();
            for (lock, &held) in seen.locks.iter_mut().zip(held) {
                *lock = held;
            }
            return;
        }
        if seen.strand != at.strand.0 {
            seen.strand = MANY;
        }
        for lock in &mut seen.locks {
            if *lock != NO_LOCK && self.owners[*lock as usize] != at.strand.0 {
                *lock = NO_LOCK;
            }
        }
    }
}

impl ThreadEngine for Exposure {
    #[inline]
    fn read(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Read);
    }

    #[inline]
    fn write(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Write);
    }

    fn atomic_read(&mut self, _: At, x: Location) {
        self.atomic.insert(x.index());
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.atomic_read(at, x);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.held[at.strand.index()].push(lock.0 as u32);
        self.owners[lock.index()] = at.strand.0;
    }

    fn release(&mut self, at: At, lock: Lock) {
        let held = &mut self.held[at.strand.index()];
        if let Some(place) = held.iter().rposition(|held| u64::from(*held) == lock.0) {
            self.crossed |= place + 1 < held.len();
            held.remove(place);
        }
        self.owners[lock.index()] = NOBODY;
    }

    fn begin(&mut self, strand: Strand) {
        self.unforked |= strand != Strand::MAIN;
        self.roots += 1;
        self.alone &= self.roots == 1;
    }

    fn fork(&mut self, _: At, _: Strand) {
        self.alone = false;
    }
}
