//! Whether a task comes after a step by what it knows from joins (drdp-ecoop23, Figure 9).
//!
//! Simple model: walk all cells of joins that can be reached from the task's knowledge; the step comes
//! before if the tree says so of one of the joined steps. The paper walks breadth first, a task's
//! latest join first (section 4.4.1).
//!
//! What is added to that:
//! - *Time.* Cells are numbered in order of time, and a path from a step uses only joins made after
//!   it: older cells are not looked at.
//! - *A milestone.* If some other step is known to happen after the step in question, a path from
//!   that one will do. Those who read what was written once, one after the other, need not all go
//!   back to the write.
//! - *The frontier.* A task that asks again and again with the same knowledge (it has waited for a
//!   thousand futures, and now reads what they made) pays for one walk over all that it knows, and
//!   keeps the joined steps that come before no other joined step, from left to right in the tree.
//!   Every further answer is a binary search: see [`Tree::keep_last`]. The walk is made when searches
//!   have cost as much.
//!
//! Cost: a search looks at each join made since the step at most once; searches with one and the same
//! knowledge together cost no more than twice the joins made since, and a logarithm each.

use std::collections::VecDeque;

use crate::joins::{Join, Joins, Past};
use crate::tree::{Step, Tree};

/// In which order a search looks at joins (drdp-ecoop23, section 4.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traversal {
    /// All joins of one task before those of the tasks it joined; otherwise a joined task's first.
    pub breadth_first: bool,
    /// A task's joins from the latest to the first; otherwise from the first to the latest.
    pub newest_first: bool,
}

/// What is asked of a search.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The step that may come before.
    pub step: Step,
    /// The time at which it was there.
    pub since: u32,
    /// A step known to happen after it; [`Step::NONE`] if there is none.
    pub milestone: Step,
    /// What the task knows.
    pub known: Past,
}

/// How many joins a search may look at and still be as fast as a binary search in a frontier.
const FEW: u64 = 4;

/// What searches keep between them.
#[derive(Clone, Debug)]
pub struct Search {
    traversal: Traversal,
    /// Whether to search as the paper does, without what is added to it.
    as_printed: bool,
    /// The number of the walk that last saw a cell, by the cell's index.
    seen: Vec<u32>,
    walk: u32,
    queue: VecDeque<Join>,
    /// The lists still to be walked for one task.
    lists: VecDeque<Past>,
    walked: Vec<Join>,
    frontier: Frontier,
    spent: SearchCost,
    /// What `visited` may come to before a search is given up.
    limit: u64,
    /// How many searches there were.
    pub searches: u64,
    /// How many joined steps they asked the tree about.
    pub visited: u64,
    /// The most that one of them asked about.
    pub most_visited: u64,
    /// How many cells were looked at to make frontiers.
    pub gathered: u64,
}

/// What searches with one knowledge have cost so far.
#[derive(Clone, Debug, Default)]
struct SearchCost {
    known: Past,
    searches: u64,
    visited: u64,
}

/// The joined steps of a past that come before no other of them, from left to right.
#[derive(Clone, Debug, Default)]
struct Frontier {
    known: Past,
    /// Joins older than this are left out.
    since: u32,
    steps: Vec<Step>,
}

impl Default for Search {
    fn default() -> Search {
        let traversal = Traversal {
            breadth_first: true,
            newest_first: true,
        };
        Search {
            as_printed: false,
            ..Search::as_printed(traversal)
        }
    }
}

impl Search {
    /// Searches in a given order, and with nothing that the paper does not have: to measure.
    pub fn as_printed(traversal: Traversal) -> Search {
        Search {
            traversal,
            as_printed: true,
            seen: Vec::new(),
            walk: 0,
            queue: VecDeque::new(),
            lists: VecDeque::new(),
            walked: Vec::new(),
            frontier: Frontier::default(),
            spent: SearchCost::default(),
            limit: u64::MAX,
            searches: 0,
            visited: 0,
            most_visited: 0,
            gathered: 0,
        }
    }

    /// Whether there is a path to what a task knows, through joins. The tree alone is not asked.
    pub fn finds(&mut self, tree: &Tree, joins: &Joins, question: Question) -> bool {
        let mut question = question;
        if self.as_printed {
            question.since = 0;
            question.milestone = Step::NONE;
        }
        let Question { since, known, .. } = question;
        if known.0 <= since {
            return false;
        }
        if self.frontier.known == known && self.frontier.since <= since && !self.as_printed {
            return self.frontier.covers(tree, question.step);
        }
        self.searches += 1;
        let before = self.visited;
        // Mostly a few joins are enough, and the milestone would only cost; if not, it may be nearer.
        let without = Question {
            milestone: Step::NONE,
            ..question
        };
        let found = match question.milestone.is_none() {
            true => None,
            false => self.search(tree, joins, &without, 2 * FEW),
        };
        let found = found
            .or_else(|| self.search(tree, joins, &question, u64::MAX))
            .unwrap_or(false);
        let visited = self.visited - before;
        self.most_visited = self.most_visited.max(visited);
        if self.spent.known != known {
            self.spent = SearchCost {
                known,
                ..SearchCost::default()
            };
        }
        self.spent.searches += 1;
        self.spent.visited += visited;
        let a_walk = u64::from(known.0 - since);
        let worth_it = a_walk.max(self.spent.searches * FEW);
        if self.spent.visited > worth_it && !self.as_printed {
            self.make_frontier(tree, joins, since, known);
        }
        found
    }

