//! `deadheat check`: is this `.tp` program safe?

use std::path::Path;
use std::sync::Arc;

use deadheat_explain::{Judgement, Replay};
use deadheat_explore::{
    DEFAULT_MAX_ORDERS, DEFAULT_MAX_STATES, Exploration, ExploreOptions, News, SectionOptions,
};
use deadheat_lang::syntax::MAX_SOURCE_BYTES;
use deadheat_lang::{
    CannotFollow, DEFAULT_MAX_STEPS, Ending, Program, RecordedSchedule, Run, Schedule,
};
use deadheat_model::finding::{Describer, Rule};
use deadheat_model::{Construct, Execution, Findings, Names, Race, SourcePosition, StopToken};
use deadheat_offline::threads::hb;
use deadheat_offline::{Engine, EngineError, zipper};
use deadheat_report::{Chapter, CheckReport, Sources};
use deadheat_witness::{NotATrace, Witnesses};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::choices::ScheduleChoice;
use crate::drawing::{PictureFormat, draw};
use crate::explain::{ExplainError, ExplainOptions, explain_execution};
use crate::files::{named, read_text};
use crate::illustration::illustrate;
use crate::memory;
use crate::mistaken::{Nature, hint};
use crate::{Step, Verdict, Watch};

/// How many schedules are run again for a page.
const MAX_REPLAYS: usize = 200;

/// What is asked of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// What judges the run; the first engine that fits unless given.
    pub engine: Option<&'static Engine>,
    /// Who takes the next step.
    pub schedule: Schedule,
    /// The most steps of the run.
    pub max_steps: u64,
    /// Visit every schedule, and at most so many states.
    pub explore: Option<u64>,
    /// Visit every order of isolated sections, and at most so many.
    pub all_orders: Option<u64>,
    /// Explain the run's races.
    pub explain: bool,
    /// Ends the run, what judges it and each search, not what was found.
    pub stop: StopToken,
}

impl CheckOptions {
    /// How many states are visited unless told otherwise.
    pub const MAX_STATES: u64 = DEFAULT_MAX_STATES;
    /// How many orders of sections are visited unless told otherwise.
    pub const MAX_ORDERS: u64 = DEFAULT_MAX_ORDERS;
    /// How many steps a run takes unless told otherwise.
    pub const MAX_STEPS: u64 = DEFAULT_MAX_STEPS;
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            engine: None,
            schedule: Schedule::DepthFirst,
            max_steps: DEFAULT_MAX_STEPS,
            explore: None,
            all_orders: None,
            explain: false,
            stop: StopToken::default(),
        }
    }
}

/// Why a program could not be judged.
#[derive(Debug, Error)]
pub enum CheckError {
    /// A file cannot be used; which, and why.
    #[error("{0}")]
    File(String),
    /// Its text is not a program; shown with the source.
    #[error("{0}")]
    NotAProgram(String),
    /// It cannot follow the schedule.
    #[error(transparent)]
    CannotFollow(#[from] CannotFollow),
    /// The engine does not know what a construct orders.
    #[error(
        "{}uses `{}`, which {engine} cannot order; {}",
        match at {
            Some(at) => format!("line {}, column {}, ", at.line, at.column),
            None => String::new(),
        },
        construct.word(),
        match all_orders {
            true => "--explore visits every schedule of any program".to_string(),
            false => format!("--engine {instead} can"),
        }
    )]
    CannotOrder {
        /// Where the run uses it, if it does.
        at: Option<SourcePosition>,
        /// What cannot be ordered.
        construct: Construct,
        /// The engine.
        engine: &'static str,
        /// The engine that orders all of the program's constructs.
        instead: &'static str,
        /// Whether every order of sections was asked for.
        all_orders: bool,
    },
    /// The engine cannot judge the run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The checker of witnesses does not accept the run.
    #[error("the checker of witnesses does not accept the run: {0}")]
    Unchecked(#[from] NotATrace),
}

