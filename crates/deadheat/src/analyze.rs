//! `deadheat analyze`: which races and deadlocks does a recorded run show, or promise?

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use deadheat_explain::general::{add_behind_kept_orders, decide_deadlocks};
use deadheat_explain::{Circumstances, Judgement};
use deadheat_model::finding::{Describer, Rule, Status};
use deadheat_model::{
    Deadlocks, Event, EventNumber, Execution, Finding, Names, StopReason, StopToken,
};
use deadheat_offline::m2::decide::Budget;
use deadheat_offline::{
    ENGINES, Engine, EngineError, Listing, Options, Recording, Survey, Worth, deadlocks,
};
use deadheat_report::{
    AnalyzeReport, Chapter, Comparison, Described, Filter, PredictedDeadlocks, Sources,
};
use deadheat_trace::{Format, Source, TraceError};
use deadheat_witness::{NotATrace, Spelling, VerifiedReordering, Witnesses};
use thiserror::Error;

use crate::choices::EngineChoice;
use crate::files::{TraceFailure, newer_sources};
use crate::illustration::{illustrate, race_of};
use crate::reading::read;
use crate::{Step, Verdict, Watch};

/// How many racy variables are listed.
const MAX_VARIABLES: usize = 10_000;

/// Of how many races a report tells the locks held, who started whom, and what would help: as many as people may look at.
pub(crate) const MAX_CIRCUMSTANCES: usize = 10_000;

/// What is asked of an analysis.
#[derive(Clone, Default)]
pub struct AnalyzeOptions {
    /// The engines to be asked.
    pub engines: EngineChoice,
    /// How races are listed.
    pub listing: Listing,
    /// What a prediction leaves open is decided by exact search, within these bounds.
    pub complete: Option<Budget>,
    /// Ends the search, not what was found.
    pub stop: StopToken,
    /// Leave out events that could not have happened.
    pub repair: bool,
    /// Predict no deadlocks. Otherwise the engine that predicts races and leaves nothing out does.
    pub no_deadlocks: bool,
}

/// What the engines said.
pub struct Analysis {
    /// One report an engine.
    pub reports: Vec<AnalyzeReport>,
    /// Engines that could not judge the trace though they were asked by name, and why.
    pub failures: Vec<EngineError>,
    /// Witnesses that the checker refused: bugs of deadheat, to be told.
    pub refused: Vec<String>,
    /// What was left out of the trace, if something was: to be told.
    pub repair: Option<String>,
    /// The files that the trace's places are in.
    pub sources: Sources,
    trace: PathBuf,
    execution: Option<Arc<Execution>>,
}

/// Why a trace could not be judged.
#[derive(Debug, Error)]
pub enum AnalyzeError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Nothing follows from nothing.
    #[error("the trace has no events")]
    Empty,
    /// There was no time to read it.
    #[error("stopped while the trace was read ({0}): nothing was judged")]
    Stopped(StopReason),
    /// No engine can judge it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The checker of witnesses does not accept it.
    #[error("the checker of witnesses does not accept the trace: {0}")]
    Unchecked(#[from] NotATrace),
}

impl TraceFailure for AnalyzeError {
    fn unreadable(&self) -> Option<&TraceError> {
        match self {
            AnalyzeError::Trace(error) => Some(error),
            _ => None,
        }
    }

    fn event(&self) -> Option<EventNumber> {
        match self {
            AnalyzeError::Engine(EngineError::ImpossibleEvent(event)) => Some(event.number),
            AnalyzeError::Unchecked(refused) => Some(refused.event),
            _ => None,
        }
    }
}

impl Analysis {
    /// Leaves out what a baseline knows and what suppressions name.
    pub fn filter(&mut self, filter: &Filter) {
        let reports = self.reports.iter_mut();
        reports.for_each(|report| report.filter(filter));
    }

    /// Whether there is a race. A suspicion is none, unless nothing else was asked for.
    pub fn has_race(&self) -> bool {
        let alone = self.reports.len() == 1;
        let mut reports = self.reports.iter();
        reports.any(|report| !report.races.is_empty() && (report.is_race() || alone))
    }

