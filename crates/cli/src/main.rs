//! The `deadheat` command: arguments in, library calls, exit status out.

mod analyze;
mod check;
mod compilers;
mod convert;
mod explain;
mod manual;
mod output;
mod outputs;
mod program;
mod record;
mod run;
mod search;
mod stats;
mod status;
mod usage;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use status::Status;

/// Finds data races, shows them in the source, and says what each verdict proves
#[derive(Parser)]
#[command(name = "deadheat", version, max_term_width = 100, after_help = START)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: output::Color,

    /// Show the identity of each finding in the text, as JSON, SARIF and HTML always do
    #[arg(long, global = true)]
    ids: bool,

    /// Show every call of every stack; otherwise calls inside libraries are folded
    #[arg(long, global = true)]
    full_stacks: bool,

    /// Print only errors; use the exit status
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl Arguments {
    /// Options that every command has, as they were given.
    fn general(&self) -> Vec<OsString> {
        let flags = [
            ("--ids", self.ids),
            ("--full-stacks", self.full_stacks),
            ("--quiet", self.quiet),
        ];
        let flags = flags.into_iter();
        let flags = flags.filter(|flag| flag.1).map(|flag| flag.0.into());
        let colour = self.color.to_possible_value();
        let colour = colour.map(|colour| format!("--color={}", colour.get_name()).into());
        flags.chain(colour).collect()
    }
}

#[derive(Subcommand)]
enum Command {
    #[command(name = "cc")]
    Cc(compilers::Compiler),
    #[command(name = "c++")]
    Cxx(compilers::Compiler),
    Fc(compilers::Fortran),
    Cargo(compilers::Cargo),
    Run(run::Arguments),
    Record(record::Arguments),
    Check(check::Arguments),
    Analyze(analyze::Arguments),
    Explain(explain::Arguments),
    Verify(verify::Arguments),
    Convert(convert::Arguments),
    Stats(stats::Arguments),
    Completions(manual::Completions),
    Man(manual::Man),
}

const START: &str = "\
To begin with:
  deadheat cc -O1 prog.c -o prog      compile a C program with checking built in; -fopenmp works, and so does c++
  deadheat fc prog.f90 -o prog        the same for Fortran
  deadheat run -- ./prog              run it and report its races
  cargo deadheat test                 the same for a Rust program
  deadheat check prog.tp              check a program in the small language of tasks and threads
  deadheat analyze run.std            analyze a recorded run

Run `deadheat help COMMAND` for details.";

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if compilers::helped(&words) {
        return ExitCode::SUCCESS;
    }
    // Every other argument of a compiler belongs to it, `--version` too.
    if let Some(error) = deadheat::native::compile_if_called(&words) {
        output::complain_of(error);
        return ExitCode::FAILURE;
    }
    deadheat::no_crash_without_memory();
    let arguments = usage::parse(&words);
    arguments.color.apply();
    if arguments.ids {
        deadheat::report::show_identities();
    }
    if arguments.full_stacks {
        deadheat::report::show_full_stacks();
    }
    let quiet = arguments.quiet;
    let general = arguments.general();
    let result = match arguments.command {
        Command::Check(check) => check::run(&check, quiet),
        Command::Analyze(analyze) => analyze::run(&analyze, quiet),
        Command::Explain(explain) => explain::run(&explain, quiet),
        Command::Verify(verify) => verify::run(&verify, quiet),
        Command::Convert(convert) => convert::run(&convert, quiet),
        Command::Stats(stats) => stats::run(&stats, quiet),
        Command::Completions(completions) => manual::completions(&completions),
        Command::Man(man) => manual::man(&man),
        Command::Cargo(cargo) => compilers::run_cargo(&cargo, general),
        Command::Run(run) => run::run(&run, quiet),
        Command::Record(record) => record::run(&record, quiet),
        Command::Cc(_) | Command::Cxx(_) | Command::Fc(_) => {
            unreachable!("taken before the arguments are parsed")
        }
    };
    let status = result.unwrap_or_else(|failure| {
        output::complain_of(failure);
        Status::Bad
    });
    match deadheat::interrupted() {
        // A search that was interrupted has not shown that there is nothing.
        Some(signal) if status == Status::Clean => ExitCode::from(128 + signal),
        _ => status.into(),
    }
}
