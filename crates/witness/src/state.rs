//! A run of a trace's events in another order, after some of them: what has been done, what the
//! locations hold, who has which lock. It says whether an event can come next, and why not.
//!
//! This is what a run *is*, for the checker of witnesses and for brute force alike:
//! - a strand does its own events, in its own order, after it was forked if the trace says by whom;
//! - a read observes the write that it observed in the trace, or none if it observed none there;
//!   atomic accesses too, and an atomic update both reads and writes;
//! - a lock has one owner or many readers; whoever has it may take it again, and gives it back as
//!   often;
//! - a join comes after all that the trace has of the strand, and the end of a finish after all that
//!   it has of the tasks that the finish waits for;
//! - one strand at a time is inside `isolated`;
//! - a semaphore gives no more tokens than it has; a flag is waited for while it is on; a promise is
//!   read after it is set;
//! - who arrived at a barrier leaves when everybody of that round has arrived, and a round begins
//!   when the round before is full.
//!
//! Whatever else an event says (begin, end, branch, request, alloc, free) orders nothing.
//!
//! Cost: a few hash look-ups for each event; memory in proportion to what the events so far touched.

use deadheat_model::{Event, EventNumber, Flag, Location, Lock, Op, Promise, Semaphore, Strand};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::recording::{Recording, reads, writes};

/// Why an event cannot come next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// The trace has no such event.
    NoSuchEvent,
    /// It is already among those done.
    DoneBefore,
    /// So many earlier events of its strand are not done.
    SkipsEarlier(u32),
    /// Its strand is forked by an event that is not done.
    NotForked(Strand),
    /// It forks a strand that was forked before.
    ForkedTwice(Strand),
    /// It reads another write than in the trace.
    Observes {
        /// What it would read here.
        here: Option<EventNumber>,
        /// What it read in the trace.
        in_trace: Option<EventNumber>,
    },
    /// Somebody else owns the lock.
    Owned(Lock, Strand),
    /// Others hold the lock for reading.
    Shared(Lock),
    /// It gives back what it does not have.
    NotHeld(Lock),
    /// It waits for the end of a strand that has events to do.
    NotEnded(Strand),
    /// The semaphore has no token.
    NoToken(Semaphore),
    /// The flag is off.
    FlagOff(Flag),
    /// The promise is set already.
    SetTwice(Promise),
    /// Nobody has set the promise.
    NotSet(Promise),
    /// So many have not arrived that it leaves together with.
    RoundNotFull(u32),
    /// So many have not arrived at the barrier's round before.
    RoundBeforeNotFull(u32),
    /// It needs an event of another strand that is not done: the write it observed, its fork, the
    /// end of what it joins.
    LeftOut(EventNumber),
    /// It should be one of the two accesses that race.
    NotTheRace,
    /// The two that race are done by one strand.
    SameStrand,
    /// The two that race are not accesses to one location, at least one a write and at least one plain.
    NoConflict,
    /// It is named as one that waits for a strand, and does not.
    DoesNotWaitFor(Strand),
    /// Those named as waiting in a circle are not two or more different strands.
    NoCircle,
}

