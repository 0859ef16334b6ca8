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
//! Whether step a comes before step b is then a search backwards from what b's task knows now. As
//! cells are numbered in order of time, and a path from a only uses joins made after a, the search
//! never looks at a cell older than a. That, too, is not in the paper.
//!
//! Cost: 16 bytes a join, O(1) to add; a query looks at the joins made since a at most once each, and
//! asks the tree about each of them.

use std::collections::VecDeque;

use crate::arena::{Arena, Full};
use crate::tree::{Step, Tree};

/// What a task knows at one time: a pointer into its list of joins, 0 if it has none. Later
/// knowledge has a larger number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Known(pub u32);

impl Known {
    /// Nothing but what the tree says.
    pub const NOTHING: Known = Known(0);
}

/// What a running task knows, and what it knew when it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Knowledge {
    /// What it knows now.
    pub now: Known,
    inherited: Known,
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
    pub known: Known,
}

/// A cell of a list of joins.
#[derive(Clone, Copy, Debug)]
struct Join {
    /// The step that was waited for; none where another list is hooked in.
    step: Step,
    /// What that step's task knew, or the list that is hooked in.
    known: Known,
    /// The cell behind this one.
    rest: Known,
    /// Whether the cells behind this one were made by an ancestor.
    last_of_task: bool,
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
    pub fn merge(&self, knowledge: &mut Knowledge, other: Known) -> Result<(), Full> {
        match knowledge.now == other {
            true => Ok(()),
            false => self.add(knowledge, Step::NONE, other),
        }
    }

    /// How many bytes the joins take, room for more included.
    pub fn bytes(&self) -> usize {
        self.cells.bytes()
    }

    fn add(&self, knowledge: &mut Knowledge, step: Step, known: Known) -> Result<(), Full> {
        let rest = knowledge.now;
        let last_of_task = u64::from(!knowledge.has_grown());
        let index = self.cells.push(|_| {
            [
                u64::from(step.0) | u64::from(known.0) << 32,
                u64::from(rest.0) | last_of_task << 32,
            ]
        })?;
        knowledge.now = Known(index + 1);
        Ok(())
    }

    #[inline]
    fn cell(&self, index: u32) -> Join {
        let [of, list] = self.cells.get(index);
        Join {
            step: Step(of as u32),
            known: Known((of >> 32) as u32),
            rest: Known(list as u32),
            last_of_task: list >> 32 != 0,
        }
    }
}

/// In which order a search looks at joins (drdp-ecoop23, section 4.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traversal {
    /// All joins of one task before those of the tasks it joined; otherwise a joined task's first.
    pub breadth_first: bool,
    /// A task's joins from the latest to the first; otherwise from the first to the latest.
    pub newest_first: bool,
    /// Whether joins older than what is searched for are left aside.
    pub since: bool,
}

impl Default for Traversal {
    fn default() -> Traversal {
        Traversal {
            breadth_first: true,
            newest_first: true,
            since: true,
        }
    }
}

/// What searches for paths through joins keep between them: memory, and counts.
#[derive(Clone, Debug, Default)]
pub struct Search {
    traversal: Traversal,
    /// The number of the search that last saw a cell, by the cell's index.
    seen: Vec<u32>,
    queue: VecDeque<Join>,
    /// The lists still to be walked for one task, and where in `walked` each begins.
    lists: VecDeque<Known>,
    walked: Vec<Join>,
    /// How many searches there were.
    pub searches: u32,
    /// How many joined steps they asked the tree about.
    pub visited: u64,
    /// The most that one of them asked about.
    pub most_visited: u64,
}

impl Search {
    /// Searches in a given order.
    pub fn new(traversal: Traversal) -> Search {
        Search {
            traversal,
            ..Search::default()
        }
    }

    /// Whether a step at which the time was `since` comes before what a task knows: whether there
    /// is a path to it through joins. The tree alone is not asked.
    pub fn finds(
        &mut self,
        tree: &Tree,
        joins: &Joins,
        step: Step,
        since: u32,
        known: Known,
    ) -> bool {
        let since = match self.traversal.since {
            true => since,
            false => 0,
        };
        if known.0 <= since {
            return false;
        }
        self.begin(joins);
        let before = self.visited;
        let found = self.path(tree, joins, step, since, known);
        self.most_visited = self.most_visited.max(self.visited - before);
        found
    }

    fn begin(&mut self, joins: &Joins) {
        self.seen.resize(joins.now() as usize, 0);
        if self.searches == u32::MAX {
            self.seen.fill(0);
            self.searches = 0;
        }
        self.searches += 1;
        self.queue.clear();
    }

    fn path(&mut self, tree: &Tree, joins: &Joins, step: Step, since: u32, known: Known) -> bool {
        // Where nothing else is asked first, a join is asked about as soon as it is seen.
        let at_once = self.traversal.breadth_first && self.traversal.newest_first;
        let mut known = known;
        loop {
            if self.walk(tree, joins, step, since, known, at_once) {
                return true;
            }
            let next = match self.traversal.breadth_first {
                true => self.queue.pop_front(),
                false => self.queue.pop_back(),
            };
            let Some(join) = next else { return false };
            if !at_once && self.ask(tree, step, join) {
                return true;
            }
            known = join.known;
        }
    }

    fn ask(&mut self, tree: &Tree, step: Step, join: Join) -> bool {
        self.visited += 1;
        tree.precedes(step, join.step)
    }

    /// Adds the joins of one task, and of its ancestors before it, to the queue. Says whether one of
    /// them answers the search, if they are asked at once.
    fn walk(
        &mut self,
        tree: &Tree,
        joins: &Joins,
        step: Step,
        since: u32,
        known: Known,
        at_once: bool,
    ) -> bool {
        self.walked.clear();
        self.lists.clear();
        self.lists.push_back(known);
        while let Some(mut at) = self.lists.pop_front() {
            let begin = self.walked.len();
            while at.0 > since {
                let index = at.0 - 1;
                let seen = &mut self.seen[index as usize];
                if *seen == self.searches {
                    break;
                }
                *seen = self.searches;
                let join = joins.cell(index);
                match join.step.is_none() {
                    true => self.lists.push_back(join.known),
                    false => {
                        if at_once && self.ask(tree, step, join) {
                            return true;
                        }
                        self.walked.push(join);
                    }
                }
                at = join.rest;
                if join.last_of_task {
                    self.lists.push_back(at);
                    break;
                }
            }
            if !self.traversal.newest_first {
                self.walked[begin..].reverse();
            }
        }
        match self.traversal.breadth_first {
            true => self.queue.extend(self.walked.drain(..)),
            // The last one put in is the first one taken out.
            false => self.queue.extend(self.walked.drain(..).rev()),
        }
        false
    }
}
