//! Progress bars: on a terminal, for what takes long enough to want one. Findings of a search that goes on stand above
//! the bar.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use deadheat::Step;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far a call has got.
pub struct Progress {
    bar: ProgressBar,
    style: Mutex<&'static str>,
    found: Mutex<Vec<String>>,
}

/// How long work takes that wants no bar.
const SHORT: Duration = Duration::from_millis(500);

/// How many findings are told before the search is over.
const MAX_TOLD: usize = 20;

impl Progress {
    /// Shows nothing yet.
    pub fn new() -> Progress {
        let target = match std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr_with_hz(10),
            false => ProgressDrawTarget::hidden(),
        };
        Progress {
            bar: ProgressBar::with_draw_target(Some(0), target),
            style: Mutex::new(""),
            found: Mutex::default(),
        }
    }

    /// Shows a step, once the work has taken long enough.
    pub fn show(&self, step: Step) {
        if self.bar.is_hidden() {
            return;
        }
        if let Step::Found(what) = step
            && let Ok(mut found) = self.found.lock()
        {
            found.push(what.to_string());
        }
        if self.bar.elapsed() < SHORT {
            return;
        }
        self.tell_findings();
        let (style, done, all, message) = match step {
            Step::Reading(done) => (
                "{spinner} reading: {percent}% {wide_bar} [{elapsed}]",
                (done * 1000.0) as u64,
                1000,
                String::new(),
            ),
            Step::Judging(name, done, all) => (
                "{spinner} {msg}: {percent}% {wide_bar} [{elapsed}]",
                done,
                all,
                name.to_string(),
            ),
            Step::Checking(name, done, all) => (
                "{spinner} {msg}: checking witnesses, {human_pos} of {human_len} [{elapsed}]",
                done,
                all,
                name.to_string(),
            ),
            Step::Exploring(states, most, depth) => (
                "{spinner} exploring: {human_pos} of at most {human_len} states, {msg} [{elapsed}]",
                states,
                most,
                format!("{depth} steps deep"),
            ),
            Step::Ordering(visited, most, pending) => (
                "{spinner} visiting: {human_pos} of at most {human_len} orders, {msg} [{elapsed}]",
                visited,
                most,
                format!("{pending} to be tried"),
            ),
            Step::Found(_) => return,
        };
        if let Ok(mut known) = self.style.lock()
            && std::mem::replace(&mut *known, style) != style
            && let Ok(style) = ProgressStyle::with_template(style)
        {
            self.bar.set_style(style);
        }
        self.bar.set_length(all);
        self.bar.set_position(done);
        self.bar.set_message(message);
    }
}

impl Progress {
    /// Tells what was found and not yet told.
    fn tell_findings(&self) {
        let Ok(mut found) = self.found.lock() else {
            return;
        };
        for what in found.iter_mut().take(MAX_TOLD) {
            if !what.is_empty() {
                self.bar.println(format!("found so far: {what}"));
                what.clear();
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
