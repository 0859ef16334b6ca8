//! Does a set of events contain both accesses of some race?
//!
//! Simple model: try every race. The sets asked about hold a beginning of each strand, so of two races
//! between the same strands, one whose two accesses both come earlier says all that the other does.
//! What is left for a pair of strands is a staircase: later in the one strand, earlier in the other.
//!
//! Cost: logarithmic for each pair of strands; a race that another one covers takes no space.

use deadheat_order::Time;
use rustc_hash::FxHashMap;

/// Races between strands, each with something to remember it by.
pub(crate) struct Stairs<T> {
    pairs: FxHashMap<(u32, u32), Vec<Step<T>>>,
    /// The strands that a strand has races with.
    partners: FxHashMap<u32, Vec<u32>>,
}

struct Step<T> {
    /// When in the strand of the lower number, and when in the other.
    times: (Time, Time),
    what: T,
}

impl<T: Copy> Stairs<T> {
    pub(crate) fn new() -> Stairs<T> {
        Stairs {
            pairs: FxHashMap::default(),
            partners: FxHashMap::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs of strands that have races.
    pub(crate) fn pairs(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.pairs.keys().copied()
    }

    /// The strands that a strand has races with.
    pub(crate) fn partners(&self, strand: u32) -> &[u32] {
        self.partners.get(&strand).map_or(&[], |partners| partners)
    }

    /// Adds a race between two accesses, each of a strand at a time.
    pub(crate) fn insert(&mut self, a: (u32, Time), b: (u32, Time), what: T) {
        let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let (partners, key) = (&mut self.partners, (a.0, b.0));
        let steps = self.pairs.entry(key).or_insert_with(|| {
            partners.entry(key.0).or_default().push(key.1);
            partners.entry(key.1).or_default().push(key.0);
            Vec::new()
        });
        let from = steps.partition_point(|step| step.times.0 < a.1);
        let same = steps.get(from).filter(|step| step.times.0 == a.1);
        let before = from.checked_sub(1).map(|before| &steps[before]);
        if before
            .into_iter()
            .chain(same)
            .any(|step| step.times.1 <= b.1)
        {
            return;
        }
        let covered = steps[from..].iter().take_while(|step| step.times.1 >= b.1);
        let upto = from + covered.count();
        let times = (a.1, b.1);
        steps.splice(from..upto, [Step { times, what }]);
    }

    /// A race of which one access is among the first of a strand, and the other among those of another.
    pub(crate) fn covered(&self, a: (u32, Time), b: (u32, Time)) -> Option<T> {
        let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let steps = self.pairs.get(&(a.0, b.0))?;
        let upto = steps.partition_point(|step| step.times.0 <= a.1);
        let step = &steps[upto.checked_sub(1)?];
        (step.times.1 <= b.1).then_some(step.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stairs_say_what_trying_every_race_says() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut stairs, mut races) = (Stairs::new(), Vec::new());
            for number in 0..rng.u32(1..30) {
                let a = (rng.u32(..3), rng.u32(1..12));
                let b = (a.0 + rng.u32(1..3), rng.u32(1..12));
                let (a, b) = if rng.bool() { (a, b) } else { (b, a) };
                stairs.insert(a, b, number);
                races.push((a, b));
                for _ in 0..10 {
                    let (i, j) = (rng.u32(..3), rng.u32(3..5));
                    let ends = ((i, rng.u32(..14)), (j, rng.u32(..14)));
                    let inside = |&(a, b): &((u32, u32), (u32, u32))| {
                        let within = |x: (u32, u32), end: (u32, u32)| x.0 == end.0 && x.1 <= end.1;
                        (within(a, ends.0) && within(b, ends.1))
                            || (within(a, ends.1) && within(b, ends.0))
                    };
                    let found = stairs.covered(ends.1, ends.0);
                    assert_eq!(found.is_some(), races.iter().any(inside), "seed {seed}");
                    if let Some(number) = found {
                        assert!(inside(&races[number as usize]));
                    }
                }
            }
        }
    }
}
