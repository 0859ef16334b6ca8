//! Printing, and what a reader who hangs up does to it.

use std::io::{BufWriter, Write};

use clap::ValueEnum;
use serde::Serialize;

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

/// Writes to standard output; says whether that worked. A reader that has gone away
/// (`deadheat … | head`) wants no more, and that is no failure.
#[must_use]
pub fn print(text: &str) -> bool {
    print_with(anstream::stdout(), |stdout| {
        stdout.write_all(text.as_bytes())
    })
}

/// Writes JSON to standard output, one value a line.
#[must_use]
pub fn print_json(values: &[impl Serialize]) -> bool {
    let stdout = BufWriter::new(std::io::stdout().lock());
    print_with(stdout, |stdout| write_json(stdout, values))
}

/// Writes JSON, one value a line.
pub fn write_json(mut to: impl Write, values: &[impl Serialize]) -> std::io::Result<()> {
    for value in values {
        serde_json::to_writer(&mut to, value)?;
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

/// One line about something that went wrong outside any source text.
pub fn complain_of(error: impl std::fmt::Display) {
    complain(&format!("\x1b[1;31merror\x1b[0m: {error}\n"));
}

/// One line about something that the user should know, though the work goes on.
pub fn warn_of(warning: impl std::fmt::Display) {
    complain(&format!("\x1b[1;33mwarning\x1b[0m: {warning}\n"));
}

/// A name that comes from a file, fit for a terminal and a line.
pub fn shown(name: &str) -> String {
    deadheat_report::cut(name, 101)
}
