//! What deadheat says: findings to text and JSON.
//!
//! [`CheckReport`] is what `deadheat check` knows about a program; it serialises to the command's
//! JSON. [`Renderer`] turns it, and a program's [`Diagnostics`](deadheat_lang::Diagnostics), into
//! text with the source lines shown. [`Drawing`] is the picture of a run's computation graph.
//! [`AnalyzeReport`] is what one engine of `deadheat analyze` says about a trace, [`Comparison`] what
//! several do; [`Spelling`] spells their witnesses, [`VerifyReport`] is what
//! `deadheat verify` says of them. [`RunReport`] is what `deadheat run` says about a C or C++ program,
//! [`PredictReport`] what `run --predict` does, [`Excerpts`] shows them in their source.

mod analyze;
mod analyze_guarantee;
mod analyze_text;
mod check;
mod check_guarantee;
mod check_text;
mod compare;
mod drawing;
mod explain;
mod native;
mod native_text;
mod openmp;
mod predict;
mod spelling;
mod stats;
mod style;

mod verify;

pub use analyze::{
    AboutTrace, AccessInTrace, AnalyzeReport, MAX_SPELT, PairReport, PredictedReport, WitnessReport,
};
pub use check::{
    AccessReport, CheckReport, DeadlockReport, ErrorReport, ExploredRaceReport, ExploredReport,
    OrdersReport, RaceReport, Shown, WaitingReport,
};
pub use check_text::{MAX_SHOWN, Renderer};
pub use compare::Comparison;
pub use drawing::Drawing;
pub use explain::{
    ExplainReport, ExplainedReport, GeneralReport, MAX_CHAIN, PartitionReport, RacePicture,
};
pub use native::RunReport;
pub use native_text::Excerpts;
pub use predict::{PredictReport, PredictedRace, native_race};
pub use spelling::Spelling;
pub use stats::{
    DamageReport, HotLoc, HotVariable, SectionReport, StatsReport, Thread as StatsThread,
};
pub use style::{counted, cut};
pub use verify::{VerifiedRace, VerifyReport};
