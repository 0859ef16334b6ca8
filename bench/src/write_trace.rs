//! The command that writes a generated trace into a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deadheat_model::{Event, Legend, Op};
use thiserror::Error;

use crate::generate::{self, Shape, ShapeError};
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

    /// The file to write
    #[arg(short, long, value_name = "FILE.std")]
    output: PathBuf,
}

/// Why there is no file.
#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("{0}: {1}")]
    Write(String, io::Error),
}

/// Writes the file.
pub fn run(arguments: &Arguments) -> ExitCode {
    match write(&arguments.shape(), &arguments.output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
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

fn write(shape: &Shape, path: &Path) -> Result<(), Failure> {
    let events = generate::generate(*shape)?;
    let legend = shape.legend();
    let written =
        File::create(path).and_then(|file| write_std(events, &legend, BufWriter::new(file)));
    written.map_err(|error| Failure::Write(path.display().to_string(), error))
}

fn write_std(
    events: impl Iterator<Item = Event>,
    legend: &Legend,
    mut out: impl Write,
) -> io::Result<()> {
    for event in events {
        let (what, object) = match event.op() {
            Op::Read(x, _) => ("r", legend.location(x)),
            Op::Write(x) => ("w", legend.location(x)),
            Op::Acquire(l) => ("acq", legend.lock(l)),
            Op::Release(l) => ("rel", legend.lock(l)),
            Op::Fork(t) => ("fork", legend.strand(t)),
            Op::Join(t) => ("join", legend.strand(t)),
            op => unreachable!("{op:?} is not generated"),
        };
        let (thread, site) = (legend.strand(event.strand()), legend.site(event.site()));
        writeln!(out, "{thread}|{what}({object})|{site}")?;
    }
    out.flush()
}
