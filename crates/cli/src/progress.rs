//! Progress bars: on a terminal, for what takes long enough to want one.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar, on a terminal.
pub fn progress_bar(most: u64, style: &str) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(10),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(most), target);
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}

/// Whether the work has taken long enough.
pub fn is_long(bar: &ProgressBar) -> bool {
    bar.elapsed() > Duration::from_millis(500)
}

/// Progress through a trace, told as a part of it.
pub struct TraceProgress(ProgressBar);

impl TraceProgress {
    /// What is done to the trace is in the words of `doing`.
    pub fn new(doing: &'static str) -> TraceProgress {
        let bar = progress_bar(
            1000,
            "{spinner} {msg}: {percent}% {wide_bar} [{elapsed}, {eta} left]",
        );
        bar.set_message(doing);
        TraceProgress(bar)
    }

    /// So much is done, from 0 to 1.
    pub fn tell(&self, done: f64) {
        if is_long(&self.0) {
            self.0.set_position((done * 1000.0) as u64);
        }
    }
}

impl Drop for TraceProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
