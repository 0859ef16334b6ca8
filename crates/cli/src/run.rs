//! `deadheat run`: a C or C++ program, checked while it runs.

use std::ffi::OsString;

use clap::Args;
use deadheat::report::{Filter, RunReport};
use deadheat::{RunOptions, Verdict};

use crate::output::{complain, complain_of, warn_of};
use crate::outputs::{Outputs, warn_of_unused};
use crate::program::Program;
use crate::search::watched;
use crate::status::{FailOn, Status};

/// Run a program built by `deadheat cc` or `deadheat c++`, and report its races
///
/// The program has its terminal, its arguments and its signals as if it ran alone. When it has ended, also by Ctrl-C, the
/// report is printed on standard error; --json without a file adds one to standard output, after the program's own output. Exit
/// status: the program's own, or 66 if there was a race (--fail-on possible: or one that is only possible), or 2 if the
/// program was not checked.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The exit status if there was a race; 0 keeps the program's own
    #[arg(long, value_name = "STATUS", default_value_t = 66)]
    error_exitcode: u8,

    /// What makes the exit status that of a race: one that is certain, or also one that is only possible
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        default_value = "race"
    )]
    #[arg(value_parser = FailOn::among(&FINDS))]
    fail_on: Vec<FailOn>,

    /// Report each race as soon as it is found
    #[arg(long, conflicts_with = "predict")]
    live: bool,

    /// Also report races of other schedules, each with an order of events that leads to it
    #[arg(long)]
    predict: bool,

    /// Stop recording after SIZE bytes of raw data (8 per access; the file is smaller). Suffixes K, M, G, T
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = deadheat::size)]
    #[arg(requires = "predict")]
    limit: u64,

    /// Show at most N races in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    outputs: Outputs,
}

/// What a run can find.
const FINDS: [FailOn; 2] = [FailOn::Race, FailOn::Possible];

const EXAMPLES: &str = "\
Examples:
  deadheat cc -O1 examples/native/lost-update.c -o lost-update
  deadheat run -- ./lost-update
  deadheat run --predict -- ./lost-update
  deadheat run --json=report.json --suppress known-races.txt -- ./server --port 8080";

/// Runs the program; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    arguments.check()?;
    let options = RunOptions {
        program: arguments.program.to_run(),
        live: arguments.live && !quiet,
    };
    let filter = arguments.outputs.filter()?;
    if arguments.predict {
        return predict(arguments, &options, &filter, quiet);
    }
    let ran = deadheat::run(&options, &filter, &mut complain);
    let ran = ran.map_err(|error| error.to_string())?;
    arguments.deliver(&ran, &filter, quiet);
    match ran.is_full() && !ran.has_race() {
        true => Err(ran.report.guarantee()),
        false => Ok(arguments.status(&ran.report, ran.status(), quiet)),
    }
}

/// Records the program, reports the races of this run and of other schedules; gives the status.
fn predict(
    arguments: &Arguments,
    options: &RunOptions,
    filter: &Filter,
    quiet: bool,
) -> Result<Status, String> {
    let stop = deadheat::interrupt;
    let limit = arguments.limit;
    let prediction = watched(quiet, |watch| {
        deadheat::predict(options, filter, limit, stop, watch)
    });
    let prediction = prediction.map_err(|error| error.to_string())?;
    prediction.warnings.iter().for_each(warn_of);
    prediction.complaints.iter().for_each(complain_of);
    arguments.deliver(&prediction, filter, quiet);
    Ok(arguments.status(&prediction.report, prediction.status(), quiet))
}

impl Arguments {
    /// The program that it is to run.
    pub fn program(&self) -> OsString {
        self.program.to_run().path
    }

    /// Whether the options fit together, and what follows them is a program.
    pub fn check(&self) -> Result<(), String> {
        self.outputs.check_program(self.program.command())
    }

    /// Reports what was found. What cannot be delivered does not change the program's status.
    fn deliver(&self, verdict: &impl Verdict, filter: &Filter, quiet: bool) {
        if !quiet {
            complain(&verdict.text(self.max_shown));
        }
        self.outputs.write("run", std::slice::from_ref(verdict));
        warn_of_unused(filter, quiet);
    }

    /// The command's status, by whether there is a race, whether all was checked, and the program's own.
    fn status(&self, report: &RunReport, own: u8, quiet: bool) -> Status {
        let counts_possible = self.fail_on.contains(&FailOn::Possible);
        let mut findings = report.findings();
        let found = findings.any(|finding| counts_possible || !finding.is_possible());
        if found && self.error_exitcode != 0 {
            return Status::Program(self.error_exitcode);
        }
        let status = self.program.status(report.is_unchecked(), own);
        if quiet && status == Status::Bad {
            complain_of(report.guarantee());
        }
        status
    }
}
