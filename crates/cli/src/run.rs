//! `deadheat run`: a C or C++ program, checked while it runs.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use deadheat::native::LaunchError;
use deadheat::report::Filter;
use deadheat::{PredictError, RecordError, RunError, RunOptions};
use serde::Serialize;

use crate::files::write_with;
use crate::interrupt;
use crate::mistaken::not_started;
use crate::output::{complain, complain_of, warn_of, warn_of_newer, write_json};
use crate::outputs::Outputs;
use crate::progress::Progress;

/// Run a program built by `deadheat cc` or `deadheat c++`, and report its races
///
/// The program has its terminal, its arguments and its signals as if it ran alone; the report comes on standard
/// error when it has ended, also after Ctrl-C. Exit status: the program's own, or 66 if there was a race.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,

    /// Write the report as JSON to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// The exit status if there was a race; 0 keeps the program's own
    #[arg(long, value_name = "STATUS", default_value_t = 66)]
    error_exitcode: u8,

    /// Show each race as soon as it is found
    #[arg(long, conflicts_with = "predict")]
    live: bool,

    /// Record the run, and report the races of other schedules as well, each with an order that shows it
    #[arg(long)]
    predict: bool,

    /// Record no more than so much on disk: bytes, or with K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = deadheat::size)]
    #[arg(requires = "predict")]
    limit: u64,

    /// How many races are shown in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,

    /// End the program after so many seconds, by SIGTERM
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    timeout: Option<Duration>,

    #[command(flatten)]
    outputs: Outputs,
}

const EXAMPLES: &str = "\
Examples:
  deadheat cc -O1 examples/native/lost-update.c -o lost-update
  deadheat run -- ./lost-update
  deadheat run --predict -- ./lost-update
  deadheat run --json report.json --suppress known-races.txt -- ./server --port 8080";

/// Runs the program; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<u8, String> {
    if let Some(time) = arguments.timeout {
        interrupt::end_program_after(time);
    }
    let mut command = arguments.command.iter().cloned();
    let options = RunOptions {
        program: command.next().unwrap_or_default(),
        arguments: command.collect(),
        suppress: arguments.outputs.suppress.clone(),
        live: arguments.live && !quiet,
    };
    let filter = arguments.outputs.baseline()?;
    if arguments.predict {
        return predict(arguments, &options, &filter, quiet);
    }
    let ran = deadheat::run(&options, &filter, &mut complain).map_err(|error| {
        let launch = match &error {
            RunError::Launch(launch) => Some(launch),
            _ => None,
        };
        not_run(&options.program, launch, &error)
    })?;
    let Some(report) = &ran.report else {
        return Ok(nothing_checked(&options, ran.status()));
    };
    let text = || ran.text(arguments.max_shown);
    deliver(arguments, report, quiet, text);
    warn_of_newer(&ran.sources, &options.program);
    let _ = arguments.outputs.write(|illustrated| match illustrated {
        true => vec![ran.illustrated()],
        false => vec![ran.chapter()],
    });
    match ran.is_full() && !ran.has_race() {
        true => Err(report.guarantee.clone()),
        false => Ok(arguments.status(ran.has_race(), ran.status())),
    }
}

/// Records the program, tells what happened and what could have; gives the status.
fn predict(
    arguments: &Arguments,
    options: &RunOptions,
    filter: &Filter,
    quiet: bool,
) -> Result<u8, String> {
    let progress = Progress::new();
    let limit = arguments.limit;
    let prediction = deadheat::predict(options, filter, limit, interrupt::token, &|step| {
        progress.show(step)
    });
    drop(progress);
    let prediction = prediction.map_err(|error| {
        let launch = match &error {
            PredictError::Record(RecordError::Launch(launch)) => Some(launch),
            _ => None,
        };
        not_run(&options.program, launch, &error)
    })?;
    prediction.complaints.iter().for_each(complain_of);
    let Some(report) = &prediction.report else {
        return Ok(nothing_checked(options, prediction.status()));
    };
    let text = || prediction.text(arguments.max_shown);
    deliver(arguments, report, quiet, text);
    warn_of_newer(&prediction.sources, &options.program);
    let _ = arguments.outputs.write(|illustrated| match illustrated {
        true => vec![prediction.illustrated()],
        false => vec![prediction.chapter()],
    });
    Ok(arguments.status(prediction.has_race(), prediction.status()))
}

impl Arguments {
    /// The command's status, by whether there is a race and the program's own.
    fn status(&self, has_race: bool, own: u8) -> u8 {
        match has_race && self.error_exitcode != 0 {
            true => self.error_exitcode,
            false => own,
        }
    }
}

/// Why a program did not run: with what to do, if it could not be started and that is known.
pub fn not_run(program: &OsStr, launch: Option<&LaunchError>, error: impl Display) -> String {
    let is_start = matches!(launch, Some(LaunchError::Start { .. }));
    match not_started(Path::new(program)).filter(|_| is_start) {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// Says that the program was not built for it, or why else it may not have been checked.
fn nothing_checked(options: &RunOptions, status: u8) -> u8 {
    warn_of(format_args!(
        "nothing was checked: `{}` was not built by `deadheat cc` or `deadheat c++`",
        options.program.to_string_lossy()
    ));
    status
}

fn deliver(arguments: &Arguments, report: &impl Serialize, quiet: bool, text: impl Fn() -> String) {
    if let Some(path) = &arguments.json
        && let Err(error) = write_with(path, |file| write_json(file, "run", &[report]))
    {
        // The report is not lost with the file.
        complain_of(error);
    }
    if !quiet {
        complain(&text());
    }
}
