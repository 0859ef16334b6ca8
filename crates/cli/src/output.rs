//! Printing, and what a reader who hangs up does to it.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use deadheat::report::{Sources, counted};
use serde::Serialize;

use crate::files::write_with;

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
    /// Makes all later output follow the choice.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Makes excerpts of sources as wide as the terminal.
pub fn fit_terminal() {
    if let Some((terminal_size::Width(columns), _)) = terminal_size::terminal_size() {
        deadheat::report::set_width(columns.into());
    }
}

/// A result as JSON, with what it is.
#[derive(Serialize)]
struct Envelope<'r, T> {
    /// The version of `docs/report.schema.json` that it follows.
    schema: u32,
    command: &'static str,
    #[serde(flatten)]
    report: &'r T,
}

/// Where a result goes.
#[derive(Args)]
pub struct Delivery {
    /// Print the result as JSON, one object a line; to FILE if given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
}

impl Delivery {
    /// Delivers results, as JSON or as text; says whether that worked. With `--json=FILE` the text is
    /// not printed.
    #[must_use]
    pub fn deliver<T: Serialize>(
        &self,
        quiet: bool,
        command: &'static str,
        results: &[T],
        text: impl FnOnce() -> String,
    ) -> bool {
        match &self.json {
            Some(Some(path)) => match write_with(path, |file| write_json(file, command, results)) {
                Ok(()) => true,
                Err(error) => {
                    // The verdict is not lost with the file.
                    complain_of(error);
                    let _ = quiet || print(&text());
                    false
                }
            },
            Some(None) => print_with(BufWriter::new(std::io::stdout().lock()), |stdout| {
                write_json(stdout, command, results)
            }),
            None => quiet || print(&text()),
        }
    }
}

/// Writes to standard output; says whether that worked. A reader that has gone away
/// (`deadheat … | head`) wants no more, and that is no failure.
fn print(text: &str) -> bool {
    print_with(anstream::stdout(), |stdout| {
        stdout.write_all(text.as_bytes())
    })
}

/// Writes a command's reports as JSON, one a line.
pub fn write_json(
    mut to: impl Write,
    command: &'static str,
    reports: &[impl Serialize],
) -> std::io::Result<()> {
    for report in reports {
        let schema = deadheat::report::SCHEMA;
        let envelope = Envelope {
            schema,
            command,
            report,
        };
        serde_json::to_writer(&mut to, &envelope)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

fn print_with<W: Write>(mut stdout: W, pieces: impl FnOnce(&mut W) -> std::io::Result<()>) -> bool {
    match pieces(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            complain_of(format_args!("cannot write to standard output: {error}"));
            false
        }
        _ => true,
    }
}

/// Writes to standard error.
pub fn complain(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// One line about something that went wrong.
pub fn complain_of(error: impl std::fmt::Display) {
    complain(&format!("\x1b[1;31merror\x1b[0m: {error}\n"));
}

/// Says that lines may not be those that ran: sources have changed since `made`, which ran or was recorded, was written.
pub fn warn_of_newer(sources: &Sources, made: impl AsRef<Path>) {
    let made = made.as_ref();
    if let [first, others @ ..] = &sources.newer_than(made)[..] {
        let more = match others.len() {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "other file")),
        };
        warn_of(format_args!(
            "`{first}`{more} changed after `{}` was made: the lines shown may not be those that ran",
            made.display()
        ));
    }
}

/// One line about something that the user should know, though the work goes on.
pub fn warn_of(warning: impl std::fmt::Display) {
    complain(&format!("\x1b[1;33mwarning\x1b[0m: {warning}\n"));
}
