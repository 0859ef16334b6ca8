//! The `deadheat` command: arguments in, library calls, exit status out.

mod analyze;
mod cc;
mod check;
mod convert;
mod files;
mod graph;
mod output;
mod progress;
mod run;
mod stats;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Finds races: can this program, on this input, go wrong under any schedule?
#[derive(Parser)]
#[command(name = "deadheat", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: output::Color,

    /// Print nothing but errors: the exit status tells
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Convert(convert::Arguments),
    Stats(stats::Arguments),
    Analyze(analyze::Arguments),
    Verify(verify::Arguments),
    #[command(name = "cc")]
    Cc(cc::Arguments),
    #[command(name = "c++")]
    Cxx(cc::Arguments),
    Run(run::Arguments),
}

fn main() -> ExitCode {
    if let Some(status) = cc::run() {
        return status;
    }
    let arguments = Arguments::parse();
    arguments.color.apply();
    match arguments.command {
        Command::Check(check) => check::run(&check, arguments.quiet),
        Command::Convert(convert) => convert::run(&convert, arguments.quiet),
        Command::Stats(stats) => stats::run(&stats, arguments.quiet),
        Command::Analyze(analyze) => analyze::run(&analyze, arguments.quiet),
        Command::Verify(verify) => verify::run(&verify, arguments.quiet),
        Command::Cc(_) | Command::Cxx(_) => unreachable!("taken before the arguments are parsed"),
        Command::Run(run) => run::run(&run, arguments.quiet),
    }
}
