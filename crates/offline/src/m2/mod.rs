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

use deadheat_model::{Event, Location, Names, Race, Site, Witness};

use crate::threads::accesses::{Finder, Judged};
use crate::threads::exposure::Exposed;
use crate::threads::fasttrack::FastTrack;
use crate::threads::pairs::MAX_PAIRS;
use crate::threads::picked::feed_picked;
use crate::threads::shb::Kept;
use crate::threads::{Driver, Lowering, Malformed};
use candidates::{Candidates, Collector, Meeting, Meetings};
use decide::Budget;
use hunt::{Hunt, Places};
use skeleton::Skeleton;
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
    names: &Names,
    exposed: &Exposed,
    wanted: Wanted,
    progress: Progress,
) -> Result<Prediction, Malformed> {
    // The locations that matter: at others, what every reordering keeps orders all conflicting accesses.
    let mut kept: Judged<Kept, _> = Judged::new(names, FastTrack::new(names.locations.len()));
    let mut driver = Driver::new(names, Lowering::Preserved);
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
    let mut collector = Collector::new(names, &matter, &can_race);
    let mut driver = Driver::new(names, Lowering::Preserved);
    feed_picked(events, &matter, &mut driver, &mut collector, |_| {})?;
    let (skeleton, candidates) = collector.finish();
    let (by_places, all) = by_places(&candidates, &skeleton);
    let places = by_places.into_values();
    let places: Vec<Places> = places.map(|locations| Places { locations }).collect();
    let hunt = Hunt::new(&skeleton, wanted);
    let witness = |pair, found: &_| witness(&skeleton, events, pair, found);
    let mut prediction = hunt.all(&places, witness, progress);
    prediction.complete &= all;
    prediction.counted &= all;
    Ok(prediction)
}

/// What may race at two places: by location, the groups that may meet.
type ByPlaces<'a> = BTreeMap<(Site, Site), Vec<Vec<Meeting<'a>>>>;

/// What may race, by the two places; and whether that is all. If there are more pairs of places than
/// anybody can look at, a location's first ones have to do for those that come after.
fn by_places<'a>(candidates: &'a Candidates, skeleton: &'a Skeleton) -> (ByPlaces<'a>, bool) {
    let mut by_places = ByPlaces::new();
    let mut complete = true;
    for Meetings { mut meetings, all } in candidates.meetings(skeleton) {
        complete &= all;
        meetings.sort_unstable_by_key(Meeting::places);
        let mut kept = 0;
        while let Some(places) = meetings.last().map(Meeting::places) {
            let same = meetings.iter().rev().take_while(|m| m.places() == places);
            let start = meetings.len() - same.count();
            // Mostly all are left: with very many threads there is no room for another copy of them.
            let same = match start {
                0 => std::mem::take(&mut meetings),
                _ => meetings.split_off(start),
            };
            let full = by_places.len() >= MAX_PAIRS && kept > 0;
            if full && !by_places.contains_key(&places) {
                complete = false;
                continue;
            }
            kept += 1;
            by_places.entry(places).or_default().push(same);
        }
    }
    (by_places, complete)
}
