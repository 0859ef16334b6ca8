//! The ways to judge a recorded run of threads, and what each promises.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::{Event, Legend, Location, Race, Trace, Witness};
use deadheat_trace::{Source, TraceError};
use rayon::prelude::*;
use thiserror::Error;

use crate::m2::{self, Progress};
use crate::threads::accesses::{Finder, Judged};
use crate::threads::dc::Dc;
use crate::threads::eraser::{Eraser, Unprotected};
use crate::threads::fasttrack::FastTrack;
use crate::threads::hb::Hb;
use crate::threads::pairs::{Found, Pairs};
use crate::threads::partial_order::PartialOrder;
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
    /// It is read from a file, as often as it takes.
    OnDisk(&'a Source),
}

impl Recorded<'_> {
    /// What the numbers in its events mean.
    pub fn legend(&self) -> Result<&Legend, TraceError> {
        match self {
            Recorded::InMemory(trace) => Ok(&trace.legend),
            Recorded::OnDisk(source) => source.legend(),
        }
    }

    /// Tells an engine all events.
    fn feed(
        &self,
        order: Order,
        engine: &mut impl ThreadEngine,
        progress: &dyn Fn(f64),
    ) -> Result<(), AnalysisError> {
        let mut driver = Driver::new(self.legend()?, order);
        let mut feed = |events: &[Event], done| {
            progress(done);
            driver.feed(events, engine)
        };
        match self {
            Recorded::InMemory(trace) => {
                let all = trace.events.len().max(1) as f64;
                let mut windows = trace.events.chunks(1 << 20).zip(0..);
                windows.try_for_each(|(window, index)| {
                    feed(window, f64::from(index) * (1 << 20) as f64 / all)
                })?;
            }
            Recorded::OnDisk(source) => {
                let end = source.for_each(|window| match feed(window.events, window.done) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(malformed) => ControlFlow::Break(malformed),
                })?;
                if let ControlFlow::Break(malformed) = end {
                    return Err(malformed.into());
                }
            }
        }
        Ok(())
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
    /// It was not read into memory.
    #[error("the engine {} needs the whole trace in memory", method.name())]
    NotInMemory {
        /// The engine.
        method: Method,
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

impl Method {
    /// Judges a trace.
    pub fn analyze(
        self,
        recorded: Recorded,
        wanted: Wanted,
        progress: Progress,
    ) -> Result<Analysis, AnalysisError> {
        let legend = recorded.legend()?;
        let epochs = || FastTrack::new(legend.locations.len());
        match self {
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
                by_order::<Hb>(recorded, VectorClocks::new(legend), wanted, progress)
            }
            Method::FastTrack => by_order::<Hb>(recorded, epochs(), wanted, progress),
            Method::Shb => by_order::<Shb>(recorded, epochs(), wanted, progress),
            Method::Wcp => by_order::<Wcp>(recorded, epochs(), wanted, progress),
            Method::Dc => {
                let Recorded::InMemory(trace) = recorded else {
                    return Err(AnalysisError::NotInMemory { method: self });
                };
                vindicated(trace, wanted, progress)
            }
            Method::Eraser => {
                let mut eraser = Eraser::new(legend);
                recorded.feed(Order::Synchronising, &mut eraser, &half(0.0, progress))?;
                let mut pairs = Unprotected::new(legend, eraser.suspects());
                recorded.feed(Order::Synchronising, &mut pairs, &half(0.5, progress))?;
                Ok(pairs.found().into())
            }
            Method::M2 => {
                let Recorded::InMemory(trace) = recorded else {
                    return Err(AnalysisError::NotInMemory { method: self });
                };
                let found = m2::predict(trace, wanted, progress)?;
                let races = found.races.into_iter().map(|(race, witness)| Predicted {
                    race,
                    witness: Some(witness),
                });
                Ok(Analysis {
                    races: races.collect(),
                    undecided: found.undecided,
                    locations: found.locations,
                    complete: found.complete,
                    counted: found.counted,
                    kept_orders: found.kept_orders,
                })
            }
        }
    }
}

/// Progress through the first or the second pass over a trace.
fn half(part: f64, progress: Progress) -> impl Fn(f64) {
    move |done| progress(((part + done / 2.0) * 1000.0) as u64, 1000)
}

/// Finds the locations that race under an order, then all their pairs.
fn by_order<O: PartialOrder>(
    recorded: Recorded,
    finder: impl Finder,
    wanted: Wanted,
    progress: Progress,
) -> Result<Analysis, AnalysisError> {
    let most = if wanted.all_pairs { usize::MAX } else { 1 };
    Ok(pairs_by_order::<O>(recorded, finder, most, progress)?.into())
}

fn pairs_by_order<O: PartialOrder>(
    recorded: Recorded,
    finder: impl Finder,
    most: usize,
    progress: Progress,
) -> Result<Found, AnalysisError> {
    let legend = recorded.legend()?;
    let mut judged: Judged<O, _> = Judged::new(legend, finder);
    recorded.feed(Order::Synchronising, &mut judged, &half(0.0, progress))?;
    let suspects = judged.history.suspects();
    if suspects.is_clear() {
        return Ok(Found {
            complete: true,
            ..Found::default()
        });
    }
    let mut judged: Judged<O, _> = Judged::new(legend, Pairs::new(suspects, most));
    recorded.feed(Order::Synchronising, &mut judged, &half(0.5, progress))?;
    Ok(judged.history.found())
}

/// The races under DC, of which only those with a witness are races.
fn vindicated(
    trace: &Trace,
    wanted: Wanted,
    progress: Progress,
) -> Result<Analysis, AnalysisError> {
    let finder = FastTrack::new(trace.legend.locations.len());
    let most = if wanted.all_pairs {
        usize::MAX
    } else {
        VINDICATED
    };
    let found = pairs_by_order::<Dc>(Recorded::InMemory(trace), finder, most, progress)?;
    let mut analysis = Analysis {
        complete: found.complete,
        counted: wanted.all_pairs && found.complete,
        ..Analysis::default()
    };
    if found.races.is_empty() {
        analysis.counted = true;
        return Ok(analysis);
    }
    let vindicator = Vindicator::new(&trace.events, &trace.legend)?;
    let vindicate = |race: Race| {
        let then = vindicator.witness(race.first.event, race.second.event)?;
        let witness = Witness {
            then,
            ..Witness::default()
        };
        let race = Race { count: 1, ..race };
        Some(Predicted {
            race,
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
        let shown: Vec<Predicted> = match wanted.all_pairs {
            true => races.iter().copied().filter_map(vindicate).collect(),
            false => races
                .iter()
                .copied()
                .find_map(vindicate)
                .into_iter()
                .collect(),
        };
        progress(1 + done.fetch_add(1, Ordering::Relaxed), same.len() as u64);
        (shown, races)
    });
    let judged: Vec<_> = judged.collect();
    for (shown, races) in judged {
        let is_shown = |race: &&Race| {
            shown
                .iter()
                .any(|shown| shown.race.first == race.first && shown.race.second == race.second)
        };
        match wanted.all_pairs {
            true => analysis
                .undecided
                .extend(races.iter().filter(|race| !is_shown(race))),
            false if shown.is_empty() => analysis.undecided.push(races[0]),
            false => {}
        }
        analysis
            .locations
            .extend(shown.iter().map(|shown| shown.race.location));
        analysis.races.extend(shown);
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
