//! Which synchronisation came before which: the edges of the temporal ordering graph G (chapter 6),
//! told one after the other.
//!
//! Simple model: the happens-before edges of the language's definition. Here they are told as a
//! strand *publishing* what it has done in a slot, and a strand *awaiting* what a slot stands for, so
//! that a barrier with p strands is 2p steps and not p² edges. Forks and joins are told as such; the
//! end of a `finish` is a join of every task started inside.
//!
//! Guarantee: every order that keeps the edges told is one that the synchronisation allows, for every
//! set of events that contains, with an event, what it waits for. Events that no program could have
//! produced give some order; nothing here panics. Cost: constant time for each synchronising event, a
//! hash look-up included, and one join for each task at the end of its `finish`.

use std::collections::VecDeque;

use deadheat_model::{AtomicOrdering, Event, Op, Strand};
use rustc_hash::FxHashMap;

/// Something that stands for what strands had done when they published to it.
pub(crate) type Slot = usize;

/// Whoever wants to know the edges.
pub(crate) trait Listener {
    /// A slot stands for what the strand has done, this event included; with `add`, also for what it
    /// stood for before.
    fn publish(&mut self, strand: Strand, slot: Slot, add: bool);
    /// What the slot stands for comes before this event.
    fn awaits(&mut self, strand: Strand, slot: Slot);
    /// The strand starts a child, which has done nothing yet.
    fn fork(&mut self, strand: Strand, child: Strand);
    /// Everything the child has done comes before this event.
    fn join(&mut self, strand: Strand, child: Strand);
}

