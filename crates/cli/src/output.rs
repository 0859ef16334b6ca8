//! Printing, writing files, and what a reader who hangs up does to it.

use std::fmt::Display;
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use deadheat::report::harmless_text;

/// When to use colours.
#[derive(Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Makes all later output follow the choice, and excerpts of sources as wide as the terminal.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        if let Some((terminal_size::Width(columns), _)) = terminal_size::terminal_size() {
            deadheat::report::set_width(columns.into());
        }
    }
}

/// Prints a text, styled or not.
pub fn print(text: &str) -> bool {
    print_with(anstream::stdout(), |to| {
        to.write_all(harmless_text(text).as_bytes())
    })
}

/// Writes to standard output; says whether that worked. A reader that has gone away (`deadheat … | head`) wants
/// no more, and that is no failure.
pub fn print_with(
    mut stdout: impl Write,
    pieces: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> bool {
    match pieces(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            complain_of(format_args!("cannot write to standard output: {error}"));
            false
        }
        _ => true,
    }
}

/// The file itself; or, if another program that the same cargo runs has written it, the first of `report.2.json`,
/// `report.3.json`, … that none has.
fn own_file(path: &Path) -> PathBuf {
    let since = std::env::var(deadheat::native::CARGO_SINCE).ok();
    let Some(since) = since.and_then(|since| since.parse().ok()) else {
        return path.to_path_buf();
    };
    let since = SystemTime::UNIX_EPOCH + Duration::from_nanos(since);
    let is_taken = |path: &PathBuf| {
        let changed = std::fs::metadata(path).and_then(|file| file.modified());
        changed.is_ok_and(|changed| changed >= since)
    };
    let numbered = (2..).map(|number: u32| {
        let end = path.extension().unwrap_or_default().to_string_lossy();
        path.with_extension(format!("{number}.{end}"))
    });
    let mut files = std::iter::once(path.to_path_buf()).chain(numbered);
    files.find(|file| !is_taken(file)).unwrap_or_default()
}

/// Writes a file, piece by piece; says whether that worked.
pub fn written(path: &Path, pieces: impl FnOnce(&mut dyn Write) -> Result<()>) -> bool {
    let path = &own_file(path);
    let written = std::fs::File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        pieces(&mut file)?;
        file.flush()
    });
    let told = |error| complain_of(format_args!("cannot write `{}`: {error}", path.display()));
    written.map_err(told).is_ok()
}

/// Writes to standard error.
pub fn complain(text: &str) {
    let _ = anstream::stderr().write_all(harmless_text(text).as_bytes());
}

/// One line about something that went wrong.
pub fn complain_of(error: impl Display) {
    complain(&format!("\x1b[1;31merror\x1b[0m: {error}\n"));
}

/// One line about something that the user should know, though the work goes on.
pub fn warn_of(warning: impl Display) {
    complain(&format!("\x1b[1;33mwarning\x1b[0m: {warning}\n"));
}
