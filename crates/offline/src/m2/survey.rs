//! Which locations matter, and which can race at all: one pass that keeps little.
//!
//! A location *matters* if two of its conflicting accesses are not ordered by what every correct
//! reordering keeps. The others observe the same writes in every order that keeps this, and no two of
//! their accesses race, so prediction can do without them. Of those that matter, the ones that are
//! accessed under a common lock all the time cannot race either.

use deadheat_model::{Legend, Location, Lock, Strand};
use fixedbitset::FixedBitSet;

use crate::threads::accesses::{Finder, Judged};
use crate::threads::fasttrack::FastTrack;
use crate::threads::locksets::{LocksetId, Locksets};
use crate::threads::shb::Kept;
use crate::threads::{At, Publish, Slot, ThreadEngine};

/// Looks at a trace before it is taken apart.
pub struct Survey {
    judged: Judged<Kept, FastTrack>,
    locksets: Locksets,
    /// By strand.
    held: Vec<LocksetId>,
    /// By location: the locks held at all accesses so far; none before the first.
    common: Vec<Option<LocksetId>>,
}

impl Survey {
    /// Before the first event of a trace with these names.
    pub fn new(legend: &Legend) -> Survey {
        let history = FastTrack::new(legend.locations.len());
        Survey {
            judged: Judged::new(legend, history),
            locksets: Locksets::default(),
            held: vec![LocksetId::default(); legend.strands.len()],
            common: vec![None; legend.locations.len()],
        }
    }

    /// The locations that matter, and those of them that can race.
    pub fn finish(self) -> (FixedBitSet, FixedBitSet) {
        let matter = self.judged.history.suspects();
        let mut can_race = matter.clone();
        for (x, common) in self.common.iter().enumerate() {
            if common.is_some_and(|common| !common.is_empty()) {
                can_race.remove(x);
            }
        }
        (matter, can_race)
    }

    #[inline]
    fn guard(&mut self, at: At, x: Location) {
        let held = self.held[at.strand.index()];
        let common = &mut self.common[x.index()];
        *common = match *common {
            Some(common) if common == held || common.is_empty() => return,
            Some(common) => Some(self.locksets.intersection(common, held)),
            None => Some(held),
        };
    }
}

impl ThreadEngine for Survey {
    #[inline]
    fn read(&mut self, at: At, x: Location) {
        self.guard(at, x);
        self.judged.read(at, x);
    }

    #[inline]
    fn write(&mut self, at: At, x: Location) {
        self.guard(at, x);
        self.judged.write(at, x);
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.judged.atomic_read(at, x);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.judged.atomic_write(at, x);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        let held = &mut self.held[at.strand.index()];
        *held = self.locksets.toggle(*held, lock.0 as u32);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.acquire(at, lock);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.judged.fork(at, child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.judged.join(at, child);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.judged.publish(at, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.judged.awaits(at, slot);
    }

    fn acquire_shared(&mut self, _: At, _: Lock) {}
}
