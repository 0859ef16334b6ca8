//! `deadheat check`: is this `.tp` program safe?

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use deadheat::{
    Check, CheckError, CheckOptions, Engine, PictureFormat, ScheduleChoice, check_file,
    engine_help, engine_named, named, trace,
};

use crate::output::{complain, complain_of, written};
use crate::outputs::Outputs;
use crate::search::{Search, watched};
use crate::status::{FailOn, Status};

/// Check .tp programs for races
///
/// Runs each program under one schedule and checks its accesses; with --explore, under every schedule. Ctrl-C and --timeout
/// stop the search; what was found so far is still reported. Exit status: 0 nothing found, 1 something can go wrong (a race, a
/// deadlock, a failed assertion or another error, in the run or in an explored schedule), 2 bad input.
#[derive(Args)]
#[command(after_help = help())]
pub struct Arguments {
    /// The programs; - reads standard input
    #[arg(required = true, value_name = "FILE.tp")]
    files: Vec<PathBuf>,

    /// Engine to check the run with [default: the first that supports all constructs of the program]
    #[arg(long, value_name = "NAME", value_parser = engine_named)]
    engine: Option<&'static Engine>,

    /// Which task takes the next step: depth-first, random:SEED, or trace:FILE with one task per line
    #[arg(long, value_name = "HOW", default_value = "depth-first")]
    schedule: ScheduleChoice,

    /// Explore every schedule, and report which races, deadlocks and errors are possible
    #[arg(long)]
    explore: bool,

    /// Stop exploring after N states (large states and long computations count more than once)
    #[arg(long, value_name = "N", default_value_t = CheckOptions::MAX_STATES, requires = "explore")]
    max_states: u64,

    /// Explore every order of isolated sections with zipper, and report which races are possible; stops after 60 seconds unless
    /// --timeout is given
    #[arg(long)]
    all_orders: bool,

    /// Stop --all-orders after N orders
    #[arg(long, value_name = "N", default_value_t = CheckOptions::MAX_ORDERS, requires = "all_orders")]
    max_orders: u64,

    /// Explain the races of the run, and which to fix first
    #[arg(long)]
    explain: bool,

    /// Stop the run after N steps (long computations count as several); at most 100,000,000
    #[arg(long, value_name = "N", default_value_t = CheckOptions::MAX_STEPS,
          value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    max_steps: u64,

    /// Save the run as a trace, for analyze: .dht, .std or .csv
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Write a schedule to FILE, for --schedule trace:FILE: that of the run or, if nothing is wrong with the run, that of the first
    /// finding of --explore or --all-orders
    #[arg(long, value_name = "FILE")]
    save_schedule: Option<PathBuf>,

    /// Draw the computation graph under the same schedule, its races marked, to FILE: .svg or .dot
    #[arg(long, alias = "graph", value_name = "FILE", value_parser = PictureFormat::file)]
    picture: Option<PathBuf>,

    /// What makes the exit status 1
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        value_parser = FailOn::among(&FINDS),
        default_value = "race,deadlock,error"
    )]
    fail_on: Vec<FailOn>,

    /// Show at most N findings of each kind in full
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_shown: usize,

    #[command(flatten)]
    search: Search,

    #[command(flatten)]
    outputs: Outputs,
}

/// What it can find.
const FINDS: [FailOn; 4] = [
    FailOn::Race,
    FailOn::Deadlock,
    FailOn::Error,
    FailOn::Incomplete,
];

fn help() -> String {
    format!(
        "Engines; without --engine, the first that supports all constructs of the program:\n{}\n\
         Examples:\n  \
         deadheat check examples/lost-update.tp\n  \
         deadheat check --explore --json examples/zipper-fig2.tp\n  \
         deadheat check --all-orders examples/isolated-hides-race.tp\n  \
         deadheat check --schedule random:7 --save-schedule run.txt program.tp\n  \
         deadheat check --schedule trace:run.txt program.tp\n  \
         deadheat check --record run.dht program.tp; deadheat analyze run.dht\n  \
         deadheat check --picture run.svg examples/zipper-fig3.tp\n  \
         deadheat check --explain --schedule random:1 examples/netzer-queue.tp",
        engine_help()
    )
}

