//! deadheat as a library: one call a command.
//!
//! [`check()`] judges a `.tp` program, [`analyze()`] a recorded execution by one engine or several,
//! [`explain()`] tells which of an execution's races to fix first, [`verify()`] checks the witnesses of a report again, [`stats()`] tells what is in a
//! trace, [`run()`] checks a C or C++ program while it runs and [`record()`] writes down what it
//! does, and [`predict()`] tells what it could have done. Each gives a
//! report that serialises to the command's JSON and renders as its text; what has findings is a [`Verdict`], which
//! becomes SARIF and a page, too. [`Step`]s tell how far a long call has got, [`SearchLimits`] end one early.
//! [`open_trace`] and [`check_file`] take files; what is wrong with one is told with what to do.
//!
//! ```
//! use deadheat::{CheckOptions, check};
//!
//! let source = "shared x; proc main() { async { x = 1; } x = 2; }";
//! let checked = check("lost.tp", source, &CheckOptions::default(), &|_| {})?;
//! assert_eq!(checked.report.racy_locations, ["x"]);
//! # Ok::<(), deadheat::CheckError>(())
//! ```
//!
//! ```
//! use deadheat::{AnalyzeOptions, analyze, trace};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run.std");
//! std::fs::write(&path, "T1|w(x)|a.c:1\nT2|w(x)|a.c:2\n")?;
//! let analysis = analyze(&trace::open(&path)?, &AnalyzeOptions::default(), &|_| {})?;
//! let race = &analysis.reports[0].races[0];
//! assert!(race.proof.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analyze;
mod check;
mod choices;
mod convert;
mod drawing;
mod engines;
mod explain;
mod files;
mod illustration;
mod limits;
mod memory;
mod mistaken;
mod predict;
mod reading;
mod record;
mod run;
mod stats;
mod verify;

use report::Chapter;
use serde::Serialize;

pub use analyze::{Analysis, AnalyzeError, AnalyzeOptions, analyze};
pub use check::{Check, CheckError, CheckOptions, check, check_file};
pub use choices::{EngineChoice, ScheduleChoice, engine_named, seconds, size};
pub use convert::{ConvertOptions, convert};
pub use deadheat_lang as lang;
pub use deadheat_model as model;
pub use deadheat_native as native;
pub use deadheat_offline::m2::decide::Budget;
pub use deadheat_offline::{ENGINES, Engine, Listing};
pub use deadheat_report as report;
pub use deadheat_trace as trace;
pub use drawing::{CannotDraw, PictureFormat};
pub use engines::{engine_help, engine_table};
pub use explain::{ExplainError, ExplainOptions, RaceExplanation, explain};
pub use files::{TraceFailure, complaint, named, open_trace, read_filter, read_text};
pub use limits::{SearchLimits, interrupt, interrupted};
pub use memory::no_crash_without_memory;
pub use predict::{PredictError, Prediction, predict};
pub use record::{RecordError, RecordOptions, Recording, record};
pub use run::{ProgramRun, RunError, RunOptions, run};
pub use stats::stats;
pub use verify::{MAX_REPORT_BYTES, VerifyError, verify};

/// What a command has to say of one program or trace, in every form.
pub trait Verdict {
    /// What becomes JSON.
    type Report: Serialize;

    /// The reports, one object of JSON each.
    fn reports(&self) -> &[Self::Report];

    /// The reports as text, `most` findings of a kind with the source shown. Styled: whoever prints it strips the colours
    /// where they do not belong.
    fn text(&self, most: usize) -> String;

    /// That sources have changed since the program ran, so that other lines may be shown.
    fn warning(&self) -> Option<String> {
        None
    }

    /// The findings, for SARIF.
    fn chapter(&self) -> Chapter<'_>;

    /// The findings with what a page shows of each.
    fn illustrated(&self) -> Chapter<'_>;
}

/// How far a long call has got.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step<'s> {
    /// A trace is being read; so much is done, from 0 to 1.
    Reading(f64),
    /// A trace is being made of what was recorded; so much is done, from 0 to 1.
    Making(f64),
    /// An engine is at work: done and all.
    Judging(&'static str, u64, u64),
    /// Witnesses of an engine are being checked: done and all.
    Checking(&'static str, u64, u64),
    /// Schedules are being explored: states visited and at most, steps deep.
    Exploring(u64, u64, u64),
    /// Orders of sections are being visited: visited and at most, to be tried.
    Ordering(u64, u64, u64),
    /// A search that goes on has found this.
    Found(&'s str),
}

/// Told how far a call has got.
pub type Watch<'a> = &'a (dyn Fn(Step<'_>) + Sync);
