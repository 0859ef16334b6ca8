//! What orders threads besides locks, forks and joins, told to engines as publishing and awaiting:
//! barriers, semaphores, flags, promises, readers of a lock, atomics.

use std::collections::VecDeque;

use deadheat_model::{AtomicOrdering, Barrier, Flag, Location, Lock, Names, Op, Semaphore, Strand};
use rustc_hash::FxHashMap;

use super::driver::{LockState, NOBODY};
use super::{At, Lowering, Publish, Slot, ThreadEngine};

/// A round of a barrier: those who arrived, until the first leaves.
#[derive(Debug, Default)]
struct Round {
    slot: Option<Slot>,
    inside: u32,
    leaving: bool,
}

/// Somebody's arrival at a barrier.
struct Arrival {
    /// The number of the round.
    round: u64,
    /// What those published who arrived at the round before: a round begins when that one is full.
    before: Option<Slot>,
    /// Where this arrival is published.
    slot: Slot,
    how: Publish,
}

#[derive(Debug, Default)]
struct Gate {
    on: Option<Slot>,
    /// What has to come before the next change, where that is kept.
    used: Option<Slot>,
}

/// What orders the atomic operations on one location.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    stores: Option<Slot>,
    loads: Option<Slot>,
}

/// The state of all that few programs use.
#[derive(Default)]
pub(super) struct Synchronisation {
    slots: u32,
    pub(super) free: Vec<Slot>,
    /// How often a strand has taken a lock for reading.
    readers: FxHashMap<(Lock, Strand), u32>,
    /// What those who held a lock for reading have published.
    shared: FxHashMap<Lock, Slot>,
    tokens: FxHashMap<Semaphore, u64>,
    semaphores: FxHashMap<Semaphore, VecDeque<Slot>>,
    flags: FxHashMap<Flag, Gate>,
    barriers: FxHashMap<Barrier, (VecDeque<Round>, u64)>,
    /// The round that a strand has arrived at.
    arrived: FxHashMap<(Barrier, Strand), u64>,
    cells: FxHashMap<Location, Cell>,
    promises: FxHashMap<u64, Slot>,
    /// Whether anything was ordered that another schedule could have ordered otherwise.
    schedules: bool,
}

impl Synchronisation {
    /// Before the first event of an execution with these names.
    pub(super) fn new(names: &Names) -> Synchronisation {
        let tokens = names.tokens.iter().zip(0..);
        Synchronisation {
            tokens: tokens.map(|(n, s)| (Semaphore(s), *n)).collect(),
            ..Synchronisation::default()
        }
    }

    /// Those who held a lock for reading come before who takes it now.
    pub(super) fn await_readers(&self, at: At, lock: Lock, engine: &mut impl ThreadEngine) {
        if let Some(&slot) = self.shared.get(&lock) {
            engine.awaits(at, slot);
        }
    }

    /// Whether anything was ordered that another schedule could have ordered otherwise.
    pub(super) fn orders_of_the_schedule(&self) -> bool {
        self.schedules
    }

