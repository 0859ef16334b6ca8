//! `deadheat explain`: which races are real, which are echoes of others, which to fix first?

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use deadheat_explain::general::{GeneralRaces, general_races};
use deadheat_explain::{Explanation, Limits, NotATrace, Witnesses, explain};
use deadheat_model::{Execution, Finding, Race};
use deadheat_offline::threads::Malformed;
use deadheat_offline::{Method, Recorded, Wanted};
use deadheat_report::{ExplainReport, RacePicture, Spelling};
use deadheat_trace::TraceError;
use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::analyze::{of_trace, open, read_all};
use crate::files::{FileError, write, write_with};
use crate::output::{complain_of, print, print_json, write_json};
use crate::progress::progress_bar;

/// Explain the races of a recorded run: which to fix first
///
/// Reads a trace (.dht, or RAPID's .std or .csv) and tells which of its races are real, which are
/// only there because of others, and which to fix first; and what is ordered by chance alone. Exit
/// status: 0 no race, 1 a race, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv
    #[arg(value_name = "TRACE")]
    trace: PathBuf,

    /// Leave out the races that m2 predicts in other orders of the same events
    #[arg(long)]
    no_predict: bool,

    /// Draw what came before a race to FILE, a picture in SVG
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,

    /// The number of the race that --picture draws
    #[arg(long, value_name = "N", default_value_t = 1, requires = "picture")]
    race: usize,

    /// Print the result as JSON, one object; to FILE if given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,

    /// How many races that are not first are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_shown: usize,
}

const EXAMPLES: &str = "\
Examples:
  deadheat explain run.dht
  deadheat explain --picture race.svg --race 2 run.dht
  deadheat check --explain examples/netzer-fig2-1.tp";

/// Why a trace could not be explained.
#[derive(Debug, Error)]
enum Failure {
    #[error("{}", of_trace(path, error))]
    Trace { path: PathBuf, error: TraceError },
    #[error("`{}`: {error}", path.display())]
    Malformed { path: PathBuf, error: Malformed },
    #[error("`{}`: {error}", path.display())]
    NotATrace { path: PathBuf, error: NotATrace },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("there is no race {race} to draw: `{}` has {count}", path.display())]
    NoSuchRace {
        path: PathBuf,
        race: usize,
        count: usize,
    },
}

/// What is known about an execution's races, before it is put into words.
pub struct Facts {
    explanation: Explanation,
    predicted: Vec<Finding>,
    general: GeneralRaces,
}

impl Facts {
    /// Explains an execution that can have happened.
    pub fn new(execution: &Execution, predict: bool) -> Result<Facts, NotATrace> {
        let explanation = explain(execution, &Limits::default()).map_err(|error| NotATrace {
            event: error.number,
            line: error.strand,
            why: error.problem,
        })?;
        let ends = explanation.races.iter().map(|race| race.race.ends());
        let ends: FxHashSet<_> = ends.collect();
        let predicted = match predict {
            true => self::predicted(execution)?,
            false => Vec::new(),
        };
        let mut taken = ends;
        taken.extend(predicted.iter().map(|finding| finding.race.ends()));
        Ok(Facts {
            general: general_races(execution, &taken)?,
            explanation,
            predicted,
        })
    }

    /// The report on them.
    pub fn report<'t>(
        self,
        execution: &'t Execution,
        spelling: &'t Spelling<'t>,
    ) -> ExplainReport<'t> {
        let Facts {
            explanation,
            predicted,
            general,
        } = self;
        ExplainReport::new(execution, &explanation, predicted, &general, Some(spelling))
    }
}

/// The races that m2 predicts, each with a witness that the checker accepts. An execution that is too
/// much for it has none.
fn predicted(execution: &Execution) -> Result<Vec<Finding>, NotATrace> {
    let recorded = Recorded::InMemory(execution);
    let Ok(found) = Method::M2.analyze(recorded, Wanted::default(), &|_, _| {}) else {
        return Ok(Vec::new());
    };
    let checker = Witnesses::new(execution)?;
    let races = found.races.into_iter().filter(|predicted| {
        let (first, second) = (predicted.race.first.event, predicted.race.second.event);
        let witness = predicted.witness.as_ref();
        witness.is_some_and(|w| checker.verify_witness(first, second, w).is_ok())
    });
    let findings = races.map(|predicted| Finding {
        race: predicted.race,
        witness: predicted.witness,
    });
    Ok(findings.collect())
}

/// Explains a trace; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    match explained(arguments, quiet) {
        Ok(status) => status,
        Err(failure) => {
            complain_of(failure);
            ExitCode::from(2)
        }
    }
}

fn explained(arguments: &Arguments, quiet: bool) -> Result<ExitCode, Failure> {
    let path = &arguments.trace;
    let of_trace = |error| Failure::Trace {
        path: path.clone(),
        error,
    };
    let source = open(path).map_err(of_trace)?;
    let execution = read_all(&source).map_err(of_trace)?;
    deadheat_offline::threads::validate(&execution).map_err(|error| Failure::Malformed {
        path: path.clone(),
        error,
    })?;
    let bar = progress_bar(0, "{spinner} explaining [{elapsed}]");
    bar.enable_steady_tick(Duration::from_millis(100));
    let facts = Facts::new(&execution, !arguments.no_predict);
    bar.finish_and_clear();
    let facts = facts.map_err(|error| Failure::NotATrace {
        path: path.clone(),
        error,
    })?;
    if let Some(file) = &arguments.picture {
        write(file, &picture(&execution, &facts, arguments)?)?;
    }
    let spelling = Spelling::new(&execution);
    let report = facts.report(&execution, &spelling);
    let found = report.has_race();
    let written = match &arguments.json {
        Some(Some(file)) => {
            write_with(file, |file| write_json(file, &[&report]))?;
            true
        }
        Some(None) => print_json(&[&report]),
        None if quiet => true,
        None => print(&report.text(&shown(path), arguments.max_shown)),
    };
    Ok(match written {
        false => ExitCode::from(2),
        true => ExitCode::from(found as u8),
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn picture(execution: &Execution, facts: &Facts, arguments: &Arguments) -> Result<String, Failure> {
    let mut races: Vec<Race> = Vec::new();
    races.extend(facts.explanation.races.iter().map(|race| race.race));
    let apparent: FxHashSet<_> = races.iter().map(Race::ends).collect();
    let predicted = facts.predicted.iter().map(|finding| finding.race);
    races.extend(predicted.filter(|race| !apparent.contains(&race.ends())));
    let path = arguments.trace.clone();
    let place = arguments
        .race
        .checked_sub(1)
        .and_then(|place| races.get(place));
    let race = place.ok_or(Failure::NoSuchRace {
        path: path.clone(),
        race: arguments.race,
        count: races.len(),
    })?;
    let title = format!("{}: race {}", shown(&path), arguments.race);
    let picture = RacePicture::new(&title, execution, race);
    let picture = picture.map_err(|error| Failure::Malformed { path, error })?;
    Ok(picture.svg())
}
