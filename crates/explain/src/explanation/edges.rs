//! Which synchronisation came before which: the edges of the temporal ordering graph G (chapter 6).
//!
//! They are those of happens-before, as the driver of the engines for threads tells them: a strand
//! *publishes* what it has done in a slot, and a strand *awaits* what a slot stands for, so that a
//! barrier of p strands is 2p steps and not p² edges. Locks are slots here, too.
//!
//! Every order of a set of events that keeps these edges, and contains with an event what it waits for,
//! is one that the synchronisation allows.

use std::iter::once;

use deadheat_model::{
    Access, AccessKind, EventNumber, Execution, Location, Lock, Op, StopReason, StopToken, Strand,
};
use deadheat_offline::threads::{At, Driver, ImpossibleEvent, Lowering, Publish, ThreadEngine};

/// Something that stands for what strands had done when they published to it.
pub type Slot = usize;

/// Whoever wants to know the edges, and what lies between them.
pub trait Listener {
    /// A plain access.
    fn access(&mut self, at: At, access: Access);
    /// A strand synchronises: told before what it awaits and publishes.
    fn synchronises(&mut self, at: At);
    /// A slot stands for what the strand has done, this event included; with `add`, also for what it
    /// stood for before.
    fn publish(&mut self, at: At, slot: Slot, add: bool);
    /// What the slot stands for comes before this event.
    fn awaits(&mut self, at: At, slot: Slot);
    /// The strand starts a child, which has done nothing yet.
    fn fork(&mut self, at: At, child: Strand);
    /// Everything the child has done comes before this event.
    fn join(&mut self, at: At, child: Strand);
    /// An atomic operation reads a location.
    fn atomic_read(&mut self, _: At, _: Location) {}
    /// An atomic operation writes a location.
    fn atomic_write(&mut self, _: At, _: Location) {}
}

/// After how many events it is asked whether to stop.
const STOPS: EventNumber = 1 << 8;

/// Tells all of an execution, or says why nobody could have done it.
pub fn tell(execution: &Execution, to: &mut impl Listener) -> Result<(), ImpossibleEvent> {
    tell_until(execution, to, StopToken::default()).map(drop)
}

/// The same, or only what comes before it is stopped, and then why.
pub fn tell_until(
    execution: &Execution,
    to: &mut impl Listener,
    stop: StopToken,
) -> Result<Option<StopReason>, ImpossibleEvent> {
    let mut driver = Driver::new(&execution.names, Lowering::HappensBefore);
    for (event, number) in execution.events.iter().zip(1..) {
        if EventNumber::is_multiple_of(number, STOPS)
            && let Some(why) = stop.due()
        {
            return Ok(Some(why));
        }
        if event.access().is_none() && is_synchronisation(&event.op()) {
            to.synchronises(At {
                number,
                strand: event.strand(),
                site: event.site(),
            });
        }
        driver.feed_some(once((event, number)), &mut Edges(to))?;
    }
    Ok(None)
}

/// Whether an event may order strands: where one computation event ends and the next begins.
fn is_synchronisation(op: &Op) -> bool {
    !matches!(
        op,
        Op::Read(..)
            | Op::Write(_)
            | Op::FinishBegin(_)
            | Op::NewPromise(_)
            | Op::Alloc(_)
            | Op::Free(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Request(_)
    )
}

struct Edges<'a, L>(&'a mut L);

fn slot_of(lock: Lock) -> Slot {
    2 * lock.index()
}

impl<L: Listener> ThreadEngine for Edges<'_, L> {
    fn read(&mut self, at: At, location: Location) {
        let kind = AccessKind::Read;
        self.0.access(at, Access { location, kind });
    }

    fn write(&mut self, at: At, location: Location) {
        let kind = AccessKind::Write;
        self.0.access(at, Access { location, kind });
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.0.awaits(at, slot_of(lock));
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.0.publish(at, slot_of(lock), false);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.0.awaits(at, slot_of(lock));
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.0.fork(at, child);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.0.join(at, child);
    }

    fn publish(&mut self, at: At, slot: deadheat_offline::threads::Slot, how: Publish) {
        let slot = 2 * slot.0 as Slot + 1;
        self.0.publish(at, slot, how == Publish::Add);
    }

    fn awaits(&mut self, at: At, slot: deadheat_offline::threads::Slot) {
        self.0.awaits(at, 2 * slot.0 as Slot + 1);
    }

    fn atomic_read(&mut self, at: At, location: Location) {
        self.0.atomic_read(at, location);
    }

    fn atomic_write(&mut self, at: At, location: Location) {
        self.0.atomic_write(at, location);
    }
}
