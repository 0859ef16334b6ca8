//! What every search has: limits, a result as text or JSON, and a progress bar on a terminal if it takes long enough to
//! want one.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use deadheat::model::StopToken;
use deadheat::trace::Source;
use deadheat::{SearchLimits, Step, Watch, named};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::output::{complain_of, print, print_with, warn_of, written};

/// How long a search may take and how much memory, and where its result goes.
#[derive(Args)]
pub struct Search {
    /// Stop after so many seconds, and report what was found until then
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    pub timeout: Option<Duration>,

    /// Stop when so much memory is taken, and report what was found until then: bytes, or with K, M, G, T;
    /// three quarters of what is there unless given
    #[arg(long, value_name = "SIZE", value_parser = deadheat::size)]
    max_memory: Option<u64>,

    /// Print the result as JSON, one object a line; to FILE if given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
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

    /// Delivers reports, as JSON or as text; says whether that worked. With `--json=FILE` the text is
    /// not printed.
    #[must_use]
    pub fn deliver<'r, T: Serialize + 'r>(
        &self,
        quiet: bool,
        command: &str,
        reports: impl IntoIterator<Item = &'r T>,
        text: impl FnOnce() -> String,
    ) -> bool {
        let json = |to: &mut dyn Write| deadheat::report::json(command, reports, to);
        match &self.json {
            Some(Some(path)) => {
                let written = written(path, json);
                // The verdict is not lost with the file.
                let _ = written || quiet || print(&text());
                written
            }
            Some(None) => print_with(BufWriter::new(std::io::stdout().lock()), json),
            None => quiet || print(&text()),
        }
    }
}

/// The help of `--repair`.
pub const REPAIR: &str = "Leave out events that could not have happened (a release without an acquire, what a thread does after \
                          it was joined), and say which";

/// Opens a trace, and says so if some of it is lost.
pub fn open_trace(path: &Path, quiet: bool) -> Result<Source, String> {
    let source = deadheat::open_trace(path)?;
    warn_of_loss(path, source.damage().filter(|_| !quiet));
    Ok(source)
}

/// Says what of a trace is not looked at, if something is not.
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

/// What a search that goes on has found: told above the bar, the first of very many.
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
                self.untold.push(format!("found so far: {what}"));
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
