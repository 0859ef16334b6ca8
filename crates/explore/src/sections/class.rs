//! A class of orders of sections: those that differ only in sections that do not conflict.
//!
//! One run stands for all of them. Its graph keeps only the edges between sections that conflict; what
//! that graph leaves unordered, some order of the class leaves unordered.

use deadheat_lang::Run;
use deadheat_lang::digest::digest;
use deadheat_model::{AccessKind, Event, Location, Op, Strand};
use deadheat_offline::ComputationGraph;
use deadheat_offline::graph::{self, MAX_NODES};
use deadheat_offline::pairs::{Group, Node};
use deadheat_offline::{Engine, EngineError, zipper};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::strands::Path;

/// One run, which stands for all orders that differ from its order in sections that do not conflict.
pub(super) struct Class<'r> {
    pub(super) run: &'r Run,
    pub(super) graph: ComputationGraph,
    pub(super) accesses: Vec<Group>,
    /// The first and the last node of each section, in the order of the run.
    pub(super) sections: Vec<(Node, Node)>,
    /// Whose section it is.
    pub(super) paths: Vec<Path>,
    /// Whose, and which of that strand's, as a number.
    names: Vec<u128>,
    /// The earlier sections that each conflicts with, those that others come between left out.
    conflicts: Vec<Vec<usize>>,
    /// For every node, the nodes before it.
    pub(super) before: Vec<FixedBitSet>,
    /// For every section, the sections before it by what does not commute.
    sections_before: Vec<FixedBitSet>,
    /// Whether all of the run is in the graph.
    pub(super) is_whole: bool,
}

