//! M2 (Pavlogiannis, POPL 2020): predicts races that did not happen, each with a witness.
//!
//! Two accesses of a trace race if some correct reordering of it (each strand does a beginning of what
//! it did, and each read observes the write that it observed) brings both to be next. That is what M2
//! looks for:
//! - [`exposure`](crate::threads::exposure) finds the locations that can race at all, and of those whose
//!   accesses every correct reordering keeps in order, which do not matter;
//! - [`candidates`] takes the trace apart into what matters ([`skeleton`]), and finds the pairs of
//!   accesses that may race;
//! - [`decide`] looks for a witness of a pair.
//!
//! Guarantee: every race has a witness. With two strands none is missed; with more, pairs for which no
//! witness was found although nothing excludes one are listed as undecided, so that what is not listed
//! at all is no race. [`Search::Exact`](decide::Search::Exact) decides these too, in time that may be exponential.
//!
//! Cost: two passes, 16 bytes for each event that matters, and for each pair what has to move.

pub mod candidates;
pub mod decide;
mod hunt;
pub mod skeleton;
pub mod window;
mod witness;

use std::collections::BTreeMap;

use deadheat_model::{Event, Legend, Location, Race, Site, Witness};

use crate::threads::accesses::{Finder, Judged};
use crate::threads::exposure::Exposed;
use crate::threads::fasttrack::FastTrack;
use crate::threads::picked::feed_picked;
use crate::threads::shb::Kept;
use crate::threads::{Driver, Malformed, Order};
use candidates::{Collector, Meeting};
use decide::Budget;
use hunt::{Hunt, Places};
pub use witness::witness;

/// What is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Every pair of events, and not one for each pair of places.
    pub all_pairs: bool,
    /// What is left open is decided by exact search, within these bounds.
    pub complete: Option<Budget>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// The races, in the order of their second accesses, each with a witness.
    pub races: Vec<(Race, Witness)>,
    /// Pairs of which it is not known whether they race: of each pair of places that has no race, one,
    /// counting all; or each, if every pair is wanted.
    pub undecided: Vec<Race>,
    /// The locations that race.
    pub locations: Vec<Location>,
    /// Whether nothing is undecided.
    pub complete: bool,
    /// Whether the counts of races are exact, and not only what was tried.
    pub counted: bool,
}

/// How far the search has got: done and all.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Predicts the races of a trace, of which it is known which locations are exposed.
pub fn predict(
    events: &[Event],
    legend: &Legend,
    exposed: &Exposed,
    wanted: Wanted,
    progress: Progress,
) -> Result<Prediction, Malformed> {
    // The locations that matter: at others, what every reordering keeps orders all conflicting accesses.
    let mut kept: Judged<Kept, _> = Judged::new(legend, FastTrack::new(legend.locations.len()));
    let mut driver = Driver::new(legend, Order::Kept);
    feed_picked(events, &exposed.shared, &mut driver, &mut kept, |_| {})?;
    let matter = kept.history.suspects();
    let mut can_race = matter.clone();
    can_race.intersect_with(&exposed.exposed);
    if can_race.is_clear() {
        return Ok(Prediction {
            complete: true,
            counted: true,
            ..Prediction::default()
        });
    }
    let mut collector = Collector::new(legend, &matter, &can_race);
    let mut driver = Driver::new(legend, Order::Kept);
    feed_picked(events, &matter, &mut driver, &mut collector, |_| {})?;
    let (skeleton, candidates) = collector.finish();
    let mut by_places: BTreeMap<(Site, Site), Vec<Vec<Meeting>>> = BTreeMap::new();
    for (_, mut meetings) in candidates.meetings(&skeleton) {
        meetings.sort_by_key(Meeting::places);
        for same in meetings.chunk_by(|a, b| a.places() == b.places()) {
            let locations = by_places.entry(same[0].places()).or_default();
            locations.push(same.to_vec());
        }
    }
    let places = by_places.into_values();
    let places: Vec<Places> = places.map(|locations| Places { locations }).collect();
    let hunt = Hunt {
        skeleton: &skeleton,
        wanted,
    };
    let witness = |pair, found: &_| witness(&skeleton, events, pair, found);
    Ok(hunt.all(&places, witness, progress))
}
