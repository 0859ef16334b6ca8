//! Directed graphs that may have cycles: strongly connected components, and timestamps over them
//! (algorithms 7.5 and 7.6).
//!
//! Simple model: b is reached from a if some path leads from a to b. Nodes of one component reach each
//! other, so they share a timestamp: for each strand, the last of its nodes that reaches them.
//!
//! Cost: linear in nodes and edges for components; a clock join an edge for timestamps.

use deadheat_model::Strand;
use deadheat_order::{PersistentClock, Time};

pub(crate) type Node = u32;

/// Edges between numbered nodes.
#[derive(Clone)]
pub(crate) struct Graph {
    nodes: usize,
    edges: Vec<(Node, Node)>,
}

/// The component of each node, numbered so that edges lead from higher numbers to lower.
pub(crate) struct Components(Vec<u32>);

impl Graph {
    pub(crate) fn new(nodes: usize) -> Graph {
        let edges = Vec::new();
        Graph { nodes, edges }
    }

    pub(crate) fn edge(&mut self, from: Node, to: Node) {
        self.edges.push((from, to));
    }

    /// The nodes that each node leads to: where they begin in a list, and the list.
    fn successors(&self) -> (Vec<u32>, Vec<Node>) {
        let mut begins = vec![0; self.nodes + 1];
        for &(from, _) in &self.edges {
            begins[from as usize + 1] += 1;
        }
        for node in 0..self.nodes {
            begins[node + 1] += begins[node];
        }
        let (mut next, mut list) = (begins.clone(), vec![0; self.edges.len()]);
        for &(from, to) in &self.edges {
            let place = &mut next[from as usize];
            list[*place as usize] = to;
            *place += 1;
        }
        (begins, list)
    }

    /// Tarjan's algorithm, without recursion.
    pub(crate) fn components(&self) -> Components {
        const NONE: u32 = u32::MAX;
        let (begins, list) = self.successors();
        let mut number = vec![NONE; self.nodes];
        let mut low = vec![0; self.nodes];
        let mut component = vec![NONE; self.nodes];
        let (mut numbers, mut components) = (0, 0);
        let (mut stack, mut path): (Vec<Node>, Vec<(Node, u32)>) = (Vec::new(), Vec::new());
        for root in 0..self.nodes as Node {
            if number[root as usize] != NONE {
                continue;
            }
            path.push((root, begins[root as usize]));
            while let Some((node, edge)) = path.last_mut() {
                let at = *node as usize;
                if number[at] == NONE {
                    (number[at], low[at]) = (numbers, numbers);
                    numbers += 1;
                    stack.push(*node);
                }
                if *edge < begins[at + 1] {
                    let to = list[*edge as usize];
                    *edge += 1;
                    if number[to as usize] == NONE {
                        path.push((to, begins[to as usize]));
                    } else if component[to as usize] == NONE {
                        low[at] = low[at].min(number[to as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    low[above as usize] = low[above as usize].min(low[at]);
                }
                if low[at] == number[at] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = components;
                        if member as usize == at {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
        Components(component)
    }

    /// The timestamp of each component, where `place` says a node's strand and its number there, from
    /// 1, if it has one.
    pub(crate) fn timestamps(
        &self,
        components: &Components,
        place: impl Fn(Node) -> Option<(Strand, Time)>,
    ) -> Vec<PersistentClock> {
        let count = components.0.iter().max().map_or(0, |last| last + 1);
        let mut clocks = vec![PersistentClock::default(); count as usize];
        for node in 0..self.nodes as Node {
            if let Some((strand, time)) = place(node) {
                clocks[components.of(node) as usize].raise(strand, time);
            }
        }
        let between = |&(from, to): &(Node, Node)| (components.of(from), components.of(to));
        let mut edges: Vec<(u32, u32)> = self.edges.iter().map(between).collect();
        edges.retain(|(from, to)| from != to);
        edges.sort_unstable_by(|a, b| b.cmp(a));
        edges.dedup();
        for (from, to) in edges {
            let clock = clocks[from as usize].clone();
            clocks[to as usize].join(&clock);
        }
        clocks
    }
}

impl Components {
    pub(crate) fn of(&self, node: Node) -> u32 {
        self.0[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_and_timestamps_are_those_of_the_closure() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let nodes = rng.usize(1..14);
            let mut graph = Graph::new(nodes);
            let mut reach = vec![vec![false; nodes]; nodes];
            for (node, row) in reach.iter_mut().enumerate() {
                row[node] = true;
            }
            for _ in 0..rng.usize(..2 * nodes) {
                let (a, b) = (rng.usize(..nodes), rng.usize(..nodes));
                graph.edge(a as Node, b as Node);
                reach[a][b] = true;
            }
            for k in 0..nodes {
                for i in 0..nodes {
                    for j in 0..nodes {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            let components = graph.components();
            // Every node a strand of its own.
            let clocks = graph.timestamps(&components, |node| Some((Strand(node), 1)));
            let pairs = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
            for (a, b) in pairs {
                let same = components.of(a as Node) == components.of(b as Node);
                assert_eq!(same, reach[a][b] && reach[b][a], "seed {seed}");
                let clock = &clocks[components.of(b as Node) as usize];
                assert_eq!(clock.get(Strand(a as u32)) > 0, reach[a][b], "seed {seed}");
            }
        }
    }
}
