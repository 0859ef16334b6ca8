//! The end of an order of events, as steps.

use deadheat_model::finding::{Place, Reordering, short_name};
use deadheat_model::{EventNumber, Strand};

use super::MAX_NAME;
use crate::text::style::cut;

/// How many events are looked at for a few steps.
const SEEN_EVENTS: usize = 4096;

/// What one thread does at one place.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Whose it is: names may agree, most of all cut ones.
    pub strand: Strand,
    /// The name of the thread or task.
    pub thread: String,
    /// What it does, as an operation of a trace.
    pub action: String,
    /// Where.
    pub place: Place,
}

/// The last events of an order, each a step.
pub(crate) fn events(order: &dyn Reordering, most: usize) -> Vec<Step> {
    let end = order.end(most);
    end.into_iter()
        .filter_map(|number| step(order, number))
        .collect()
}

/// An event of the execution that is put in order, whether the order has it or not.
pub(crate) fn step(order: &dyn Reordering, number: EventNumber) -> Option<Step> {
    let trace = order.execution();
    let event = trace.event(number)?;
    Some(Step {
        strand: event.strand(),
        thread: short_name(&trace.names.strand(event.strand())),
        action: cut(&trace.names.action(event.op()).to_string(), MAX_NAME),
        place: Place::parse(&trace.names.site(event.site())),
    })
}

/// The last steps of an order, and how many events come before them. Events of one thread on one line that nothing comes
/// between are one step; the last two steps are the race.
pub(crate) fn steps(order: &dyn Reordering, most: usize) -> (Vec<Step>, u64) {
    let events = events(order, SEEN_EVENTS);
    let racing = events.len().saturating_sub(2);
    let mut steps: Vec<(u64, Step)> = Vec::new();
    for (index, step) in events.into_iter().enumerate() {
        match steps.last_mut() {
            Some((events, last))
                if index < racing && last.strand == step.strand && last.place == step.place =>
            {
                *events += 1;
            }
            _ => steps.push((1, step)),
        }
    }
    let last = steps.split_off(steps.len().saturating_sub(most));
    let shown: u64 = last.iter().map(|(events, _)| events).sum();
    let before = order.length().saturating_sub(shown);
    (last.into_iter().map(|(_, step)| step).collect(), before)
}
