//! `deadheat check`: is this `.tp` program safe?

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use deadheat::lang::Schedule;
use deadheat::lang::syntax::MAX_SOURCE_BYTES;
use deadheat::model::StopToken;
use deadheat::report::{CheckReport, ExplainReport};
use deadheat::{
    CheckError, CheckOptions, Checked, Explained, PictureFormat, ScheduleChoice, check,
    engine_help, engine_named, trace,
};
use serde::Serialize;

use crate::explain::DEFAULT_SHOWN;
use crate::files::{of, read, write};
use crate::interrupt::SearchLimits;
use crate::memory;
use crate::mistaken::{Nature, hint};
use crate::output::{Delivery, complain, complain_of};
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::status::{FailOn, Status};

/// Check .tp programs for races
///
/// Runs each program under one schedule and judges its accesses; with --explore, under every
/// schedule. Ctrl-C and --timeout end the search; what was found is reported. Exit status: 0 nothing found, 1
/// something can go wrong (a race, a deadlock, a failed
/// assertion or another error, in the run or in an explored schedule), 2 bad input.
#[derive(Args)]
#[command(after_help = help())]
pub struct Arguments {
    /// The programs; - reads standard input
    #[arg(required = true, value_name = "FILE.tp")]
    files: Vec<PathBuf>,

    /// What judges the run; the first engine that fits unless given
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    engine: Option<&'static str>,

    /// Who takes the next step: depth-first, random:SEED, or trace:FILE with one task a line
    #[arg(long, value_name = "HOW", default_value = "depth-first")]
    schedule: ScheduleChoice,

    /// Visit every schedule, and tell which races, deadlocks and errors are possible
    #[arg(long)]
    explore: bool,

    /// Stop --explore after so many states; a large one, or a long computation, counts as several
    #[arg(long, value_name = "N", default_value_t = CheckOptions::MAX_STATES, requires = "explore")]
    max_states: u64,

    /// Visit every order of isolated sections, and tell which races are possible; with zipper, and for 60
    /// seconds at most unless --timeout is given
    #[arg(long)]
    all_orders: bool,

    /// Stop --all-orders after so many orders
    #[arg(long, value_name = "N", default_value_t = CheckOptions::MAX_ORDERS, requires = "all_orders")]
    max_orders: u64,

    /// Explain the run's races: which to fix first
    #[arg(long)]
    explain: bool,

    /// Stop the run after so many steps (a long computation counts as some); at most 100,000,000
    #[arg(long, value_name = "N", default_value_t = CheckOptions::MAX_STEPS,
          value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    max_steps: u64,

    /// Save the run as a trace, for analyze: .dht, .std or .csv
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Write the schedule to FILE, for --schedule trace:FILE: the run's, or that of the first finding of
    /// --explore or --all-orders if the run does nothing wrong
    #[arg(long, value_name = "FILE")]
    save_schedule: Option<PathBuf>,

    /// Draw the computation graph under the same schedule, its races marked, to FILE: .svg or .dot
    #[arg(long, value_name = "FILE", value_parser = picture)]
    graph: Option<PathBuf>,

    /// What makes the exit status 1
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "race,deadlock,error"
    )]
    fail_on: Vec<FailOn>,

    /// How many findings of a kind are shown in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,

    #[command(flatten)]
    limits: SearchLimits,

    #[command(flatten)]
    delivery: Delivery,

    #[command(flatten)]
    outputs: Outputs,
}

fn help() -> String {
    format!(
        "Engines, the first that can order what the program uses unless --engine is given:\n{}\n\
         Examples:\n  \
         deadheat check examples/lost-update.tp\n  \
         deadheat check --explore --json examples/zipper-fig2.tp\n  \
         deadheat check --all-orders examples/isolated-hides-race.tp\n  \
         deadheat check --schedule random:7 --save-schedule run.txt program.tp\n  \
         deadheat check --schedule trace:run.txt program.tp\n  \
         deadheat check --record run.dht program.tp; deadheat analyze run.dht\n  \
         deadheat check --graph run.svg examples/zipper-fig3.tp\n  \
         deadheat check --explain --schedule random:1 examples/netzer-queue.tp",
        engine_help()
    )
}

