//! Checking a recorded execution.
//!
//! An engine reads an [`Execution`](deadheat_model::Execution) and reports its races. There is one
//! so far: [`graph`](mod@graph), the yardstick for all others.

pub mod graph;
