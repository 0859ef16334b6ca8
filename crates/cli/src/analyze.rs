//! `deadheat analyze`: which races does a recorded run show, or promise?

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use deadheat_explain::{NotATrace, Witnesses};
use deadheat_model::{Execution, Race, Witness};
use deadheat_offline::m2::decide::Budget;
use deadheat_offline::{Analysis, AnalysisError, Method, Promise, Recorded, Wanted};
use deadheat_report::{AboutTrace, AnalyzeReport, Comparison, Spelling};
use deadheat_trace::{Format, Source, TraceError};
use thiserror::Error;

use crate::files::{FileError, write_with};
use crate::output::{complain_of, print, print_json, warn_of, write_json};
use crate::progress::{is_long, progress_bar};

/// Find the races of a recorded run, and predict those of others
///
/// Reads a trace (.dht, or RAPID's .std or .csv) and tells which accesses race: in the recorded
/// schedule or, with m2 and dc, in another order of the same events, which is shown and has been
/// checked. Exit status: 0 no race, 1 a race, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv
    #[arg(value_name = "TRACE")]
    trace: PathBuf,

    /// What judges it, one or several: hb, fasttrack, shb, wcp, dc, m2, eraser, or all
    #[arg(long = "engine", value_name = "NAME,…", default_value = "m2")]
    engines: Engines,

    /// Which races are listed
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pairs: Pairs,

    /// Decide what m2 leaves open by exact search, within a budget
    #[arg(long)]
    complete: bool,

    /// Stop --complete after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    budget_time: Duration,

    /// How much memory --complete may take for each pair of places: bytes, or with K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size)]
    budget_memory: u64,

    /// Print the result as JSON, one object an engine; to FILE if given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,

    /// How many races are shown in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,
}

const EXAMPLES: &str = "\
Engines:
  hb, fasttrack  happens-before: the first race is real
  shb            schedulable happens-before: all races are real
  wcp            weak causal precedence: predicts; the first race, or a deadlock, is real
  dc             doesn't-commute: predicts; races with a witness are shown
  m2             predicts; every race has a witness, and with two threads none is missed
  eraser         variables without a common lock: fast, and often a false alarm

Examples:
  deadheat analyze examples/traces/m2-fig1b.std
  deadheat analyze --engine all examples/traces/m2-fig1b.std
  deadheat analyze --complete --budget-time 600 run.dht
  deadheat analyze --json=report.json run.dht; deadheat verify report.json run.dht";

/// The engines to be asked, in this order.
#[derive(Clone)]
struct Engines(Vec<Method>);

impl FromStr for Engines {
    type Err = String;

    fn from_str(text: &str) -> Result<Engines, String> {
        let mut methods = Vec::new();
        for name in text.split(',').map(str::trim) {
            let named = Method::ALL.into_iter().filter(|m| m.name() == name);
            let named: Vec<Method> = match name {
                "all" => Method::ALL.to_vec(),
                _ => named.collect(),
            };
            if named.is_empty() {
                let names = Method::ALL.map(Method::name).join(", ");
                return Err(format!(
                    "there is no engine `{name}`; there are {names}, and all"
                ));
            }
            let new = named.into_iter().filter(|m| !methods.contains(m));
            methods.extend(new.collect::<Vec<_>>());
        }
        Ok(Engines(methods))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pairs {
    /// One pair of events for each pair of places
    First,
    /// All pairs of events
    All,
}

/// A number of seconds: `60` or `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(seconds)) => Ok(seconds),
        _ => Err("expected a number of seconds, such as 60 or 0.5".to_string()),
    }
}

/// A number of bytes: `4096`, `512M`, `2G`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let bytes = unit.zip(digits.parse::<u64>().ok());
    let bytes = bytes.and_then(|(shift, number)| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a number of bytes, such as 4096, 512M or 2G".to_string())
}

