//! `deadheat convert`: a trace in another format.

use std::path::PathBuf;

use clap::Args;
use deadheat::Reading;
use deadheat::model::StopToken;
use deadheat::trace::text::TextFormat;
use deadheat::trace::{self, Format, TraceError};

use crate::files::{of, of_trace, open_trace};
use crate::output::warn_of;
use crate::progress::Progress;
use crate::status::Status;

/// Write a trace in another format
///
/// The formats are those of the names: .dht is deadheat's own, .std and .csv are RAPID's, with words of
/// our own for what RAPID does not have, .table.csv is a table of events. In .dht, .std and .table.csv no
/// information is lost, but that objects that share a name get different ones in text; .csv has neither
/// places in the source nor names of threads. Exit status: 0 done, 2 bad input (OUT is then left as it was).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv; - reads standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write: .dht, .std, .csv or .table.csv
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Write .std or .csv that RAPID's own readers accept: places are numbers, names are plain; what RAPID
    /// does not know is an error
    #[arg(long)]
    rapid: bool,

    /// Leave out events that could not have happened (a release without an acquire, what a thread does after it
    /// was joined), and say which
    #[arg(long, conflicts_with = "rapid")]
    repair: bool,
}

const EXAMPLES: &str = "\
Examples:
  deadheat convert run.std run.dht
  deadheat convert run.dht run.table.csv     # for a spreadsheet
  deadheat convert --rapid run.dht run.std   # for RAPID
  deadheat convert crashed.dht whole.dht     # what is left of a recording that broke off";

/// Converts.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    // Told before a large input is opened.
    match Format::of_name(&arguments.output) {
        None => {
            let path = arguments.output.clone();
            return Err(TraceError::UnknownFormat { path }.to_string());
        }
        Some(Format::Text(TextFormat::Std | TextFormat::Csv)) => {}
        Some(_) if arguments.rapid => {
            let path = arguments.output.display();
            return Err(format!(
                "--rapid writes .std and .csv files, and `{path}` is neither"
            ));
        }
        Some(_) => {}
    }
    let source = open_trace(&arguments.input, quiet)?;
    let progress = Progress::new();
    let show = |done| progress.show(deadheat::Step::Reading(done));
    if arguments.repair {
        let never = StopToken::default();
        let reading = deadheat::read(&source, true, never, &|step| progress.show(step));
        let reading = reading.map_err(|error| of_trace(&arguments.input, &error))?;
        let Reading { execution, repair } = reading.map_err(|why| why.to_string())?;
        trace::save(&arguments.output, &execution).map_err(|error| error.to_string())?;
        if let Some(repair) = repair.filter(|_| !quiet) {
            warn_of(of(&arguments.input, repair));
        }
        return Ok(Status::Clean);
    }
    let converted = match arguments.rapid {
        true => trace::convert_for_rapid(&source, &arguments.output, show),
        false => trace::convert(&source, &arguments.output, show),
    };
    converted.map_err(|error| of_trace(&arguments.input, &error))?;
    Ok(Status::Clean)
}
