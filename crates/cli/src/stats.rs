//! `deadheat stats`: what is in a trace.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::report::StatsReport;

use crate::files::{of_trace, open_trace};
use crate::interrupt::SearchLimits;
use crate::output::{Delivery, complain_of};
use crate::progress::Progress;
use crate::status::Status;

/// Tell what is in a trace
///
/// Events by kind, threads, variables and locks; the variables and the places in the source that most
/// events are about; the longest critical sections. Exit status: 0 done, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    #[command(flatten)]
    limits: SearchLimits,

    #[command(flatten)]
    delivery: Delivery,
}

const EXAMPLES: &str = "\
Examples:
  deadheat stats run.dht
  deadheat stats --json run.std";

/// Counts what is in each trace.
pub fn run(arguments: &Arguments, quiet: bool) -> Status {
    let mut status = Status::Clean;
    let mut reports = Vec::new();
    for path in &arguments.traces {
        match stats(arguments, path, quiet) {
            Ok(report) => reports.push(report),
            Err(failure) => {
                complain_of(failure);
                status = Status::Bad;
            }
        }
    }
    let text = || {
        let texts: Vec<String> = reports.iter().map(StatsReport::text).collect();
        texts.join("\n")
    };
    status.unless(arguments.delivery.deliver(quiet, "stats", &reports, text))
}

fn stats(arguments: &Arguments, path: &Path, quiet: bool) -> Result<StatsReport, String> {
    let source = open_trace(path, quiet)?;
    let progress = Progress::new();
    let name = path.display().to_string();
    let report = deadheat::stats(&name, &source, arguments.limits.token(), &|step| {
        progress.show(step);
    });
    report.map_err(|error| of_trace(path, &error))
}
