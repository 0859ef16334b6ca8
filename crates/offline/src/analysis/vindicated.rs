//! DC's races: those of the pairs that DC leaves unordered that have a witness.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::Race;
use rayon::prelude::*;

use super::recorded::{Events, Looked};
use super::{Analysis, AnalysisError, Method, Predicted, Wanted};
use crate::m2::Progress;
use crate::threads::pairs::Found;
use crate::threads::vindicate::Vindicator;

/// How many pairs of two places are tried for one that can be vindicated.
pub(super) const TRIED: usize = 16;

/// Of the races under DC those that have a witness.
pub(super) fn vindicated(
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
    let vindicator = Vindicator::new(events, looked.names)?;
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