    /// Whether there is a deadlock.
    pub fn has_deadlock(&self) -> bool {
        let mut deadlocks = self
            .reports
            .iter()
            .filter_map(|report| report.deadlocks.as_ref());
        deadlocks.any(|deadlocks| !deadlocks.found.is_empty())
    }

    /// Whether there may be more races, or deadlocks, than were found.
    pub fn is_incomplete(&self) -> bool {
        let mut reports = self.reports.iter();
        reports.any(|report| {
            let deadlocks = report.deadlocks.as_ref();
            let all = deadlocks.is_none_or(PredictedDeadlocks::are_all);
            report.is_race() && !(report.complete && all)
        })
    }

    fn title(&self) -> String {
        self.trace.display().to_string()
    }
}

impl Verdict for Analysis {
    type Report = AnalyzeReport;

    fn reports(&self) -> &[AnalyzeReport] {
        &self.reports
    }

    fn text(&self, most: usize) -> String {
        match &self.reports[..] {
            [] => String::new(),
            [report] => report.text(&self.title(), &self.sources, most),
            reports => {
                let deadlocks = reports
                    .iter()
                    .map(|report| report.deadlocks_text(&self.sources, most));
                deadlocks.collect::<String>() + &Comparison::new(reports).text(&self.title())
            }
        }
    }

    fn warning(&self) -> Option<String> {
        newer_sources(&self.trace, &self.sources)
    }

    /// One finding for each that several engines have.
    fn chapter(&self) -> Chapter<'_> {
        let findings = self.reports.iter().flat_map(AnalyzeReport::findings);
        let guarantees = self.reports.iter();
        let guarantees =
            guarantees.map(|report| format!("{}: {}", report.engine, report.guarantee()));
        Chapter::new(self.title(), findings, guarantees.collect(), &self.sources)
    }

    /// Without more, if the trace was not read into memory.
    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        if let Some(execution) = &self.execution {
            illustrate(&mut chapter, |finding| {
                Some((&**execution, race_of(execution, finding)?))
            });
        }
        chapter
    }
}

/// Asks engines about a trace. What only an engine cannot do does not end the analysis.
pub fn analyze(
    source: &Source,
    options: &AnalyzeOptions,
    watch: Watch,
) -> Result<Analysis, AnalyzeError> {
    let needs_memory = match &options.engines {
        EngineChoice::These(engines) => engines.iter().any(|engine| engine.in_memory),
        EngineChoice::Strongest | EngineChoice::All => true,
    };
    let in_memory = source.format() != Format::Dht || options.repair || needs_memory;
    let reading = match in_memory {
        true => {
            let reading = read(source, options.repair, options.stop, watch)?;
            Some(reading.map_err(AnalyzeError::Stopped)?)
        }
        false => None,
    };
    let (execution, repair) = match reading {
        Some(reading) => (Some(Arc::new(reading.execution)), reading.repair),
        None => (None, None),
    };
    let recording = match &execution {
        Some(execution) => Recording::InMemory(execution),
        None => Recording::OnDisk(source),
    };
    if is_empty(recording)? {
        return Err(AnalyzeError::Empty);
    }
    let mut analysis = judge(recording, execution.as_ref(), options, watch)?;
    analysis.trace = source.name().to_path_buf();
    if let Some(damage) = source.damage() {
        for report in &mut analysis.reports {
            report.leave_out(damage.to_string());
        }
    }
    if let Some(repair) = repair {
        for report in &mut analysis.reports {
            report.leave_out(repair.clone());
        }
        analysis.repair = Some(repair);
    }
    Ok(analysis)
}

fn is_empty(recording: Recording) -> Result<bool, TraceError> {
    match recording {
        Recording::InMemory(execution) => Ok(execution.events.is_empty()),
        Recording::OnDisk(source) => {
            let first = source.for_each(|window| match window.events {
                [] => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            });
            Ok(first?.is_continue())
        }
    }
}

