//! Which locations race under a partial order, by FastTrack's epochs.
//!
//! The simple model: keep the clock of every access to a location; an access races with the earlier,
//! conflicting ones that its clock does not cover. What makes less enough: as long as a location has
//! no race its writes are ordered, so the last one stands for all; and reads that the next read is
//! behind are covered by it, so mostly one epoch stands for all reads, and only reads that nothing
//! orders need a clock. After a location's first race nothing more is kept of it.
//!
//! Guarantee: a location is reported if and only if two of its accesses race under the order, whatever
//! the order is, as long as it is transitive and contains program order. Cost: 16 bytes a location,
//! and a clock for each location that strands read in parallel.
//!
//! A location with both atomic and plain accesses is reported too: whether these race is for
//! [`pairs`](super::pairs) to find out.

use deadheat_model::{AccessKind, Construct, Location, Names, Strand};
use deadheat_order::{Epoch, WideClock};
use fixedbitset::FixedBitSet;

use super::accesses::{Finder, History};
use super::by_order::by_order;
use super::hb::Hb;
use super::{At, Lowering};
use crate::engine::{Engine, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "fasttrack",
    summary: "happens-before, by epochs: the same races as hb, in less memory",
    orders: &Construct::ALL,
    worth: Worth::FirstIsReal,
    cost: "linear; 16 bytes a variable",
    in_memory: false,
    judge: |survey, options| {
        let finder = |names: &Names| FastTrack::new(names.locations.len());
        by_order::<Hb, Hb, _>(
            survey,
            Lowering::HappensBefore,
            finder,
            options,
            options.kept(),
        )
    },
};

/// What is kept of the accesses to one location.
#[derive(Clone, Copy, Default)]
struct Cell {
    write: Epoch,
    /// The last read; or, if its strand is [`MANY`], which clock has the last reads, from 1.
    read: Epoch,
}

const MANY: Strand = Strand(u32::MAX);

/// A location that races: nothing more is kept of it. No strand has this time.
const RACY: Epoch = Epoch::LAST;

/// Finds the locations that race.
pub struct FastTrack {
    cells: Vec<Cell>,
    /// The last reads of locations that strands read in parallel.
    reads: Vec<WideClock>,
    free: Vec<u32>,
    /// Locations with atomic accesses.
    atomic: FixedBitSet,
    /// How many locations race.
    racy: usize,
}

impl FastTrack {
    /// Before the first access to any of so many locations.
    pub fn new(locations: usize) -> FastTrack {
        FastTrack {
            cells: vec![Cell::default(); locations],
            reads: Vec::new(),
            free: Vec::new(),
            atomic: FixedBitSet::with_capacity(locations),
            racy: 0,
        }
    }

    fn read(&mut self, clock: &WideClock, now: Epoch, x: Location) {
        let cell = &mut self.cells[x.index()];
        if !clock.covers(cell.write) {
            cell.write = RACY;
            self.racy += 1;
        } else if cell.read.strand() == MANY {
            self.reads[cell.read.time() as usize - 1].raise(now.strand(), now.time());
        } else if clock.covers(cell.read) {
            cell.read = now;
        } else {
            let number = self.free.pop().unwrap_or_else(|| {
                self.reads.push(WideClock::default());
                self.reads.len() as u32
            });
            let reads = &mut self.reads[number as usize - 1];
            reads.copy_from(&WideClock::default());
            reads.raise(cell.read.strand(), cell.read.time());
            reads.raise(now.strand(), now.time());
            cell.read = Epoch::new(MANY, number);
        }
    }

    fn write(&mut self, clock: &WideClock, now: Epoch, x: Location) {
        let cell = &mut self.cells[x.index()];
        let mut ordered = clock.covers(cell.write);
        if cell.read.strand() == MANY {
            let number = cell.read.time();
            ordered &= self.reads[number as usize - 1].within(clock);
            self.free.push(number);
        } else {
            ordered &= clock.covers(cell.read);
        }
        self.racy += usize::from(!ordered);
        *cell = Cell {
            write: if ordered { now } else { RACY },
            read: Epoch::default(),
        };
    }
}

impl History for FastTrack {
    #[inline]
    fn access(&mut self, clock: &WideClock, at: At, x: Location, kind: AccessKind) {
        let now = Epoch::new(at.strand, clock.get(at.strand));
        let cell = self.cells[x.index()];
        match kind {
            _ if cell.write == RACY => {}
            AccessKind::Read if cell.read != now => self.read(clock, now, x),
            AccessKind::Write if cell.write != now => self.write(clock, now, x),
            // The strand does what it did last: nothing new to compare, nothing new to keep.
            _ => {}
        }
    }

    #[inline]
    fn fetch(&self, x: Location) -> u64 {
        let cell = self.cells.get(x.index());
        cell.map_or(0, |cell| u64::from(cell.write.time()))
    }

    fn atomic(&mut self, _: &WideClock, _: At, x: Location, _: AccessKind) {
        self.atomic.insert(x.index());
    }

    fn racy(&self) -> usize {
        self.racy
    }
}

impl Finder for FastTrack {
    fn suspects(self) -> FixedBitSet {
        let suspect = |(x, cell): (usize, &Cell)| {
            let plain = !(cell.write.is_none() && cell.read.is_none());
            (cell.write == RACY || plain && self.atomic.contains(x)).then_some(x)
        };
        let cells = self.cells.iter().enumerate();
        let mut suspects = FixedBitSet::with_capacity(self.cells.len());
        suspects.extend(cells.filter_map(suspect));
        suspects
    }
}
