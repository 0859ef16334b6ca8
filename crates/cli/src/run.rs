//! `deadheat run`: a C or C++ program, checked while it runs.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use deadheat_native::{
    Findings, FindingsError, Launch, LaunchError, Process, SuppressionError, Suppressions, Survey,
    findings_files, launch,
};
use deadheat_report::{Excerpts, RunReport};
use thiserror::Error;

use crate::files::{FileError, write_with};
use crate::output::{complain, complain_of, warn_of, write_json};

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

    /// Leave out races that FILE names; ThreadSanitizer's format works, too
    #[arg(long, value_name = "FILE")]
    suppress: Vec<PathBuf>,

    /// The exit status if there was a race; 0 keeps the program's own
    #[arg(long, value_name = "STATUS", default_value_t = 66)]
    error_exitcode: u8,

    /// Show each race as soon as it is found
    #[arg(long)]
    live: bool,

    /// How many races are shown in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,
}

const EXAMPLES: &str = "\
Examples:
  deadheat cc -O1 examples/native/lost-update.c -o lost-update
  deadheat run -- ./lost-update
  deadheat run --json report.json --suppress known-races.txt -- ./server --port 8080";

#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Suppressions(#[from] SuppressionError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Findings(#[from] FindingsError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// Runs the program; gives the status.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    match check(arguments, quiet) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            complain_of(failure);
            ExitCode::from(2)
        }
    }
}

fn check(arguments: &Arguments, quiet: bool) -> Result<u8, Failure> {
    let mut suppressions = Suppressions::default();
    for file in &arguments.suppress {
        suppressions.read(file)?;
    }
    let (program, rest) = arguments.command.split_first().expect("clap requires one");
    let what = Launch {
        program: program.clone(),
        arguments: rest.to_vec(),
        environment: Vec::new(),
    };
    let mut live = Live::default();
    let mut meanwhile = |path: &Path| live.show_new(path, &suppressions);
    let outcome = match arguments.live && !quiet {
        true => launch(&what, Some(&mut meanwhile))?,
        false => launch(&what, None)?,
    };
    if outcome.files.is_empty() {
        warn_of(format_args!(
            "nothing was checked: `{}` was not built by `deadheat cc` or `deadheat c++`",
            program.to_string_lossy()
        ));
        return Ok(outcome.code());
    }
    let findings = Findings::read(&outcome.files)?;
    let survey = Survey::new(&findings, &suppressions);
    let report = RunReport::new(&survey);
    if let Some(file) = &arguments.json {
        write_with(file, |file| write_json(file, &[&report]))?;
    }
    if !quiet {
        let mut excerpts = Excerpts::default();
        complain(&excerpts.text(&survey, &report, live.shown, arguments.max_shown));
    }
    Ok(
        match survey.races.is_empty() || arguments.error_exitcode == 0 {
            true => outcome.code(),
            false => arguments.error_exitcode,
        },
    )
}

/// Follows the files of findings while the program writes them.
#[derive(Default)]
struct Live {
    files: Vec<(PathBuf, u64, Process)>,
    survey: Survey,
    excerpts: Excerpts,
    shown: usize,
}

impl Live {
    fn show_new(&mut self, path: &Path, suppressions: &Suppressions) {
        for file in findings_files(path) {
            if !self.files.iter().any(|(known, ..)| *known == file) {
                self.files.push((file, 0, Process::default()));
            }
        }
        for (path, taken, process) in &mut self.files {
            let mut content = Vec::new();
            let read = File::open(path).and_then(|mut file| {
                file.seek(SeekFrom::Start(*taken))?;
                file.read_to_end(&mut content)
            });
            if read.is_ok() {
                let before = process.races.len();
                *taken += process.take(&content) as u64;
                self.survey.add(process, before, suppressions);
            }
        }
        for race in &self.survey.races[self.shown..] {
            complain(&self.excerpts.race(race));
        }
        self.shown = self.survey.races.len();
    }
}
