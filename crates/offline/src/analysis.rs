//! The ways to judge a recorded run of threads, and what each promises.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::{Event, EventNumber, Legend, Location, Race, Trace, Witness};
use deadheat_trace::{Source, TraceError};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use thiserror::Error;

use crate::m2::{self, Progress};
use crate::threads::accesses::{Finder, Judged};
use crate::threads::dc::Dc;
use crate::threads::eraser::{Eraser, Unprotected};
use crate::threads::exposure::{Exposed, Exposure};
use crate::threads::fasttrack::FastTrack;
use crate::threads::hb::Hb;
use crate::threads::pairs::{Found, Pairs};
use crate::threads::partial_order::PartialOrder;
use crate::threads::picked::{feed_picked, feed_window};
use crate::threads::shb::Shb;
use crate::threads::vector_clocks::VectorClocks;
use crate::threads::vindicate::Vindicator;
use crate::threads::wcp::Wcp;
use crate::threads::{Driver, Malformed, Order, ThreadEngine};

/// A way to judge a recorded run of threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Method {
    Hb,
    FastTrack,
    Shb,
    Wcp,
    Dc,
    M2,
    Eraser,
}

/// What a method's races are worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promise {
    /// The first of them can happen; a later one may be there only because of what the first did.
    FirstIsReal,
    /// Every one of them can happen.
    AllAreReal,
    /// Every one of them comes with a witness.
    AllAreShown,
    /// None of them need be possible.
    None,
}

impl Method {
    /// Every method, from the strongest order to the weakest, and then what is no order.
    pub const ALL: [Method; 7] = [
        Method::Hb,
        Method::FastTrack,
        Method::Shb,
        Method::Wcp,
        Method::Dc,
        Method::M2,
        Method::Eraser,
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Hb => "hb",
            Method::FastTrack => "fasttrack",
            Method::Shb => "shb",
            Method::Wcp => "wcp",
            Method::Dc => "dc",
            Method::M2 => "m2",
            Method::Eraser => "eraser",
        }
    }

    /// What its races are worth.
    pub fn promise(self) -> Promise {
        match self {
            Method::Hb | Method::FastTrack | Method::Wcp => Promise::FirstIsReal,
            Method::Shb => Promise::AllAreReal,
            Method::Dc | Method::M2 => Promise::AllAreShown,
            Method::Eraser => Promise::None,
        }
    }

    /// Whether it needs the whole trace in memory.
    pub fn needs_memory(self) -> bool {
        matches!(self, Method::Dc | Method::M2)
    }
}

/// A trace to be judged.
#[derive(Clone, Copy)]
pub enum Recorded<'a> {
    /// All of it is in memory.
    InMemory(&'a Trace),
    /// It is in a file.
    OnDisk(&'a Source),
}

impl<'a> Recorded<'a> {
    /// What the numbers in its events mean.
    pub fn legend(self) -> Result<&'a Legend, TraceError> {
        match self {
            Recorded::InMemory(trace) => Ok(&trace.legend),
            Recorded::OnDisk(source) => source.legend(),
        }
    }
}

/// Up to how many events of a file are kept in memory, so that they are decoded only once. A longer trace is
/// decoded again for each pass, which costs no more than to ask the system for so much memory; unless the
/// method needs it in memory.
const MAX_KEPT: u64 = 1 << 24;

/// A trace that has been looked at once.
struct Looked<'a> {
    legend: &'a Legend,
    events: Events<'a>,
    exposed: Exposed,
    /// How many events there are.
    count: u64,
    /// Whether it has orders that another schedule could have made otherwise, besides those of locks.
    kept_orders: bool,
    progress: Progress<'a>,
    /// How many passes there will be at most, and how many are done.
    passes: u32,
    passed: u32,
}

