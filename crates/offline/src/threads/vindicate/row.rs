//! Events in a row, one by one, each only where it can happen.

use deadheat_model::{Location, Lock};
use rustc_hash::FxHashMap;

use super::Section;
use super::window::{Node, Source, Window, written};

impl Window<'_> {
    /// Puts all that is needed in a row, at every step the event of the least rank that can happen.
    pub(super) fn in_a_row(&self, rank: impl Fn(Node) -> u32) -> Option<Vec<Node>> {
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

/// Where a witness has got to: who holds which lock, and what is in memory.
pub(super) struct State {
    pub(super) done: Vec<u32>,
    /// Those who hold each lock for themselves, and those who hold it for reading.
    pub(super) held: FxHashMap<Lock, (u32, u32)>,
    pub(super) values: FxHashMap<Location, Source>,
    /// The reads that have yet to see each value.
    pub(super) to_read: FxHashMap<(Location, Source), u32>,
}

impl State {
    pub(super) fn new(window: &Window) -> State {
        let trace = window.trace;
        let mut state = State {
            done: vec![0; window.by_strand.len()],
            held: FxHashMap::default(),
            values: FxHashMap::default(),
            to_read: FxHashMap::default(),
        };
        for section in window.open {
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
    pub(super) fn read(window: &Window, node: Node) -> Option<(Location, Source)> {
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
