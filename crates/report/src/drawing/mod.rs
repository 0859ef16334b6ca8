//! The computation graph of one run as a picture, its races marked.
//!
//! A [`Drawing`] is what the picture says: a box for each node, with what it does line by line, the
//! edges, and a line between the two boxes of each race. [`Drawing::dot`] leaves it to Graphviz where
//! they go; [`Drawing::svg`] places them itself (`layout`) and needs nothing but a browser.
//!
//! Edges that a strand's own order implies (from one section to the next of the same strand, say) are
//! left out.

mod dot;
mod layout;
mod lines;
mod races;
mod steps;
mod svg;

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{Execution, Names, Op, Race, Strand};
use deadheat_offline::{ComputationGraph, Node};

use crate::text::style::counted;
pub(crate) use dot::quoted;
use races::RaceLine;
use steps::Steps;
pub(crate) use svg::escaped;

/// How many characters of a strand's name are kept.
const MAX_NAME: usize = 200;

/// Who made an edge, which is how it is drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum EdgeKind {
    /// The order of a strand's own events.
    Program,
    /// A start, and whatever waits.
    Sync,
    /// The order that `isolated` sections had.
    Isolation,
    /// The order that sections of a lock had.
    Lock,
}

/// How a kind of edge is explained.
const LEGEND: [(EdgeKind, &str); 4] = [
    (EdgeKind::Program, "program order"),
    (EdgeKind::Sync, "starts, or is waited for"),
    (EdgeKind::Isolation, "order of isolated sections"),
    (EdgeKind::Lock, "order of a lock's sections"),
];
const RACE_LEGEND: &str = "race: in no order";

#[derive(Debug)]
struct Edge {
    from: Node,
    to: Node,
    kind: EdgeKind,
}

/// A box: one node.
#[derive(Debug)]
struct NodeBox {
    strand: Strand,
    /// The strand's name.
    name: String,
    isolated: bool,
    steps: Steps,
}

impl NodeBox {
    fn races(&self) -> bool {
        self.steps.race()
    }
}

/// The computation graph of one run as a picture, its races marked: what there is to draw.
#[derive(Debug)]
pub struct Drawing {
    title: String,
    boxes: Vec<NodeBox>,
    edges: Vec<Edge>,
    races: Vec<RaceLine>,
    /// What stands at the top.
    caption: String,
}

impl Drawing {
    /// The most nodes that [`Drawing::svg`] is meant for: a browser still shows them.
    pub const MAX_SVG: usize = 5_000;
    /// The most nodes that [`Drawing::dot`] is meant for.
    pub const MAX_DOT: usize = 50_000;

    /// What there is to draw. `source` is the program's text, from which the names of promises and
    /// locks are taken; a race of events that the graph does not have is left out.
    pub fn new(
        title: &str,
        execution: &Execution,
        graph: &ComputationGraph,
        races: &[Race],
    ) -> Drawing {
        let strands: BTreeSet<Strand> = (0..graph.len()).map(|node| graph.strand(node)).collect();
        let names = strand_names(&execution.names, strands);
        let all_steps = steps::of_nodes(execution, graph, races);
        let boxes = all_steps.into_iter().enumerate().map(|(node, steps)| {
            let strand = graph.strand(node);
            NodeBox {
                strand,
                name: names[&strand].clone(),
                isolated: graph.section(node).is_some(),
                steps,
            }
        });
        let boxes: Vec<NodeBox> = boxes.collect();
        let races = races::lines(execution, graph, races);
        let places: u64 = races.iter().map(|race| race.places).sum();
        let pairs: u64 = races.iter().map(|race| race.pairs).sum();
        Drawing {
            title: title.to_string(),
            caption: format!(
                "{}, {}, {}",
                counted(names.len() as u64, "strand"),
                counted(boxes.len() as u64, "node"),
                match places {
                    0 => "no race".to_string(),
                    n if n == pairs => counted(n, "race"),
                    // Of accesses at the same two places, one pair is drawn.
                    n => format!(
                        "{} for {}",
                        counted(n, "race"),
                        counted(pairs, "racing pair")
                    ),
                }
            ),
            edges: edges(execution, graph),
            boxes,
            races,
        }
    }

    /// Whether there is an edge of this kind.
    fn has(&self, kind: EdgeKind) -> bool {
        self.edges.iter().any(|edge| edge.kind == kind)
    }
}

/// The names of strands, each shortened before its children's are made of it: in a deep recursion, all
/// of them would take too much.
fn strand_names(names: &Names, strands: BTreeSet<Strand>) -> BTreeMap<Strand, String> {
    let mut short: BTreeMap<Strand, String> = BTreeMap::new();
    // A strand has a higher number than the one that started it.
    for strand in strands {
        let parent = names.parents.get(strand.index()).copied().flatten();
        let path = parent.and_then(|parent| {
            let own = names
                .strands
                .get(strand.index())
                .is_some_and(|name| !name.is_empty());
            let before = short.get(&parent.strand).filter(|_| !own)?;
            Some(format!("{before}/{}", parent.ordinal))
        });
        let name = path.unwrap_or_else(|| names.strand(strand).into_owned());
        short.insert(strand, shortened(&name, MAX_NAME));
    }
    short
}

