//! `deadheat record`: a C or C++ program, written down while it runs.

use std::path::PathBuf;

use clap::Args;
use deadheat::RecordOptions;

use crate::output::{complain, warn_of};
use crate::program::Program;
use crate::search::watched;
use crate::status::Status;

/// Run a program built by `deadheat cc` or `deadheat c++`, and record its events as a trace
///
/// The trace is for `deadheat analyze`, `explain` and `stats`. The program has its terminal, its arguments and its
/// signals as if it ran alone; the trace is written when the program exits, even if it crashes. Exit status: the program's own, or 2 if it was not recorded.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace to write
    #[arg(long, short, value_name = "FILE.dht")]
    output: PathBuf,

    /// Stop recording after SIZE bytes of raw data (8 per access; the file is smaller). Suffixes K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = deadheat::size)]
    limit: u64,

    #[command(flatten)]
    program: Program,
}

const EXAMPLES: &str = "\
Examples:
  deadheat cc -O1 examples/native/lost-update.c -o lost-update
  deadheat record -o run.dht -- ./lost-update
  deadheat analyze run.dht";

/// Records the program; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    let options = RecordOptions {
        program: arguments.program.to_run(),
        output: arguments.output.clone(),
        limit: Some(arguments.limit),
    };
    let recording = watched(quiet, |watch| deadheat::record(&options, watch));
    let recording = recording.map_err(|error| error.to_string())?;
    for unchecked in &recording.unchecked {
        warn_of(deadheat::report::unchecked(unchecked));
    }
    if recording.left_behind() {
        warn_of("a child process is still running; it is no longer recorded");
    }
    for (path, recorded) in &recording.traces {
        let path = path.display();
        if recorded.full {
            warn_of(format_args!(
                "`{path}` ends before the program did: the recording ran out of room (--limit sets how much there is)"
            ));
        }
        if !quiet {
            let what = deadheat::report::recorded(recorded);
            let next = match recorded.events {
                0 => {
                    "events before the program starts a second thread are not recorded".to_string()
                }
                _ => format!("try `deadheat analyze {path}`"),
            };
            complain(&format!("{what} in `{path}`: {next}\n"));
        }
    }
    let is_unrecorded = recording.traces.is_empty() || !recording.unchecked.is_empty();
    let own = recording.status();
    Ok(arguments.program.status(is_unrecorded, own))
}
