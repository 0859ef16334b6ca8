//! Joins beside the tree (drdp-ecoop23, section 4): what a task knows by promises, futures and
//! threads.
//!
//! Simple model: the computation graph. The tree orders some steps; a join adds an edge from the step
//! that set a promise (or was a task's last) to the step that begins when another task has got it. A
//! step comes before another if there is a path. Tests compare with the closure of that graph.
//!
//! The paper keeps, for each set of tasks that a `finish` has merged, a list of joins, and for a new
//! task a pointer to the nearest ancestor that has any. Both forget *when*: a join made later counts
//! for what was done earlier (see docs/errata.md). Here a task's joins are a list that only grows at
//! its front and whose cells never change, so that a pointer into it *is* the task's knowledge at one
//! time:
//! - a join puts a cell in front: where the joined step is, and what its task knew then;
//! - a new task begins with its parent's pointer: the paper's least significant ancestor, as of the
//!   spawn;
//! - at the end of a `finish`, the lists of the tasks inside that have joined something are hooked
//!   in.
//!
//! Whether step a comes before step b is then a search backwards from what b's task knows now.
//! [`Search`](crate::search::Search) says how.
//!
//! Cost: 16 bytes a join, O(1) to add.

use crate::arena::{Arena, Full};
use crate::tree::Step;

/// The past of a task at one time, as far as joins tell it: a pointer into its list of joins, 0 if it has
/// none. A later past has a larger number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Past(pub u32);

/// What a running task knows, and what it knew when it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Knowledge {
    /// What it knows now.
    pub now: Past,
    inherited: Past,
}

impl Knowledge {
    /// What a task knows that this one starts.
    pub fn inherit(&self) -> Knowledge {
        Knowledge {
            now: self.now,
            inherited: self.now,
        }
    }

    /// Whether it has learnt anything since it began.
    pub fn has_grown(&self) -> bool {
        self.now != self.inherited
    }
}

/// What a promise that is set, or a task that has ended, hands to whoever waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// The last step before it.
    pub step: Step,
    /// What that step's task knew.
    pub known: Past,
}

/// A cell of a list of joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    /// The step that was waited for; none where another list is hooked in.
    pub(crate) step: Step,
    /// What that step's task knew, or the list that is hooked in.
    pub(crate) known: Past,
    /// The next cell of the list.
    pub(crate) rest: Past,
    /// Whether the cells after this one were made by an ancestor.
    pub(crate) last_of_task: bool,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Joins {
    cells: Arena,
}

impl Joins {
    /// No joins.
    pub fn new() -> Joins {
        Joins::default()
    }

    /// The time: how many cells there are.
    #[inline]
    pub fn now(&self) -> u32 {
        self.cells.len()
    }

    /// A task has waited for a signal.
    pub fn join(&self, knowledge: &mut Knowledge, signal: Signal) -> Result<(), Full> {
        self.add(knowledge, signal.step, signal.known)
    }

    /// A task has waited, at the end of a `finish`, for a task that had learnt something.
    pub fn merge(&self, knowledge: &mut Knowledge, other: Past) -> Result<(), Full> {
        match knowledge.now == other {
            true => Ok(()),
            false => self.add(knowledge, Step::NONE, other),
        }
    }

    /// How many bytes the joins take, room for more included.
    pub fn bytes(&self) -> usize {
        self.cells.bytes()
    }

    fn add(&self, knowledge: &mut Knowledge, step: Step, known: Past) -> Result<(), Full> {
        let rest = knowledge.now;
        let last_of_task = u64::from(!knowledge.has_grown());
        let index = self.cells.push(|_| {
            [
                u64::from(step.0) | u64::from(known.0) << 32,
                u64::from(rest.0) | last_of_task << 32,
            ]
        })?;
        knowledge.now = Past(index + 1);
        Ok(())
    }

    #[inline]
    pub(crate) fn cell(&self, index: u32) -> Join {
        let [of, list] = self.cells.get(index);
        Join {
            step: Step(of as u32),
            known: Past((of >> 32) as u32),
            rest: Past(list as u32),
            last_of_task: list >> 32 != 0,
        }
    }
}
