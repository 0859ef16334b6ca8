//! Why a run did not come to its end.

use std::fmt;
use std::panic::resume_unwind;

use thiserror::Error;

use crate::fiber::Caller;
use crate::job::Payload;

/// What a task throws that cannot go on because of another's panic or because its run has failed: perhaps with what there
/// is to say. It is no panic of the user's: nothing is printed, and a panic of the user's is told instead where
/// there is one.
pub(crate) struct Cancellation(pub(crate) Option<String>);

/// Ends the current task because its run has failed.
pub(crate) fn cancel() -> ! {
    resume_unwind(Box::new(Cancellation(None)))
}

/// What a panic said.
pub(crate) fn message(payload: &Payload) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return text.to_string();
    }
    if let Some(Cancellation(Some(text))) = payload.downcast_ref() {
        return text.clone();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "a panic without a message".to_string(),
    }
}

/// A task that waits for what nobody will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingTask {
    /// The task, by its path (`main/2/1`), in a run that is checked or recorded.
    pub task: Option<String>,
    /// What it waits for.
    pub what: String,
    /// Where in the source it waits.
    pub at: String,
}

impl fmt::Display for WaitingTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = self.task.as_deref().unwrap_or("a task");
        write!(f, "{task} waits at {} for {}", self.at, self.what)
    }
}

/// See the [module](self).
#[derive(Debug, Error)]
pub enum Error {
    /// A task has panicked; all others have come to their end, or to a wait that the panic left without one.
    #[error("a task panicked: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
        /// What the panic carried.
        payload: Payload,
    },
    /// Nothing could run any more. The tasks that waited were unwound.
    #[error("deadlock: {}", list(.0))]
    Deadlock(
        /// Who waited for what.
        Vec<WaitingTask>,
    ),
    /// The engine cannot order what the program uses.
    #[error("{at}: {engine} cannot order `{construct}`; {instead}")]
    Unsupported {
        /// What the program uses.
        construct: &'static str,
        /// The engine that was chosen.
        engine: &'static str,
        /// Where in the source.
        at: String,
        /// What to do.
        instead: &'static str,
    },
    /// More tasks wait at once than there can be stacks.
    #[error(
        "no stack for another task that waits ({0}). Each needs one of its own: before Linux 6.13 raise \
         vm.max_map_count, else give Options::stack_size less or have fewer tasks wait at once"
    )]
    Stacks(std::io::Error),
    /// Tasks call tasks, by `join`, `finish` or `par_for`, deeper than 256 MiB of stacks; or, on a single worker, 65,536 tasks were
    /// each started by the one before and have not ended.
    #[error(
        "tasks nest too deep (256 MiB of stacks, or 65,536 that one worker started inside of each other): does the recursion end? What \
         `join`, `finish`, `par_for` and `spawn` run must be smaller each time"
    )]
    Depth,
    /// The order of tasks needs more memory than there is room for.
    #[error(transparent)]
    Full(#[from] deadheat_order::Full),
    /// The trace could not be written.
    #[error(transparent)]
    Trace(#[from] deadheat_trace::TraceError),
}

/// At most so many waiting tasks are named.
const NAMED: usize = 10;

fn list(waiting: &[WaitingTask]) -> String {
    let mut lines: Vec<String> = waiting
        .iter()
        .take(NAMED)
        .map(WaitingTask::to_string)
        .collect();
    if waiting.len() > NAMED {
        lines.push(format!("and {} more", waiting.len() - NAMED));
    }
    lines.join("; ")
}

pub(crate) fn place(at: Caller) -> String {
    format!("{}:{}:{}", at.file(), at.line(), at.column())
}
