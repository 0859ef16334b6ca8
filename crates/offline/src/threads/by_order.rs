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

/// Finds the pairs that race under an order `O`; `most` of each pair of places, if not all. The locations that can race are
/// found by an order that `O` contains.
pub(crate) fn by_order<Contained: PartialOrder, O: PartialOrder, F: Finder>(
    survey: &mut Survey,
    lowering: Lowering,
    finder: impl Fn(&Names) -> F,
    options: &Options,
    most: usize,
) -> Result<Findings, EngineError> {
    let mut suspects = survey.exposed.exposed.clone();
    if has_much_to_compare(survey) {
        let only = told::<Contained>(survey, &suspects);
        let nearly_all = suspects.count_ones(..) / 4 * NEARLY_ALL + 1;
        let finder = finder(survey.names);
        let mut judged: Judge<Contained, _> = Judge::until(survey.names, finder, nearly_all);
        survey.feed(lowering, &only, &mut judged)?;
        if !judged.has_enough() {
            suspects.intersect_with(&judged.history.suspects());
        }
    }
    if suspects.is_clear() {
        return Ok(Findings::listed(Vec::new(), true, survey.count));
    }
    let only = told::<O>(survey, &suspects);
    let pairs = Pairs::new(suspects, options.listing, most);
    let mut judged: Judge<O, _> = match survey.exposed.unforked {
        true => Judge::new(survey.names, pairs),
        false => Judge::forgetful(survey.names, pairs),
    };
    survey.feed(lowering, &only, &mut judged)?;
    Ok(judged.history.found(survey.count))
}
