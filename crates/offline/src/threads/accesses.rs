//! Accesses judged under a partial order: an order, and a history of accesses that asks it.

use std::hint::black_box;

use deadheat_model::{AccessKind, Event, Location, Lock, Names, Strand};
use deadheat_order::{Time, WideClock};
use fixedbitset::FixedBitSet;

use super::partial_order::PartialOrder;
use super::{At, Publish, Slot, ThreadEngine};

/// What keeps accesses and compares each with those before it.
pub trait History: Send {
    /// A strand accesses a location; its clock says what comes before, and at its own entry when this
    /// is.
    fn access(&mut self, clock: &WideClock, at: At, location: Location, kind: AccessKind);
    /// The same, atomically.
    fn atomic(&mut self, clock: &WideClock, at: At, location: Location, kind: AccessKind);
    /// A location is accessed soon: reads what is kept of it, so that it is near by then. What is returned means
    /// nothing.
    fn fetch(&self, _: Location) -> u64 {
        0
    }
    /// What strands did up to their times in `covered` comes before all accesses that are still to come.
    fn forget(&mut self, _covered: &[(Strand, Time)]) {}
    /// How many locations are known to race, if it finds out.
    fn racy(&self) -> usize {
        0
    }
}

/// A history that finds the locations that race.
pub trait Finder: History {
    /// The locations that race, or may because they have both atomic and plain accesses.
    fn suspects(self) -> FixedBitSet;
}

/// Accesses judged under an order.
pub struct Judge<O, H> {
    order: O,
    /// The accesses so far.
    pub history: H,
    past: Option<CommonPast>,
    /// With how many locations that are known to race it has enough.
    enough: usize,
}

/// What a history need not keep: whatever comes before the present of every strand that runs comes before all that
/// is still to come, because a strand that begins later knows what the one that forks it knows.
#[derive(Default)]
struct CommonPast {
    running: Vec<Strand>,
    /// By strand: where in `running` it is.
    places: Vec<u32>,
    /// The strands of which something was done that is not known to all, as far as it was looked at.
    open: Vec<Strand>,
    /// How many accesses there were since it was looked at, and when it is next thought of.
    since: usize,
    next: usize,
    /// How much of the open strands is known to all.
    covered: Vec<(Strand, Time)>,
}

/// After how many accesses it is looked at again what can be forgotten, at least; and at least as many as clocks are
/// looked at then, so that it costs an access nothing to speak of.
const FORGETS: usize = 16;

/// How many clocks an access may cost at most.
const WORTH: usize = 64;

const NOWHERE: u32 = u32::MAX;

impl CommonPast {
    fn begin(&mut self, strand: Strand) {
        if self.places.len() <= strand.index() {
            self.places.resize(strand.index() + 1, NOWHERE);
        }
        self.places[strand.index()] = self.running.len() as u32;
        self.running.push(strand);
        self.open.push(strand);
    }

    /// Whether to look again, after one more access.
    #[inline]
    fn is_due(&mut self) -> bool {
        self.since += 1;
        self.since >= self.next && self.is_worth_it()
    }

    /// There may be many more strands than the last time: then it waits until it is [`WORTH`] it.
    #[cold]
    fn is_worth_it(&mut self) -> bool {
        let least = self.running.len() * self.open.len() / WORTH;
        self.next = self.next.max(least).max(FORGETS);
        self.since >= self.next
    }

    fn runs(&self, strand: Strand) -> bool {
        self.places[strand.index()] != NOWHERE
    }

    fn end(&mut self, strand: Strand) {
        let place = self.places.get_mut(strand.index());
        let place = place.map_or(NOWHERE, |place| std::mem::replace(place, NOWHERE));
        if place != NOWHERE {
            self.running.swap_remove(place as usize);
            if let Some(moved) = self.running.get(place as usize) {
                self.places[moved.index()] = place;
            }
        }
    }