    /// Tells the engine what an operation orders, or says why nobody could have done it here: then it is as if it
    /// had not been asked.
    pub(super) fn perform(
        &mut self,
        at: At,
        op: Op,
        lowering: Lowering,
        locks: &mut [LockState],
        names: &Names,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), String> {
        let preserved = lowering != Lowering::HappensBefore;
        let atomics = lowering != Lowering::Observed;
        self.schedules |= op
            .construct()
            .is_some_and(|c| !c.orders_alike_in_every_schedule());
        match op {
            Op::AcquireShared(lock) => {
                let holding = &mut locks[lock.index()];
                // Who writes may go on as a reader.
                let writes = holding.owner == at.strand.0;
                if holding.owner != NOBODY && !writes {
                    let owner = Strand(holding.owner);
                    return Err({
                        let (lock, owner) = (names.lock(lock), names.strand(owner));
                        format!("takes {lock} for reading, which {owner} holds")
                    });
                }
                let depth = self.readers.entry((lock, at.strand)).or_default();
                *depth += 1;
                if *depth == 1 {
                    holding.readers += 1;
                    if !writes {
                        engine.acquire_shared(at, lock);
                    }
                }
            }
            Op::ReleaseShared(lock) => {
                let Some(depth) = self.readers.get_mut(&(lock, at.strand)) else {
                    return Err({
                        let lock = names.lock(lock);
                        format!("gives back {lock}, which it does not hold for reading")
                    });
                };
                *depth -= 1;
                if *depth > 0 {
                    return Ok(());
                }
                self.readers.remove(&(lock, at.strand));
                locks[lock.index()].readers -= 1;
                let (slot, how) = self.adding_to(self.shared.get(&lock).copied());
                self.shared.insert(lock, slot);
                engine.publish(at, slot, how);
            }
            Op::V(semaphore) => {
                let slot = self.slot();
                let waiting = self.semaphores.entry(semaphore).or_default();
                waiting.push_back(slot);
                engine.publish(at, slot, Publish::Replace);
            }
            Op::P(semaphore) => {
                let tokens = self.tokens.entry(semaphore).or_default();
                if *tokens > 0 {
                    *tokens -= 1;
                } else {
                    let waiting = self.semaphores.entry(semaphore).or_default();
                    let Some(slot) = waiting.pop_front() else {
                        return Err({
                            format!(
                                "takes a token from semaphore {}, which has none",
                                names.semaphore(semaphore)
                            )
                        });
                    };
                    engine.awaits(at, slot);
                    self.free.push(slot);
                }
            }
            Op::Post(flag) | Op::Clear(flag) => {
                let mut gate = self.flags.remove(&flag).unwrap_or_default();
                if preserved {
                    if let Some(used) = gate.used {
                        engine.awaits(at, used);
                    }
                    let (used, how) = self.adding_to(gate.used);
                    gate.used = Some(used);
                    engine.publish(at, used, how);
                }
                match op {
                    // A flag that is on is not turned on.
                    Op::Post(_) if gate.on.is_none() => {
                        let slot = self.slot();
                        gate.on = Some(slot);
                        engine.publish(at, slot, Publish::Replace);
                    }
                    Op::Clear(_) => self.free.extend(gate.on.take()),
                    _ => {}
                }
                self.flags.insert(flag, gate);
            }
            Op::Wait(flag) => {
                let Some(Gate { on: Some(on), used }) = self.flags.get(&flag) else {
                    return Err({
                        format!(
                            "goes on after event {}, which is not posted",
                            names.flag(flag)
                        )
                    });
                };
                engine.awaits(at, *on);
                if let (true, Some(used)) = (preserved, used) {
                    engine.publish(at, *used, Publish::Add);
                }
            }
            Op::BarrierArrive(barrier) => {
                let key = (barrier, at.strand);
                if self.arrived.contains_key(&key) {
                    return Err(format!(
                        "arrives at barrier {} twice",
                        names.barrier(barrier)
                    ));
                }
                let Arrival {
                    round,
                    before,
                    slot,
                    how,
                } = self.arrive(barrier);
                self.arrived.insert(key, round);
                if let Some(before) = before {
                    engine.awaits(at, before);
                }
                engine.publish(at, slot, how);
            }
            Op::BarrierLeave(barrier) => {
                let Some(round) = self.arrived.remove(&(barrier, at.strand)) else {
                    return Err({
                        format!(
                            "leaves barrier {} without having arrived",
                            names.barrier(barrier)
                        )
                    });
                };
                self.leave(barrier, round, |slot| engine.awaits(at, slot));
            }
            Op::AtomicLoad(x, _) if !atomics => engine.atomic_read(at, x),
            Op::AtomicStore(x, _) if !atomics => engine.atomic_write(at, x),
            Op::AtomicUpdate(x, _) if !atomics => engine.atomic_update(at, x),
            Op::AtomicLoad(x, ordering) => {
                let mut cell = self.cells.get(&x).copied().unwrap_or_default();
                match cell.stores {
                    Some(stores) if preserved || acquires(ordering) => engine.awaits(at, stores),
                    _ => {}
                }
                engine.atomic_read(at, x);
                if preserved {
                    let (loads, how) = self.adding_to(cell.loads);
                    cell.loads = Some(loads);
                    engine.publish(at, loads, how);
                }
                self.cells.insert(x, cell);
            }
            Op::AtomicStore(x, ordering) => {
                let mut cell = self.cells.get(&x).copied().unwrap_or_default();
                if preserved {
                    let before = [cell.stores, cell.loads].into_iter().flatten();
                    before.for_each(|slot| engine.awaits(at, slot));
                }
                engine.atomic_write(at, x);
                if preserved || releases(ordering) {
                    let stores = *cell.stores.get_or_insert_with(|| self.slot());
                    engine.publish(at, stores, Publish::Replace);
                } else {
                    // Who sees this value sees nothing of what came before it.
                    self.free.extend(cell.stores.take());
                }
                self.cells.insert(x, cell);
            }
            Op::AtomicUpdate(x, ordering) => {
                let mut cell = self.cells.get(&x).copied().unwrap_or_default();
                match cell.stores {
                    Some(stores) if preserved || acquires(ordering) => engine.awaits(at, stores),
                    _ => {}
                }
                if let (true, Some(loads)) = (preserved, cell.loads) {
                    engine.awaits(at, loads);
                }
                engine.atomic_update(at, x);
                if preserved || releases(ordering) {
                    let (stores, how) = self.adding_to(cell.stores);
                    cell.stores = Some(stores);
                    engine.publish(at, stores, how);
                }
                self.cells.insert(x, cell);
            }
            Op::NewPromise(_) => {}
            Op::Set(promise) => {
                if self.promises.contains_key(&promise.0) {
                    return Err({
                        format!(
                            "sets promise {}, which was already set",
                            names.promise(promise)
                        )
                    });
                }
                let slot = self.slot();
                self.promises.insert(promise.0, slot);
                engine.publish(at, slot, Publish::Replace);
            }
            Op::Get(promise) => {
                let Some(&slot) = self.promises.get(&promise.0) else {
                    return Err({
                        format!(
                            "goes on after promise {}, which nobody has set",
                            names.promise(promise)
                        )
                    });
                };
                engine.awaits(at, slot);
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            Slot(self.slots - 1)
        })
    }

