//! Which races to fix first for the sake of another: small sets of races, each kept once.

use rustc_hash::FxHashMap;

/// How many first races are named for one that is not first. Any one of them is worth fixing.
pub const MAX_ROOTS: usize = 8;

/// A set of races.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Roots(u32);

#[derive(Default)]
pub(crate) struct RootSets {
    sets: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
}

impl RootSets {
    pub(crate) fn of(&mut self, race: u32) -> Roots {
        Roots(self.number(vec![race]))
    }

    pub(crate) fn get(&self, roots: Roots) -> &[u32] {
        &self.sets[roots.0 as usize]
    }

    /// The races of both sets, the first [`MAX_ROOTS`] of them.
    pub(crate) fn union(&mut self, a: Roots, b: Roots) -> Roots {
        if a == b {
            return a;
        }
        let key = (a.0.min(b.0), a.0.max(b.0));
        if let Some(&known) = self.unions.get(&key) {
            return Roots(known);
        }
        let mut races = [self.get(a), self.get(b)].concat();
        races.sort_unstable();
        races.dedup();
        races.truncate(MAX_ROOTS);
        let union = self.number(races);
        self.unions.insert(key, union);
        Roots(union)
    }

    fn number(&mut self, races: Vec<u32>) -> u32 {
        let races = races.into_boxed_slice();
        if let Some(&number) = self.numbers.get(&races) {
            return number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(races.clone());
        self.numbers.insert(races, number);
        number
    }
}