/// A program that was checked.
pub struct Check {
    /// What was found.
    pub report: CheckReport,
    /// The program's text.
    pub sources: Sources,
    /// Why its races could not be explained, if that was asked for.
    pub unexplained: Option<ExplainError>,
    path: String,
    program: Program,
    run: Run,
    findings: Findings,
    /// The schedule of the first thing that another schedule does wrong, if the run does nothing wrong.
    finding: Option<RecordedSchedule>,
}

impl Check {
    /// The schedules that show races of other schedules, run again.
    fn replays(&self) -> Vec<(Execution, Findings)> {
        let proofs = self
            .report
            .findings()
            .filter_map(|finding| finding.proof.as_ref());
        let schedules = proofs.filter_map(|proof| proof.schedule());
        let replay = |lines: &[String]| {
            let schedule = lines.join("\n").parse().ok()?;
            let mut execution = self.program.follow(&schedule).ok()?.execution;
            name_places(&self.path, &mut execution);
            let findings = hb::ENGINE.check(&execution).ok()?;
            Some((execution, findings))
        };
        schedules.take(MAX_REPLAYS).filter_map(replay).collect()
    }

    /// A schedule that shows the first finding, for `--schedule trace:FILE`: the run's own, unless only another one
    /// does something wrong.
    pub fn schedule(&self) -> String {
        match &self.finding {
            Some(schedule) => schedule.to_string(),
            None => self.run.schedule().to_string(),
        }
    }

    /// The run, to be saved as a trace.
    pub fn execution(&self) -> &Execution {
        &self.run.execution
    }

    /// The picture of the computation graph under the same schedule, its races marked, as a file of this name
    /// has it.
    pub fn draw(&self, file: &Path) -> Result<String, String> {
        let format = PictureFormat::of_name(file)?;
        let Some(schedule) = &self.finding else {
            return self.drawn(&self.run.execution, &self.findings, format);
        };
        let run = self.program.follow(schedule);
        let mut execution = run.map_err(|error| error.to_string())?.execution;
        name_places(&self.path, &mut execution);
        let findings = hb::ENGINE.check(&execution);
        let findings = findings.map_err(|error| error.to_string())?;
        self.drawn(&execution, &findings, format)
    }

    fn drawn(
        &self,
        execution: &Execution,
        findings: &Findings,
        format: PictureFormat,
    ) -> Result<String, String> {
        let races = findings.races.iter().map(|finding| finding.race);
        let races: Vec<Race> = races.collect();
        let drawn = draw(&self.path, execution, &races, format);
        drawn.map_err(|error| error.to_string())
    }
}

impl Verdict for Check {
    type Report = CheckReport;

    fn reports(&self) -> &[CheckReport] {
        std::slice::from_ref(&self.report)
    }

    fn text(&self, most: usize) -> String {
        let text = self.report.text(&self.sources, most);
        match &self.report.explanation {
            None => text,
            Some(explanation) => {
                let most = ExplainOptions::MAX_SHOWN;
                let explanation = explanation.text(&self.path, &self.sources, most);
                format!("{text}\n{explanation}")
            }
        }
    }

    fn chapter(&self) -> Chapter<'_> {
        let guarantees = vec![self.report.guarantee()];
        let findings = self.report.findings();
        Chapter::new(self.path.clone(), findings, guarantees, &self.sources)
    }

    /// The run for its races, the schedule that shows them for others.
    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        let replays = self.replays();
        let own = std::iter::once((&self.run.execution, &self.findings));
        let others = replays.iter().map(|(execution, found)| (execution, found));
        let mut races = FxHashMap::default();
        for (execution, findings) in own.chain(others) {
            let mut describer = Describer::new(&execution.names, &self.sources);
            for found in &findings.races {
                let finding = describer.finding(Rule::Race, hb::ENGINE.name, &found.race);
                races
                    .entry(finding.identity)
                    .or_insert((execution, found.race));
            }
        }
        illustrate(&mut chapter, |finding| {
            races.get(&finding.identity).copied()
        });
        chapter
    }
}

