//! When workers sleep, who wakes them, and how it is noticed that nobody can go on.
//!
//! Simple model: under one lock, a set of idle workers. A worker with nothing to do joins it and sleeps;
//! whoever makes work for a worker takes it out and wakes it. When the last worker would join, nothing can
//! happen any more: the run has ended or is deadlocked.
//!
//! To make work must be cheap where nobody sleeps, so it takes no lock then: it looks at a counter.
//! - Work for one worker (a fiber of its own to be resumed): the maker puts it in the worker's inbox, then looks
//!   at the counter; a worker counts itself, then looks into its inbox. With a sequentially consistent fence
//!   between, one of the two sees the other. No wake-up is lost.
//! - Work for anybody (a job in the maker's own deque): the same without the fence, which would cost more
//!   than the job. If a sleeper is missed, the maker will do the job itself; and sleepers look around
//!   every millisecond, so that a core is not idle for long.
//!
//! All are idle only if really nothing is left: a worker is idle only with an empty deque and an empty inbox, and
//! whoever filled the inbox of a sleeper has taken it out of the set before joining it.

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, fence, lock};

/// Why a worker does not sleep any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeReason {
    /// There may be something to do.
    Work,
    /// All workers are idle: there will never be anything to do.
    AllIdle,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Sleep {
    /// Whether each worker is idle.
    idle: Mutex<Vec<bool>>,
    bells: Vec<Condvar>,
    /// How many sleep or are about to.
    sleepers: AtomicUsize,
}

impl Sleep {
    /// For so many workers.
    pub fn new(workers: usize) -> Sleep {
        Sleep {
            idle: Mutex::new(vec![false; workers]),
            bells: (0..workers).map(|_| Condvar::new()).collect(),
            sleepers: AtomicUsize::new(0),
        }
    }

    /// Sleeps until there may be work, unless `has_work` or nobody else is awake.
    pub fn sleep(&self, worker: usize, has_work: impl Fn() -> bool) -> WakeReason {
        let mut idle = lock(&self.idle);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let mut waking = WakeReason::Work;
        if !has_work() {
            idle[worker] = true;
            if idle.iter().all(|&idle| idle) {
                waking = WakeReason::AllIdle;
            }
            while idle[worker] && waking == WakeReason::Work && !has_work() {
                idle = self.wait(worker, idle);
            }
            idle[worker] = false;
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        waking
    }

    /// Wakes a worker that there is work for.
    pub fn wake(&self, worker: usize) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            lock(&self.idle)[worker] = false;
            self.bells[worker].notify_one();
        }
    }

    /// Wakes all.
    pub fn wake_all(&self) {
        for worker in 0..self.bells.len() {
            self.wake(worker);
        }
    }

    /// There is work for anybody.
    #[inline]
    pub fn wake_any(&self) {
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let mut idle = lock(&self.idle);
        if let Some(worker) = idle.iter().position(|&idle| idle) {
            idle[worker] = false;
            self.bells[worker].notify_one();
        }
    }

    #[cfg(not(loom))]
    fn wait<'a>(
        &self,
        worker: usize,
        idle: std::sync::MutexGuard<'a, Vec<bool>>,
    ) -> std::sync::MutexGuard<'a, Vec<bool>> {
        let millisecond = std::time::Duration::from_millis(1);
        let waited = self.bells[worker].wait_timeout(idle, millisecond);
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    #[cfg(loom)]
    fn wait<'a>(
        &self,
        worker: usize,
        idle: loom::sync::MutexGuard<'a, Vec<bool>>,
    ) -> loom::sync::MutexGuard<'a, Vec<bool>> {
        self.bells[worker]
            .wait(idle)
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
