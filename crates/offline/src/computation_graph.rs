//! The computation graph of one execution: what was done in one go, and what came before it.
//!
//! A *node* is a run of events of one strand in which it waits for nobody and nobody waits for what
//! comes next: it ends behind the start of a strand and behind whatever others can wait for (a set, a
//! release, a section's end), and the next one begins with whatever waits (a get, an acquire, a
//! section, the end of a finish). So a node's edges lead in at its beginning and out at its end. An
//! `isolated` section is one node, or several if others can wait for something in the middle of it.
//!
//! Edges are those that the language's definition names, and no others. Those between sections, each
//! to the next in the order they had, are not stored: the order of sections says them.
//!
//! Space: 12 bytes a node, 4 an edge, 4 an event, 48 for each node, place and location touched.

use std::collections::VecDeque;
use std::convert::Infallible;

use deadheat_model::{Event, EventNumber, Execution, Finish, Location, Op, Strand};
use rustc_hash::FxHashMap;

use crate::pairs::{Group, Node};

/// See the [module](self).
#[derive(Debug, Default)]
pub struct ComputationGraph {
    nodes: Vec<NodeInfo>,
    /// The nodes that each node has an edge from, node by node.
    edges: Vec<u32>,
    /// The first and the last node of each `isolated` section, in the order they had.
    sections: Vec<(u32, u32)>,
    /// What is touched, in the order of the execution; mostly once for each node, place and kind.
    pub(crate) accesses: Vec<Group>,
    /// The node that each event belongs to, by the event's number less 1. Shorter than the execution
    /// if there was room for so many nodes only.
    node_of: Vec<u32>,
}

#[derive(Debug)]
struct NodeInfo {
    strand: Strand,
    /// Where its edges end; they begin where those of the node before end.
    edges_end: u32,
    /// Which section it is in, from 1; 0 if it is in none.
    section: u32,
}

impl ComputationGraph {
    /// The graph of an execution, up to so many nodes, with the accesses to the locations that `keep`
    /// says. Readers of a lock, barriers and atomics have no edges.
    pub fn new(
        execution: &Execution,
        most: usize,
        keep: impl Fn(Location) -> bool,
    ) -> ComputationGraph {
        let each = |_: &Event, _: EventNumber, _: Node| Ok::<(), Infallible>(());
        match ComputationGraph::build(execution, most, keep, each) {
            Ok(graph) => graph,
            Err(never) => match never {},
        }
    }

    /// The same, while `each` gets every event with the node that it belongs to.
    pub(crate) fn build<E>(
        execution: &Execution,
        most: usize,
        keep: impl Fn(Location) -> bool,
        mut each: impl FnMut(&Event, EventNumber, Node) -> Result<(), E>,
    ) -> Result<ComputationGraph, E> {
        let initial_tokens = (0..).zip(&execution.names.tokens);
        let mut builder = Builder {
            semaphores: initial_tokens
                .map(|(semaphore, &tokens)| (semaphore, (tokens, VecDeque::new())))
                .collect(),
            strands: Vec::with_capacity(execution.names.strands.len()),
            ..Builder::default()
        };
        builder.graph.node_of.reserve(execution.events.len());
        for (event, number) in execution.events.iter().zip(1..) {
            if builder.graph.nodes.len() >= most {
                break;
            }
            let (strand, op) = (event.strand(), event.op());
            let node = match event.access() {
                Some(access) => {
                    let node = builder.open_node(strand);
                    if keep(access.location) {
                        builder.access(Group {
                            location: access.location,
                            node: node as Node,
                            site: event.site(),
                            kind: access.kind,
                            strand,
                            first: number,
                            count: 1,
                        });
                    }
                    node
                }
                None => builder.synchronise(strand, op),
            };
            builder.graph.node_of.push(node);
            each(event, number, node as Node)?;
        }
        Ok(builder.graph)
    }

    /// How many nodes there are. They are numbered in the order in which they began.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many events belong to nodes: all, unless there was room for so many nodes only.
    pub fn events(&self) -> usize {
        self.node_of.len()
    }

    /// The node that an event belongs to.
    pub fn node_of(&self, number: EventNumber) -> Option<Node> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.node_of.get(index).map(|&node| node as Node)
    }

    /// Whose node it is.
    pub fn strand(&self, node: Node) -> Strand {
        self.nodes[node].strand
    }

    /// The nodes with an edge to this one; edges between sections are not among them. An edge leads
    /// from a lower number to a higher.
    pub fn predecessors(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let begin = match node.checked_sub(1) {
            Some(before) => self.nodes[before].edges_end,
            None => 0,
        };
        let edges = &self.edges[begin as usize..self.nodes[node].edges_end as usize];
        edges.iter().map(|&node| node as Node)
    }

    /// Which section a node is in, from 0.
    pub fn section(&self, node: Node) -> Option<usize> {
        self.nodes[node].section.checked_sub(1).map(|s| s as usize)
    }

    /// The first and the last node of each section, in the order they had.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = (Node, Node)> + '_ {
        let sections = self.sections.iter();
        sections.map(|&(first, last)| (first as Node, last as Node))
    }

    /// The section that begins with a node, from 0.
    pub fn begins(&self, node: Node) -> Option<usize> {
        let section = self.section(node)?;
        (self.sections[section].0 as Node == node).then_some(section)
    }

    /// The last node of the section before the one that begins with this node, in the order they had.
    pub fn section_before(&self, node: Node) -> Option<Node> {
        let before = self.begins(node)?.checked_sub(1)?;
        Some(self.sections[before].1 as Node)
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.nodes)
            + size_of_val(&*self.edges)
            + size_of_val(&*self.sections)
            + size_of_val(&*self.accesses)
            + size_of_val(&*self.node_of)
    }
}

