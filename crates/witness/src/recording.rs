//! What a trace says about each of its events, whatever the order: which event of its strand it is,
//! which write it observed, which round of its barrier it belongs to.
//!
//! Guarantee: an execution that is taken in could have happened as it is written.
//! Cost: two passes over the trace with a few hash look-ups an event; 8 bytes an event, beside the
//! trace itself.

use deadheat_model::{Barrier, Event, EventNumber, Execution, Finish, Location, Names, Op, Strand};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::state::State;

/// An event that no run of a threaded program has at that place.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("event {event} of the trace ({line}) {why}")]
pub struct NotATrace {
    /// Which event.
    pub event: EventNumber,
    /// The event, as people read it.
    pub line: String,
    /// What is wrong with it.
    pub why: String,
}

/// A round of a barrier: those who arrive until the first of them leaves.
pub(crate) struct Round {
    /// How many arrive.
    pub arrivals: u32,
    /// The barrier's round before.
    pub before: Option<u32>,
}

/// What a trace says about a strand.
#[derive(Default)]
pub(crate) struct StrandSize {
    /// How many events it has.
    pub events: u32,
    /// Whether the trace has the event that starts it; otherwise it is there from the beginning.
    pub forked: bool,
}

/// A trace with what it says about each event.
pub struct Recording<'t> {
    /// The trace itself.
    pub trace: &'t Execution,
    /// For each event, how many of its strand come before.
    places: Vec<u32>,
    /// For each event that reads, the write it observed; 0 for none.
    observed: Vec<u32>,
    pub(crate) strands: FxHashMap<Strand, StrandSize>,
    /// The tasks that each finish waits for, by the event that begins it: numbers of finishes come again.
    tasks: FxHashMap<EventNumber, Vec<Strand>>,
    /// For each event that ends a finish, the one that begins it.
    begins: FxHashMap<EventNumber, EventNumber>,
    rounds: Vec<Round>,
    round_of: FxHashMap<EventNumber, u32>,
}

impl<'t> Recording<'t> {
    /// Takes a trace in, if it could have happened as it is written.
    pub fn new(trace: &'t Execution) -> Result<Recording<'t>, NotATrace> {
        let mut recording = Recording {
            trace,
            places: Vec::with_capacity(trace.events.len()),
            observed: Vec::with_capacity(trace.events.len()),
            strands: FxHashMap::default(),
            tasks: FxHashMap::default(),
            begins: FxHashMap::default(),
            rounds: Vec::new(),
            round_of: FxHashMap::default(),
        };
        let mut past = Past::default();
        for (number, event) in (1..).zip(&trace.events) {
            recording
                .take_in(event, &mut past)
                .map_err(|why| recording.not_a_trace(number, why.to_string()))?;
        }
        recording.replay()?;
        Ok(recording)
    }

    /// The event of a number, if the trace has it.
    pub fn event(&self, number: EventNumber) -> Option<&'t Event> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.trace.events.get(index)
    }

