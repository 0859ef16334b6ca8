//! Findings and verdicts for people to read in a terminal. Styled: whoever prints it strips the colours where they do not
//! belong.

mod compare;
pub(crate) mod excerpt;
mod explanation;
mod program;
mod run;
pub(crate) mod style;
mod trace;

pub use compare::Comparison;
pub use program::diagnostics;
pub(crate) use program::shortened;
pub use run::{finding, recorded};

use std::borrow::Borrow;

use annotate_snippets::{Group, Level};
use deadheat_model::Finding;
use deadheat_model::finding::Bug;

use crate::sources::Sources;
use crate::words;
use excerpt::Mark;
use style::{counted, identity, renderer};

/// How many sides of a finding are shown in their source.
const MAX_SIDES: usize = 50;

/// How many other races of a bug are listed.
const MAX_OTHERS: usize = 20;

/// A finding as compilers show errors: what is wrong, where, what else is known, what would help. `more` follows what is
/// wrong, `notes` what is known.
pub(crate) fn block(sources: &Sources, finding: &Finding, more: &str, notes: &[String]) -> String {
    let marks = Mark::of_finding(sources, finding, MAX_SIDES);
    let title = words::title(finding) + more + &identity(finding);
    let level = Level::ERROR.with_name(Some(words::called_with_status(finding)));
    let mut group = excerpt::shown(Group::with_title(level.primary_title(title)), &marks);
    let known = words::notes(finding, marks.len());
    for note in known.iter().chain(notes) {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(advice) = words::advice(finding) {
        group = group.element(Level::HELP.message(advice));
    }
    renderer().render(&[group]) + "\n\n"
}

/// The other races of a bug, a line each.
pub(crate) fn others<'f>(
    lead: &Finding,
    others: impl Iterator<Item = &'f Finding>,
) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for other in others {
        let line = words::as_other(lead, other) + &identity(other);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return None;
    }
    let hidden = lines.len().saturating_sub(MAX_OTHERS) as u64;
    let count = counted(lines.len() as u64, "other race");
    lines.truncate(MAX_OTHERS);
    if hidden > 0 {
        lines.push(format!("and {}; --json lists all", counted(hidden, "more")));
    }
    Some(format!(
        "the same bug shows in {count}:\n  {}",
        lines.join("\n  ")
    ))
}

/// The findings of a bug: the first of them, and the others.
pub(crate) fn of_bug<'f, F: Borrow<Finding>>(
    findings: &'f [F],
    bug: &'f Bug,
) -> (&'f Finding, impl Iterator<Item = &'f Finding>) {
    let others = bug.others.iter().map(|&index| findings[index].borrow());
    (findings[bug.lead].borrow(), others)
}
