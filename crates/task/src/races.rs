//! The races found so far, one for each pair of places in the source.

use deadheat_model::{AccessKind, Location};
use deadheat_order::Step;
use rustc_hash::FxHashMap;

/// Two accesses that race, the earlier one first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RacePair {
    /// The first location, and how many neighbours race alike.
    pub(crate) location: Location,
    pub(crate) elements: u64,
    pub(crate) steps: [Step; 2],
    pub(crate) kinds: [AccessKind; 2],
    pub(crate) sites: [u32; 2],
}

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Races {
    /// In the order in which they were found, with how many pairs each stands for.
    pub(crate) found: Vec<(RacePair, u64)>,
    by_places: FxHashMap<[(u32, AccessKind); 2], usize>,
    /// The locations that race: ranges, in the order in which they were found.
    racy: Vec<std::ops::Range<u64>>,
}

impl Races {
    pub(crate) fn add(&mut self, found: RacePair) {
        let mut ends = [0, 1].map(|end| (found.sites[end], found.kinds[end]));
        ends.sort();
        let next = self.found.len();
        match *self.by_places.entry(ends).or_insert(next) {
            place if place == next => self.found.push((found, found.elements)),
            place => self.found[place].1 += found.elements,
        }
        let first = found.location.0;
        let range = first..first + found.elements;
        match self.racy.last_mut() {
            Some(last) if *last == range => {}
            Some(last) if last.end == first => last.end = range.end,
            _ => self.racy.push(range),
        }
    }

    /// The locations that race, sorted.
    pub(crate) fn racy(&self) -> Vec<Location> {
        let all = self.racy.iter().cloned().flatten().map(Location);
        let mut racy: Vec<Location> = all.collect();
        racy.sort_unstable();
        racy.dedup();
        racy
    }
}