impl Obstacle {
    /// The obstacle to an event, in words that go on from the event's name.
    pub(crate) fn words(self, recording: &Recording) -> String {
        let names = recording.names();
        let shown = |number: Option<EventNumber>| match number {
            None => "no write".to_string(),
            Some(number) => match recording.event(number) {
                Some(event) => format!("event {number} ({})", names.line(event)),
                None => format!("event {number}"),
            },
        };
        match self {
            Obstacle::NoSuchEvent => format!(
                "is not in the trace, which has {} events",
                recording.trace.events.len()
            ),
            Obstacle::DoneBefore => "has been done before".to_string(),
            Obstacle::SkipsEarlier(n) => {
                format!("comes before {n} earlier events of its own strand")
            }
            Obstacle::NotForked(s) => {
                format!("comes before {} is forked", names.strand(s))
            }
            Obstacle::ForkedTwice(s) => {
                format!("forks {}, which was forked before", names.strand(s))
            }
            Obstacle::Observes { here, in_trace } => format!(
                "observes {} here, but {} in the trace",
                shown(here),
                shown(in_trace)
            ),
            Obstacle::Owned(l, s) => format!(
                "takes lock {}, which {} has",
                names.lock(l),
                names.strand(s)
            ),
            Obstacle::Shared(l) => format!(
                "takes lock {}, which others have for reading",
                names.lock(l)
            ),
            Obstacle::NotHeld(l) => {
                format!("gives back lock {}, which it does not have", names.lock(l))
            }
            Obstacle::NotEnded(s) => format!(
                "waits for the end of {}, which has events that are not done",
                names.strand(s)
            ),
            Obstacle::NoToken(s) => format!(
                "takes a token of semaphore {}, which has none",
                names.semaphore(s)
            ),
            Obstacle::FlagOff(e) => format!("waits for flag {}, which is off", names.flag(e)),
            Obstacle::SetTwice(p) => format!("sets promise {}, which is set already", p.0),
            Obstacle::NotSet(p) => format!("reads promise {}, which is not set", p.0),
            Obstacle::RoundNotFull(n) => {
                format!("leaves the barrier while {n} of its round have not arrived")
            }
            Obstacle::RoundBeforeNotFull(n) => {
                format!("arrives while {n} of the barrier's round before have not")
            }
            Obstacle::LeftOut(needed) => {
                format!("needs {}, which is left out", shown(Some(needed)))
            }
            Obstacle::NotTheRace => {
                "should be one of the two that race, which end a witness".to_string()
            }
            Obstacle::SameStrand => "is of the same strand as the access it races with".to_string(),
            Obstacle::NoConflict => {
                "does not conflict with the event before: two accesses to one location, at least \
                 one a write and not both atomic, would"
                    .to_string()
            }
            Obstacle::DoesNotWaitFor(s) => {
                format!("does not wait for anything that {} has", names.strand(s))
            }
            Obstacle::NoCircle => "is not one of several strands that wait in a circle".to_string(),
        }
    }
}

/// How a lock is held.
#[derive(Clone, Default, Debug)]
struct LockState {
    /// Who has it, and how often.
    owner: Option<(Strand, u32)>,
    /// Who has it for reading, and how often.
    readers: FxHashMap<Strand, u32>,
}

/// What some events, done in some order, lead to.
#[derive(Clone, Default, Debug)]
pub struct State {
    done: FxHashMap<Strand, u32>,
    forked: FxHashSet<Strand>,
    written: FxHashMap<Location, EventNumber>,
    locks: FxHashMap<Lock, LockState>,
    tokens: FxHashMap<Semaphore, u64>,
    on: FxHashSet<Flag>,
    set: FxHashSet<Promise>,
    /// How many have arrived, for each round of a barrier.
    arrived: FxHashMap<u32, u32>,
}

impl State {
    /// How many events of a strand are done.
    pub fn done(&self, strand: Strand) -> u32 {
        self.done.get(&strand).copied().unwrap_or(0)
    }

    /// The last write to a location.
    pub fn written(&self, location: Location) -> Option<EventNumber> {
        self.written.get(&location).copied()
    }

    /// Whether a flag is on.
    pub fn is_on(&self, flag: Flag) -> bool {
        self.on.contains(&flag)
    }

