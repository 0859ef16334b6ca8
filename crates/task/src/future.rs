//! `future`: a task with a result that others can wait for.

use std::cell::UnsafeCell;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use deadheat_order::Signal;

use crate::error::{Cancellation, cancel, place};
use crate::fiber::{Caller, On};
use crate::finish::launch_future;
use crate::job::Payload;
use crate::waiter::Event;
use crate::worker::Worker;

/// What a task will give; made by [`Scope::future`](crate::Scope::future) or [`future`].
///
/// Any number of tasks may wait for it, by [`get`](Future::get): lend it to them, or put it into an `Arc`. It is not `Clone`, so that
/// [`take`](Future::take) can move the value out.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::{finish, future};
///
/// let words = future(|| vec!["a", "few", "words"]);
/// finish(|s| {
///     s.spawn(|| assert_eq!(words.get().len(), 3));
///     s.spawn(|| assert_eq!(words.get()[0], "a"));
/// });
/// let words: Vec<&str> = words.take();
/// assert_eq!(words.concat(), "afewwords");
/// # });
/// ```
#[derive(Debug)]
pub struct Future<T> {
    cell: Arc<Cell<T>>,
}

#[derive(Debug)]
struct Cell<T> {
    event: Event,
    /// What the task gave and the end of it in the order of tasks; written once, before the event is raised. No value: it
    /// panicked.
    result: UnsafeCell<(Option<T>, Option<End>)>,
    made: Caller,
}

/// The end of a future's task, or the setting of a promise, in the order of tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// The run, by its monitor's number: in another, it means nothing.
    pub(crate) run: u64,
    pub(crate) signal: Signal,
    /// The number of the task.
    pub(crate) task: u32,
}

// SAFETY: the result is written by one task before the event is raised, and only shared afterwards.
#[allow(unsafe_code)]
unsafe impl<T: Send + Sync> Sync for Cell<T> {}

/// Where the task puts what it gives.
pub(crate) struct Outlet<T>(Arc<Cell<T>>);

impl<T> Outlet<T> {
    /// The task has ended; panics on if it has panicked.
    pub(crate) fn put(self, worker: &Worker, result: Result<T, Payload>, end: Option<End>) {
        let (value, panic) = match result {
            Ok(value) => (Some(value), None),
            Err(payload) => (None, Some(payload)),
        };
        // SAFETY: there is one outlet, which is used up, and nobody looks before the event is raised.
        #[allow(unsafe_code)]
        unsafe {
            *self.0.result.get() = (value, end);
        }
        let waiters = self.0.event.raise();
        drop(self);
        worker.wake_all(waiters);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }
}

impl<T: Send + Sync> Future<T> {
    pub(crate) fn pair(made: Caller) -> (Future<T>, Outlet<T>) {
        let cell = Arc::new(Cell {
            event: Event::default(),
            result: UnsafeCell::new((None, None)),
            made,
        });
        (Future { cell: cell.clone() }, Outlet(cell))
    }

    /// Waits for the task, and gives what it gave. If it has panicked, so does this.
    #[track_caller]
    pub fn get(&self) -> &T {
        let value = self.wait(Location::caller());
        match value {
            Some(value) => value,
            None => resume_unwind(Box::new(Cancellation(Some(format!(
                "the future made at {} panicked",
                place(self.cell.made)
            ))))),
        }
    }

    /// Waits for the task, and takes what it gave.
    #[track_caller]
    pub fn take(self) -> T {
        self.get();
        // The task has put its value and let go of it: this is the only one to have it, or will be in a moment.
        let mut cell = self.cell;
        loop {
            match Arc::try_unwrap(cell) {
                Ok(cell) => match cell.result.into_inner().0 {
                    Some(value) => return value,
                    None => unreachable!("`get` has seen a value"),
                },
                Err(shared) => cell = shared,
            }
            std::thread::yield_now();
        }
    }

    fn wait(&self, at: Caller) -> Option<&T> {
        let event = &self.cell.event;
        if !event.is_done() {
            let worker = Worker::of("get");
            while !event.is_done() {
                if worker.run.is_cancelled() {
                    cancel();
                }
                worker.suspend(On::Future(event, self.cell.made), Some(at));
            }
        }
        // SAFETY: the event is raised: the result stays as it is.
        #[allow(unsafe_code)]
        let (value, end) = unsafe { &*self.cell.result.get() };
        if let (Some(end), Some(worker)) = (end, Worker::current()) {
            worker.join(*end, at);
        }
        value.as_ref()
    }
}

/// Starts a task whose result can be waited for. No `finish` waits for it, only the end of the run.
///
/// ```
/// # deadheat_task::run(|| {
/// let answer = deadheat_task::future(|| 6 * 7);
/// assert_eq!(*answer.get(), 42);
/// # });
/// ```
#[track_caller]
pub fn future<T: Send + Sync + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Future<T> {
    let worker = Worker::of("future");
    // SAFETY: the closure borrows nothing, and the run waits for its outermost block.
    #[allow(unsafe_code)]
    unsafe {
        launch_future(worker, &worker.run.outermost, body, Location::caller())
    }
}
