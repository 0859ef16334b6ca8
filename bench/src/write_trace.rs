//! The command that writes a generated trace into a file.

use std::error::Error;
use std::path::{Path, PathBuf};

use deadheat_trace::{TraceError, WINDOW};
use thiserror::Error;

use crate::generate::{Shape, ShapeError, generate};
use crate::presets::{PRESETS, Preset};

/// Make a trace of threads, of a given shape
///
/// What is given besides a preset replaces what the preset says.
#[derive(clap::Args)]
pub struct Arguments {
    /// A shape with a name
    #[arg(long, value_name = "NAME", value_parser = PRESETS.map(|preset| preset.name))]
    #[arg(required_unless_present = "events")]
    preset: Option<String>,

    /// How many events
    #[arg(long, value_name = "N")]
    events: Option<u64>,

    /// How many threads [default: 4]
    #[arg(long, value_name = "K")]
    threads: Option<u32>,

    /// How many variables [default: a sixtieth of the events]
    #[arg(long, value_name = "V")]
    variables: Option<u64>,

    /// How many locks [default: a hundredth of the variables]
    #[arg(long, value_name = "L")]
    locks: Option<u32>,

    /// How many places in the source [default: 1000, or one for each two events]
    #[arg(long, value_name = "S")]
    sites: Option<u32>,

    /// How many sections can be inside one another [default: 3]
    #[arg(long, value_name = "DEPTH")]
    nesting: Option<u32>,

    /// How many of the events are acquires and releases [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    sync_share: Option<f64>,

    /// How many of the accesses are reads [default: 0.66]
    #[arg(long, value_name = "SHARE")]
    read_share: Option<f64>,

    /// How many of the accesses can race [default: 0; a preset has some tens of racy pairs of sites]
    #[arg(long, value_name = "SHARE")]
    racy_share: Option<f64>,

    /// Another seed, another trace
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// The file to write: .dht, .std or .csv
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Why there is no file.
#[derive(Debug, Error)]
#[error(transparent)]
#[allow(missing_docs)]
pub enum Failure {
    Shape(#[from] ShapeError),
    Trace(#[from] TraceError),
}

/// Writes the file.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    Ok(write(&arguments.shape(), &arguments.output)?)
}

impl Arguments {
    fn shape(&self) -> Shape {
        let preset = self.preset.as_deref().and_then(Preset::named);
        let base = preset.map_or_else(|| self.default_shape(), |preset| preset.shape(self.seed));
        Shape {
            events: self.events.unwrap_or(base.events),
            threads: self.threads.unwrap_or(base.threads),
            variables: self.variables.unwrap_or(base.variables),
            locks: self.locks.unwrap_or(base.locks),
            sites: self.sites.unwrap_or(base.sites),
            nesting: self.nesting.unwrap_or(base.nesting),
            sync_share: self.sync_share.unwrap_or(base.sync_share),
            read_share: self.read_share.unwrap_or(base.read_share),
            racy_share: self.racy_share.unwrap_or(base.racy_share),
            seed: self.seed,
        }
    }

    fn default_shape(&self) -> Shape {
        let events = self.events.unwrap_or_default();
        let variables = self.variables.unwrap_or(events / 60);
        Shape {
            events,
            threads: 4,
            variables,
            locks: u32::try_from(variables / 100).unwrap_or(u32::MAX),
            sites: (events / 2).clamp(1, 1_000) as u32,
            nesting: 3,
            sync_share: 0.1,
            read_share: 0.66,
            racy_share: 0.0,
            seed: self.seed,
        }
    }
}

/// Writes the trace of that shape into a file, whose name says its format.
pub fn write(shape: &Shape, path: &Path) -> Result<(), Failure> {
    let mut events = generate(*shape)?;
    let names = shape.names();
    let mut window = Vec::with_capacity(WINDOW);
    deadheat_trace::write(path, |sink| {
        loop {
            window.clear();
            window.extend(events.by_ref().take(WINDOW));
            if window.is_empty() {
                return Ok(());
            }
            sink(&window, &names)?;
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_generated() {
        let directory = tempfile::tempdir().expect("a directory");
        let preset = Preset::named("moldyn").expect("a preset");
        let shape = preset.shape(1);
        let path = directory.path().join("trace.dht");
        write(&shape, &path).expect("a file");
        let source = deadheat_trace::open(&path).expect("a trace");
        let trace = source.read_all().expect("a trace");
        let generated = generate(shape).expect("a possible shape");
        assert!(generated.eq(trace.events));
        assert_eq!(trace.names, shape.names());
    }

    #[test]
    fn text_has_the_names_that_rapid_gives() {
        let directory = tempfile::tempdir().expect("a directory");
        let preset = Preset::named("account").expect("a preset");
        let path = directory.path().join("trace.std");
        write(&preset.shape(1), &path).expect("a file");
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.starts_with("T0|w(V0)|2\n"), "{text}");
        assert!(text.contains("\nT1|acq(L"), "{text}");
        assert!(text.ends_with("\nT0|join(T2)|1\n"), "{text}");
    }
}
