//! What an explanation of an execution's races proves.

use crate::explain::ExplainReport;
use crate::text::style::{counted, grouped};

/// What is known about the races that were explained.
pub(crate) fn of_explanation(report: &ExplainReport) -> String {
    let mut sentence = promise(report);
    let counts = report.counts;
    let chance = [
        (
            counts.undecided,
            "that only chance has ordered may race in another schedule: that was not decided",
        ),
        (
            counts.if_reads_differ,
            "may race in a schedule in which a read sees another value",
        ),
    ];
    for (count, what) in chance.into_iter().filter(|(count, _)| *count > 0) {
        let pairs = super::pairs_of_places(count);
        super::add(&mut sentence, format!("{pairs} {what}"));
    }
    for limit in &report.limits {
        super::add(&mut sentence, super::clause(limit));
    }
    sentence + &report.left_out.sentence()
}

fn promise(report: &ExplainReport) -> String {
    let counts = report.counts;
    if counts.races == 0 {
        return match report.bounds[..] {
            [] => "no two conflicting accesses were left unordered in this run, and none was predicted".to_string(),
            _ => format!("no race found so far; {}", report.bounds.join("; ")),
        };
    }
    let mut sentence = match counts.apparent {
        0 => "nothing races in this run as it was".to_string(),
        apparent => format!(
            "{} at {} of places; {} to fix first: some schedule shows each of them before any other race, so \
             none is caused by another",
            counted(report.apparent, "apparent race"),
            counted(apparent, "pair"),
            grouped(counts.first),
        ),
    };
    if counts.tangled > 0 {
        let which = match counts.tangled {
            1 => "1 is",
            _ => "the tangled ones are",
        };
        super::add(
            &mut sentence,
            format!("{which} not known to be possible at all"),
        );
    }
    if counts.predicted > 0 {
        let predicted = counted(counts.predicted, "race");
        super::add(
            &mut sentence,
            format!("{predicted} shown by a reordering that was checked"),
        );
    }
    for bound in &report.bounds {
        super::add(&mut sentence, bound);
    }
    sentence
}
