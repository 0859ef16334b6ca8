//! Stories and graphs for a page of findings: the events that lead to each race, and what orders those around it.

use deadheat_model::finding::Rule;
use deadheat_model::{EventNumber, Execution, Finding, Race, RacingAccess};
use deadheat_report::{Chapter, Entry, Graph, Room, Story};

/// Adds to each finding what there is to see of it. `around` is the execution that shows a race, and the race, where there
/// is one; a race with a witness is shown by that.
pub(crate) fn illustrate<'e>(
    chapter: &mut Chapter<'_>,
    around: impl Fn(&Finding) -> Option<(&'e Execution, Race)>,
) {
    let mut room = Room::default();
    for entry in &mut chapter.entries {
        let around = around(&entry.lead);
        let Entry { lead, .. } = entry;
        let order = lead.proof.as_ref().and_then(|proof| proof.reordering());
        // A story ends with two accesses.
        let order = order.filter(|_| lead.rule != Rule::Deadlock);
        let story = match (order, &around) {
            (Some(order), _) => Story::of_witness(order, &mut room),
            (None, Some((execution, race))) => Story::of_execution(execution, race, &mut room),
            (None, None) => None,
        };
        let graph = match around {
            Some((execution, race)) if room.take_graph(execution.events.len()) => {
                Graph::of_execution(execution, &race)
            }
            Some(_) => None,
            None => Graph::of_finding(lead),
        };
        (entry.story, entry.graph) = (story, graph);
    }
}

/// The race of an execution that a finding with the numbers of its events is about.
pub(crate) fn race_of(execution: &Execution, finding: &Finding) -> Option<Race> {
    let (first, second) = finding.pair()?;
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
    let (location, first_access) = access(first.event.min(second.event))?;
    let (_, second_access) = access(first.event.max(second.event))?;
    Some(Race {
        location,
        first: first_access,
        second: second_access,
        count: finding.count,
    })
}
