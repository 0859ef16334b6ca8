//! A recorded run of a threaded program: events in the order in which they happened, and the names
//! that the recorder had for what they mention.

use std::borrow::Cow;

use crate::{Event, EventNumber, Location, Lock, Site, Strand, Witness};

/// What the numbers in a trace's events are called.
///
/// Numbers are dense: an object of an event is an index into its table here, so whatever keeps
/// something for each object can keep it in an array. A name may be empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Legend {
    /// By [`Strand`] number.
    pub strands: Vec<String>,
    /// By [`Site`] number.
    pub sites: Vec<String>,
    /// By [`Location`] number.
    pub locations: Vec<String>,
    /// By [`Lock`] number.
    pub locks: Vec<String>,
    /// By [`Semaphore`](crate::Semaphore) number.
    pub semaphores: Vec<String>,
    /// By [`Flag`](crate::Flag) number.
    pub flags: Vec<String>,
    /// By [`Barrier`](crate::Barrier) number.
    pub barriers: Vec<String>,
    /// What each semaphore starts with, by number; 0 where the table ends.
    pub tokens: Vec<u64>,
}

impl Legend {
    /// What a strand is called.
    pub fn strand(&self, strand: Strand) -> Cow<'_, str> {
        named(&self.strands, strand.index(), "T")
    }

    /// What a place in the source is called.
    pub fn site(&self, site: Site) -> Cow<'_, str> {
        named(&self.sites, site.0 as usize, "")
    }

    /// What a location is called.
    pub fn location(&self, location: Location) -> Cow<'_, str> {
        named(&self.locations, location.index(), "V")
    }

    /// What a lock is called.
    pub fn lock(&self, lock: Lock) -> Cow<'_, str> {
        named(&self.locks, lock.index(), "L")
    }
}

fn named<'a>(names: &'a [String], index: usize, prefix: &str) -> Cow<'a, str> {
    match names.get(index) {
        Some(name) if !name.is_empty() => Cow::Borrowed(name),
        _ => Cow::Owned(format!("{prefix}{index}")),
    }
}

/// A recorded run of a threaded program, in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// What happened, in order; events are numbered from 1.
    pub events: Vec<Event>,
    /// What the numbers mean.
    pub legend: Legend,
}

impl Trace {
    /// The event of a number, if the trace has it.
    pub fn event(&self, number: EventNumber) -> Option<&Event> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.events.get(index)
    }

    /// A witness event by event.
    pub fn spell_out<'a>(&'a self, witness: &'a Witness) -> impl Iterator<Item = EventNumber> + 'a {
        let unmoved = self.events.iter().zip(1..);
        let unmoved = unmoved.take_while(|&(_, number)| number < witness.before);
        let unmoved = unmoved.filter(|&(event, number)| {
            let upto = witness.upto.get(event.strand().index());
            upto.is_some_and(|&upto| number <= upto)
        });
        let unmoved = unmoved.map(|(_, number)| number);
        unmoved.chain(witness.then.iter().copied())
    }
}
