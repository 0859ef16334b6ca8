//! Traces of threads: random, written by hand, and small.
//!
//! [`random_trace`] makes one of a [`Shape`], [`trace`] reads one from a few words, [`shrink`] makes one
//! that shows a fault small; [`on_random_traces`] does all of this for a test. [`any_trace`] is not of
//! threads, nor of anything, for tests of formats. [`c`] makes programs of traces. The truth about a
//! trace is in [`predictable_races`], in [`possible_deadlocks`] and, for partial orders, in [`definitions`].

pub mod c;
mod deadlocks;
pub mod definitions;
mod hand;
mod nonsense;
mod random;
mod reorderings;
mod shrink;
mod synchronisation;

use deadheat_model::Execution;
use fastrand::Rng;

pub use deadlocks::{Stuck, possible_deadlocks};
pub use hand::{FIGURE_1A, FIGURE_1B, FIGURE_6, FIGURE_8, trace};
pub use nonsense::{any_op, any_trace};
pub use random::{Shape, random_trace};
pub use reorderings::predictable_races;
pub use shrink::shrink;
pub use synchronisation::synchronisation;

use crate::Trials;

/// Makes a trace for each trial and stops at the first that has a problem: makes it small and panics
/// with it.
pub fn on_random_traces(
    trials: &Trials,
    mut make: impl FnMut(&mut Rng) -> Execution,
    mut problem: impl FnMut(&Execution) -> Option<String>,
) {
    for trial in trials {
        let trace = make(&mut trial.rng());
        if problem(&trace).is_some() {
            let small = shrink(trace, |trace| problem(trace).is_some());
            let why = problem(&small).unwrap_or_default();
            panic!("{}{why}", small);
        }
    }
}
