//! SPD3 (spd3-pldi12, section 4): exact checking of `async`/`finish` programs while they run in
//! parallel, in constant space for each location.
//!
//! Simple model: for each location, all accesses so far; a new access races with those that conflict
//! with it and are parallel to it in the tree.
//!
//! The idea: one writer and two readers are enough. If the writes so far are ordered, whatever is
//! parallel to one of them is parallel to the last (or came earlier). Of the reads, keep two whose
//! lowest common ancestor is above all of them: whatever later step is parallel to any of them is
//! parallel to one of the two (Lemma 4).
//!
//! Guarantee: every conflict reported is a race. A location has a conflict reported if and only if
//! it has a race in this execution; and as all executions of a race-free program do the same, no
//! conflict at all in an execution that came to its end means that no schedule has a race. Which of a
//! location's races are reported depends on the schedule.
//!
//! Where this differs from the paper:
//! - A second reader that is parallel to the first goes into the empty slot, about which Algorithm 2
//!   says nothing (see docs/errata.md).
//! - After a race, checking goes on.
//! - The cell is two words that are updated one by one, instead of three fields under two version
//!   counters. What makes that right has a page of its own, `spd3.md`, shown below.
//!
//! Cost: 16 bytes a location; an access asks the tree about at most four pairs of steps. An access
//! that the cell already covers is two loads.

#![doc = include_str!("spd3.md")]

use deadheat_model::{AccessKind, Location};
use deadheat_order::sync::{AtomicU32, AtomicU64, Ordering};
use deadheat_order::{Step, Tree};

use crate::{Conflict, Recent, Relations};

/// What is kept of a location's past.
#[derive(Debug)]
pub struct Cell {
    /// The last step that wrote.
    writer: AtomicU32,
    /// Two steps that read, the first in the lower half.
    readers: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == 16);

impl Default for Cell {
    fn default() -> Cell {
        Cell {
            writer: AtomicU32::new(0),
            readers: AtomicU64::new(0),
        }
    }
}

impl Cell {
    /// The last step that wrote, and the two that read; none where there is none.
    pub fn steps(&self) -> [Step; 3] {
        let writer = Step(self.writer.load(Ordering::Relaxed));
        let Readers(first, second) = Readers::unpack(self.readers.load(Ordering::Relaxed));
        [writer, first, second]
    }
}

impl Clone for Cell {
    fn clone(&self) -> Cell {
        Cell {
            writer: AtomicU32::new(self.writer.load(Ordering::Relaxed)),
            readers: AtomicU64::new(self.readers.load(Ordering::Relaxed)),
        }
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Cell) -> bool {
        self.steps() == other.steps()
    }
}

/// What a thread that runs tasks keeps to itself.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    relations: Relations,
    recent: Recent,
}

impl Worker {
    /// Checks even what needs no check, to measure what leaving it out saves.
    pub fn checking_everything() -> Worker {
        Worker {
            recent: Recent::disabled(),
            ..Worker::default()
        }
    }

