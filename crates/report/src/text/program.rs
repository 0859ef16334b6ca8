//! A `.tp` program's errors, and what a check of it found, as text.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Snippet};
use deadheat_lang::Diagnostics;
use deadheat_model::Finding;
use deadheat_model::finding::{Proof, Rule, bugs};
use rustc_hash::FxHashSet;

use super::style::{counted, grouped, renderer};
use super::{MAX_SIDES, block, of_bug, others};
use crate::check::CheckReport;
use crate::sources::Sources;

/// What is wrong with the text of the program at `path`.
pub fn diagnostics(path: &str, source: &str, diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    let mut add = |group: Group<'_>| text += &(renderer().render(&[group]) + "\n\n");
    for diagnostic in &diagnostics.found {
        let mark = |kind: AnnotationKind, (start, end): (u32, u32), label: &str| {
            mark(source, kind, start as usize..end as usize, label)
        };
        let span = (diagnostic.span.start, diagnostic.span.end);
        let main = mark(AnnotationKind::Primary, span, &diagnostic.label);
        let related = diagnostic
            .related
            .iter()
            .map(|(span, label)| mark(AnnotationKind::Context, (span.start, span.end), label));
        let title = Level::ERROR.primary_title(diagnostic.message.as_str());
        let marks = std::iter::once(main).chain(related);
        let snippet = || Snippet::source(source).path(path);
        let group = Group::with_title(title);
        let mut group = match source.lines().any(|line| line.len() > LONG_LINE) {
            false => group.element(snippet().annotations(marks)),
            // Two marks in a line as long as a book would show all that lies between them.
            true => group.elements(marks.map(|mark| snippet().annotation(mark))),
        };
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        add(group);
    }
    let count = diagnostics.found.len() as u64;
    let count = match diagnostics.more {
        true => format!("more than {}", counted(count, "error")),
        false => counted(count, "error"),
    };
    let last = format!("`{path}` could not be read: {count}");
    add(Group::with_title(Level::ERROR.primary_title(last)));
    text
}

/// Marks a piece of the source, which must lie inside it.
fn mark(
    source: &str,
    kind: AnnotationKind,
    span: Range<usize>,
    label: &str,
) -> Annotation<'static> {
    let end = span.end.min(source.len());
    let annotation = kind.span(span.start.min(end)..end);
    match label.is_empty() {
        true => annotation,
        false => annotation.label(label.to_string()),
    }
}

/// A line of more bytes than this is shown in parts.
const LONG_LINE: usize = 1000;

impl CheckReport {
    /// What a check found, `most` bugs and errors in full, the guarantee at the end.
    pub fn text(&self, sources: &Sources, most: usize) -> String {
        let mut text = String::new();
        let own: Vec<&Finding> = self.races.iter().collect();
        let mut hidden = self.races_text(&own, sources, most, &mut text);
        for finding in self.error.iter().chain(&self.deadlock) {
            text += &self.one(finding, "", sources);
        }
        if let Some(explored) = &self.explored {
            let shown: FxHashSet<_> = self.races.iter().map(|race| race.identity).collect();
            let new = |race: &&Finding| !shown.contains(&race.identity);
            let others: Vec<&Finding> = explored.races.iter().filter(new).collect();
            hidden += self.races_text(&others, sources, most, &mut text);
            let elsewhere = " (in another schedule)";
            if let (Some(deadlock), None) = (&explored.deadlock, &self.deadlock) {
                text += &self.one(deadlock, elsewhere, sources);
            }
            let here = self.error.as_ref().map(|error| error.identity);
            let errors = explored.errors.iter();
            let errors = errors.filter(|error| Some(error.identity) != here);
            for error in errors.take(most) {
                text += &self.one(error, elsewhere, sources);
            }
        }
        if hidden > 0 {
            text += &format!(
                "{} not shown; --max-shown shows more, --json lists all\n",
                counted(hidden as u64, "more race")
            );
        }
        if !self.races_complete {
            text += "not all pairs of accesses were compared: there may be more places, and the numbers \
                     of pairs are lower bounds\n";
        }
        text + &format!("{}: {}\n", self.program, self.guarantee())
    }

    /// Adds races by bug, and tells how many were not added.
    fn races_text(
        &self,
        races: &[&Finding],
        sources: &Sources,
        most: usize,
        text: &mut String,
    ) -> usize {
        let bugs = bugs(races.iter().copied());
        for bug in bugs.iter().take(most) {
            let (lead, rest) = of_bug(races, bug);
            let more = match lead.count {
                0 | 1 => String::new(),
                n if self.races_complete => format!(" ({} pairs of accesses)", grouped(n)),
                n => format!(" (at least {} pairs of accesses)", grouped(n)),
            };
            let mut notes: Vec<String> = others(lead, rest).into_iter().collect();
            notes.extend(schedule_notes(lead, self.orders.is_some()));
            *text += &block(sources, lead, &more, &notes);
        }
        let hidden = bugs.iter().skip(most);
        hidden.map(|bug| 1 + bug.others.len()).sum()
    }

    /// A deadlock or a failure.
    fn one(&self, finding: &Finding, more: &str, sources: &Sources) -> String {
        let mut notes = Vec::new();
        let hidden = finding.count.saturating_sub(MAX_SIDES as u64);
        if finding.rule == Rule::Deadlock && hidden > 0 {
            notes.push(format!("{} more wait, too", grouped(hidden)));
        }
        notes.extend(schedule_notes(finding, false));
        block(sources, finding, more, &notes)
    }
}

/// The schedule that shows a finding; or that there is none, where a search found it.
fn schedule_notes(finding: &Finding, of_orders: bool) -> Vec<String> {
    let proof: Option<&dyn Proof> = finding.proof.as_deref().map(|proof| proof as &dyn Proof);
    let mut notes = Vec::new();
    if let Some(order) = proof
        .and_then(Proof::sections)
        .filter(|order| !order.is_empty())
    {
        notes.push(format!("when sections are entered by {}", shortened(order)));
    }
    match proof.and_then(Proof::schedule) {
        Some(turns) => notes.push(format!(
            "for example, by the schedule: {}",
            shortened(turns)
        )),
        None if finding.rule == Rule::PredictedRace
            || of_orders && finding.creations.is_empty() =>
        {
            notes.push(
                "without a schedule: there was no time to follow it again, or no room to keep one for each race"
                    .to_string(),
            );
        }
        None => {}
    }
    notes
}

/// Turns one after the other, the first few if there are many.
pub(crate) fn shortened(turns: &[String]) -> String {
    const MOST: usize = 12;
    let mut shown: Vec<String> = turns.iter().take(MOST).cloned().collect();
    if turns.len() > MOST {
        shown.push(format!("… ({} turns)", turns.len()));
    }
    shown.join(", ")
}
