//! `deadheat stats`: what is in a trace.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::complaint;
use deadheat::report::StatsReport;

use crate::output::complain_of;
use crate::outputs::JsonOutput;
use crate::search::{Search, open_trace, watched};
use crate::status::Status;

/// Count what is in a trace
///
/// Events by kind, threads, variables and locks; the busiest variables and source lines; the longest critical sections. Exit status: 0 done, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    #[command(flatten)]
    search: Search,

    #[command(flatten)]
    json: JsonOutput,
}

const EXAMPLES: &str = "\
Examples:
  deadheat stats run.dht
  deadheat stats --json run.std";

/// Counts what is in each trace.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let stats = |path: &PathBuf| stats(arguments, path, quiet).map_err(complain_of).ok();
    let reports: Vec<StatsReport> = arguments.traces.iter().filter_map(stats).collect();
    let text = || {
        let texts: Vec<String> = reports.iter().map(StatsReport::text).collect();
        texts.join("\n")
    };
    let delivered = arguments.json.deliver(quiet, "stats", &reports, text);
    Ok(Status::Clean.unless(delivered && reports.len() == arguments.traces.len()))
}

fn stats(arguments: &Arguments, path: &Path, quiet: bool) -> Result<StatsReport, String> {
    let source = open_trace(path, quiet)?;
    let stop = arguments.search.token();
    let report = watched(quiet, |watch| deadheat::stats(&source, stop, watch));
    report.map_err(|error| complaint(&source, &error))
}
