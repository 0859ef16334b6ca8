//! What an engine found in a trace, as people read it: a block a race, with the end of its witness in
//! columns, and what it all proves at the end.

use std::collections::HashSet;
use std::fmt::Write;

use annotate_snippets::{Group, Level};
use deadheat_model::finding::{Reordering, Side};
use deadheat_model::{AccessKind, Finding, Strand};

use super::excerpt::{self, Mark};
use super::style::{
    BOLD, PLAIN, RED, YELLOW, counted, cut, cut_front, grouped, identity, length, padded, renderer,
    time,
};
use crate::analyze::{AnalyzeReport, PredictedDeadlocks};
use crate::sources::Sources;
use crate::words::{self, MAX_NAME, Step};

/// How many events of a witness are shown: its last.
const SHOWN_EVENTS: usize = 14;

/// With more threads than this, events are listed one below the other.
const MAX_COLUMNS: usize = 6;

/// How many characters all columns have together.
const WIDTH: usize = 96;

/// How many of the variables that race are named at the end.
const SHOWN_VARIABLES: usize = 20;

impl AnalyzeReport {
    /// The report as text: `most` races in full, the guarantee at the end. Styled: whoever prints it
    /// strips the colours where they do not belong.
    pub fn text(&self, path: &str, sources: &Sources, most: usize) -> String {
        let mut text = String::new();
        for (number, race) in (1..).zip(self.races.iter().take(most)) {
            text += &self.race(number, race, sources);
            text.push('\n');
        }
        let hidden = self.races.len().saturating_sub(most) as u64;
        if hidden > 0 {
            let listed = match self.all_listed {
                true => "--json lists all",
                false => "--json lists these, and there are more that were not kept",
            };
            text += &format!(
                "{} not shown; --max-shown shows more, {listed}\n\n",
                counted(hidden, "more race")
            );
        }
        for pair in self.undecided.iter().take(most) {
            text += &format!("{YELLOW}undecided{PLAIN}: {}\n", one_line(pair, true));
        }
        let hidden = self.undecided.len().saturating_sub(most) as u64;
        if hidden > 0 {
            text += &format!("{} undecided\n", counted(hidden, "more pair"));
        }
        if !self.undecided.is_empty() {
            text.push('\n');
        }
        text += &self.deadlocks_text(sources, most);
        text + &format!(
            "{}{}: {}; {}, {}, {}\n{path}: {}\n",
            self.other_variables(),
            self.engine,
            self.found(),
            counted(self.events, "event"),
            counted(self.threads, "thread"),
            time(self.seconds),
            self.guarantee()
        )
    }

    /// The deadlocks as text: `most` in full.
    pub fn deadlocks_text(&self, sources: &Sources, most: usize) -> String {
        let deadlocks = self.deadlocks.as_ref();
        deadlocks.map_or(String::new(), |deadlocks| circles(deadlocks, sources, most))
    }

    /// The variables that race, where a race stands for others at the same places.
    fn other_variables(&self) -> String {
        let names = self.races.iter().map(|race| &*race.variable.name);
        let named: HashSet<&str> = names.collect();
        if named.len() as u64 >= self.variables {
            return String::new();
        }
        let shown = self.racy_variables.iter().take(SHOWN_VARIABLES);
        let shown: Vec<_> = shown.map(|name| cut(name, MAX_NAME)).collect();
        let more = match self.variables.saturating_sub(shown.len() as u64) {
            0 => String::new(),
            n => format!(" and {}", counted(n, "other")),
        };
        format!("variables that race: {}{more}\n\n", shown.join(", "))
    }

    /// `2 races on 1 variable, 3 undecided`.
    fn found(&self) -> String {
        let what = match self.is_race() {
            true => "race",
            false => "suspect",
        };
        let mut found = match self.races.len() as u64 {
            0 => format!("no {what}"),
            n => format!(
                "{} on {}",
                counted(n, what),
                counted(self.variables, "variable")
            ),
        };
        if let Some(deadlocks) = self.deadlocks.as_ref().filter(|d| !d.found.is_empty()) {
            let count = deadlocks.found.len() as u64;
            let _ = write!(found, ", {}", counted(count, "deadlock"));
        }
        if !self.undecided.is_empty() {
            let _ = write!(
                found,
                ", {} undecided",
                grouped(self.undecided.len() as u64)
            );
        }
        found
    }