/// How many bytes of a schedule are read.
const MAX_SCHEDULE_BYTES: usize = 256 << 20;

/// The name of a picture, which says what it is.
fn picture(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    PictureFormat::of_name(&path).map(|_| path)
}

fn engine_name(name: &str) -> Result<&'static str, String> {
    engine_named(name).map(|engine| engine.name)
}

/// What of the options cannot go together.
fn contradiction(arguments: &Arguments) -> Option<String> {
    if arguments.all_orders && arguments.engine.is_some_and(|engine| engine != "zipper") {
        return Some("--all-orders goes with --engine zipper".to_string());
    }
    let of_one = [
        ("--save-schedule", arguments.save_schedule.is_some()),
        ("--graph", arguments.graph.is_some()),
        ("--record", arguments.record.is_some()),
    ];
    let given = of_one.into_iter().find(|(_, given)| *given);
    let several = arguments.files.len() > 1;
    given
        .filter(|_| several)
        .map(|(option, _)| format!("{option} goes with one program"))
}

/// Checks each program; gives the worst status.
pub fn run(arguments: &Arguments, quiet: bool) -> Status {
    if let Some(contradiction) = contradiction(arguments) {
        complain_of(contradiction);
        return Status::Bad;
    }
    let filter = match arguments.outputs.filter() {
        Ok(filter) => filter,
        Err(failure) => {
            complain_of(failure);
            return Status::Bad;
        }
    };
    let mut status = Status::Clean;
    let mut all: Vec<(Checked, Option<Explained>)> = Vec::new();
    for path in &arguments.files {
        let stop = stop_token(arguments);
        match checked(arguments, path, stop) {
            Ok(mut checked) => {
                checked.report.filter(&filter);
                status = status.max(verdict(arguments, &checked.report));
                let explained = arguments.explain.then(|| {
                    let progress = Progress::new();
                    checked.explain(stop, &|step| progress.show(step))
                });
                let explained = explained.transpose().map_err(|error| of(path, error));
                status = status.unless(explained.is_ok());
                let mut explained = explained.map_err(complain_of).ok().flatten();
                let reports = explained.iter_mut();
                reports.for_each(|explained| explained.report.filter(&filter));
                all.push((checked, explained));
            }
            Err(failure) => {
                complain(&failure);
                status = Status::Bad;
            }
        }
    }
    let reports = all.iter().map(|(checked, explained)| WithExplanation {
        report: &checked.report,
        explanation: explained.as_ref().map(|explained| &explained.report),
    });
    let reports: Vec<WithExplanation> = reports.collect();
    let text = || all.iter().map(|one| text(one, arguments)).collect();
    let delivery = &arguments.delivery;
    let delivered = delivery.deliver(quiet, "check", &reports, text);
    let chapters = |illustrated| {
        let all = all.iter();
        all.map(|(checked, _)| match illustrated {
            true => checked.illustrated(),
            false => checked.chapter(),
        })
        .collect()
    };
    let written = arguments.outputs.write(chapters);
    let mut beside = all.iter();
    let beside = beside.all(|(checked, _)| side_outputs(arguments, checked));
    status.unless(delivered && written && beside)
}

/// How long --all-orders searches unless told otherwise.
const ALL_ORDERS: Duration = Duration::from_secs(60);

/// When the work on one program ends.
fn stop_token(arguments: &Arguments) -> StopToken {
    let token = arguments.limits.token();
    match (arguments.all_orders, arguments.limits.timeout) {
        (true, None) => token.or_after(ALL_ORDERS),
        _ => token,
    }
}

