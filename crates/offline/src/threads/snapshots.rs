//! Clocks as they were at some point of the past, each kept as long as somebody counts on it.
//!
//! Clocks are used again: no allocation for each. Whether somebody knows of a snapshot is asked far more often than
//! what it says, so the time of the strand it was taken of lies apart, close to others. Cost: a clock, and eight bytes,
//! for each snapshot that is alive.

use deadheat_model::Strand;
use deadheat_order::{Time, WideClock};

/// A clock of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Snapshot(u32);

impl Snapshot {
    /// No clock at all.
    pub const NONE: Snapshot = Snapshot(u32::MAX);
}

/// The clocks of the past that somebody counts on.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    clocks: Vec<WideClock>,
    heads: Vec<Head>,
    free: Vec<Snapshot>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    time: Time,
    holders: u32,
}

impl Snapshots {
    /// A new one, still without contents, on which one holder counts.
    pub fn create(&mut self) -> Snapshot {
        let snapshot = self.free.pop().unwrap_or_else(|| {
            self.clocks.push(WideClock::default());
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
    pub fn fill(&mut self, snapshot: Snapshot, strand: Strand, clock: &WideClock) {
        self.heads[snapshot.0 as usize].time = clock.get(strand);
        self.clocks[snapshot.0 as usize].copy_from(clock);
    }

    /// Its contents.
    #[inline]
    pub fn clock(&self, snapshot: Snapshot) -> &WideClock {
        &self.clocks[snapshot.0 as usize]
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
