//! The bags of ESP-bags: while a program is walked depth first, which tasks may run in parallel with
//! the point it has come to.
//!
//! Every task that has begun is in one bag. The *S-bag* of a task on the path holds it and whatever
//! comes before the point reached; the *P-bag* of an open `finish` holds the tasks inside it that
//! have been walked to their end, all of which may run in parallel with that point. When a task
//! ends, its S-bag goes into the P-bag of the `finish` that waits for it; when a `finish` ends, its
//! P-bag goes into the S-bag of the task that waited.
//!
//! Cost: the disjoint sets'.

use crate::sets::DisjointSets;

/// A task that has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member(u32);

/// The P-bag of an open `finish`.
#[derive(Debug, Default)]
pub struct ParallelBag(Option<u32>);

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Bags {
    sets: DisjointSets,
    /// Whether a set is a P-bag, by the element that stands for it.
    parallel: Vec<bool>,
}

impl Bags {
    /// A task begins, in an S-bag of its own.
    pub fn begin(&mut self) -> Member {
        self.parallel.push(false);
        Member(self.sets.add())
    }

    /// A task ends inside a `finish`.
    pub fn end(&mut self, task: Member, finish: &mut ParallelBag) {
        let bag = match finish.0 {
            Some(bag) => self.sets.unite(bag, task.0),
            None => self.sets.find(task.0),
        };
        self.parallel[bag as usize] = true;
        finish.0 = Some(bag);
    }

    /// A `finish` ends in a task.
    pub fn end_finish(&mut self, task: Member, finish: ParallelBag) {
        if let Some(bag) = finish.0 {
            let bag = self.sets.unite(bag, task.0);
            self.parallel[bag as usize] = false;
        }
    }

    /// Whether what a task has done may run in parallel with the point reached.
    #[inline]
    pub fn parallel(&mut self, task: Member) -> bool {
        let bag = self.sets.find(task.0);
        self.parallel[bag as usize]
    }
}
