//! Clocks as they were at some point of the past, each kept as long as somebody counts on it.
//!
//! All lie in one array, a row each, and rows are used again: no allocation for each clock. Whether
//! somebody knows of a snapshot is asked far more often than what it says, so the time of the strand
//! it was taken of lies apart, close to others. Cost: four bytes a strand, and eight, for each snapshot
//! that is alive.

use deadheat_model::Strand;
use deadheat_order::{Clock, Time};

/// A clock of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Snapshot(u32);

impl Snapshot {
    /// No clock at all.
    pub const NONE: Snapshot = Snapshot(u32::MAX);
}

/// The clocks of the past that somebody counts on.
#[derive(Debug)]
pub(super) struct Snapshots {
    strands: usize,
    times: Vec<Time>,
    heads: Vec<Head>,
    free: Vec<Snapshot>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    time: Time,
    holders: u32,
}

impl Snapshots {
    /// Of clocks for so many strands.
    pub fn new(strands: usize) -> Snapshots {
        Snapshots {
            strands,
            times: Vec::new(),
            heads: Vec::new(),
            free: Vec::new(),
        }
    }

    /// A new one, still without contents, on which one holder counts.
    pub fn create(&mut self) -> Snapshot {
        let snapshot = self.free.pop().unwrap_or_else(|| {
            self.times.resize(self.times.len() + self.strands, 0);
            self.heads.push(Head {
                time: 0,
                holders: 0,
            });
            Snapshot(self.heads.len() as u32 - 1)
        });
        self.heads[snapshot.0 as usize] = Head {
            time: Time::MAX,
            holders: 1,
        };
        snapshot
    }

    /// Gives it its contents: a strand's clock.
    pub fn fill(&mut self, snapshot: Snapshot, strand: Strand, clock: &Clock) {
        self.heads[snapshot.0 as usize].time = clock.get(strand);
        let start = snapshot.0 as usize * self.strands;
        let (given, rest) =
            self.times[start..start + self.strands].split_at_mut(clock.times().len());
        given.copy_from_slice(clock.times());
        rest.fill(0);
    }

    /// Its contents, by strand.
    #[inline]
    pub fn times(&self, snapshot: Snapshot) -> &[Time] {
        let start = snapshot.0 as usize * self.strands;
        &self.times[start..start + self.strands]
    }

    /// The time of the strand it was taken of; that is never while it has no contents.
    #[inline]
    pub fn time(&self, snapshot: Snapshot) -> Time {
        self.heads[snapshot.0 as usize].time
    }

    /// One more holder counts on it.
    #[inline]
    pub fn keep(&mut self, snapshot: Snapshot) {
        self.heads[snapshot.0 as usize].holders += 1;
    }

    /// One holder less counts on it; nothing is done with [`Snapshot::NONE`].
    #[inline]
    pub fn let_go(&mut self, snapshot: Snapshot) {
        if snapshot == Snapshot::NONE {
            return;
        }
        let holders = &mut self.heads[snapshot.0 as usize].holders;
        *holders -= 1;
        if *holders == 0 {
            self.free.push(snapshot);
        }
    }
}
