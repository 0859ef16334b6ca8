//! Disjoint sets: what has been put together stays together.
//!
//! Simple model: a number for each element, the same for those of one set; a union renumbers one of
//! them. The clever version is the usual forest, united by rank, with paths halved on the way up:
//! practically O(1) for both operations.

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    parents: Vec<u32>,
    ranks: Vec<u8>,
}

impl DisjointSets {
    /// Adds an element in a set of its own. Elements are numbered from 0.
    pub fn add(&mut self) -> u32 {
        let element = self.parents.len() as u32;
        self.parents.push(element);
        self.ranks.push(0);
        element
    }

    /// The element that stands for the set of an element.
    #[inline]
    pub fn find(&mut self, mut element: u32) -> u32 {
        loop {
            let parent = self.parents[element as usize];
            if parent == element {
                return element;
            }
            let grandparent = self.parents[parent as usize];
            self.parents[element as usize] = grandparent;
            element = grandparent;
        }
    }

    /// Unites two sets; gives the element that stands for both now.
    pub fn unite(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return a;
        }
        let (high, low) = match self.ranks[a as usize] < self.ranks[b as usize] {
            true => (b, a),
            false => (a, b),
        };
        self.parents[low as usize] = high;
        if self.ranks[high as usize] == self.ranks[low as usize] {
            self.ranks[high as usize] += 1;
        }
        high
    }
}