enum Events<'a> {
    InMemory(Cow<'a, [Event]>),
    OnDisk(&'a Source),
}

impl<'a> Looked<'a> {
    /// Looks at a trace, and checks that it is one.
    fn at(
        recorded: Recorded<'a>,
        passes: u32,
        in_memory: bool,
        progress: Progress<'a>,
    ) -> Result<Looked<'a>, AnalysisError> {
        let legend = recorded.legend()?;
        let mut exposure = Exposure::new(legend);
        let mut driver = Driver::new(legend, Order::Synchronising);
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
            legend,
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
    fn feed(
        &mut self,
        order: Order,
        only: &FixedBitSet,
        engine: &mut (impl ThreadEngine + Send),
    ) -> Result<(), AnalysisError> {
        let mut driver = Driver::new(self.legend, order);
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

/// Why a trace could not be judged.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// No program could have produced it.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] TraceError),
    /// It has too many threads and variables.
    #[error(
        "{strands} threads and {locations} variables are too many for the engine {}: it would take \
         {bytes} bytes. Use fasttrack, which finds the same races",
        method.name()
    )]
    TooLarge {
        /// The engine.
        method: Method,
        /// How many threads.
        strands: usize,
        /// How many variables.
        locations: usize,
        /// What it would take.
        bytes: usize,
    },
    /// It has more events, or names, than there are numbers for.
    #[error("the trace has more {what} than the engine {} has numbers for", method.name())]
    TooLong {
        /// The engine.
        method: Method,
        /// Events, variables or locks.
        what: &'static str,
    },
}

/// What is wanted of an analysis.
pub type Wanted = m2::Wanted;

/// A race and, where the method gives one, its witness.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The race.
    pub race: Race,
    /// Its witness.
    pub witness: Option<Witness>,
}

/// What a method found.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The races, in the order of their second accesses.
    pub races: Vec<Predicted>,
    /// Pairs of which it is not known whether they race.
    pub undecided: Vec<Race>,
    /// The variables that race.
    pub locations: Vec<Location>,
    /// Whether these are all that the method can find; for M2, all that there are.
    pub complete: bool,
    /// Whether the counts are exact.
    pub counted: bool,
    /// Whether orders of semaphores, flags, atomics or readers of a lock were kept as recorded.
    pub kept_orders: bool,
}

/// How many pairs of two places are tried for one that can be vindicated.
const VINDICATED: usize = 16;

/// The largest table of clocks.
const MAX_BYTES: usize = 8 << 30;

/// How many accesses to exposed locations are compared pair by pair right away, at least; and which part of
/// all events. If there are more, those that race are found first, in a pass of its own.
const FEW_ACCESSES: u64 = 1 << 18;
const FEW_OF_ALL: u64 = 32;

impl Method {
    /// Judges a trace.
    pub fn analyze(
        self,
        recorded: Recorded,
        wanted: Wanted,
        progress: Progress,
    ) -> Result<Analysis, AnalysisError> {
        let mut looked = Looked::at(recorded, 3, self.needs_memory(), progress)?;
        let legend = looked.legend;
        let epochs = || FastTrack::new(legend.locations.len());
        let most = if wanted.all_pairs { usize::MAX } else { 1 };
        let found = match self {
            Method::Hb => {
                let bytes = VectorClocks::bytes(legend).unwrap_or(usize::MAX);
                if bytes > MAX_BYTES {
                    return Err(AnalysisError::TooLarge {
                        method: self,
                        strands: legend.strands.len(),
                        locations: legend.locations.len(),
                        bytes,
                    });
                }
                let clocks = || VectorClocks::new(legend);
                by_order::<Hb, _>(&mut looked, Order::Synchronising, false, clocks, most)?
            }
            Method::FastTrack => {
                by_order::<Hb, _>(&mut looked, Order::Synchronising, false, epochs, most)?
            }
            Method::Shb => {
                by_order::<Shb, _>(&mut looked, Order::Synchronising, true, epochs, most)?
            }
            Method::Wcp => by_order::<Wcp, _>(&mut looked, Order::Kept, true, epochs, most)?,
            Method::Dc => {
                let most = if wanted.all_pairs { most } else { VINDICATED };
                let found = by_order::<Dc, _>(&mut looked, Order::Kept, true, epochs, most)?;
                return vindicated(&looked, found, wanted, progress);
            }
            Method::Eraser => {
                let all = looked.exposed.shared.clone();
                let mut eraser = Eraser::new(legend);
                looked.feed(Order::Synchronising, &all, &mut eraser)?;
                let mut pairs = Unprotected::new(legend, eraser.suspects());
                looked.feed(Order::Synchronising, &all, &mut pairs)?;
                pairs.found()
            }
            Method::M2 => {
                let Events::InMemory(events) = &looked.events else {
                    return Err(AnalysisError::TooLong {
                        method: self,
                        what: "events",
                    });
                };
                let found = m2::predict(events, legend, &looked.exposed, wanted, progress)?;
                let races = found.races.into_iter().map(|(race, witness)| Predicted {
                    race,
                    witness: Some(witness),
                });
                return Ok(Analysis {
                    races: races.collect(),
                    undecided: found.undecided,
                    locations: found.locations,
                    complete: found.complete && !looked.kept_orders,
                    counted: found.counted,
                    kept_orders: looked.kept_orders,
                });
            }
        };
        Ok(found.into())
    }
}

