//! Partial orders over the events of a trace, told by vector clocks.
//!
//! The simple model: a set of ordered pairs of events that contains program order, is transitive, and
//! goes with the order of the trace. A [`PartialOrder`] is told the events one after the other and
//! keeps, for each strand, a clock of what comes before its present. An event is then known by its
//! [`Epoch`]: its strand and that strand's own time; and the events that come before an access are
//! those whose epoch the strand's clock [covers](WideClock::covers).
//!
//! For that to be exact a strand's time goes up after everything that others can learn of, and only
//! that: between two such events no other strand can tell one event from the next.

use deadheat_model::{AccessKind, Location, Lock, Names, Strand};
use deadheat_order::{Epoch, WideClock};

use super::{At, Publish, Slot};

/// A partial order that clocks can tell.
pub trait PartialOrder: Send {
    /// Whether accesses order other events: then it is told all that strands share, and not only what may race.
    const BY_ACCESSES: bool;
    /// Before the first event of a trace with these names.
    fn new(names: &Names) -> Self;
    /// A strand that was not forked does something for the first time.
    fn begin(&mut self, strand: Strand);
    /// What comes before the strand's present, which is at the clock's own entry for the strand.
    fn clock(&self, strand: Strand) -> &WideClock;
    /// The strand is about to access a location: last chance to order it behind others.
    fn before_access(&mut self, _: At, _: Location, _: AccessKind) {}
    /// The strand has accessed a location. Orders only what comes later.
    fn after_access(&mut self, _: At, _: Location, _: AccessKind) {}
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn acquire(&mut self, at: At, lock: Lock);
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn release(&mut self, at: At, lock: Lock);
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn fork(&mut self, at: At, child: Strand);
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn join(&mut self, at: At, child: Strand);
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn publish(&mut self, at: At, slot: Slot, how: Publish);
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn awaits(&mut self, at: At, slot: Slot);
    /// As in [`ThreadEngine`](super::ThreadEngine).
    fn acquire_shared(&mut self, at: At, lock: Lock);

    /// The epoch of the strand's present.
    #[inline]
    fn epoch(&self, strand: Strand) -> Epoch {
        Epoch::new(strand, self.clock(strand).get(strand))
    }
}

/// The strands' clocks, and what orders strands in every one of the orders: forks, joins, and slots.
#[derive(Debug)]
pub struct StrandClocks {
    clocks: Vec<WideClock>,
    slots: Vec<WideClock>,
}

impl StrandClocks {
    /// No strand has begun. With very many, most of the memory is that of clocks: it is taken as they begin.
    pub fn new(strands: usize) -> StrandClocks {
        StrandClocks {
            clocks: vec![WideClock::default(); strands],
            slots: Vec::new(),
        }
    }

    /// A strand is at its time 1, knowing nothing of others.
    pub fn begin(&mut self, strand: Strand) {
        self.clocks[strand.index()].raise(strand, 1);
    }

    /// A strand's clock.
    #[inline]
    pub fn of(&self, strand: Strand) -> &WideClock {
        &self.clocks[strand.index()]
    }

    /// A strand's clock.
    #[inline]
    pub fn of_mut(&mut self, strand: Strand) -> &mut WideClock {
        &mut self.clocks[strand.index()]
    }

    /// Others may have learnt what the strand has done: its time goes up.
    #[inline]
    pub fn tick(&mut self, strand: Strand) {
        let clock = &mut self.clocks[strand.index()];
        let time = clock.get(strand);
        clock.raise(strand, time + 1);
    }

    /// What a strand has done comes before what its child does.
    pub fn fork(&mut self, strand: Strand, child: Strand) {
        self.begin(child);
        let parent = self.clocks[strand.index()].clone();
        self.clocks[child.index()].join(&parent);
        self.tick(strand);
    }

    /// What a child has done comes before what the strand does.
    pub fn join(&mut self, strand: Strand, child: Strand) {
        let child = self.clocks[child.index()].clone();
        self.clocks[strand.index()].join(&child);
    }

    /// A slot stands for what a strand has done.
    pub fn publish(&mut self, strand: Strand, slot: Slot, how: Publish) {
        let slot = slot.0 as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, WideClock::default());
        }
        match how {
            Publish::Replace => self.slots[slot].copy_from(&self.clocks[strand.index()]),
            Publish::Add => {
                self.slots[slot].join(&self.clocks[strand.index()]);
            }
        }
        self.tick(strand);
    }

    /// What a slot stands for, if anything.
    pub fn published(&self, slot: Slot) -> Option<&WideClock> {
        self.slots.get(slot.0 as usize)
    }

    /// What a slot stands for comes before what a strand does.
    pub fn awaits(&mut self, strand: Strand, slot: Slot) {
        if let Some(published) = self.slots.get(slot.0 as usize) {
            self.clocks[strand.index()].join(published);
        }
    }
}
