//! What deadheat says: findings to text, JSON, SARIF and a page for browsers.
//!
//! [`CheckReport`] is what `deadheat check` knows about a program; it serialises to the command's
//! JSON. [`Renderer`] turns it, and a program's [`Diagnostics`](deadheat_lang::Diagnostics), into
//! text with the source lines shown. [`Drawing`] is the picture of a run's computation graph.
//! [`AnalyzeReport`] is what one engine of `deadheat analyze` says about a trace, [`Comparison`] what
//! several do; [`Spelling`] spells their witnesses, [`VerifyReport`] is what
//! `deadheat verify` says of them. [`RunReport`] is what `deadheat run` says about a C or C++ program,
//! [`PredictReport`] what `run --predict` does, [`Excerpts`] shows them in their source.
//!
//! Each report gives its findings as [`Entry`]s, of which [`sarif()`] and [`page()`] make files; a [`Filter`] leaves out
//! what a [`Baseline`] knows.

mod analyze;
mod analyze_guarantee;
mod analyze_text;
mod baseline;
mod check;
mod check_findings;
mod check_guarantee;
mod check_text;
mod compare;
mod drawing;
mod entries;
mod entry;
mod excerpt;
mod explain;
mod filter;
mod fingerprint;
mod json;
mod native;
mod native_text;
mod openmp;
mod page;
mod pair;
mod parallel;
mod predict;
mod remedy;
mod sarif;
mod sources;
mod stats;
mod style;
mod verify;

pub use deadheat_witness::Spelling;

pub use analyze::{AboutTrace, AnalyzeReport, MAX_SPELT, PredictedReport, WitnessReport};
pub use baseline::{Baseline, BaselineError};
pub use check::{
    AccessReport, CheckReport, DeadlockReport, ErrorReport, Example, ExploredRaceReport,
    ExploredReport, OrdersReport, RaceReport, WaitingReport,
};
pub use check_text::Renderer;
pub use compare::Comparison;
pub use drawing::Drawing;
pub use entries::{native_entries, predicted_entries};
pub use entry::{Call, Chapter, Entry, Rule, Side, Step};
pub use explain::{
    ExplainReport, ExplainedReport, GeneralReport, MAX_CHAIN, PartitionReport, RacePicture,
};
pub use filter::{Filter, LeftOut};
pub use json::{SCHEMA, json};
pub use native::{RunReport, identity, leave_out_known};
pub use native_text::{Excerpts, recorded};
pub use page::{Graph, Room, Story, page};
pub use pair::{AccessInTrace, PairReport, race_identity};
pub use predict::{PredictReport, PredictedRace, native_race};
pub use sarif::sarif;
pub use sources::Sources;
pub use stats::{
    DamageReport, HotLoc, HotVariable, SectionReport, StatsReport, Thread as StatsThread,
};
pub use style::{counted, cut, set_width, show_identities};
pub use verify::{VerifiedRace, VerifyReport};
