//! Files in and out, whole.

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use deadheat::trace::{self, Source, TraceError};

use crate::mistaken::{Nature, hint};
use crate::output::warn_of;

/// Reads a file, or standard input, and no more of it than `most` bytes and one.
pub fn read(path: &Path, most: usize) -> Result<String, String> {
    let unreadable = |error| format!("cannot read `{}`: {error}", path.display());
    let mut bytes = Vec::new();
    let reader: &mut dyn Read = match path == Path::new("-") {
        true => &mut std::io::stdin(),
        false => &mut fs::File::open(path).map_err(unreadable)?,
    };
    // One byte too many is enough to be refused.
    let mut reader = reader.take(most as u64 + 1);
    reader.read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            + 1;
        let path = path.display();
        format!(
            "`{path}` is not text: byte {} (line {line}) is not UTF-8",
            at + 1
        )
    })
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    write_with(path, |file| file.write_all(text.as_bytes()))
}

/// Writes a file, piece by piece.
pub fn write_with(
    path: &Path,
    pieces: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), String> {
    let written = fs::File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        pieces(&mut file)?;
        file.flush()
    });
    written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

/// Opens a trace, and says so if some of it is lost.
pub fn open_trace(path: &Path, quiet: bool) -> Result<Source, String> {
    let source = trace::open(path).map_err(|error| of_trace(path, &error))?;
    if let Some(damage) = source.damage()
        && !quiet
    {
        warn_of(format_args!("`{}`: {damage}", path.display()));
    }
    Ok(source)
}

/// Whether a trace was written when its program ran: others are kept beside sources, and as old as their copy.
pub fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|name| name == "dht")
}

/// What is wrong with a trace, with the file's name if it is not in there; or what it is if it is none.
pub fn of_trace(path: &Path, error: &TraceError) -> String {
    if let Some(hint) = hint(path, Nature::Trace) {
        return hint;
    }
    match error {
        TraceError::File { .. } | TraceError::UnknownFormat { .. } => error.to_string(),
        error => of(path, error),
    }
}

/// What is wrong with a trace, and what to do if that is an event that could not have happened: with its line,
/// if the trace is text.
pub fn of_event(
    path: &Path,
    source: &Source,
    event: Option<u64>,
    error: impl std::fmt::Display,
) -> String {
    let Some(event) = event else {
        return of(path, error);
    };
    let line = source.line_of(event).map(|line| format!("line {line}: "));
    let line = line.unwrap_or_default();
    of(
        path,
        format_args!("{line}{error}; --repair leaves out what could not have happened"),
    )
}

/// What is wrong with a file.
pub fn of(path: &Path, error: impl std::fmt::Display) -> String {
    format!("`{}`: {error}", path.display())
}
