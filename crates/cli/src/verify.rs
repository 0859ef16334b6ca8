//! `deadheat verify`: are the witnesses in a report true?

use std::path::PathBuf;

use clap::Args;
use deadheat::{MAX_REPORT_BYTES, VerifyError, complaint, named, read_text};

use crate::outputs::JsonOutput;
use crate::search::{REPAIR, Search, open_trace, watched};
use crate::status::{FailOn, Status};

/// Re-check every witness of a report, independently
///
/// Reads the JSON of `deadheat analyze`, and replays each witness against the trace, event by event. Trusts nothing in the report.
/// Exit status: 0 all witnesses are valid, 1 a witness is not, or a race has none or was not checked, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The JSON of `deadheat analyze`; - reads standard input
    #[arg(value_name = "REPORT.json")]
    report: PathBuf,

    /// The trace that was analyzed: .dht, .std or .csv
    #[arg(value_name = "TRACE")]
    trace: PathBuf,

    /// What makes the exit status 1
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        value_parser = FailOn::among(&FINDS),
        default_value = "refused,unproven,incomplete"
    )]
    fail_on: Vec<FailOn>,

    #[arg(long, help = REPAIR)]
    repair: bool,

    #[command(flatten)]
    search: Search,

    #[command(flatten)]
    json: JsonOutput,
}

/// What it can find.
const FINDS: [FailOn; 3] = [FailOn::Refused, FailOn::Unproven, FailOn::Incomplete];

const EXAMPLES: &str = "\
Examples:
  deadheat verify report.json run.dht
  deadheat analyze --json run.std | deadheat verify - run.std";

/// Checks a report; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let Arguments {
        report,
        trace,
        fail_on,
        repair,
        search,
        json,
    } = arguments;
    let text = read_text(report, MAX_REPORT_BYTES)?;
    let source = open_trace(trace, quiet)?;
    let stop = search.token();
    let verified = watched(quiet, |watch| {
        deadheat::verify(&text, &source, *repair, stop, watch)
    });
    let verified = verified.map_err(|error| match &error {
        VerifyError::Report(_) => named(report, error),
        _ => complaint(&source, &error),
    })?;
    let text = || verified.text(&report.display().to_string());
    let delivered = json.deliver(quiet, "verify", [&verified], text);
    let found = fail_on.iter().any(|what| match what {
        FailOn::Refused => verified.refused > 0,
        FailOn::Unproven => verified.without_witness > 0,
        FailOn::Incomplete => verified.not_checked > 0,
        _ => false,
    });
    Ok(Status::found(found).unless(delivered))
}
