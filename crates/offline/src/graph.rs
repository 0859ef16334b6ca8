//! The naive engine: the computation graph of one execution, its transitive closure, all racing
//! pairs.
//!
//! Idea: draw the happens-before edges that the language's definition names, and no others (see
//! [`ComputationGraph`]); compute for every node the set of nodes that reach it; two conflicting
//! accesses of different strands race if neither one's node reaches the other's.
//!
//! Guarantee: exact for the execution's graph, by inspection. It is what every other engine is
//! compared with, so it stays slow and obvious.
//!
//! Cost: nodes² / 16 bytes and as many word operations for the closure; then all pairs of accesses
//! to a location, where the accesses of one node at one place count as one.

use deadheat_model::{Construct, Execution, Findings, Race, StopPoll};
use fixedbitset::FixedBitSet;

use crate::computation_graph::ComputationGraph;
use crate::engine::{Engine, Worth};
use crate::pairs::{self, Node};

/// The most nodes a graph may have, the closure of which takes some 230 MB. Of a longer execution,
/// the beginning is judged.
pub const MAX_NODES: usize = 60_000;

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "graph",
    summary: "the computation graph and its closure: the yardstick for the others, for short runs",
    orders: &[
        Construct::Async,
        Construct::Finish,
        Construct::Future,
        Construct::Promise,
        Construct::Isolated,
        Construct::Lock,
        Construct::Semaphore,
        Construct::Event,
        Construct::Fork,
        Construct::Unforked,
    ],
    worth: Worth::Exact,
    cost: "quadratic; the first 60,000 nodes",
    in_memory: true,
    judge: |survey, _| {
        let mut poll = StopPoll::new(survey.stop);
        let Graph {
            graph,
            races,
            complete,
        } = check_until(survey.execution(ENGINE.name)?, &mut poll);
        if let Some((why, _)) = poll.stopped() {
            survey.cut_short(why);
        }
        Ok(Findings::listed(races, complete, graph.events() as u64))
    },
};

/// A computation graph and its races.
#[derive(Debug)]
pub struct Graph {
    /// The graph; shorter than the execution if that has more than [`MAX_NODES`] nodes: only so much
    /// of it was judged.
    pub graph: ComputationGraph,
    /// Its races: one for each location and pair of places.
    pub races: Vec<Race>,
    /// Whether these are all.
    pub complete: bool,
}

/// Builds the graph of an execution and finds its races.
pub fn check(execution: &Execution) -> Graph {
    check_until(execution, &mut StopPoll::default())
}

/// The same, until it is time to stop.
pub fn check_until(execution: &Execution, poll: &mut StopPoll) -> Graph {
    let mut graph = ComputationGraph::new(execution, MAX_NODES, |_| true);
    let accesses = std::mem::take(&mut graph.accesses);
    let mut before = None;
    let races = pairs::races(
        accesses,
        |_| None,
        |a, b, _| {
            // If nothing is shared, nobody asks for it.
            let before = before.get_or_insert_with(|| closure(&graph));
            before[b].contains(a)
        },
        poll,
    );
    Graph {
        races: races.found,
        complete: races.complete,
        graph,
    }
}

/// For every node, the nodes that reach it, sections in the order they had.
pub fn closure(graph: &ComputationGraph) -> Vec<FixedBitSet> {
    close(graph, |node, _, behind| {
        behind.extend(graph.section_before(node));
    })
}

/// For every node, the nodes that reach it, given what each comes behind beside its predecessors;
/// `also` gets what reaches the nodes before.
pub fn close(
    graph: &ComputationGraph,
    mut also: impl FnMut(Node, &[FixedBitSet], &mut Vec<Node>),
) -> Vec<FixedBitSet> {
    let mut before: Vec<FixedBitSet> = Vec::with_capacity(graph.len());
    let mut behind = Vec::new();
    for node in 0..graph.len() {
        behind.clear();
        behind.extend(graph.predecessors(node));
        also(node, &before, &mut behind);
        let mut set = FixedBitSet::with_capacity(node);
        for &predecessor in &behind {
            set.union_with(&before[predecessor]);
            set.insert(predecessor);
        }
        before.push(set);
    }
    before
}
