//! Feeds engines with an execution: checks that it could have happened, and translates what they do not
//! know. `isolated` is a lock; a task is a thread that a `finish` waits for.

use std::iter::once;

use deadheat_model::{
    Access, AccessKind, Event, EventNumber, Execution, Location, Lock, Names, Op, Strand,
};
use thiserror::Error;

use super::synchronisation::Synchronisation;
use super::tasks::Tasks;
use super::{At, Lowering, ThreadEngine};

/// A trace that no program could have produced.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("event {number}: {strand} {problem}")]
pub struct ImpossibleEvent {
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

pub(super) const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct LockState {
    pub(super) owner: u32,
    /// How often the owner has taken it.
    depth: u32,
    /// How many hold it for reading.
    pub(super) readers: u32,
}

const FREE: LockState = LockState {
    owner: NOBODY,
    depth: 0,
    readers: 0,
};

/// Feeds an engine with the events of a trace.
pub struct Driver<'a> {
    names: &'a Names,
    lowering: Lowering,
    next: EventNumber,
    lives: Vec<Life>,
    locks: Vec<LockState>,
    synchronisation: Synchronisation,
    tasks: Tasks,
    /// One bit for the code of each operation that occurred, plain accesses excepted.
    operations: u64,
}

impl<'a> Driver<'a> {
    /// A driver before the first event of a trace with this names.
    pub fn new(names: &'a Names, lowering: Lowering) -> Driver<'a> {
        Driver {
            names,
            lowering,
            next: 1,
            lives: vec![Life::Unseen; names.strands.len()],
            locks: vec![FREE; names.lock_count()],
            synchronisation: Synchronisation::new(names),
            tasks: Tasks::default(),
            operations: 0,
        }
    }

    /// How many strands there are.
    pub fn strands(&self) -> usize {
        self.lives.len()
    }

    /// Whether the engine was told orders, other than those of locks, that another schedule could have
    /// made otherwise. What is then said not to be possible may be possible.
    pub fn keeps_orders_of_the_schedule(&self) -> bool {
        self.synchronisation.orders_of_the_schedule()
    }

    /// One bit for the code of each operation that occurred, plain accesses excepted.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Tells the engine the next events of the trace.
    pub fn feed(
        &mut self,
        events: &[Event],
        engine: &mut impl ThreadEngine,
    ) -> Result<(), ImpossibleEvent> {
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
    ) -> Result<(), ImpossibleEvent> {
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
            self.operations |= 1 << event.to_parts().0;
            match event.op() {
                Op::Acquire(lock) => self.acquire(at, lock, engine)?,
                Op::Release(lock) => self.release(at, lock, engine)?,
                Op::IsolatedBegin => self.acquire(at, self.names.isolation(), engine)?,
                Op::IsolatedEnd => self.release(at, self.names.isolation(), engine)?,
                Op::Fork(child) => self.fork(at, child, engine)?,
                Op::Async(child) | Op::Future(child) => {
                    self.fork(at, child, engine)?;
                    self.tasks.start(at.strand, child);
                }
                Op::Join(child) => self.join(at, child, engine)?,
                // A task's last event; of threads, some recorders mark the ends of blocks with it.
                Op::End => {
                    if self.tasks.end(at, &mut self.synchronisation, engine) {
                        self.lives[at.strand.index()] = Life::Ended;
                    }
                }
                Op::Begin | Op::Branch | Op::Request(_) | Op::Alloc(_) | Op::Free(_) => {}
                op => self.others(at, op, engine)?,
            }
        }
        Ok(())
    }

    fn acquire(
        &mut self,
        at: At,
        lock: Lock,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), ImpossibleEvent> {
        let holding = &mut self.locks[lock.index()];
        if holding.owner == at.strand.0 {
            holding.depth += 1;
            return Ok(());
        }
        if holding.owner != NOBODY {
            let owner = Strand(holding.owner);
            return Err(self.problem(at, |names| {
                let (lock, owner) = (names.lock(lock), names.strand(owner));
                format!("acquires {lock}, which {owner} holds")
            }));
        }
        if holding.readers > 0 {
            return Err(self.problem(at, |names| {
                format!(
                    "acquires {}, which others hold for reading",
                    names.lock(lock)
                )
            }));
        }
        (holding.owner, holding.depth) = (at.strand.0, 1);
        engine.acquire(at, lock);
        self.synchronisation.await_readers(at, lock, engine);
        Ok(())
    }

    fn release(
        &mut self,
        at: At,
        lock: Lock,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), ImpossibleEvent> {
        let holding = &mut self.locks[lock.index()];
        if holding.owner != at.strand.0 {
            return Err(self.problem(at, |names| {
                format!("releases {}, which it does not hold", names.lock(lock))
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
    ) -> Result<(), ImpossibleEvent> {
        if self.lives[child.index()] != Life::Unseen {
            return Err(self.problem(at, |names| {
                let child = names.strand(child);
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
    ) -> Result<(), ImpossibleEvent> {
        if child == at.strand {
            return Err(self.problem(at, |_| "joins itself".to_string()));
        }
        self.lives[child.index()] = Life::Ended;
        engine.join(at, child);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn goes_on_after_its_end(&self, at: At) -> ImpossibleEvent {
        self.problem(at, |_| {
            "does something after its end, or after it was joined".to_string()
        })
    }

    #[cold]
    fn problem(&self, at: At, problem: impl Fn(&Names) -> String) -> ImpossibleEvent {
        ImpossibleEvent {
            number: at.number,
            strand: self.names.strand(at.strand).into_owned(),
            problem: problem(self.names),
        }
    }

    /// Everything that few programs do.
    #[cold]
    #[inline(never)]
    fn others(
        &mut self,
        at: At,
        op: Op,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), ImpossibleEvent> {
        let synchronisation = &mut self.synchronisation;
        let (names, locks) = (self.names, &mut self.locks[..]);
        let done = match op {
            Op::FinishBegin(_) | Op::FinishEnd(_) => {
                self.tasks.finish(at, op, synchronisation, names, engine)
            }
            _ => synchronisation.perform(at, op, self.lowering, locks, names, engine),
        };
        done.map_err(|problem| self.problem(at, |_| problem.clone()))
    }
}

/// Whether an execution could have happened.
pub fn validate(execution: &Execution) -> Result<(), ImpossibleEvent> {
    let mut driver = Driver::new(&execution.names, Lowering::HappensBefore);
    driver.feed(&execution.events, &mut Nothing)
}

/// Takes out of an execution every event that could not have happened, given those before it that are left;
/// says which these were, by their old numbers.
pub fn repair(execution: &mut Execution) -> Vec<ImpossibleEvent> {
    let mut problems = Vec::new();
    let mut driver = Driver::new(&execution.names, Lowering::HappensBefore);
    let mut number = 0;
    execution.events.retain(|event| {
        number += 1;
        let fed = driver.feed_some(once((event, number)), &mut Nothing);
        problems.extend(fed.err());
        problems.last().is_none_or(|last| last.number != number)
    });
    problems
}

/// An engine that wants to know nothing.
struct Nothing;

impl ThreadEngine for Nothing {
    fn read(&mut self, _: At, _: Location) {}
    fn write(&mut self, _: At, _: Location) {}
    fn acquire(&mut self, _: At, _: Lock) {}
    fn release(&mut self, _: At, _: Lock) {}
}
