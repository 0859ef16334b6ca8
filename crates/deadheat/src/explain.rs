//! `deadheat explain`: which races are real, which are echoes of others, which to fix first?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadheat_explain::general::{Certainty, GeneralRaces, general_races};
use deadheat_explain::{Bound, Explanation, JudgedRace, Judgement, Limits, add_circumstances};
use deadheat_model::finding::{Describer, Rule, Status};
use deadheat_model::guarantee::Limit;
use deadheat_model::{EventNumber, Execution, Finding, Findings, Race, StopReason, StopToken};
use deadheat_offline::threads::ImpossibleEvent;
use deadheat_offline::{Options, Recording, Survey, m2};
use deadheat_report::{Chapter, ExplainReport, GeneralReport, RacePicture, Sources};
use deadheat_trace::{Source, TraceError};
use deadheat_witness::{NotATrace, Spelling, Witnesses};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::analyze::MAX_CIRCUMSTANCES;
use crate::drawing::PictureFormat;
use crate::files::{TraceFailure, newer_sources};
use crate::illustration::{illustrate, race_of};
use crate::reading::{Reading, read};
use crate::{Step, Verdict, Watch};

/// What is asked of an explanation.
#[derive(Clone, Copy, Debug)]
pub struct ExplainOptions {
    /// Add the races that m2 predicts in other orders of the same events.
    pub predict: bool,
    /// Ends the search, not what was found.
    pub stop: StopToken,
    /// Leave out events that could not have happened.
    pub repair: bool,
}

impl ExplainOptions {
    /// How many races that are not first are shown unless told otherwise.
    pub const MAX_SHOWN: usize = 10;
}

impl Default for ExplainOptions {
    fn default() -> ExplainOptions {
        ExplainOptions {
            predict: true,
            stop: StopToken::default(),
            repair: false,
        }
    }
}

/// Why an execution could not be explained.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Nobody could have done it.
    #[error(transparent)]
    ImpossibleEvent(#[from] ImpossibleEvent),
    /// The checker of witnesses does not accept it.
    #[error(transparent)]
    Unchecked(#[from] NotATrace),
    /// There was no time to read it.
    #[error("stopped while the trace was read ({0}): nothing was explained")]
    Stopped(StopReason),
}

impl TraceFailure for ExplainError {
    fn unreadable(&self) -> Option<&TraceError> {
        match self {
            ExplainError::Trace(error) => Some(error),
            _ => None,
        }
    }

    fn event(&self) -> Option<EventNumber> {
        match self {
            ExplainError::ImpossibleEvent(event) => Some(event.number),
            ExplainError::Unchecked(refused) => Some(refused.event),
            ExplainError::Trace(_) | ExplainError::Stopped(_) => None,
        }
    }
}

/// An execution whose races are explained.
pub struct RaceExplanation {
    /// What was found.
    pub report: ExplainReport,
    /// What was left out of the trace, if something was: to be told.
    pub repair: Option<String>,
    /// The files that it is about.
    pub sources: Sources,
    trace: PathBuf,
    execution: Arc<Execution>,
    /// The report's races.
    races: Vec<Race>,
}

impl Verdict for RaceExplanation {
    type Report = ExplainReport;

    fn reports(&self) -> &[ExplainReport] {
        std::slice::from_ref(&self.report)
    }

    fn text(&self, most: usize) -> String {
        self.report.text(&self.title(), &self.sources, most)
    }

    fn warning(&self) -> Option<String> {
        newer_sources(&self.trace, &self.sources)
    }

    fn chapter(&self) -> Chapter<'_> {
        let guarantees = vec![self.report.guarantee()];
        Chapter::new(
            self.title(),
            self.report.findings(),
            guarantees,
            &self.sources,
        )
    }

    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        illustrate(&mut chapter, |finding| {
            Some((&*self.execution, race_of(&self.execution, finding)?))
        });
        chapter
    }
}

impl RaceExplanation {
    fn title(&self) -> String {
        self.trace.display().to_string()
    }

    /// The picture of what came before a race of the report, by its id, as a file of this name has it; or why there is none.
    pub fn picture(&self, id: usize, file: &Path) -> Result<String, String> {
        let format = PictureFormat::of_name(file)?;
        let race = id.checked_sub(1).and_then(|place| self.races.get(place));
        let Some(race) = race else {
            let count = self.report.races.len();
            return Err(format!("there is no race {id} to draw; it has {count}"));
        };
        let title = format!("{}: race {id}", self.title());
        let picture = RacePicture::new(&title, &self.execution, race);
        let picture = picture.map_err(|error| error.to_string())?;
        Ok(match format {
            PictureFormat::Svg => picture.svg(),
            PictureFormat::Dot => picture.dot(),
        })
    }
}

/// Explains the races of a trace.
pub fn explain(
    source: &Source,
    options: &ExplainOptions,
    watch: Watch,
) -> Result<RaceExplanation, ExplainError> {
    let reading = read(source, options.repair, options.stop, watch)?;
    let Reading { execution, repair } = reading.map_err(ExplainError::Stopped)?;
    let execution = Arc::new(execution);
    let mut explained = explain_execution(execution, Sources::default(), options, watch)?;
    explained.trace = source.name().to_path_buf();
    if let Some(repair) = repair {
        explained.report.limits.push(Limit::Remains(repair.clone()));
        explained.repair = Some(repair);
    }
    Ok(explained)
}

