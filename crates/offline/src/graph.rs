//! The naive engine: the computation graph of one execution, its transitive closure, all racing
//! pairs.
//!
//! Idea: cut each strand into nodes, one for each synchronisation event and one for each run of
//! accesses between two of them; draw the happens-before edges that the language's definition
//! names, and no others; compute for every node the set of nodes that reach it; two conflicting
//! accesses of different strands race if neither one's node reaches the other's.
//!
//! Guarantee: exact for the execution's graph, by inspection. It is what every other engine is
//! compared with, so it stays slow and obvious.
//!
//! Cost: nodes² / 16 bytes and as many word operations for the closure; then all pairs of accesses
//! to a location, where the accesses of one node at one place count as one.

use std::collections::VecDeque;

use deadheat_model::{EventNumber, Execution, Finish, Op, Race, Strand};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::engine::{Engine, EngineError};
use crate::pairs::{self, Group, Node, Races};

/// The most nodes a graph may have, the closure of which takes some 230 MB. Of a longer execution,
/// the beginning is judged.
pub const MAX_NODES: usize = 60_000;

/// A computation graph and its races.
#[derive(Debug)]
pub struct Graph {
    /// The nodes that each node has an edge from. An edge leads from a lower number to a higher.
    pub predecessors: Vec<Vec<Node>>,
    /// The node that each event belongs to, by the event's number less 1. Shorter than the
    /// execution if that has more than [`MAX_NODES`] nodes: only so much of it was judged.
    pub node_of: Vec<Node>,
    /// Its races: see [`Findings::races`](crate::Findings::races).
    pub races: Vec<Race>,
    /// Whether these are all.
    pub complete: bool,
}

/// Builds the graph of an execution and finds its races.
pub fn check(execution: &Execution) -> Result<Graph, EngineError> {
    let initial_tokens = execution.tables.semaphores.iter();
    let mut builder = Builder {
        semaphores: initial_tokens
            .map(|(semaphore, &tokens)| (semaphore.0, (tokens, VecDeque::new())))
            .collect(),
        ..Builder::default()
    };
    let mut node_of = Vec::with_capacity(execution.events.len());
    for (index, event) in execution.events.iter().enumerate() {
        if builder.predecessors.len() >= MAX_NODES {
            break;
        }
        let number = index as EventNumber + 1;
        let node = match event.access() {
            Some(access) => {
                let node = builder.access_node(event.strand());
                builder.accesses.push(Group {
                    location: access.location,
                    node,
                    site: event.site(),
                    kind: access.kind,
                    strand: event.strand(),
                    first: number,
                    count: 1,
                });
                node
            }
            None => builder.synchronise(event.strand(), event.op(), number)?,
        };
        node_of.push(node);
    }
    let races = builder.races();
    Ok(Graph {
        races: races.found,
        complete: races.complete,
        predecessors: builder.predecessors,
        node_of,
    })
}

#[derive(Default)]
struct StrandState {
    /// The last node.
    last: Option<Node>,
    /// Whether the last node is a run of accesses, which further accesses may join.
    accessing: bool,
    /// The finishes this strand has open, innermost last, behind the one it was started in.
    finishes: Vec<Finish>,
    /// The finish that waits for it, if it is a task.
    waited_for_by: Option<Finish>,
}

#[derive(Default)]
struct Builder {
    /// By node. Edges lead from lower numbers to higher ones.
    predecessors: Vec<Vec<Node>>,
    strands: FxHashMap<Strand, StrandState>,
    /// One by one, in the order of the execution.
    accesses: Vec<Group>,
    /// The ends of the tasks that each finish waits for.
    ends_in: FxHashMap<Finish, Vec<Node>>,
    ends: FxHashMap<Strand, Node>,
    promises: FxHashMap<u64, Node>,
    locks: FxHashMap<u64, Node>,
    isolated: Option<Node>,
    /// The tokens left from the start, and the `v`s not yet used, oldest first.
    semaphores: FxHashMap<u64, (u64, VecDeque<Node>)>,
    /// The post that turned the flag on, while it is on.
    flags: FxHashMap<u64, Node>,
}

impl Builder {
    /// The node that a strand's next access belongs to.
    fn access_node(&mut self, strand: Strand) -> Node {
        let state = self.strands.entry(strand).or_default();
        if let (Some(node), true) = (state.last, state.accessing) {
            return node;
        }
        let node = self.node(strand, None);
        self.strands.entry(strand).or_default().accessing = true;
        node
    }

