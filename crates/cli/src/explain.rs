//! `deadheat explain`: which races are real, which are echoes of others, which to fix first?

use std::path::PathBuf;

use clap::Args;
use deadheat::{ExplainOptions, PictureFormat, complaint, named};

use crate::output::{complain_of, written};
use crate::outputs::Outputs;
use crate::search::{REPAIR, Search, open_trace, warn_of_loss, watched};
use crate::status::{FailOn, Status};

/// Explain the races of a recorded run: which to fix first
///
/// Reads a trace (.dht, or RAPID's .std or .csv) of threads or tasks, and reports which of its races are real, which are only there
/// because of others, and which to fix first; and which accesses only chance has ordered. Exit status: 0 no race, 1 a race, 2 bad
/// input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,

    /// Leave out the races that m2 predicts in other orders of the same events
    #[arg(long)]
    no_predict: bool,

    /// Draw the events that lead to a race to FILE: .svg or .dot
    #[arg(long, value_name = "FILE", value_parser = PictureFormat::file)]
    picture: Option<PathBuf>,

    /// Which race --picture draws, by its number
    #[arg(long, value_name = "N", default_value_t = 1, requires = "picture")]
    race: usize,

    /// Show at most N of the races that are not first
    #[arg(long, value_name = "N", default_value_t = ExplainOptions::MAX_SHOWN)]
    max_shown: usize,

    /// What makes the exit status 1
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        value_parser = FailOn::among(&FINDS),
        default_value = "race"
    )]
    fail_on: Vec<FailOn>,

    #[arg(long, help = REPAIR)]
    repair: bool,

    #[command(flatten)]
    search: Search,

    #[command(flatten)]
    outputs: Outputs,
}

/// What it can find.
const FINDS: [FailOn; 2] = [FailOn::Race, FailOn::Incomplete];

const EXAMPLES: &str = "\
Examples:
  deadheat explain run.dht
  deadheat explain --picture race.svg --race 2 run.dht
  deadheat check --explain --schedule random:1 examples/netzer-queue.tp";

/// Explains a trace; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let (outputs, path) = (&arguments.outputs, &arguments.trace);
    outputs.check([path.as_path()])?;
    let filter = outputs.filter()?;
    let source = open_trace(path, quiet)?;
    let options = ExplainOptions {
        predict: !arguments.no_predict,
        stop: arguments.search.token(),
        repair: arguments.repair,
    };
    let explained = watched(quiet, |watch| deadheat::explain(&source, &options, watch));
    let mut explained = explained.map_err(|error| complaint(&source, &error))?;
    warn_of_loss(path, explained.repair.as_ref().filter(|_| !quiet));
    explained.report.filter(&filter);
    let verdict = std::slice::from_ref(&explained);
    let delivered = outputs.deliver(quiet, "explain", verdict, arguments.max_shown, &filter);
    let drawn = arguments.picture.as_ref().is_none_or(|file| {
        let picture = explained.picture(arguments.race, file);
        let picture = picture.map_err(|error| complain_of(named(path, error)));
        picture.is_ok_and(|picture| written(file, |file| file.write_all(picture.as_bytes())))
    });
    let found = arguments.fail_on.iter().any(|what| match what {
        FailOn::Race => explained.report.has_race(),
        FailOn::Incomplete => explained.report.is_incomplete(),
        _ => false,
    });
    Ok(Status::found(found).unless(delivered && drawn))
}
