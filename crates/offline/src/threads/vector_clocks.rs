//! Which locations race under a partial order, by vector clocks: the plain way.
//!
//! For each location the time of every strand's last read and last write. A read races if a write
//! is not covered by its clock, a write if a read or a write is not. Nothing is left out that
//! [`fasttrack`](super::fasttrack) leaves out; the two are each other's check. Cost: 8 bytes for every
//! location and strand.

use deadheat_model::{AccessKind, Location, Names};
use deadheat_order::wide_clock::FEW;
use deadheat_order::{Time, WideClock};
use fixedbitset::FixedBitSet;

use super::At;
use super::accesses::{Finder, History};

/// Finds the locations that race.
pub struct VectorClocks {
    strands: usize,
    /// By location: the strands' last writes, then their last reads.
    times: Vec<Time>,
    racy: FixedBitSet,
    /// How many these are.
    found: usize,
    plain: FixedBitSet,
    atomic: FixedBitSet,
}

impl VectorClocks {
    /// Whether a trace with these names takes little enough: few strands, and so many bytes.
    pub fn are_for(names: &Names, bytes: usize) -> bool {
        let (strands, locations) = (names.strands.len(), names.locations.len());
        let entries = strands.saturating_mul(locations);
        strands <= FEW && entries.saturating_mul(2 * size_of::<Time>()) <= bytes
    }

    /// Before the first access of a trace with these names, of [`FEW`] strands at most.
    pub fn new(names: &Names) -> VectorClocks {
        let (strands, locations) = (names.strands.len(), names.locations.len());
        VectorClocks {
            strands,
            times: vec![0; 2 * strands * locations],
            racy: FixedBitSet::with_capacity(locations),
            found: 0,
            plain: FixedBitSet::with_capacity(locations),
            atomic: FixedBitSet::with_capacity(locations),
        }
    }
}

impl History for VectorClocks {
    #[inline]
    fn access(&mut self, clock: &WideClock, at: At, x: Location, kind: AccessKind) {
        let (x, strands) = (x.index(), self.strands);
        // Nothing more is asked of it.
        if self.racy.contains(x) {
            return;
        }
        let cell = &mut self.times[2 * x * strands..2 * (x + 1) * strands];
        // A clock ends with the last strand it knows of.
        let known = clock.times().unwrap_or_default();
        let covered = |times: &[Time]| {
            let pairs = times.iter().zip(known);
            let late = pairs.fold(0, |late, (time, now)| late | time.saturating_sub(*now));
            late == 0 && times[known.len()..].iter().all(|&time| time == 0)
        };
        let (writes, reads) = cell.split_at_mut(strands);
        let now = clock.get(at.strand);
        let ordered = match kind {
            AccessKind::Read => {
                reads[at.strand.index()] = now;
                covered(writes)
            }
            AccessKind::Write => {
                writes[at.strand.index()] = now;
                covered(writes) & covered(reads)
            }
        };
        if !ordered {
            self.racy.insert(x);
            self.found += 1;
        }
        self.plain.insert(x);
    }

    #[inline]
    fn fetch(&self, x: Location) -> u64 {
        let first = self.times.get(2 * x.index() * self.strands);
        u64::from(first.copied().unwrap_or(0))
    }

    fn atomic(&mut self, _: &WideClock, _: At, x: Location, _: AccessKind) {
        self.atomic.insert(x.index());
    }

    fn racy(&self) -> usize {
        self.found
    }
}

impl Finder for VectorClocks {
    fn suspects(self) -> FixedBitSet {
        let mut suspects = self.atomic.clone();
        suspects.intersect_with(&self.plain);
        suspects.union_with(&self.racy);
        suspects
    }
}
