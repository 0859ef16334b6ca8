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
//! sections order them, and the tree of tasks answers what bags do (see
//! [`RecordedOrder`](crate::recorded_order::RecordedOrder)). No pairs are collected: each location is
//! gone through in the order of the execution, with its last write and the reads since that no later
//! read covers.
//!
//! Guarantee: a location is reported if and only if it has a race in this execution's graph. What
//! other orders of the sections do is another matter.
//!
//! Cost: linear in nodes and edges; a query for each access, and for each read that a write has to be
//! compared with.

use std::collections::BTreeSet;

use deadheat_model::{AccessKind, Execution, Location};
use rustc_hash::FxHashMap;

use crate::engine::{Engine, EngineError, Findings};
use crate::pairs::{Group, Node};
use crate::recorded_order::RecordedOrder;
use crate::replay::{Racy, all_races};

/// Judges an execution.
pub fn check(execution: &Execution) -> Result<Findings, EngineError> {
    let racy = racy(&mut RecordedOrder::new(execution, Engine::Zipper, |_| {
        true
    })?);
    all_races(execution, Engine::Zipper, &racy)
}

/// The locations that race, as the engine by itself sees them.
pub fn racy_locations(execution: &Execution) -> Result<BTreeSet<Location>, EngineError> {
    let racy = racy(&mut RecordedOrder::new(execution, Engine::Zipper, |_| {
        true
    })?);
    Ok(racy.into_keys().collect())
}

/// What is kept of a location's past.
#[derive(Default)]
struct History {
    writer: Option<Node>,
    readers: Vec<Node>,
    /// How many readers there may be before covered ones are thrown out.
    limit: usize,
}

/// How many reads are kept before any is looked at again.
const FEW: usize = 8;

fn racy(order: &mut RecordedOrder) -> Racy {
    let accesses = std::mem::take(&mut order.graph.accesses);
    let mut histories: FxHashMap<Location, History> = FxHashMap::default();
    let mut racy = Racy::new();
    for access in &accesses {
        let history = histories.entry(access.location).or_default();
        if !history.is_ordered(order, access) {
            racy.entry(access.location).or_insert(access.first);
        }
        history.add(order, access);
    }
    racy
}

impl History {
    /// Whether an access comes behind all that it conflicts with.
    fn is_ordered(&self, order: &mut RecordedOrder, access: &Group) -> bool {
        let reads = match access.kind {
            AccessKind::Read => &[],
            AccessKind::Write => &self.readers[..],
        };
        let mut earlier = self.writer.iter().chain(reads);
        earlier.all(|&node| node == access.node || order.precedes(node, access.node))
    }

    fn add(&mut self, order: &mut RecordedOrder, access: &Group) {
        let node = access.node;
        if access.kind == AccessKind::Write {
            *self = History {
                writer: Some(node),
                ..History::default()
            };
            return;
        }
        if self.writer == Some(node) || self.readers.last() == Some(&node) {
            return;
        }
        self.readers.push(node);
        if self.readers.len() > FEW.max(self.limit) {
            // A read that comes before another one is covered by it.
            let tree = order.tree();
            tree.keep_last(&mut self.readers, |&reader| order.point(reader).step);
            self.readers
                .retain(|&reader| reader == node || !order.precedes(reader, node));
            self.limit = 2 * self.readers.len();
        }
    }
}
