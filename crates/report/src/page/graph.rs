//! What orders the events around a race, as nodes and edges for a page to draw: a lane for each thread or task.

use deadheat_explain::{EdgeKind, neighbourhood};
use deadheat_model::{EventNumber, Execution, Race};
use deadheat_native::{Creation, NativeAccess, NativeRace, NativeTask};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::check::short_name;
use crate::native_text::label;
use crate::openmp;
use crate::style::cut;

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
                graph.lanes.push(short_name(&names.strand(strand)));
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
    pub fn of_program(race: &NativeRace) -> Graph {
        let mut graph = Graph::default();
        match (race.first.tasks.is_empty(), race.second.tasks.is_empty()) {
            (false, false) => {
                for access in [&race.first, &race.second] {
                    graph.tasks(&access.tasks);
                }
            }
            _ => {
                graph.lane("main");
                let mut creations: Vec<&Creation> = race.creations.iter().collect();
                // Who creates a thread is created before; a parent that is not known is anybody's guess.
                while !creations.is_empty() {
                    let known = |creation: &&Creation| graph.lanes.contains(&creation.parent);
                    let next = creations.iter().position(known).unwrap_or(0);
                    let creation = creations.remove(next);
                    let place = creation.stack.first();
                    let place = place.map_or_else(String::new, |frame| frame.location());
                    graph.creation(&creation.parent, &creation.thread, &place);
                }
            }
        }
        let first = graph.access(&race.first);
        let second = graph.access(&race.second);
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
        graph
    }

    /// A task and who created it, outermost first.
    fn tasks(&mut self, tasks: &[NativeTask]) {
        for pair in tasks.windows(2).rev() {
            let (child, creator) = (openmp::task(&pair[0]), openmp::task(&pair[1]));
            let place = pair[0].stack.first();
            let place = place.map_or_else(String::new, |frame| frame.location());
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

    fn access(&mut self, access: &NativeAccess) -> usize {
        let who = openmp::who(access).unwrap_or_else(|| access.thread.clone());
        let lane = self.lane(&who);
        self.nodes.push(Node {
            lane,
            text: label(access),
            place: access
                .site()
                .map_or_else(String::new, |site| site.location()),
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
