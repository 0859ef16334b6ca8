//! The races under a partial order.
//!
//! Where there is much to compare, a first pass finds the locations that race at all; the last one lists
//! their pairs.

use deadheat_model::{Findings, Names};

use super::Lowering;
use super::accesses::{Finder, Judge};
use super::pairs::Pairs;
use super::partial_order::PartialOrder;
use crate::engine::{EngineError, Options};
use crate::survey::Survey;

/// How many accesses to exposed locations are compared pair by pair right away, at least; and which part of
/// all events. If there are more, those that race are found first, in a pass of its own.
const FEW_ACCESSES: u64 = 1 << 18;
const FEW_OF_ALL: u64 = 32;

/// Which accesses an order is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Those that may race.
    Suspects,
    /// All of locations that are shared: they order others.
    Shared,
}

/// Whether the locations that race are better found before their accesses are compared.
fn has_much_to_compare(survey: &Survey) -> bool {
    survey.exposed.accesses > FEW_ACCESSES.max(survey.count / FEW_OF_ALL)
}

/// Finds the pairs that race under an order; `most` of each pair of places, if not all.
pub(crate) fn by_order<O: PartialOrder, F: Finder>(
    survey: &mut Survey,
    (lowering, needs): (Lowering, Needs),
    finder: impl Fn(&Names) -> F,
    options: &Options,
    most: usize,
) -> Result<Findings, EngineError> {
    let mut suspects = survey.exposed.exposed.clone();
    let only = match needs {
        Needs::Shared => survey.exposed.shared.clone(),
        Needs::Suspects => suspects.clone(),
    };
    if has_much_to_compare(survey) {
        let mut judged: Judge<O, _> = Judge::new(survey.names, finder(survey.names));
        survey.feed(lowering, &only, &mut judged)?;
        suspects.intersect_with(&judged.history.suspects());
    }
    if suspects.is_clear() {
        return Ok(Findings::listed(Vec::new(), true, survey.count));
    }
    let only = match needs {
        Needs::Shared => only,
        Needs::Suspects => suspects.clone(),
    };
    let pairs = Pairs::new(suspects, options.listing, most);
    let mut judged: Judge<O, _> = match survey.exposed.unforked {
        true => Judge::new(survey.names, pairs),
        false => Judge::forgetting(survey.names, pairs),
    };
    survey.feed(lowering, &only, &mut judged)?;
    Ok(judged.history.found(survey.count))
}