    pub(crate) fn names(&self) -> &'t Names {
        &self.trace.names
    }

    /// How many events of its strand come before an event of the trace.
    pub fn place(&self, number: EventNumber) -> u32 {
        self.places[number as usize - 1]
    }

    /// The write that an event of the trace observed.
    pub fn observed(&self, number: EventNumber) -> Option<EventNumber> {
        match self.observed[number as usize - 1] {
            0 => None,
            write => Some(write.into()),
        }
    }

    /// The tasks that the end of a finish waits for.
    pub fn tasks(&self, end: EventNumber) -> &[Strand] {
        let tasks = self
            .begins
            .get(&end)
            .and_then(|begin| self.tasks.get(begin));
        tasks.map_or(&[], Vec::as_slice)
    }

    /// The number of the round that an event at a barrier belongs to.
    pub fn round_of(&self, number: EventNumber) -> u32 {
        self.round_of[&number]
    }

    pub(crate) fn round(&self, round: u32) -> &Round {
        &self.rounds[round as usize]
    }

    fn not_a_trace(&self, event: EventNumber, why: String) -> NotATrace {
        let line = self.event(event).map(|event| {
            let names = self.names();
            names.line(event).to_string()
        });
        NotATrace {
            event,
            line: line.unwrap_or_default(),
            why,
        }
    }

    /// Takes the next event in, or says what is wrong with it.
    fn take_in(&mut self, event: &Event, past: &mut Past) -> Result<(), &'static str> {
        let Ok(number) = u32::try_from(self.places.len() + 1) else {
            return Err("is more than can be checked: a trace may have 2^32 - 1 events");
        };
        let (strand, op) = (event.strand(), event.op());
        let recorded = self.strands.entry(strand).or_default();
        self.places.push(recorded.events);
        recorded.events += 1;
        let observed = reads(op).and_then(|x| past.written.get(&x).copied());
        self.observed.push(observed.unwrap_or(0));
        if let Some(x) = writes(op) {
            past.written.insert(x, number);
        }
        match op {
            Op::Fork(child) => self.strands.entry(child).or_default().forked = true,
            Op::Async(task) | Op::Future(task) => {
                let finish = past.innermost(strand);
                let recorded = self.strands.entry(task).or_default();
                recorded.forked = true;
                past.finish_of.insert(task, finish);
                if let Some(finish) = finish {
                    self.tasks.entry(finish).or_default().push(task);
                }
            }
            Op::FinishBegin(finish) => {
                let begun = past.open.entry(strand).or_default();
                begun.push((finish, number.into()));
            }
            Op::FinishEnd(finish) => match past.open.entry(strand).or_default().pop() {
                Some((begun, begin)) if begun == finish => {
                    self.begins.insert(number.into(), begin);
                }
                _ => return Err("ends a finish that is not the last it began"),
            },
            Op::BarrierArrive(barrier) => {
                let round = past.arrive(barrier, strand, &mut self.rounds)?;
                self.round_of.insert(number.into(), round);
            }
            Op::BarrierLeave(barrier) => {
                let round = past.leave(barrier, strand)?;
                self.round_of.insert(number.into(), round);
            }
            _ => {}
        }
        Ok(())
    }

    /// Does everything in the trace's own order.
    fn replay(&self) -> Result<(), NotATrace> {
        let mut state = State::default();
        for number in 1..=self.trace.events.len() as EventNumber {
            state
                .allows(self, number)
                .map_err(|obstacle| self.not_a_trace(number, obstacle.words(self)))?;
            state.perform(self, number);
        }
        Ok(())
    }
}

/// The location that an operation reads.
pub fn reads(op: Op) -> Option<Location> {
    match op {
        Op::Read(x, _) | Op::AtomicLoad(x, _) | Op::AtomicUpdate(x, _) => Some(x),
        _ => None,
    }
}

/// The location that an operation writes.
pub fn writes(op: Op) -> Option<Location> {
    match op {
        Op::Write(x) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => Some(x),
        _ => None,
    }
}

/// What taking the next event in needs to know of those before.
#[derive(Default)]
struct Past {
    /// The last write to each location.
    written: FxHashMap<Location, u32>,
    /// Each barrier's latest round.
    latest: FxHashMap<Barrier, u32>,
    /// Rounds that somebody has left: who arrives now begins another.
    over: FxHashSet<u32>,
    /// The rounds of those who have arrived and not left.
    inside: FxHashMap<(Barrier, Strand), u32>,
    /// The finishes that a strand has open, innermost last.
    open: FxHashMap<Strand, Vec<(Finish, EventNumber)>>,
    /// The event that begins the finish which waits for a task.
    finish_of: FxHashMap<Strand, Option<EventNumber>>,
}

impl Past {
    /// The finish that waits for a task that a strand starts now.
    fn innermost(&self, strand: Strand) -> Option<EventNumber> {
        let open = self.open.get(&strand).and_then(|open| open.last());
        let inherited = self.finish_of.get(&strand).copied().flatten();
        open.map(|(_, begin)| *begin).or(inherited)
    }

    /// The round that a strand arrives in.
    fn arrive(
        &mut self,
        barrier: Barrier,
        strand: Strand,
        rounds: &mut Vec<Round>,
    ) -> Result<u32, &'static str> {
        let before = self.latest.get(&barrier).copied();
        let round = match before {
            Some(round) if !self.over.contains(&round) => round,
            _ => {
                let arrivals = 0;
                rounds.push(Round { arrivals, before });
                rounds.len() as u32 - 1
            }
        };
        self.latest.insert(barrier, round);
        rounds[round as usize].arrivals += 1;
        match self.inside.insert((barrier, strand), round) {
            None => Ok(round),
            Some(_) => Err("arrives at a barrier that it has not left"),
        }
    }

    /// The round that a strand leaves.
    fn leave(&mut self, barrier: Barrier, strand: Strand) -> Result<u32, &'static str> {
        let round = self.inside.remove(&(barrier, strand));
        let round = round.ok_or("leaves a barrier at which it has not arrived")?;
        self.over.insert(round);
        Ok(round)
    }
}