#[derive(Default)]
struct StrandState {
    /// The last node; before the first one, that of the strand that started this one.
    last: Option<u32>,
    /// Whether the last node can take more events.
    open: bool,
    /// The finishes this strand has open, innermost last.
    finishes: Vec<Finish>,
    /// The finish that waits for it, if it is a task: the one it was started in.
    waited_for_by: Option<Finish>,
}

impl StrandState {
    /// The finish that waits for tasks that it starts now.
    fn innermost(&self) -> Option<Finish> {
        self.finishes.last().copied().or(self.waited_for_by)
    }
}

/// How many places remember an access that may come again.
const RECENT: usize = 1024;

#[derive(Default)]
struct Builder {
    graph: ComputationGraph,
    /// Who is inside a section.
    inside: Option<Strand>,
    /// Where in the graph's accesses some of the latest are.
    recent: Vec<usize>,
    /// By number.
    strands: Vec<StrandState>,
    /// The last nodes of the tasks that each finish waits for.
    ends_in: FxHashMap<Finish, Vec<u32>>,
    promises: FxHashMap<u64, u32>,
    locks: FxHashMap<u64, u32>,
    /// The tokens left from the start, and the `v`s not yet used, oldest first.
    semaphores: FxHashMap<u64, (u64, VecDeque<u32>)>,
    /// The post that turned the flag on, while it is on.
    flags: FxHashMap<u64, u32>,
}

impl Builder {
    fn strand(&mut self, strand: Strand) -> &mut StrandState {
        if self.strands.len() <= strand.index() {
            self.strands
                .resize_with(strand.index() + 1, StrandState::default);
        }
        &mut self.strands[strand.index()]
    }

    /// The node that a strand's next event belongs to, if that waits for nobody.
    fn open_node(&mut self, strand: Strand) -> u32 {
        let state = self.strand(strand);
        match (state.last, state.open) {
            (Some(node), true) => node,
            _ => self.node(strand, None),
        }
    }

    /// A new node behind the strand's last one, and behind others.
    fn node(&mut self, strand: Strand, behind: impl IntoIterator<Item = u32>) -> u32 {
        let node = self.graph.nodes.len() as u32;
        let state = self.strand(strand);
        let last = state.last.replace(node);
        state.open = true;
        self.graph.edges.extend(last.into_iter().chain(behind));
        let mut section = 0;
        if self.inside == Some(strand)
            && let Some(open) = self.graph.sections.last_mut()
        {
            open.1 = node;
            section = self.graph.sections.len() as u32;
        }
        self.graph.nodes.push(NodeInfo {
            strand,
            edges_end: self.graph.edges.len() as u32,
            section,
        });
        node
    }

    /// Adds an access, together with the same one before if that is still remembered.
    fn access(&mut self, group: Group) {
        let spread = group.location.0.wrapping_mul(31) + u64::from(group.site.0);
        self.recent.resize(RECENT, 0);
        let recent = &mut self.recent[spread as usize % RECENT];
        let place = |group: &Group| (group.location, group.node, group.site, group.kind);
        match self.graph.accesses.get_mut(*recent) {
            Some(same) if place(same) == place(&group) => same.count += 1,
            _ => {
                *recent = self.graph.accesses.len();
                self.graph.accesses.push(group);
            }
        }
    }

    fn synchronise(&mut self, strand: Strand, op: Op) -> u32 {
        // What waits begins a node, behind what it waited for.
        let node = match op {
            Op::Join(other) => {
                let end = self.strand(other).last;
                self.node(strand, end)
            }
            Op::Get(promise) => {
                let set = self.promises.get(&promise.0).copied();
                self.node(strand, set)
            }
            Op::Acquire(lock) => {
                let released = self.locks.get(&lock.0).copied();
                self.node(strand, released)
            }
            Op::Wait(flag) => {
                let posted = self.flags.get(&flag.0).copied();
                self.node(strand, posted)
            }
            Op::P(semaphore) => {
                let (initial, given) = self.semaphores.entry(semaphore.0).or_default();
                let given = match *initial {
                    0 => given.pop_front(),
                    _ => {
                        *initial -= 1;
                        None
                    }
                };
                self.node(strand, given)
            }
            Op::FinishEnd(finish) => {
                self.strand(strand).finishes.pop();
                let ends = self.ends_in.remove(&finish).unwrap_or_default();
                self.node(strand, ends)
            }
            Op::IsolatedBegin => {
                let next = self.graph.nodes.len() as u32;
                self.graph.sections.push((next, next));
                self.inside = Some(strand);
                self.node(strand, None)
            }
            // A strand's end is no node of its own.
            Op::End => {
                let state = self.strand(strand);
                let (last, finish) = (state.last, state.waited_for_by);
                if let (Some(finish), Some(last)) = (finish, last) {
                    self.ends_in.entry(finish).or_default().push(last);
                }
                return last.unwrap_or_else(|| self.open_node(strand));
            }
            _ => self.open_node(strand),
        };
        // What others can wait for ends one.
        match op {
            Op::Async(child) | Op::Future(child) | Op::Fork(child) => {
                let is_task = !matches!(op, Op::Fork(_));
                let innermost = self.strand(strand).innermost();
                let child = self.strand(child);
                child.last = Some(node);
                child.waited_for_by = innermost.filter(|_| is_task);
            }
            Op::Set(promise) => {
                self.promises.insert(promise.0, node);
            }
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
            Op::IsolatedEnd => self.inside = None,
            Op::Clear(flag) => {
                self.flags.remove(&flag.0);
                return node;
            }
            Op::FinishBegin(finish) => {
                self.strand(strand).finishes.push(finish);
                return node;
            }
            _ => return node,
        }
        self.strand(strand).open = false;
        node
    }
}