    /// As [`finds`](Search::finds), but looks at `effort` joins at most, and takes off what it
    /// has looked at. What it does not find in these may be there.
    pub fn finds_within(
        &mut self,
        tree: &Tree,
        joins: &Joins,
        question: Question,
        effort: &mut u64,
    ) -> bool {
        if question.known.0 <= question.since || *effort == 0 {
            return false;
        }
        self.searches += 1;
        let before = self.visited;
        let found = self.search(tree, joins, &question, *effort);
        *effort = effort.saturating_sub(self.visited - before);
        found == Some(true)
    }

    /// All that was done, in joins looked at.
    pub fn work(&self) -> u64 {
        self.searches + self.visited + self.gathered
    }

    /// Begins a walk on which no cell has been seen.
    fn begin(&mut self, joins: &Joins) {
        self.seen.resize(joins.now() as usize, 0);
        if self.walk == u32::MAX {
            self.seen.fill(0);
            self.walk = 0;
        }
        self.walk += 1;
        self.queue.clear();
    }

    /// Whether a cell is seen for the first time on this walk.
    #[inline]
    fn is_new(&mut self, index: u32) -> bool {
        let seen = &mut self.seen[index as usize];
        let is_new = *seen != self.walk;
        *seen = self.walk;
        is_new
    }

    /// Searches through so many joins; none if that was not enough to know.
    fn search(
        &mut self,
        tree: &Tree,
        joins: &Joins,
        question: &Question,
        limit: u64,
    ) -> Option<bool> {
        self.begin(joins);
        self.limit = self.visited.saturating_add(limit);
        // Where nothing else is asked first, a join is asked about as soon as it is seen.
        let at_once = self.traversal.breadth_first && self.traversal.newest_first;
        let mut known = question.known;
        loop {
            if self.add_joins(tree, joins, question, known, at_once) {
                return Some(true);
            }
            if self.visited >= self.limit {
                return None;
            }
            let next = match self.traversal.breadth_first {
                true => self.queue.pop_front(),
                false => self.queue.pop_back(),
            };
            let Some(join) = next else {
                return Some(false);
            };
            if !at_once && self.answers(tree, question, join) {
                return Some(true);
            }
            known = join.known;
        }
    }

    fn answers(&mut self, tree: &Tree, question: &Question, join: Join) -> bool {
        self.visited += 1;
        tree.precedes(question.step, join.step)
            || (!question.milestone.is_none() && tree.precedes(question.milestone, join.step))
    }

    /// Adds the joins of one task, and of its ancestors before it, to the queue. Says whether one of
    /// them answers the question, if they are asked at once.
    fn add_joins(
        &mut self,
        tree: &Tree,
        joins: &Joins,
        question: &Question,
        known: Past,
        at_once: bool,
    ) -> bool {
        self.walked.clear();
        self.lists.clear();
        self.lists.push_back(known);
        while let Some(mut at) = self.lists.pop_front() {
            let begin = self.walked.len();
            while at.0 > question.since && self.visited < self.limit && self.is_new(at.0 - 1) {
                let join = joins.cell(at.0 - 1);
                match join.step.is_none() {
                    true => self.lists.push_back(join.known),
                    false => {
                        if at_once && self.answers(tree, question, join) {
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

    fn make_frontier(&mut self, tree: &Tree, joins: &Joins, since: u32, known: Past) {
        self.begin(joins);
        let mut steps = std::mem::take(&mut self.frontier.steps);
        steps.clear();
        self.lists.clear();
        self.lists.push_back(known);
        while let Some(mut at) = self.lists.pop_back() {
            while at.0 > since && self.is_new(at.0 - 1) {
                self.gathered += 1;
                let join = joins.cell(at.0 - 1);
                if !join.step.is_none() {
                    steps.push(join.step);
                }
                self.lists.push_back(join.known);
                at = join.rest;
            }
        }
        tree.keep_last(&mut steps, |&step| step);
        self.frontier = Frontier {
            known,
            since,
            steps,
        };
    }
}

impl Frontier {
    /// Whether a step comes before one of these, or is one of them.
    fn covers(&self, tree: &Tree, step: Step) -> bool {
        // Those to the left of the step it cannot come before; of the others, the leftmost one is the
        // last to begin if everything that can wait waits.
        let is_left = |&other: &Step| other != step && tree.relation(other, step).left;
        let at = self.steps.partition_point(is_left);
        let leftmost = self.steps.get(at);
        leftmost.is_some_and(|&other| tree.precedes(step, other))
    }
}
