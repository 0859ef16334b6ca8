//! Feeds engines with a trace: checks that it could have happened, and translates what they do not know.

use std::collections::VecDeque;

use deadheat_model::{
    Access, AccessKind, AtomicOrdering, Barrier, Event, EventNumber, Flag, Legend, Location, Lock,
    Op, Semaphore, Strand,
};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::{At, Order, Publish, Slot, ThreadEngine};

/// A trace that no program could have produced.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("event {number}: {strand} {problem}")]
pub struct Malformed {
    /// Which event, from 1.
    pub number: EventNumber,
    /// Who did it.
    pub strand: String,
    /// What is wrong.
    pub problem: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Unseen,
    Running,
    Ended,
}

const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Holding {
    owner: u32,
    /// How often the owner has taken it.
    depth: u32,
    /// How many hold it for reading.
    readers: u32,
}

const FREE: Holding = Holding {
    owner: NOBODY,
    depth: 0,
    readers: 0,
};

/// A round of a barrier: those who arrived, until the first leaves.
#[derive(Debug, Default)]
struct Round {
    slot: Option<Slot>,
    inside: u32,
    leaving: bool,
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

/// Feeds an engine with the events of a trace.
pub struct Driver<'a> {
    legend: &'a Legend,
    order: Order,
    next: EventNumber,
    lives: Vec<Life>,
    locks: Vec<Holding>,
    /// What is needed for the rarer ways of ordering threads.
    rare: Rare,
}

