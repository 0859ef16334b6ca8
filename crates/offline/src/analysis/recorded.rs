//! A trace that is looked at several times.
//!
//! The first look checks that it is one, and finds what can race at all; all others see only what that
//! leaves. A trace in a file is decoded once, if it is short enough to be kept.

use std::borrow::Cow;
use std::ops::ControlFlow;

use deadheat_model::{Event, EventNumber, Execution, Names};
use deadheat_trace::{Source, TraceError};
use fixedbitset::FixedBitSet;

use super::AnalysisError;
use crate::m2::Progress;
use crate::threads::exposure::{Exposed, Exposure};
use crate::threads::picked::{feed_picked, feed_window};
use crate::threads::{Driver, Lowering, Malformed, ThreadEngine};

/// A trace to be judged.
#[derive(Clone, Copy)]
pub enum Recorded<'a> {
    /// All of it is in memory.
    InMemory(&'a Execution),
    /// It is in a file.
    OnDisk(&'a Source),
}

impl<'a> Recorded<'a> {
    /// What the numbers in its events mean.
    pub fn names(self) -> Result<&'a Names, TraceError> {
        match self {
            Recorded::InMemory(trace) => Ok(&trace.names),
            Recorded::OnDisk(source) => source.names(),
        }
    }
}

/// Up to how many events of a file are kept in memory, so that they are decoded only once. A longer trace is
/// decoded again for each pass, which costs no more than to ask the system for so much memory; unless the
/// method needs it in memory.
const MAX_KEPT: u64 = 1 << 24;

/// A trace that has been looked at once.
pub(super) struct Looked<'a> {
    pub names: &'a Names,
    pub events: Events<'a>,
    pub exposed: Exposed,
    /// How many events there are.
    pub count: u64,
    /// Whether it has orders that another schedule could have made otherwise, besides those of locks.
    pub kept_orders: bool,
    progress: Progress<'a>,
    /// How many passes there will be at most, and how many are done.
    passes: u32,
    passed: u32,
}

pub(super) enum Events<'a> {
    InMemory(Cow<'a, [Event]>),
    OnDisk(&'a Source),
}

impl<'a> Looked<'a> {
    /// Looks at a trace, and checks that it is one.
    pub fn at(
        recorded: Recorded<'a>,
        passes: u32,
        in_memory: bool,
        progress: Progress<'a>,
    ) -> Result<Looked<'a>, AnalysisError> {
        let names = recorded.names()?;
        let mut exposure = Exposure::new(names);
        let mut driver = Driver::new(names, Lowering::HappensBefore);
        let mut kept: Vec<Event> = Vec::new();
        let events = match recorded {
            Recorded::InMemory(trace) => Events::InMemory(Cow::Borrowed(&trace.events)),
            Recorded::OnDisk(source) => {
                let count = source.events()?;
                if count <= MAX_KEPT || in_memory {
                    kept = deadheat_trace::room_for(count)?;
                }
                Events::OnDisk(source)
            }
        };
        let keep = kept.capacity() > 0;
        let mut count = 0;
        events.each(|window, done| {
            count += window.len() as u64;
            progress((done * 1000.0) as u64, u64::from(passes) * 1000);
            if keep {
                kept.extend_from_slice(window);
            }
            driver.feed(window, &mut exposure)
        })?;
        Ok(Looked {
            names,
            events: match keep {
                true => Events::InMemory(Cow::Owned(kept)),
                false => events,
            },
            exposed: exposure.finish(),
            count,
            kept_orders: driver.keeps_orders_of_the_schedule(),
            progress,
            passes,
            passed: 1,
        })
    }

    /// Tells an engine all but the plain accesses of locations that do not matter to it.
    pub fn feed(
        &mut self,
        lowering: Lowering,
        only: &FixedBitSet,
        engine: &mut (impl ThreadEngine + Send),
    ) -> Result<(), AnalysisError> {
        let mut driver = Driver::new(self.names, lowering);
        let before = f64::from(self.passed);
        self.passed += 1;
        let tell = |done: f64| {
            let done = (before + done) * 1000.0;
            (self.progress)(done as u64, u64::from(self.passes) * 1000);
        };
        if let Events::InMemory(events) = &self.events {
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
    /// Goes through the events, each time with how much is done, from 0 to 1.
    fn each(
        &self,
        mut each: impl FnMut(&[Event], f64) -> Result<(), Malformed>,
    ) -> Result<(), AnalysisError> {
        match self {
            Events::InMemory(events) => {
                let mut done = 0;
                for window in events.chunks(deadheat_trace::WINDOW) {
                    done += window.len();
                    each(window, done as f64 / events.len() as f64)?;
                }
                Ok(())
            }
            Events::OnDisk(source) => {
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
    }
}