/// Finds the pairs that race under an order. Some orders depend on what is shared, all others on nothing
/// but what may race.
fn by_order<O: PartialOrder, F: Finder>(
    looked: &mut Looked,
    order: Order,
    by_accesses: bool,
    finder: impl Fn() -> F,
    most: usize,
) -> Result<Found, AnalysisError> {
    let mut suspects = looked.exposed.exposed.clone();
    let only = match by_accesses {
        true => looked.exposed.shared.clone(),
        false => suspects.clone(),
    };
    if looked.exposed.accesses > FEW_ACCESSES.max(looked.count / FEW_OF_ALL) {
        let mut judged: Judged<O, _> = Judged::new(looked.legend, finder());
        looked.feed(order, &only, &mut judged)?;
        suspects.intersect_with(&judged.history.suspects());
    }
    if suspects.is_clear() {
        return Ok(Found {
            complete: true,
            ..Found::default()
        });
    }
    let only = if by_accesses { only } else { suspects.clone() };
    let mut judged: Judged<O, _> = Judged::new(looked.legend, Pairs::new(suspects, most));
    looked.feed(order, &only, &mut judged)?;
    Ok(judged.history.found())
}

/// Of the races under DC those that have a witness.
fn vindicated(
    looked: &Looked,
    found: Found,
    wanted: Wanted,
    progress: Progress,
) -> Result<Analysis, AnalysisError> {
    let mut analysis = Analysis {
        complete: found.complete,
        counted: wanted.all_pairs && found.complete || found.races.is_empty(),
        kept_orders: looked.kept_orders,
        ..Analysis::default()
    };
    let Events::InMemory(events) = &looked.events else {
        return Err(AnalysisError::TooLong {
            method: Method::Dc,
            what: "events",
        });
    };
    if found.races.is_empty() {
        return Ok(analysis);
    }
    let vindicator = Vindicator::new(events, looked.legend)?;
    let vindicate = |race: &Race| {
        let witness = vindicator.witness(race.first.event, race.second.event)?;
        Some(Predicted {
            race: Race { count: 1, ..*race },
            witness: Some(witness),
        })
    };
    let places = |race: &Race| {
        let (a, b) = (race.first.site, race.second.site);
        (a.min(b), a.max(b))
    };
    let mut races = found.races;
    races.sort_by_key(|race| (places(race), race.second.event, race.first.event));
    let same: Vec<&[Race]> = races.chunk_by(|a, b| places(a) == places(b)).collect();
    let done = AtomicU64::new(0);
    let judged = same.par_iter().map(|races| {
        let mut shown: Vec<Predicted> = Vec::new();
        let mut open: Vec<Race> = Vec::new();
        for race in races.iter() {
            match vindicate(race) {
                Some(race) => shown.push(race),
                None => open.push(*race),
            }
            if !wanted.all_pairs && !shown.is_empty() {
                open.clear();
                break;
            }
        }
        if !wanted.all_pairs {
            open.truncate(1);
        }
        progress(1 + done.fetch_add(1, Ordering::Relaxed), same.len() as u64);
        (shown, open)
    });
    for (shown, open) in judged.collect::<Vec<_>>() {
        analysis
            .locations
            .extend(shown.iter().map(|shown| shown.race.location));
        analysis.races.extend(shown);
        analysis.undecided.extend(open);
    }
    analysis
        .races
        .sort_by_key(|shown| (shown.race.second.event, shown.race.first.event));
    analysis
        .undecided
        .sort_by_key(|race| (race.second.event, race.first.event));
    analysis.locations.sort_unstable();
    analysis.locations.dedup();
    Ok(analysis)
}

impl From<Found> for Analysis {
    fn from(found: Found) -> Analysis {
        let races = found.races.into_iter().map(|race| Predicted {
            race,
            witness: None,
        });
        Analysis {
            races: races.collect(),
            undecided: Vec::new(),
            locations: found.locations,
            complete: found.complete,
            counted: found.complete,
            kept_orders: false,
        }
    }
}
