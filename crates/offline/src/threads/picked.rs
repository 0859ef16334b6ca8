//! The events of a trace that matter to an engine.
//!
//! Most accesses are to locations that no two strands share. An engine that has no use for them is fed
//! with the others; while it looks at some, the next are picked on another core.

use std::ops::ControlFlow;

use deadheat_model::{Event, EventNumber, StopReason, StopToken};
use fixedbitset::FixedBitSet;

use super::{Driver, ImpossibleEvent, ThreadEngine};

/// How many events are looked at at a time.
const PART: usize = 1 << 14;

/// After how many events that matter it is asked whether to stop, at most.
const STOPS: usize = 1 << 8;

/// The same times the number of strands: what an event takes can grow with them, and is a millisecond with very many.
const WORK: usize = 1 << 18;

/// Why an engine is told no more of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It was time to stop, after so many events of the trace from the first.
    Stopped(StopReason, EventNumber),
    /// The engine has [enough](ThreadEngine::has_enough).
    Enough,
}

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

/// Tells an engine the events of a trace that matter, given which locations do, until it is time to stop; and
/// after each part of the trace calls with how much is done, from 0 to 1.
pub fn feed_picked(
    events: &[Event],
    locations: &FixedBitSet,
    driver: &mut Driver,
    engine: &mut (impl ThreadEngine + Send),
    stop: StopToken,
    mut each: impl FnMut(f64) + Send,
) -> Result<ControlFlow<End>, ImpossibleEvent> {
    let parts: Vec<&[Event]> = events.chunks(PART).collect();
    let (mut picked, mut next) = (Vec::new(), Vec::new());
    pick(parts.first().unwrap_or(&&[][..]), locations, &mut picked);
    for index in 0..parts.len() {
        let first = (index * PART) as EventNumber + 1;
        let mut feed = || feed_part(&picked, first, driver, engine, stop);
        let fed = match parts.get(index + 1) {
            None => feed(),
            Some(part) => rayon::join(feed, || pick(part, locations, &mut next)).0,
        };
        if let ControlFlow::Break(end) = fed? {
            return Ok(ControlFlow::Break(end));
        }
        std::mem::swap(&mut picked, &mut next);
        each((index + 1) as f64 / parts.len() as f64);
    }
    Ok(ControlFlow::Continue(()))
}

/// Tells an engine those of some consecutive events that matter, the first of which has a number.
pub fn feed_window(
    events: &[Event],
    first: EventNumber,
    locations: &FixedBitSet,
    driver: &mut Driver,
    engine: &mut impl ThreadEngine,
    stop: StopToken,
) -> Result<ControlFlow<End>, ImpossibleEvent> {
    let mut picked = Vec::new();
    pick(events, locations, &mut picked);
    feed_part(&picked, first, driver, engine, stop)
}

/// Tells an engine events that were picked, with their places behind the first.
fn feed_part(
    picked: &[(u32, Event)],
    first: EventNumber,
    driver: &mut Driver,
    engine: &mut impl ThreadEngine,
    stop: StopToken,
) -> Result<ControlFlow<End>, ImpossibleEvent> {
    let number = |place: u32| first + EventNumber::from(place);
    let stops = (WORK / driver.strands().max(1)).clamp(1, STOPS);
    for some in picked.chunks(stops) {
        if let Some(why) = stop.due() {
            let told = number(some[0].0) - 1;
            return Ok(ControlFlow::Break(End::Stopped(why, told)));
        }
        if engine.has_enough() {
            return Ok(ControlFlow::Break(End::Enough));
        }
        engine.ahead(some);
        let events = some.iter().map(|(place, event)| (event, number(*place)));
        driver.feed_some(events, engine)?;
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use deadheat_model::{Location, Lock, Names, Op, Site, Strand};

    use super::super::{At, Lowering};
    use super::*;

    static NOW: AtomicBool = AtomicBool::new(false);

    /// Counts forks, and asks for a stop at the first.
    struct Forks(usize);

    impl ThreadEngine for Forks {
        fn read(&mut self, _: At, _: Location) {}
        fn write(&mut self, _: At, _: Location) {}
        fn acquire(&mut self, _: At, _: Lock) {}
        fn release(&mut self, _: At, _: Lock) {}
        fn fork(&mut self, _: At, _: Strand) {
            NOW.store(true, Ordering::Relaxed);
            self.0 += 1;
        }
    }

    #[test]
    fn the_more_strands_there_are_the_sooner_a_stop_is_heeded() {
        for (strands, most) in [(1 << 19, 1), (1 << 13, 32), (1 << 9, STOPS)] {
            NOW.store(false, Ordering::Relaxed);
            let names = Names {
                strands: vec![String::new(); strands],
                ..Names::default()
            };
            let fork = |child| Event::new(Strand::MAIN, Op::Fork(Strand(child)), Site(0));
            let events: Vec<Event> = (1..strands as u32).map(fork).collect();
            let mut driver = Driver::new(&names, Lowering::Observed);
            let mut forks = Forks(0);
            let (none, stop) = (FixedBitSet::new(), StopToken::when(&NOW));
            let fed = feed_picked(&events, &none, &mut driver, &mut forks, stop, |_| {});
            let end = End::Stopped(StopReason::Asked, most as EventNumber);
            assert_eq!(fed.unwrap(), ControlFlow::Break(end), "{strands} strands");
            assert_eq!(forks.0, most);
        }
    }
}
