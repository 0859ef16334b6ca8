//! What a run is to do.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::PathBuf;

use crate::error::Error;
use crate::report::Outcome;
use crate::run::Run;

/// What is checked while a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Check {
    /// Nothing.
    #[default]
    Off,
    /// Programs of `finish`, `spawn`, `join` and `par_for`: exact, in constant space a location.
    Spd3,
    /// Those with futures and promises as well: exact.
    Drdp,
}

impl Check {
    /// What `deadheat` calls the engine.
    pub fn name(self) -> &'static str {
        match self {
            Check::Off => "off",
            Check::Spd3 => "spd3",
            Check::Drdp => "drdp",
        }
    }
}

/// What a run is to do: how many workers, what is checked, what is recorded.
///
/// ```
/// use deadheat_task::{Check, Options, Shared, finish};
///
/// let outcome = Options::new().workers(2).check(Check::Drdp).run(|| {
///     let x = Shared::named("x", 0);
///     finish(|s| {
///         s.spawn(|| x.set(1));
///         s.spawn(|| x.set(2));
///     });
/// });
/// assert_eq!(outcome.report.races.len(), 1);
/// assert_eq!(outcome.report.races[0].variable, "x");
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) workers: Option<NonZeroUsize>,
    pub(crate) check: Check,
    pub(crate) record: Option<PathBuf>,
    pub(crate) keep: bool,
    pub(crate) stack_size: usize,
    pub(crate) guards_split: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            workers: None,
            check: Check::Off,
            record: None,
            keep: false,
            stack_size: 256 << 10,
            guards_split: false,
        }
    }
}

impl Options {
    /// As many workers as there are cores, nothing checked, nothing recorded.
    pub fn new() -> Options {
        Options::default()
    }

    /// How many threads run tasks. One goes depth first, like the program without its parallelism.
    pub fn workers(mut self, workers: usize) -> Options {
        self.workers = NonZeroUsize::new(workers);
        self
    }

    /// What is checked.
    pub fn check(mut self, check: Check) -> Options {
        self.check = check;
        self
    }

    /// Writes what happens to a `.dht` file, for `deadheat analyze` and `deadheat explain`. All of it is kept in memory until
    /// the end: 16 bytes for each access of an element.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Options {
        self.record = Some(path.into());
        self
    }

    /// Keeps what happens, as [`Report::execution`](crate::Report::execution).
    pub fn keep_execution(mut self) -> Options {
        self.keep = true;
        self
    }

    /// How many bytes of stack a task has, at least a quarter of which is its own. Unused stack costs no memory.
    pub fn stack_size(mut self, bytes: usize) -> Options {
        self.stack_size = bytes.clamp(16 << 10, 1 << 40);
        self
    }

    /// Guards stacks as on a kernel before 6.13, which allows fewer of them: to test that.
    #[doc(hidden)]
    pub fn guards_split(mut self) -> Options {
        self.guards_split = true;
        self
    }

    pub(crate) fn worker_count(&self) -> usize {
        let available = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.workers.unwrap_or_else(available).get().min(1 << 16)
    }

    /// Runs a program: `program` is the first task. Returns when it and all it has started have ended.
    pub fn run<R>(&self, program: impl FnOnce() -> R) -> Outcome<R> {
        Run::execute(self, program)
    }
}

/// Runs a program on all cores, unchecked, and gives what it gives. Panics if a task panics or nothing can run any more.
///
/// ```
/// let sum = deadheat_task::run(|| {
///     let (a, b) = deadheat_task::join(|| 1 + 2, || 3 + 4);
///     a + b
/// });
/// assert_eq!(sum, 10);
/// ```
pub fn run<R>(program: impl FnOnce() -> R) -> R {
    match Options::new().run(program).result {
        Ok(value) => value,
        Err(Error::Panicked { payload, .. }) => resume_unwind(payload),
        Err(error) => panic!("{error}"),
    }
}
