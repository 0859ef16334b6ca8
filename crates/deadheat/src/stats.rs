//! `deadheat stats`: what is in a trace.
//!
//! One pass; memory for a number per thread, variable and place in the source, and for the sections that
//! are open at a time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use deadheat_model::words::word;
use deadheat_model::{Event, EventNumber, Location, Lock, Names, Op, Site, StopToken, Strand};
use deadheat_report::{
    DamageReport, HotLoc, HotVariable, SectionReport, StatsReport, StatsThread as Thread,
};
use deadheat_trace::text::TextFormat;
use deadheat_trace::{Format, Source, TraceError, Window};
use rustc_hash::FxHashMap;

use crate::{Step, Watch};

/// How many of a list are told: of the hottest, of the longest.
const SHOWN: usize = 10;

/// What is counted on the way through the trace.
#[derive(Default)]
struct Counts {
    events: u64,
    /// By code and detail.
    kinds: FxHashMap<(u8, u8), u64>,
    strands: Vec<StrandCount>,
    variables: Vec<u64>,
    sites: Vec<u64>,
    open: FxHashMap<(Strand, Lock), OpenSection>,
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
struct OpenSection {
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
        let open = self.open.entry((strand, lock)).or_insert(OpenSection {
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

/// Tells what is in a trace; or, if it is stopped, in the beginning of it.
pub fn stats(source: &Source, stop: StopToken, watch: Watch) -> Result<StatsReport, TraceError> {
    let mut counts = Counts::default();
    let mut names = Names::default();
    let flow = source.for_each(|window| {
        counts.add(&window);
        watch(Step::Reading(window.done));
        match stop.due() {
            None => ControlFlow::Continue(()),
            Some(why) => {
                names = window.names.clone();
                ControlFlow::Break(why)
            }
        }
    })?;
    let stopped = flow.break_value();
    let names = match stopped {
        None => source.names()?,
        Some(_) => &names,
    };
    let bytes = source.bytes();
    Ok(StatsReport {
        trace: source.name().display().to_string(),
        format: match source.format() {
            Format::Dht => "dht",
            Format::Text(TextFormat::Std) => "std",
            Format::Text(TextFormat::Csv) => "csv",
            Format::Text(TextFormat::Table) => "table",
        },
        bytes,
        bytes_per_event: (counts.events > 0).then(|| bytes as f64 / counts.events as f64),
        damage: source.damage().map(|damage| DamageReport {
            message: damage.to_string(),
            kept: damage.kept,
            lost: damage.lost,
        }),
        stopped: stopped.map(|why| why.to_string()),
        ..report(&counts, names)
    })
}

/// All that does not depend on the file.
fn report(counts: &Counts, names: &Names) -> StatsReport {
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
        variable: names.location(Location(number as u64)).into_owned(),
        events,
    });
    let locs = hottest(&counts.sites).map(|(number, events)| HotLoc {
        loc: names.site(Site(number as u32)).into_owned(),
        events,
    });
    let sections = counts.longest.iter().map(|section| SectionReport {
        lock: names.lock(section.lock).into_owned(),
        thread: names.strand(section.strand).into_owned(),
        events: section.events,
        first: section.first,
        last: section.last,
    });
    StatsReport {
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
        ..StatsReport::default()
    }
}
