//! Vindication: a pair of conflicting accesses that [`dc`](super::dc) leaves unordered is a race if the
//! trace can be reordered so that both come last (after Roemer, Genç, Bond 2018).
//!
//! The simple model. Some events have to be there: what the two come behind in program order, hard order
//! and DC's rule about conflicting sections; the write that each read observes, and whatever that
//! comes behind; the end of a section when another of its lock is there too. Among them some orders
//! are forced: the above; sections of one lock do not overlap, so if the start of one comes before the
//! end of another, its end comes before the other's start (DC's other rule, and more); no other write
//! comes between a write and a read that observes it; a section that stays open is the last of its
//! lock. That is repeated until nothing new follows. If an event has to be there that comes
//! after one of the two, or the orders go in a circle, the pair is not vindicated. Otherwise events
//! are put in a row one by one, each only where it can happen: the row is a witness by construction.
//!
//! Only a window of the trace is looked at. What lies before it is kept as it was, all of it: that is
//! a choice, so if no witness is found the window grows, until it is the whole beginning of the
//! trace or the work (`WORK`) is too much.
//!
//! Guarantee: whoever is given a witness can trust it. Not every race has one that this finds: conflicting
//! sections are never swapped, and nothing is ever taken back.
//!
//! Cost: an index of about 20 bytes an event, once; for a pair, the window's events times strands,
//! times the length of the longest chain of orders that follow from each other.

use deadheat_model::{Event, EventNumber, Location, Lock, Names, Op, Strand, Witness};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{At, Driver, Lowering, Malformed, Publish, Slot, ThreadEngine};

/// How many entries of clocks may be computed for one pair.
const WORK: usize = 1 << 26;
/// Where windows can begin: every so many events.
const GRAIN: usize = 256;
const NONE: u32 = u32::MAX;

/// A trace, ready to be asked for witnesses.
pub struct Vindicator<'a> {
    events: &'a [Event],
    strands: usize,
    /// Later and earlier event of what hard order adds to program order; by the later one.
    hard: Vec<(u32, u32)>,
    /// For each event: the write it observes, if it reads what was written.
    observed: Vec<u32>,
    sections: Vec<Section>,
    /// For each event: the section it begins or ends.
    section: Vec<u32>,
    /// The sections that are open where windows can begin.
    open: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    lock: Lock,
    strand: Strand,
    shared: bool,
    acquire: u32,
    release: u32,
}

impl<'a> Vindicator<'a> {
    /// Reads a trace, of which at most the first 2^32 - 1 events are looked at.
    pub fn new(events: &'a [Event], names: &Names) -> Result<Vindicator<'a>, Malformed> {
        let events = &events[..events.len().min(NONE as usize)];
        let strands = names.strands.len();
        let mut reader = Reader {
            now: 0,
            last: vec![NONE; strands],
            forked: vec![NONE; strands],
            slots: Vec::new(),
            released: vec![NONE; names.lock_count()],
            written: vec![NONE; names.locations.len()],
            open: Vec::new(),
            found: Vindicator {
                events,
                strands,
                hard: Vec::new(),
                observed: vec![NONE; events.len()],
                sections: Vec::new(),
                section: vec![NONE; events.len()],
                open: Vec::new(),
            },
        };
        let mut driver = Driver::new(names, Lowering::Preserved);
        for (number, event) in events.iter().enumerate() {
            reader.now = number as u32;
            reader.next(event);
            driver.feed(std::slice::from_ref(event), &mut reader)?;
            reader.last[event.strand().index()] = number as u32;
        }
        Ok(reader.found)
    }

    /// A reordering of a part of the trace at whose end are the two events, which have to be conflicting
    /// accesses of two strands: all that happens in it can happen as it did, reads see what they saw
    /// (the two last ones may not).
    pub fn witness(&self, one: EventNumber, other: EventNumber) -> Option<Witness> {
        let index = |number: EventNumber| usize::try_from(number.checked_sub(1)?).ok();
        let (first, second) = (index(one.min(other))?, index(one.max(other))?);
        let event = |number: usize| self.events.get(number);
        let (a, b) = (event(first)?, event(second)?);
        if a.strand() == b.strand() || !a.access()?.conflicts_with(&b.access()?) {
            return None;
        }
        let mut work = WORK;
        let mut begin = first / GRAIN;
        let mut step = 1;
        loop {
            let start = begin * GRAIN;
            let mut window = Window::new(self, start, first, second);
            // A larger window would need all of this as well.
            window.need_what_the_pair_needs().ok()?;
            if let Some(row) = window.witness(&mut work) {
                let row = row.into_iter().map(|node| start + node as usize);
                let then = row.chain([first, second]);
                return Some(Witness {
                    before: start as EventNumber + 1,
                    upto: vec![start as EventNumber; self.strands],
                    then: then.map(|event| event as EventNumber + 1).collect(),
                });
            }
            if begin == 0 || work == 0 {
                return None;
            }
            begin = begin.saturating_sub(step);
            step *= 2;
        }
    }
}

/// Reads a trace into a [`Vindicator`].
struct Reader<'a> {
    now: u32,
    last: Vec<u32>,
    forked: Vec<u32>,
    /// Who published to each slot, at most one event a strand.
    slots: Vec<Vec<u32>>,
    released: Vec<u32>,
    written: Vec<u32>,
    open: Vec<u32>,
    found: Vindicator<'a>,
}

