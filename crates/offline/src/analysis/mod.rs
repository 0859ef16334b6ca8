//! The ways to judge a recorded run of threads, and what each promises.

mod recorded;
mod vindicated;

use deadheat_model::{Location, Race, Witness};
use deadheat_trace::TraceError;
use fixedbitset::FixedBitSet;
use thiserror::Error;

use crate::m2::skeleton::{MAX_EVENTS, MAX_OBJECTS};
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
use crate::threads::wcp::Wcp;
use crate::threads::{Lowering, Malformed};
pub use recorded::Recorded;
use recorded::{Events, Looked};

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
        let names = looked.names;
        let epochs = || FastTrack::new(names.locations.len());
        let most = if wanted.all_pairs { usize::MAX } else { 1 };
        let found = match self {
            Method::Hb => {
                let bytes = VectorClocks::bytes(names).unwrap_or(usize::MAX);
                if bytes > MAX_BYTES && has_much_to_compare(&looked) {
                    return Err(AnalysisError::TooLarge {
                        method: self,
                        strands: names.strands.len(),
                        locations: names.locations.len(),
                        bytes,
                    });
                }
                let clocks = || VectorClocks::new(names);
                by_order::<Hb, _>(&mut looked, Lowering::HappensBefore, false, clocks, most)?
            }
            Method::FastTrack => {
                by_order::<Hb, _>(&mut looked, Lowering::HappensBefore, false, epochs, most)?
            }
            Method::Shb => {
                by_order::<Shb, _>(&mut looked, Lowering::HappensBefore, true, epochs, most)?
            }
            Method::Wcp => {
                by_order::<Wcp, _>(&mut looked, Lowering::Preserved, true, epochs, most)?
            }
            Method::Dc => {
                let most = if wanted.all_pairs {
                    most
                } else {
                    vindicated::TRIED
                };
                let found =
                    by_order::<Dc, _>(&mut looked, Lowering::Preserved, true, epochs, most)?;
                return vindicated::vindicated(&looked, found, wanted, progress);
            }
            Method::Eraser => {
                // It knows nothing of order, so it looks at what was handed over as well.
                let mut all = FixedBitSet::with_capacity(names.locations.len());
                all.insert_range(..);
                let mut eraser = Eraser::new(names);
                looked.feed(Lowering::HappensBefore, &all, &mut eraser)?;
                let mut pairs = Unprotected::new(names, eraser.suspects());
                looked.feed(Lowering::HappensBefore, &all, &mut pairs)?;
                pairs.found()
            }
            Method::M2 => {
                let too_long = |what| AnalysisError::TooLong { method: self, what };
                let Events::InMemory(events) = &looked.events else {
                    return Err(too_long("events"));
                };
                let tables = [
                    ("events", events.len(), MAX_EVENTS as usize),
                    ("variables", names.locations.len(), MAX_OBJECTS),
                    ("locks", names.lock_count(), MAX_OBJECTS),
                ];
                if let Some((what, ..)) = tables.iter().find(|(_, has, most)| has > most) {
                    return Err(too_long(what));
                }
                let found = m2::predict(events, names, &looked.exposed, wanted, progress)?;
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

/// Whether the locations that race are better found before their accesses are compared.
fn has_much_to_compare(looked: &Looked) -> bool {
    looked.exposed.accesses > FEW_ACCESSES.max(looked.count / FEW_OF_ALL)
}

/// Finds the pairs that race under an order. Some orders depend on what is shared, all others on nothing
/// but what may race.
fn by_order<O: PartialOrder, F: Finder>(
    looked: &mut Looked,
    lowering: Lowering,
    by_accesses: bool,
    finder: impl Fn() -> F,
    most: usize,
) -> Result<Found, AnalysisError> {
    let mut suspects = looked.exposed.exposed.clone();
    let only = match by_accesses {
        true => looked.exposed.shared.clone(),
        false => suspects.clone(),
    };
    if has_much_to_compare(looked) {
        let mut judged: Judged<O, _> = Judged::new(looked.names, finder());
        looked.feed(lowering, &only, &mut judged)?;
        suspects.intersect_with(&judged.history.suspects());
    }
    if suspects.is_clear() {
        return Ok(Found {
            complete: true,
            ..Found::default()
        });
    }
    let only = if by_accesses { only } else { suspects.clone() };
    let mut judged: Judged<O, _> = Judged::new(looked.names, Pairs::new(suspects, most));
    looked.feed(lowering, &only, &mut judged)?;
    Ok(judged.history.found())
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
