//! `deadheat convert`: a trace in another format.

use std::path::PathBuf;

use clap::Args;
use deadheat::{ConvertOptions, complaint};

use crate::search::{REPAIR, open_trace, warn_of_loss, watched};
use crate::status::Status;

/// Write a trace in another format
///
/// The file's extension chooses the format: .dht is deadheat's own; .std and .csv are RAPID's, with more operations than RAPID has;
/// .table.csv is a table of events. .dht, .std and .table.csv keep all information, except that objects that share a name get different
/// names in text; .csv has neither source lines nor the names of threads. Exit status: 0 done, 2 bad input (OUT is then left as it was).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write: .dht, .std, .csv or .table.csv
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Write .std or .csv that RAPID's own readers accept: source lines are numbers, names are plain; operations that RAPID does not
    /// have are an error
    #[arg(long)]
    rapid: bool,

    #[arg(long, conflicts_with = "rapid", help = REPAIR)]
    repair: bool,
}

const EXAMPLES: &str = "\
Examples:
  deadheat convert run.std run.dht
  deadheat convert run.dht run.table.csv     # for a spreadsheet
  deadheat convert --rapid run.dht run.std   # for RAPID
  deadheat convert crashed.dht whole.dht     # the readable part of a truncated recording";

/// Converts.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let options = ConvertOptions {
        rapid: arguments.rapid,
        repair: arguments.repair,
    };
    // An error before a large input is opened.
    options.check(&arguments.output)?;
    let source = open_trace(&arguments.input, quiet)?;
    let converted = watched(quiet, |watch| {
        deadheat::convert(&source, &arguments.output, &options, watch)
    });
    let repair = converted.map_err(|error| complaint(&source, &error))?;
    warn_of_loss(&arguments.input, repair.filter(|_| !quiet));
    Ok(Status::Clean)
}