    /// Checks an access; calls `report` with each earlier one it is found to race with. The
    /// location's cell is not looked for if the access needs no check.
    #[inline]
    pub fn access<'c>(
        &mut self,
        tree: &Tree,
        step: Step,
        location: Location,
        kind: AccessKind,
        cell: impl FnOnce() -> &'c Cell,
        report: impl FnMut(Conflict),
    ) {
        if self.recent.covers(step, location, kind) {
            return;
        }
        self.check(tree, step, kind, cell(), report);
    }

    /// The same for who has the cell at hand.
    #[inline]
    pub fn check(
        &mut self,
        tree: &Tree,
        step: Step,
        kind: AccessKind,
        cell: &Cell,
        report: impl FnMut(Conflict),
    ) {
        match kind {
            AccessKind::Read => self.read(tree, step, cell, report),
            AccessKind::Write => self.write(tree, step, cell, report),
        }
    }

    /// The same for who has the cell alone, under a lock, say: without atomic updates. After a write without a conflict the reads
    /// before it are forgotten: they come before the step, so whoever is parallel to one of them and comes later is
    /// parallel to the write.
    #[inline]
    pub fn check_alone(
        &mut self,
        tree: &Tree,
        step: Step,
        kind: AccessKind,
        cell: &mut Cell,
        mut report: impl FnMut(Conflict),
    ) {
        let [writer, first, second] = cell.steps();
        if writer == step {
            return;
        }
        let mut races = false;
        let mut look = |worker: &mut Worker, earlier, kind| {
            if worker.parallel(tree, earlier, step) {
                races = true;
                report(Conflict {
                    step: earlier,
                    kind,
                    mark: 0,
                });
            }
        };
        look(self, writer, AccessKind::Write);
        match kind {
            AccessKind::Read => {
                if let Some(new) = self.with_reader(tree, Readers(first, second), step) {
                    cell.readers.store(new.pack(), Ordering::Relaxed);
                }
            }
            AccessKind::Write => {
                look(self, first, AccessKind::Read);
                look(self, second, AccessKind::Read);
                cell.writer.store(step.0, Ordering::Relaxed);
                if !races {
                    cell.readers.store(0, Ordering::Relaxed);
                }
            }
        }
    }

    /// Checks a write: first says that it is there, then looks who else is.
    fn write(&mut self, tree: &Tree, step: Step, cell: &Cell, mut report: impl FnMut(Conflict)) {
        if cell.writer.load(Ordering::Relaxed) == step.0 {
            return;
        }
        let writer = Step(cell.writer.swap(step.0, Ordering::SeqCst));
        publish_before_looking();
        let readers = Readers::unpack(cell.readers.load(Ordering::SeqCst));
        let earlier = [
            (writer, AccessKind::Write),
            (readers.0, AccessKind::Read),
            (readers.1, AccessKind::Read),
        ];
        for (earlier, kind) in earlier {
            if self.parallel(tree, earlier, step) {
                report(Conflict {
                    step: earlier,
                    kind,
                    mark: 0,
                });
            }
        }
    }

    /// Checks a read: first says that it is there, then looks for a writer.
    fn read(&mut self, tree: &Tree, step: Step, cell: &Cell, mut report: impl FnMut(Conflict)) {
        // Whoever is parallel to this read is parallel to this step's write.
        if cell.writer.load(Ordering::Relaxed) == step.0 {
            return;
        }
        let mut readers = cell.readers.load(Ordering::SeqCst);
        while let Some(new) = self.with_reader(tree, Readers::unpack(readers), step) {
            match cell.readers.compare_exchange(
                readers,
                new.pack(),
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                Ok(_) => break,
                Err(changed) => readers = changed,
            }
        }
        publish_before_looking();
        let writer = Step(cell.writer.load(Ordering::SeqCst));
        if self.parallel(tree, writer, step) {
            report(Conflict {
                step: writer,
                kind: AccessKind::Write,
                mark: 0,
            });
        }
    }

    /// The readers to keep when `step` reads as well; none if those there are cover it.
    fn with_reader(&mut self, tree: &Tree, readers: Readers, step: Step) -> Option<Readers> {
        let Readers(first, second) = readers;
        if first == step || second == step {
            return None;
        }
        let alone = Some(Readers(step, Step::NONE));
        if first.is_none() {
            return alone;
        }
        let to_first = self.relations.of(tree, first, step);
        if second.is_none() {
            return match to_first.parallel {
                true => Some(Readers(first, step)),
                false => alone,
            };
        }
        let to_second = self.relations.of(tree, second, step);
        match (to_first.parallel, to_second.parallel) {
            (false, false) => alone,
            // Outside of what the two cover, both meet the step at the same ancestor, above the one
            // where they meet each other.
            (true, true) if to_first.depth == to_second.depth => {
                let outside = to_first.depth < self.relations.of(tree, first, second).depth;
                outside.then_some(Readers(step, second))
            }
            _ => None,
        }
    }

    fn parallel(&mut self, tree: &Tree, earlier: Step, step: Step) -> bool {
        !earlier.is_none() && earlier != step && self.relations.of(tree, earlier, step).parallel
    }
}

/// Two steps that read.
#[derive(Clone, Copy)]
struct Readers(Step, Step);

impl Readers {
    fn unpack(word: u64) -> Readers {
        Readers(Step(word as u32), Step((word >> 32) as u32))
    }

    fn pack(self) -> u64 {
        u64::from(self.0.0) | u64::from(self.1.0) << 32
    }
}

/// Between telling the others and looking at them. The accesses on either side are sequentially
/// consistent, which is enough. Loom takes them for weaker than they are and needs to be told.
#[inline]
fn publish_before_looking() {
    #[cfg(loom)]
    deadheat_order::sync::fence(Ordering::SeqCst);
}
