//! The races under a partial order.
//!
//! Where there is much to compare, a first pass finds the locations that race at all; the last one lists
//! their pairs. If nearly all race, the first pass ends as soon as that is known: there is little to leave out.

use deadheat_model::{Findings, Names};
use fixedbitset::FixedBitSet;

use super::accesses::{Finder, Judge};
use super::pairs::Pairs;
use super::partial_order::PartialOrder;
use super::{Lowering, ThreadEngine};
use crate::engine::{EngineError, Options};
use crate::survey::Survey;

/// How many accesses to exposed locations are compared pair by pair right away, at least; and which part of
/// all events. If there are more, those that race are found first, in a pass of its own.
const FEW_ACCESSES: u64 = 1 << 18;
const FEW_OF_ALL: u64 = 32;

/// Into how many parts the locations are dealt then, each looked at by itself, at once. It is the same on every machine, because
/// each has its own bounds.
pub(super) const HALVES: usize = 2;

/// How many of four exposed locations are nearly all.
const NEARLY_ALL: usize = 3;

/// Whether the locations that race are better found before their accesses are compared.
fn has_much_to_compare(survey: &Survey) -> bool {
    survey.exposed.accesses > FEW_ACCESSES.max(survey.count / FEW_OF_ALL)
}

/// The locations whose accesses an order is told, if only the races of some are of interest: those that others are ordered
/// by, too.
fn told<O: PartialOrder>(survey: &Survey, suspects: &FixedBitSet) -> FixedBitSet {
    match O::BY_ACCESSES {
        true => survey.exposed.shared.clone(),
        false => suspects.clone(),
    }
}

/// Deals out the locations of a set, as evenly as their numbers say.
fn dealt(locations: &FixedBitSet) -> Vec<FixedBitSet> {
    let halves = (0..HALVES).map(|half| {
        let mut dealt = FixedBitSet::with_capacity(locations.len());
        dealt.extend(locations.ones().skip(half).step_by(HALVES));
        dealt
    });
    halves.collect()
}

/// Finds the pairs that race under an order `O`; `most` of each pair of places, if not all. The locations that can race are
/// found by an order that `O` contains.
pub(crate) fn by_order<Contained: PartialOrder, O: PartialOrder, F: Finder>(
    survey: &mut Survey,
    lowering: Lowering,
    finder: impl Fn(&Names) -> F,
    options: &Options,
    most: usize,
) -> Result<Findings, EngineError> {
    let names = survey.names;
    let mut suspects = vec![survey.exposed.exposed.clone()];
    if has_much_to_compare(survey) {
        // By an order that is told everything, each half would find all that the other finds.
        if !Contained::BY_ACCESSES {
            suspects = dealt(&suspects[0]);
        }
        let told = suspects.iter().map(|some| told::<Contained>(survey, some));
        let told: Vec<FixedBitSet> = told.collect();
        let judges = suspects.iter().map(|some| {
            let nearly_all = some.count_ones(..) / 4 * NEARLY_ALL + 1;
            Judge::<Contained, _>::until(names, finder(names), nearly_all)
        });
        let mut judges: Vec<_> = judges.collect();
        let mut engines: Vec<_> = told.iter().zip(&mut judges).collect();
        survey.feed_each(lowering, &mut engines)?;
        let mut all = FixedBitSet::with_capacity(names.locations.len());
        for (mut some, judge) in suspects.into_iter().zip(judges) {
            if !judge.has_enough() {
                some.intersect_with(&judge.history.suspects());
            }
            all.union_with(&some);
        }
        suspects = dealt(&all);
    }
    if suspects.iter().all(FixedBitSet::is_clear) {
        return Ok(Findings::listed(Vec::new(), true, survey.count));
    }
    let told = suspects.iter().map(|some| told::<O>(survey, some));
    let told: Vec<FixedBitSet> = told.collect();
    let judges = suspects.into_iter().map(|some| {
        let pairs = Pairs::new(some, options.listing, most);
        match survey.exposed.unforked {
            true => Judge::<O, _>::new(names, pairs),
            false => Judge::forgetful(names, pairs),
        }
    });
    let mut judges: Vec<_> = judges.collect();
    let mut engines: Vec<_> = told.iter().zip(&mut judges).collect();
    survey.feed_each(lowering, &mut engines)?;
    let pairs = judges.into_iter().map(|judge| judge.history);
    let pairs = pairs.reduce(Pairs::and);
    Ok(pairs.map_or_else(Findings::default, |pairs| pairs.found(survey.count)))
}
