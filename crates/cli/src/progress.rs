//! Progress bars: on a terminal only, and only for what takes long enough to want one.

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

/// Whether what a bar is about takes long enough to be shown.
pub fn takes_long(bar: &ProgressBar) -> bool {
    bar.elapsed() > Duration::from_millis(500)
}