/// Checks the program in a file, or on standard input; `schedule` is what `options` then have.
pub fn check_file(
    path: &Path,
    schedule: &ScheduleChoice,
    mut options: CheckOptions,
    watch: Watch,
) -> Result<Check, CheckError> {
    let not_tp = || hint(path, Nature::Tp).map(CheckError::File);
    let source = read_text(path, MAX_SOURCE_BYTES);
    let source = source.map_err(|error| not_tp().unwrap_or(CheckError::File(error)))?;
    options.schedule = schedule.read().map_err(CheckError::File)?;
    let name = path.display().to_string();
    check(&name, &source, &options, watch).map_err(|error| match &error {
        CheckError::NotAProgram(_) => not_tp().unwrap_or(error),
        CheckError::CannotFollow(why) => {
            let schedule = match schedule {
                ScheduleChoice::Trace(file) => file.display().to_string(),
                _ => name,
            };
            CheckError::File(format!("`{schedule}` cannot be followed: {why}"))
        }
        CheckError::CannotOrder { .. } => CheckError::File(format!("`{name}`, {error}")),
        CheckError::Engine(why) => CheckError::File(named(path, why)),
        CheckError::Unchecked(_) => CheckError::File(named(path, &error)),
        CheckError::File(_) => error,
    })
}

/// Checks a program, given the name of its file and its text.
pub fn check(
    path: &str,
    source: &str,
    options: &CheckOptions,
    watch: Watch,
) -> Result<Check, CheckError> {
    let program = Program::parse(source).map_err(|diagnostics| {
        CheckError::NotAProgram(deadheat_report::diagnostics(path, source, &diagnostics))
    })?;
    // The run leaves memory and time to judge it.
    let stop_run = options.stop.or_full(&memory::FULL_OF_RUN).first_part();
    let mut run = program.run_until(&options.schedule, options.max_steps, stop_run)?;
    name_places(path, &mut run.execution);
    let constructs = program.constructs();
    let engine = engine(constructs, &run.execution, options)?;
    // What was done until the run was stopped is judged all the same.
    let stop = match run.ending {
        Ending::Stopped(_) => options.stop.grace(),
        _ => options.stop,
    };
    let findings = engine.check_until(&run.execution, stop)?;
    let findings = match engine.worth.is_shown() {
        true => proven(&run.execution, findings, stop)?,
        false => findings,
    };
    let names = &run.execution.names;
    let orders = match options.all_orders {
        Some(most) => Some(visit_orders(&program, options, most, names, watch)?),
        None => None,
    };
    let exploration = options
        .explore
        .map(|most| explore(&program, options, most, names, watch));
    // Only what shows when it is run again is reported.
    let replayed = |exploration| Replay::new(&program, exploration, options.stop.grace());
    let orders = orders.as_ref().map(replayed);
    let exploration = exploration.as_ref().map(replayed);
    let (orders, exploration) = (orders.as_ref(), exploration.as_ref());
    let harmless = findings.races.is_empty() && run.ending == Ending::Finished;
    let searches = [orders, exploration].into_iter().flatten();
    let finding = match harmless {
        true => searches.filter_map(first_finding).next(),
        false => None,
    };
    let sources = Sources::with(path, source);
    let mut report = CheckReport::new(
        path,
        constructs,
        &run,
        engine,
        &findings,
        orders,
        exploration,
        &sources,
    );
    let mut unexplained = None;
    if options.explain {
        let execution = Arc::new(run.execution.clone());
        let how = ExplainOptions {
            stop: options.stop,
            ..ExplainOptions::default()
        };
        match explain_execution(execution, Sources::with(path, source), &how, watch) {
            Ok(explained) => report.explanation = Some(explained.report),
            Err(error) => unexplained = Some(error),
        }
    }
    Ok(Check {
        report,
        sources,
        unexplained,
        path: path.to_string(),
        program,
        run,
        findings,
        finding,
    })
}

