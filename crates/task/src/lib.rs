//! Task-parallel Rust that can tell whether it is deterministic.
//!
//! [`run`] starts the workers. Inside, [`finish`] waits for what is [`spawn`](Scope::spawn)ed in it, [`join`] runs two closures and
//! gives both results, [`par_for`] a loop; a [`future`](Scope::future) is a task with a result, a [`Promise`] a value that one
//! task sets and others wait for, and [`isolated`] runs one block at a time. Data that tasks share lives in [`Shared`],
//! [`SharedSlice`] and [`SharedGrid`], which [`Check`]ed runs watch.
//!
//! ```
//! use deadheat_task::{Check, Options, SharedSlice, par_for};
//!
//! let outcome = Options::new().check(Check::Spd3).run(|| {
//!     let a = SharedSlice::named("a", vec![1u64; 100]);
//!     // Wrong: the task of i reads what that of i + 1 writes.
//!     par_for(0..99, |i| a.set(i, a.get(i + 1) + 1));
//! });
//! let race = &outcome.report.races[0];
//! assert!(race.variable.starts_with("a["));
//! assert!(!outcome.report.deterministic);
//! println!("{}", outcome.report);
//! ```
//!
//! Without a race, every run of the program on this input does the same, however its tasks are scheduled: one checked run proves it
//! for all, as long as tasks share data through this crate only. (What they do by other means, a `Mutex`, an atomic, a file,
//! is not seen. Rust itself makes sure that it is no undefined behaviour.)
//!
//! # How it works
//! A task that has to wait is suspended with its stack; its thread goes on with another. The rules of the scheduler are in `worker`,
//! what makes views of shared memory sound in `memory`, and the order of tasks in `monitor`. A task stays on the
//! thread that began it.
//!
//! Do not hold a lock of the standard library over anything that waits (`get`, `finish`, `join`): the thread may go on with a task that
//! wants the same lock, and then waits for itself.

#[cfg(not(loom))]
mod claims;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod fiber;
#[cfg(not(loom))]
mod finish;
#[cfg(not(loom))]
mod future;
#[cfg(not(loom))]
mod histories;
#[cfg(not(loom))]
mod isolated;
#[cfg(not(loom))]
mod job;
#[cfg(not(loom))]
mod join;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
mod monitor;
#[cfg(not(loom))]
mod options;
#[cfg(not(loom))]
mod par_for;
#[cfg(not(loom))]
mod promise;
#[cfg(not(loom))]
mod races;
#[cfg(not(loom))]
mod report;
#[cfg(not(loom))]
mod run;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod stack;
#[cfg(not(loom))]
mod stripes;
#[cfg(not(loom))]
mod variable;
#[cfg(not(loom))]
mod worker;

#[doc(hidden)]
pub mod indices;
#[doc(hidden)]
pub mod isolation;
#[doc(hidden)]
pub mod sleep;
mod sync;
#[doc(hidden)]
pub mod task_count;
#[doc(hidden)]
pub mod waiter;

#[cfg(not(loom))]
pub use crate::{
    error::{Error, WaitingTask},
    finish::{Scope, finish},
    future::{Future, future},
    isolated::isolated,
    join::join,
    options::{Check, Options, run},
    par_for::par_for,
    promise::{AlreadySet, Promise},
    report::{AccessReport, Outcome, RaceReport, Report},
    shared::{ReadBlock, ReadView, Shared, SharedGrid, SharedSlice, WriteBlock, WriteView},
};

/// The guide's programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tasks.md")]
struct Guide;