    fn race(&self, number: usize, race: &Finding, sources: &Sources) -> String {
        let what = match self.is_race() {
            true => format!("{RED}race"),
            false => format!("{YELLOW}suspect"),
        };
        let mut text = format!(
            "{what} {number}{PLAIN}: {BOLD}{}{PLAIN}{}\n",
            cut(&words::title(race), 2 * MAX_NAME),
            identity(race)
        );
        text += &shown(race, sources);
        if let Some(order) = race.proof.as_ref().and_then(|proof| proof.reordering()) {
            text += &format!(
                "  it can happen in this order of {}, which has been checked:\n",
                counted(order.length(), "event")
            );
            text += &drawn(order, None);
        }
        if race.count > 1 || !self.counts_exact {
            let least = if self.counts_exact { "" } else { "at least " };
            let pairs = match race.count {
                1 => "1 pair".to_string(),
                n => format!("{} pairs", grouped(n)),
            };
            text += &format!("  {least}{pairs} of events at these places\n");
        }
        text
    }
}

/// The two accesses in their source; as lines, where that cannot be read. Then what would keep them apart.
pub(super) fn shown(finding: &Finding, sources: &Sources) -> String {
    let mark = |side: &Side| {
        let name = &finding.variable.name;
        Mark::new(sources, &side.place, name, words::label(side)).is_some()
    };
    let mut text = String::new();
    let ends: Vec<String> = finding.sides.iter().map(end).collect();
    let width = ends.iter().map(|end| length(end)).max().unwrap_or(0);
    for (side, end) in finding
        .sides
        .iter()
        .zip(&ends)
        .filter(|(side, _)| !mark(side))
    {
        let event = match side.event {
            0 => String::new(),
            number => format!("   (event {number})"),
        };
        text += &format!("  {}{event}\n", padded(end, width));
    }
    let marks = Mark::of_finding(sources, finding, usize::MAX);
    if !marks.is_empty() {
        let group = excerpt::shown(Group::with_level(Level::ERROR), &marks);
        text += &(renderer().render(&[group]) + "\n");
    }
    for note in words::about(finding) {
        text += &format!("  note: {note}\n");
    }
    if let Some(advice) = words::advice(finding) {
        text += &format!("  help: {advice}\n");
    }
    text
}

/// `T1 writes at main.c:7`.
fn end(side: &Side) -> String {
    let does = match side.act.kind() {
        Some(AccessKind::Write) => "writes",
        _ => "reads",
    };
    format!(
        "{} {does} at {}",
        words::name(side),
        cut_front(side.place.as_str(), MAX_NAME)
    )
}

/// `write-read on x: T1 writes at 7 (event 1), T2 reads at 9 (event 2)`; the events, if they are asked for.
pub(super) fn one_line(finding: &Finding, with_events: bool) -> String {
    let ends = finding.sides.iter().map(|side| match with_events {
        true => format!("{} (event {})", end(side), side.event),
        false => end(side),
    });
    let ends: Vec<String> = ends.collect();
    let kind = finding
        .kind()
        .map_or(String::new(), |kind| kind.to_string());
    let variable = cut(&finding.variable.name, MAX_NAME);
    format!("{kind} on {variable}: {}", ends.join(", "))
}

