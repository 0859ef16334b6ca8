//! Files that commands are given. What is wrong with one is told with its name, and with what to do.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use deadheat_model::EventNumber;
use deadheat_report::{Baseline, Filter, Sources};
use deadheat_trace::{Source, TraceError};

use crate::MAX_REPORT_BYTES;
use crate::mistaken::{Nature, hint};

/// Reads a file, or standard input, and no more of it than `most` bytes and one.
pub fn read_text(path: &Path, most: usize) -> Result<String, String> {
    let unreadable = |error| format!("cannot read `{}`: {error}", path.display());
    let mut bytes = Vec::new();
    let reader: &mut dyn Read = match path == Path::new("-") {
        true => &mut std::io::stdin(),
        false => &mut File::open(path).map_err(unreadable)?,
    };
    // One byte too many is enough to be refused.
    let mut reader = reader.take(most as u64 + 1);
    reader.read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = error.as_bytes()[..at].iter();
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        let (path, byte) = (path.display(), at + 1);
        format!("`{path}` is not text: byte {byte} (line {line}) is not UTF-8")
    })
}

/// Which findings are left out: those that `baseline` knows, a report of an earlier run, and those that files of
/// suppressions name.
pub fn read_filter(baseline: Option<&Path>, suppressions: &[PathBuf]) -> Result<Filter, String> {
    let mut filter = Filter::default();
    if let Some(path) = baseline {
        let known = Baseline::read(&read_text(path, MAX_REPORT_BYTES)?);
        filter.baseline = Some(known.map_err(|error| named(path, error))?);
    }
    for file in suppressions {
        let rules = filter.suppressions.get_or_insert_default();
        rules.read(file).map_err(|error| error.to_string())?;
    }
    Ok(filter)
}

/// Opens a trace.
pub fn open_trace(path: &Path) -> Result<Source, String> {
    deadheat_trace::open(path).map_err(|error| unusable(path, &error))
}

/// Why a command could not use a trace.
pub trait TraceFailure: Display {
    /// That it cannot be read.
    fn unreadable(&self) -> Option<&TraceError>;

    /// The event of the trace that could not have happened there, by its number from 1.
    fn event(&self) -> Option<EventNumber>;
}

impl TraceFailure for TraceError {
    fn unreadable(&self) -> Option<&TraceError> {
        Some(self)
    }

    fn event(&self) -> Option<EventNumber> {
        None
    }
}

/// What is wrong with a trace, and what to do if that is an event that could not have happened: with its line,
/// if the trace is text.
pub fn complaint(source: &Source, failure: &impl TraceFailure) -> String {
    let path = source.name();
    if let Some(error) = failure.unreadable() {
        return unusable(path, error);
    }
    let Some(event) = failure.event() else {
        return named(path, failure);
    };
    let line = source.line_of(event).map(|line| format!("line {line}: "));
    let line = line.unwrap_or_default();
    let what = format_args!("{line}{failure}; --repair leaves out what could not have happened");
    named(path, what)
}

/// Why a file is no trace: with the file's name if it is not in there, or what it is instead.
fn unusable(path: &Path, error: &TraceError) -> String {
    hint(path, Nature::Trace).unwrap_or_else(|| match error {
        TraceError::File { .. } | TraceError::UnknownFormat { .. } => error.to_string(),
        error => named(path, error),
    })
}

/// Something about a file.
pub fn named(path: &Path, what: impl Display) -> String {
    format!("`{}`: {what}", path.display())
}

/// A warning, if the sources of a trace have changed since it was recorded. Only a `.dht` file is as old as its run:
/// others are kept beside sources, and as old as their copy.
pub fn newer_sources(trace: &Path, sources: &Sources) -> Option<String> {
    let is_recording = trace.extension().is_some_and(|name| name == "dht");
    sources.newer_than(trace).filter(|_| is_recording)
}
