//! The events of a trace that matter to an engine.
//!
//! Most accesses are to locations that no two strands share. An engine that has no use for them is fed
//! with the others; while it looks at some, the next are picked on another core.

use deadheat_model::{Event, EventNumber};
use fixedbitset::FixedBitSet;

use super::{Driver, Malformed, ThreadEngine};

/// How many events are looked at at a time.
const PART: usize = 1 << 18;

/// Whether an event is anything but a plain access to a location that does not matter.
fn matters(event: &Event, locations: &FixedBitSet) -> bool {
    let access = event.access();
    access.is_none_or(|access| locations.contains(access.location.index()))
}

/// The events of a part that matter, with their places in it.
fn pick(part: &[Event], locations: &FixedBitSet, picked: &mut Vec<(u32, Event)>) {
    let events = part.iter().zip(0..);
    let events = events.filter(|(event, _)| matters(event, locations));
    picked.clear();
    picked.extend(events.map(|(event, place)| (place, *event)));
}

/// Tells an engine the events of a trace that matter, given which locations do; and after each part of the
/// trace calls with how much is done, from 0 to 1.
pub fn feed_picked(
    events: &[Event],
    locations: &FixedBitSet,
    driver: &mut Driver,
    engine: &mut (impl ThreadEngine + Send),
    mut each: impl FnMut(f64) + Send,
) -> Result<(), Malformed> {
    let parts: Vec<&[Event]> = events.chunks(PART).collect();
    let (mut picked, mut next) = (Vec::new(), Vec::new());
    pick(parts.first().unwrap_or(&&[][..]), locations, &mut picked);
    for index in 0..parts.len() {
        let first = (index * PART) as EventNumber + 1;
        let mut feed = || {
            let events = picked.iter();
            let events = events.map(|(place, event)| (event, first + EventNumber::from(*place)));
            driver.feed_some(events, engine)
        };
        let fed = match parts.get(index + 1) {
            None => feed(),
            Some(part) => rayon::join(feed, || pick(part, locations, &mut next)).0,
        };
        fed?;
        std::mem::swap(&mut picked, &mut next);
        each((index + 1) as f64 / parts.len() as f64);
    }
    Ok(())
}

/// Tells an engine those of some consecutive events that matter, the first of which has a number.
pub fn feed_window(
    events: &[Event],
    first: EventNumber,
    locations: &FixedBitSet,
    driver: &mut Driver,
    engine: &mut impl ThreadEngine,
) -> Result<(), Malformed> {
    let events = events.iter().zip(first..);
    let events = events.filter(|(event, _)| matters(event, locations));
    driver.feed_some(events, engine)
}
