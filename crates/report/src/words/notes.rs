//! What else there is to know about a finding, a sentence each: how the accesses came where they are, where the block came
//! from, who started whom.

use deadheat_model::finding::{Creation, Finding, Side};

use super::stack::{depth, own_calls};
use super::{MAX_NAME, calls, label, openmp};
use crate::text::style::cut;

/// Stacks where they say more than the excerpt, which shows so many places, and what else there is to know.
pub(crate) fn notes(finding: &Finding, marks: usize) -> Vec<String> {
    let mut notes = stacks(finding, marks);
    notes.extend(about(finding));
    notes
}

/// What there is to know besides the stacks.
pub(crate) fn about(finding: &Finding) -> Vec<String> {
    let mut notes = Vec::new();
    if finding.is_possible() {
        let sections = "in this run critical sections through which values flow order the two accesses; it is a race if another \
                        order of those sections still makes both";
        let one_thread = "in this run one thread made both accesses, in tasks that had asked for its number, or critical sections \
                          through which values flow order them; it is a race if both are still made on other threads, or in \
                          another order of those sections";
        let is_one = matches!(&finding.sides[..], [a, b] if a.thread == b.thread);
        notes.push(if is_one { one_thread } else { sections }.to_string());
    }
    if let Some(block) = finding.variable.allocation() {
        notes.push(format!(
            "the block was allocated by {}{}",
            block.thread,
            own_calls(&block.stack)
        ));
    }
    for side in &finding.sides {
        if let Some(task) = side.tasks.first().filter(|task| !task.depends.is_empty()) {
            notes.push(openmp::task_in_full(task));
        }
    }
    // OpenMP's threads are its own business.
    if finding.sides.iter().all(|side| side.tasks.is_empty()) {
        notes.extend(starts(finding));
    }
    if let Some(read) = &finding.rests_on {
        notes.push(format!(
            "it rests on another race: in the order that shows it, `{}` is read at {} while that races, and what was read \
             there is known only roughly",
            cut(&read.variable, MAX_NAME),
            read.place
        ));
    }
    if let Some(place) = &finding.wakes_early {
        notes.push(format!(
            "it may need a spurious wake-up: in the order that shows it, the wait at {place} ends before others have done what \
             they had done by then in the run"
        ));
    }
    if let Some(process) = finding.process {
        notes.push(format!("in process {process}"));
    }
    notes
}

/// How the threads or tasks came to run side by side.
fn starts(finding: &Finding) -> Vec<String> {
    let creations = &finding.creations;
    if creations.iter().any(|creation| !creation.stack.is_empty()) {
        let created = |creation: &Creation| {
            let ended = if creation.finished {
                " (which has ended)"
            } else {
                ""
            };
            let (thread, parent) = (&creation.thread, &creation.parent);
            format!(
                "{thread}{ended} was created by {parent}{}",
                own_calls(&creation.stack)
            )
        };
        return creations.iter().map(created).collect();
    }
    let other = |creation: &Creation| {
        let sides = finding.sides.iter();
        sides
            .map(|side| &side.thread)
            .any(|thread| *thread == creation.parent)
    };
    match &creations[..] {
        [] => Vec::new(),
        [one, two] if one.parent == two.parent => vec![format!(
            "{} starts {} at {}, and {} at {}",
            one.parent, one.thread, one.place, two.thread, two.place
        )],
        creations => match creations.iter().find(|creation| other(creation)) {
            Some(one) => vec![format!(
                "{} starts {} at {}, and goes on",
                one.parent, one.thread, one.place
            )],
            None => {
                let started = creations.iter().map(|one| {
                    format!(
                        "{} is started by {} at {}",
                        one.thread, one.parent, one.place
                    )
                });
                vec![started.collect::<Vec<String>>().join(", ")]
            }
        },
    }
}

/// How each access got where it is, unless the excerpt shows all that is known of it.
fn stacks(finding: &Finding, marks: usize) -> Vec<String> {
    let Some((first, second)) = finding.pair() else {
        return Vec::new();
    };
    let is_shown = |side: &&Side| {
        let is_placed = side.place.file().is_some();
        side.stack.is_empty() && is_placed || marks > 0 && depth(&side.stack) <= 1 && is_placed
    };
    if marks == 0 && first.stack.is_empty() && second.stack.is_empty() {
        return Vec::new();
    }
    let came = calls(&first.stack);
    if marks > 0 && !is_shown(&first) && came == calls(&second.stack) {
        return vec![format!("both accesses{came}")];
    }
    let sides = [first, second].into_iter().filter(|side| !is_shown(side));
    sides
        .map(|side| format!("{}{}", label(side), calls(&side.stack)))
        .collect()
}
