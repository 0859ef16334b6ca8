//! A window of the trace: the events of which a witness is made, and what is known of them.

use deadheat_model::{Event, Location, Lock, Op, Strand};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{NONE, Section, Start, Vindicator};

/// An event of the window, by its place in it.
pub(super) type Node = u32;

/// Where the value comes from that a read observes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    /// From what was there before the window.
    Before,
    Node(Node),
}

/// Something that several strands do, for each of them in program order.
pub(super) type ByStrand<T> = SmallVec<[(Strand, SmallVec<[T; 2]>); 2]>;

pub(super) fn push<T>(by_strand: &mut ByStrand<T>, strand: Strand, item: T) {
    match by_strand.iter_mut().find(|(whose, _)| *whose == strand) {
        Some((_, items)) => items.push(item),
        None => by_strand.push((strand, smallvec![item])),
    }
}

/// A section as far as it lies in the window.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) strand: Strand,
    /// None if it was open before the window.
    pub(super) acquire: Option<Node>,
    /// None if that comes after the window, or never.
    pub(super) release: Option<Node>,
}

/// The events from some point on up to the second of the pair.
pub(super) struct Window<'v> {
    pub(super) trace: &'v Vindicator<'v>,
    pub(super) start: usize,
    /// The sections that are open where it begins.
    pub(super) open: &'v [u32],
    pub(super) pair: [Node; 2],
    pub(super) by_strand: Vec<Vec<Node>>,
    /// For each event: how many of its strand come before it in the window.
    pub(super) place: Vec<u32>,
    /// For each event: what has to come before it, besides program order.
    pub(super) before: Vec<SmallVec<[Node; 2]>>,
    /// For each strand: how many of its events have to be there, and can be there.
    pub(super) needed: Vec<u32>,
    pub(super) limit: Vec<u32>,
    pub(super) locks: FxHashMap<Lock, ByStrand<Part>>,
    pub(super) writes: FxHashMap<Location, ByStrand<Node>>,
    pub(super) reads: Vec<(Node, Location, Source)>,
}

/// Does so much of the work that may be done, if it may.
pub(super) fn spend(work: &mut usize, much: usize) -> Option<()> {
    let left = work.checked_sub(much);
    *work = left.unwrap_or(0);
    left.map(drop)
}

/// That there is no witness here, or none within the work that may be done.
pub(super) struct NoWitness;

