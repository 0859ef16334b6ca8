//! `deadheat convert`: a trace in another format.

use std::path::PathBuf;

use clap::Args;
use deadheat::trace::{self, Format, TraceError};

use crate::files::{of_trace, open_trace};
use crate::output::complain_of;
use crate::progress::Progress;
use crate::status::Status;

/// Write a trace in another format
///
/// The formats are those of the names: .dht is deadheat's own, .std and .csv are RAPID's, with words of
/// our own for what RAPID does not have. No information is lost, whichever way; objects that share a
/// name get different ones in text. Exit status: 0 done, 2 bad input (OUT is then left as it was).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv; - reads standard input
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
pub fn run(arguments: &Arguments, quiet: bool) -> Status {
    match convert(arguments, quiet) {
        Ok(()) => Status::Clean,
        Err(failure) => {
            complain_of(failure);
            Status::Bad
        }
    }
}

fn convert(arguments: &Arguments, quiet: bool) -> Result<(), String> {
    // Told before a large input is opened.
    if Format::of_name(&arguments.output).is_none() {
        let path = arguments.output.clone();
        return Err(TraceError::UnknownFormat { path }.to_string());
    }
    let source = open_trace(&arguments.input, quiet)?;
    let progress = Progress::new();
    let converted = trace::convert(&source, &arguments.output, |done| {
        progress.show(deadheat::Step::Reading(done));
    });
    converted.map_err(|error| of_trace(&arguments.input, &error))
}
