//! `deadheat check`: is this `.tp` program safe?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use deadheat_lang::syntax::MAX_SOURCE_BYTES;
use deadheat_lang::{
    DEFAULT_MAX_STATES, DEFAULT_MAX_STEPS, Exploration, ExploreOptions, Program, Schedule,
};
use deadheat_model::{Construct, SourcePosition};
use deadheat_offline::orders::{self, DEFAULT_MAX_ORDERS, Orders};
use deadheat_offline::{Engine, EngineError};
use deadheat_report::{CheckReport, Renderer, Spelling};
use serde::Serialize;
use thiserror::Error;

use crate::explain::Facts;
use crate::files::{FileError, read, write};
use crate::graph::{CannotDraw, GraphFile};
use crate::output::{complain, complain_of, print};
use crate::progress::{is_long, progress_bar};

/// Check .tp programs for races
///
/// Runs each program under one schedule and judges its accesses; with --explore, under every
/// schedule. Exit status: 0 no race, 1 a race, 2 bad input. A deadlock or a run-time error is shown
/// and does not change it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The programs; - reads standard input
    #[arg(required = true, value_name = "FILE.tp")]
    files: Vec<PathBuf>,

    /// What judges the run: spd3 or esp-bags (async and finish), drdp (futures, promises and threads
    /// as well), zipper (isolated as well) or graph (everything, slowly); the first that fits unless
    /// given
    #[arg(long, value_name = "NAME", value_parser = engine_named)]
    engine: Option<Engine>,

    /// Who takes the next step: depth-first, random:SEED, or trace:FILE with one task a line
    #[arg(long, value_name = "HOW", default_value = "depth-first")]
    schedule: ScheduleArgument,

    /// Visit every schedule, and tell which races, deadlocks and errors are possible
    #[arg(long)]
    explore: bool,

    /// Stop --explore after so many states
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_STATES)]
    max_states: u64,

    /// Visit every order of isolated sections, and tell which races are possible; with zipper
    #[arg(long)]
    all_orders: bool,

    /// Stop --all-orders after so many orders
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_ORDERS)]
    max_orders: u64,

    /// Explain the run's races: which to fix first
    #[arg(long)]
    explain: bool,

    /// Stop the run after so many steps (a long computation counts as some); at most 100,000,000
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_STEPS,
          value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    max_steps: u64,

    /// Write the run's schedule to FILE, for --schedule trace:FILE
    #[arg(long, value_name = "FILE")]
    save_schedule: Option<PathBuf>,

    /// Draw the run's computation graph, its races marked, to FILE: .svg or .dot
    #[arg(long, value_name = "FILE")]
    graph: Option<GraphFile>,

    /// Print the result as JSON, one object a program; to FILE if given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
}

const EXAMPLES: &str = "\
Examples:
  deadheat check examples/lost-update.tp
  deadheat check --explore --json examples/zipper-fig2.tp
  deadheat check --all-orders examples/isolated-hides-race.tp
  deadheat check --schedule random:7 --save-schedule run.txt program.tp
  deadheat check --schedule trace:run.txt program.tp
  deadheat check --graph run.svg examples/zipper-fig3.tp
  deadheat check --explain --schedule random:4 examples/netzer-fig2-1.tp";

/// How many races that are not first --explain shows.
const MAX_EXPLAINED: usize = 10;

/// How many bytes of a schedule are read.
const MAX_SCHEDULE_BYTES: usize = 256 << 20;

fn engine_named(name: &str) -> Result<Engine, String> {
    let engine = Engine::ALL.into_iter().find(|engine| engine.name() == name);
    engine.ok_or_else(|| {
        let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
        format!("there is no such engine; there are {}", names.join(", "))
    })
}

/// `depth-first`, `random:SEED` or `trace:FILE`.
#[derive(Clone, PartialEq, Eq)]
enum ScheduleArgument {
    DepthFirst,
    Random(u64),
    Trace(PathBuf),
}

impl std::str::FromStr for ScheduleArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ScheduleArgument, String> {
        match text.split_once(':') {
            None if text == "depth-first" => Ok(ScheduleArgument::DepthFirst),
            Some(("random", seed)) => match seed.parse() {
                Ok(seed) => Ok(ScheduleArgument::Random(seed)),
                Err(_) => Err(format!(
                    "the seed `{seed}` is not a number from 0 to 2^64-1"
                )),
            },
            Some(("trace", file)) if !file.is_empty() => Ok(ScheduleArgument::Trace(file.into())),
            _ => Err("expected depth-first, random:SEED or trace:FILE".to_string()),
        }
    }
}

