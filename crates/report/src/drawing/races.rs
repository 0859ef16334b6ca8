//! The races of a run, as lines between boxes.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{Execution, Race};
use deadheat_offline::{ComputationGraph, Node};

use super::shortened;

/// How many characters of names stand at a line.
const MAX_LABEL: usize = 21;

/// The races between two nodes, the one that began first in front.
#[derive(Debug)]
pub(super) struct RaceLine {
    pub(super) nodes: (Node, Node),
    pub(super) locations: BTreeSet<String>,
    /// How many pairs of places race.
    pub(super) places: u64,
    /// How many pairs of accesses they stand for.
    pub(super) pairs: u64,
}

impl RaceLine {
    /// The names of the locations: all, or as many as have room in so many characters.
    pub(super) fn names(&self, most: usize) -> String {
        let mut text = String::new();
        for (index, location) in self.locations.iter().enumerate() {
            let name = shortened(location, most);
            if index == 0 {
                text = name;
            } else if text.chars().count() + name.chars().count() + 2 > most {
                return text + ", …";
            } else {
                text += &format!(", {name}");
            }
        }
        text
    }

    /// What stands at the line.
    pub(super) fn label(&self) -> String {
        self.names(MAX_LABEL)
    }
}

/// The lines of all races whose events the graph has.
pub(super) fn lines(
    execution: &Execution,
    graph: &ComputationGraph,
    races: &[Race],
) -> Vec<RaceLine> {
    let mut lines: BTreeMap<(Node, Node), RaceLine> = BTreeMap::new();
    for race in races {
        let first = graph.node_of(race.first.event);
        let second = graph.node_of(race.second.event);
        let (Some(first), Some(second)) = (first, second) else {
            continue;
        };
        let nodes = (first.min(second), first.max(second));
        let line = lines.entry(nodes).or_insert_with(|| RaceLine {
            nodes,
            locations: BTreeSet::new(),
            places: 0,
            pairs: 0,
        });
        let name = execution.names.location(race.location).into_owned();
        line.locations.insert(name);
        line.places += 1;
        line.pairs += race.count;
    }
    lines.into_values().collect()
}