/// A report, and with --explain an explanation.
#[derive(Serialize)]
struct WithExplanation<'r> {
    #[serde(flatten)]
    report: &'r CheckReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'r ExplainReport>,
}

fn text((checked, explained): &(Checked, Option<Explained>), arguments: &Arguments) -> String {
    let explanation = explained.as_ref().map(|explained| {
        let (report, sources) = (&explained.report, &explained.sources);
        let text = report.text(&checked.report.program, sources, DEFAULT_SHOWN);
        format!("\n{text}")
    });
    checked.text(arguments.max_shown) + &explanation.unwrap_or_default()
}

/// What a program's report does to the status.
fn verdict(arguments: &Arguments, report: &CheckReport) -> Status {
    Status::found(arguments.fail_on.iter().any(|what| match what {
        FailOn::Race => report.has_race(),
        FailOn::Deadlock => report.has_deadlock(),
        FailOn::Error => report.has_error(),
        FailOn::Incomplete => report.is_incomplete(),
    }))
}

fn checked(arguments: &Arguments, path: &Path, stop: StopToken) -> Result<Checked, String> {
    let complaint = |error: String| format!("\x1b[1;31merror\x1b[0m: {error}\n");
    let not_tp = || hint(path, Nature::Tp).map(complaint);
    let source = read(path, MAX_SOURCE_BYTES);
    let source = source.map_err(|error| not_tp().unwrap_or_else(|| complaint(error)))?;
    let (schedule, schedule_path) = match &arguments.schedule {
        ScheduleChoice::DepthFirst => (Schedule::DepthFirst, path),
        ScheduleChoice::Random(seed) => (Schedule::Random(*seed), path),
        ScheduleChoice::Trace(file) => {
            let text = read(file, MAX_SCHEDULE_BYTES).map_err(complaint)?;
            let recorded = text.parse();
            let recorded = recorded.map_err(|error: deadheat::lang::NotASchedule| {
                complaint(format!("`{}`, {error}", file.display()))
            })?;
            (Schedule::Recorded(recorded), file.as_path())
        }
    };
    let options = CheckOptions {
        engine: arguments.engine,
        schedule,
        max_steps: arguments.max_steps,
        explore: arguments.explore.then_some(arguments.max_states),
        all_orders: arguments.all_orders.then_some(arguments.max_orders),
        stop_run: stop.or_full(&memory::FULL_OF_RUN),
        stop,
    };
    let progress = Progress::new();
    let name = path.display().to_string();
    let checked = check(&name, &source, &options, &|step| progress.show(step));
    checked.map_err(|error| match &error {
        CheckError::NotAProgram(shown) => not_tp().unwrap_or_else(|| shown.clone()),
        CheckError::CannotFollow(error) => complaint(format!(
            "`{}` cannot be followed: {error}",
            schedule_path.display()
        )),
        CheckError::CannotOrder { .. } => complaint(format!("`{name}`, {error}")),
        CheckError::Engine(error) => complaint(of(path, error)),
    })
}

/// Writes what else was asked for. That it fails does not take the verdict with it.
fn side_outputs(arguments: &Arguments, checked: &Checked) -> bool {
    let schedule = arguments.save_schedule.as_ref();
    let schedule = schedule.map(|path| write(path, &checked.schedule()));
    let record = arguments.record.as_ref().map(|path| {
        let saved = trace::save(path, checked.execution());
        saved.map_err(|error| error.to_string())
    });
    let graph = arguments.graph.as_ref().map(|path| {
        let cannot = |error| format!("`{}` cannot be drawn: {error}", path.display());
        let drawn = checked.draw(path).map_err(cannot)?;
        write(path, &drawn)
    });
    let mut delivered = true;
    for result in [schedule, record, graph].into_iter().flatten() {
        if let Err(error) = result {
            complain_of(error);
            delivered = false;
        }
    }
    delivered
}
