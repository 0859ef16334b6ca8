//! `deadheat analyze`: which races and deadlocks does a recorded run show, or promise?

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use deadheat::report::Filter;
use deadheat::{
    Analysis, AnalyzeOptions, Budget, EngineChoice, Listing, complaint, engine_help, named,
};

use crate::output::complain_of;
use crate::outputs::Outputs;
use crate::search::{REPAIR, Search, open_trace, warn_of_loss, watched};
use crate::status::{FailOn, Status};

/// Find the races of a recorded run, and predict races and deadlocks of others
///
/// Reads a trace (.dht, or RAPID's .std or .csv) of threads or tasks, and reports which accesses race: in the recorded schedule
/// or, with m2 and dc, in another order of the same events, which is shown and verified. With m2, also which threads can wait
/// for each other's locks forever, each deadlock with a verified order. Ctrl-C and --timeout stop the search;
/// what was found so far is still reported. Exit status: 0 nothing found, 1 a race or a deadlock, 2 bad input, 130 interrupted before anything was
/// found.
#[derive(Args)]
#[command(after_help = help())]
pub struct Arguments {
    /// The traces: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    /// Engines to run: one, several, or `all` [default: the strongest that supports the trace]
    #[arg(long = "engine", value_name = "NAME,…")]
    engines: Option<EngineChoice>,

    /// Which races to list
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pairs: Pairs,

    /// Decide the pairs that m2 leaves open by exact search, within a budget
    #[arg(long)]
    complete: bool,

    /// Stop --complete after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = deadheat::seconds)]
    #[arg(requires = "complete")]
    budget_time: Duration,

    /// Memory that --complete may use for each pair of source lines. Suffixes K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = deadheat::size)]
    #[arg(requires = "complete")]
    budget_memory: u64,

    /// Show at most N races in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,

    /// What makes the exit status 1
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        value_parser = FailOn::among(&FINDS),
        default_value = "race,deadlock"
    )]
    fail_on: Vec<FailOn>,

    /// Predict no deadlocks, only races
    #[arg(long)]
    no_deadlocks: bool,

    #[arg(long, help = REPAIR)]
    repair: bool,

    #[command(flatten)]
    search: Search,

    #[command(flatten)]
    outputs: Outputs,
}

/// What it can find.
const FINDS: [FailOn; 3] = [FailOn::Race, FailOn::Deadlock, FailOn::Incomplete];

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
    /// One pair of events for each pair of source lines
    First,
    /// All pairs of events
    All,
}

/// Asks the engines about each trace; gives the worst status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let engines = arguments.engines.as_ref();
    let may_be_m2 = engines.is_none_or(|engines| engines.may_be("m2"));
    if arguments.complete && !may_be_m2 {
        return Err("--complete needs --engine m2".to_string());
    }
    let outputs = &arguments.outputs;
    outputs.check(arguments.traces.iter().map(PathBuf::as_path))?;
    let filter = outputs.filter()?;
    let analyze = |path: &PathBuf| {
        let analysis = analyze(arguments, path, &filter, quiet);
        analysis.map_err(complain_of).ok()
    };
    let analyses: Vec<Analysis> = arguments.traces.iter().filter_map(analyze).collect();
    let delivered = outputs.deliver(quiet, "analyze", &analyses, arguments.max_shown, &filter);
    let verdicts = analyses.iter().map(|analysis| verdict(arguments, analysis));
    let verdict = verdicts.max().unwrap_or(Status::Clean);
    let all = analyses.len() == arguments.traces.len();
    Ok(verdict.unless(delivered && all))
}

/// What a trace's analysis does to the status.
fn verdict(arguments: &Arguments, analysis: &Analysis) -> Status {
    let found = arguments.fail_on.iter().any(|what| match what {
        FailOn::Race => analysis.has_race(),
        FailOn::Deadlock => analysis.has_deadlock(),
        FailOn::Incomplete => analysis.is_incomplete(),
        _ => false,
    });
    Status::found(found).unless(!analysis.reports.is_empty() && analysis.failures.is_empty())
}

fn analyze(
    arguments: &Arguments,
    path: &Path,
    filter: &Filter,
    quiet: bool,
) -> Result<Analysis, String> {
    let source = open_trace(path, quiet)?;
    let stop = arguments.search.token();
    let budget = Budget {
        events: u64::MAX,
        stop: stop.or_after(arguments.budget_time),
        bytes: arguments.budget_memory,
    };
    let options = AnalyzeOptions {
        engines: arguments.engines.clone().unwrap_or_default(),
        listing: match arguments.pairs {
            Pairs::First => Listing::Places,
            Pairs::All => Listing::Pairs,
        },
        complete: arguments.complete.then_some(budget),
        stop,
        repair: arguments.repair,
        no_deadlocks: arguments.no_deadlocks,
    };
    let analysis = watched(quiet, |watch| deadheat::analyze(&source, &options, watch));
    let mut analysis = analysis.map_err(|error| complaint(&source, &error))?;
    warn_of_loss(path, analysis.repair.as_ref().filter(|_| !quiet));
    let failures = analysis.failures.iter();
    failures.for_each(|failure| complain_of(named(path, failure)));
    analysis.refused.iter().for_each(complain_of);
    analysis.filter(filter);
    Ok(analysis)
}