    /// A new node behind the strand's last one, and behind another one if given.
    fn node(&mut self, strand: Strand, also: Option<Node>) -> Node {
        let node = self.predecessors.len();
        let state = self.strands.entry(strand).or_default();
        let before = state.last.replace(node);
        state.accessing = false;
        self.predecessors
            .push(before.into_iter().chain(also).collect());
        node
    }

    fn synchronise(
        &mut self,
        strand: Strand,
        op: Op,
        number: EventNumber,
    ) -> Result<Node, EngineError> {
        if let Some(construct) = op.construct()
            && !Engine::Graph.orders(construct)
        {
            return Err(EngineError::cannot_order(Engine::Graph, number, construct));
        }
        // What this event waited for, besides its own strand.
        let waited_for = match op {
            Op::Join(other) => self.ends.get(&other).copied(),
            Op::Get(promise) => self.promises.get(&promise.0).copied(),
            Op::IsolatedBegin => self.isolated,
            Op::Acquire(lock) => self.locks.get(&lock.0).copied(),
            Op::Wait(flag) => self.flags.get(&flag.0).copied(),
            Op::P(semaphore) => {
                let (initial, given) = self.semaphores.entry(semaphore.0).or_default();
                match *initial {
                    0 => given.pop_front(),
                    _ => {
                        *initial -= 1;
                        None
                    }
                }
            }
            _ => None,
        };
        let node = self.node(strand, waited_for);
        match op {
            Op::Async(child) | Op::Future(child) | Op::Fork(child) => {
                let is_task = !matches!(op, Op::Fork(_));
                let parent = self.strands.entry(strand).or_default();
                let innermost = parent.finishes.last().copied().filter(|_| is_task);
                let child = self.strands.entry(child).or_default();
                child.last = Some(node);
                child.waited_for_by = innermost;
                child.finishes.extend(innermost);
            }
            Op::End => {
                self.ends.insert(strand, node);
                let finish = self.strands.entry(strand).or_default().waited_for_by;
                if let Some(finish) = finish {
                    self.ends_in.entry(finish).or_default().push(node);
                }
            }
            Op::FinishBegin(finish) => {
                self.strands
                    .entry(strand)
                    .or_default()
                    .finishes
                    .push(finish);
            }
            Op::FinishEnd(finish) => {
                self.strands.entry(strand).or_default().finishes.pop();
                let ends = self.ends_in.remove(&finish).unwrap_or_default();
                self.predecessors[node].extend(ends);
            }
            Op::Set(promise) => {
                self.promises.insert(promise.0, node);
            }
            Op::IsolatedEnd => self.isolated = Some(node),
            Op::Release(lock) => {
                self.locks.insert(lock.0, node);
            }
            Op::V(semaphore) => {
                let (_, given) = self.semaphores.entry(semaphore.0).or_default();
                given.push_back(node);
            }
            Op::Post(flag) => {
                self.flags.entry(flag.0).or_insert(node);
            }
            Op::Clear(flag) => {
                self.flags.remove(&flag.0);
            }
            Op::Join(_)
            | Op::Get(_)
            | Op::IsolatedBegin
            | Op::Acquire(_)
            | Op::Wait(_)
            | Op::P(_)
            | Op::NewPromise(_)
            | Op::Alloc(_)
            | Op::Free(_) => {}
            // Accesses do not come here, and the engine does not order the others.
            Op::Read(..)
            | Op::Write(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicUpdate(..)
            | Op::AcquireShared(_)
            | Op::ReleaseShared(_)
            | Op::BarrierArrive(_)
            | Op::BarrierLeave(_) => {}
        }
        Ok(node)
    }

    /// For every node, the nodes that reach it.
    fn closure(&self) -> Vec<FixedBitSet> {
        let mut before: Vec<FixedBitSet> = Vec::with_capacity(self.predecessors.len());
        for (node, predecessors) in self.predecessors.iter().enumerate() {
            let mut set = FixedBitSet::with_capacity(node);
            for &predecessor in predecessors {
                set.union_with(&before[predecessor]);
                set.insert(predecessor);
            }
            before.push(set);
        }
        before
    }

    fn races(&mut self) -> Races {
        let mut closure = None;
        let accesses = std::mem::take(&mut self.accesses);
        pairs::races(accesses, true, |a, b, _| {
            // If nothing is shared, nobody asks for it.
            let before = closure.get_or_insert_with(|| self.closure());
            before[b].contains(a)
        })
    }
}
