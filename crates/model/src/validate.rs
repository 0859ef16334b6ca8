//! Says whether a stream of events could have come from a program.
//!
//! The simple model: keep who exists and who has ended, who holds which lock, how many tokens each
//! semaphore has, which promises are made and set, which flags are on, which `finish` blocks are
//! open and how many tasks each still waits for; an event whose precondition does not hold is
//! refused. Every engine may assume what this checks. Cost: a few hash look-ups per event, memory
//! proportional to the strands and objects that exist.

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::{
    Barrier, Event, EventNumber, Finish, Flag, Lock, Op, Promise, Region, Semaphore, Strand, Tables,
};

/// An event that no program could have produced at that point of the stream.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("event {number} ({event:?}): {violation}")]
pub struct IllFormed {
    /// Which event, from 1.
    pub number: EventNumber,
    /// The event itself.
    pub event: Event,
    /// What is wrong with it.
    pub violation: Violation,
}

/// What can be wrong with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[allow(missing_docs)]
pub enum Violation {
    #[error("strand {} has not been started", .0.0)]
    NotStarted(Strand),
    #[error("strand {} has already ended", .0.0)]
    AlreadyEnded(Strand),
    #[error("strand {} was already started", .0.0)]
    StartedTwice(Strand),
    #[error("waits for the end of strand {}, which nobody started", .0.0)]
    JoinOfUnknown(Strand),
    #[error("waits for the end of strand {}, which can only be waited for by its finish", .0.0)]
    JoinOfAsync(Strand),
    #[error("goes on after strand {}, which has not ended", .0.0)]
    JoinBeforeEnd(Strand),
    #[error("ends inside a finish or isolated block")]
    EndInsideBlock,
    #[error("finish {} is already open", .0.0)]
    FinishReused(Finish),
    #[error("finish {} is not this strand's innermost open block", .0.0)]
    FinishNotInnermost(Finish),
    #[error("finish {} ends while {} of its tasks are running", .0.0, .1)]
    FinishTooEarly(Finish, u64),
    #[error("promise {} was already made", .0.0)]
    PromiseMadeTwice(Promise),
    #[error("promise {} was never made", .0.0)]
    UnknownPromise(Promise),
    #[error("promise {} was already set", .0.0)]
    SetTwice(Promise),
    #[error("goes on after promise {}, which nobody has set", .0.0)]
    GetBeforeSet(Promise),
    #[error("enters isolated while strand {} is inside", .0.0)]
    IsolatedOccupied(Strand),
    #[error("leaves isolated without being inside")]
    NotIsolated,
    #[error("acquires lock {}, which strand {} holds", .0.0, .1.0)]
    LockHeld(Lock, Strand),
    #[error("acquires lock {}, which others hold for reading", .0.0)]
    LockShared(Lock),
    #[error("releases lock {}, which it does not hold", .0.0)]
    LockNotHeld(Lock),
    #[error("takes a token from semaphore {}, which has none", .0.0)]
    NoToken(Semaphore),
    #[error("goes on after flag {}, which is off", .0.0)]
    FlagOff(Flag),
    #[error("arrives at barrier {} twice", .0.0)]
    ArrivedTwice(Barrier),
    #[error("leaves barrier {} without having arrived", .0.0)]
    NotArrived(Barrier),
    #[error("region {} is already allocated", .0.0)]
    AllocatedTwice(Region),
    #[error("frees region {}, which is not allocated", .0.0)]
    NotAllocated(Region),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Block {
    Finish(Finish),
    Isolated,
}

#[derive(Debug, Default)]
struct StrandState {
    ended: bool,
    joinable: bool,
    /// The blocks this strand has open, innermost last.
    blocks: Vec<Block>,
    /// The innermost finish that was open around this strand's start.
    inherited: Option<Finish>,
}

#[derive(Debug, Default)]
struct LockState {
    owner: Option<Strand>,
    readers: FxHashSet<Strand>,
}

/// Checks a stream of events, one by one.
#[derive(Debug)]
pub struct Validator {
    next: EventNumber,
    strands: FxHashMap<Strand, StrandState>,
    locks: FxHashMap<Lock, LockState>,
    tokens: FxHashMap<Semaphore, u64>,
    declared_promises: u64,
    made: FxHashSet<Promise>,
    set: FxHashSet<Promise>,
    flags: FxHashSet<Flag>,
    /// How many tasks directly inside each finish are running. That is enough: a task cannot end
    /// while a finish of its own is open, so it stands for all that its own finishes wait for.
    running: FxHashMap<Finish, u64>,
    isolated: Option<Strand>,
    arrived: FxHashSet<(Barrier, Strand)>,
    allocated: FxHashSet<Region>,
}

impl Validator {
    /// A validator before the first event. `tables` tells what exists from the start: semaphores'
    /// tokens and declared promises.
    pub fn new(tables: &Tables) -> Validator {
        let mut strands = FxHashMap::default();
        strands.insert(Strand::MAIN, StrandState::default());
        Validator {
            next: 1,
            strands,
            locks: FxHashMap::default(),
            tokens: tables.semaphores.clone(),
            declared_promises: tables.declared_promises,
            made: FxHashSet::default(),
            set: FxHashSet::default(),
            flags: FxHashSet::default(),
            running: FxHashMap::default(),
            isolated: None,
            arrived: FxHashSet::default(),
            allocated: FxHashSet::default(),
        }
    }

