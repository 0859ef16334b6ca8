//! The thesis's analysis as it stands, on computation events (chapters 6 to 8).
//!
//! A [`View`] is a program execution seen at a chosen granularity (definition 3.3): computation events,
//! each with what it reads and writes, and the temporal ordering graph G. [`View::analyse`] adds the
//! dependences, validates the apparent races and orders them: what was possible in 1991, when the order
//! of single accesses was not recorded. [`deadheat_explain::explain()`] knows that order and does better;
//! tests and benches compare it with this.
//!
//! Cost: a clock for each event; a comparison for each pair of unordered conflicting computation
//! events, of which [`MAX_PAIRS`] are kept; first partitions take races times first partitions.

mod dependences;
mod graph;
mod ordering;

use deadheat_explain::edges::{Listener, Slot, tell};
use deadheat_model::{Access, AccessKind, Event, Execution, Op, ReadKind, Strand};
use deadheat_offline::threads::{At, ImpossibleEvent};
use deadheat_order::PersistentClock;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use graph::{Graph, Node};

pub use ordering::{Analysis, RaceStatus};

/// How many pairs of unordered conflicting computation events are kept.
pub const MAX_PAIRS: usize = 5_000_000;

/// How much of what an execution knows is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detail {
    /// Whether the complete temporal order of computation events is known: dependences then go both
    /// ways only between events that overlapped (section 9.1.2).
    pub complete_order: bool,
    /// Whether it is known which reads are control reads: others event-control nothing.
    pub control_reads: bool,
}

impl Detail {
    /// What a trace of 1991 has: who waits for whom, and what is read and written.
    pub const COARSE: Detail = Detail {
        complete_order: false,
        control_reads: false,
    };
    /// The thesis's close approximation.
    pub const CLOSE: Detail = Detail {
        complete_order: true,
        control_reads: false,
    };
}

/// A computation event, or a synchronisation event.
#[derive(Clone, Debug)]
pub struct ViewEvent {
    /// Who does it; nobody, for what several strands do together.
    pub strand: Option<Strand>,
    /// Which event of its strand it is, from 1.
    pub serial: u32,
    /// Its first and last event, by index.
    pub span: (usize, usize),
}

/// Two computation events that conflict and are unordered by G.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The one that began first.
    pub a: u32,
    /// The other one.
    pub b: u32,
    /// Whether `a` writes something that `b` reads, and the other way round.
    pub(crate) flows: [bool; 2],
    /// The same for control reads.
    pub(crate) controls: [bool; 2],
}

/// See the [module](self).
pub struct View {
    /// In the order in which they begin.
    pub events: Vec<ViewEvent>,
    /// The apparent races, each pair of computation events once.
    pub pairs: Vec<Pair>,
    /// Whether there were more than [`MAX_PAIRS`].
    pub complete: bool,
    graph: Graph,
    before: Vec<PersistentClock>,
}

impl View {
    /// The view whose computation events are as large as can be.
    pub fn between_synchronisation(execution: &Execution) -> Result<View, ImpossibleEvent> {
        View::new(execution, &FixedBitSet::new())
    }

    /// The view in which a computation event ends before every index in `splits`; or says why nobody
    /// could have done it.
    pub fn new(execution: &Execution, splits: &FixedBitSet) -> Result<View, ImpossibleEvent> {
        let mut builder = Builder {
            all: &execution.events,
            splits,
            events: Vec::new(),
            before: Vec::new(),
            edges: Vec::new(),
            strands: FxHashMap::default(),
            slots: Vec::new(),
            touched: FxHashMap::default(),
        };
        tell(execution, &mut builder)?;
        Ok(builder.finish())
    }

    /// Whether an event comes before another in G.
    pub fn precedes(&self, a: u32, b: u32) -> bool {
        let event = &self.events[a as usize];
        let before = &self.before[b as usize];
        a != b
            && event
                .strand
                .is_some_and(|strand| before.get(strand) >= event.serial)
    }

    /// Whether two events are unordered by G.
    pub(crate) fn unordered(&self, a: u32, b: u32) -> bool {
        a != b && !self.precedes(a, b) && !self.precedes(b, a)
    }

    /// Whether two computation events overlapped in time.
    pub fn overlap(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.events[a as usize], &self.events[b as usize]);
        a.span.0 < b.span.1 && b.span.0 < a.span.1
    }
}

/// Where an event starts in the graph.
pub(crate) fn start(event: u32) -> Node {
    2 * event
}

/// Where it finishes.
pub(crate) fn finish(event: u32) -> Node {
    2 * event + 1
}

struct Builder<'a> {
    all: &'a [Event],
    splits: &'a FixedBitSet,
    events: Vec<ViewEvent>,
    before: Vec<PersistentClock>,
    edges: Vec<(u32, u32)>,
    /// By strand: its last event, how many it has, and whether the last one is open.
    strands: FxHashMap<Strand, Progress>,
    slots: Vec<Option<u32>>,
    /// By location: who touched it, and how.
    touched: FxHashMap<u64, Vec<(Strand, Vec<Touch>)>>,
}

#[derive(Clone, Default)]
struct Progress {
    last: Option<u32>,
    count: u32,
    open: bool,
    /// The event that started it.
    forked: Option<u32>,
}

/// What a computation event does to a location.
struct Touch {
    event: u32,
    reads: bool,
    writes: bool,
    controls: bool,
}

