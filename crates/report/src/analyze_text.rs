//! What an engine found in a trace, as people read it: a block a race, with the end of its witness in
//! columns, and what it all proves at the end.

use std::collections::HashSet;
use std::fmt::Write;

use annotate_snippets::{Group, Level};
use deadheat_model::{EventNumber, Strand};

use crate::analyze::{AnalyzeReport, PredictedReport, WitnessReport};
use crate::entries::pair_sentence;
use crate::excerpt::{self, Mark};
use crate::pair::{AccessInTrace, PairReport};
use crate::sources::Sources;
use crate::style::{
    BOLD, PLAIN, RED, YELLOW, counted, cut, cut_front, grouped, identity, length, padded, renderer,
    time,
};

/// How many events of a witness are shown: its last.
const SHOWN_EVENTS: usize = 14;

/// With more threads than this, events are listed one below the other.
const MAX_COLUMNS: usize = 6;

/// How many characters all columns have together.
const WIDTH: usize = 96;

/// How many of the variables that race are named at the end.
const SHOWN_VARIABLES: usize = 20;

/// How long a name may be before it is cut.
pub(crate) const MAX_NAME: usize = 100;

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
            text += &format!("{YELLOW}undecided{PLAIN}: {}\n", one_line(pair));
        }
        let hidden = self.undecided.len().saturating_sub(most) as u64;
        if hidden > 0 {
            text += &format!("{} undecided\n", counted(hidden, "more pair"));
        }
        if !self.undecided.is_empty() {
            text.push('\n');
        }
        text + &format!(
            "{}{}: {}; {}, {}, {}\n{path}: {}\n",
            self.other_variables(),
            self.engine,
            self.found(),
            counted(self.events, "event"),
            counted(self.threads, "thread"),
            time(self.seconds),
            self.guarantee
        )
    }

    /// The variables that race, where a race stands for others at the same places.
    fn other_variables(&self) -> String {
        let names = self.races.iter().map(|race| &*race.pair.variable);
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
        if !self.undecided.is_empty() {
            let _ = write!(
                found,
                ", {} undecided",
                grouped(self.undecided.len() as u64)
            );
        }
        found
    }

    fn race(&self, number: usize, race: &PredictedReport, sources: &Sources) -> String {
        let pair = &race.pair;
        let what = match self.is_race() {
            true => format!("{RED}race"),
            false => format!("{YELLOW}suspect"),
        };
        let mut text = format!(
            "{what} {number}{PLAIN}: {BOLD}{}{PLAIN}{}\n",
            cut(&pair_sentence(!self.is_race(), pair), 2 * MAX_NAME),
            identity(&pair.fingerprint)
        );
        text += &shown(pair, sources);
        if let Some(witness) = &race.witness {
            let all = witness.spelling.length(witness.proof());
            text += &format!(
                "  it can happen in this order of {}, which has been checked:\n",
                counted(all, "event")
            );
            text += &drawn(witness, all);
        }
        if pair.count > 1 || !self.counts_exact {
            let least = if self.counts_exact { "" } else { "at least " };
            let pairs = match pair.count {
                1 => "1 pair".to_string(),
                n => format!("{} pairs", grouped(n)),
            };
            text += &format!("  {least}{pairs} of events at these places\n");
        }
        text
    }
}

/// The two accesses in their source; as lines, where that cannot be read.
pub(crate) fn shown(pair: &PairReport, sources: &Sources) -> String {
    let (first, second) = pair.kind.split_once('-').unwrap_or_default();
    let mark = |access: &AccessInTrace, kind: &str| {
        let label = format!(
            "{kind} by {} (event {})",
            cut(&access.thread, MAX_NAME),
            access.event
        );
        Mark::new(sources, &access.loc, &pair.variable, label)
    };
    let marks = (mark(&pair.first, first), mark(&pair.second, second));
    let in_source = [marks.0.is_some(), marks.1.is_some()];
    let mut text = String::new();
    let ends = ends(pair);
    let width = ends.iter().map(|(end, _)| length(end)).max().unwrap_or(0);
    for ((end, event), _) in ends.iter().zip(in_source).filter(|(_, shown)| !shown) {
        text += &format!("  {}   (event {event})\n", padded(end, width));
    }
    let marks = Mark::pair(marks.0, marks.1);
    if !marks.is_empty() {
        let group = excerpt::shown(Group::with_level(Level::ERROR), &marks);
        text += &(renderer().render(&[group]) + "\n");
    }
    text
}

/// `T1 writes at main.c:7`, and the number of the event.
pub(crate) fn ends(pair: &PairReport) -> [(String, EventNumber); 2] {
    let (first, second) = pair.kind.split_once('-').unwrap_or_default();
    let end = |access: &AccessInTrace, kind: &str| {
        let text = format!(
            "{} {kind}s at {}",
            cut(&access.thread, MAX_NAME),
            cut_front(&access.loc, MAX_NAME)
        );
        (text, access.event)
    };
    [end(&pair.first, first), end(&pair.second, second)]
}

/// A pair of accesses in one line.
pub(crate) fn one_line(pair: &PairReport) -> String {
    let [(first, _), (second, _)] = ends(pair);
    format!(
        "{} on {}: {first} (event {}), {second} (event {})",
        pair.kind,
        cut(&pair.variable, MAX_NAME),
        pair.first.event,
        pair.second.event
    )
}

/// The end of a witness, a column for each thread.
fn drawn(witness: &WitnessReport, all: u64) -> String {
    let trace = witness.spelling.trace();
    let end = witness.spelling.end(witness.proof(), SHOWN_EVENTS);
    let racing = end.len().saturating_sub(2);
    let events = end.iter().filter_map(|&number| trace.event(number));
    let events: Vec<(Strand, String)> = (0..)
        .zip(events)
        .map(|(index, event)| {
            let mark = if index >= racing { "  <--" } else { "" };
            let action = cut(&trace.names.action(event.op()).to_string(), 30);
            (event.strand(), action + mark)
        })
        .collect();
    let mut strands: Vec<Strand> = events.iter().map(|(strand, _)| *strand).collect();
    strands.sort_unstable();
    strands.dedup();
    let names = strands
        .iter()
        .map(|&strand| trace.names.strand(strand).into_owned());
    let names: Vec<String> = names.collect();
    let mut text = String::new();
    let left_out = all.saturating_sub(events.len() as u64);
    let before = format!("      … ({} before these)\n", counted(left_out, "event"));
    if strands.len() > MAX_COLUMNS {
        if left_out > 0 {
            text += &before;
        }
        let names: Vec<String> = names.iter().map(|name| cut(name, 20)).collect();
        let width = names.iter().map(|name| length(name)).max().unwrap_or(0);
        for (strand, action) in &events {
            let at = strands.binary_search(strand).unwrap_or_default();
            text += &format!("      {}  {action}\n", padded(&names[at], width));
        }
        return text;
    }
    let widest = WIDTH / strands.len().max(1) - 2;
    let names: Vec<String> = names.iter().map(|name| cut(name, widest)).collect();
    let widths = strands.iter().zip(&names).map(|(strand, name)| {
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
        let at = strands.binary_search(strand).unwrap_or_default();
        let indent: usize = widths[..at].iter().map(|width| width + 2).sum();
        text += &format!("      {}{action}\n", " ".repeat(indent));
    }
    text
}