    /// Whether it is an event's turn: it is the next of its strand, and its strand is there. That is
    /// all that an access asks for which need not observe what it observed.
    pub fn has_turn<'t>(
        &self,
        recording: &Recording<'t>,
        number: EventNumber,
    ) -> Result<&'t Event, Obstacle> {
        let event = recording.event(number).ok_or(Obstacle::NoSuchEvent)?;
        let strand = event.strand();
        let place = recording.place(number);
        let done = self.done(strand);
        if place < done {
            return Err(Obstacle::DoneBefore);
        }
        if place > done {
            return Err(Obstacle::SkipsEarlier(place - done));
        }
        if recording.strands[&strand].forked && !self.forked.contains(&strand) {
            return Err(Obstacle::NotForked(strand));
        }
        Ok(event)
    }

    /// Whether an event can come next.
    pub fn allows(&self, recording: &Recording, number: EventNumber) -> Result<(), Obstacle> {
        let event = self.has_turn(recording, number)?;
        let strand = event.strand();
        if let Some(x) = reads(event.op()) {
            let (here, in_trace) = (self.written(x), recording.observed(number));
            if here != in_trace {
                return Err(Obstacle::Observes { here, in_trace });
            }
        }
        match event.op() {
            Op::Acquire(l) => self.can_own(l, strand),
            Op::IsolatedBegin => self.can_own(recording.names().isolation(), strand),
            Op::IsolatedEnd => self.owns(recording.names().isolation(), strand),
            Op::Release(l) => self.owns(l, strand),
            Op::AcquireShared(l) => self.has_no_other_owner(l, strand),
            Op::ReleaseShared(l) => match self.locks.get(&l) {
                Some(held) if held.readers.contains_key(&strand) => Ok(()),
                _ => Err(Obstacle::NotHeld(l)),
            },
            Op::Fork(child) | Op::Async(child) | Op::Future(child)
                if self.forked.contains(&child) =>
            {
                Err(Obstacle::ForkedTwice(child))
            }
            Op::FinishEnd(_) => {
                let mut tasks = recording.tasks(number).iter();
                let events = |task| recording.strands[task].events;
                match tasks.find(|&task| self.done(*task) < events(task)) {
                    Some(task) => Err(Obstacle::NotEnded(*task)),
                    None => Ok(()),
                }
            }
            Op::Join(other) => match recording.strands.get(&other) {
                Some(recorded) if recorded.forked && !self.forked.contains(&other) => {
                    Err(Obstacle::NotForked(other))
                }
                Some(recorded) if self.done(other) < recorded.events => {
                    Err(Obstacle::NotEnded(other))
                }
                _ => Ok(()),
            },
            Op::P(s) if self.tokens(recording, s) == 0 => Err(Obstacle::NoToken(s)),
            Op::Wait(e) if !self.is_on(e) => Err(Obstacle::FlagOff(e)),
            Op::Set(p) if self.set.contains(&p) => Err(Obstacle::SetTwice(p)),
            Op::Get(p) if !self.set.contains(&p) => Err(Obstacle::NotSet(p)),
            Op::BarrierArrive(_) => {
                let round = recording.round(recording.round_of(number));
                let missing = round
                    .before
                    .map_or(0, |before| self.missing(recording, before));
                match missing {
                    0 => Ok(()),
                    missing => Err(Obstacle::RoundBeforeNotFull(missing)),
                }
            }
            Op::BarrierLeave(_) => match self.missing(recording, recording.round_of(number)) {
                0 => Ok(()),
                missing => Err(Obstacle::RoundNotFull(missing)),
            },
            _ => Ok(()),
        }
    }

    /// Whether an event that has its turn cannot happen before another strand has gone on: it takes a lock that the
    /// other has, and it is not both for reading, or waits for the other's end.
    pub fn waits_for(&self, recording: &Recording, number: EventNumber, other: Strand) -> bool {
        let Some(event) = recording.event(number).filter(|e| e.strand() != other) else {
            return false;
        };
        let owns = |lock| self.owns(lock, other).is_ok();
        let reads = |lock| {
            let held = self.locks.get(&lock);
            held.is_some_and(|held| held.readers.contains_key(&other))
        };
        match event.op() {
            Op::Acquire(l) => owns(l) || reads(l),
            Op::AcquireShared(l) => owns(l),
            Op::IsolatedBegin => owns(recording.names().isolation()),
            Op::Join(joined) => {
                let events = recording.strands.get(&other).map_or(0, |of| of.events);
                joined == other && self.done(other) < events
            }
            _ => false,
        }
    }

    /// Does an event that has its turn.
    pub fn perform(&mut self, recording: &Recording, number: EventNumber) {
        let Some(event) = recording.event(number) else {
            return;
        };
        let strand = event.strand();
        self.skip(strand, 1);
        if let Some(x) = writes(event.op()) {
            self.write(x, number);
        }
        match event.op() {
            Op::Acquire(l) => self.own(l, strand),
            Op::IsolatedBegin => self.own(recording.names().isolation(), strand),
            Op::IsolatedEnd => self.give_back(recording.names().isolation()),
            Op::Release(l) => self.give_back(l),
            Op::AcquireShared(l) => {
                let held = self.locks.entry(l).or_default();
                *held.readers.entry(strand).or_default() += 1;
            }
            Op::ReleaseShared(l) => {
                let held = self.locks.entry(l).or_default();
                if let Some(depth) = held.readers.get_mut(&strand) {
                    *depth -= 1;
                    if *depth == 0 {
                        held.readers.remove(&strand);
                    }
                }
            }
            Op::Fork(child) | Op::Async(child) | Op::Future(child) => self.fork(child),
            Op::P(s) => {
                let tokens = self.tokens(recording, s);
                self.tokens.insert(s, tokens.saturating_sub(1));
            }
            Op::V(s) => {
                let tokens = self.tokens(recording, s);
                self.tokens.insert(s, tokens.saturating_add(1));
            }
            Op::Post(e) => {
                self.on.insert(e);
            }
            Op::Clear(e) => {
                self.on.remove(&e);
            }
            Op::Set(p) => {
                self.set.insert(p);
            }
            Op::BarrierArrive(_) => {
                *self.arrived.entry(recording.round_of(number)).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Whether a strand has a lock.
    fn owns(&self, lock: Lock, strand: Strand) -> Result<(), Obstacle> {
        match self.locks.get(&lock).and_then(|held| held.owner) {
            Some((owner, _)) if owner == strand => Ok(()),
            _ => Err(Obstacle::NotHeld(lock)),
        }
    }

    fn give_back(&mut self, lock: Lock) {
        let held = self.locks.entry(lock).or_default();
        held.owner = held.owner.filter(|(_, depth)| *depth > 1);
        held.owner = held.owner.map(|(strand, depth)| (strand, depth - 1));
    }

    /// So many more events of a strand are done, whatever they do.
    pub fn skip(&mut self, strand: Strand, events: u32) {
        *self.done.entry(strand).or_default() += events;
    }

    /// A location has been written.
    pub fn write(&mut self, location: Location, write: EventNumber) {
        self.written.insert(location, write);
    }

    /// A strand that may take a lock has taken it.
    pub fn own(&mut self, lock: Lock, strand: Strand) {
        let held = self.locks.entry(lock).or_default();
        held.owner = Some((strand, held.owner.map_or(1, |(_, depth)| depth + 1)));
    }

    /// A strand has been forked.
    pub fn fork(&mut self, child: Strand) {
        self.forked.insert(child);
    }

    fn has_no_other_owner(&self, lock: Lock, strand: Strand) -> Result<(), Obstacle> {
        match self.locks.get(&lock).and_then(|held| held.owner) {
            Some((owner, _)) if owner != strand => Err(Obstacle::Owned(lock, owner)),
            _ => Ok(()),
        }
    }

    fn can_own(&self, lock: Lock, strand: Strand) -> Result<(), Obstacle> {
        self.has_no_other_owner(lock, strand)?;
        let Some(held) = self.locks.get(&lock) else {
            return Ok(());
        };
        let own = usize::from(held.readers.contains_key(&strand));
        match held.readers.len() - own {
            0 => Ok(()),
            _ => Err(Obstacle::Shared(lock)),
        }
    }

    fn tokens(&self, recording: &Recording, semaphore: Semaphore) -> u64 {
        let initial = || recording.names().tokens.get(semaphore.index()).copied();
        let now = self.tokens.get(&semaphore).copied();
        now.or_else(initial).unwrap_or(0)
    }

    /// How many have not arrived at a round of a barrier.
    fn missing(&self, recording: &Recording, round: u32) -> u32 {
        let arrived = self.arrived.get(&round).copied().unwrap_or(0);
        recording.round(round).arrivals - arrived
    }
}