/// Whether an event may order strands: where one computation event ends and the next begins.
pub(crate) fn is_synchronisation(op: &Op) -> bool {
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

/// What has to be remembered between events. See the [module](self).
#[derive(Default)]
pub(crate) struct Synchronisation {
    slots: usize,
    locks: FxHashMap<u64, LockState>,
    tokens: FxHashMap<u64, u64>,
    semaphores: FxHashMap<u64, VecDeque<Slot>>,
    free: Vec<Slot>,
    flags: FxHashMap<u64, Slot>,
    promises: FxHashMap<u64, Slot>,
    barriers: FxHashMap<u64, Round>,
    /// The slot of the round that a strand has arrived at.
    arrived: FxHashMap<(u64, Strand), Slot>,
    cells: FxHashMap<u64, Slot>,
    isolated: Option<Slot>,
    /// The `finish` blocks a strand is in, innermost last, and the one it was started in.
    finishes: FxHashMap<Strand, Vec<u64>>,
    tasks: FxHashMap<u64, Vec<Strand>>,
}

#[derive(Default)]
struct LockState {
    owner: Option<Strand>,
    depth: u32,
    released: Option<Slot>,
    /// What those who held it for reading have published.
    read: Option<Slot>,
}

#[derive(Default)]
struct Round {
    slot: Option<Slot>,
    leaving: bool,
}

impl Synchronisation {
    /// Before the first event, with so many tokens in each semaphore.
    pub(crate) fn new(tokens: impl IntoIterator<Item = (u64, u64)>) -> Synchronisation {
        Synchronisation {
            tokens: tokens.into_iter().collect(),
            ..Synchronisation::default()
        }
    }

    /// Tells the edges of one event.
    pub(crate) fn event(&mut self, event: &Event, to: &mut impl Listener) {
        let strand = event.strand();
        match event.op() {
            Op::Acquire(lock) => {
                let state = self.locks.entry(lock.0).or_default();
                if state.owner == Some(strand) {
                    state.depth += 1;
                    return;
                }
                (state.owner, state.depth) = (Some(strand), 1);
                for slot in [state.released, state.read].into_iter().flatten() {
                    to.awaits(strand, slot);
                }
            }
            Op::Release(lock) => {
                let state = self.locks.entry(lock.0).or_default();
                state.depth = state.depth.saturating_sub(1);
                if state.depth == 0 {
                    state.owner = None;
                    let slot = slot(&mut state.released, &mut self.slots);
                    to.publish(strand, slot, false);
                }
            }
            Op::AcquireShared(lock) => {
                let state = self.locks.entry(lock.0).or_default();
                if let Some(slot) = state.released {
                    to.awaits(strand, slot);
                }
            }
            Op::ReleaseShared(lock) => {
                let state = self.locks.entry(lock.0).or_default();
                let slot = slot(&mut state.read, &mut self.slots);
                to.publish(strand, slot, true);
            }
            Op::IsolatedBegin => {
                if let Some(slot) = self.isolated {
                    to.awaits(strand, slot);
                }
            }
            Op::IsolatedEnd => {
                let slot = slot(&mut self.isolated, &mut self.slots);
                to.publish(strand, slot, false);
            }
            Op::Fork(child) => to.fork(strand, child),
            Op::Async(child) | Op::Future(child) => {
                let open = self.finishes.get(&strand).and_then(|open| open.last());
                if let Some(&finish) = open {
                    self.tasks.entry(finish).or_default().push(child);
                    self.finishes.insert(child, vec![finish]);
                }
                to.fork(strand, child);
            }
            Op::Join(child) => to.join(strand, child),
            Op::FinishBegin(finish) => self.finishes.entry(strand).or_default().push(finish.0),
            Op::FinishEnd(finish) => {
                if let Some(open) = self.finishes.get_mut(&strand) {
                    open.pop();
                }
                for task in self.tasks.remove(&finish.0).unwrap_or_default() {
                    to.join(strand, task);
                }
            }
            Op::Set(promise) => {
                let slot = self.new_slot();
                self.promises.entry(promise.0).or_insert(slot);
                to.publish(strand, slot, false);
            }
            Op::Get(promise) => {
                if let Some(&slot) = self.promises.get(&promise.0) {
                    to.awaits(strand, slot);
                }
            }
            Op::V(semaphore) => {
                let slot = self.new_slot();
                let waiting = self.semaphores.entry(semaphore.0).or_default();
                waiting.push_back(slot);
                to.publish(strand, slot, false);
            }
            Op::P(semaphore) => self.take(strand, semaphore.0, to),
            // A flag that is on is not turned on.
            Op::Post(flag) if !self.flags.contains_key(&flag.0) => {
                let slot = self.new_slot();
                self.flags.insert(flag.0, slot);
                to.publish(strand, slot, false);
            }
            Op::Wait(flag) => {
                if let Some(&slot) = self.flags.get(&flag.0) {
                    to.awaits(strand, slot);
                }
            }
            Op::Clear(flag) => {
                let slot = self.flags.remove(&flag.0);
                self.free.extend(slot);
            }
            Op::BarrierArrive(barrier) => {
                let round = self.barriers.entry(barrier.0).or_default();
                if round.leaving {
                    *round = Round::default();
                }
                let add = round.slot.is_some();
                let slot = slot(&mut round.slot, &mut self.slots);
                self.arrived.insert((barrier.0, strand), slot);
                to.publish(strand, slot, add);
            }
            Op::BarrierLeave(barrier) => {
                if let Some(slot) = self.arrived.remove(&(barrier.0, strand)) {
                    let round = self.barriers.entry(barrier.0).or_default();
                    round.leaving |= round.slot == Some(slot);
                    to.awaits(strand, slot);
                }
            }
            Op::AtomicLoad(x, ordering) => self.load(strand, x.0, ordering, to),
            Op::AtomicStore(x, ordering) => self.store(strand, x.0, ordering, false, to),
            Op::AtomicUpdate(x, ordering) => {
                self.load(strand, x.0, ordering, to);
                self.store(strand, x.0, ordering, true, to);
            }
            _ => {}
        }
    }

    fn new_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    /// Tokens are taken in the order in which they came, those from the start first.
    fn take(&mut self, strand: Strand, semaphore: u64, to: &mut impl Listener) {
        if let Some(tokens) = self.tokens.get_mut(&semaphore)
            && *tokens > 0
        {
            *tokens -= 1;
            return;
        }
        let waiting = self.semaphores.entry(semaphore).or_default();
        if let Some(slot) = waiting.pop_front() {
            to.awaits(strand, slot);
            self.free.push(slot);
        }
    }

    fn load(
        &mut self,
        strand: Strand,
        cell: u64,
        ordering: AtomicOrdering,
        to: &mut impl Listener,
    ) {
        use AtomicOrdering::*;
        let acquires = matches!(ordering, Acquire | AcquireRelease | SequentiallyConsistent);
        if let (true, Some(&slot)) = (acquires, self.cells.get(&cell)) {
            to.awaits(strand, slot);
        }
    }

    fn store(
        &mut self,
        strand: Strand,
        cell: u64,
        ordering: AtomicOrdering,
        update: bool,
        to: &mut impl Listener,
    ) {
        use AtomicOrdering::*;
        if matches!(ordering, Release | AcquireRelease | SequentiallyConsistent) {
            let slots = &mut self.slots;
            let slot = *self.cells.entry(cell).or_insert_with(|| {
                *slots += 1;
                *slots - 1
            });
            to.publish(strand, slot, update);
        } else if !update {
            // Who sees this value sees nothing of what came before it.
            let slot = self.cells.remove(&cell);
            self.free.extend(slot);
        }
    }
}

/// The slot in this place; a new one if there is none.
fn slot(place: &mut Option<Slot>, slots: &mut usize) -> Slot {
    *place.get_or_insert_with(|| {
        *slots += 1;
        *slots - 1
    })
}
