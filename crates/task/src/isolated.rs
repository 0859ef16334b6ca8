//! `isolated`: one task at a time. A block inside a block is part of the outer one.

use std::panic::Location;

use crate::error::cancel;
use crate::fiber::On;
use crate::isolation::Entry;
use crate::worker::Worker;

/// Runs a block while no other task of the run is in such a block.
///
/// It keeps updates whole; it does not fix their order, so no engine of this library can call a program with
/// it deterministic: record the run, and `deadheat analyze` judges it.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::{Shared, finish, isolated};
///
/// let sum = Shared::new(0);
/// finish(|s| {
///     for number in 1..=10 {
///         let sum = &sum;
///         s.spawn(move || isolated(|| sum.set(sum.get() + number)));
///     }
/// });
/// assert_eq!(sum.get(), 55);
/// # });
/// ```
#[track_caller]
pub fn isolated<R>(body: impl FnOnce() -> R) -> R {
    struct Exit<'w>(&'w Worker, crate::fiber::Caller);
    impl Drop for Exit<'_> {
        fn drop(&mut self) {
            self.0.end_isolated(self.1);
            if let Some(next) = self.0.run.isolation.leave() {
                self.0.wake(next);
            }
        }
    }
    let at = Location::caller();
    let worker = Worker::of("isolated");
    let isolation = &worker.run.isolation;
    loop {
        match isolation.enter(worker.waiter()) {
            Entry::Inside => return body(),
            Entry::Entered => {
                let exit = Exit(worker, at);
                worker.begin_isolated(at);
                let result = body();
                drop(exit);
                return result;
            }
            Entry::Wait => {
                if worker.run.is_cancelled() {
                    cancel();
                }
                worker.suspend(On::Isolation(isolation), Some(at));
            }
        }
    }
}
