//! The events that have to be there and the orders that are forced, repeated until nothing new follows.

use deadheat_model::Strand;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::window::{NoWitness, Node, Part, Source, Window, spend};

impl Window<'_> {
    /// What the two come behind has to be there, and what that comes behind.
    pub(super) fn need_what_the_pair_needs(&mut self) -> Result<(), NoWitness> {
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
    pub(super) fn close(&mut self, work: &mut usize) -> Result<(), NoWitness> {
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
        spend(work, size).ok_or(NoWitness)?;
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
}

/// For each event that is needed, a clock.
pub(super) struct Clocks {
    pub(super) strands: usize,
    /// Where each strand's begin.
    pub(super) first: Vec<usize>,
    pub(super) times: Vec<u32>,
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
