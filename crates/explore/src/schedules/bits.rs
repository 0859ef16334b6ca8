//! A small set of small numbers, equal and hashed alike when it holds the same.

use smallvec::SmallVec;

/// A set of numbers. No word at the end is zero, so that equal sets have equal words.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    /// How many words it takes.
    pub(super) fn words(&self) -> usize {
        self.0.len()
    }

    pub(super) fn insert(&mut self, bit: u32) {
        let word = bit as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (bit % 64);
    }

    pub(super) fn remove(&mut self, bit: u32) {
        if let Some(word) = self.0.get_mut(bit as usize / 64) {
            *word &= !(1 << (bit % 64));
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
        }
    }

    pub(super) fn contains(&self, bit: u32) -> bool {
        let word = self.0.get(bit as usize / 64);
        word.is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }

    pub(super) fn union(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub(super) fn intersects(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// What is in this set and in `mask`, but not in `without`, in order.
    pub(super) fn select<'b>(
        &'b self,
        mask: &'b Bits,
        without: &'b Bits,
    ) -> impl Iterator<Item = u32> + 'b {
        let words = self.0.iter().zip(&mask.0).enumerate();
        words.flat_map(|(index, (a, b))| {
            let mut word = a & b & !without.0.get(index).copied().unwrap_or(0);
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(index as u32 * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let mut pairs: Vec<(Bits, BTreeSet<u32>)> = vec![Default::default(); 3];
            for _ in 0..rng.usize(..60) {
                let bit = rng.u32(..200);
                let (bits, set) = &mut pairs[rng.usize(..3)];
                match rng.bool() {
                    true => {
                        bits.insert(bit);
                        set.insert(bit);
                    }
                    false => {
                        bits.remove(bit);
                        set.remove(&bit);
                    }
                }
            }
            let [(a, sa), (b, sb), (c, sc)] = &pairs[..] else {
                unreachable!()
            };
            assert!((0..256).all(|bit| a.contains(bit) == sa.contains(&bit)));
            assert_eq!(a == b, sa == sb);
            assert_eq!(a.intersects(b), !sa.is_disjoint(sb));
            let selected: Vec<u32> = a.select(b, c).collect();
            let expected: Vec<u32> = sa
                .iter()
                .filter(|bit| sb.contains(bit) && !sc.contains(bit))
                .copied()
                .collect();
            assert_eq!(selected, expected);
            let mut union = a.clone();
            union.union(b);
            let mut rebuilt = Bits::default();
            sa.union(sb).for_each(|bit| rebuilt.insert(*bit));
            assert_eq!(union, rebuilt);
        }
    }
}
