//! What a checked program did, and could have done, as people read it.

use deadheat_model::Finding;
use deadheat_model::finding::{Bug, Reordering, bugs};
use deadheat_native::{Recorded, Waiting};

use super::style::{counted, cut, cut_front, length, padded};
use super::{block, of_bug, others};
use crate::run::RunReport;
use crate::sources::Sources;
use crate::words;

/// How many steps of a witness are shown.
const SHOWN_STEPS: usize = 16;

/// A longer line of source is cut.
const MAX_TEXT: usize = 60;

/// What is in the trace of a program: `12 events of 2 threads`.
pub fn recorded(recorded: &Recorded) -> String {
    let (events, threads) = (recorded.events, recorded.threads);
    let tasks = match recorded.tasks {
        0 => String::new(),
        tasks => format!(" and {}", counted(tasks, "task")),
    };
    format!(
        "{} of {}{tasks}",
        counted(events, "event"),
        counted(threads, "thread")
    )
}

impl RunReport {
    /// All findings from number `from` on, at most `most` bugs in full, and what the run proves.
    pub fn text(&self, sources: &Sources, from: usize, most: usize) -> String {
        let happened = &self.survey.findings;
        let new = &happened[from.min(happened.len())..];
        let predicted = self.other_orders.as_ref();
        let predicted = predicted.map_or(&[][..], |prediction| &prediction.findings);
        let mut text = String::new();
        let mut hidden = 0;
        for findings in [new, predicted] {
            let bugs = bugs(findings);
            for bug in bugs.iter().take(most) {
                text += &one_bug(findings, bug, sources);
            }
            let rest = bugs.iter().skip(most);
            hidden += rest.map(|bug| 1 + bug.others.len()).sum::<usize>();
        }
        if hidden > 0 {
            text += &format!(
                "{} not shown; --max-shown shows more, --json lists all\n",
                counted(hidden as u64, "more race")
            );
        }
        text += without_lines(new);
        text += &waiting(&self.survey.waiting);
        text + &format!("deadheat: {}\n", self.guarantee())
    }
}

/// One finding of a run.
pub fn finding(finding: &Finding, sources: &Sources) -> String {
    block(sources, finding, &words::again(finding), &[])
}

fn one_bug(findings: &[Finding], bug: &Bug, sources: &Sources) -> String {
    let (lead, rest) = of_bug(findings, bug);
    let order = lead.proof.as_ref().and_then(|proof| proof.reordering());
    let order = order.map(|order| witness(order, sources));
    let notes: Vec<String> = order.into_iter().chain(others(lead, rest)).collect();
    block(sources, lead, &words::again(lead), &notes)
}

/// What to do where no line of an access is known.
fn without_lines(findings: &[Finding]) -> &'static str {
    let mut sides = findings.iter().flat_map(|finding| &finding.sides);
    match sides.all(|side| side.place.line().is_some()) {
        true => "",
        false => {
            "no line is known of some accesses: build all of the program with `deadheat cc` or `deadheat c++`, and do not \
             strip it\n"
        }
    }
}

/// How many threads that wait are shown.
const SHOWN_WAITS: usize = 32;

/// What threads waited for when the time was up.
fn waiting(waiting: &[Waiting]) -> String {
    if waiting.is_empty() {
        return String::new();
    }
    let mut text = "when the time was up:\n".to_string();
    for waits in waiting.iter().take(SHOWN_WAITS) {
        text += &format!("  {}\n", words::waits(waits));
    }
    if waiting.len() > SHOWN_WAITS {
        let more = (waiting.len() - SHOWN_WAITS) as u64;
        text += &format!("  … {} waited\n", counted(more, "more thread"));
    }
    text
}

/// A witness, a line a step.
fn witness(order: &dyn Reordering, sources: &Sources) -> String {
    let (steps, before) = words::steps(order, SHOWN_STEPS);
    let mut text = "it happens in this order, which has been checked:".to_string();
    if before > 0 {
        text += &format!("\n  … {} as recorded", counted(before, "event"));
    }
    let threads = steps.iter().map(|step| cut(&step.thread, 20));
    let threads: Vec<String> = threads.collect();
    let places = steps.iter().map(|step| cut_front(&step.place.short(), 40));
    let places: Vec<String> = places.collect();
    let widest = |texts: &[String]| texts.iter().map(|text| length(text)).max().unwrap_or(0);
    let (wide, long) = (widest(&threads), widest(&places));
    for (index, step) in steps.iter().enumerate() {
        let line = step.place.file().zip(step.place.line());
        let source = line.and_then(|(file, line)| sources.line(file, line));
        let source = source.unwrap_or_else(|| step.action.clone());
        let mark = if index + 2 >= steps.len() {
            "   <-- race"
        } else {
            ""
        };
        text += &format!(
            "\n  {}  {}  {}{mark}",
            padded(&threads[index], wide),
            padded(&places[index], long),
            cut(source.trim(), MAX_TEXT)
        );
    }
    text
}
