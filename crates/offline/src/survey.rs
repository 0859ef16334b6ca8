//! The first pass over an execution, and all that come after.
//!
//! The first pass checks that the execution could have happened, and finds which constructs it uses and
//! which locations can race at all; all other passes see only what that leaves. A trace in a file is
//! decoded once, if it is short enough to be kept. However many engines judge an execution, it is
//! surveyed once.

use std::ops::ControlFlow;

use deadheat_model::{Construct, Event, EventNumber, Execution, Names, Op, Site, Strand, words};
use deadheat_trace::{Source, TraceError};
use fixedbitset::FixedBitSet;

use crate::engine::{EngineError, Progress};
use crate::threads::exposure::{Exposed, Exposure};
use crate::threads::picked::{feed_picked, feed_window};
use crate::threads::{Driver, Lowering, Malformed, ThreadEngine};

/// An execution to be judged.
#[derive(Clone, Copy)]
pub enum Recording<'a> {
    /// All of it is in memory.
    InMemory(&'a Execution),
    /// It is in a file.
    OnDisk(&'a Source),
}

impl<'a> Recording<'a> {
    /// What the numbers in its events mean.
    pub fn names(self) -> Result<&'a Names, TraceError> {
        match self {
            Recording::InMemory(trace) => Ok(&trace.names),
            Recording::OnDisk(source) => source.names(),
        }
    }
}

/// Up to how many events of a file are kept in memory, so that they are decoded only once. A longer trace is
/// decoded again for each pass, which costs no more than to ask the system for so much memory.
const MAX_KEPT: u64 = 1 << 24;

/// An execution that has been surveyed.
pub struct Survey<'a> {
    /// What its numbers mean.
    pub names: &'a Names,
    events: Events<'a>,
    /// The locations that can race.
    pub exposed: Exposed,
    /// How many events there are.
    pub count: u64,
    /// Whether it has orders that another schedule could have made otherwise, besides those of locks.
    pub kept_orders: bool,
    /// One bit for the code of each operation that occurs, plain accesses excepted.
    operations: u64,
    /// Told how far an engine has got.
    pub progress: Progress<'a>,
    /// How many passes were made.
    passed: u32,
}

/// How many passes an engine makes, at most: for progress.
const PASSES: u32 = 3;

enum Events<'a> {
    InMemory(&'a Execution),
    /// From a file, and short enough.
    Kept(Vec<Event>),
    OnDisk(&'a Source),
}

/// The bit of an operation.
fn bit(op: Op) -> u64 {
    1 << Event::new(Strand::MAIN, op, Site(0)).to_parts().0
}

impl<'a> Survey<'a> {
    /// Surveys an execution.
    pub fn new(
        recording: Recording<'a>,
        progress: Progress<'a>,
    ) -> Result<Survey<'a>, EngineError> {
        let names = recording.names()?;
        let mut exposure = Exposure::new(names);
        let mut driver = Driver::new(names, Lowering::HappensBefore);
        let mut memory: Vec<Event> = Vec::new();
        let events = match recording {
            Recording::InMemory(execution) => Events::InMemory(execution),
            Recording::OnDisk(source) => {
                let count = source.events()?;
                if count <= MAX_KEPT {
                    memory = deadheat_trace::room_for(count)?;
                }
                Events::OnDisk(source)
            }
        };
        let keep = memory.capacity() > 0;
        let mut count = 0;
        events.each(|window, done| {
            count += window.len() as u64;
            progress((done * 1000.0) as u64, u64::from(PASSES) * 1000);
            if keep {
                memory.extend_from_slice(window);
            }
            driver.feed(window, &mut exposure)
        })?;
        Ok(Survey {
            names,
            events: match keep {
                true => Events::Kept(memory),
                false => events,
            },
            exposed: exposure.finish(),
            count,
            kept_orders: driver.keeps_orders_of_the_schedule(),
            operations: driver.operations(),
            progress,
            passed: 1,
        })
    }

    /// The constructs that it uses.
    pub fn constructs(&self) -> Vec<Construct> {
        let occurs = |construct: &Construct| {
            let mut words = words::WORDS.iter().map(|word| (word.make)(0));
            words.any(|op| op.construct() == Some(*construct) && self.operations & bit(op) != 0)
        };
        let mut constructs: Vec<Construct> = Construct::ALL.into_iter().filter(occurs).collect();
        if self.exposed.unforked {
            constructs.push(Construct::Unforked);
        }
        constructs
    }

    /// The number of the first event that uses a construct; 1 if it is not in memory.
    pub fn first_use(&self, construct: Construct) -> EventNumber {
        let mut started = FixedBitSet::with_capacity(self.names.strands.len());
        started.insert(Strand::MAIN.index());
        let mut is_use = |event: &Event| {
            if let Op::Fork(child) | Op::Async(child) | Op::Future(child) = event.op() {
                started.insert(child.index());
            }
            match construct {
                Construct::Unforked => !started.contains(event.strand().index()),
                _ => event.op().construct() == Some(construct),
            }
        };
        let events = self.events.in_memory().unwrap_or_default();
        1 + events.iter().position(&mut is_use).unwrap_or(0) as EventNumber
    }

    /// The execution, if all of it is in memory.
    pub fn execution(&self, engine: &'static str) -> Result<&'a Execution, EngineError> {
        match self.events {
            Events::InMemory(execution) => Ok(execution),
            _ => Err(EngineError::TooLong {
                engine,
                what: "events",
            }),
        }
    }

    /// Tells an engine all but the plain accesses of locations that do not matter to it.
    pub fn feed(
        &mut self,
        lowering: Lowering,
        only: &FixedBitSet,
        engine: &mut (impl ThreadEngine + Send),
    ) -> Result<(), EngineError> {
        let mut driver = Driver::new(self.names, lowering);
        let before = f64::from(self.passed);
        self.passed = 1 + self.passed % (PASSES - 1);
        let tell = |done: f64| {
            let done = (before + done) * 1000.0;
            (self.progress)(done as u64, u64::from(PASSES) * 1000);
        };
        if let Some(events) = self.events.in_memory() {
            return Ok(feed_picked(events, only, &mut driver, engine, tell)?);
        }
        let mut next = 1;
        self.events.each(|window, done| {
            tell(done);
            let first = next;
            next += window.len() as EventNumber;
            feed_window(window, first, only, &mut driver, engine)
        })
    }
}

impl Events<'_> {
    fn in_memory(&self) -> Option<&[Event]> {
        match self {
            Events::InMemory(execution) => Some(&execution.events),
            Events::Kept(events) => Some(events),
            Events::OnDisk(_) => None,
        }
    }

    /// Goes through the events, each time with how much is done, from 0 to 1.
    fn each(
        &self,
        mut each: impl FnMut(&[Event], f64) -> Result<(), Malformed>,
    ) -> Result<(), EngineError> {
        if let Some(events) = self.in_memory() {
            let mut done = 0;
            for window in events.chunks(deadheat_trace::WINDOW) {
                done += window.len();
                each(window, done as f64 / events.len() as f64)?;
            }
        }
        let Events::OnDisk(source) = self else {
            return Ok(());
        };
        let end = source.for_each(|window| match each(window.events, window.done) {
            Ok(()) => ControlFlow::Continue(()),
            Err(malformed) => ControlFlow::Break(malformed),
        })?;
        match end {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(malformed) => Err(malformed.into()),
        }
    }
}
