//! What orders the events around a race, as nodes and edges for a page to draw: a lane for each thread or task.

use deadheat_explain::{EdgeKind, neighbourhood};
use deadheat_model::finding::{Creation, Finding, Side, Task, short_name};
use deadheat_model::{EventNumber, Execution, Race};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::text::style::cut;
use crate::words::{self, MAX_THREAD};

use super::{MAX_NAME, MAX_PLACE};

/// Events, what orders them, and the two that nothing orders.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Graph {
    lanes: Vec<String>,
    nodes: Vec<Node>,
    /// From, to, and why.
    edges: Vec<(usize, usize, &'static str)>,
    race: (usize, usize),
}

#[derive(Clone, Debug, Serialize)]
struct Node {
    lane: usize,
    text: String,
    place: String,
}

impl Graph {
    /// Around a race of an execution.
    pub fn of_execution(execution: &Execution, race: &Race) -> Option<Graph> {
        let around = neighbourhood(execution, race).ok()?;
        let names = &execution.names;
        let mut graph = Graph::default();
        // Two strands can have one name.
        let mut lanes = FxHashMap::default();
        for &number in &around.events {
            let event = execution.event(number)?;
            let strand = event.strand();
            let lane = *lanes.entry(strand).or_insert_with(|| {
                let name = short_name(&names.strand(strand));
                graph.lanes.push(cut(&name, MAX_THREAD));
                graph.lanes.len() - 1
            });
            graph.nodes.push(Node {
                lane,
                text: cut(&names.action(event.op()).to_string(), MAX_NAME),
                place: cut(&names.site(event.site()), MAX_PLACE),
            });
        }
        let node = |event: EventNumber| around.events.binary_search(&event).ok();
        for &(from, to, kind) in &around.edges {
            let kind = match kind {
                EdgeKind::Synchronisation => "sync",
                EdgeKind::Data => "data",
            };
            graph.edges.push((node(from)?, node(to)?, kind));
        }
        graph.race = (node(race.first.event)?, node(race.second.event)?);
        Some(graph)
    }

    /// How the two threads or tasks of a race came to run side by side.
    pub fn of_finding(finding: &Finding) -> Option<Graph> {
        let (first, second) = finding.pair()?;
        let mut graph = Graph::default();
        match (first.tasks.is_empty(), second.tasks.is_empty()) {
            (false, false) => {
                for side in [first, second] {
                    graph.tasks(&side.tasks);
                }
            }
            _ => {
                graph.lane("main");
                let mut creations: Vec<&Creation> = finding.creations.iter().collect();
                // Who creates a thread is created before; a parent that is not known is anybody's guess.
                while !creations.is_empty() {
                    let known = |creation: &&Creation| {
                        graph.lanes.iter().any(|lane| **lane == *creation.parent)
                    };
                    let next = creations.iter().position(known).unwrap_or(0);
                    let creation = creations.remove(next);
                    let place = creation
                        .stack
                        .first()
                        .map(|frame| frame.place().to_string());
                    let place = place.unwrap_or_else(|| creation.place.to_string());
                    graph.creation(&creation.parent, &creation.thread, &place);
                }
            }
        }
        let first = graph.access(first);
        let second = graph.access(second);
        graph.race = (first, second);
        // Who was created comes after its creation.
        for (from, node) in graph.nodes.clone().iter().enumerate() {
            let Some(child) = node.text.strip_prefix("creates ") else {
                continue;
            };
            let Some(lane) = graph.lanes.iter().position(|lane| lane == child) else {
                continue;
            };
            let later = graph.nodes.iter().enumerate().skip(from + 1);
            let to = later.clone().find(|(_, node)| node.lane == lane);
            graph.edges.extend(to.map(|(to, _)| (from, to, "sync")));
        }
        Some(graph)
    }

    /// A task and who created it, outermost first.
    fn tasks(&mut self, tasks: &[Task]) {
        for pair in tasks.windows(2).rev() {
            let (child, creator) = (words::task(&pair[0]), words::task(&pair[1]));
            let place = pair[0].stack.first();
            let place = place.map_or_else(String::new, |frame| frame.place().to_string());
            self.creation(&creator, &child, &place);
        }
    }

    fn creation(&mut self, parent: &str, child: &str, place: &str) {
        let lane = self.lane(parent);
        let text = format!("creates {child}");
        if !self
            .nodes
            .iter()
            .any(|node| node.lane == lane && node.text == text)
        {
            self.lane(child);
            self.nodes.push(Node {
                lane,
                text,
                place: place.to_string(),
            });
        }
    }

    fn access(&mut self, side: &Side) -> usize {
        let who = words::who(side).unwrap_or_else(|| side.thread.to_string());
        let lane = self.lane(&who);
        self.nodes.push(Node {
            lane,
            text: words::label(side),
            place: side.place.to_string(),
        });
        self.nodes.len() - 1
    }

    fn lane(&mut self, name: &str) -> usize {
        let known = self.lanes.iter().position(|lane| lane == name);
        known.unwrap_or_else(|| {
            self.lanes.push(name.to_string());
            self.lanes.len() - 1
        })
    }

    /// The places that it names.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.place.as_str())
    }
}
