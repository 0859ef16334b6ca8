//! `deadheat record`: a C or C++ program, written down while it runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadheat::{RecordError, RecordOptions};

use crate::interrupt;
use crate::output::{complain, warn_of};
use crate::run::not_run;

/// Run a program built by `deadheat cc` or `deadheat c++`, and write what it does as a trace
///
/// The trace is for `deadheat analyze`, `explain` and `stats`. The program has its terminal, its arguments and its
/// signals as if it ran alone; the trace is written when it has ended, however that came. Exit status: the program's own.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace to write
    #[arg(long, short, value_name = "FILE.dht")]
    output: PathBuf,

    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,

    /// Record no more than so much on disk, before it becomes a trace: bytes, or with K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = deadheat::size)]
    limit: u64,

    /// End the program after so many seconds, by SIGTERM
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    timeout: Option<Duration>,
}

const EXAMPLES: &str = "\
Examples:
  deadheat cc -O1 examples/native/lost-update.c -o lost-update
  deadheat record -o run.dht -- ./lost-update
  deadheat analyze run.dht";

/// Records the program; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<u8, String> {
    if let Some(time) = arguments.timeout {
        interrupt::end_program_after(time);
    }
    let mut command = arguments.command.iter().cloned();
    let options = RecordOptions {
        program: command.next().unwrap_or_default(),
        arguments: command.collect(),
        output: arguments.output.clone(),
        limit: Some(arguments.limit),
    };
    let recording = deadheat::record(&options).map_err(|error| {
        let launch = match &error {
            RecordError::Launch(launch) => Some(launch),
            _ => None,
        };
        not_run(&options.program, launch, &error)
    })?;
    if recording.traces.is_empty() {
        warn_of(format_args!(
            "nothing was recorded: `{}` was not built by `deadheat cc` or `deadheat c++`",
            options.program.to_string_lossy()
        ));
    }
    for (path, recorded) in &recording.traces {
        let path = path.display();
        if recorded.full {
            warn_of(format_args!(
                "`{path}` ends before the program did: there was no more room; --limit gives more"
            ));
        }
        if !quiet {
            let events = deadheat::report::counted(recorded.events, "event");
            let threads = deadheat::report::counted(recorded.threads, "thread");
            let tasks = match recorded.tasks {
                0 => String::new(),
                tasks => format!(" and {}", deadheat::report::counted(tasks, "task")),
            };
            complain(&format!(
                "{events} of {threads}{tasks} in `{path}`: try `deadheat analyze {path}`\n"
            ));
        }
    }
    Ok(recording.status())
}
