//! `deadheat convert`: a trace in another format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use deadheat_trace::{Format, TraceError};

use crate::output::{complain_of, warn_of};
use crate::progress::TraceProgress;

/// Write a trace in another format
///
/// The formats are those of the names: .dht is deadheat's own, .std and .csv are RAPID's, with words of
/// our own for what RAPID does not have. No information is lost, whichever way; objects that share a
/// name get different ones in text. Exit status: 0 done, 2 bad input (OUT is then left as it was).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write: .dht, .std or .csv
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  deadheat convert run.std run.dht
  deadheat convert run.dht run.csv
  deadheat convert crashed.dht whole.dht     # what is left of a recording that broke off";

/// Converts.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    // Told before a large input is opened.
    if Format::of_name(&arguments.output).is_none() {
        complain_of(TraceError::UnknownFormat {
            path: arguments.output.clone(),
        });
        return ExitCode::from(2);
    }
    match convert(&arguments.input, &arguments.output, quiet) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain_of(failure);
            ExitCode::from(2)
        }
    }
}

fn convert(input: &Path, output: &Path, quiet: bool) -> Result<(), String> {
    let source = deadheat_trace::open(input).map_err(|error| failure(input, &error))?;
    if let Some(damage) = source.damage()
        && !quiet
    {
        warn_of(format_args!("`{}`: {damage}", input.display()));
    }
    let progress = TraceProgress::new("converting");
    let converted = deadheat_trace::convert(&source, output, |done| progress.tell(done));
    converted.map_err(|error| failure(input, &error))
}

/// An error about a trace, with its file.
pub fn failure(path: &Path, error: &TraceError) -> String {
    match error {
        TraceError::File { .. } | TraceError::UnknownFormat { .. } => error.to_string(),
        error => format!("`{}`, {error}", path.display()),
    }
}
