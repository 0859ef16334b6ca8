//! Who came before whom in a recorded execution, for any two nodes of its computation graph.
//!
//! Simple model: the closure of the computation graph (see [`graph`](mod@crate::graph)).
//!
//! The idea: `async`, `finish`, promises, futures and threads order nodes as the [`Structure`] says.
//! `isolated` sections add a total order among themselves, so what they order is a matter of two
//! numbers for each node, which is what is left of zipper's sliders when nothing is in their way:
//! *down*, the last section that begins at or before this node, and *up*, the first section that
//! begins behind it. A node comes before another through sections if and only if its *up* is not above
//! the other's *down*.
//!
//! Cost: linear in nodes and edges to make; a query is the structure's, and a comparison.

use deadheat_model::{Event, EventNumber, Execution, Location};
use deadheat_order::{Full, Known, Question, Search, Step, Structure};

use crate::computation_graph::ComputationGraph;
use crate::pairs::Node;
use crate::replay::Strands;

/// See the [module](self).
pub(crate) struct RecordedOrder {
    pub(crate) graph: ComputationGraph,
    structure: Structure,
    search: Search,
    points: Vec<Point>,
    recent: [Answer; RECENT],
}

/// How many answers are remembered. What a node has touched together with another one, it mostly
/// asks for element by element.
const RECENT: usize = 8;

/// Whether one node comes before another.
#[derive(Clone, Copy)]
struct Answer {
    of: (Node, Node),
    precedes: bool,
}

/// Where a node is in the order.
#[derive(Clone, Copy, Default)]
pub(crate) struct Point {
    pub(crate) step: Step,
    /// What its task knew, and the time.
    known: Known,
    time: u32,
    /// The last section at or before it, from 1; 0 if there is none.
    down: u32,
    /// The first section behind it.
    up: u32,
}

impl RecordedOrder {
    /// The order of an execution, with its accesses to the locations that `keep` says.
    pub(crate) fn new(
        execution: &Execution,
        keep: impl Fn(Location) -> bool,
    ) -> Result<RecordedOrder, Full> {
        let mut strands = Strands::new()?;
        let mut points: Vec<Point> = Vec::new();
        let each = |event: &Event, _: EventNumber, node: Node| {
            if event.access().is_none() {
                return strands.synchronise(event);
            }
            if points.len() <= node {
                points.resize(node + 1, Point::default());
            }
            let point = &mut points[node];
            if point.step.is_none()
                && let Some(task) = strands.task(event.strand())
            {
                point.step = task.step();
                point.known = task.known();
                point.time = strands.structure.joins.now();
            }
            Ok(())
        };
        let graph = ComputationGraph::build(execution, usize::MAX, keep, each)?;
        points.resize(graph.len(), Point::default());
        slide(&graph, &mut points);
        Ok(RecordedOrder {
            graph,
            structure: strands.structure,
            search: Search::default(),
            points,
            // A node does not come before itself.
            recent: [Answer {
                of: (0, 0),
                precedes: false,
            }; RECENT],
        })
    }

    /// Where a node that touches something is.
    pub(crate) fn point(&self, node: Node) -> Point {
        self.points[node]
    }

    /// The order by tasks, joins left aside.
    pub(crate) fn tree(&self) -> &deadheat_order::Tree {
        &self.structure.tree
    }

    /// Whether a node comes before one with a higher number. Both touch something.
    pub(crate) fn precedes(&mut self, a: Node, b: Node) -> bool {
        self.precedes_by(a, b, None)
    }

    /// The same, where perhaps a node is known to come behind the first.
    pub(crate) fn precedes_by(&mut self, a: Node, b: Node, milestone: Option<Node>) -> bool {
        let recent = self.recent[a % RECENT];
        if recent.of == (a, b) {
            return recent.precedes;
        }
        let Structure { tree, joins } = &self.structure;
        let step = milestone.map_or(Step::NONE, |node| self.points[node].step);
        let precedes = self.plainly_precedes(a, b)
            || milestone.is_some_and(|node| node == b || self.plainly_precedes(node, b))
            || self.search.finds(tree, joins, self.question(a, b, step));
        self.recent[a % RECENT] = Answer {
            of: (a, b),
            precedes,
        };
        precedes
    }

    /// Whether a node is found to come before one with a higher number, with so much effort.
    pub(crate) fn precedes_within(&mut self, a: Node, b: Node, effort: &mut u64) -> bool {
        let Structure { tree, joins } = &self.structure;
        let question = self.question(a, b, Step::NONE);
        self.plainly_precedes(a, b) || self.search.finds_within(tree, joins, question, effort)
    }

    /// Whether sections or the tree put a node before another.
    fn plainly_precedes(&self, a: Node, b: Node) -> bool {
        let (a, b) = (self.points[a], self.points[b]);
        a.up <= b.down || self.structure.tree.precedes(a.step, b.step)
    }

    fn question(&self, a: Node, b: Node, milestone: Step) -> Question {
        Question {
            step: self.points[a].step,
            since: self.points[a].time,
            milestone,
            known: self.points[b].known,
        }
    }

    /// What has been done to answer, in joins looked at.
    pub(crate) fn work(&self) -> u64 {
        self.search.work()
    }
}

/// Sets *down* from the first node to the last, and *up* from the last to the first.
fn slide(graph: &ComputationGraph, points: &mut [Point]) {
    let section = |node| graph.section(node).map(|section| section as u32 + 1);
    for node in 0..graph.len() {
        let before = graph.predecessors(node).map(|before| points[before].down);
        // A section comes behind all sections before it.
        points[node].down = section(node).or(before.max()).unwrap_or(0);
    }
    points.iter_mut().for_each(|point| point.up = u32::MAX);
    for node in (0..graph.len()).rev() {
        // And comes before all sections behind it; what is before it comes before it, too.
        let here = section(node).unwrap_or(points[node].up);
        for before in graph.predecessors(node) {
            points[before].up = points[before].up.min(here);
        }
        if let Some(section) = section(node) {
            points[node].up = section + 1;
        }
    }
}