/// Why a trace could not be judged.
#[derive(Debug, Error)]
enum Failure {
    #[error("{}", of_trace(path, error))]
    Trace { path: PathBuf, error: TraceError },
    #[error("`{}`: {error}", path.display())]
    Engine { path: PathBuf, error: AnalysisError },
    #[error("`{}`: the checker of witnesses does not accept the trace: {error}", path.display())]
    Unchecked { path: PathBuf, error: NotATrace },
    #[error(transparent)]
    File(#[from] FileError),
}

/// What is wrong with a trace, with the file's name if it is not in there.
pub fn of_trace(path: &Path, error: &TraceError) -> String {
    match error {
        TraceError::File { .. } | TraceError::UnknownFormat { .. } => error.to_string(),
        _ => format!("`{}`: {error}", path.display()),
    }
}

/// Opens a trace, and says so if some of it is lost.
pub fn open(path: &Path) -> Result<Source, TraceError> {
    let source = deadheat_trace::open(path)?;
    if let Some(damage) = source.damage() {
        warn_of(format_args!("`{}`: {damage}", path.display()));
    }
    Ok(source)
}

/// Reads all of a trace into memory.
pub fn read_all(source: &Source) -> Result<Execution, TraceError> {
    const LARGE: u64 = 50 << 20;
    let bar = progress_bar(0, "{spinner} reading the trace [{elapsed}]");
    if source.bytes() > LARGE {
        bar.enable_steady_tick(Duration::from_millis(100));
    }
    let trace = source.read_all();
    bar.finish_and_clear();
    trace
}

/// Asks the engines; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    match analyze(arguments, quiet) {
        Ok(status) => status,
        Err(failure) => {
            complain_of(failure);
            ExitCode::from(2)
        }
    }
}

fn analyze(arguments: &Arguments, quiet: bool) -> Result<ExitCode, Failure> {
    let path = &arguments.trace;
    let of_trace = |error| Failure::Trace {
        path: path.clone(),
        error,
    };
    let source = open(path).map_err(of_trace)?;
    let Engines(methods) = &arguments.engines;
    let in_memory = source.format() != Format::Dht || methods.iter().any(|m| m.needs_memory());
    let trace = match in_memory {
        true => Some(read_all(&source).map_err(of_trace)?),
        false => None,
    };
    let recorded = match &trace {
        Some(trace) => Recorded::InMemory(trace),
        None => Recorded::OnDisk(&source),
    };
    let events = match &trace {
        Some(trace) => trace.events.len() as u64,
        None => source.events().map_err(of_trace)?,
    };
    let about = AboutTrace {
        names: recorded.names().map_err(of_trace)?,
        events,
        spelling: None,
    };
    let checks = trace.as_ref().map(Checks::new);
    let mut reports = Vec::new();
    let mut failed = false;
    for &method in methods {
        let start = Instant::now();
        let mut analysis = match ask(method, recorded, arguments) {
            Ok(analysis) => analysis,
            // Too much for this engine may be enough for the next.
            Err(error @ (AnalysisError::TooLarge { .. } | AnalysisError::TooLong { .. })) => {
                let path = path.clone();
                complain_of(Failure::Engine { path, error });
                failed = true;
                continue;
            }
            Err(error) => {
                let path = path.clone();
                return Err(Failure::Engine { path, error });
            }
        };
        let mut about = about;
        if method.promise() == Promise::AllAreShown
            && !analysis.races.is_empty()
            && let Some(checks) = &checks
        {
            let shown = checks.keep_what_is_shown(method, &mut analysis);
            shown.map_err(|error| Failure::Unchecked {
                path: path.clone(),
                error,
            })?;
            about.spelling = Some(checks.spelling());
        }
        let seconds = start.elapsed().as_secs_f64();
        let searched = arguments.complete;
        reports.push(AnalyzeReport::new(
            method, about, analysis, searched, seconds,
        ));
    }
    let found = reports.iter().any(|report| !report.races.is_empty());
    let written = match &arguments.json {
        Some(Some(file)) => {
            write_with(file, |file| write_json(file, &reports))?;
            true
        }
        Some(None) => print_json(&reports),
        None if quiet => true,
        None => print(&text(&reports, path, arguments)),
    };
    Ok(match failed || !written {
        true => ExitCode::from(2),
        false => ExitCode::from(found as u8),
    })
}