/// Why a program could not be judged.
#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("`{}`, {error}", path.display())]
    NotASchedule {
        path: PathBuf,
        error: deadheat_lang::NotASchedule,
    },
    #[error("`{}` cannot be followed: {error}", path.display())]
    CannotFollow {
        path: PathBuf,
        error: deadheat_lang::CannotFollow,
    },
    #[error("`{}`: {error}", path.display())]
    Engine { path: PathBuf, error: EngineError },
    #[error("`{}` cannot be drawn: {error}", path.display())]
    CannotDraw { path: PathBuf, error: CannotDraw },
    #[error(
        "`{}`{} uses `{}`, which {} cannot order; {}",
        path.display(),
        match at {
            Some(at) => format!(", line {}, column {},", at.line, at.column),
            None => String::new(),
        },
        construct.word(),
        engine.name(),
        match instead {
            _ if *all_orders => "--explore visits every schedule of any program".to_string(),
            Some(instead) => format!("--engine {} can", instead.name()),
            None => "no engine can".to_string(),
        }
    )]
    CannotOrder {
        path: PathBuf,
        /// Where the run uses it, if it does.
        at: Option<SourcePosition>,
        construct: Construct,
        engine: Engine,
        /// The engine that orders all of the program's constructs.
        instead: Option<Engine>,
        all_orders: bool,
    },
    #[error("`{}` cannot be explained: {error}", path.display())]
    NotExplained {
        path: PathBuf,
        error: deadheat_explain::NotATrace,
    },
    /// Already said, with the source shown.
    #[error("`{}` is not a program", path.display())]
    NotAProgram { path: PathBuf, shown: String },
}

/// Checks each program; gives the worst status.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    if arguments.all_orders && arguments.engine.is_some_and(|e| e != Engine::Zipper) {
        complain_of("--all-orders goes with --engine zipper");
        return ExitCode::from(2);
    }
    if arguments.save_schedule.is_some() && arguments.files.len() > 1 {
        complain_of("--save-schedule goes with one program");
        return ExitCode::from(2);
    }
    if arguments.graph.is_some() && arguments.files.len() > 1 {
        complain_of("--graph goes with one program");
        return ExitCode::from(2);
    }
    let mut status = 0;
    let mut json = String::new();
    for path in &arguments.files {
        match check(arguments, path) {
            Ok((report, explanation, shown)) => {
                status = status.max(report.has_race() as u8);
                match &arguments.json {
                    // Only strings and numbers: serialising cannot fail.
                    Some(_) => {
                        let explained = Explained {
                            report: &report,
                            explanation,
                        };
                        json += &(serde_json::to_string(&explained).unwrap_or_default() + "\n");
                    }
                    None if quiet => {}
                    None if !print(&shown) => status = 2,
                    None => {}
                }
            }
            Err(failure) => {
                status = 2;
                match &failure {
                    Failure::NotAProgram { shown, .. } => complain(shown),
                    _ => complain_of(&failure),
                }
            }
        }
    }
    match &arguments.json {
        Some(Some(path)) => {
            if let Err(failure) = write(path, &json) {
                complain_of(failure);
                status = 2;
            }
        }
        Some(None) if !print(&json) => status = 2,
        Some(None) | None => {}
    }
    ExitCode::from(status)
}

/// A report, and with --explain an explanation.
#[derive(Serialize)]
struct Explained<'r> {
    #[serde(flatten)]
    report: &'r CheckReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<serde_json::Value>,
}

/// The report, its explanation if that is asked for, and both as text.
type Checked = (CheckReport, Option<serde_json::Value>, String);