impl Class<'_> {
    pub(super) fn of(run: &Run) -> Result<Class<'_>, EngineError> {
        let execution = &run.execution;
        for (event, number) in execution.events.iter().zip(1..) {
            let construct = event.op().construct();
            if let Some(construct) = construct.filter(|&c| !zipper::ENGINE.orders(c)) {
                return Err(EngineError::CannotOrder {
                    engine: zipper::ENGINE.name,
                    number,
                    construct,
                    instead: Engine::fitting(&[construct]).name,
                });
            }
        }
        let mut graph = ComputationGraph::new(execution, MAX_NODES, |_| true);
        let accesses = std::mem::take(&mut graph.accesses);
        let sections: Vec<(Node, Node)> = graph.sections().collect();
        let conflicts = conflicts(&graph, &accesses);
        let before = graph::close(&graph, |node, before, after| {
            let Some(section) = graph.begins(node) else {
                return;
            };
            after.extend(conflicts[section].iter().map(|&other| sections[other].1));
            // What happens after the beginning of a section can enter one only after its end.
            for &(first, last) in &sections[..section] {
                let is_after = |&other: &Node| other == first || before[other].contains(first);
                if first != last && after.iter().any(is_after) {
                    after.push(last);
                }
            }
        });
        let sections_before = sections.iter().enumerate().map(|(section, &(first, _))| {
            let earlier = sections[..section].iter().enumerate();
            let earlier = earlier.filter(|(_, (_, last))| before[first].contains(*last));
            earlier.map(|(section, _)| section).collect()
        });
        let path = |&(node, _): &(Node, Node)| {
            let strand = graph.strand(node);
            execution.names.strand_path(strand)
        };
        let paths: Vec<Path> = sections.iter().map(path).collect();
        let mut of_strand: FxHashMap<&Path, u32> = FxHashMap::default();
        let names = paths.iter().map(|path| {
            let count = of_strand.entry(path).or_default();
            *count += 1;
            digest((path, *count))
        });
        Ok(Class {
            run,
            sections_before: sections_before.collect(),
            names: names.collect(),
            paths,
            is_whole: graph.events() == execution.events.len(),
            graph,
            accesses,
            sections,
            conflicts,
            before,
        })
    }

    /// Whether one section comes before another by what does not commute.
    fn precedes(&self, a: usize, b: usize) -> bool {
        self.sections_before[b].contains(a)
    }

    /// Pairs of sections that conflict and that nothing else orders.
    pub(super) fn reversible(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (second, conflicts) in self.conflicts.iter().enumerate() {
            let (node, _) = self.sections[second];
            for &first in conflicts {
                let (_, end) = self.sections[first];
                let others = conflicts.iter().filter(|&&other| other != first);
                let others = others.map(|&other| self.sections[other].1);
                let mut predecessors = self.graph.predecessors(node).chain(others);
                let begin = self.sections[first].0;
                let is_ordered = |other: Node| {
                    [begin, end].contains(&other) || self.before[other].contains(begin)
                };
                if !predecessors.any(is_ordered) {
                    pairs.push((first, second));
                }
            }
        }
        pairs
    }

    /// An order that has `second` before `first`, and before both all that does not depend on
    /// `first`, also what came later by chance.
    pub(super) fn reversed(&self, first: usize, second: usize) -> Vec<usize> {
        let all = 0..self.sections.len();
        let independent = all.filter(|&other| other != first && !self.precedes(first, other));
        independent.chain([second]).collect()
    }

    /// Orders in which another strand enters a section before the one in which the run has failed: no
    /// section came after that one, so nothing is known of what it conflicts with.
    pub(super) fn instead_of_failing(&self) -> Vec<(Vec<usize>, Path)> {
        let events = &self.run.execution.events;
        let last = events.iter().rfind(|event| is_section_edge(event));
        let Some(open) = last.filter(|event| event.op() == Op::IsolatedBegin) else {
            return Vec::new();
        };
        let names = &self.run.execution.names;
        let ended = events.iter().filter(|event| event.op() == Op::End);
        let ended: FxHashSet<Strand> = ended.map(|event| event.strand()).collect();
        let before: Vec<usize> = (0..self.sections.len().saturating_sub(1)).collect();
        let strands = (0..names.strands.len() as u32).map(Strand);
        strands
            .filter(|strand| *strand != open.strand() && !ended.contains(strand))
            .map(|strand| (before.clone(), names.strand_path(strand)))
            .collect()
    }

    /// A number that is the same for orders of these sections that differ only in what commutes: it is
    /// made of each section's name and of those among them that come before it.
    pub(super) fn digest(&self, sections: &[usize]) -> u128 {
        let among: FixedBitSet = sections.iter().copied().collect();
        let digests = sections.iter().map(|&section| {
            let before = self.sections_before[section].intersection(&among);
            let before = before.map(|other| self.names[other]);
            digest((self.names[section], before.fold(0, u128::wrapping_add)))
        });
        digests.fold(0, u128::wrapping_add)
    }
}

fn is_section_edge(event: &Event) -> bool {
    matches!(event.op(), Op::IsolatedBegin | Op::IsolatedEnd)
}

/// For each section, the earlier ones it conflicts with: the last to write what it touches, and those
/// that have read since what it writes.
fn conflicts(graph: &ComputationGraph, accesses: &[Group]) -> Vec<Vec<usize>> {
    #[derive(Default)]
    struct Last {
        writer: Option<usize>,
        readers: Vec<usize>,
    }
    let mut conflicts = vec![Vec::new(); graph.sections().len()];
    let mut last: FxHashMap<Location, Last> = FxHashMap::default();
    for access in accesses {
        let Some(section) = graph.section(access.node) else {
            continue;
        };
        let last = last.entry(access.location).or_default();
        conflicts[section].extend(last.writer);
        match access.kind {
            AccessKind::Read => last.readers.push(section),
            AccessKind::Write => {
                conflicts[section].append(&mut last.readers);
                last.writer = Some(section);
            }
        }
    }
    for (section, conflicts) in conflicts.iter_mut().enumerate() {
        conflicts.sort_unstable();
        conflicts.dedup();
        conflicts.retain(|&other| other != section);
    }
    conflicts
}