impl Reader<'_> {
    /// What is the same for all events.
    fn next(&mut self, event: &Event) {
        if (self.now as usize).is_multiple_of(GRAIN) {
            self.found.open.push(self.open.clone());
        }
        let fork = std::mem::replace(&mut self.forked[event.strand().index()], NONE);
        self.comes_behind(fork);
        match event.op() {
            Op::AcquireShared(lock) => self.begin(event.strand(), lock, true),
            Op::ReleaseShared(lock) => self.end(event.strand(), lock),
            _ => {}
        }
    }

    fn comes_behind(&mut self, event: u32) {
        if event != NONE {
            self.found.hard.push((self.now, event));
        }
    }

    fn begin(&mut self, strand: Strand, lock: Lock, shared: bool) {
        let section = self.found.sections.len() as u32;
        self.found.sections.push(Section {
            lock,
            strand,
            shared,
            acquire: self.now,
            release: NONE,
        });
        self.found.section[self.now as usize] = section;
        self.open.push(section);
    }

    fn end(&mut self, strand: Strand, lock: Lock) {
        let sections = &mut self.found.sections;
        let mine = |section: &u32| {
            let section = &sections[*section as usize];
            (section.strand, section.lock) == (strand, lock)
        };
        if let Some(at) = self.open.iter().position(mine) {
            let section = self.open.swap_remove(at);
            sections[section as usize].release = self.now;
            self.found.section[self.now as usize] = section;
        }
    }

    fn observe(&mut self, location: Location) {
        self.found.observed[self.now as usize] = self.written[location.index()];
    }
}

impl ThreadEngine for Reader<'_> {
    fn read(&mut self, _: At, location: Location) {
        self.observe(location);
    }

    fn write(&mut self, _: At, location: Location) {
        self.written[location.index()] = self.now;
    }

    fn atomic_read(&mut self, _: At, location: Location) {
        self.observe(location);
    }

    fn atomic_write(&mut self, _: At, location: Location) {
        self.written[location.index()] = self.now;
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.begin(at.strand, lock, false);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.end(at.strand, lock);
        self.released[lock.index()] = self.now;
    }

    fn fork(&mut self, _: At, child: Strand) {
        self.forked[child.index()] = self.now;
    }

    fn join(&mut self, _: At, child: Strand) {
        // One that has done nothing was at least forked.
        let forked = self.forked[child.index()];
        self.comes_behind(forked);
        self.comes_behind(self.last[child.index()]);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        let slot = slot.0 as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, Vec::new());
        }
        let by = &mut self.slots[slot];
        match how {
            Publish::Replace => by.clear(),
            Publish::Add => {
                let events = self.found.events;
                by.retain(|event| events[*event as usize].strand() != at.strand);
            }
        }
        by.push(self.now);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        for &event in self.slots.get(slot.0 as usize).into_iter().flatten() {
            if self.found.events[event as usize].strand() != at.strand {
                self.found.hard.push((self.now, event));
            }
        }
    }

    fn acquire_shared(&mut self, _: At, lock: Lock) {
        self.comes_behind(self.released[lock.index()]);
    }
}

