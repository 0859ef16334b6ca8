//! `Promise`: a value that one task sets, once, and others wait for.

use std::panic::Location;
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use crate::error::{cancel, place};
use crate::fiber::{Caller, On};
use crate::future::End;
use crate::waiter::Event;
use crate::worker::Worker;

/// A value that is set once. Clones are the same promise.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::{Promise, finish};
///
/// let ready = Promise::new();
/// finish(|s| {
///     s.spawn(|| assert_eq!(*ready.get(), "bread"));
///     s.spawn(|| ready.set("bread"));
/// });
/// # });
/// ```
#[derive(Debug)]
pub struct Promise<T> {
    cell: Arc<Cell<T>>,
}

#[derive(Debug)]
struct Cell<T> {
    event: Event,
    setting: OnceLock<Setting<T>>,
    made: Caller,
    /// Its number in a recorded run.
    number: OnceLock<u64>,
}

#[derive(Debug)]
struct Setting<T> {
    value: T,
    end: Option<End>,
    at: Caller,
}

/// A promise was set before.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the promise made at {made} is set at {at}, but was set before at {before}")]
pub struct AlreadySet {
    /// Where the promise was made.
    pub made: String,
    /// Where it was set now.
    pub at: String,
    /// Where it was set first.
    pub before: String,
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Promise<T> {
        Promise {
            cell: self.cell.clone(),
        }
    }
}

impl<T: Send + Sync> Default for Promise<T> {
    #[track_caller]
    fn default() -> Promise<T> {
        Promise::new()
    }
}

impl<T: Send + Sync> Promise<T> {
    /// A promise that is not set.
    #[track_caller]
    pub fn new() -> Promise<T> {
        Promise {
            cell: Arc::new(Cell {
                event: Event::default(),
                setting: OnceLock::new(),
                made: Location::caller(),
                number: OnceLock::new(),
            }),
        }
    }

    /// Sets it. Panics if it was set before: [`Promise::try_set`] does not.
    #[track_caller]
    pub fn set(&self, value: T) {
        if let Err(error) = self.try_set(value) {
            panic!("{error}");
        }
    }

    /// Sets it, unless it was set before. A checked run in which that happens is not called deterministic.
    #[track_caller]
    pub fn try_set(&self, value: T) -> Result<(), AlreadySet> {
        let at = Location::caller();
        let worker = Worker::of("set");
        if self.cell.setting.get().is_none() {
            let end = worker.set(at, || self.number(worker));
            let setting = Setting { value, end, at };
            if self.cell.setting.set(setting).is_ok() {
                worker.wake_all(self.cell.event.raise());
                return Ok(());
            }
        }
        worker.note_set_twice();
        let before = self.cell.setting.get().map(|setting| place(setting.at));
        Err(AlreadySet {
            made: place(self.cell.made),
            at: place(at),
            before: before.unwrap_or_default(),
        })
    }

    /// Waits until it is set, and gives the value.
    #[track_caller]
    pub fn get(&self) -> &T {
        let at = Location::caller();
        let cell = &*self.cell;
        if !cell.event.is_done() {
            let worker = Worker::of("get");
            while !cell.event.is_done() {
                if worker.run.is_cancelled() {
                    cancel();
                }
                worker.suspend(On::Promise(&cell.event, cell.made), Some(at));
            }
        }
        let Some(setting) = cell.setting.get() else {
            unreachable!("a promise has a value when its event is raised");
        };
        if let (Some(end), Some(worker)) = (setting.end, Worker::current()) {
            worker.get(end, at, || self.number(worker));
        }
        &setting.value
    }

    fn number(&self, worker: &Worker) -> u64 {
        *self.cell.number.get_or_init(|| worker.new_promise())
    }
}
