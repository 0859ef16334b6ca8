//! What every search has: limits, and a progress bar on a terminal if it takes long enough to want one.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use deadheat::model::StopToken;
use deadheat::report::harmless_text;
use deadheat::trace::Source;
use deadheat::{SearchLimits, Step, Watch, named};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{complain_of, warn_of};

/// How long a search may take, and how much memory.
#[derive(Args)]
pub struct Search {
    /// Stop after this many seconds, and report what was found so far
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    pub timeout: Option<Duration>,

    /// Stop when SIZE of memory is in use, and report what was found so far. Suffixes K, M, G, T [default: 75 % of the available
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = deadheat::size)]
    max_memory: Option<u64>,
}

impl Search {
    /// The token for a search that begins now.
    pub fn token(&self) -> StopToken {
        let limits = SearchLimits {
            timeout: self.timeout,
            max_memory: self.max_memory,
        };
        limits.token(|error| {
            complain_of(error);
            std::process::exit(2)
        })
    }
}

/// The help of `--repair`.
pub const REPAIR: &str = "Leave out events that could not have happened (a release without an acquire, events of a thread \
                          that was joined), and report which";

/// Opens a trace, and says so if some of it is lost.
pub fn open_trace(path: &Path, quiet: bool) -> Result<Source, String> {
    let source = deadheat::open_trace(path)?;
    warn_of_loss(path, source.damage().filter(|_| !quiet));
    Ok(source)
}

/// Warns of what was left out of a trace, if something was.
pub fn warn_of_loss(path: &Path, lost: Option<impl std::fmt::Display>) {
    if let Some(lost) = lost {
        warn_of(named(path, lost));
    }
}

/// Does something that takes long, and shows on a terminal how far it has got and what it has found, unless `quiet`.
pub fn watched<T>(quiet: bool, work: impl FnOnce(Watch) -> T) -> T {
    let target = match std::io::stderr().is_terminal() && !quiet {
        true => ProgressDrawTarget::stderr_with_hz(10),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    let style = Mutex::new("");
    let found = Mutex::new(Findings::default());
    let result = work(&|step| {
        if bar.is_hidden() {
            return;
        }
        let is_long = bar.elapsed() >= Duration::from_millis(500);
        if let Ok(mut found) = found.lock() {
            found.note(step);
            // Lines above a bar that has not got its style yet would show another bar.
            if is_long && show(step, &bar, &style) {
                found.tell(&bar);
            }
        }
    });
    bar.finish_and_clear();
    result
}

/// What a running search has found: printed above the bar, the first of very many.
#[derive(Default)]
struct Findings {
    untold: Vec<String>,
    count: usize,
}

impl Findings {
    const MAX_TOLD: usize = 20;

    fn note(&mut self, step: Step) {
        if let Step::Found(what) = step {
            self.count += 1;
            if self.count <= Findings::MAX_TOLD {
                let line = format!("found so far: {what}");
                self.untold.push(harmless_text(&line).into_owned());
            }
        }
    }

    fn tell(&mut self, bar: &ProgressBar) {
        self.untold.drain(..).for_each(|line| bar.println(line));
    }
}

/// Shows how far the work has got; says whether the step is about that.
fn show(step: Step, bar: &ProgressBar, style: &Mutex<&'static str>) -> bool {
    const PART: &str = "{spinner} {msg}: {percent}% {wide_bar} [{elapsed}]";
    const WITNESSES: &str =
        "{spinner} {msg}: checking witnesses, {human_pos} of {human_len} [{elapsed}]";
    const STATES: &str =
        "{spinner} exploring: {human_pos} of at most {human_len} states, {msg} [{elapsed}]";
    const ORDERS: &str =
        "{spinner} visiting: {human_pos} of at most {human_len} orders, {msg} [{elapsed}]";
    let (template, done, all, message) = match step {
        Step::Reading(done) => (PART, (done * 1000.0) as u64, 1000, "reading".to_string()),
        Step::Making(done) => (
            PART,
            (done * 1000.0) as u64,
            1000,
            "making the trace".to_string(),
        ),
        Step::Judging(name, done, all) => (PART, done, all, name.to_string()),
        Step::Checking(name, done, all) => (WITNESSES, done, all, name.to_string()),
        Step::Exploring(states, most, depth) => {
            (STATES, states, most, format!("{depth} steps deep"))
        }
        Step::Ordering(visited, most, left) => {
            (ORDERS, visited, most, format!("{left} to be tried"))
        }
        Step::Found(_) => return false,
    };
    if let Ok(mut known) = style.lock()
        && std::mem::replace(&mut *known, template) != template
        && let Ok(style) = ProgressStyle::with_template(template)
    {
        bar.set_style(style);
    }
    bar.set_length(all);
    bar.set_position(done);
    bar.set_message(message);
    true
}
