//! `deadheat explain`: which races are real, which are echoes of others, which to fix first?

use std::path::PathBuf;

use clap::Args;
use deadheat::{ExplainError, ExplainOptions, Explained};

use crate::files::{is_recording, of, of_event, of_trace, open_trace, write};
use crate::interrupt::SearchLimits;
use crate::output::{Delivery, complain_of, warn_of, warn_of_newer};
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::status::Status;

/// Explain the races of a recorded run: which to fix first
///
/// Reads a trace (.dht, or RAPID's .std or .csv), of threads or of tasks, and tells which of its races
/// are real, which are only there because of others, and which to fix first; and what is ordered by
/// chance alone. Exit status: 0 no race, 1 a race, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv; - reads standard input
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

    /// How many races that are not first are shown
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SHOWN)]
    max_shown: usize,

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

/// How many races that are not first are shown unless told otherwise.
pub const DEFAULT_SHOWN: usize = 10;

const EXAMPLES: &str = "\
Examples:
  deadheat explain run.dht
  deadheat explain --picture race.svg --race 2 run.dht
  deadheat check --explain --schedule random:1 examples/netzer-queue.tp";

/// Explains a trace; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Status {
    let filtered = arguments.outputs.filter().and_then(|filter| {
        let mut explained = explain(arguments, quiet)?;
        explained.report.filter(&filter);
        Ok(explained)
    });
    let explained = match filtered {
        Ok(explained) => explained,
        Err(failure) => {
            complain_of(failure);
            return Status::Bad;
        }
    };
    let report = &explained.report;
    let name = arguments.trace.display().to_string();
    let text = || report.text(&name, &explained.sources, arguments.max_shown);
    let delivered = arguments
        .delivery
        .deliver(quiet, "explain", &[report], text);
    if is_recording(&arguments.trace) {
        warn_of_newer(&explained.sources, &arguments.trace);
    }
    let written = arguments.outputs.write(|illustrated| match illustrated {
        true => vec![explained.illustrated(&name)],
        false => vec![explained.chapter(&name)],
    });
    let drawn = draw(arguments, &explained).map_err(complain_of).is_ok();
    Status::found(report.has_race()).unless(delivered && written && drawn)
}

fn explain(arguments: &Arguments, quiet: bool) -> Result<Explained, String> {
    let path = &arguments.trace;
    let source = open_trace(path, quiet)?;
    let options = ExplainOptions {
        predict: !arguments.no_predict,
        stop: arguments.limits.token(),
        repair: arguments.repair,
    };
    let progress = Progress::new();
    let explained = deadheat::explain(&source, &options, &|step| progress.show(step));
    if let Ok(Some(repair)) = explained.as_ref().map(|explained| &explained.repair)
        && !quiet
    {
        warn_of(of(path, repair));
    }
    explained.map_err(|error| match &error {
        ExplainError::Trace(error) => of_trace(path, error),
        _ => of_event(path, &source, error.event(), error),
    })
}

fn draw(arguments: &Arguments, explained: &Explained) -> Result<(), String> {
    let Some(file) = &arguments.picture else {
        return Ok(());
    };
    let (path, race) = (&arguments.trace, arguments.race);
    let title = format!("{}: race {race}", path.display());
    let picture = explained.picture(&title, race);
    let picture = picture.map_err(|error| of(path, error))?;
    let picture = picture.ok_or_else(|| {
        let count = explained.report.races.len();
        of(
            path,
            format_args!("there is no race {race} to draw; it has {count}"),
        )
    })?;
    write(file, &picture).map_err(|error| error.to_string())
}
