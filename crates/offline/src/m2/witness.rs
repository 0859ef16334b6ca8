//! From the events that matter to all events.
//!
//! What a witness leaves out of a strand has to be its end, so the events that do not matter come
//! along: each right before the next one of its strand that does, or where it was if nothing before it
//! has moved.

use deadheat_model::{Event, EventNumber, Witness};

use super::decide::Reordering;
use super::skeleton::{Link, Skeleton};

/// The witness of a race between two accesses.
pub fn witness(
    skeleton: &Skeleton,
    events: &[Event],
    pair: [Link; 2],
    found: &Reordering,
) -> Witness {
    let number = |link: Link| EventNumber::from(skeleton.number(link));
    let last = |(strand, &length): (u32, &u32)| match pair.iter().find(|e| e.strand == strand) {
        Some(&racing) => number(racing) - 1,
        None if length == 0 => 0,
        None => number(Link {
            strand,
            index: length - 1,
        }),
    };
    let upto: Vec<EventNumber> = (0..).zip(&found.upto).map(last).collect();
    let mut end = upto.iter().copied().max().unwrap_or(0) + 1;
    let before = EventNumber::from(found.before).min(end);
    end = end.max(before);
    // What comes along, strand by strand.
    let mut rest: Vec<Vec<EventNumber>> = vec![Vec::new(); upto.len()];
    for number in (before..end).rev() {
        let strand = events[number as usize - 1].strand().index();
        if number <= upto[strand] {
            rest[strand].push(number);
        }
    }
    let mut then = Vec::new();
    let moved = found.then.iter().map(|&link| (link.strand, number(link)));
    let ends = pair.iter().map(|link| (link.strand, EventNumber::MAX));
    for (strand, upto) in moved.chain(ends) {
        let rest = &mut rest[strand as usize];
        while let Some(next) = rest.pop_if(|next| *next <= upto) {
            then.push(next);
        }
    }
    let [one, other] = pair.map(number);
    then.extend([one.min(other), one.max(other)]);
    Witness { before, upto, then }
}
