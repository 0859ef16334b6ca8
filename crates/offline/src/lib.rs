//! Checking a recorded execution.
//!
//! An [`Engine`] reads an [`Execution`](deadheat_model::Execution) and gives its [`Findings`](deadheat_model::Findings):
//! - [`graph`](mod@graph), the naive closure of the computation graph: the yardstick for all others;
//! - [`zipper`], for tasks with `isolated` sections;
//! - [`esp_bags`], a depth-first walk over `async` and `finish`;
//! - [`replay`], which feeds the execution to the engines of `online`: [`replay::spd3`] and
//!   [`replay::drdp`];
//! - [`threads`], the orders of threads (happens-before and the weaker ones), what compares accesses under an
//!   order, and Eraser;
//! - [`m2`], which predicts races;
//! - [`deadlocks`], which predicts deadlocks by the same means, and is no engine but comes with one.
//!
//! To add one is a file, and its line in [`ENGINES`]. [`ComputationGraph`] is what the naive engine, [`zipper`]
//! and drawings are built on.

mod by_strand;
pub mod computation_graph;
pub mod deadlocks;
pub mod engine;
pub mod esp_bags;
pub mod graph;
pub mod m2;
pub mod pairs;
mod recorded_order;
pub mod replay;
pub mod survey;
pub mod threads;
pub mod zipper;

pub use computation_graph::ComputationGraph;
pub use engine::{ENGINES, Engine, EngineError, Listing, Options, Progress, Worth};
pub use pairs::Node;
pub use survey::{Recording, Survey};
