//! Measures, and prints tables (`make bench`); or makes a trace to measure with.

mod engines;
mod explain;
mod explore;
mod formats;
mod generate;
mod kernels;
mod presets;
mod programs;
mod racy;
mod recording;
mod table3;
mod tasks;
mod traces;
mod write_trace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use presets::{PRESETS, Preset};

/// Measures, and prints tables
#[derive(Parser)]
#[command(name = "deadheat-bench", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Which tables to print [default: all]; "engines" are all of the engines', "tasks" all of the
    /// task library's
    #[arg(value_name = "TABLE", value_parser = table_names())]
    tables: Vec<String>,

    /// The trace that the table "traces" is about
    #[arg(long, value_name = "NAME", default_value = "3m")]
    #[arg(value_parser = PRESETS.map(|preset| preset.name))]
    preset: String,
}

#[derive(Subcommand)]
enum Command {
    Generate(write_trace::Arguments),
    #[command(hide = true)]
    OnePass(traces::OnePass),
    #[command(hide = true)]
    OneShape(explain::shapes::OneShape),
    #[command(hide = true)]
    OneTask(tasks::OneTask),
}

fn table_names() -> Vec<&'static str> {
    let engines = engines::TABLES.iter().map(|&(name, _)| name);
    [
        "explore",
        "table3",
        "formats",
        "traces",
        "racy-trace",
        "trace-growth",
        "explain",
        "experiments",
        "engines",
    ]
    .into_iter()
    .chain(engines)
    .chain(tasks::TABLES)
    .chain(["tasks"])
    .collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Some(Command::Generate(generate)) => write_trace::run(generate),
        Some(Command::OnePass(pass)) => traces::one_pass(pass),
        Some(Command::OneShape(shape)) => explain::shapes::one_shape(shape),
        Some(Command::OneTask(task)) => tasks::one_task(task),
        None => print(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn print(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let chosen = &arguments.tables;
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    if wanted("explore") {
        explore::print();
    }
    if wanted("table3") {
        table3::print();
    }
    if wanted("formats") {
        formats::print();
    }
    if wanted("traces")
        && let Some(preset) = Preset::named(&arguments.preset)
    {
        traces::print(preset)?;
    }
    if wanted("racy-trace") {
        racy::print()?;
    }
    if wanted("trace-growth") {
        traces::print_growth()?;
    }
    if wanted("experiments") {
        explain::experiments::print();
    }
    if wanted("explain") {
        explain::shapes::print()?;
    }
    for (name, print) in engines::TABLES {
        if wanted("engines") || wanted(name) {
            print();
        }
    }
    for table in tasks::TABLES {
        if wanted("tasks") || wanted(table) {
            tasks::print(table)?;
        }
    }
    Ok(())
}