    /// Takes the next event of the stream. After an error the validator is as before the event.
    pub fn check(&mut self, event: &Event) -> Result<(), IllFormed> {
        let number = self.next;
        self.apply(event.strand(), event.op())
            .map_err(|violation| IllFormed {
                number,
                event: *event,
                violation,
            })?;
        self.next += 1;
        Ok(())
    }

    fn apply(&mut self, strand: Strand, op: Op) -> Result<(), Violation> {
        match self.strands.get(&strand) {
            None => return Err(Violation::NotStarted(strand)),
            Some(state) if state.ended => return Err(Violation::AlreadyEnded(strand)),
            Some(_) => {}
        }
        match op {
            Op::Read(..)
            | Op::Write(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicUpdate(..) => Ok(()),
            Op::Async(child) => self.start(strand, child, true, false),
            Op::Future(child) => self.start(strand, child, true, true),
            Op::Fork(child) => self.start(strand, child, false, true),
            Op::Join(other) => match self.strands.get(&other) {
                None => Err(Violation::JoinOfUnknown(other)),
                Some(state) if !state.joinable => Err(Violation::JoinOfAsync(other)),
                Some(state) if !state.ended => Err(Violation::JoinBeforeEnd(other)),
                Some(_) => Ok(()),
            },
            Op::End => self.end(strand),
            Op::FinishBegin(finish) => {
                if self.running.contains_key(&finish) {
                    return Err(Violation::FinishReused(finish));
                }
                self.running.insert(finish, 0);
                self.state(strand).blocks.push(Block::Finish(finish));
                Ok(())
            }
            Op::FinishEnd(finish) => {
                if self.state(strand).blocks.last() != Some(&Block::Finish(finish)) {
                    return Err(Violation::FinishNotInnermost(finish));
                }
                let running = self.running[&finish];
                if running > 0 {
                    return Err(Violation::FinishTooEarly(finish, running));
                }
                self.state(strand).blocks.pop();
                self.running.remove(&finish);
                Ok(())
            }
            Op::NewPromise(promise) => {
                if promise.0 < self.declared_promises || !self.made.insert(promise) {
                    return Err(Violation::PromiseMadeTwice(promise));
                }
                Ok(())
            }
            Op::Set(promise) => {
                self.known(promise)?;
                if !self.set.insert(promise) {
                    return Err(Violation::SetTwice(promise));
                }
                Ok(())
            }
            Op::Get(promise) => {
                self.known(promise)?;
                match self.set.contains(&promise) {
                    true => Ok(()),
                    false => Err(Violation::GetBeforeSet(promise)),
                }
            }
            Op::IsolatedBegin => {
                if let Some(inside) = self.isolated {
                    return Err(Violation::IsolatedOccupied(inside));
                }
                self.isolated = Some(strand);
                self.state(strand).blocks.push(Block::Isolated);
                Ok(())
            }
            Op::IsolatedEnd => {
                if self.state(strand).blocks.last() != Some(&Block::Isolated) {
                    return Err(Violation::NotIsolated);
                }
                self.isolated = None;
                self.state(strand).blocks.pop();
                Ok(())
            }
            Op::Acquire(lock) => {
                let state = self.locks.entry(lock).or_default();
                if let Some(owner) = state.owner {
                    return Err(Violation::LockHeld(lock, owner));
                }
                if !state.readers.is_empty() {
                    return Err(Violation::LockShared(lock));
                }
                state.owner = Some(strand);
                Ok(())
            }
            Op::Release(lock) => {
                let state = self.locks.entry(lock).or_default();
                if state.owner != Some(strand) {
                    return Err(Violation::LockNotHeld(lock));
                }
                state.owner = None;
                Ok(())
            }
            Op::AcquireShared(lock) => {
                let state = self.locks.entry(lock).or_default();
                if let Some(owner) = state.owner {
                    return Err(Violation::LockHeld(lock, owner));
                }
                state.readers.insert(strand);
                Ok(())
            }
            Op::ReleaseShared(lock) => {
                match self.locks.entry(lock).or_default().readers.remove(&strand) {
                    true => Ok(()),
                    false => Err(Violation::LockNotHeld(lock)),
                }
            }
            Op::P(semaphore) => {
                let tokens = self.tokens.entry(semaphore).or_default();
                if *tokens == 0 {
                    return Err(Violation::NoToken(semaphore));
                }
                *tokens -= 1;
                Ok(())
            }
            Op::V(semaphore) => {
                *self.tokens.entry(semaphore).or_default() += 1;
                Ok(())
            }
            Op::Post(flag) => {
                self.flags.insert(flag);
                Ok(())
            }
            Op::Wait(flag) => match self.flags.contains(&flag) {
                true => Ok(()),
                false => Err(Violation::FlagOff(flag)),
            },
            Op::Clear(flag) => {
                self.flags.remove(&flag);
                Ok(())
            }
            Op::BarrierArrive(barrier) => match self.arrived.insert((barrier, strand)) {
                true => Ok(()),
                false => Err(Violation::ArrivedTwice(barrier)),
            },
            Op::BarrierLeave(barrier) => match self.arrived.remove(&(barrier, strand)) {
                true => Ok(()),
                false => Err(Violation::NotArrived(barrier)),
            },
            Op::Alloc(region) => match self.allocated.insert(region) {
                true => Ok(()),
                false => Err(Violation::AllocatedTwice(region)),
            },
            Op::Free(region) => match self.allocated.remove(&region) {
                true => Ok(()),
                false => Err(Violation::NotAllocated(region)),
            },
            Op::Begin | Op::Branch | Op::Request(_) => Ok(()),
        }
    }

    fn state(&mut self, strand: Strand) -> &mut StrandState {
        self.strands.entry(strand).or_default()
    }

    fn known(&self, promise: Promise) -> Result<(), Violation> {
        match promise.0 < self.declared_promises || self.made.contains(&promise) {
            true => Ok(()),
            false => Err(Violation::UnknownPromise(promise)),
        }
    }

    /// The finish that waits for a task this strand would start now.
    fn innermost_finish(&mut self, strand: Strand) -> Option<Finish> {
        let state = self.state(strand);
        let own = state.blocks.iter().rev().find_map(|block| match block {
            Block::Finish(finish) => Some(*finish),
            Block::Isolated => None,
        });
        own.or(state.inherited)
    }

    fn start(
        &mut self,
        parent: Strand,
        child: Strand,
        is_task: bool,
        joinable: bool,
    ) -> Result<(), Violation> {
        if self.strands.contains_key(&child) {
            return Err(Violation::StartedTwice(child));
        }
        // A thread is waited for by `join`, not by a finish.
        let inherited = match is_task {
            true => self.innermost_finish(parent),
            false => None,
        };
        self.count_running(inherited, 1);
        self.strands.insert(
            child,
            StrandState {
                joinable,
                inherited,
                ..StrandState::default()
            },
        );
        Ok(())
    }

    fn end(&mut self, strand: Strand) -> Result<(), Violation> {
        let state = self.state(strand);
        if !state.blocks.is_empty() {
            return Err(Violation::EndInsideBlock);
        }
        state.ended = true;
        let inherited = state.inherited;
        self.count_running(inherited, -1);
        Ok(())
    }

    fn count_running(&mut self, finish: Option<Finish>, by: i64) {
        if let Some(running) = finish.and_then(|finish| self.running.get_mut(&finish)) {
            *running = running.saturating_add_signed(by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, ReadKind, Site};

    const A: Strand = Strand(0);
    const B: Strand = Strand(1);
    const C: Strand = Strand(2);

    /// The violation a stream ends with; every event before the last must be accepted.
    fn verdict(events: &[(Strand, Op)]) -> Result<(), Violation> {
        let tables = Tables {
            declared_promises: 1,
            semaphores: [(Semaphore(0), 1)].into_iter().collect(),
            ..Tables::default()
        };
        let mut validator = Validator::new(&tables);
        for (index, (strand, op)) in events.iter().enumerate() {
            let event = Event::new(*strand, *op, Site(0));
            if let Err(error) = validator.check(&event) {
                assert_eq!(error.number as usize, index + 1);
                assert_eq!(index + 1, events.len(), "refused too early: {error}");
                return Err(error.violation);
            }
        }
        Ok(())
    }

    #[test]
    fn a_stream_with_every_kind_of_event_is_accepted() {
        let x = Location(9);
        let (f, g) = (Finish(0), Finish(1));
        verdict(&[
            (A, Op::FinishBegin(f)),
            (A, Op::Async(B)),
            (B, Op::FinishBegin(g)),
            (B, Op::Future(C)),
            (C, Op::Write(x)),
            (C, Op::End),
            (B, Op::Join(C)),
            (B, Op::FinishEnd(g)),
            (B, Op::IsolatedBegin),
            (A, Op::Read(x, ReadKind::Control)),
            (B, Op::IsolatedEnd),
            (B, Op::Set(Promise(0))),
            (B, Op::End),
            (A, Op::Get(Promise(0))),
            (A, Op::FinishEnd(f)),
            // A finish that has ended gives its number back.
            (A, Op::FinishBegin(f)),
            (A, Op::FinishEnd(f)),
            (A, Op::NewPromise(Promise(1))),
            (A, Op::Set(Promise(1))),
            (A, Op::Fork(Strand(3))),
            (A, Op::Acquire(Lock(0))),
            (A, Op::Release(Lock(0))),
            (A, Op::AcquireShared(Lock(0))),
            (Strand(3), Op::AcquireShared(Lock(0))),
            (A, Op::ReleaseShared(Lock(0))),
            (A, Op::P(Semaphore(0))),
            (A, Op::V(Semaphore(0))),
            (A, Op::Post(Flag(0))),
            (A, Op::Wait(Flag(0))),
            (A, Op::Clear(Flag(0))),
            (A, Op::BarrierArrive(Barrier(0))),
            (A, Op::BarrierLeave(Barrier(0))),
            (A, Op::Alloc(Region(0))),
            (A, Op::Free(Region(0))),
            (Strand(3), Op::End),
            (A, Op::Join(Strand(3))),
            (A, Op::End),
        ])
        .unwrap();
    }

    #[test]
    fn an_ill_formed_stream_is_refused_at_the_event() {
        use Violation::*;
        let f = Finish(0);
        let p = Promise(0);
        let l = Lock(0);
        let cases: &[(&[(Strand, Op)], Violation)] = &[
            (&[(B, Op::End)], NotStarted(B)),
            (
                &[(A, Op::End), (A, Op::Write(Location(0)))],
                AlreadyEnded(A),
            ),
            (&[(A, Op::Async(B)), (A, Op::Fork(B))], StartedTwice(B)),
            (&[(A, Op::Join(B))], JoinOfUnknown(B)),
            (
                &[(A, Op::Async(B)), (B, Op::End), (A, Op::Join(B))],
                JoinOfAsync(B),
            ),
            (&[(A, Op::Fork(B)), (A, Op::Join(B))], JoinBeforeEnd(B)),
            (&[(A, Op::FinishBegin(f)), (A, Op::End)], EndInsideBlock),
            (
                &[(A, Op::FinishBegin(f)), (A, Op::FinishBegin(f))],
                FinishReused(f),
            ),
            (&[(A, Op::FinishEnd(f))], FinishNotInnermost(f)),
            (
                &[
                    (A, Op::FinishBegin(f)),
                    (A, Op::Async(B)),
                    (A, Op::FinishEnd(f)),
                ],
                FinishTooEarly(f, 1),
            ),
            // Transitively: the grandchild still runs.
            (
                &[
                    (A, Op::FinishBegin(f)),
                    (A, Op::Async(B)),
                    (B, Op::Async(C)),
                    (B, Op::End),
                    (A, Op::FinishEnd(f)),
                ],
                FinishTooEarly(f, 1),
            ),
            (&[(A, Op::NewPromise(p))], PromiseMadeTwice(p)),
            (&[(A, Op::Get(Promise(5)))], UnknownPromise(Promise(5))),
            (&[(A, Op::Set(Promise(5)))], UnknownPromise(Promise(5))),
            (&[(A, Op::Set(p)), (A, Op::Set(p))], SetTwice(p)),
            (&[(A, Op::Get(p))], GetBeforeSet(p)),
            (
                &[
                    (A, Op::Async(B)),
                    (A, Op::IsolatedBegin),
                    (B, Op::IsolatedBegin),
                ],
                IsolatedOccupied(A),
            ),
            (&[(A, Op::IsolatedEnd)], NotIsolated),
            (&[(A, Op::Acquire(l)), (A, Op::Acquire(l))], LockHeld(l, A)),
            (
                &[(A, Op::AcquireShared(l)), (A, Op::Acquire(l))],
                LockShared(l),
            ),
            (
                &[(A, Op::Acquire(l)), (A, Op::AcquireShared(l))],
                LockHeld(l, A),
            ),
            (&[(A, Op::Release(l))], LockNotHeld(l)),
            (
                &[(A, Op::Fork(B)), (A, Op::Acquire(l)), (B, Op::Release(l))],
                LockNotHeld(l),
            ),
            (&[(A, Op::ReleaseShared(l))], LockNotHeld(l)),
            (
                &[(A, Op::P(Semaphore(0))), (A, Op::P(Semaphore(0)))],
                NoToken(Semaphore(0)),
            ),
            (
                &[
                    (A, Op::Post(Flag(0))),
                    (A, Op::Clear(Flag(0))),
                    (A, Op::Wait(Flag(0))),
                ],
                FlagOff(Flag(0)),
            ),
            (
                &[
                    (A, Op::BarrierArrive(Barrier(0))),
                    (A, Op::BarrierArrive(Barrier(0))),
                ],
                ArrivedTwice(Barrier(0)),
            ),
            (&[(A, Op::BarrierLeave(Barrier(0)))], NotArrived(Barrier(0))),
            (
                &[(A, Op::Alloc(Region(0))), (A, Op::Alloc(Region(0)))],
                AllocatedTwice(Region(0)),
            ),
            (&[(A, Op::Free(Region(0)))], NotAllocated(Region(0))),
        ];
        for (events, violation) in cases {
            assert_eq!(verdict(events), Err(*violation), "{events:?}");
        }
    }

    #[test]
    fn the_error_names_the_event() {
        let mut validator = Validator::new(&Tables::default());
        let error = validator
            .check(&Event::new(A, Op::Release(Lock(3)), Site(0)))
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("event 1 (strand 0 Release(Lock(3))"),
            "{text}"
        );
        assert!(
            text.contains("releases lock 3, which it does not hold"),
            "{text}"
        );
    }
}
