//! Tasks of OpenMP, and what counts as one.

use std::sync::Arc;

use super::{Frame, Place};

/// What a task is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TaskKind {
    /// Of a `task` construct.
    Explicit,
    /// One thread's part of a parallel region.
    Implicit,
    /// Some iterations of a loop.
    Iterations,
    /// A section.
    Section,
    /// A `single` block.
    Single,
    /// A parallel region.
    Region,
    /// A thread of the program's own.
    Thread,
}

/// A task of OpenMP, or what counts as one.
#[derive(Clone, Debug)]
pub struct Task {
    /// What it is.
    pub kind: TaskKind,
    /// The same for the same task.
    pub id: u64,
    /// The thread's number in its team, or the first iteration.
    pub number: u64,
    /// How many iterations.
    pub iterations: u64,
    /// Where the construct stands; innermost first.
    pub stack: Arc<[Arc<Frame>]>,
    /// What it depends on, in the order of its clauses.
    pub depends: Vec<Dependence>,
}

/// A dependence of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependence {
    /// How.
    pub kind: DependenceKind,
    /// On what.
    pub variable: String,
}

/// How a task depends on something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DependenceKind {
    /// `in`.
    In,
    /// `out`.
    Out,
    /// `inout`.
    InOut,
    /// `mutexinoutset`.
    MutexInOutSet,
    /// `inoutset`.
    InOutSet,
}

impl DependenceKind {
    /// The clause's word.
    pub fn word(self) -> &'static str {
        match self {
            DependenceKind::In => "in",
            DependenceKind::Out => "out",
            DependenceKind::InOut => "inout",
            DependenceKind::MutexInOutSet => "mutexinoutset",
            DependenceKind::InOutSet => "inoutset",
        }
    }
}

impl Task {
    /// Where the construct stands in the program's own code, if that is known.
    pub fn place(&self) -> Place {
        Frame::of_program(&self.stack).map_or_else(Place::unknown, Frame::place)
    }
}