fn edges(execution: &Execution, graph: &ComputationGraph) -> Vec<Edge> {
    let mut edges = Vec::new();
    // The nodes that begin by taking a lock: what they come behind released it.
    let mut first: Vec<Option<Op>> = vec![None; graph.len()];
    for (event, number) in execution.events.iter().zip(1..) {
        if let Some(node) = graph.node_of(number) {
            first[node].get_or_insert(event.op());
        }
    }
    for (to, first) in first.iter().enumerate() {
        let strand = graph.strand(to);
        let mut behind: Vec<Node> = graph.predecessors(to).collect();
        behind.sort_unstable();
        behind.dedup();
        let own = |&from: &Node| graph.strand(from) == strand;
        // The last of its own strand's implies the others.
        let last = behind.iter().copied().rfind(own);
        edges.extend(last.map(|from| Edge {
            from,
            to,
            kind: EdgeKind::Program,
        }));
        let others = behind.iter().copied().filter(|from| !own(from));
        edges.extend(others.map(|from| Edge {
            from,
            to,
            kind: match first {
                Some(Op::Acquire(_)) => EdgeKind::Lock,
                _ => EdgeKind::Sync,
            },
        }));
        let section = graph.section_before(to).filter(|from| !own(from));
        edges.extend(section.map(|from| Edge {
            from,
            to,
            kind: EdgeKind::Isolation,
        }));
    }
    edges
}

/// A text of at most so many characters: the beginning, the end, and `…` for what lay between.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_string();
    }
    let end = (most - 1) / 2;
    let start = most - 1 - end;
    let first = text.chars().take(start);
    let last = text.chars().skip(count - end);
    first.chain(std::iter::once('…')).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_lang::{Program, Schedule};
    use deadheat_offline::graph;

    #[test]
    fn a_long_text_keeps_both_ends() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcdefgh", 5), "ab…gh");
        assert_eq!(shortened("äöüßäöüß", 4), "äö…ß");
    }

    fn drawing(source: &str) -> Drawing {
        drawing_of(source, &Schedule::DepthFirst)
    }

    pub(super) fn drawing_of(source: &str, schedule: &Schedule) -> Drawing {
        let run = Program::parse(source)
            .unwrap()
            .run(schedule, 2_000)
            .unwrap();
        let graph = ComputationGraph::new(&run.execution, usize::MAX, |_| false);
        let races = graph::check(&run.execution).races;
        Drawing::new("p.tp", &run.execution, &graph, &races)
    }

    #[test]
    fn a_deep_strand_keeps_both_ends_of_its_name() {
        let source =
            "proc main() { call f(200); } proc f(n) { if n > 0 { async f(n - 1); } skip; }";
        let drawing = drawing(source);
        let last = drawing.boxes.iter().max_by_key(|node| node.strand);
        let name = &last.unwrap().name;
        assert_eq!(name.chars().count(), MAX_NAME);
        assert!(
            name.starts_with("main/1/1/1/") && name.ends_with("/1/1/1"),
            "{name}"
        );
        assert_eq!(name.matches('…').count(), 1);
    }

    #[test]
    fn races_between_the_same_nodes_are_one_line() {
        let drawing =
            drawing("shared x; shared y; proc main() { async { x = 1; y = 1; } x = 2; y = 2; }");
        assert_eq!(drawing.races.len(), 1);
        assert_eq!(drawing.races[0].label(), "x, y");
        assert_eq!(drawing.races[0].names(3), "x, …");
        let racing = drawing.boxes.iter().filter(|b| b.races()).count();
        assert_eq!(racing, 2);
        assert_eq!(drawing.caption, "2 strands, 3 nodes, 2 races");
    }

    #[test]
    fn a_race_that_stands_for_others_says_so() {
        let drawing =
            drawing("shared x; proc main() { for i in 0 .. 4 { async { x = 1; } } x = 2; }");
        let labels: Vec<String> = drawing.races.iter().map(RaceLine::label).collect();
        assert_eq!(labels, ["x", "x"]);
        let caption = "5 strands, 9 nodes, 2 races for 10 racing pairs";
        assert_eq!(drawing.caption, caption);
    }

    #[test]
    fn a_strand_s_own_order_is_drawn_once() {
        let promise = drawing("promise p; proc main() { p.set; skip; p.get; }");
        let edges: Vec<_> = promise
            .edges
            .iter()
            .map(|e| (e.from, e.to, e.kind))
            .collect();
        assert_eq!(edges, [(0, 1, EdgeKind::Program)]);
        let sections = drawing(
            "proc main() { isolated { skip; } async { isolated { skip; } } isolated { skip; } }",
        );
        let isolation = sections.edges.iter();
        let isolation = isolation.filter(|e| e.kind == EdgeKind::Isolation).count();
        assert_eq!(isolation, 2);
    }
}
