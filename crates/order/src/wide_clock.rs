//! Vector clocks for any number of strands.
//!
//! The simple model: a [`Clock`], which takes four bytes for every strand up to the last that it knows of.
//!
//! The idea: a clock that knows of no strand beyond the first [`FEW`] is one. Any other is a [`PersistentClock`], which
//! shares with others what they have in common: ten thousand threads that are forked one after the other then take
//! memory, and a fork or a join time, that grows with the logarithm of their number and not with the number itself.

use deadheat_model::Strand;

use crate::{Clock, Epoch, PersistentClock, Time};

/// How many strands a plain array is for.
pub const FEW: usize = 256;

/// How much of every strand comes before a point.
#[derive(Clone, Debug)]
pub struct WideClock(Form);

#[derive(Clone, Debug)]
enum Form {
    Flat(Clock),
    Tree(PersistentClock),
}

impl Default for WideClock {
    fn default() -> WideClock {
        WideClock(Form::Flat(Clock::default()))
    }
}

impl WideClock {
    /// How much of a strand comes before.
    #[inline]
    pub fn get(&self, strand: Strand) -> Time {
        match &self.0 {
            Form::Flat(clock) => clock.get(strand),
            Form::Tree(clock) => clock.get(strand),
        }
    }

    /// Raises how much of a strand comes before; it is not above that.
    #[inline]
    pub fn raise(&mut self, strand: Strand, time: Time) {
        match &mut self.0 {
            Form::Flat(clock) if strand.index() < FEW => clock.set(strand, time),
            _ => self.tree().raise(strand, time),
        }
    }

    /// What comes before the other point comes before this one too. Says whether that may be news.
    #[inline]
    pub fn join(&mut self, other: &WideClock) -> bool {
        match (&mut self.0, &other.0) {
            (Form::Flat(mine), Form::Flat(theirs)) => return mine.join(theirs),
            (Form::Tree(mine), Form::Tree(theirs)) => mine.join(theirs),
            (Form::Tree(mine), Form::Flat(theirs)) => raise_all(mine, theirs),
            (Form::Flat(mine), Form::Tree(theirs)) => {
                let mut tree = theirs.clone();
                raise_all(&mut tree, mine);
                self.0 = Form::Tree(tree);
            }
        }
        true
    }

    /// Becomes the other clock, without allocating where there is room.
    #[inline]
    pub fn copy_from(&mut self, other: &WideClock) {
        match (&mut self.0, &other.0) {
            (Form::Flat(mine), Form::Flat(theirs)) => mine.copy_from(theirs),
            (_, theirs) => self.0 = theirs.clone(),
        }
    }

    /// Whether everything that comes before this point comes before the other.
    #[inline]
    pub fn within(&self, other: &WideClock) -> bool {
        match (&self.0, &other.0) {
            (Form::Flat(mine), Form::Flat(theirs)) => mine.within(theirs),
            (Form::Tree(mine), Form::Tree(theirs)) => mine.within(theirs),
            (Form::Flat(mine), _) => {
                let mut times = mine.times().iter().zip(0..);
                times.all(|(&time, strand)| time <= other.get(Strand(strand)))
            }
            (Form::Tree(mine), Form::Flat(theirs)) => {
                let mut tree = PersistentClock::default();
                raise_all(&mut tree, theirs);
                mine.within(&tree)
            }
        }
    }

    /// Whether a strand's time comes before this point.
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.time() <= self.get(epoch.strand())
    }

    /// The times by strand, as far as any was set; nothing if there is a strand beyond the first [`FEW`].
    #[inline]
    pub fn times(&self) -> Option<&[Time]> {
        match &self.0 {
            Form::Flat(clock) => Some(clock.times()),
            Form::Tree(_) => None,
        }
    }

    /// Calls with every strand that it knows of, in their order, and with how much.
    pub fn for_each(&self, mut each: impl FnMut(Strand, Time)) {
        match &self.0 {
            Form::Flat(clock) => {
                let times = clock.times().iter().zip(0..);
                let known = times.filter(|(time, _)| **time > 0);
                known.for_each(|(&time, strand)| each(Strand(strand), time));
            }
            Form::Tree(clock) => clock.ahead_of(&PersistentClock::default(), |strand, time| {
                each(strand, time);
                true
            }),
        }
    }

    /// The same as a tree.
    #[cold]
    fn tree(&mut self) -> &mut PersistentClock {
        if let Form::Flat(clock) = &self.0 {
            let mut tree = PersistentClock::default();
            raise_all(&mut tree, clock);
            self.0 = Form::Tree(tree);
        }
        match &mut self.0 {
            Form::Tree(tree) => tree,
            Form::Flat(_) => unreachable!("it was made a tree"),
        }
    }
}

fn raise_all(tree: &mut PersistentClock, clock: &Clock) {
    for (&time, strand) in clock.times().iter().zip(0..) {
        if time > 0 {
            tree.raise(Strand(strand), time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks that learn from each other, of few strands and of many, against plain arrays.
    #[test]
    fn a_wide_clock_does_what_a_clock_does() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let few = FEW as u32;
            let mut strands: Vec<u32> = (0..6).map(|_| rng.u32(..few)).collect();
            strands.extend((0..rng.u32(..6)).map(|_| rng.u32(..10 * few)));
            let mut clocks = vec![(WideClock::default(), Clock::default()); 5];
            for _ in 0..200 {
                let (a, b) = (rng.usize(..5), rng.usize(..5));
                let (wide, plain) = clocks[b].clone();
                let (mine, model) = &mut clocks[a];
                match rng.u32(..4) {
                    0 | 1 => {
                        let strand = Strand(strands[rng.usize(..strands.len())]);
                        let time = model.get(strand) + rng.u32(..3);
                        mine.raise(strand, time);
                        model.set(strand, time);
                    }
                    2 => {
                        let news = model.join(&plain);
                        assert!(mine.join(&wide) || !news);
                    }
                    _ => {
                        mine.copy_from(&wide);
                        model.copy_from(&plain);
                    }
                }
                for strand in strands.iter().map(|&strand| Strand(strand)) {
                    assert_eq!(mine.get(strand), model.get(strand));
                    assert!(mine.covers(Epoch::new(strand, model.get(strand))));
                    assert!(!mine.covers(Epoch::new(strand, model.get(strand) + 1)));
                }
                assert_eq!(mine.within(&wide), model.within(&plain));
                assert_eq!(wide.within(mine), plain.within(model));
                assert!(mine.times().is_none_or(|times| times == model.times()));
                let mut known = Vec::new();
                mine.for_each(|strand, time| known.push((strand.0, time)));
                let times = model.times().iter().zip(0..);
                let times = times.filter(|(time, _)| **time > 0);
                assert!(
                    known
                        .into_iter()
                        .eq(times.map(|(&time, strand)| (strand, time)))
                );
            }
        }
    }
}