fn check(arguments: &Arguments, path: &Path) -> Result<Checked, Failure> {
    let source = read(path, MAX_SOURCE_BYTES)?;
    let shown_path = path.display().to_string();
    let renderer = Renderer::new(&shown_path, &source);
    let program = Program::parse(&source).map_err(|diagnostics| Failure::NotAProgram {
        path: path.into(),
        shown: renderer.diagnostics(&diagnostics),
    })?;
    let schedule = read_schedule(&arguments.schedule)?;
    let run = program
        .run(&schedule, arguments.max_steps)
        .map_err(|error| Failure::CannotFollow {
            path: match &arguments.schedule {
                ScheduleArgument::Trace(file) => file.clone(),
                _ => path.into(),
            },
            error,
        })?;
    if let Some(file) = &arguments.save_schedule {
        write(file, &run.schedule().to_string())?;
    }
    let constructs = program.constructs();
    let fitting = Engine::fitting(constructs);
    let engine = match arguments.all_orders {
        true => arguments.engine.unwrap_or(Engine::Zipper),
        false => arguments.engine.or(fitting).unwrap_or(Engine::Graph),
    };
    if let Some(&construct) = constructs.iter().find(|&&c| !engine.orders(c)) {
        let events = &run.execution.events;
        let event = events
            .iter()
            .find(|e| e.op().construct() == Some(construct));
        return Err(Failure::CannotOrder {
            path: path.into(),
            at: event.and_then(|event| run.execution.names.position(event.site())),
            construct,
            engine,
            instead: fitting,
            all_orders: arguments.all_orders,
        });
    }
    let findings = engine
        .check(&run.execution)
        .map_err(|error| Failure::Engine {
            path: path.into(),
            error,
        })?;
    if let Some(file) = &arguments.graph {
        let drawn = file.draw(&shown_path, &run.execution, &findings.races);
        let drawn = drawn.map_err(|error| Failure::CannotDraw {
            path: path.into(),
            error,
        })?;
        write(&file.path, &drawn)?;
    }
    let orders = match arguments.all_orders {
        true => Some(
            all_orders(&program, arguments).map_err(|error| Failure::Engine {
                path: path.into(),
                error,
            })?,
        ),
        false => None,
    };
    let exploration = arguments
        .explore
        .then(|| explore(&program, arguments.max_states));
    let report = CheckReport::new(
        &shown_path,
        constructs,
        &run,
        engine,
        &findings,
        orders.as_ref(),
        exploration.as_ref(),
    );
    let mut shown = renderer.check(&report);
    let mut explanation = None;
    if arguments.explain {
        let facts = Facts::new(&run.execution, true).map_err(|error| Failure::NotExplained {
            path: path.into(),
            error,
        })?;
        let spelling = Spelling::new(&run.execution);
        let explained = facts.report(&run.execution, &spelling);
        shown += "\n";
        shown += &explained.text(&shown_path, MAX_EXPLAINED);
        explanation = serde_json::to_value(&explained).ok();
    }
    Ok((report, explanation, shown))
}

/// Visits every order of sections, with a progress bar if it takes long enough to want one.
fn all_orders(program: &Program, arguments: &Arguments) -> Result<Orders, EngineError> {
    let (steps, most) = (arguments.max_steps, arguments.max_orders);
    let style = "{spinner} visiting: {human_pos} of at most {human_len} orders, {msg} [{elapsed}]";
    let bar = progress_bar(most, style);
    let orders = orders::all_orders(program, steps, most, |progress| {
        if is_long(&bar) {
            bar.set_position(progress.visited);
            bar.set_message(format!("{} to be tried", progress.pending));
        }
    });
    bar.finish_and_clear();
    orders
}

/// Explores with a progress bar, if it takes long enough to want one.
fn explore(program: &Program, max_states: u64) -> Exploration {
    let style = "{spinner} exploring: {human_pos} of at most {human_len} states, {msg} \
                 [{elapsed}]";
    let bar = progress_bar(max_states, style);
    let options = ExploreOptions {
        max_states,
        ..ExploreOptions::default()
    };
    let exploration = program.explore(&options, |progress| {
        if is_long(&bar) {
            bar.set_position(progress.states);
            bar.set_message(format!("{} steps deep", progress.depth));
        }
    });
    bar.finish_and_clear();
    exploration
}

fn read_schedule(argument: &ScheduleArgument) -> Result<Schedule, Failure> {
    match argument {
        ScheduleArgument::DepthFirst => Ok(Schedule::DepthFirst),
        ScheduleArgument::Random(seed) => Ok(Schedule::Random(*seed)),
        ScheduleArgument::Trace(path) => match read(path, MAX_SCHEDULE_BYTES)?.parse() {
            Ok(recorded) => Ok(Schedule::Recorded(recorded)),
            Err(error) => Err(Failure::NotASchedule {
                path: path.clone(),
                error,
            }),
        },
    }
}
