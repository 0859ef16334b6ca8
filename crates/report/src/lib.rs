//! What deadheat says: findings to text and JSON.
//!
//! [`CheckReport`] is what `deadheat check` knows about a program; it serialises to the command's
//! JSON. [`Renderer`] turns it, and a program's [`Diagnostics`](deadheat_lang::Diagnostics), into
//! text with the source lines shown. [`Drawing`] is the picture of a run's computation graph.
//! [`AnalyzeReport`] is what one engine of `deadheat analyze` says about a trace, [`Comparison`] what
//! several do; [`ExplainReport`] what `deadheat explain` says; [`Spelling`] spells their witnesses, [`VerifyReport`] is what
//! `deadheat verify` says of them.

mod analyze;
mod analyze_guarantee;
mod analyze_text;
mod check;
mod compare;
mod drawing;
mod explain;
mod guarantee;
mod spelling;
mod text;
mod verify;

pub use analyze::{
    AboutTrace, AccessInTrace, AnalyzeReport, MAX_SPELT, PairReport, PredictedReport, WitnessReport,
};
pub use analyze_text::cut;
pub use check::{
    AccessReport, CheckReport, DeadlockReport, ErrorReport, ExploredRaceReport, ExploredReport,
    OrdersReport, RaceReport, Shown, WaitingReport,
};
pub use compare::Comparison;
pub use drawing::Drawing;
pub use explain::{
    ExplainReport, ExplainedReport, GeneralReport, MAX_CHAIN, PartitionReport, RacePicture,
};
pub use spelling::Spelling;
pub use text::Renderer;
pub use verify::{VerifiedRace, VerifyReport};
