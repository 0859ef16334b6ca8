//! From the events that matter to all events.
//!
//! What a witness leaves out of a strand has to be its end, so the events that do not matter come
//! along: each right before the next one of its strand that does, or where it was if nothing before it
//! has moved.

use deadheat_model::{Event, EventNumber, Strand, Witness};

use super::decide::Reordering;
use super::skeleton::{Link, Skeleton};

/// The witness of a race between two accesses.
pub fn witness(
    skeleton: &Skeleton,
    events: &[Event],
    pair: [Link; 2],
    found: &Reordering,
) -> Witness {
    let [one, other] = pair.map(|link| EventNumber::from(skeleton.number(link)));
    let next = [(pair[0].strand, one), (pair[1].strand, other)];
    let mut witness = order_before(skeleton, events, &next, found);
    witness.then.extend([one.min(other), one.max(other)]);
    witness
}

/// The order after which some events, of different strands, are next: each by its strand and number.
pub fn order_before(
    skeleton: &Skeleton,
    events: &[Event],
    next: &[(u32, EventNumber)],
    found: &Reordering,
) -> Witness {
    let number = |link: Link| EventNumber::from(skeleton.number(link));
    let is_next = |of: u32| next.iter().any(|(strand, _)| *strand == of);
    let others = found.upto.iter().filter(|last| !is_next(last.strand));
    let others = others.map(|&last| (Strand(last.strand), number(last)));
    let stopped = next
        .iter()
        .map(|&(strand, number)| (Strand(strand), number - 1));
    let mut upto: Vec<(Strand, EventNumber)> = others.chain(stopped).collect();
    upto.sort_unstable();
    let place = |strand| upto.binary_search_by_key(&strand, |(strand, _)| *strand);
    let mut end = upto.iter().map(|(_, last)| *last).max().unwrap_or(0) + 1;
    let before = EventNumber::from(found.before).min(end);
    end = end.max(before);
    // What comes along, strand by strand.
    let mut rest: Vec<Vec<EventNumber>> = vec![Vec::new(); upto.len()];
    for number in (before..end).rev() {
        if let Ok(place) = place(events[number as usize - 1].strand())
            && number <= upto[place].1
        {
            rest[place].push(number);
        }
    }
    let mut then = Vec::new();
    let moved = found.then.iter().map(|&link| (link.strand, number(link)));
    let ends = next.iter().map(|&(strand, _)| (strand, EventNumber::MAX));
    for (strand, upto) in moved.chain(ends) {
        if let Ok(place) = place(Strand(strand)) {
            while let Some(next) = rest[place].pop_if(|next| *next <= upto) {
                then.push(next);
            }
        }
    }
    Witness { before, upto, then }
}