/// Deadlocks: those that can happen in full, and a line each for those that may.
fn circles(deadlocks: &PredictedDeadlocks, sources: &Sources, most: usize) -> String {
    let mut text = String::new();
    for (number, deadlock) in (1..).zip(deadlocks.found.iter().take(most)) {
        text += &format!(
            "{RED}deadlock {number}{PLAIN}: {BOLD}{}{PLAIN}{}\n",
            cut(&words::title(deadlock), 2 * MAX_NAME),
            identity(deadlock)
        );
        for side in &deadlock.sides {
            text += &format!("  {}\n", words::link(side));
        }
        let marks = Mark::of_circle(sources, deadlock);
        if !marks.is_empty() {
            let group = excerpt::shown(Group::with_level(Level::ERROR), &marks);
            text += &(renderer().render(&[group]) + "\n");
        }
        for note in words::about(deadlock) {
            text += &format!("  note: {note}\n");
        }
        if let Some(order) = deadlock.proof.as_ref().and_then(|proof| proof.reordering()) {
            text += &format!(
                "  it can happen after this order of {}, which has been checked:\n",
                counted(order.length(), "event")
            );
            text += &drawn(order, Some(deadlock));
        }
        text.push('\n');
    }
    let hidden = deadlocks.found.len().saturating_sub(most) as u64;
    if hidden > 0 {
        text += &format!(
            "{} not shown; --max-shown shows more, --json lists all\n\n",
            counted(hidden, "more deadlock")
        );
    }
    for deadlock in deadlocks.undecided.iter().take(most) {
        let links: Vec<String> = deadlock.sides.iter().map(words::link).collect();
        let links = links.join("; ");
        text += &format!("{YELLOW}undecided{PLAIN}: deadlock: {links}\n");
    }
    let hidden = deadlocks.undecided.len().saturating_sub(most) as u64;
    if hidden > 0 {
        text += &format!("{} undecided\n", counted(hidden, "more deadlock"));
    }
    if !deadlocks.undecided.is_empty() {
        text.push('\n');
    }
    text
}

/// The end of a witness, a column for each thread. The last two events are a race; or those of a deadlock wait after it.
fn drawn(order: &dyn Reordering, deadlock: Option<&Finding>) -> String {
    let end = words::events(order, SHOWN_EVENTS);
    let racing = end.len().saturating_sub(2);
    let mut end: Vec<(Step, &str)> = (0..)
        .zip(end)
        .map(|(index, step)| match deadlock {
            None if index >= racing => (step, "  <--"),
            _ => (step, ""),
        })
        .collect();
    let done = end.len() as u64;
    let sides = deadlock.iter().flat_map(|deadlock| &deadlock.sides);
    let waits = sides.filter_map(|side| words::step(order, side.event));
    end.extend(waits.map(|step| (step, "  waits")));
    let events = end
        .iter()
        .map(|(step, mark)| (step.strand, cut(&step.action, 30) + mark));
    let events: Vec<(Strand, String)> = events.collect();
    let mut strands: Vec<(Strand, &str)> = Vec::new();
    for (Step { strand, thread, .. }, _) in &end {
        strands.push((*strand, thread));
    }
    strands.sort_unstable();
    strands.dedup();
    let place = |strand: &Strand| {
        let place = strands.binary_search_by_key(strand, |(strand, _)| *strand);
        place.unwrap_or_default()
    };
    let mut text = String::new();
    let left_out = order.length().saturating_sub(done);
    let before = format!("      … ({} before these)\n", counted(left_out, "event"));
    if strands.len() > MAX_COLUMNS {
        if left_out > 0 {
            text += &before;
        }
        let names: Vec<String> = strands.iter().map(|(_, name)| cut(name, 20)).collect();
        let width = names.iter().map(|name| length(name)).max().unwrap_or(0);
        for (strand, action) in &events {
            text += &format!("      {}  {action}\n", padded(&names[place(strand)], width));
        }
        return text;
    }
    let widest = WIDTH / strands.len().max(1) - 2;
    let names: Vec<String> = strands.iter().map(|(_, name)| cut(name, widest)).collect();
    let widths = strands.iter().zip(&names).map(|((strand, _), name)| {
        let own = events.iter().filter(|(other, _)| other == strand);
        let cells = own.map(|(_, action)| length(action));
        cells.chain([length(name)]).max().unwrap_or(0).min(widest)
    });
    let widths: Vec<usize> = widths.collect();
    let header = names.iter().zip(&widths);
    let header: Vec<String> = header.map(|(name, &width)| padded(name, width)).collect();
    text += &format!("      {}\n", header.join("  ").trim_end());
    if left_out > 0 {
        text += &before;
    }
    for (strand, action) in &events {
        let indent: usize = widths[..place(strand)].iter().map(|width| width + 2).sum();
        text += &format!("      {}{action}\n", " ".repeat(indent));
    }
    text
}
