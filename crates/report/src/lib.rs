//! What deadheat says: findings to text, JSON, SARIF and a page for browsers.
//!
//! Each command has a report: [`CheckReport`], [`AnalyzeReport`], [`ExplainReport`], [`RunReport`], [`VerifyReport`],
//! [`StatsReport`]. A report holds its findings as [`Finding`](deadheat_model::Finding)s, serialises to the command's JSON
//! and renders as its text. A [`Chapter`] is what [`sarif()`] and [`page()`] make files of. A [`Filter`] leaves out what a
//! [`Baseline`] knows and what suppressions name. [`Drawing`] is the picture of a run's computation graph.
//!
//! There is a folder a format: `text`, `json`, `page` (and `sarif.rs`); all take their sentences from `words`.

mod analyze;
mod baseline;
mod chapter;
mod check;
mod drawing;
mod explain;
mod filter;
mod json;
mod page;
mod run;
mod sarif;
mod sources;
mod stats;
mod terminal;
mod text;
mod verify;
mod words;

pub use analyze::{AnalyzeReport, Described, PredictedDeadlocks};
pub use baseline::{Baseline, BaselineError};
pub use chapter::{Chapter, Entry};
pub use check::{CheckReport, ExploredReport, OrdersReport};
pub use drawing::Drawing;
pub use explain::{ExplainReport, GeneralReport, RacePicture, RaceReport};
pub use filter::{Filter, LeftOut};
pub use json::{SCHEMA, json};
pub use page::{Graph, Room, Story, page};
pub use run::{OtherOrders, RunReport, leave_out_known};
pub use sarif::sarif;
pub use sources::Sources;
pub use stats::{
    DamageReport, HotLoc, HotVariable, SectionReport, StatsReport, Thread as StatsThread,
};
pub use terminal::harmless_text;
pub use text::style::{counted, cut, set_width, show_identities};
pub use text::{Comparison, diagnostics, finding, recorded};
pub use verify::{VerifiedDeadlock, VerifiedRace, VerifyReport};
pub use words::{show_full_stacks, unchecked};