fn judge(
    recording: Recording,
    execution: Option<&Arc<Execution>>,
    options: &AnalyzeOptions,
    watch: Watch,
) -> Result<Analysis, AnalyzeError> {
    let mut start = Instant::now();
    let current = Mutex::new("surveying");
    let judging = |done, all| {
        let name = current.lock().map_or("", |name| *name);
        watch(Step::Judging(name, done, all));
    };
    let mut survey = Survey::new(recording, &judging, options.stop)?;
    let surveyed = start.elapsed();
    let engines = match &options.engines {
        EngineChoice::Strongest => vec![Engine::strongest(&survey.constructs())],
        EngineChoice::All => ENGINES.to_vec(),
        EngineChoice::These(engines) => engines.clone(),
    };
    let asked = Options {
        listing: options.listing,
        complete: options.complete,
    };
    let mut analysis = Analysis {
        reports: Vec::new(),
        failures: Vec::new(),
        refused: Vec::new(),
        repair: None,
        sources: Sources::default(),
        trace: PathBuf::new(),
        execution: execution.cloned(),
    };
    let mut checker: Option<(Witnesses, Arc<Spelling>)> = None;
    for engine in engines {
        let name = engine.name;
        if let Ok(mut current) = current.lock() {
            *current = name;
        }
        start = Instant::now();
        let mut findings = match engine.judge(&mut survey, &asked) {
            Ok(findings) => findings,
            Err(error) if error.is_of_this_engine() => {
                // Of all engines, those that can order what the trace uses are meant.
                if !matches!(options.engines, EngineChoice::All) {
                    analysis.failures.push(error);
                }
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if engine.worth == Worth::AllAreDecided
            && options.listing == Listing::Places
            && findings.kept_orders
            && let Some(execution) = execution
        {
            add_behind_kept_orders(execution, &mut findings, options.stop)?;
        }
        let mut circles = match (engine.worth, execution) {
            (Worth::AllAreDecided, Some(execution)) if !options.no_deadlocks => {
                let mut circles = deadlocks::predict(&mut survey, &asked)?;
                let complete = options.complete.map(|budget| budget.stop);
                decide_deadlocks(execution, &mut circles, complete, options.stop)?;
                Some(circles)
            }
            _ => None,
        };
        let mut spelling = None;
        let judgement = match execution.filter(|_| engine.worth.is_shown()) {
            Some(execution)
                if !findings.races.is_empty()
                    || circles
                        .as_ref()
                        .is_some_and(|circles| !circles.found.is_empty()) =>
            {
                if checker.is_none() {
                    let spelling = Arc::new(Spelling::new(execution.clone()));
                    checker = Some((Witnesses::new(execution)?, spelling));
                }
                let Some((witnesses, known)) = &checker else {
                    continue;
                };
                spelling = Some(known);
                let all = findings.races.len() as u64;
                let each = |done| watch(Step::Checking(name, done, all));
                Judgement::proven(findings, witnesses, options.stop.grace(), each)
            }
            _ => Judgement::unproven(findings),
        };
        for (race, refusal) in &judgement.refused {
            analysis.refused.push(format!(
                "the witness that {name} gives for events {} and {} is refused: {refusal}. This is a \
                 bug in deadheat: please report it, with the trace",
                race.first.event, race.second.event
            ));
        }
        let circles = circles.as_mut().map(|circles| {
            let checker = checker.as_ref();
            let mut describer = Describer::new(survey.names, &analysis.sources);
            let stop = options.stop.grace();
            let (circles, refused) = proven(circles, name, checker, stop, &mut describer);
            analysis.refused.extend(refused);
            circles
        });
        let seconds = (surveyed + start.elapsed()).as_secs_f64();
        let searched = options.complete.is_some();
        let trace = (survey.count, survey.names.strands.len() as u64);
        let sources = &analysis.sources;
        let described = described(engine, judgement, survey.names, sources, spelling);
        let mut report = AnalyzeReport::new(engine, trace, described, searched, seconds);
        report.deadlocks = circles;
        analysis.reports.push(report);
    }
    // A stop that comes after everything was judged changes nothing of what is said.
    let is_cut = analysis
        .reports
        .iter()
        .any(|report| report.stopped.is_some());
    if !is_cut || options.stop.due().is_none() {
        add_circumstances(recording, survey.names, &mut analysis)?;
    }
    Ok(analysis)
}

/// The deadlocks whose orders the checker accepts, and the refusals, which are bugs. The others are undecided.
fn proven(
    circles: &mut Deadlocks,
    engine: &'static str,
    checker: Option<&(Witnesses, Arc<Spelling>)>,
    stop: StopToken,
    describer: &mut Describer<'_>,
) -> (PredictedDeadlocks, Vec<String>) {
    let mut refused = Vec::new();
    let mut proven = PredictedDeadlocks {
        all_listed: circles.all_listed,
        ..PredictedDeadlocks::default()
    };
    let mut late = None;
    for found in std::mem::take(&mut circles.found) {
        let mut finding = describer.deadlock(engine, &found.deadlock);
        late = late.or_else(|| stop.due());
        let Some((witnesses, spelling)) = checker.filter(|_| late.is_none()) else {
            proven.undecided.push(finding);
            continue;
        };
        let circle = found.deadlock.circle();
        match witnesses.accept_deadlock(&circle, found.witness) {
            Ok(witness) => {
                finding.status = Some(Status::Predicted);
                let proof = VerifiedReordering::new(witness, spelling.clone());
                finding.proof = Some(Arc::new(proof));
                proven.found.push(finding);
            }
            Err(refusal) => {
                proven.undecided.push(finding);
                refused.push(format!(
                    "the witness that {engine} gives for a deadlock of events {circle:?} is refused: {refusal}. This is \
                     a bug in deadheat: please report it, with the trace"
                ));
            }
        }
    }
    let undecided = circles.undecided.iter();
    proven
        .undecided
        .extend(undecided.map(|open| describer.deadlock(engine, &open.deadlock)));
    proven.stopped = circles.stopped.or(late).map(|why| why.to_string());
    (proven, refused)
}

/// Adds to the first races of each report what the events around them say, in one pass.
fn add_circumstances(
    recording: Recording,
    names: &Names,
    analysis: &mut Analysis,
) -> Result<(), TraceError> {
    let Analysis {
        reports, sources, ..
    } = analysis;
    let reports = reports.iter_mut();
    let races = reports.flat_map(|report| report.races.iter_mut().take(MAX_CIRCUMSTANCES));
    let mut circumstances = Circumstances::new(races);
    let mut follow = |events: &[Event]| {
        for event in events {
            if circumstances.are_known() {
                return ControlFlow::Break(());
            }
            circumstances.follow(event, names);
        }
        ControlFlow::Continue(())
    };
    match recording {
        Recording::InMemory(execution) => drop(follow(&execution.events)),
        Recording::OnDisk(source) => drop(source.for_each(|window| follow(window.events))?),
    }
    circumstances.finish(names, sources);
    Ok(())
}

/// What an engine said, in the trace's names.
fn described(
    engine: &Engine,
    judgement: Judgement,
    names: &Names,
    sources: &Sources,
    spelling: Option<&Arc<Spelling>>,
) -> Described {
    let mut describer = Describer::new(names, sources);
    let rule = engine.worth.rule();
    let races = judgement.races.into_iter();
    let races: Vec<Finding> = races
        .map(|race| race.finding(rule, engine.name, &mut describer, spelling))
        .collect();
    let undecided = judgement.rest.undecided.iter();
    let undecided = undecided
        .map(|race| describer.finding(Rule::Suspect, engine.name, race))
        .collect();
    let racy = judgement.rest.racy.iter().take(MAX_VARIABLES);
    Described {
        races,
        undecided,
        racy_variables: racy.map(|&x| names.location(x).into_owned()).collect(),
        rest: judgement.rest,
    }
}
