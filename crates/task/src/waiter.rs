//! What a suspended task waits for.
//!
//! Simple model: a flag under a lock, and the list of those to be woken when it is raised.
//!
//! A [`Latch`] has one waiter and is one word, so that it can lie on the stack of whoever waits: the one
//! atomic swap that raises it is the last time it is touched. An [`Event`] has any number of waiters.
//!
//! Nobody is woken while still running: a fiber says what it waits for by leaving its stack, and its worker
//! then registers it. If the flag was raised meanwhile, registering fails and the fiber goes on at once. So
//! either registering sees the flag, or raising the flag sees the waiter. A wake-up too many does no harm:
//! whoever waits looks again. `tests/loom.rs` tries every interleaving.

use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};

/// A suspended fiber: its worker, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter(u64);

impl Waiter {
    /// Fiber `slot` of a worker.
    pub fn new(worker: u32, slot: u32) -> Waiter {
        Waiter((u64::from(worker) + 1) << 32 | u64::from(slot))
    }

    /// Its worker.
    pub fn worker(self) -> u32 {
        (self.0 >> 32) as u32 - 1
    }

    /// Its number there.
    pub fn slot(self) -> u32 {
        self.0 as u32
    }
}

const PENDING: u64 = 0;
const DONE: u64 = 1;

/// A flag with one waiter.
#[derive(Debug)]
pub struct Latch(AtomicU64);

impl Default for Latch {
    fn default() -> Latch {
        Latch(AtomicU64::new(PENDING))
    }
}

impl Latch {
    /// Whether it was raised.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == DONE
    }

    /// Has a fiber woken when it is raised; false if it was raised already.
    pub fn register(&self, waiter: Waiter) -> bool {
        let registered =
            self.0
                .compare_exchange(PENDING, waiter.0, Ordering::AcqRel, Ordering::Acquire);
        match registered {
            Ok(_) => true,
            Err(state) => state == waiter.0,
        }
    }

    /// Raises it, and tells who is to be woken. The latch may be gone as soon as this has happened.
    pub fn raise(&self) -> Option<Waiter> {
        match self.0.swap(DONE, Ordering::AcqRel) {
            PENDING | DONE => None,
            waiter => Some(Waiter(waiter)),
        }
    }
}

/// A flag with any number of waiters.
#[derive(Debug)]
pub struct Event {
    done: AtomicBool,
    waiters: Mutex<Vec<Waiter>>,
}

impl Default for Event {
    fn default() -> Event {
        Event {
            done: AtomicBool::new(false),
            waiters: Mutex::new(Vec::new()),
        }
    }
}

impl Event {
    /// Whether it was raised.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Has a fiber woken when it is raised; false if it was raised already.
    pub fn register(&self, waiter: Waiter) -> bool {
        let mut waiters = lock(&self.waiters);
        if self.is_done() {
            return false;
        }
        waiters.push(waiter);
        true
    }

    /// Raises it, and tells who is to be woken, in the order in which they came.
    pub fn raise(&self) -> Vec<Waiter> {
        let mut waiters = lock(&self.waiters);
        self.done.store(true, Ordering::Release);
        std::mem::take(&mut waiters)
    }
}
