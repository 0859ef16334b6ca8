//! Vindication: a pair of conflicting accesses that [`dc`](super::dc) leaves unordered is a race if the
//! trace can be reordered so that both come last (after Roemer, Genç, Bond 2018).
//!
//! The simple model. Some events have to be there: what the two come behind in program order, hard order
//! and DC's rule about conflicting sections; the write that each read observes, and whatever that
//! comes behind; the end of a section when another of its lock is there too. Among them some orders
//! are forced: the above; sections of one lock do not overlap, so if the start of one comes before the
//! end of another, its end comes before the other's start (DC's other rule, and more); no other write
//! comes between a write and a read that observes it; a section that stays open is the last of its
//! lock. That is repeated until nothing new follows. If an event has to be there that comes
//! after one of the two, or the orders go in a circle, the pair is not vindicated. Otherwise events
//! are put in a row one by one, each only where it can happen: the row is a witness by construction.
//!
//! Only a window of the trace is looked at. What lies before it is kept as it was, all of it: that is
//! a choice, so if no witness is found the window grows, until it is the whole beginning of the
//! trace or the work is too much that may be done for a pair (`WORK`) or for all of them ([`Vindicator::work`]).
//!
//! Guarantee: whoever is given a witness can trust it. Not every race has one that this finds: conflicting
//! sections are never swapped, and nothing is ever taken back.
//!
//! Cost: an index of about 20 bytes an event, once; for a pair, the window's events times strands,
//! times the length of the longest chain of orders that follow from each other. For all pairs together, no more than
//! in proportion to the trace.

mod closure;
mod index;
mod row;
mod window;

use std::sync::atomic::{AtomicUsize, Ordering};

use deadheat_model::{Event, EventNumber, Lock, Names, Strand, Witness};

use self::index::{OpenSections, Reader};
use self::window::Window;
use super::{Driver, ImpossibleEvent, Lowering};

/// How much work may be done for one pair: events looked at, locks held there, entries of clocks computed.
const WORK: usize = 1 << 24;
/// How much work may be done for all pairs: so much, and so much for each event of the trace.
const WORK_FOR_ALL: usize = 1 << 26;
const WORK_PER_EVENT: usize = 1 << 6;
/// Where windows can begin: every so many events; or fewer, if more sections are open there.
const GRAIN: usize = 256;
const NONE: u32 = u32::MAX;

/// A trace, ready to be asked for witnesses.
pub struct Vindicator<'a> {
    events: &'a [Event],
    strands: usize,
    /// Later and earlier event of what hard order adds to program order; by the later one.
    hard: Vec<(u32, u32)>,
    /// For each event: the write it observes, if it reads what was written.
    observed: Vec<u32>,
    sections: Vec<Section>,
    /// For each event: the section it begins or ends.
    section: Vec<u32>,
    /// Where windows can begin.
    starts: Vec<Start>,
    /// What may still be done for all pairs.
    work: AtomicUsize,
}

/// Where a window can begin.
#[derive(Debug)]
struct Start {
    event: u32,
    /// The sections that are open there.
    open: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    lock: Lock,
    strand: Strand,
    shared: bool,
    acquire: u32,
    release: u32,
}

impl<'a> Vindicator<'a> {
    /// Reads a trace, of which at most the first 2^32 - 1 events are looked at.
    pub fn new(events: &'a [Event], names: &Names) -> Result<Vindicator<'a>, ImpossibleEvent> {
        let events = &events[..events.len().min(NONE as usize)];
        let strands = names.strands.len();
        let mut reader = Reader {
            now: 0,
            last: vec![NONE; strands],
            forked: vec![NONE; strands],
            slots: Vec::new(),
            released: vec![NONE; names.lock_count()],
            written: vec![NONE; names.locations.len()],
            open: OpenSections::default(),
            found: Vindicator {
                events,
                strands,
                hard: Vec::new(),
                observed: vec![NONE; events.len()],
                sections: Vec::new(),
                section: vec![NONE; events.len()],
                starts: Vec::new(),
                work: AtomicUsize::new(WORK_FOR_ALL + WORK_PER_EVENT * events.len()),
            },
        };
        let mut driver = Driver::new(names, Lowering::Preserved);
        for (number, event) in events.iter().enumerate() {
            reader.now = number as u32;
            reader.next(event);
            driver.feed(std::slice::from_ref(event), &mut reader)?;
            reader.last[event.strand().index()] = number as u32;
        }
        Ok(reader.found)
    }

    /// A reordering of a part of the trace at whose end are the two events, which have to be conflicting
    /// accesses of two strands: all that happens in it can happen as it did, reads see what they saw
    /// (the two last ones may not).
    pub fn witness(&self, one: EventNumber, other: EventNumber) -> Option<Witness> {
        let index = |number: EventNumber| usize::try_from(number.checked_sub(1)?).ok();
        let (first, second) = (index(one.min(other))?, index(one.max(other))?);
        let event = |number: usize| self.events.get(number);
        let (a, b) = (event(first)?, event(second)?);
        if a.strand() == b.strand() || !a.conflicts_with(b) {
            return None;
        }
        let mut work = WORK.min(self.work.load(Ordering::Relaxed));
        let granted = work;
        let witness = self.search(first, second, &mut work);
        let done = granted - work;
        // Others may have done the rest in the meantime.
        let rest = |left: usize| Some(left.saturating_sub(done));
        let _ = self
            .work
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        witness
    }

    fn search(&self, first: usize, second: usize, work: &mut usize) -> Option<Witness> {
        let after = |start: &Start| start.event as usize > first;
        let mut begin = self.starts.partition_point(|start| !after(start)) - 1;
        let mut step = 1;
        loop {
            let from = &self.starts[begin];
            let start = from.event as usize;
            let mut window = Window::new(self, from, first, second, work)?;
            // A larger window would need all of this as well.
            window.need_what_the_pair_needs().ok()?;
            if let Some(row) = window.witness(work) {
                let row = row.into_iter().map(|node| start + node as usize);
                let then = row.chain([first, second]);
                return Some(Witness {
                    before: start as EventNumber + 1,
                    upto: (0..self.strands as u32)
                        .map(|strand| (Strand(strand), start as EventNumber))
                        .collect(),
                    then: then.map(|event| event as EventNumber + 1).collect(),
                });
            }
            if begin == 0 || *work == 0 {
                return None;
            }
            begin = begin.saturating_sub(step);
            step *= 2;
        }
    }
}