/// Explains the races of an execution whose places are in these files.
pub(crate) fn explain_execution(
    execution: Arc<Execution>,
    sources: Sources,
    options: &ExplainOptions,
    watch: Watch,
) -> Result<RaceExplanation, ExplainError> {
    let all = execution.events.len() as u64;
    watch(Step::Judging("explaining", 0, all));
    let limits = Limits {
        stop: options.stop,
        ..Limits::default()
    };
    let mut explanation = deadheat_explain::explain(&execution, &limits)?;
    let mut predicted = match options.predict {
        true => predicted(&execution, options.stop, &mut explanation, watch)?,
        false => Vec::new(),
    };
    let mut races: Vec<Race> = explanation.races.iter().map(|race| race.race).collect();
    let apparent: FxHashSet<_> = races.iter().map(Race::ends).collect();
    let others = predicted.iter().map(|shown| shown.race);
    races.extend(others.filter(|race| !apparent.contains(&race.ends())));
    let known = races.iter().map(Race::ends).collect();
    let mut general = general_races(&execution, &known, options.predict, options.stop)?;
    match general.stopped {
        Some(why) => explanation.stopped(why),
        None if !general.all_compared => explanation.bounds.push(Bound::GeneralRaces),
        None => {}
    }
    let concurrent = Findings {
        races: std::mem::take(&mut general.concurrent),
        ..Findings::default()
    };
    let concurrent = checked(&execution, concurrent, options.stop, &mut explanation)?;
    races.extend(concurrent.iter().map(|shown| shown.race));
    predicted.extend(concurrent);
    let report = report(&execution, &explanation, predicted, &general, &sources);
    Ok(RaceExplanation {
        report,
        repair: None,
        sources,
        trace: PathBuf::new(),
        execution,
        races,
    })
}

/// Everything that is known, in the execution's names. A reordering that was checked settles what dependences leave open.
fn report(
    execution: &Arc<Execution>,
    explanation: &Explanation,
    predicted: Vec<JudgedRace>,
    general: &GeneralRaces,
    sources: &Sources,
) -> ExplainReport {
    let spelling = (!predicted.is_empty()).then(|| Arc::new(Spelling::new(execution.clone())));
    let spelling = spelling.as_ref();
    let mut describer = Describer::new(&execution.names, sources);
    let places: FxHashMap<_, usize> = (0..)
        .zip(&explanation.races)
        .map(|(place, race)| (race.race.ends(), place))
        .collect();
    let mut apparent: Vec<Finding> = explanation
        .races
        .iter()
        .map(|race| {
            let (rule, status) = match race.status {
                deadheat_explain::Status::Actual => (Rule::Race, Status::Actual),
                deadheat_explain::Status::Feasible => (Rule::Race, Status::Feasible),
                deadheat_explain::Status::Tangled => (Rule::Suspect, Status::Tangled),
            };
            let mut finding = describer.finding(rule, "explain", &race.race);
            finding.status = Some(status);
            finding
        })
        .collect();
    let mut others = Vec::new();
    for race in predicted {
        let known = places.get(&race.race.ends());
        let is_settled = race.witness.is_some();
        let mut finding = race.finding(Rule::PredictedRace, "explain", &mut describer, spelling);
        finding.status = Some(Status::Predicted);
        match known.map(|&place| &mut apparent[place]) {
            Some(known) if known.status == Some(Status::Tangled) && is_settled => {
                finding.count = known.count;
                *known = finding;
            }
            Some(_) => {}
            None => others.push(finding),
        }
    }
    let general = general.races.iter().map(|general| GeneralReport {
        finding: describer.finding(Rule::Race, "explain", &general.race),
        certain: general.certainty == Certainty::Certain,
        apart: general.apart,
    });
    let general = general.collect();
    let shown = apparent.iter_mut().chain(&mut others);
    add_circumstances(execution, sources, shown.take(MAX_CIRCUMSTANCES));
    let trace = (
        execution.events.len() as u64,
        execution.names.strands.len() as u64,
    );
    // A program's text says which reads decide; most traces do not.
    let knows_reads = !execution.names.positions.is_empty();
    ExplainReport::new(explanation, trace, knows_reads, apparent, others, general)
}

/// The races that m2 predicts, each with a witness that the checker has accepted. An execution that is
/// too much for m2 has none.
fn predicted(
    execution: &Execution,
    stop: StopToken,
    explanation: &mut Explanation,
    watch: Watch,
) -> Result<Vec<JudgedRace>, NotATrace> {
    let judging = |done, all| watch(Step::Judging(m2::ENGINE.name, done, all));
    let survey = Survey::new(Recording::InMemory(execution), &judging, stop);
    let findings = survey.and_then(|mut survey| m2::ENGINE.judge(&mut survey, &Options::default()));
    if let Ok(Some(why)) = findings.as_ref().map(|findings| findings.stopped) {
        explanation.stopped(why);
    }
    match findings {
        Ok(findings) => checked(execution, findings, stop, explanation),
        Err(_) => Ok(Vec::new()),
    }
}

/// The races whose witness the checker accepts.
fn checked(
    execution: &Execution,
    findings: Findings,
    stop: StopToken,
    explanation: &mut Explanation,
) -> Result<Vec<JudgedRace>, NotATrace> {
    if findings.races.is_empty() {
        return Ok(Vec::new());
    }
    let witnesses = Witnesses::new(execution)?;
    let judged = Judgement::proven(findings, &witnesses, stop.grace(), |_| {});
    if let Some(why) = judged.rest.stopped {
        explanation.stopped(why);
    }
    Ok(judged.races)
}