/// What of the options cannot go together.
fn contradiction(arguments: &Arguments) -> Option<String> {
    if arguments.all_orders
        && arguments
            .engine
            .is_some_and(|engine| engine.name != "zipper")
    {
        return Some("--all-orders needs --engine zipper".to_string());
    }
    let of_one = [
        ("--save-schedule", arguments.save_schedule.is_some()),
        ("--picture", arguments.picture.is_some()),
        ("--record", arguments.record.is_some()),
    ];
    let given = of_one.into_iter().find(|(_, given)| *given);
    let several = arguments.files.len() > 1;
    given
        .filter(|_| several)
        .map(|(option, _)| format!("{option} takes one program"))
}

/// Checks each program; gives the worst status.
pub fn run(arguments: &Arguments, quiet: bool) -> Result<Status, String> {
    if let Some(contradiction) = contradiction(arguments) {
        return Err(contradiction);
    }
    let outputs = &arguments.outputs;
    outputs.check(arguments.files.iter().map(PathBuf::as_path))?;
    let filter = outputs.filter()?;
    let files = arguments.files.iter();
    let mut all: Vec<Check> = files
        .filter_map(|path| check(arguments, path, quiet))
        .collect();
    all.iter_mut()
        .for_each(|checked| checked.report.filter(&filter));
    let delivered = outputs.deliver(quiet, "check", &all, arguments.max_shown, &filter);
    let beside = all.iter().all(|checked| side_outputs(arguments, checked));
    let verdict = all.iter().map(|checked| verdict(arguments, checked)).max();
    let complete = all.len() == arguments.files.len();
    Ok(verdict
        .unwrap_or(Status::Clean)
        .unless(delivered && beside && complete))
}

/// How long --all-orders searches without --timeout.
const ALL_ORDERS: Duration = Duration::from_secs(60);

/// Checks a program, or says why that cannot be done.
fn check(arguments: &Arguments, path: &Path, quiet: bool) -> Option<Check> {
    let mut stop = arguments.search.token();
    if arguments.all_orders && arguments.search.timeout.is_none() {
        stop = stop.or_after(ALL_ORDERS);
    }
    let options = CheckOptions {
        engine: arguments.engine,
        max_steps: arguments.max_steps,
        explore: arguments.explore.then_some(arguments.max_states),
        all_orders: arguments.all_orders.then_some(arguments.max_orders),
        explain: arguments.explain,
        stop,
        ..CheckOptions::default()
    };
    let checked = watched(quiet, |watch| {
        check_file(path, &arguments.schedule, options, watch)
    });
    let checked = checked.map_err(|error| match error {
        CheckError::NotAProgram(shown) => complain(&shown),
        error => complain_of(error),
    });
    let checked = checked.ok()?;
    if let Some(error) = &checked.unexplained {
        complain_of(named(path, error));
    }
    Some(checked)
}

/// What a program's report does to the status.
fn verdict(arguments: &Arguments, checked: &Check) -> Status {
    let report = &checked.report;
    let found = arguments.fail_on.iter().any(|what| match what {
        // Behind a deadlock or an error nothing was decided.
        FailOn::Race => report.has_race() || report.is_cut_short(),
        FailOn::Deadlock => report.has_deadlock(),
        FailOn::Error => report.has_error(),
        FailOn::Incomplete => report.is_incomplete(),
        _ => false,
    });
    Status::found(found).unless(checked.unexplained.is_none())
}

/// Writes what else was asked for. That it fails does not take the verdict with it.
fn side_outputs(arguments: &Arguments, checked: &Check) -> bool {
    let write = |path: &Path, text: String| written(path, |file| file.write_all(text.as_bytes()));
    let schedule = arguments.save_schedule.as_ref();
    let schedule = schedule.is_none_or(|path| write(path, checked.schedule()));
    let record = arguments.record.as_ref().is_none_or(|path| {
        let saved = trace::save(path, checked.execution());
        saved.map_err(complain_of).is_ok()
    });
    let picture = arguments.picture.as_ref().is_none_or(|path| {
        let cannot = |error| {
            complain_of(format_args!(
                "`{}` cannot be drawn: {error}",
                path.display()
            ))
        };
        let drawn = checked.draw(path).map_err(cannot);
        drawn.is_ok_and(|picture| write(path, picture))
    });
    schedule && record && picture
}