#[derive(Default)]
struct Rare {
    slots: u32,
    free: Vec<Slot>,
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

impl<'a> Driver<'a> {
    /// A driver before the first event of a trace with this legend.
    pub fn new(legend: &'a Legend, order: Order) -> Driver<'a> {
        let tokens = legend.tokens.iter().zip(0..);
        Driver {
            legend,
            order,
            next: 1,
            lives: vec![Life::Unseen; legend.strands.len()],
            locks: vec![FREE; legend.locks.len()],
            rare: Rare {
                tokens: tokens.map(|(n, s)| (Semaphore(s), *n)).collect(),
                ..Rare::default()
            },
        }
    }

    /// Whether the engine was told orders, other than those of locks, that another schedule could have
    /// made otherwise. What is then said not to be possible may be possible.
    pub fn keeps_orders_of_the_schedule(&self) -> bool {
        self.rare.schedules
    }

    /// Tells the engine the next events of the trace.
    pub fn feed(
        &mut self,
        events: &[Event],
        engine: &mut impl ThreadEngine,
    ) -> Result<(), Malformed> {
        let first = self.next;
        self.next += events.len() as EventNumber;
        self.feed_some(events.iter().zip(first..), engine)
    }

    /// Tells the engine some events of a trace that another driver has found to be one that can have
    /// happened: all but plain accesses to locations that do not matter, each with its number.
    pub fn feed_some<'e>(
        &mut self,
        events: impl Iterator<Item = (&'e Event, EventNumber)>,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), Malformed> {
        for (event, number) in events {
            let access = event.access();
            let at = At {
                number,
                strand: event.strand(),
                site: event.site(),
            };
            let life = &mut self.lives[at.strand.index()];
            match life {
                Life::Running => {}
                Life::Unseen => {
                    *life = Life::Running;
                    engine.begin(at.strand);
                }
                Life::Ended => return Err(self.goes_on_after_its_end(at)),
            }
            if let Some(Access { location, kind }) = access {
                match kind {
                    AccessKind::Read => engine.read(at, location),
                    AccessKind::Write => engine.write(at, location),
                }
                continue;
            }
            match event.op() {
                Op::Acquire(lock) => self.acquire(at, lock, engine)?,
                Op::Release(lock) => self.release(at, lock, engine)?,
                Op::Fork(child) | Op::Future(child) => self.fork(at, child, engine)?,
                Op::Join(child) => self.join(at, child, engine)?,
                // Some recorders mark the ends of blocks, not of threads.
                Op::End | Op::Begin | Op::Branch => {}
                Op::Request(_) | Op::Alloc(_) | Op::Free(_) => {}
                op => self.rare(at, op, engine)?,
            }
        }
        Ok(())
    }

    fn acquire(
        &mut self,
        at: At,
        lock: Lock,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), Malformed> {
        let holding = &mut self.locks[lock.index()];
        if holding.owner == at.strand.0 {
            holding.depth += 1;
            return Ok(());
        }
        if holding.owner != NOBODY {
            let owner = Strand(holding.owner);
            return Err(self.problem(at, |legend| {
                let (lock, owner) = (legend.lock(lock), legend.strand(owner));
                format!("acquires {lock}, which {owner} holds")
            }));
        }
        if holding.readers > 0 {
            return Err(self.problem(at, |legend| {
                format!(
                    "acquires {}, which others hold for reading",
                    legend.lock(lock)
                )
            }));
        }
        (holding.owner, holding.depth) = (at.strand.0, 1);
        engine.acquire(at, lock);
        if let Some(&slot) = self.rare.shared.get(&lock) {
            engine.awaits(at, slot);
        }
        Ok(())
    }

    fn release(
        &mut self,
        at: At,
        lock: Lock,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), Malformed> {
        let holding = &mut self.locks[lock.index()];
        if holding.owner != at.strand.0 {
            return Err(self.problem(at, |legend| {
                format!("releases {}, which it does not hold", legend.lock(lock))
            }));
        }
        holding.depth -= 1;
        if holding.depth == 0 {
            holding.owner = NOBODY;
            engine.release(at, lock);
        }
        Ok(())
    }

    fn fork(
        &mut self,
        at: At,
        child: Strand,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), Malformed> {
        if self.lives[child.index()] != Life::Unseen {
            return Err(self.problem(at, |legend| {
                let child = legend.strand(child);
                format!("forks {child}, which was already forked or has already done something")
            }));
        }
        self.lives[child.index()] = Life::Running;
        engine.fork(at, child);
        Ok(())
    }

    fn join(
        &mut self,
        at: At,
        child: Strand,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), Malformed> {
        if child == at.strand {
            return Err(self.problem(at, |_| "joins itself".to_string()));
        }
        self.lives[child.index()] = Life::Ended;
        engine.join(at, child);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn goes_on_after_its_end(&self, at: At) -> Malformed {
        self.problem(at, |_| {
            "does something after its end, or after it was joined".to_string()
        })
    }

    #[cold]
    fn problem(&self, at: At, problem: impl Fn(&Legend) -> String) -> Malformed {
        Malformed {
            number: at.number,
            strand: self.legend.strand(at.strand).into_owned(),
            problem: problem(self.legend),
        }
    }

    /// Everything that few programs do.
    #[cold]
    #[inline(never)]
    fn rare(&mut self, at: At, op: Op, engine: &mut impl ThreadEngine) -> Result<(), Malformed> {
        let kept = self.order == Order::Kept;
        let rare = &mut self.rare;
        rare.schedules |= op
            .construct()
            .is_some_and(|c| !c.orders_alike_in_every_schedule());
        match op {
            Op::AcquireShared(lock) => {
                let holding = &mut self.locks[lock.index()];
                // Who writes may go on as a reader.
                let writes = holding.owner == at.strand.0;
                if holding.owner != NOBODY && !writes {
                    let owner = Strand(holding.owner);
                    return Err(self.problem(at, |legend| {
                        let (lock, owner) = (legend.lock(lock), legend.strand(owner));
                        format!("takes {lock} for reading, which {owner} holds")
                    }));
                }
                let depth = rare.readers.entry((lock, at.strand)).or_default();
                *depth += 1;
                if *depth == 1 {
                    holding.readers += 1;
                    if !writes {
                        engine.acquire_shared(at, lock);
                    }
                }
            }
            Op::ReleaseShared(lock) => {
                let Some(depth) = rare.readers.get_mut(&(lock, at.strand)) else {
                    return Err(self.problem(at, |legend| {
                        let lock = legend.lock(lock);
                        format!("gives back {lock}, which it does not hold for reading")
                    }));
                };
                *depth -= 1;
                if *depth > 0 {
                    return Ok(());
                }
                rare.readers.remove(&(lock, at.strand));
                self.locks[lock.index()].readers -= 1;
                let (slot, how) = rare.adding_to(rare.shared.get(&lock).copied());
                rare.shared.insert(lock, slot);
                engine.publish(at, slot, how);
            }
            Op::V(semaphore) => {
                let slot = rare.slot();
                let waiting = rare.semaphores.entry(semaphore).or_default();
                waiting.push_back(slot);
                engine.publish(at, slot, Publish::Replace);
            }
            Op::P(semaphore) => {
                let tokens = rare.tokens.entry(semaphore).or_default();
                if *tokens > 0 {
                    *tokens -= 1;
                } else {
                    let waiting = rare.semaphores.entry(semaphore).or_default();
                    let Some(slot) = waiting.pop_front() else {
                        return Err(self.problem(at, |_| {
                            format!(
                                "takes a token from semaphore {}, which has none",
                                semaphore.0
                            )
                        }));
                    };
                    engine.awaits(at, slot);
                    rare.free.push(slot);
                }
            }
            Op::Post(flag) | Op::Clear(flag) => {
                let mut gate = rare.flags.remove(&flag).unwrap_or_default();
                if kept {
                    if let Some(used) = gate.used {
                        engine.awaits(at, used);
                    }
                    let (used, how) = rare.adding_to(gate.used);
                    gate.used = Some(used);
                    engine.publish(at, used, how);
                }
                match op {
                    // A flag that is on is not turned on.
                    Op::Post(_) if gate.on.is_none() => {
                        let slot = rare.slot();
                        gate.on = Some(slot);
                        engine.publish(at, slot, Publish::Replace);
                    }
                    Op::Clear(_) => rare.free.extend(gate.on.take()),
                    _ => {}
                }
                rare.flags.insert(flag, gate);
            }
            Op::Wait(flag) => {
                let Some(Gate { on: Some(on), used }) = rare.flags.get(&flag) else {
                    return Err(self.problem(at, |_| {
                        format!("goes on after flag {}, which is off", flag.0)
                    }));
                };
                engine.awaits(at, *on);
                if let (true, Some(used)) = (kept, used) {
                    engine.publish(at, *used, Publish::Add);
                }
            }
            Op::BarrierArrive(barrier) => {
                let key = (barrier, at.strand);
                if rare.arrived.contains_key(&key) {
                    return Err(
                        self.problem(at, |_| format!("arrives at barrier {} twice", barrier.0))
                    );
                }
                let (round, slot, how) = rare.arrive(barrier);
                rare.arrived.insert(key, round);
                engine.publish(at, slot, how);
            }
            Op::BarrierLeave(barrier) => {
                let Some(round) = rare.arrived.remove(&(barrier, at.strand)) else {
                    return Err(self.problem(at, |_| {
                        format!("leaves barrier {} without having arrived", barrier.0)
                    }));
                };
                rare.leave(barrier, round, |slot| engine.awaits(at, slot));
            }
            Op::AtomicLoad(x, ordering) => {
                let mut cell = rare.cells.get(&x).copied().unwrap_or_default();
                match cell.stores {
                    Some(stores) if kept || acquires(ordering) => engine.awaits(at, stores),
                    _ => {}
                }
                engine.atomic_read(at, x);
                if kept {
                    let (loads, how) = rare.adding_to(cell.loads);
                    cell.loads = Some(loads);
                    engine.publish(at, loads, how);
                }
                rare.cells.insert(x, cell);
            }
            Op::AtomicStore(x, ordering) => {
                let mut cell = rare.cells.get(&x).copied().unwrap_or_default();
                if kept {
                    let before = [cell.stores, cell.loads].into_iter().flatten();
                    before.for_each(|slot| engine.awaits(at, slot));
                }
                engine.atomic_write(at, x);
                if kept || releases(ordering) {
                    let stores = *cell.stores.get_or_insert_with(|| rare.slot());
                    engine.publish(at, stores, Publish::Replace);
                } else {
                    // Who sees this value sees nothing of what came before it.
                    rare.free.extend(cell.stores.take());
                }
                rare.cells.insert(x, cell);
            }
            Op::AtomicUpdate(x, ordering) => {
                let mut cell = rare.cells.get(&x).copied().unwrap_or_default();
                match cell.stores {
                    Some(stores) if kept || acquires(ordering) => engine.awaits(at, stores),
                    _ => {}
                }
                if let (true, Some(loads)) = (kept, cell.loads) {
                    engine.awaits(at, loads);
                }
                engine.atomic_read(at, x);
                engine.atomic_write(at, x);
                if kept || releases(ordering) {
                    let (stores, how) = rare.adding_to(cell.stores);
                    cell.stores = Some(stores);
                    engine.publish(at, stores, how);
                }
                rare.cells.insert(x, cell);
            }
            Op::NewPromise(_) => {}
            Op::Set(promise) => {
                let slot = rare.slot();
                if rare.promises.insert(promise.0, slot).is_some() {
                    return Err(self.problem(at, |_| {
                        format!("sets promise {}, which was already set", promise.0)
                    }));
                }
                engine.publish(at, slot, Publish::Replace);
            }
            Op::Get(promise) => {
                let Some(&slot) = rare.promises.get(&promise.0) else {
                    return Err(self.problem(at, |_| {
                        format!("goes on after promise {}, which nobody has set", promise.0)
                    }));
                };
                engine.awaits(at, slot);
            }
            _ => {
                let word = op.construct().map_or("such an event", |c| c.word());
                return Err(self.problem(at, |_| {
                    format!("uses `{word}`: this is a program of tasks, and traces are of threads")
                }));
            }
        }
        Ok(())
    }
}

impl Rare {
    fn slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            Slot(self.slots - 1)
        })
    }

    /// Where to publish in addition to what a slot stands for, if there is one already.
    fn adding_to(&mut self, slot: Option<Slot>) -> (Slot, Publish) {
        match slot {
            Some(slot) => (slot, Publish::Add),
            None => (self.slot(), Publish::Replace),
        }
    }

    /// The number of the round that somebody arrives at, and where that is published. A round ends
    /// with the first who leaves.
    fn arrive(&mut self, barrier: Barrier) -> (u64, Slot, Publish) {
        let (mut rounds, gone) = self.barriers.remove(&barrier).unwrap_or_default();
        let mut round = match rounds.back() {
            Some(last) if !last.leaving => rounds.pop_back().unwrap_or_default(),
            _ => Round::default(),
        };
        let (slot, how) = self.adding_to(round.slot);
        round.slot = Some(slot);
        round.inside += 1;
        rounds.push_back(round);
        let number = gone + rounds.len() as u64 - 1;
        self.barriers.insert(barrier, (rounds, gone));
        (number, slot, how)
    }

    /// Somebody leaves a round; once all have, its slot is free.
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
        while rounds
            .front()
            .is_some_and(|round| round.leaving && round.inside == 0)
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