impl Builder<'_> {
    fn add(&mut self, event: ViewEvent) -> u32 {
        self.events.push(event);
        self.before.push(PersistentClock::default());
        self.events.len() as u32 - 1
    }

    fn order(&mut self, from: u32, to: u32) {
        self.edges.push((from, to));
        let event = &self.events[from as usize];
        let mut clock = self.before[from as usize].clone();
        if let Some(strand) = event.strand {
            clock.raise(strand, event.serial);
        }
        self.before[to as usize].join(&clock);
    }

    fn begin(&mut self, strand: Strand, index: usize, open: bool) -> u32 {
        let progress = self.strands.entry(strand).or_default();
        progress.count += 1;
        let (last, forked) = (progress.last, progress.forked.take());
        let event = ViewEvent {
            strand: Some(strand),
            serial: progress.count,
            span: (index, index),
        };
        let number = self.add(event);
        for before in [last, forked].into_iter().flatten() {
            self.order(before, number);
        }
        let progress = self.strands.entry(strand).or_default();
        (progress.last, progress.open) = (Some(number), open);
        number
    }

    fn touch(&mut self, strand: Strand, index: usize, Access { location, kind }: Access) {
        let split = self.splits.contains(index);
        let progress = self.strands.get(&strand);
        let open = progress.filter(|progress| progress.open && !split);
        let event = match open.and_then(|progress| progress.last) {
            Some(open) => open,
            None => self.begin(strand, index, true),
        };
        let control = matches!(self.all[index].op(), Op::Read(_, ReadKind::Control));
        self.events[event as usize].span.1 = index;
        let strands = self.touched.entry(location.0).or_default();
        let place = strands.iter().position(|(other, _)| *other == strand);
        let place = place.unwrap_or_else(|| {
            strands.push((strand, Vec::new()));
            strands.len() - 1
        });
        let touches = &mut strands[place].1;
        if touches.last().is_none_or(|last| last.event != event) {
            touches.push(Touch {
                event,
                reads: false,
                writes: false,
                controls: false,
            });
        }
        if let Some(touch) = touches.last_mut() {
            touch.reads |= kind == AccessKind::Read;
            touch.writes |= kind == AccessKind::Write;
            touch.controls |= control;
        }
    }

    /// The last event of a strand: what others come after when they wait for it.
    fn last(&self, strand: Strand) -> Option<u32> {
        self.strands.get(&strand).and_then(|progress| progress.last)
    }

    fn finish(self) -> View {
        let mut view = View {
            pairs: Vec::new(),
            complete: true,
            graph: Graph::new(2 * self.events.len()),
            events: self.events,
            before: self.before,
        };
        for event in 0..view.events.len() as u32 {
            view.graph.edge(start(event), finish(event));
        }
        for (from, to) in self.edges {
            view.graph.edge(finish(from), start(to));
        }
        let mut pairs: FxHashMap<(u32, u32), Pair> = FxHashMap::default();
        for strands in self.touched.values() {
            for (place, (_, touches)) in strands.iter().enumerate() {
                for touch in touches {
                    for (other, others) in &strands[..place] {
                        view.conflicts(touch, *other, others, &mut pairs);
                    }
                }
            }
        }
        view.pairs = pairs.into_values().collect();
        view.pairs.sort_unstable_by_key(|pair| (pair.b, pair.a));
        view
    }
}

impl View {
    /// Adds what one computation event and those of another strand do to a location.
    fn conflicts(
        &mut self,
        touch: &Touch,
        strand: Strand,
        others: &[Touch],
        pairs: &mut FxHashMap<(u32, u32), Pair>,
    ) {
        let known = self.before[touch.event as usize].get(strand);
        let serial = |touch: &Touch| self.events[touch.event as usize].serial;
        let from = others.partition_point(|other| serial(other) <= known);
        for other in &others[from..] {
            if self.precedes(touch.event, other.event) {
                break;
            }
            if !touch.writes && !other.writes {
                continue;
            }
            let (a, b) = match touch.event < other.event {
                true => (touch, other),
                false => (other, touch),
            };
            let key = (a.event, b.event);
            if pairs.len() >= MAX_PAIRS && !pairs.contains_key(&key) {
                self.complete = false;
                return;
            }
            let pair = pairs.entry(key).or_insert(Pair {
                a: a.event,
                b: b.event,
                flows: [false; 2],
                controls: [false; 2],
            });
            pair.flows[0] |= a.writes && b.reads;
            pair.flows[1] |= b.writes && a.reads;
            pair.controls[0] |= a.writes && b.controls;
            pair.controls[1] |= b.writes && a.controls;
        }
    }
}

impl Listener for Builder<'_> {
    fn access(&mut self, at: At, access: Access) {
        self.touch(at.strand, at.number as usize - 1, access);
    }

    fn synchronises(&mut self, at: At) {
        self.begin(at.strand, at.number as usize - 1, false);
    }

    fn publish(&mut self, at: At, slot: Slot, add: bool) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        let Some(here) = self.last(at.strand) else {
            return;
        };
        let together = match self.slots[slot].filter(|_| add) {
            None => here,
            Some(before) => {
                let span = self.events[here as usize].span;
                let together = self.add(ViewEvent {
                    strand: None,
                    serial: 0,
                    span,
                });
                self.order(before, together);
                self.order(here, together);
                together
            }
        };
        self.slots[slot] = Some(together);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        if let (Some(here), Some(&Some(from))) = (self.last(at.strand), self.slots.get(slot)) {
            self.order(from, here);
        }
    }

    fn fork(&mut self, at: At, child: Strand) {
        let here = self.last(at.strand);
        self.strands.entry(child).or_default().forked = here;
    }

    fn join(&mut self, at: At, child: Strand) {
        let from = self
            .strands
            .get(&child)
            .and_then(|child| child.last.or(child.forked));
        if let (Some(here), Some(from)) = (self.last(at.strand), from) {
            self.order(from, here);
        }
    }
}