/// An event of the window, by its place in it.
type Node = u32;

/// Where the value comes from that a read observes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Source {
    /// From what was there before the window.
    Before,
    Node(Node),
}

/// Something that several strands do, for each of them in program order.
type ByStrand<T> = Vec<(Strand, Vec<T>)>;

fn push<T>(by_strand: &mut ByStrand<T>, strand: Strand, item: T) {
    match by_strand.iter_mut().find(|(whose, _)| *whose == strand) {
        Some((_, items)) => items.push(item),
        None => by_strand.push((strand, vec![item])),
    }
}

/// A section as far as it lies in the window.
#[derive(Clone, Copy)]
struct Part {
    strand: Strand,
    /// None if it was open before the window.
    acquire: Option<Node>,
    /// None if that comes after the window, or never.
    release: Option<Node>,
}

/// The events from some point on up to the second of the pair.
struct Window<'v> {
    trace: &'v Vindicator<'v>,
    start: usize,
    pair: [Node; 2],
    by_strand: Vec<Vec<Node>>,
    /// For each event: how many of its strand come before it in the window.
    place: Vec<u32>,
    /// For each event: what has to come before it, besides program order.
    before: Vec<SmallVec<[Node; 2]>>,
    /// For each strand: how many of its events have to be there, and can be there.
    needed: Vec<u32>,
    limit: Vec<u32>,
    locks: FxHashMap<Lock, ByStrand<Part>>,
    writes: FxHashMap<Location, ByStrand<Node>>,
    reads: Vec<(Node, Location, Source)>,
}

/// That there is no witness here, or none within the work that may be done.
struct NoWitness;

impl<'v> Window<'v> {
    fn new(trace: &'v Vindicator<'v>, start: usize, first: usize, second: usize) -> Window<'v> {
        let events = &trace.events[start..=second];
        let mut window = Window {
            trace,
            start,
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
        window.read_accesses(events);
        window
    }

    fn strand(&self, node: Node) -> Strand {
        self.event(node).strand()
    }

