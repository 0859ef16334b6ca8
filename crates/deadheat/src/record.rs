//! `deadheat record`: a C or C++ program, written down while it runs.

use std::path::{Path, PathBuf};

use deadheat_model::guarantee::Unchecked;
use deadheat_native::{
    Findings, FindingsError, Launch, LaunchError, Outcome, Program, Recorded, RecordingError,
    Tapes, launch, write_trace,
};
use thiserror::Error;

use crate::mistaken::advice;
use crate::{Step, Watch};

/// What is to be recorded, and where to.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// The program.
    pub program: Program,
    /// The trace. If the program starts others that have threads, theirs lie beside it, with their process's number in
    /// the name.
    pub output: PathBuf,
    /// How many bytes a process may record: what comes later is not recorded.
    pub limit: Option<u64>,
}

/// Why a program could not be recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The program could not be started.
    #[error("{0}{advice}", advice = advice(.0))]
    Launch(#[from] LaunchError),
    /// What it left cannot be read.
    #[error(transparent)]
    Findings(#[from] FindingsError),
    /// It cannot become a trace.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// A program that has been recorded.
pub struct Recording {
    outcome: Outcome,
    /// One trace a process, the program's own first; none if it was not built to be recorded.
    pub traces: Vec<(PathBuf, Recorded)>,
    /// What was not recorded.
    pub unchecked: Vec<Unchecked>,
    /// Whether a process ended itself by `abort`.
    pub aborted: bool,
}

impl Recording {
    /// The program's own exit status.
    pub fn status(&self) -> u8 {
        self.outcome.code()
    }

    /// Whether a process that it started still runs: what that does is not in the traces.
    pub fn left_behind(&self) -> bool {
        self.outcome.left_behind
    }
}

/// Runs a program built by `deadheat cc` or `deadheat c++`, and writes what it does as a trace.
pub fn record(options: &RecordOptions, watch: Watch) -> Result<Recording, RecordError> {
    let beside = options.output.parent().map(Path::to_path_buf);
    let beside = beside.filter(|path| !path.as_os_str().is_empty());
    let what = Launch {
        program: options.program.clone(),
        tapes: Some(Tapes {
            // What is recorded may be large: it goes where the trace goes.
            room: beside.unwrap_or_else(|| ".".into()),
            limit: options.limit.unwrap_or(u64::MAX),
        }),
    };
    let outcome = launch(&what, None)?;
    let findings = Findings::read(&outcome.mailbox)?;
    let unchecked = findings.unchecked(&options.program.path);
    let aborted = findings.is_aborted();
    let mut traces = Vec::new();
    for process in findings.checked() {
        let Some(tape) = outcome.tape(process) else {
            continue;
        };
        let first = traces.is_empty();
        let path = match first {
            true => options.output.clone(),
            false => with_number(&options.output, process.pid),
        };
        let written = write_trace((&tape, &outcome.mailbox), process, &path, |done| {
            watch(Step::Making(done))
        });
        let Some(recorded) = written? else { continue };
        // The tape is no longer needed, and the next trace may need the room.
        let _ = std::fs::remove_file(&tape);
        if first || recorded.threads > 1 {
            traces.push((path, recorded));
        } else {
            let _ = std::fs::remove_file(&path);
        }
    }
    Ok(Recording {
        outcome,
        traces,
        unchecked,
        aborted,
    })
}

/// `run.dht` of process 17 is `run.17.dht`.
fn with_number(path: &Path, number: u64) -> PathBuf {
    path.with_extension(format!("{number}.dht"))
}
