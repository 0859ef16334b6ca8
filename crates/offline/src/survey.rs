//! The first pass over an execution, and all that come after.
//!
//! The first pass checks that the execution could have happened, and finds which constructs it uses and
//! which locations can race at all; all other passes see only what that leaves. A trace in a file is
//! decoded once, if it is short enough to be kept. However many engines judge an execution, it is
//! surveyed once.
//!
//! Every pass can be stopped. It then ends after some event, and so does every later pass: the beginning of
//! an execution is an execution, and what races in it races. What is left to do to tell what was found has
//! [`GRACE`](deadheat_model::GRACE).

use std::ops::ControlFlow;

use deadheat_model::{
    Construct, Event, EventNumber, Execution, Names, Op, Site, StopPoll, StopReason, StopToken,
    Strand, words,
};
use deadheat_trace::{Source, TraceError};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

use crate::engine::{EngineError, Progress};
use crate::threads::accesses::{Finder, Judge};
use crate::threads::exposure::{Exposure, SharedLocations};
use crate::threads::fasttrack::FastTrack;
use crate::threads::picked::{End, feed_picked, feed_window};
use crate::threads::shb::MustOrder;
use crate::threads::{Driver, ImpossibleEvent, Lowering, ThreadEngine};

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
    pub exposed: SharedLocations,
    /// How many events there are.
    pub count: u64,
    /// How many of them are judged, from the first: all, unless a pass was stopped.
    pub judged: u64,
    /// Asked by everything that takes long.
    pub stop: StopToken,
    /// Why a pass or an engine was stopped, if one was.
    pub stopped: Option<StopReason>,
    /// Whether it has orders that another schedule could have made otherwise, besides those of locks.
    pub kept_orders: bool,
    /// One bit for the code of each operation that occurs, plain accesses excepted.
    operations: u64,
    /// Told how far an engine has got.
    pub progress: Progress<'a>,
    /// How many passes were made.
    passed: u32,
    /// See [`matter`](Self::matter), once it was asked for.
    matter: Option<FixedBitSet>,
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
        stop: StopToken,
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
        let mut judged = 0;
        let flow = events.each(|window, done| {
            if let Some(why) = stop.due() {
                return Ok(ControlFlow::Break(why));
            }
            judged += window.len() as u64;
            progress((done * 1000.0) as u64, u64::from(PASSES) * 1000);
            if keep {
                memory.extend_from_slice(window);
            }
            let fed = driver.feed(window, &mut exposure);
            fed.map(ControlFlow::Continue)
        })?;
        let stopped = flow.break_value();
        let mut survey = Survey {
            names,
            count: match (recording, stopped) {
                (Recording::InMemory(execution), _) => execution.events.len() as u64,
                (Recording::OnDisk(_), None) => judged,
                (Recording::OnDisk(source), Some(_)) => source.events()?,
            },
            events: match keep {
                true => Events::Kept(memory),
                false => events,
            },
            exposed: exposure.finish(),
            judged,
            stop,
            stopped: None,
            kept_orders: driver.keeps_orders_of_the_schedule(),
            operations: driver.operations(),
            progress,
            passed: 1,
            matter: None,
        };
        if let Some(why) = stopped {
            survey.cut_short(why);
        }
        Ok(survey)
    }

    /// Work was stopped: from now on there is only time to tell what was found.
    pub fn cut_short(&mut self, why: StopReason) {
        if self.stopped.is_none() {
            self.stopped = Some(why);
            self.stop = self.stop.grace();
        }
    }

    /// An engine that took one event after the other may have been stopped: what comes after is not judged.
    pub fn heed(&mut self, engine: StopPoll) {
        if let Some((why, events)) = engine.stopped() {
            self.judged = self.judged.min(events);
            self.cut_short(why);
        }
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

    /// The execution, if all of it is in memory. Of one whose survey was stopped only the events that are
    /// [judged](Self::judged) are known to be possible.
    pub fn execution(&self, engine: &'static str) -> Result<&'a Execution, EngineError> {
        match self.events {
            Events::InMemory(execution) => Ok(execution),
            _ => Err(EngineError::TooLong {
                engine,
                what: "events",
            }),
        }
    }

    /// The locations that matter to a reordering: at others, the order every correct reordering preserves orders all
    /// conflicting accesses.
    pub fn matter(&mut self) -> Result<FixedBitSet, EngineError> {
        if let Some(matter) = &self.matter {
            return Ok(matter.clone());
        }
        let mut must_order: Judge<MustOrder, _> =
            Judge::new(self.names, FastTrack::new(self.names.locations.len()));
        let shared = self.exposed.shared.clone();
        self.feed(Lowering::Observed, &shared, &mut must_order)?;
        let mut matter = must_order.history.suspects();
        // Atomic accesses keep no order but that each observes what it observed.
        matter.union_with(&self.exposed.atomic);
        self.matter = Some(matter.clone());
        Ok(matter)
    }

    /// Tells an engine all but the plain accesses of locations that do not matter to it, until it has enough.
    pub fn feed(
        &mut self,
        lowering: Lowering,
        only: &FixedBitSet,
        engine: &mut (impl ThreadEngine + Send),
    ) -> Result<(), EngineError> {
        self.feed_each(lowering, &mut [(only, engine)])
    }

    /// Tells several engines, at once, all but the plain accesses of locations that do not matter to them, each until it has
    /// enough. If they are stopped, all of them have judged the events up to [`judged`](Self::judged), and some may have
    /// judged more.
    pub fn feed_each<E: ThreadEngine + Send>(
        &mut self,
        lowering: Lowering,
        engines: &mut [(&FixedBitSet, &mut E)],
    ) -> Result<(), EngineError> {
        let before = f64::from(self.passed);
        self.passed = 1 + self.passed % (PASSES - 1);
        let (progress, stop, most) = (self.progress, self.stop, self.judged);
        let tell = |done: f64| {
            let done = (before + done) * 1000.0;
            progress(done as u64, u64::from(PASSES) * 1000);
        };
        let driver = || Driver::new(self.names, lowering);
        let ends: Vec<ControlFlow<End>> = if let Some(events) = self.events.in_memory() {
            let events = &events[..events.len().min(most as usize)];
            let fed = engines.par_iter_mut().enumerate().map(|(index, told)| {
                let (only, engine) = told;
                // The first speaks for all.
                let tell = |done| {
                    if index == 0 {
                        tell(done)
                    }
                };
                feed_picked(events, only, &mut driver(), *engine, stop, tell)
            });
            fed.collect::<Result<_, _>>()?
        } else {
            let mut told = 0;
            let mut fed: Vec<_> = engines.iter_mut().map(|told| (told, driver())).collect();
            let mut ends = vec![ControlFlow::Continue(()); fed.len()];
            let _ = self.events.each(|window, done| {
                tell(done);
                let first = told + 1;
                let window = &window[..window.len().min((most - told) as usize)];
                told += window.len() as u64;
                let going = fed.par_iter_mut().zip(&mut ends);
                let going = going.filter(|(_, end)| end.is_continue());
                going.try_for_each(|(((only, engine), driver), end)| {
                    *end = feed_window(window, first, only, driver, *engine, stop)?;
                    Ok(())
                })?;
                Ok(match ends.iter().any(ControlFlow::is_continue) {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                })
            })?;
            ends
        };
        for end in ends {
            if let ControlFlow::Break(End::Stopped(why, told)) = end {
                self.judged = self.judged.min(told);
                self.cut_short(why);
            }
        }
        Ok(())
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

    /// Goes through the events, each time with how much is done, from 0 to 1, until there are no more or
    /// `each` breaks off.
    fn each<B>(
        &self,
        mut each: impl FnMut(&[Event], f64) -> Result<ControlFlow<B>, ImpossibleEvent>,
    ) -> Result<ControlFlow<B>, EngineError> {
        let Events::OnDisk(source) = self else {
            let events = self.in_memory().unwrap_or_default();
            let mut done = 0;
            for window in events.chunks(deadheat_trace::WINDOW) {
                done += window.len();
                let flow = each(window, done as f64 / events.len() as f64)?;
                if flow.is_break() {
                    return Ok(flow);
                }
            }
            return Ok(ControlFlow::Continue(()));
        };
        let end = source.for_each(|window| match each(window.events, window.done) {
            Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
            end => ControlFlow::Break(end),
        })?;
        match end {
            ControlFlow::Continue(()) => Ok(ControlFlow::Continue(())),
            ControlFlow::Break(end) => Ok(end?),
        }
    }
}
