//! Stories and graphs for a page of findings: the events that lead to each race, and what orders those around it.

use deadheat_model::{EventNumber, Execution, Race, RacingAccess};
use deadheat_report::{Chapter, Graph, PairReport, Room, Story, WitnessReport};
use rustc_hash::FxHashMap;

/// A race of an execution, as it is and as a witness shows it.
pub(crate) struct Scene<'e> {
    execution: &'e Execution,
    race: Race,
    witness: Option<&'e WitnessReport>,
}

impl<'e> Scene<'e> {
    pub(crate) fn new(execution: &'e Execution, race: Race) -> Scene<'e> {
        Scene {
            execution,
            race,
            witness: None,
        }
    }

    /// What a report says of a pair of events.
    pub(crate) fn of_pair(
        execution: &'e Execution,
        pair: &PairReport,
        witness: Option<&'e WitnessReport>,
    ) -> Option<Scene<'e>> {
        let access = |number: EventNumber| {
            let event = execution.event(number)?;
            let (access, _) = event.any_access()?;
            let racing = RacingAccess {
                event: number,
                strand: event.strand(),
                site: event.site(),
                kind: access.kind,
            };
            Some((access.location, racing))
        };
        // A witness may show the two in the other order.
        let (first, second) = (pair.first.event, pair.second.event);
        let (location, first_access) = access(first.min(second))?;
        let (_, second_access) = access(first.max(second))?;
        let race = Race {
            location,
            first: first_access,
            second: second_access,
            count: pair.count,
        };
        Some(Scene {
            witness,
            ..Scene::new(execution, race)
        })
    }

    /// The events that lead to it, and what orders those around it, as far as there is room.
    pub(crate) fn drawn(&self, room: &mut Room) -> (Option<Story>, Option<Graph>) {
        let story = match self.witness {
            Some(witness) => Story::of_witness(witness, room),
            None => Story::of_execution(self.execution, &self.race, room),
        };
        let graph = match room.take_graph(self.execution.events.len()) {
            true => Graph::of_execution(self.execution, &self.race),
            false => None,
        };
        (story, graph)
    }
}

/// Adds what there is to see of each finding, by its identity.
pub(crate) fn illustrate(chapter: &mut Chapter<'_>, scenes: &FxHashMap<String, Scene<'_>>) {
    let mut room = Room::default();
    for entry in &mut chapter.entries {
        if let Some(scene) = scenes.get(&entry.fingerprint) {
            (entry.story, entry.graph) = scene.drawn(&mut room);
        }
    }
}
