//! What engines for threads are told: a trace, validated and reduced to a few kinds of events.
//!
//! A [`ThreadEngine`] knows reads, writes, locks, forks and joins. Whatever else orders threads is
//! told to it as *publishing* (a slot now stands for what the thread has done so far) and *awaiting*
//! (what the slot stands for comes first): barriers, semaphores, flags, promises, the release of a
//! read-write lock by a reader, atomics. Locks that a thread takes again while it holds them are
//! told once. [`Driver`] does this translation, and refuses events that no program could have
//! produced, so engines need not look. Cost: an array look-up per access.
//!
//! Engines that predict other orders than the recorded one need more kept than happens-before says:
//! two atomic operations that do not synchronise still see each other's values. [`Lowering`] says which.

mod access_log;
pub mod accesses;
mod by_order;
pub mod dc;
mod driver;
pub mod eraser;
pub mod exposure;
pub mod fasttrack;
pub mod hb;
pub mod locksets;
pub mod pairs;
pub mod partial_order;
pub mod picked;
mod place_lists;
mod sections;
pub mod shb;
mod snapshots;
mod synchronisation;
mod tasks;
pub mod vector_clocks;
pub mod vindicate;
mod vindicated;
pub mod wcp;

pub use driver::{Driver, ImpossibleEvent, repair, validate};

use deadheat_model::{Event, EventNumber, Location, Lock, Site, Strand};

/// An event's number, who did it and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Its number in the trace, from 1.
    pub number: EventNumber,
    /// Who did it.
    pub strand: Strand,
    /// Where in the source.
    pub site: Site,
}

/// Something that stands for what threads had done when they published to it. Slots are numbered
/// from 0; one that was awaited for the last time is used again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot(pub u32);

/// What publishing does with what a slot stood for before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Publish {
    /// It is forgotten.
    Replace,
    /// It is kept as well.
    Add,
}

/// An engine that judges threads, one event after the other. One that looks at locks alone need not care for
/// what else orders threads.
pub trait ThreadEngine {
    /// These events are told next, each with its place in a part of the trace: time to fetch what they need.
    fn ahead(&mut self, _: &[(u32, Event)]) {}
    /// Whether it knows enough, and need not be told the rest of the trace.
    fn has_enough(&self) -> bool {
        false
    }
    /// A thread that nobody forked does something for the first time.
    fn begin(&mut self, _: Strand) {}
    /// A thread reads a location.
    fn read(&mut self, at: At, location: Location);
    /// A thread writes a location.
    fn write(&mut self, at: At, location: Location);
    /// A thread takes a lock that nobody holds.
    fn acquire(&mut self, at: At, lock: Lock);
    /// A thread gives it back.
    fn release(&mut self, at: At, lock: Lock);
    /// A thread starts another one, which has done nothing yet.
    fn fork(&mut self, _: At, _: Strand) {}
    /// A thread has waited for the end of another one, which will do nothing more.
    fn join(&mut self, _: At, _: Strand) {}
    /// A slot stands for what the thread has done, this event included.
    fn publish(&mut self, _: At, _: Slot, _: Publish) {}
    /// What the slot stands for comes before this event.
    fn awaits(&mut self, _: At, _: Slot) {}
    /// The last release of a lock comes before this event, which takes the lock for reading.
    fn acquire_shared(&mut self, _: At, _: Lock) {}
    /// An atomic operation reads a location: told after what it awaits and before what it publishes.
    fn atomic_read(&mut self, _: At, _: Location) {}
    /// An atomic operation writes a location.
    fn atomic_write(&mut self, _: At, _: Location) {}
    /// An atomic operation reads a location and writes it, in one step.
    fn atomic_update(&mut self, at: At, location: Location) {
        self.atomic_read(at, location);
        self.atomic_write(at, location);
    }
}

/// Which orders between atomic operations, and between uses of a flag, an engine is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lowering {
    /// Those by which one of them happens before the other.
    HappensBefore,
    /// All that a reordering has to preserve for every operation to do what it did.
    Preserved,
    /// The same, for an engine that makes sure itself that atomic operations observe what they observed:
    /// it is told no orders between them.
    Observed,
}
