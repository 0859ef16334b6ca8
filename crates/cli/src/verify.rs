//! `deadheat verify`: are the witnesses in a report true?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use deadheat_explain::{MAX_REPORT_BYTES, ReportError, verify_report};
use deadheat_report::VerifyReport;
use deadheat_trace::TraceError;
use thiserror::Error;

use crate::analyze::{of_trace, open, read_all};
use crate::files::{FileError, read, write_with};
use crate::output::{complain_of, print, print_json, write_json};

/// Re-check every witness of a report, independently
///
/// Reads what `deadheat analyze --json` printed, and does each witness's events one after the other
/// against the trace. Nothing of the report is believed. Exit status: 0 all witnesses are true, 1
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

    /// Print the result as JSON; to FILE if given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
}

const EXAMPLES: &str = "\
Examples:
  deadheat verify report.json run.dht
  deadheat analyze --json run.std | deadheat verify - run.std";

/// Why a report could not be checked.
#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}", of_trace(path, error))]
    Trace { path: PathBuf, error: TraceError },
    #[error("`{}`: {error}", path.display())]
    Report { path: PathBuf, error: ReportError },
}

/// Checks a report; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    match verify(arguments, quiet) {
        Ok(status) => status,
        Err(failure) => {
            complain_of(failure);
            ExitCode::from(2)
        }
    }
}

fn verify(arguments: &Arguments, quiet: bool) -> Result<ExitCode, Failure> {
    let report = read(&arguments.report, MAX_REPORT_BYTES)?;
    let trace = open(&arguments.trace).and_then(|source| read_all(&source));
    let trace = trace.map_err(|error| Failure::Trace {
        path: arguments.trace.clone(),
        error,
    })?;
    let verification = verify_report(&report, &trace).map_err(|error| Failure::Report {
        path: about(&error, arguments).into(),
        error,
    })?;
    let report = VerifyReport::new(&verification);
    let written = match &arguments.json {
        Some(Some(file)) => {
            write_with(file, |file| write_json(file, &[&report]))?;
            true
        }
        Some(None) => print_json(&[&report]),
        None if quiet => true,
        None => print(&report.text(&arguments.report.display().to_string())),
    };
    Ok(match written {
        true => ExitCode::from(!report.all_verified as u8),
        false => ExitCode::from(2),
    })
}

/// The file that an error is about.
fn about<'a>(error: &ReportError, arguments: &'a Arguments) -> &'a Path {
    match error {
        ReportError::NotATrace(_) => &arguments.trace,
        _ => &arguments.report,
    }
}
