//! `deadheat stats`: what is in a trace.
//!
//! One pass; memory for a number per thread, variable and place in the source, and for the sections that
//! are open at a time.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use deadheat_model::words::word;
use deadheat_model::{Event, EventNumber, Lock, Names, Op, Site, Strand};
use deadheat_trace::dht::Damage;
use deadheat_trace::text::TextFormat;
use deadheat_trace::{Format, TraceError, Window};
use indicatif::{DecimalBytes, HumanCount};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::convert::failure;
use crate::output::{complain_of, print, shown, warn_of};
use crate::progress::TraceProgress;

/// Tell what is in a trace
///
/// Events by kind, threads, variables and locks; the variables and the places in the source that most
/// events are about; the longest critical sections. Exit status: 0 done, 2 bad input.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace: .dht, .std or .csv
    #[arg(value_name = "TRACE")]
    trace: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  deadheat stats run.dht
  deadheat stats --json run.std";

/// How many of a list are shown: of the hottest, of the longest.
const SHOWN: usize = 10;

/// How many threads are shown as text; JSON has all.
const SHOWN_THREADS: usize = 20;

/// Tells.
pub fn run(arguments: &Arguments, quiet: bool) -> ExitCode {
    let path = &arguments.trace;
    let report = match statistics(path) {
        Ok(report) => report,
        Err(error) => {
            complain_of(failure(path, &error));
            return ExitCode::from(2);
        }
    };
    if let Some(damage) = &report.damage
        && !quiet
    {
        warn_of(format_args!("`{}`: {}", path.display(), damage.message));
    }
    let text = match arguments.json {
        // Only strings and numbers: serialising cannot fail.
        true => serde_json::to_string(&report).unwrap_or_default() + "\n",
        false if quiet => String::new(),
        false => report.text(),
    };
    match print(&text) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(2),
    }
}

#[derive(Serialize)]
struct Report {
    trace: String,
    format: &'static str,
    bytes: u64,
    /// Nothing if there are no events.
    bytes_per_event: Option<f64>,
    events: u64,
    kinds: BTreeMap<&'static str, u64>,
    threads: Vec<Thread>,
    variables: usize,
    locks: usize,
    semaphores: usize,
    event_variables: usize,
    barriers: usize,
    locs: usize,
    hottest_variables: Vec<HotVariable>,
    hottest_locs: Vec<HotLoc>,
    longest_sections: Vec<SectionReport>,
    sections: u64,
    sections_not_left: usize,
    damage: Option<DamageReport>,
}

#[derive(Serialize)]
struct Thread {
    thread: String,
    events: u64,
    first: Option<EventNumber>,
    last: Option<EventNumber>,
}

#[derive(Serialize)]
struct HotVariable {
    variable: String,
    events: u64,
}

#[derive(Serialize)]
struct HotLoc {
    loc: String,
    events: u64,
}

#[derive(Serialize)]
struct SectionReport {
    lock: String,
    thread: String,
    events: u64,
    first: EventNumber,
    last: EventNumber,
}

#[derive(Serialize)]
struct DamageReport {
    message: String,
    kept: u64,
    lost: u64,
}

impl From<&Damage> for DamageReport {
    fn from(damage: &Damage) -> DamageReport {
        DamageReport {
            message: damage.to_string(),
            kept: damage.kept,
            lost: damage.lost,
        }
    }
}

/// What is counted on the way through the trace.
#[derive(Default)]
struct Counts {
    events: u64,
    /// By code and detail.
    kinds: FxHashMap<(u8, u8), u64>,
    strands: Vec<StrandCount>,
    variables: Vec<u64>,
    sites: Vec<u64>,
    open: FxHashMap<(Strand, Lock), Open>,
    sections: u64,
    /// The longest, longest first.
    longest: Vec<Section>,
}

#[derive(Clone, Default)]
struct StrandCount {
    events: u64,
    first: EventNumber,
    last: EventNumber,
}

/// A section that a strand is in.
struct Open {
    first: EventNumber,
    /// How many events the strand had before.
    before: u64,
    /// How often it has taken the lock and not given it back.
    depth: u32,
}

struct Section {
    lock: Lock,
    strand: Strand,
    /// Events of the strand inside, without taking and giving back the lock.
    events: u64,
    first: EventNumber,
    last: EventNumber,
}

impl Counts {
    fn add(&mut self, window: &Window<'_>) {
        self.strands
            .resize(window.names.strands.len(), StrandCount::default());
        self.variables.resize(window.names.locations.len(), 0);
        self.sites.resize(window.names.sites.len(), 0);
        // Kinds are few, and mostly the same one again.
        let mut kind = (0, 0);
        let mut of_kind = 0;
        for event in window.events {
            let (code, detail, _) = event.to_parts();
            if (code, detail) != kind {
                *self.kinds.entry(kind).or_default() += of_kind;
                (kind, of_kind) = ((code, detail), 0);
            }
            of_kind += 1;
            self.add_event(event);
        }
        *self.kinds.entry(kind).or_default() += of_kind;
    }

    fn add_event(&mut self, event: &Event) {
        self.events += 1;
        let strand = &mut self.strands[event.strand().index()];
        if strand.events == 0 {
            strand.first = self.events;
        }
        strand.events += 1;
        strand.last = self.events;
        self.sites[event.site().0 as usize] += 1;
        match event.op() {
            Op::Read(x, _)
            | Op::Write(x)
            | Op::AtomicLoad(x, _)
            | Op::AtomicStore(x, _)
            | Op::AtomicUpdate(x, _) => self.variables[x.index()] += 1,
            Op::Acquire(lock) | Op::AcquireShared(lock) => self.enter(event.strand(), lock),
            Op::Release(lock) | Op::ReleaseShared(lock) => self.leave(event.strand(), lock),
            _ => {}
        }
    }

