//! For tests and benches only: random programs and traces, and the truth about them by brute force.
//!
//! - [`Trials`] says how many random things a test tries, and how to repeat one of them.
//! - [`programs`] writes `.tp` programs, makes failing ones small, and runs every schedule of one.
//! - [`openmp`] writes OpenMP programs in C, and knows which of their variables race.
//! - [`traces`] writes traces of threads, makes failing ones small, finds every predictable race of
//!   one, and has the partial orders straight from their definitions.
//! - [`direct_graph`] names the locations that race by comparing all nodes of a computation graph.
//! - [`parallel_replay`] runs an execution of tasks again under SPD3, on several threads at once.
//! - [`thesis`] is the analysis of netzer-thesis91 as it stands, on computation events.
//!
//! A test that compares something with the truth is a few lines:
//!
//! ```
//! use deadheat_testing::programs::on_small_programs;
//!
//! on_small_programs(1, |program| {
//!     let run = program.run(&deadheat_lang::Schedule::DepthFirst, 10_000).unwrap();
//!     let recorded = run.schedule().steps();
//!     (recorded != run.steps.len() as u64).then(|| format!("{recorded} steps recorded"))
//! });
//! ```

pub mod direct_graph;
pub mod openmp;
pub mod parallel_replay;
pub mod programs;
pub mod thesis;
pub mod traces;
mod trials;

pub use trials::{Trial, Trials};