/// What remains of a prediction once its witnesses are checked.
fn proven(
    execution: &Execution,
    findings: Findings,
    stop: StopToken,
) -> Result<Findings, CheckError> {
    let witnesses = Witnesses::new(execution)?;
    let judged = Judgement::proven(findings, &witnesses, stop.grace(), |_| {});
    let races = judged.races.into_iter().map(|shown| shown.race.into());
    Ok(Findings {
        races: races.collect(),
        ..judged.rest
    })
}

/// The schedule of the first thing that a search found: a race, or else a deadlock or an error.
fn first_finding(search: &Replay) -> Option<RecordedSchedule> {
    let races = search.races.iter().flat_map(|(_, proof)| proof);
    let race = races.map(|proof| proof.proof().clone()).next();
    let Exploration {
        deadlock, errors, ..
    } = search.exploration;
    let deadlock = || deadlock.as_ref().map(|example| example.schedule.clone());
    let error = || errors.first().map(|example| example.schedule.clone());
    race.or_else(deadlock).or_else(error)
}

/// Calls places by the file's name, as a trace does.
fn name_places(path: &str, execution: &mut Execution) {
    let names = &mut execution.names;
    let positions = names.positions.iter();
    let sites = positions.map(|at| format!("{path}:{}:{}", at.line, at.column));
    names.sites = sites.collect();
}

/// The engine that is asked for, if it can order what the program uses.
fn engine(
    constructs: &[Construct],
    execution: &Execution,
    options: &CheckOptions,
) -> Result<&'static Engine, CheckError> {
    let fitting = Engine::fitting(constructs);
    let all_orders = options.all_orders.is_some();
    let engine = match options.engine {
        Some(engine) => engine,
        None if all_orders => &zipper::ENGINE,
        None => fitting,
    };
    let Some(&construct) = constructs.iter().find(|&&c| !engine.orders(c)) else {
        return Ok(engine);
    };
    let mut events = execution.events.iter();
    let event = events.find(|event| event.op().construct() == Some(construct));
    Err(CheckError::CannotOrder {
        at: event.and_then(|event| execution.names.position(event.site())),
        construct,
        engine: engine.name,
        instead: fitting.name,
        all_orders,
    })
}

fn visit_orders(
    program: &Program,
    options: &CheckOptions,
    max_orders: u64,
    names: &Names,
    watch: Watch,
) -> Result<Exploration, EngineError> {
    let options = SectionOptions {
        max_steps: options.max_steps,
        max_orders,
        stop: options.stop,
    };
    deadheat_explore::explore_sections(program, &options, |progress| {
        watch(Step::Ordering(
            progress.visited,
            max_orders,
            progress.pending,
        ));
        tell(progress.news, names, watch);
    })
}

fn explore(
    program: &Program,
    options: &CheckOptions,
    max_states: u64,
    names: &Names,
    watch: Watch,
) -> Exploration {
    let options = ExploreOptions {
        max_states,
        stop: options.stop,
        ..ExploreOptions::default()
    };
    deadheat_explore::explore(program, &options, |progress| {
        watch(Step::Exploring(
            progress.states,
            max_states,
            progress.depth as u64,
        ));
        tell(progress.news, names, watch);
    })
}

/// Tells what a search has found before it is over.
fn tell(news: &[News], names: &Names, watch: Watch) {
    for found in news {
        let sentence = match found {
            News::Race { location, places } => {
                let [one, other] = places.map(|site| names.site(site));
                format!("race on {location}: {one} and {other}")
            }
            News::Deadlock(site) => format!("deadlock: {} waits for ever", names.site(*site)),
            News::Error(error) => format!("failure: {}: {}", names.site(error.site), error.kind),
        };
        watch(Step::Found(&sentence));
    }
}