fn text(reports: &[AnalyzeReport], path: &Path, arguments: &Arguments) -> String {
    let path = path.display().to_string();
    match reports {
        [] => String::new(),
        [report] => report.text(&path, arguments.max_shown),
        _ => Comparison::new(reports).text(&path),
    }
}

/// Asks one engine, with a progress bar if it takes long enough to want one.
fn ask(
    method: Method,
    recorded: Recorded,
    arguments: &Arguments,
) -> Result<Analysis, AnalysisError> {
    let budget = Budget {
        events: u64::MAX,
        until: Instant::now().checked_add(arguments.budget_time),
        bytes: arguments.budget_memory,
    };
    let wanted = Wanted {
        all_pairs: arguments.pairs == Pairs::All,
        complete: arguments.complete.then_some(budget),
    };
    let style = format!("{{spinner}} {}: {{percent}}% [{{elapsed}}]", method.name());
    let bar = progress_bar(0, &style);
    let analysis = method.analyze(recorded, wanted, &|done, all| {
        if is_long(&bar) {
            bar.set_length(all);
            bar.set_position(done);
        }
    });
    bar.finish_and_clear();
    analysis
}

/// What is between an engine's witnesses and the user: the checker, and their spelling. Both take the
/// trace in when they are first needed.
struct Checks<'t> {
    trace: &'t Execution,
    witnesses: OnceCell<Witnesses<'t>>,
    spelling: OnceCell<Spelling<'t>>,
}

impl<'t> Checks<'t> {
    fn new(trace: &'t Execution) -> Checks<'t> {
        Checks {
            trace,
            witnesses: OnceCell::new(),
            spelling: OnceCell::new(),
        }
    }

    fn spelling(&self) -> &Spelling<'t> {
        self.spelling.get_or_init(|| Spelling::new(self.trace))
    }

    fn witnesses(&self) -> Result<&Witnesses<'t>, NotATrace> {
        match self.witnesses.get() {
            Some(witnesses) => Ok(witnesses),
            None => {
                let witnesses = Witnesses::new(self.trace)?;
                Ok(self.witnesses.get_or_init(|| witnesses))
            }
        }
    }

    /// Only what has a witness that the checker accepts stays a race; the others become undecided.
    fn keep_what_is_shown(&self, method: Method, analysis: &mut Analysis) -> Result<(), NotATrace> {
        let witnesses = self.witnesses()?;
        let style = format!(
            "{{spinner}} {}: checking witnesses, {{human_pos}} of {{human_len}} [{{elapsed}}]",
            method.name()
        );
        let bar = progress_bar(analysis.races.len() as u64, &style);
        let mut unshown = Vec::new();
        let mut checked = 0;
        analysis.races.retain(|predicted| {
            checked += 1;
            if is_long(&bar) {
                bar.set_position(checked);
            }
            let race = &predicted.race;
            let accepted = match &predicted.witness {
                Some(witness) => accepts(witnesses, method, race, witness),
                None => false,
            };
            if !accepted {
                unshown.push(*race);
            }
            accepted
        });
        bar.finish_and_clear();
        if !unshown.is_empty() {
            analysis.complete = false;
            let racy = analysis.races.iter().map(|p| p.race.location);
            analysis.locations = racy.collect();
            analysis.locations.sort_unstable();
            analysis.locations.dedup();
            analysis.undecided.extend(unshown);
            let undecided = &mut analysis.undecided;
            undecided.sort_unstable_by_key(|race| (race.second.event, race.first.event));
        }
        Ok(())
    }
}

/// Whether the checker accepts a witness. That it does not is a bug, and said so.
fn accepts(witnesses: &Witnesses, method: Method, race: &Race, witness: &Witness) -> bool {
    let (first, second) = (race.first.event, race.second.event);
    let verdict = witnesses.verify_witness(first, second, witness);
    if let Err(refusal) = &verdict {
        complain_of(format_args!(
            "the witness that {} gives for events {first} and {second} is refused: {refusal}. \
             This is a bug in deadheat: please report it, with the trace",
            method.name()
        ));
    }
    verdict.is_ok()
}
