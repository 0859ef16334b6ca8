//! Zipper: task programs with mutual exclusion (zipper, section 3).
//!
//! Simple model: the computation graph with an edge from each `isolated` section to the next in the
//! order they had; two nodes that it does not order, and that touch a location in conflicting ways,
//! race.
//!
//! The paper walks the graph twice, down and up, and collects nodes in *zippers*, indexed by the
//! section they come before or after; *sliders* say which part of a zipper the node at hand is not
//! ordered with, *bags* which branches are parallel to it. What comes out are all pairs of nodes that
//! are parallel, which are then compared. (`tests/zipper_as_printed.rs` has it to the letter, the
//! trace of Table 2 included.)
//!
//! Here the two sliders of a node are kept with the node: they answer for any two nodes whether
//! sections order them, and the tree of tasks answers what bags do (`recorded_order.rs`). No pairs are
//! collected: each location is gone through in the order of the execution, with its last write and the
//! reads since that no later read covers.
//!
//! Guarantee: a location is reported if and only if it has a race in this execution's graph. What
//! other orders of the sections do is another matter.
//!
//! Cost: linear in nodes and edges; a query for each access, and for each read that a write has to be
//! compared with.

use std::collections::BTreeSet;

use deadheat_model::{AccessKind, Construct, EventNumber, Execution, Location, StopPoll};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::engine::{Engine, EngineError, Worth};
use crate::pairs::Node;
use crate::recorded_order::RecordedOrder;
use crate::replay::{Racy, all_races};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "zipper",
    summary: "tasks, futures, promises, threads and `isolated`: exact for the order that sections took",
    orders: &[
        Construct::Async,
        Construct::Finish,
        Construct::Future,
        Construct::Promise,
        Construct::Fork,
        Construct::Isolated,
    ],
    worth: Worth::Exact,
    cost: "linear in nodes and edges, one thread",
    in_memory: true,
    judge: |survey, _| {
        let execution = survey.execution(ENGINE.name)?;
        let mut poll = StopPoll::new(survey.stop);
        let racy: Racy = racy(execution, &mut poll)?.into_iter().collect();
        all_races(execution, &racy, poll, survey)
    },
};

/// The locations that race, as the engine by itself sees them.
pub fn racy_locations(execution: &Execution) -> Result<BTreeSet<Location>, EngineError> {
    let racy = racy(execution, &mut StopPoll::default())?.into_iter();
    Ok(racy.map(|(location, _)| location).collect())
}

/// The locations that race, each with the first event of which that is known, until it is stopped.
fn racy(
    execution: &Execution,
    poll: &mut StopPoll,
) -> Result<Vec<(Location, EventNumber)>, EngineError> {
    let mut order = RecordedOrder::new(execution, |_| false)?;
    let mut histories = Histories::new(execution);
    let mut racy = Vec::new();
    for (event, number) in execution.events.iter().zip(1..) {
        if poll.stops() {
            break;
        }
        let Some(access) = event.access() else {
            continue;
        };
        let Some(node) = order.graph.node_of(number) else {
            continue;
        };
        let history = histories.of(access.location);
        if history.races {
            continue;
        }
        if history.is_ordered(&mut order, access.kind, node) {
            history.add(&mut order, access.kind, node);
        } else {
            history.races = true;
            racy.push((access.location, number));
        }
    }
    Ok(racy)
}

/// What is kept of each location's past.
struct Histories {
    /// Of those with low numbers, by number: most programs number from 0.
    low: Vec<History>,
    /// How many have a place there: no more than there are events.
    room: usize,
    others: FxHashMap<Location, History>,
}

impl Histories {
    fn new(execution: &Execution) -> Histories {
        Histories {
            low: Vec::new(),
            room: execution.events.len(),
            others: FxHashMap::default(),
        }
    }

    fn of(&mut self, location: Location) -> &mut History {
        let index = usize::try_from(location.0).unwrap_or(usize::MAX);
        if index >= self.room {
            return self.others.entry(location).or_default();
        }
        if index >= self.low.len() {
            self.low.resize_with(index + 1, History::default);
        }
        &mut self.low[index]
    }
}

/// What is kept of a location's past.
struct History {
    /// The node that wrote last.
    writer: u32,
    /// The last node found to come behind it.
    behind_writer: u32,
    /// Whether a race has been found: nothing more is kept.
    races: bool,
    /// The nodes that have read since, but for some that come before others of them.
    readers: SmallVec<[u32; 4]>,
}