    /// How much of each strand comes before the present of every strand that runs, itself left aside.
    fn covered(&mut self, order: &impl PartialOrder) -> &[(Strand, Time)] {
        let mut covered = std::mem::take(&mut self.covered);
        covered.clear();
        for &strand in &self.open {
            // Nobody else knows of the time that it is in, if it runs.
            let now = order.clock(strand).get(strand);
            let mut least = now - u32::from(self.runs(strand));
            for &other in self.running.iter().filter(|other| **other != strand) {
                least = order.clock(other).get(strand).min(least);
            }
            covered.push((strand, least));
        }
        // Of a strand that has ended, and all of which is known to all, nothing is ever news.
        let mut each = covered.iter();
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&strand| {
            let least = each.next().map_or(0, |(_, least)| *least);
            self.runs(strand) || least < order.clock(strand).get(strand)
        });
        self.since = 0;
        self.next = FORGETS.max(self.running.len() * open.len());
        (self.open, self.covered) = (open, covered);
        &self.covered
    }
}

impl<O: PartialOrder, H: History> Judge<O, H> {
    /// Before the first event of a trace with these names.
    pub fn new(names: &Names, history: H) -> Judge<O, H> {
        Judge {
            order: O::new(names),
            history,
            past: None,
            enough: usize::MAX,
        }
    }

    /// The same; it has enough as soon as so many locations are known to race.
    pub fn until(names: &Names, history: H, enough: usize) -> Judge<O, H> {
        Judge {
            enough,
            ..Judge::new(names, history)
        }
    }

    /// The same, of a trace in which every strand but the first is forked: the history may forget.
    pub fn forgetful(names: &Names, history: H) -> Judge<O, H> {
        Judge {
            past: Some(CommonPast::default()),
            ..Judge::new(names, history)
        }
    }

    #[inline]
    fn forget(&mut self) {
        if let Some(past) = &mut self.past
            && past.is_due()
        {
            self.history.forget(past.covered(&self.order));
        }
    }

    #[inline(always)]
    fn access(&mut self, at: At, x: Location, kind: AccessKind) {
        self.order.before_access(at, x, kind);
        let clock = self.order.clock(at.strand);
        self.history.access(clock, at, x, kind);
        self.order.after_access(at, x, kind);
        self.forget();
    }

    fn atomic(&mut self, at: At, x: Location, kind: AccessKind) {
        self.order.before_access(at, x, kind);
        let clock = self.order.clock(at.strand);
        self.history.atomic(clock, at, x, kind);
        self.order.after_access(at, x, kind);
    }
}

impl<O: PartialOrder, H: History> ThreadEngine for Judge<O, H> {
    fn begin(&mut self, strand: Strand) {
        self.order.begin(strand);
        if let Some(past) = &mut self.past {
            past.begin(strand);
        }
    }

    fn has_enough(&self) -> bool {
        self.history.racy() >= self.enough
    }

    fn ahead(&mut self, events: &[(u32, Event)]) {
        // Reads that do not wait for each other are made together.
        let accesses = events.iter().filter_map(|(_, event)| event.access());
        let fetched = accesses.map(|access| self.history.fetch(access.location));
        black_box(fetched.fold(0, |all, fetched| all ^ fetched));
    }

    #[inline]
    fn read(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Read);
    }

    #[inline]
    fn write(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Write);
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.atomic(at, x, AccessKind::Read);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.atomic(at, x, AccessKind::Write);
    }

    fn atomic_update(&mut self, at: At, x: Location) {
        // What conflicts with the read conflicts with the write.
        self.order.before_access(at, x, AccessKind::Write);
        let clock = self.order.clock(at.strand);
        self.history.atomic(clock, at, x, AccessKind::Write);
        self.order.after_access(at, x, AccessKind::Read);
        self.order.after_access(at, x, AccessKind::Write);
    }

    #[inline]
    fn acquire(&mut self, at: At, lock: Lock) {
        self.order.acquire(at, lock);
    }

    #[inline]
    fn release(&mut self, at: At, lock: Lock) {
        self.order.release(at, lock);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.order.fork(at, child);
        if let Some(past) = &mut self.past {
            past.begin(child);
        }
    }

    fn join(&mut self, at: At, child: Strand) {
        self.order.join(at, child);
        if let Some(past) = &mut self.past {
            past.end(child);
        }
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.order.publish(at, slot, how);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.order.awaits(at, slot);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.order.acquire_shared(at, lock);
    }
}
