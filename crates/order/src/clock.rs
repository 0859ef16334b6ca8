//! Vector clocks: how much of every strand comes before a point.
//!
//! A strand's own time goes up whenever others may learn what it has done, so that "the first `time`
//! steps of a strand come before this point" is one number a strand. An [`Epoch`] is one strand's
//! time alone, which is all that has to be kept of an event in order to ask whether it comes before a
//! point whose whole clock is known.

use deadheat_model::Strand;

/// A strand's own time. Times start at 1: 0 is before everything.
pub type Time = u32;

/// The later of two times for every strand, as far as there are any of either. Says whether that is news.
#[inline]
pub fn join_times(mine: &mut [Time], theirs: &[Time]) -> bool {
    let mut news = 0;
    for (mine, &theirs) in mine.iter_mut().zip(theirs) {
        news |= theirs.saturating_sub(*mine);
        *mine = theirs.max(*mine);
    }
    news != 0
}

/// How much of every strand comes before a point. Strands that are not mentioned: nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clock {
    times: Vec<Time>,
}

impl Clock {
    /// How much of a strand comes before.
    #[inline]
    pub fn get(&self, strand: Strand) -> Time {
        self.times.get(strand.index()).copied().unwrap_or(0)
    }

    /// Sets how much of a strand comes before.
    #[inline]
    pub fn set(&mut self, strand: Strand, time: Time) {
        if self.times.len() <= strand.index() {
            self.times.resize(strand.index() + 1, 0);
        }
        self.times[strand.index()] = time;
    }

    /// What comes before the other point comes before this one too. Says whether that is news.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        self.join_times(&other.times)
    }

    /// As [`join`](Clock::join), with the other clock's times by strand.
    #[inline]
    pub fn join_times(&mut self, times: &[Time]) -> bool {
        if self.times.len() < times.len() {
            self.times.resize(times.len(), 0);
        }
        join_times(&mut self.times, times)
    }

    /// Becomes the other clock, without allocating where there is room.
    #[inline]
    pub fn copy_from(&mut self, other: &Clock) {
        self.times.clear();
        self.times.extend_from_slice(&other.times);
    }

    /// Whether everything that comes before this point comes before the other.
    #[inline]
    pub fn within(&self, other: &Clock) -> bool {
        let longer = self.times.get(other.times.len()..).unwrap_or(&[]);
        let pairs = self.times.iter().zip(&other.times);
        pairs.fold(true, |within, (mine, theirs)| within & (mine <= theirs))
            && longer.iter().all(|&time| time == 0)
    }

    /// Whether a strand's time comes before this point.
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.time() <= self.get(epoch.strand())
    }

    /// The times by strand, as far as any was set.
    pub fn times(&self) -> &[Time] {
        &self.times
    }
}

/// One strand's time, in eight bytes. The default is before everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Epoch(u64);

impl Epoch {
    /// A time that no strand reaches.
    pub const LAST: Epoch = Epoch(u64::MAX);

    /// A strand at a time.
    #[inline]
    pub fn new(strand: Strand, time: Time) -> Epoch {
        Epoch(u64::from(strand.0) << 32 | u64::from(time))
    }

    /// Whose time it is.
    #[inline]
    pub fn strand(self) -> Strand {
        Strand((self.0 >> 32) as u32)
    }

    /// Which time.
    #[inline]
    pub fn time(self) -> Time {
        self.0 as u32
    }

    /// Whether it is the time before everything.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 as u32 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The simple model: a map from strands to times, in which nobody has time 0.
    fn model(clock: &Clock) -> BTreeMap<usize, Time> {
        let times = clock.times().iter().copied().enumerate();
        times.filter(|(_, time)| *time > 0).collect()
    }

    #[test]
    fn a_clock_does_what_a_map_does() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut random = || {
            let mut clock = Clock::default();
            for _ in 0..rng.usize(..4) {
                clock.set(Strand(rng.u32(..5)), rng.u32(..4));
            }
            clock
        };
        for _ in 0..10_000 {
            let (a, b) = (random(), random());
            let (in_a, in_b) = (model(&a), model(&b));
            let mut both = in_a.clone();
            for (&strand, &time) in &in_b {
                let mine = both.entry(strand).or_default();
                *mine = time.max(*mine);
            }
            let mut joined = a.clone();
            assert_eq!(joined.join(&b), both != in_a);
            assert_eq!(model(&joined), both);
            assert_eq!(a.within(&b), both == in_b);
            for strand in 0..6 {
                let time = in_a.get(&(strand as usize)).copied().unwrap_or(0);
                assert_eq!(a.get(Strand(strand)), time);
                assert!(a.covers(Epoch::new(Strand(strand), time)));
                assert!(!a.covers(Epoch::new(Strand(strand), time + 1)));
            }
            let mut copy = joined;
            copy.copy_from(&a);
            assert_eq!(copy, a);
        }
        let epoch = Epoch::new(Strand(u32::MAX), u32::MAX);
        assert_eq!((epoch.strand(), epoch.time()), (Strand(u32::MAX), u32::MAX));
        assert!(Epoch::default().is_none() && !epoch.is_none());
    }
}
