//! `join`: two tasks, and both results.
//!
//! The second is offered to thieves while the first runs on the caller's stack; if nobody took it, it runs there too. So
//! without thieves a `join` is two calls, a push and a pop.

use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use crate::finish::Finish;
use crate::job::StackJob;
use crate::monitor::Kind;
use crate::worker::Worker;

/// Runs two closures as tasks that may run in parallel, and gives both results.
///
/// ```
/// # deadheat_task::run(|| {
/// fn fibonacci(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = deadheat_task::join(|| fibonacci(n - 1), || fibonacci(n - 2));
///     a + b
/// }
/// assert_eq!(fibonacci(15), 610);
/// # });
/// ```
#[inline]
#[track_caller]
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    let worker = Worker::of("join");
    match worker.task() {
        None => fork(worker, a, b),
        Some(_) => monitored(worker, a, b, Location::caller()),
    }
}

/// Runs two closures, perhaps in parallel.
#[inline]
fn fork<A: Send, B: Send>(
    worker: &Worker,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if !worker.has_room() {
        return worker.on_new_stack(|| fork(worker, a, b));
    }
    let job = StackJob::new(b);
    // SAFETY: below, it is taken back or waited for, whatever `a` does.
    #[allow(unsafe_code)]
    let offered = unsafe { job.job() };
    worker.push(offered);
    let a = catch_unwind(AssertUnwindSafe(a));
    let taken_back = worker.take_back(offered);
    let b = match (&a, taken_back) {
        (_, false) => {
            worker.wait(&job.latch);
            job.result()
        }
        // SAFETY: it was taken back.
        #[allow(unsafe_code)]
        (Ok(_), true) => Ok(unsafe { job.run() }),
        // As in a sequence: what comes after a panic does not happen.
        (Err(_), true) => Err(Box::new(()) as _),
    };
    match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(payload), _) | (_, Err(payload)) => resume_unwind(payload),
    }
}

/// The same in a run that is checked or recorded: two tasks in a `finish`.
#[cold]
fn monitored<A: Send, B: Send>(
    worker: &Worker,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
    at: crate::fiber::Caller,
) -> (A, B) {
    let finish = Finish::default();
    let outer = worker.begin_finish(&finish, at);
    let tasks = [(); 2].map(|()| worker.begin_task(&finish, Kind::Async, at));
    let results = catch_unwind(AssertUnwindSafe(|| {
        let [Some(mut first), Some(mut second)] = tasks else {
            unreachable!("a run that is monitored has tasks");
        };
        let end = |worker: &Worker, child: &_| {
            worker.end_task(child, &finish);
        };
        fork(
            worker,
            || {
                let worker = Worker::of("join");
                first.perform(worker, a, |child| end(worker, child))
            },
            || {
                let worker = Worker::of("join");
                second.perform(worker, b, |child| end(worker, child))
            },
        )
    }));
    worker.end_finish(&finish, outer, at);
    results.unwrap_or_else(|payload| resume_unwind(payload))
}
