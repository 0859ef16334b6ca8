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

use deadheat_model::{
    AccessKind, EventNumber, Execution, Finish, Location, Op, Race, RacingAccess, Site, Strand,
};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use thiserror::Error;

/// The most nodes a graph may have, the closure of which takes some 230 MB. Of a longer execution,
/// the beginning is judged.
pub const MAX_NODES: usize = 60_000;

/// The most races that are kept of one location.
pub const MAX_RACES: usize = 1000;

/// How many pairs of accesses are looked at, all locations together, before each location is left
/// at the races it has.
const MAX_LOOKED_AT: usize = 50_000_000;

/// Why an execution cannot be judged by this engine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GraphError {
    /// An operation that the definition of the graph does not name.
    #[error("event {number}: the graph engine cannot order {op}")]
    CannotOrder {
        /// Which event, from 1.
        number: EventNumber,
        /// What it is.
        op: String,
    },
}

/// A computation graph and its races.
#[derive(Debug)]
pub struct Graph {
    /// The nodes that each node has an edge from. An edge leads from a lower number to a higher.
    pub predecessors: Vec<Vec<Node>>,
    /// The node that each event belongs to, by the event's number less 1. Shorter than the
    /// execution if that has more than [`MAX_NODES`] nodes: only so much of it was judged.
    pub node_of: Vec<Node>,
    /// Every race, one for each location and pair of places, with how many pairs of accesses it
    /// stands for. In the order of the second access.
    pub races: Vec<Race>,
    /// How many racing pairs of accesses are not counted in `races`: once a location has
    /// [`MAX_RACES`] pairs of places, or very many pairs have been looked at, no more of its races
    /// are looked into. Every location that races has at least one.
    pub left_out: u64,
}

/// Builds the graph of an execution and finds its races.
pub fn check(execution: &Execution) -> Result<Graph, GraphError> {
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
    let (races, left_out) = builder.races();
    Ok(Graph {
        races,
        left_out,
        predecessors: builder.predecessors,
        node_of,
    })
}

/// A node's number, in the order of the execution.
pub type Node = usize;

/// The accesses of one node to one location at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    location: Location,
    node: Node,
    site: Site,
    kind: AccessKind,
    strand: Strand,
    first: EventNumber,
    count: u64,
}

impl Group {
    fn access(&self) -> RacingAccess {
        RacingAccess {
            event: self.first,
            strand: self.strand,
            site: self.site,
            kind: self.kind,
        }
    }

    fn conflicts_with(&self, other: &Group) -> bool {
        self.kind == AccessKind::Write || other.kind == AccessKind::Write
    }
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
    ) -> Result<Node, GraphError> {
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
            Op::Read(..)
            | Op::Write(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicUpdate(..)
            | Op::AcquireShared(_)
            | Op::ReleaseShared(_)
            | Op::BarrierArrive(_)
            | Op::BarrierLeave(_) => {
                return Err(GraphError::CannotOrder {
                    number,
                    op: format!("{op:?}"),
                });
            }
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

    /// The accesses to each location that more than one strand touches, those of one node at one
    /// place together.
    fn shared_locations(&self) -> Vec<Vec<Group>> {
        let mut accesses = self.accesses.clone();
        accesses.sort_unstable();
        accesses.dedup_by(|later, group| {
            let place = |group: &Group| (group.location, group.node, group.site, group.kind);
            let same = place(later) == place(group);
            if same {
                group.count += later.count;
            }
            same
        });
        accesses
            .chunk_by(|a, b| a.location == b.location)
            .filter(|groups| groups.iter().any(|g| g.strand != groups[0].strand))
            .map(<[Group]>::to_vec)
            .collect()
    }

    fn races(&self) -> (Vec<Race>, u64) {
        let shared = self.shared_locations();
        // Nothing to race, nothing to order.
        let before = match shared.is_empty() {
            true => Vec::new(),
            false => self.closure(),
        };
        let ordered = |a: Node, b: Node| before[a.max(b)].contains(a.min(b));
        let mut races = Vec::new();
        let mut left_out = 0;
        let mut looked_at = 0;
        for groups in shared {
            let mut found: FxHashMap<_, Race> = FxHashMap::default();
            let nodes: Vec<&[Group]> = groups.chunk_by(|a, b| a.node == b.node).collect();
            for (index, node) in nodes.iter().enumerate() {
                for other in &nodes[..index] {
                    let same_strand = node[0].strand == other[0].strand;
                    if same_strand || ordered(node[0].node, other[0].node) {
                        continue;
                    }
                    let enough = found.len() >= MAX_RACES || looked_at >= MAX_LOOKED_AT;
                    if enough && !found.is_empty() {
                        left_out += conflicting_pairs(node, other);
                        continue;
                    }
                    looked_at += node.len() * other.len();
                    add_races(node, other, &mut found);
                }
            }
            races.extend(found.into_values());
        }
        races.sort_by_key(|race| (race.second.event, race.first.event));
        (races, left_out)
    }
}

/// Adds the races between the accesses of two nodes that nothing orders.
fn add_races(
    node: &[Group],
    other: &[Group],
    found: &mut FxHashMap<[(Site, AccessKind); 2], Race>,
) {
    for group in node {
        for other in other.iter().filter(|other| group.conflicts_with(other)) {
            let mut places = [(group.site, group.kind), (other.site, other.kind)];
            places.sort();
            let mut pair = [group.access(), other.access()];
            pair.sort();
            let [first, second] = pair;
            let race = found.entry(places).or_insert(Race {
                location: group.location,
                first,
                second,
                count: 0,
            });
            race.count += group.count * other.count;
            if (second.event, first.event) < (race.second.event, race.first.event) {
                (race.first, race.second) = (first, second);
            }
        }
    }
}

/// How many pairs of accesses of two nodes conflict.
fn conflicting_pairs(node: &[Group], other: &[Group]) -> u64 {
    let count = |node: &[Group], kind| {
        let groups = node.iter().filter(|group| group.kind == kind);
        groups.map(|group| group.count).sum::<u64>()
    };
    let (reads, writes) = (
        count(node, AccessKind::Read),
        count(node, AccessKind::Write),
    );
    let other_writes = count(other, AccessKind::Write);
    writes * (count(other, AccessKind::Read) + other_writes) + reads * other_writes
}