    /// Where to publish in addition to what a slot stands for, if there is one already.
    pub(super) fn adding_to(&mut self, slot: Option<Slot>) -> (Slot, Publish) {
        match slot {
            Some(slot) => (slot, Publish::Add),
            None => (self.slot(), Publish::Replace),
        }
    }

    /// Somebody arrives. A round ends with the first who leaves.
    fn arrive(&mut self, barrier: Barrier) -> Arrival {
        let (mut rounds, gone) = self.barriers.remove(&barrier).unwrap_or_default();
        let mut round = match rounds.back() {
            Some(last) if !last.leaving => rounds.pop_back().unwrap_or_default(),
            _ => Round::default(),
        };
        let (slot, how) = self.adding_to(round.slot);
        round.slot = Some(slot);
        round.inside += 1;
        let before = rounds.back().and_then(|before| before.slot);
        rounds.push_back(round);
        let round = gone + rounds.len() as u64 - 1;
        self.barriers.insert(barrier, (rounds, gone));
        Arrival {
            round,
            before,
            slot,
            how,
        }
    }

    /// Somebody leaves a round. Its slot is free once all have, and nobody can arrive at the round after.
    fn leave(&mut self, barrier: Barrier, number: u64, awaits: impl FnOnce(Slot)) {
        let Some((rounds, gone)) = self.barriers.get_mut(&barrier) else {
            return;
        };
        if let Some(round) = rounds.get_mut((number - *gone) as usize) {
            round.leaving = true;
            round.inside -= 1;
            if let Some(slot) = round.slot {
                awaits(slot);
            }
        }
        let is_over = |round: &Round| round.leaving && round.inside == 0;
        while rounds.front().is_some_and(is_over) && rounds.get(1).is_some_and(|next| next.leaving)
        {
            self.free
                .extend(rounds.pop_front().and_then(|round| round.slot));
            *gone += 1;
        }
    }
}

fn acquires(ordering: AtomicOrdering) -> bool {
    use AtomicOrdering::*;
    matches!(ordering, Acquire | AcquireRelease | SequentiallyConsistent)
}

fn releases(ordering: AtomicOrdering) -> bool {
    use AtomicOrdering::*;
    matches!(ordering, Release | AcquireRelease | SequentiallyConsistent)
}