impl<'v> Window<'v> {
    pub(super) fn new(
        trace: &'v Vindicator<'v>,
        from: &'v Start,
        first: usize,
        second: usize,
        work: &mut usize,
    ) -> Option<Window<'v>> {
        let start = from.event as usize;
        let events = &trace.events[start..=second];
        spend(work, events.len() + from.open.len())?;
        let mut window = Window {
            trace,
            start,
            open: &from.open,
            pair: [(first - start) as Node, (second - start) as Node],
            by_strand: vec![Vec::new(); trace.strands],
            place: Vec::with_capacity(events.len()),
            before: vec![SmallVec::new(); events.len()],
            needed: vec![0; trace.strands],
            limit: Vec::new(),
            locks: FxHashMap::default(),
            writes: FxHashMap::default(),
            reads: Vec::new(),
        };
        for (event, node) in events.iter().zip(0..) {
            let mine = &mut window.by_strand[event.strand().index()];
            window.place.push(mine.len() as u32);
            mine.push(node);
        }
        window.limit = window
            .by_strand
            .iter()
            .map(|all| all.len() as u32)
            .collect();
        for node in window.pair {
            let strand = window.strand(node);
            window.limit[strand.index()] = window.place[node as usize];
        }
        window.read_hard_order(second);
        window.read_sections();
        window.read_accesses(events, work)?;
        Some(window)
    }

    pub(super) fn strand(&self, node: Node) -> Strand {
        self.event(node).strand()
    }

    pub(super) fn event(&self, node: Node) -> &Event {
        &self.trace.events[self.start + node as usize]
    }

    /// An event of the trace as one of the window, if it is.
    fn node(&self, event: u32) -> Option<Node> {
        let node = (event as usize).checked_sub(self.start)?;
        (node < self.place.len()).then_some(node as Node)
    }

    fn read_hard_order(&mut self, second: usize) {
        let hard = &self.trace.hard;
        let from = hard.partition_point(|(later, _)| (*later as usize) < self.start);
        let to = hard.partition_point(|(later, _)| *later as usize <= second);
        for &(later, earlier) in &hard[from..to] {
            if let (Some(later), Some(earlier)) = (self.node(later), self.node(earlier)) {
                self.before[later as usize].push(earlier);
            }
        }
    }

    fn read_sections(&mut self) {
        let (all, end) = (&self.trace.sections, self.start + self.place.len());
        let from = all.partition_point(|section| (section.acquire as usize) < self.start);
        let inside = all[from..].iter();
        let inside = inside.take_while(|section| (section.acquire as usize) < end);
        let open = self.open.iter().map(|section| &all[*section as usize]);
        for section in open.chain(inside).filter(|section| !section.shared) {
            let part = Part {
                strand: section.strand,
                acquire: self.node(section.acquire),
                release: self.node(section.release),
            };
            push(
                self.locks.entry(section.lock).or_default(),
                section.strand,
                part,
            );
        }
    }

    /// Which writes are observed, and what DC's rule about conflicting sections puts before accesses. Of
    /// a section that was open before the window only the accesses inside the window count. Nothing if that is too
    /// much work.
    fn read_accesses(&mut self, events: &[Event], work: &mut usize) -> Option<()> {
        #[derive(Clone, Copy)]
        struct Accessor {
            strand: Strand,
            any: Node,
            writing: Node,
        }
        let trace = self.trace;
        let mut held: Vec<Vec<&Section>> = vec![Vec::new(); trace.strands];
        for section in self.open {
            let section = &trace.sections[*section as usize];
            held[section.strand.index()].push(section);
        }
        let mut accessors: FxHashMap<_, SmallVec<[Accessor; 2]>> = FxHashMap::default();
        for (event, node) in events.iter().zip(0..) {
            let number = self.start + node as usize;
            let strand = event.strand();
            if let Some(section) = trace.sections.get(trace.section[number] as usize) {
                let held = &mut held[strand.index()];
                match section.acquire as usize == number {
                    true => held.push(section),
                    // Mostly the last that was taken.
                    false => {
                        let mine = |other: &&Section| other.acquire == section.acquire;
                        let place = held.iter().rposition(mine);
                        place.map(|place| held.remove(place));
                    }
                }
            }
            let (location, reads, writes) = match event.op() {
                Op::Read(x, _) | Op::AtomicLoad(x, _) => (x, true, false),
                Op::Write(x) | Op::AtomicStore(x, _) => (x, false, true),
                Op::AtomicUpdate(x, _) => (x, true, true),
                _ => continue,
            };
            if writes {
                push(self.writes.entry(location).or_default(), strand, node);
            }
            if reads && !self.pair.contains(&node) {
                let write = trace.observed[number];
                let source = match self.node(write).filter(|_| write != NONE) {
                    Some(write) => {
                        self.before[node as usize].push(write);
                        Source::Node(write)
                    }
                    None => Source::Before,
                };
                self.reads.push((node, location, source));
            }
            if event.access().is_none() {
                continue;
            }
            spend(work, held[strand.index()].len())?;
            for section in held[strand.index()]
                .iter()
                .filter(|section| !section.shared)
            {
                let by = accessors.entry((section.lock, location)).or_default();
                for other in by.iter().filter(|other| other.strand != strand) {
                    let release = if writes { other.any } else { other.writing };
                    if release != NONE && release < node {
                        self.before[node as usize].push(release);
                    }
                }
                let release = self.node(section.release).unwrap_or(NONE);
                let at = by.iter().position(|other| other.strand == strand);
                let at = at.unwrap_or_else(|| {
                    by.push(Accessor {
                        strand,
                        any: NONE,
                        writing: NONE,
                    });
                    by.len() - 1
                });
                by[at].any = release;
                if writes {
                    by[at].writing = release;
                }
            }
        }
        Some(())
    }

    pub(super) fn witness(mut self, work: &mut usize) -> Option<Vec<Node>> {
        self.close(work).ok()?;
        let in_trace_order = self.in_a_row(|node| node);
        in_trace_order.or_else(|| self.in_a_row(|node| NONE - node))
    }

    pub(super) fn is_needed(&self, node: Node) -> bool {
        self.place[node as usize] < self.needed[self.strand(node).index()]
    }

    /// An event has to be there, and all that has to come before it.
    pub(super) fn need(&mut self, node: Node) -> Result<(), NoWitness> {
        let mut left: SmallVec<[Node; 16]> = SmallVec::from_slice(&[node]);
        while let Some(node) = left.pop() {
            let (strand, place) = (self.strand(node).index(), self.place[node as usize]);
            if place >= self.limit[strand] {
                return Err(NoWitness);
            }
            while self.needed[strand] <= place {
                let next = self.by_strand[strand][self.needed[strand] as usize];
                left.extend_from_slice(&self.before[next as usize]);
                self.needed[strand] += 1;
            }
        }
        Ok(())
    }
}

pub(super) fn written(event: &Event) -> Option<Location> {
    match event.op() {
        Op::Write(x) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => Some(x),
        _ => None,
    }
}
