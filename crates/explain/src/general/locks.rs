//! The locks that strands hold: two accesses under one lock are never next at the same time, in whatever order the events
//! come, unless both hold it for reading.

use std::rc::Rc;

use deadheat_model::{Event, Lock, Op, Strand};
use rustc_hash::FxHashMap;

/// The locks that are held at an access, and whether each is held alone.
#[derive(Clone, Default)]
pub(crate) struct LockSet(Rc<[(Lock, bool)]>);

impl LockSet {
    /// Whether nobody can be at one access while somebody is at the other.
    pub(crate) fn excludes(&self, other: &LockSet) -> bool {
        let mut mine = self.0.iter();
        mine.any(|(lock, alone)| {
            let mut theirs = other.0.iter();
            theirs.any(|(same, too)| lock == same && (*alone || *too))
        })
    }
}

/// Who holds what, while the events of an execution go by.
pub(crate) struct HeldLocks {
    isolation: Lock,
    held: FxHashMap<Strand, LockSet>,
}

impl HeldLocks {
    /// Nobody holds anything.
    pub(crate) fn new(isolation: Lock) -> HeldLocks {
        HeldLocks {
            isolation,
            held: FxHashMap::default(),
        }
    }

    /// What a strand holds.
    pub(crate) fn of(&self, strand: Strand) -> LockSet {
        self.held.get(&strand).cloned().unwrap_or_default()
    }

    /// Takes in the next event.
    pub(crate) fn follow(&mut self, event: &Event) {
        let (lock, alone, takes) = match event.op() {
            Op::Acquire(lock) => (lock, true, true),
            Op::AcquireShared(lock) => (lock, false, true),
            Op::IsolatedBegin => (self.isolation, true, true),
            Op::Release(lock) => (lock, true, false),
            Op::ReleaseShared(lock) => (lock, false, false),
            Op::IsolatedEnd => (self.isolation, true, false),
            _ => return,
        };
        let held = self.held.entry(event.strand()).or_default();
        let mut locks = held.0.to_vec();
        if takes {
            locks.push((lock, alone));
        } else if let Some(place) = locks.iter().rposition(|own| *own == (lock, alone)) {
            locks.remove(place);
        }
        *held = LockSet(locks.into());
    }
}
