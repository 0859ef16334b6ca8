//! The events of a trace that matter to an engine.
//!
//! Most accesses are to locations that no two strands share. An engine that has no use for them is fed
//! with the others, which are picked on all cores first.

use deadheat_model::{Event, EventNumber};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

use super::{Driver, Malformed, ThreadEngine};

/// Whether an event is anything but a plain access to a location that does not matter.
fn matters(event: &Event, locations: &FixedBitSet) -> bool {
    let access = event.access();
    access.is_none_or(|access| locations.contains(access.location.index()))
}

/// The events of a trace that matter, given which locations do.
pub struct Picked<'a> {
    events: &'a [Event],
    /// Where they are, in parts.
    places: Vec<Vec<u32>>,
}

/// How many events are looked at at a time. Places are counted within such a part.
const PART: usize = 1 << 18;

impl<'a> Picked<'a> {
    /// Picks the events that matter.
    pub fn new(events: &'a [Event], locations: &FixedBitSet) -> Picked<'a> {
        let places = events.par_chunks(PART).map(|part| {
            let places = part.iter().zip(0..);
            let places = places.filter(|(event, _)| matters(event, locations));
            places.map(|(_, place)| place).collect()
        });
        Picked {
            events,
            places: places.collect(),
        }
    }

    /// Tells them to an engine, and after each part how many events that was.
    pub fn feed(
        &self,
        driver: &mut Driver,
        engine: &mut impl ThreadEngine,
        mut each: impl FnMut(usize),
    ) -> Result<(), Malformed> {
        for (index, (part, places)) in self.events.chunks(PART).zip(&self.places).enumerate() {
            let first = (index * PART) as EventNumber + 1;
            let events = places.iter().map(|&place| {
                let number = first + EventNumber::from(place);
                (&part[place as usize], number)
            });
            driver.feed_some(events, engine)?;
            each(part.len());
        }
        Ok(())
    }
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
