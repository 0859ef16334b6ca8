//! What is in a trace: counts, the hottest variables and places, the longest critical sections.

use std::collections::BTreeMap;
use std::fmt::Write;

use deadheat_model::EventNumber;
use serde::Serialize;

use crate::text::style::{counted, cut, grouped};

/// How many threads are shown as text; JSON has all.
const SHOWN_THREADS: usize = 20;

/// How long a name may be before it is cut.
const MAX_NAME: usize = 101;

/// What is in a trace, in the order of the JSON.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct StatsReport {
    pub trace: String,
    pub format: &'static str,
    pub bytes: u64,
    /// Nothing if there are no events.
    pub bytes_per_event: Option<f64>,
    pub events: u64,
    pub kinds: BTreeMap<&'static str, u64>,
    pub threads: Vec<Thread>,
    pub variables: usize,
    pub locks: usize,
    pub semaphores: usize,
    pub event_variables: usize,
    pub barriers: usize,
    pub locs: usize,
    pub hottest_variables: Vec<HotVariable>,
    pub hottest_locs: Vec<HotLoc>,
    pub longest_sections: Vec<SectionReport>,
    pub sections: u64,
    pub sections_not_left: usize,
    pub damage: Option<DamageReport>,
    /// Why only the beginning of the trace was counted, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// What a thread does.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Thread {
    pub thread: String,
    pub events: u64,
    pub first: Option<EventNumber>,
    pub last: Option<EventNumber>,
}

/// A variable and how many events are about it.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct HotVariable {
    pub variable: String,
    pub events: u64,
}

/// A place in the source and how many events it has.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct HotLoc {
    pub loc: String,
    pub events: u64,
}

/// A critical section.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct SectionReport {
    pub lock: String,
    pub thread: String,
    pub events: u64,
    pub first: EventNumber,
    pub last: EventNumber,
}

/// What was lost of a recording that broke off.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct DamageReport {
    pub message: String,
    pub kept: u64,
    pub lost: u64,
}

impl StatsReport {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let n = |count: u64| grouped(count);
        write!(
            out,
            "{}: {}, {}",
            self.trace,
            counted(self.events, "event"),
            bytes(self.bytes)
        )?;
        match self.bytes_per_event {
            Some(each) => writeln!(out, " ({each:.2} bytes an event)")?,
            None => writeln!(out)?,
        }
        if let Some(why) = &self.stopped {
            writeln!(out, "this is the beginning of the trace only: {why}")?;
        }
        let objects = [
            ("thread", "", self.threads.len()),
            ("variable", "", self.variables),
            ("lock", "", self.locks),
            ("semaphore", "", self.semaphores),
            ("event variable", "", self.event_variables),
            ("barrier", "", self.barriers),
            ("place", " in the source", self.locs),
        ];
        let objects = objects.iter().filter(|(_, _, count)| *count > 0);
        let objects: Vec<String> = objects
            .map(|(what, whose, count)| counted(*count as u64, what) + whose)
            .collect();
        writeln!(out, "{}", objects.join(", "))?;

        let mut kinds: Vec<(&str, u64)> = self
            .kinds
            .iter()
            .map(|(kind, count)| (*kind, *count))
            .collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        list(
            out,
            "Events",
            kinds
                .iter()
                .map(|(kind, count)| (n(*count), kind.to_string())),
        )?;

        let mut threads: Vec<&Thread> = self.threads.iter().collect();
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.events));
        let title = match threads.len() > SHOWN_THREADS {
            true => "Threads that do most",
            false => "Threads",
        };
        list(
            out,
            title,
            threads
                .iter()
                .take(SHOWN_THREADS)
                .map(|thread| (n(thread.events), shown(&thread.thread))),
        )?;
        list(
            out,
            "Variables used most",
            self.hottest_variables
                .iter()
                .map(|hot| (n(hot.events), shown(&hot.variable))),
        )?;
        list(
            out,
            "Places in the source that do most",
            self.hottest_locs.iter().map(|hot| {
                let loc = match hot.loc.is_empty() {
                    true => "(none given)".to_string(),
                    false => shown(&hot.loc),
                };
                (n(hot.events), loc)
            }),
        )?;
        list(
            out,
            "Longest critical sections, in events",
            self.longest_sections.iter().map(|section| {
                let (lock, thread) = (shown(&section.lock), shown(&section.thread));
                let (first, last) = (n(section.first), n(section.last));
                (
                    n(section.events),
                    format!("{lock} held by {thread}, events {first} to {last}"),
                )
            }),
        )?;
        if self.sections_not_left > 0 {
            let are = if self.sections_not_left == 1 {
                "is"
            } else {
                "are"
            };
            let sections = counted(self.sections_not_left as u64, "critical section");
            writeln!(out, "\n{sections} {are} not left")?;
        }
        Ok(())
    }
}

/// A title and lines of counts, if there are any.
fn list(
    out: &mut String,
    title: &str,
    lines: impl Iterator<Item = (String, String)>,
) -> std::fmt::Result {
    let lines: Vec<(String, String)> = lines.collect();
    let Some(width) = lines.iter().map(|(count, _)| count.len()).max() else {
        return Ok(());
    };
    writeln!(out, "\n{title}")?;
    lines
        .iter()
        .try_for_each(|(count, what)| writeln!(out, "  {count:>width$}  {what}"))
}

/// A name that comes from a file, fit for a terminal and a line.
fn shown(name: &str) -> String {
    cut(name, MAX_NAME)
}

/// A number of bytes: `999 B`, `1.50 MB`.
fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = count as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{count} B"),
        _ => format!("{size:.2} {}", UNITS[unit]),
    }
}
