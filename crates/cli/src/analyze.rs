//! `deadheat analyze`: which races does a recorded run show, or promise?

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use deadheat::report::{AnalyzeReport, Comparison};
use deadheat::{
    Analysis, AnalyzeError, AnalyzeOptions, Budget, ENGINES, EngineChoice, Listing, engine_help,
};

use crate::files::{is_recording, of, of_event, of_trace, open_trace};
use crate::interrupt::SearchLimits;
use crate::output::{Delivery, complain_of, warn_of, warn_of_newer};
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::status::{FailOn, Status};

/// Find the races of a recorded run, and predict those of others
///
/// Reads a trace (.dht, or RAPID's .std or .csv), of threads or of tasks, and tells which accesses race:
/// in the recorded schedule or, with m2 and dc, in another order of the same events, which is shown and
/// has been checked. Ctrl-C and --timeout end the search; what was found is reported. Exit status: 0 nothing
/// found, 1 a race, 2 bad input, 130 interrupted before anything was found.
#[derive(Args)]
#[command(after_help = help())]
pub struct Arguments {
    /// The traces: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    /// What judges them, one engine or several, or all; the strongest that can judge the trace unless
    /// given
    #[arg(long = "engine", value_name = "NAME,…")]
    engines: Option<EngineChoice>,

    /// Which races are listed
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pairs: Pairs,

    /// Decide what m2 leaves open by exact search, within a budget
    #[arg(long)]
    complete: bool,

    /// Stop --complete after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = deadheat::seconds)]
    #[arg(requires = "complete")]
    budget_time: Duration,

    /// How much memory --complete may take for each pair of places: bytes, or with K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = deadheat::size)]
    #[arg(requires = "complete")]
    budget_memory: u64,

    /// How many races are shown in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,

    /// What makes the exit status 1
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "race"
    )]
    fail_on: Vec<FailOn>,

    /// Leave out events that could not have happened (a release without an acquire, what a thread does after it
    /// was joined), and say which
    #[arg(long)]
    repair: bool,

    #[command(flatten)]
    limits: SearchLimits,

    #[command(flatten)]
    delivery: Delivery,

    #[command(flatten)]
    outputs: Outputs,
}

fn help() -> String {
    format!(
        "Engines:\n{}\n\
         Examples:\n  \
         deadheat analyze examples/traces/m2-fig1b.std\n  \
         deadheat analyze --engine all examples/traces/m2-fig1b.std\n  \
         deadheat analyze --complete --budget-time 600 run.dht\n  \
         deadheat analyze --json=report.json run.dht; deadheat verify report.json run.dht",
        engine_help()
    )
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pairs {
    /// One pair of events for each pair of places
    First,
    /// All pairs of events
    All,
}

/// What of the options has no effect.
fn contradiction(arguments: &Arguments) -> Option<&'static str> {
    let searches = match &arguments.engines {
        Some(EngineChoice::These(engines)) => engines.iter().any(|engine| engine.name == "m2"),
        Some(EngineChoice::All) | None => true,
    };
    (arguments.complete && !searches).then_some("--complete goes with --engine m2")
}

/// Asks the engines about each trace; gives the worst status.
pub fn run(arguments: &Arguments, quiet: bool) -> Status {
    if let Some(contradiction) = contradiction(arguments) {
        complain_of(contradiction);
        return Status::Bad;
    }
    let filter = match arguments.outputs.filter() {
        Ok(filter) => filter,
        Err(failure) => {
            complain_of(failure);
            return Status::Bad;
        }
    };
    let mut status = Status::Clean;
    let mut analyses: Vec<(&PathBuf, Analysis)> = Vec::new();
    for path in &arguments.traces {
        match analyze(arguments, path, quiet) {
            Ok(mut analysis) => {
                let reports = analysis.reports.iter_mut();
                reports.for_each(|report| report.filter(&filter));
                status = status.max(verdict(arguments, &analysis));
                analyses.push((path, analysis));
            }
            Err(failure) => {
                complain_of(failure);
                status = Status::Bad;
            }
        }
    }
    let text = || {
        let texts = analyses.iter();
        texts
            .map(|(path, analysis)| text(analysis, path, arguments))
            .collect()
    };
    let reports = analyses.iter().flat_map(|(_, analysis)| &analysis.reports);
    let reports: Vec<&AnalyzeReport> = reports.collect();
    let delivery = &arguments.delivery;
    let delivered = delivery.deliver(quiet, "analyze", &reports, text);
    let recordings = analyses.iter().filter(|(path, _)| is_recording(path));
    recordings.for_each(|(path, analysis)| warn_of_newer(&analysis.sources, path));
    let chapters = |illustrated| {
        let analyses = analyses.iter();
        let chapters = analyses.map(|(path, analysis)| match illustrated {
            true => analysis.illustrated(&path.display().to_string()),
            false => analysis.chapter(&path.display().to_string()),
        });
        chapters.collect()
    };
    status.unless(arguments.outputs.write(chapters) && delivered)
}

/// What a trace's analysis does to the status. A suspicion is no race.
fn verdict(arguments: &Arguments, analysis: &Analysis) -> Status {
    let fails = |report: &AnalyzeReport| {
        let races = !report.races.is_empty() && (report.is_race() || analysis.reports.len() == 1);
        arguments.fail_on.iter().any(|what| match what {
            FailOn::Race => races,
            FailOn::Incomplete => report.is_race() && !report.complete,
            FailOn::Deadlock | FailOn::Error => false,
        })
    };
    let asked_by_name = matches!(arguments.engines, Some(EngineChoice::These(_)));
    let failed = analysis.reports.is_empty() || asked_by_name && !analysis.failures.is_empty();
    Status::found(analysis.reports.iter().any(fails)).unless(!failed)
}

fn text(analysis: &Analysis, path: &Path, arguments: &Arguments) -> String {
    let path = path.display().to_string();
    match &analysis.reports[..] {
        [] => String::new(),
        [report] => report.text(&path, &analysis.sources, arguments.max_shown),
        reports => Comparison::new(reports).text(&path),
    }
}

fn analyze(arguments: &Arguments, path: &Path, quiet: bool) -> Result<Analysis, String> {
    let source = open_trace(path, quiet)?;
    let stop = arguments.limits.token();
    let budget = Budget {
        events: u64::MAX,
        stop: stop.or_after(arguments.budget_time),
        bytes: arguments.budget_memory,
    };
    let options = AnalyzeOptions {
        engines: match &arguments.engines {
            None => Vec::new(),
            Some(EngineChoice::All) => ENGINES.to_vec(),
            Some(EngineChoice::These(engines)) => engines.clone(),
        },
        listing: match arguments.pairs {
            Pairs::First => Listing::Places,
            Pairs::All => Listing::Pairs,
        },
        complete: arguments.complete.then_some(budget),
        stop,
        repair: arguments.repair,
    };
    let progress = Progress::new();
    let analysis = deadheat::analyze(&source, &options, &|step| progress.show(step));
    drop(progress);
    let analysis = analysis.map_err(|error| match &error {
        AnalyzeError::Trace(error) => of_trace(path, error),
        _ => of_event(path, &source, error.event(), error),
    })?;
    if let Some(repair) = analysis.repair.as_ref().filter(|_| !quiet) {
        warn_of(of(path, repair));
    }
    // Of all engines, those that can order what the trace uses are meant.
    if !matches!(arguments.engines, Some(EngineChoice::All)) {
        let failures = analysis.failures.iter();
        failures.for_each(|failure| complain_of(of(path, failure)));
    }
    analysis.refused.iter().for_each(complain_of);
    Ok(analysis)
}
