//! What deadheat says: findings to text and JSON.
//!
//! [`CheckReport`] is what `deadheat check` knows about a program; it serialises to the command's
//! JSON. [`Renderer`] turns it, and a program's [`Diagnostics`](deadheat_lang::Diagnostics), into
//! text with the source lines shown. [`Drawing`] is the picture of a run's computation graph.

mod check;
mod drawing;
mod guarantee;
mod text;

pub use check::{
    AccessReport, CheckReport, DeadlockReport, ErrorReport, ExploredRaceReport, ExploredReport,
    OrdersReport, RaceReport, Shown, WaitingReport,
};
pub use drawing::Drawing;
pub use text::Renderer;
