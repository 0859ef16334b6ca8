//! `deadheat verify`: are the witnesses in a report true?

use std::path::PathBuf;

use clap::Args;
use deadheat::{MAX_REPORT_BYTES, VerifyError};

use crate::files::{of, of_event, of_trace, open_trace, read};
use crate::interrupt::SearchLimits;
use crate::output::Delivery;
use crate::progress::Progress;
use crate::status::Status;

/// Re-check every witness of a report, independently
///
/// Reads what `deadheat analyze --json` printed, and does each witness's events one after the other
/// against the trace. Nothing of the report is believed. Exit status: 0 all witnesses are valid, 1
/// some are not or a race has none, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What `deadheat analyze --json` printed; - reads standard input
    #[arg(value_name = "REPORT.json")]
    report: PathBuf,

    /// The trace it is about: .dht, .std or .csv
    #[arg(value_name = "TRACE")]
    trace: PathBuf,

    /// Leave out events that could not have happened (a release without an acquire, what a thread does after it
    /// was joined), and say which
    #[arg(long)]
    repair: bool,

    #[command(flatten)]
    limits: SearchLimits,

    #[command(flatten)]
    delivery: Delivery,
}

const EXAMPLES: &str = "\
Examples:
  deadheat verify report.json run.dht
  deadheat analyze --json run.std | deadheat verify - run.std";

/// Checks a report; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let report = read(&arguments.report, MAX_REPORT_BYTES)?;
    let source = open_trace(&arguments.trace, quiet)?;
    let progress = Progress::new();
    let stop = arguments.limits.token();
    let verified = deadheat::verify(&report, &source, arguments.repair, stop, &|step| {
        progress.show(step);
    });
    let report = verified.map_err(|error| match &error {
        VerifyError::Trace(error) => of_trace(&arguments.trace, error),
        VerifyError::Impossible(refused) => {
            of_event(&arguments.trace, &source, Some(refused.event), &error)
        }
        VerifyError::Stopped(_) => of(&arguments.trace, error),
        VerifyError::Report(_) => of(&arguments.report, error),
    })?;
    let text = || report.text(&arguments.report.display().to_string());
    let delivered = arguments
        .delivery
        .deliver(quiet, "verify", &[&report], text);
    Ok(Status::found(!report.all_verified).unless(delivered))
}
