//! `deadheat run --predict`: a C or C++ program is recorded; then its trace tells what happened and what could have.

use std::path::Path;

use deadheat_explain::{add_early_waking, add_racing_reads, remedy};
use deadheat_model::guarantee::Limit;
use deadheat_model::{Finding, StopToken};
use deadheat_native::{Recorded, Suppressions, Survey, temporary_directory};
use deadheat_offline::m2;
use deadheat_offline::threads::hb;
use deadheat_report::{Chapter, Filter, OtherOrders, RunReport, Sources};
use deadheat_trace::TraceError;
use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::illustration::illustrate;
use crate::{
    AnalyzeError, AnalyzeOptions, EngineChoice, RecordError, RecordOptions, Recording, RunOptions,
    Verdict, Watch, analyze, record,
};

/// Why nothing could be predicted.
#[derive(Debug, Error)]
pub enum PredictError {
    /// It could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There is no room for the recording.
    #[error(
        "no directory for the recording could be made: {0}; set TMPDIR to a directory that can be written to"
    )]
    Room(#[from] std::io::Error),
    /// Its trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Its trace cannot be judged.
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
}

/// A program that has run, and what it could have done.
pub struct Prediction {
    recording: Recording,
    program: String,
    /// The files that it is about.
    pub sources: Sources,
    /// What was found.
    pub report: RunReport,
    /// What restricts the verdict: recordings that are not whole.
    pub warnings: Vec<String>,
    /// The witnesses that the checker refused: bugs of deadheat.
    pub complaints: Vec<String>,
}

impl Prediction {
    /// The program's own exit status.
    pub fn status(&self) -> u8 {
        self.recording.status()
    }

    /// Whether there was or could have been a race.
    pub fn has_race(&self) -> bool {
        self.report.findings().next().is_some()
    }
}

impl Verdict for Prediction {
    type Report = RunReport;

    fn reports(&self) -> &[RunReport] {
        std::slice::from_ref(&self.report)
    }

    fn text(&self, most: usize) -> String {
        self.report.text(&self.sources, 0, most)
    }

    fn warning(&self) -> Option<String> {
        self.sources.newer_than(Path::new(&self.program))
    }

    fn chapter(&self) -> Chapter<'_> {
        let (program, report) = (self.program.clone(), &self.report);
        Chapter::new(
            program,
            report.findings(),
            vec![report.guarantee()],
            &self.sources,
        )
    }

    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        illustrate(&mut chapter, |_| None);
        chapter
    }
}

/// Records a program built by `deadheat cc` or `deadheat c++`, and tells what happened and what could have.
/// Signals belong to the program while it runs; `stop` is asked for when it has ended.
pub fn predict(
    options: &RunOptions,
    filter: &Filter,
    limit: u64,
    stop: impl FnOnce() -> StopToken,
    watch: Watch,
) -> Result<Prediction, PredictError> {
    let nothing = Suppressions::default();
    let suppressions = filter.suppressions.as_ref().unwrap_or(&nothing);
    let room = temporary_directory(&std::env::temp_dir())?;
    let recorded = RecordOptions {
        program: options.program.clone(),
        output: room.path().join("run.dht"),
        limit: Some(limit),
    };
    let recording = record(&recorded, watch)?;
    let stop = stop();
    let mut all_warnings = Vec::new();
    let mut complaints = Vec::new();
    let mut happened = Survey::default();
    happened.left_behind = recording.left_behind();
    happened.aborted = recording.aborted;
    happened.unchecked = recording.unchecked.clone();
    let mut others = OtherOrders {
        complete: true,
        ..OtherOrders::default()
    };
    let mut failure = None;
    let mut left_out = filter.start();
    // Findings that were reported, suppressed or known before.
    let mut seen = FxHashSet::default();
    let several = recording.traces.len() > 1;
    for (path, recorded) in &recording.traces {
        happened.processes += 1;
        happened.threads += recorded.threads;
        if recorded.full {
            happened.full =
                Some("--limit, a full disk below TMPDIR, or a limit on the size of files");
        }
        all_warnings.extend(warnings(recorded));
        let source = deadheat_trace::open(path)?;
        let asked = AnalyzeOptions {
            engines: EngineChoice::These(vec![&hb::ENGINE, &m2::ENGINE]),
            stop,
            no_deadlocks: true,
            ..AnalyzeOptions::default()
        };
        let analysis = match analyze(&source, &asked, watch) {
            // One thread that has done nothing of note.
            Err(AnalyzeError::Empty) => continue,
            analysis => analysis?,
        };
        complaints.extend(analysis.refused);
        let raced = analysis
            .reports
            .iter()
            .any(|report| report.engine == hb::ENGINE.name && !report.races.is_empty());
        for mut report in analysis.reports {
            let predicts = report.engine == m2::ENGINE.name;
            if predicts {
                add_conditions(&mut report.races, raced)?;
            }
            if predicts {
                others.undecided += report.undecided.len() as u64;
                others.complete &= report.complete;
            } else {
                // What happens-before has not come to may race in the run itself.
                let cut = report.stopped.clone();
                let cut =
                    cut.or((!report.all_listed).then(|| "there are too many pairs".to_string()));
                others.limits.extend(cut.map(Limit::NotAllJudged));
            }
            others.limits.extend(report.limits);
            for mut finding in report.races {
                if !seen.insert(finding.identity) {
                    continue;
                }
                complete(&mut finding, recorded);
                finding.process = several.then_some(recorded.process);
                if suppressions.cover(&finding) || recorded.suppressions.cover(&finding) {
                    happened.suppressed += 1;
                } else if !filter.knows(&finding, &mut left_out) {
                    let list = match predicts {
                        true => &mut others.findings,
                        false => &mut happened.findings,
                    };
                    list.push(finding);
                }
            }
        }
        failure = failure.or(analysis.failures.first().map(ToString::to_string));
    }
    happened.in_baseline = left_out.known;
    let others = failure.map_or(Ok(others), Err);
    Ok(Prediction {
        recording,
        program: options.program.path.to_string_lossy().into_owned(),
        sources: Sources::default(),
        report: RunReport::of_prediction(happened, others),
        warnings: all_warnings,
        complaints,
    })
}

/// Says of each prediction whether its order needs what a racing read saw, if anything raced, or a wait that ends early.
fn add_conditions(predictions: &mut [Finding], raced: bool) -> Result<(), AnalyzeError> {
    let proofs = || {
        predictions
            .iter()
            .filter_map(|finding| finding.proof.clone())
    };
    let Some(proof) = proofs().next() else {
        return Ok(());
    };
    let Some(order) = proof.reordering() else {
        return Ok(());
    };
    let (execution, sources) = (order.execution(), Sources::default());
    add_early_waking(execution, &sources, predictions);
    if raced {
        let added = add_racing_reads(execution, &sources, predictions);
        added.map_err(|error| AnalyzeError::Engine(error.into()))?;
    }
    Ok(())
}

/// Adds what is known of the run to a finding of its trace, and what then follows from it.
fn complete(finding: &mut Finding, recorded: &Recorded) {
    recorded.complete(finding);
    finding.remedy = remedy(finding);
}

/// What restricts what a recording says.
fn warnings(recorded: &Recorded) -> Vec<String> {
    let full = recorded.full.then_some(
        "the recording ends before the program did: there was no more room; --limit gives more",
    );
    let tasks = (recorded.tasks > 0).then_some(
        "what one thread of OpenMP runs of loops, sections and `single` is taken to be in that order here; \
         `deadheat run` without --predict tells it apart",
    );
    full.into_iter().chain(tasks).map(str::to_string).collect()
}
