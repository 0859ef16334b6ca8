//! Waits on a condition variable that end earlier in a predicted order than they did in the run.
//!
//! A trace has such a wait as its mutex given back and taken again, at one place. Who signals is not in it. So an order in
//! which the wait ends before others have done what they had done by then in the run may need a spurious wake-up: POSIX
//! allows these, and few programs see one.

use deadheat_model::finding::{Describer, Finding, SourceLines};
use deadheat_model::{EventNumber, Execution, Op, Strand};
use rustc_hash::FxHashMap;

/// How many events are looked at.
const MAX_EVENTS: u64 = 100_000_000;

/// Says of each prediction whether a wait ends early in its order: the first that does.
pub fn add_early_waking(
    execution: &Execution,
    lines: &dyn SourceLines,
    predictions: &mut [Finding],
) {
    let begins = waits(execution);
    if begins.is_empty() {
        return;
    }
    let mut describer = Describer::new(&execution.names, lines);
    let mut left = MAX_EVENTS;
    for finding in predictions {
        let Some(order) = finding.proof.as_ref().and_then(|proof| proof.reordering()) else {
            continue;
        };
        left = left.saturating_sub(order.length());
        if left == 0 {
            return;
        }
        let events: Vec<EventNumber> = execution.spell_out(order.witness()).collect();
        let ends = events.iter().enumerate();
        let mut ends = ends.filter_map(|(place, end)| Some((place, *end, *begins.get(end)?)));
        let early = ends.find(|&(place, end, begin)| {
            left = left.saturating_sub(place as u64);
            let meanwhile = |number: &&EventNumber| (begin + 1..end).contains(*number);
            let done = events[..place].iter().filter(meanwhile).count() as u64;
            left > 0 && done < end - begin - 1
        });
        let early = early.and_then(|(_, end, _)| execution.event(end));
        finding.wakes_early = early.map(|event| describer.place(event.site()));
    }
}

/// For each event that ends a wait, the one that begins it.
fn waits(execution: &Execution) -> FxHashMap<EventNumber, EventNumber> {
    let mut last: FxHashMap<Strand, EventNumber> = FxHashMap::default();
    let mut waits = FxHashMap::default();
    for (number, event) in (1..).zip(&execution.events) {
        let before = last.insert(event.strand(), number);
        let Some((begin, before)) = before.and_then(|at| Some((at, execution.event(at)?))) else {
            continue;
        };
        if let (Op::Release(one), Op::Acquire(other)) = (before.op(), event.op())
            && one == other
            && before.site() == event.site()
        {
            waits.insert(number, begin);
        }
    }
    waits
}
