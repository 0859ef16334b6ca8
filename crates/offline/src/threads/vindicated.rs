//! DC's races: those of the pairs that DC leaves unordered that have a witness.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::{Execution, Findings, FoundRace, Race, racy};
use rayon::prelude::*;

use super::vindicate::Vindicator;
use crate::engine::EngineError;
use crate::survey::Survey;

/// How many pairs of two places are tried for one that can be vindicated.
pub(super) const TRIED: usize = 16;

/// How many pairs of places are judged in any order.
const AT_ONCE: usize = 64;

/// Of the races under DC those that have a witness.
pub(super) fn vindicated(
    execution: &Execution,
    survey: &mut Survey,
    suspects: Findings,
    all_pairs: bool,
) -> Result<Findings, EngineError> {
    let mut findings = Findings {
        counted: all_pairs && suspects.all_listed || suspects.races.is_empty(),
        all_listed: suspects.all_listed,
        kept_orders: survey.kept_orders,
        judged: suspects.judged,
        ..Findings::default()
    };
    if suspects.races.is_empty() {
        return Ok(findings);
    }
    let judged = execution.events.len().min(survey.judged as usize);
    let vindicator = Vindicator::new(&execution.events[..judged], &execution.names)?;
    let stop = survey.stop;
    let stopped = OnceLock::new();
    let vindicate = |race: &Race| {
        if let Some(why) = stop.due() {
            stopped.get_or_init(|| why);
            return None;
        }
        let witness = vindicator.witness(race.first.event, race.second.event)?;
        Some(FoundRace {
            race: Race { count: 1, ..*race },
            witness: Some(witness),
        })
    };
    let mut races: Vec<Race> = suspects.races.iter().map(|found| found.race).collect();
    races.sort_by_key(|race| (race.places(), race.key()));
    let same = races.chunk_by(|a, b| a.places() == b.places());
    let mut same: Vec<&[Race]> = same.collect();
    // The nearer two accesses are, the less work is a witness, and there may be more than can be done.
    let distance = |race: &Race| race.second.event - race.first.event;
    same.sort_by_key(|races| races.iter().map(distance).min());
    let done = AtomicU64::new(0);
    let judge = |races: &&[Race]| {
        let mut shown: Vec<FoundRace> = Vec::new();
        let mut open: Vec<Race> = Vec::new();
        for race in races.iter() {
            match vindicate(race) {
                Some(race) => shown.push(race),
                None => open.push(*race),
            }
            if !all_pairs && !shown.is_empty() {
                open.clear();
                break;
            }
        }
        if !all_pairs {
            open.truncate(1);
        }
        (survey.progress)(1 + done.fetch_add(1, Ordering::Relaxed), same.len() as u64);
        (shown, open)
    };
    for some in same.chunks(AT_ONCE) {
        let judged: Vec<_> = some.par_iter().map(judge).collect();
        for (shown, open) in judged {
            findings.races.extend(shown);
            findings.undecided.extend(open);
        }
    }
    if let Some(&why) = stopped.get() {
        survey.cut_short(why);
    }
    findings.sort();
    findings.racy = racy(&findings.races);
    Ok(findings)
}
