//! Measures, and prints tables (`make bench`); or makes a trace to measure with.

mod engines;
mod explore;
mod generate;
mod kernels;
mod presets;
mod programs;
mod recording;
mod table3;
mod write_trace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures, and prints tables
#[derive(Parser)]
#[command(name = "deadheat-bench", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Which tables to print [default: all]; "engines" are all of the engines'
    #[arg(value_name = "TABLE", value_parser = table_names())]
    tables: Vec<String>,
}

#[derive(Subcommand)]
enum Command {
    Generate(write_trace::Arguments),
}

fn table_names() -> Vec<&'static str> {
    let engines = engines::TABLES.iter().map(|&(name, _)| name);
    ["explore", "table3", "engines"]
        .into_iter()
        .chain(engines)
        .collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Command::Generate(generate)) = &arguments.command {
        return write_trace::run(generate);
    }
    let chosen = arguments.tables;
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    if wanted("explore") {
        explore::print();
    }
    if wanted("table3") {
        table3::print();
    }
    for (name, print) in engines::TABLES {
        if wanted("engines") || wanted(name) {
            print();
        }
    }
    ExitCode::SUCCESS
}