/// Instead of a node.
const NOBODY: u32 = u32::MAX;

/// How many joins may be looked at, for each read, to find out which ones are covered.
const EFFORT: u64 = 32;

impl Default for History {
    fn default() -> History {
        History {
            writer: NOBODY,
            behind_writer: NOBODY,
            races: false,
            readers: SmallVec::new(),
        }
    }
}

impl History {
    /// Whether an access comes behind all that it conflicts with.
    fn is_ordered(&self, order: &mut RecordedOrder, kind: AccessKind, node: Node) -> bool {
        let milestone = (self.behind_writer != NOBODY).then_some(self.behind_writer as Node);
        let mut precedes = |other: u32, milestone| {
            let other = other as Node;
            other == node || order.precedes_by(other, node, milestone)
        };
        let mut readers = self.readers.iter();
        (self.writer == NOBODY || precedes(self.writer, milestone))
            && (kind == AccessKind::Read || readers.all(|&reader| precedes(reader, None)))
    }

    fn add(&mut self, order: &mut RecordedOrder, kind: AccessKind, node: Node) {
        let number = node as u32;
        if kind == AccessKind::Write {
            self.writer = number;
            self.behind_writer = NOBODY;
            self.readers.clear();
            return;
        }
        self.behind_writer = number;
        if self.writer == number || self.readers.last() == Some(&number) {
            return;
        }
        if self.readers.len() == self.readers.capacity() {
            self.forget_covered(order, node);
        }
        self.readers.push(number);
    }

    /// Forgets reads that come before others, or before a node that reads now, if that is found with an
    /// effort in proportion to how many there are; then there is room for as many again.
    fn forget_covered(&mut self, order: &mut RecordedOrder, node: Node) {
        let mut readers = std::mem::take(&mut self.readers).into_vec();
        let tree = order.tree();
        tree.keep_last(&mut readers, |&reader| order.point(reader as Node).step);
        // The latest are the nearest: one that is far away may use up all the effort.
        readers.sort_unstable_by_key(|&reader| std::cmp::Reverse(reader));
        let mut effort = EFFORT * readers.len() as u64;
        readers.retain(|&reader| !order.precedes_within(reader as Node, node, &mut effort));
        readers.reserve(readers.len() + 1);
        self.readers = SmallVec::from_vec(readers);
    }
}

#[cfg(test)]
mod tests {
    use deadheat_lang::{Program, Schedule};
    use deadheat_model::{Event, Op};

    use super::*;

    /// The locations of a program that race, when it numbers from 0 and when it does not.
    fn racy(source: &str) -> [usize; 2] {
        let program = Program::parse(source).unwrap();
        let mut execution = program
            .run(&Schedule::DepthFirst, u64::MAX)
            .unwrap()
            .execution;
        let low = racy_locations(&execution).unwrap();
        for event in &mut execution.events {
            let far = |location: Location| Location(location.0 + (1 << 40));
            let op = match event.op() {
                Op::Read(location, kind) => Op::Read(far(location), kind),
                Op::Write(location) => Op::Write(far(location)),
                op => op,
            };
            *event = Event::new(event.strand(), op, event.site());
        }
        [low.len(), racy_locations(&execution).unwrap().len()]
    }

    #[test]
    fn locations_have_any_numbers() {
        let tasks = "for i in 0..4 { async { a[i / 2] = i; b[i] = i; } }";
        let source = format!("shared a[2]; shared b[4]; proc main() {{ {tasks} }}");
        assert_eq!(racy(&source), [2, 2]);
    }

    /// More than there is room for at first; some in a row.
    #[test]
    fn many_reads_are_kept() {
        let reads = "for i in 0..30 { async { let a = x; isolated { skip; } let b = x; } }";
        for (write, expected) in [("} x = 1;", 0), ("x = 1; }", 1)] {
            let source = format!("shared x; proc main() {{ finish {{ {reads} {write} }}");
            assert_eq!(racy(&source), [expected; 2]);
        }
        // A write behind all of them but the first.
        let source = "shared x; proc main() {
            async { let a = x; }
            finish { for i in 0..30 { async { let a = x; } } }
            x = 1;
        }";
        assert_eq!(racy(source), [1; 2]);
    }
}