    fn enter(&mut self, strand: Strand, lock: Lock) {
        let open = self.open.entry((strand, lock)).or_insert(Open {
            first: self.events,
            before: self.strands[strand.index()].events,
            depth: 0,
        });
        open.depth = open.depth.saturating_add(1);
    }

    /// A release of what was not taken is left out.
    fn leave(&mut self, strand: Strand, lock: Lock) {
        let Some(open) = self.open.get_mut(&(strand, lock)) else {
            return;
        };
        open.depth -= 1;
        if open.depth > 0 {
            return;
        }
        let section = Section {
            lock,
            strand,
            events: self.strands[strand.index()].events - open.before - 1,
            first: open.first,
            last: self.events,
        };
        self.open.remove(&(strand, lock));
        self.sections += 1;
        let place = self
            .longest
            .partition_point(|longer| longer.events >= section.events);
        if place < SHOWN {
            self.longest.insert(place, section);
            self.longest.truncate(SHOWN);
        }
    }
}

/// The largest counts, largest first, the smaller number first where they are equal.
fn hottest(counts: &[u64]) -> impl Iterator<Item = (usize, u64)> {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&n| counts[n] > 0).collect();
    let key = |&n: &usize| (std::cmp::Reverse(counts[n]), n);
    if order.len() > SHOWN {
        order.select_nth_unstable_by_key(SHOWN, key);
        order.truncate(SHOWN);
    }
    order.sort_unstable_by_key(key);
    order.into_iter().map(|n| (n, counts[n]))
}

fn statistics(path: &Path) -> Result<Report, TraceError> {
    let source = deadheat_trace::open(path)?;
    let progress = TraceProgress::new("reading");
    let mut counts = Counts::default();
    let _ = source.for_each(|window| {
        counts.add(&window);
        progress.tell(window.done);
        ControlFlow::<()>::Continue(())
    })?;
    let bytes = source.bytes();
    Ok(Report {
        trace: path.display().to_string(),
        format: match source.format() {
            Format::Dht => "dht",
            Format::Text(TextFormat::Std) => "std",
            Format::Text(TextFormat::Csv) => "csv",
        },
        bytes,
        bytes_per_event: (counts.events > 0).then(|| bytes as f64 / counts.events as f64),
        damage: source.damage().map(DamageReport::from),
        ..report(&counts, source.names()?)
    })
}

/// All that does not depend on the file.
fn report(counts: &Counts, names: &Names) -> Report {
    let mut kinds = BTreeMap::new();
    for (&(code, detail), &count) in &counts.kinds {
        if let Some(event) = Event::from_parts(Strand::MAIN, (code, detail, 0), Site(0))
            && count > 0
        {
            kinds.insert(word(&event), count);
        }
    }
    let threads = counts
        .strands
        .iter()
        .enumerate()
        .map(|(number, strand)| Thread {
            thread: names.strand(Strand(number as u32)).into_owned(),
            events: strand.events,
            first: (strand.events > 0).then_some(strand.first),
            last: (strand.events > 0).then_some(strand.last),
        });
    let variables = hottest(&counts.variables).map(|(number, events)| HotVariable {
        variable: names
            .location(deadheat_model::Location(number as u64))
            .into_owned(),
        events,
    });
    let locs = hottest(&counts.sites).map(|(number, events)| HotLoc {
        loc: names.sites[number].clone(),
        events,
    });
    let sections = counts.longest.iter().map(|section| SectionReport {
        lock: names.lock(section.lock).into_owned(),
        thread: names.strand(section.strand).into_owned(),
        events: section.events,
        first: section.first,
        last: section.last,
    });
    Report {
        trace: String::new(),
        format: "",
        bytes: 0,
        bytes_per_event: None,
        events: counts.events,
        kinds,
        threads: threads.collect(),
        variables: names.locations.len(),
        locks: names.locks.len(),
        semaphores: names.semaphores.len(),
        event_variables: names.flags.len(),
        barriers: names.barriers.len(),
        locs: names.sites.len(),
        hottest_variables: variables.collect(),
        hottest_locs: locs.collect(),
        longest_sections: sections.collect(),
        sections: counts.sections,
        sections_not_left: counts.open.len(),
        damage: None,
    }
}

impl Report {
    fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let n = |count: u64| HumanCount(count).to_string();
        write!(
            out,
            "{}: {} events, {}",
            self.trace,
            n(self.events),
            DecimalBytes(self.bytes)
        )?;
        match self.bytes_per_event {
            Some(each) => writeln!(out, " ({each:.2} bytes an event)")?,
            None => writeln!(out)?,
        }
        let objects = [
            ("threads", self.threads.len()),
            ("variables", self.variables),
            ("locks", self.locks),
            ("semaphores", self.semaphores),
            ("event variables", self.event_variables),
            ("barriers", self.barriers),
            ("places in the source", self.locs),
        ];
        let objects = objects.iter().filter(|(_, count)| *count > 0);
        let objects: Vec<String> = objects
            .map(|(what, count)| format!("{} {what}", n(*count as u64)))
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
            writeln!(
                out,
                "\n{} critical sections are not left",
                n(self.sections_not_left as u64)
            )?;
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