    fn event(&self, node: Node) -> &Event {
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
        let open = &self.trace.open[self.start / GRAIN];
        let from = all.partition_point(|section| (section.acquire as usize) < self.start);
        let inside = all[from..].iter();
        let inside = inside.take_while(|section| (section.acquire as usize) < end);
        let open = open.iter().map(|section| &all[*section as usize]);
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
    /// a section that was open before the window only the accesses inside the window count.
    fn read_accesses(&mut self, events: &[Event]) {
        #[derive(Clone, Copy)]
        struct Accessor {
            strand: Strand,
            any: Node,
            writing: Node,
        }
        let trace = self.trace;
        let mut held: Vec<Vec<&Section>> = vec![Vec::new(); trace.strands];
        for section in &trace.open[self.start / GRAIN] {
            let section = &trace.sections[*section as usize];
            held[section.strand.index()].push(section);
        }
        let mut accessors: FxHashMap<(Lock, Location), Vec<Accessor>> = FxHashMap::default();
        for (event, node) in events.iter().zip(0..) {
            let number = self.start + node as usize;
            let strand = event.strand();
            if let Some(section) = trace.sections.get(trace.section[number] as usize) {
                let held = &mut held[strand.index()];
                match section.acquire as usize == number {
                    true => held.push(section),
                    false => held.retain(|other| other.acquire != section.acquire),
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
    }

    fn witness(mut self, work: &mut usize) -> Option<Vec<Node>> {
        self.close(work).ok()?;
        let in_trace_order = self.in_a_row(|node| node);
        in_trace_order.or_else(|| self.in_a_row(|node| NONE - node))
    }

    fn is_needed(&self, node: Node) -> bool {
        self.place[node as usize] < self.needed[self.strand(node).index()]
    }

    /// An event has to be there, and all that has to come before it.
    fn need(&mut self, node: Node) -> Result<(), NoWitness> {
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

    /// What the two come behind has to be there, and what that comes behind.
    fn need_what_the_pair_needs(&mut self) -> Result<(), NoWitness> {
        for node in self.pair {
            let place = self.place[node as usize] as usize;
            if place > 0 {
                self.need(self.by_strand[self.strand(node).index()][place - 1])?;
            }
            for before in self.before[node as usize].clone() {
                self.need(before)?;
            }
        }
        Ok(())
    }

    /// Finds everything else that has to be there, and all orders that are forced.
    fn close(&mut self, work: &mut usize) -> Result<(), NoWitness> {
        loop {
            while self.end_sections()? {}
            let clocks = self.clocks(work)?;
            // What has become needed by one has no clocks yet for the other.
            if !self.separate_sections(&clocks)? && !self.keep_observations(&clocks)? {
                return Ok(());
            }
        }
    }

    /// Whether a section's lock is taken in the witness, and whether it is given back.
    fn is_begun(&self, part: &Part) -> bool {
        part.acquire.is_none_or(|node| self.is_needed(node))
    }

    fn is_ended(&self, part: &Part) -> bool {
        part.release.is_some_and(|node| self.is_needed(node))
    }

    /// Of the sections of one lock at most one stays open. Says whether more events are needed now.
    fn end_sections(&mut self) -> Result<bool, NoWitness> {
        let mut ends = Vec::new();
        for by_strand in self.locks.values() {
            let parts = by_strand.iter().flat_map(|(_, parts)| parts);
            let begun: Vec<&Part> = parts.filter(|part| self.is_begun(part)).collect();
            if begun.len() < 2 {
                continue;
            }
            let open = || begun.iter().filter(|part| !self.is_ended(part));
            let can_end = |part: &Part| {
                let place = |node: Node| self.place[node as usize];
                let limit = self.limit[part.strand.index()];
                part.release.is_some_and(|node| place(node) < limit)
            };
            // One that cannot end stays open, or else the last that has begun.
            let stays = open().find(|part| !can_end(part));
            let stays = stays.or_else(|| open().max_by_key(|part| part.acquire));
            let stays = stays.and_then(|part| part.acquire);
            for part in open().filter(|part| part.acquire.is_none() || part.acquire != stays) {
                ends.push(part.release.ok_or(NoWitness)?);
            }
        }
        for end in &ends {
            self.need(*end)?;
        }
        Ok(!ends.is_empty())
    }

    /// For each event that is needed, how much of each strand comes before it, itself included.
    fn clocks(&self, work: &mut usize) -> Result<Clocks, NoWitness> {
        let strands = self.by_strand.len();
        let mut first = Vec::with_capacity(strands);
        let mut rows = 0;
        for needed in &self.needed {
            first.push(rows);
            rows += *needed as usize;
        }
        let size = (rows * strands).max(1);
        if *work < size {
            *work = 0;
            return Err(NoWitness);
        }
        *work -= size;
        let mut clocks = Clocks {
            strands,
            first,
            times: vec![0; rows * strands],
        };
        let mut done = vec![0; strands];
        let mut waiting: FxHashMap<Node, SmallVec<[usize; 2]>> = FxHashMap::default();
        let mut ready: Vec<usize> = (0..strands).collect();
        let mut left = rows;
        while let Some(strand) = ready.pop() {
            while done[strand] < self.needed[strand] {
                let node = self.by_strand[strand][done[strand] as usize];
                let before = &self.before[node as usize];
                let missing = before.iter().find(|before| {
                    self.place[**before as usize] >= done[self.strand(**before).index()]
                });
                if let Some(&missing) = missing {
                    waiting.entry(missing).or_default().push(strand);
                    break;
                }
                let row = clocks.row(strand, done[strand]);
                if done[strand] > 0 {
                    clocks.times.copy_within(row - strands..row, row);
                }
                for &before in before {
                    let other = self.strand(before).index();
                    let other = clocks.row(other, self.place[before as usize]);
                    for at in 0..strands {
                        let time = clocks.times[other + at];
                        clocks.times[row + at] = clocks.times[row + at].max(time);
                    }
                }
                done[strand] += 1;
                clocks.times[row + strand] = done[strand];
                left -= 1;
                ready.extend(waiting.remove(&node).into_iter().flatten());
            }
        }
        // Otherwise they wait in a circle.
        if left > 0 {
            return Err(NoWitness);
        }
        Ok(clocks)
    }

    /// How much of a strand comes before an event.
    fn known(&self, clocks: &Clocks, node: Node, strand: Strand) -> u32 {
        let row = clocks.row(self.strand(node).index(), self.place[node as usize]);
        clocks.times[row + strand.index()]
    }

    /// Whether one event comes before another, or is it.
    fn comes_before(&self, clocks: &Clocks, one: Node, other: Node) -> bool {
        self.place[one as usize] < self.known(clocks, other, self.strand(one))
    }

    /// Sections of one lock that are ordered somewhere are ordered as a whole. Says whether that is news.
    fn separate_sections(&mut self, clocks: &Clocks) -> Result<bool, NoWitness> {
        let mut orders = Vec::new();
        for by_strand in self.locks.values() {
            for part in by_strand.iter().flat_map(|(_, parts)| parts) {
                if !self.is_begun(part) {
                    continue;
                }
                let end = part.release.filter(|_| self.is_ended(part));
                for (strand, others) in by_strand.iter().filter(|(s, _)| *s != part.strand) {
                    let begun = others.partition_point(|other| self.is_begun(other));
                    let Some(begin) = part.acquire else {
                        // It was there first.
                        if let (Some(end), Some(other)) = (end, others[..begun].first()) {
                            orders.push((end, other.acquire.ok_or(NoWitness)?));
                        }
                        continue;
                    };
                    let before = match end {
                        Some(end) => {
                            let known = self.known(clocks, end, *strand);
                            others[..begun].partition_point(|other| {
                                other
                                    .acquire
                                    .is_none_or(|node| self.place[node as usize] < known)
                            })
                        }
                        // It stays open, so all others come before.
                        None => begun,
                    };
                    if let Some(other) = others[..before].last() {
                        orders.push((other.release.ok_or(NoWitness)?, begin));
                    }
                }
            }
        }
        self.add(clocks, orders)
    }

    /// No write comes between one and the reads that observe it. Says whether that is news.
    fn keep_observations(&mut self, clocks: &Clocks) -> Result<bool, NoWitness> {
        let mut orders = Vec::new();
        for &(read, location, source) in &self.reads {
            if !self.is_needed(read) {
                continue;
            }
            for (strand, writes) in self.writes.get(&location).into_iter().flatten() {
                let needed = writes.partition_point(|write| self.is_needed(*write));
                let writes = &writes[..needed];
                let known = self.known(clocks, read, *strand);
                let earlier = writes.partition_point(|write| self.place[*write as usize] < known);
                let earlier = writes[..earlier].iter().rfind(|write| **write != read);
                let later = match source {
                    Source::Before => {
                        if earlier.is_some() {
                            return Err(NoWitness);
                        }
                        writes.first()
                    }
                    Source::Node(source) => {
                        if let Some(&earlier) = earlier.filter(|write| **write != source) {
                            orders.push((earlier, source));
                        }
                        let after = writes
                            .partition_point(|write| !self.comes_before(clocks, source, *write));
                        writes[after..].iter().find(|write| **write != source)
                    }
                };
                if let Some(&later) = later.filter(|write| **write != read) {
                    orders.push((read, later));
                }
            }
        }
        self.add(clocks, orders)
    }

    /// Adds orders, and says whether any of them is new.
    fn add(&mut self, clocks: &Clocks, orders: Vec<(Node, Node)>) -> Result<bool, NoWitness> {
        let mut news = false;
        for (earlier, later) in orders {
            // What has become needed since has no clock yet.
            let known = clocks.knows(self.strand(earlier).index(), self.place[earlier as usize])
                && self.comes_before(clocks, earlier, later);
            if !known {
                self.before[later as usize].push(earlier);
                self.need(earlier)?;
                news = true;
            }
        }
        Ok(news)
    }

    /// Puts all that is needed in a row, at every step the event of the least rank that can happen.
    fn in_a_row(&self, rank: impl Fn(Node) -> u32) -> Option<Vec<Node>> {
        let mut state = State::new(self);
        let all: u32 = self.needed.iter().sum();
        let mut row = Vec::with_capacity(all as usize);
        while row.len() < all as usize {
            let next = (0..self.by_strand.len())
                .filter(|strand| state.done[*strand] < self.needed[*strand]);
            let next = next.map(|strand| self.by_strand[strand][state.done[strand] as usize]);
            let node = next
                .filter(|node| state.can_happen(self, *node))
                .min_by_key(|node| rank(*node))?;
            state.happens(self, node);
            row.push(node);
        }
        Some(row)
    }
}

/// For each event that is needed, a clock.
struct Clocks {
    strands: usize,
    /// Where each strand's begin.
    first: Vec<usize>,
    times: Vec<u32>,
}

impl Clocks {
    fn row(&self, strand: usize, place: u32) -> usize {
        (self.first[strand] + place as usize) * self.strands
    }

    fn knows(&self, strand: usize, place: u32) -> bool {
        let end = self.first.get(strand + 1).copied();
        let end = end.unwrap_or(self.times.len() / self.strands);
        self.first[strand] + (place as usize) < end
    }
}

/// Where a witness has got to: who holds which lock, and what is in memory.
struct State {
    done: Vec<u32>,
    /// Those who hold each lock for themselves, and those who hold it for reading.
    held: FxHashMap<Lock, (u32, u32)>,
    values: FxHashMap<Location, Source>,
    /// The reads that have yet to see each value.
    to_read: FxHashMap<(Location, Source), u32>,
}

impl State {
    fn new(window: &Window) -> State {
        let trace = window.trace;
        let mut state = State {
            done: vec![0; window.by_strand.len()],
            held: FxHashMap::default(),
            values: FxHashMap::default(),
            to_read: FxHashMap::default(),
        };
        for section in &trace.open[window.start / GRAIN] {
            state.take(&trace.sections[*section as usize]);
        }
        for &(read, location, source) in &window.reads {
            if window.is_needed(read) {
                *state.to_read.entry((location, source)).or_default() += 1;
            }
        }
        state
    }

    fn take(&mut self, section: &Section) {
        let held = self.held.entry(section.lock).or_default();
        match section.shared {
            true => held.1 += 1,
            false => held.0 += 1,
        }
    }

    fn value(&self, location: Location) -> Source {
        self.values
            .get(&location)
            .copied()
            .unwrap_or(Source::Before)
    }

    /// The read that an event of the window is, with what it observes.
    fn read(window: &Window, node: Node) -> Option<(Location, Source)> {
        let at = window
            .reads
            .binary_search_by_key(&node, |read| read.0)
            .ok()?;
        Some((window.reads[at].1, window.reads[at].2))
    }

    /// The section that an event begins or ends, and whether it begins it.
    fn section<'v>(window: &Window<'v>, node: Node) -> Option<(&'v Section, bool)> {
        let number = window.start + node as usize;
        let section = window
            .trace
            .sections
            .get(window.trace.section[number] as usize)?;
        Some((section, section.acquire as usize == number))
    }

    fn can_happen(&self, window: &Window, node: Node) -> bool {
        let is_done = |before: &Node| {
            window.place[*before as usize] < self.done[window.strand(*before).index()]
        };
        if !window.before[node as usize].iter().all(is_done) {
            return false;
        }
        if let Some((section, true)) = State::section(window, node) {
            let (owners, readers) = self.held.get(&section.lock).copied().unwrap_or_default();
            if owners > 0 || (readers > 0 && !section.shared) {
                return false;
            }
        }
        let read = State::read(window, node);
        if read.is_some_and(|(location, source)| self.value(location) != source) {
            return false;
        }
        match written(window.event(node)) {
            Some(location) => {
                let value = (location, self.value(location));
                let to_read = self.to_read.get(&value).copied().unwrap_or(0);
                to_read == u32::from(read == Some(value))
            }
            None => true,
        }
    }

    fn happens(&mut self, window: &Window, node: Node) {
        self.done[window.strand(node).index()] += 1;
        match State::section(window, node) {
            Some((section, true)) => self.take(section),
            Some((section, false)) => {
                let held = self.held.entry(section.lock).or_default();
                match section.shared {
                    true => held.1 -= 1,
                    false => held.0 -= 1,
                }
            }
            None => {}
        }
        if let Some(value) = State::read(window, node) {
            *self.to_read.entry(value).or_default() -= 1;
        }
        if let Some(location) = written(window.event(node)) {
            self.values.insert(location, Source::Node(node));
        }
    }
}

fn written(event: &Event) -> Option<Location> {
    match event.op() {
        Op::Write(x) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => Some(x),
        _ => None,
    }
}
