//! DRDP (drdp-ecoop23, section 4): exact checking of programs with `async`, `finish`, futures,
//! promises and threads, in whatever order the program ran.
//!
//! Simple model: for each location, the last write and all reads since; a new access races with
//! those that conflict with it and do not come before it in the computation graph.
//!
//! The idea: the tree answers most questions of order. What it leaves open is searched for through
//! the joins that the tree does not know, from the latest backwards (see
//! [`Joins`](deadheat_order::Joins), which is where this differs from the paper: the paper's joins
//! have no time, and its shortcut for tasks that are still active is wrong; see docs/errata.md).
//!
//! Guarantee: every conflict reported is a race. A location has a conflict reported if and only if
//! it has a race in this execution; after its first one it is left alone. No conflict at all, in an
//! execution that came to its end or to a deadlock, means that no schedule has a race.
//!
//! Space: one write, and the reads since that no other read covers. A read covers another if whatever
//! comes after it, from now on, comes after the other as well: then a later write that races with the other
//! races with it.
//! - A read covers those that come before it.
//! - A read in a task that has ended in *silence* (it has set no promise, nobody waits for it by name, it has left no
//!   task behind, and no task that it has waited for has set one or can be waited for by name) covers all reads inside the
//!   `finish` around it, past and future ones. For
//!   a path that leads out of the task leads through the end of that `finish`, and to there a
//!   path leads from everything inside. If that `finish` is itself in a task that has ended in silence, this
//!   holds for the `finish` around that one, and so on. So of a loop whose tasks all read, one read is kept,
//!   and those of tasks that had not ended when it was made.
//!
//! Covered ones are left out when they come right after what covers them, and thrown out whenever as many have
//! been added as were left the last time; so there are never more than twice as many as these two rules
//! leave uncovered (and a few). Those that only joins cover are looked for with an effort in
//! proportion to how many there are. (SPD3's rule, to keep the two farthest from each other, does not hold
//! with promises: docs/errata.md.)
//!
//! Cost: a read asks about one earlier access, a write about all that are kept. Asking is what the
//! tree costs, or a search through the joins made since.

use deadheat_model::{AccessKind, Location};
use deadheat_order::{Question, Search, Step, Structure, Task};

use crate::readers::{FEW, PastAccess, Readers};
use crate::{Conflict, Recent, Relations};

impl PastAccess {
    #[inline]
    fn now(structure: &Structure, task: &Task, mark: u32) -> PastAccess {
        PastAccess {
            step: task.step(),
            time: structure.joins.now(),
            mark,
        }
    }
}

/// How many joins may be looked at, for each read, to find out which ones are covered.
const EFFORT: u64 = 32;

/// In the place of a location's writer: a race has been reported, and the location is left alone.
const REPORTED: Step = Step(u32::MAX);

/// What is kept of a location's past.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct History {
    writer: PastAccess,
    readers: Readers,
    /// How many readers there may be before covered ones are thrown out.
    limit: u32,
    /// The last step found to happen after the writer: a milestone on the way from there.
    behind_writer: Step,
}

const _: () = assert!(size_of::<History>() <= 72);

impl History {
    /// How many reads are kept.
    pub fn readers(&self) -> usize {
        self.readers.len()
    }
}

/// What checking needs beside the cells.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    relations: Relations,
    recent: Recent,
    /// Searches made, and what they looked at.
    pub search: Search,
    /// The most reads kept of one location.
    pub most_readers: usize,
}

impl Checker {
    /// Searches joins in a way of one's own, to measure what that costs.
    pub fn searching(search: Search) -> Checker {
        Checker {
            search,
            ..Checker::default()
        }
    }

    /// Checks even what needs no check, to measure what leaving it out saves.
    pub fn checking_everything() -> Checker {
        Checker {
            recent: Recent::disabled(),
            ..Checker::default()
        }
    }

    /// Checks an access; calls `report` with each earlier one it is found to race with. The
    /// location's history is not looked for if the access needs no check.
    #[inline]
    pub fn access<'h>(
        &mut self,
        structure: &Structure,
        task: &Task,
        location: Location,
        kind: AccessKind,
        history: impl FnOnce() -> &'h mut History,
        report: impl FnMut(Conflict),
    ) {
        if !self.recent.covers(task.step(), location, kind) {
            self.check(structure, task, (kind, 0), history(), report);
        }
    }

    /// The same for who has the history at hand, and something to be kept with the access.
    #[inline]
    pub fn check(
        &mut self,
        structure: &Structure,
        task: &Task,
        (kind, mark): (AccessKind, u32),
        history: &mut History,
        mut report: impl FnMut(Conflict),
    ) {
        if history.writer.step == REPORTED {
            return;
        }
        let mut races = false;
        let report = |conflict| {
            races = true;
            report(conflict);
        };
        match kind {
            AccessKind::Read => self.read(structure, task, mark, history, report),
            AccessKind::Write => self.write(structure, task, mark, history, report),
        }
        if races {
            *history = History::default();
            history.writer.step = REPORTED;
        }
    }

    fn read(
        &mut self,
        structure: &Structure,
        task: &Task,
        mark: u32,
        history: &mut History,
        mut report: impl FnMut(Conflict),
    ) {
        let writer = history.writer;
        if writer.step == task.step() {
            return;
        }
        match self.precedes(structure, writer, history.behind_writer, task) {
            true => history.behind_writer = task.step(),
            false => report(Conflict {
                step: writer.step,
                kind: AccessKind::Write,
                mark: writer.mark,
            }),
        }
        let kept = PastAccess::now(structure, task, mark);
        let readers = &mut history.readers;
        if let Some(&first) = readers.first()
            && let Some(last) = readers.last_mut()
        {
            if last.step == kept.step {
                return;
            }
            let to_last = self.relations.of(&structure.tree, last.step, kept.step);
            if to_last.precedes() {
                // A task that reads again and again, alone.
                *last = kept;
                return;
            }
            if covers(structure, *last, to_last.depth) || self.covers(structure, first, kept) {
                return;
            }
        }
        readers.push(kept);
        let count = readers.len();
        self.most_readers = self.most_readers.max(count);
        if count > FEW.max(history.limit as usize) {
            self.throw_out_covered(structure, task, readers);
            history.limit = 2 * readers.len() as u32;
        }
    }

    fn write(
        &mut self,
        structure: &Structure,
        task: &Task,
        mark: u32,
        history: &mut History,
        mut report: impl FnMut(Conflict),
    ) {
        let writer = history.writer;
        if writer.step == task.step() && history.readers.is_empty() {
            return;
        }
        let mut check = |earlier: PastAccess, milestone, kind| {
            if !self.precedes(structure, earlier, milestone, task) {
                let PastAccess { step, mark, .. } = earlier;
                report(Conflict { step, kind, mark });
            }
        };
        check(writer, history.behind_writer, AccessKind::Write);
        for &reader in history.readers.iter() {
            check(reader, Step::NONE, AccessKind::Read);
        }
        *history = History {
            writer: PastAccess::now(structure, task, mark),
            ..History::default()
        };
    }

    /// Keeps the reads that no other one covers by the tree or by silence, and that are not found to come before
    /// what `task` does now. The latest read, which is `task`'s, is at hand afterwards if it stays.
    ///
    /// To find out costs a search for each, which may be long and in vain. So there is only so much to
    /// spend, by how many reads there are: if it was not enough, there will be more of them next time.
    fn throw_out_covered(&mut self, structure: &Structure, task: &Task, readers: &mut Readers) {
        let mut uncovered: Vec<PastAccess> = readers.iter().copied().collect();
        structure.tree.keep_last(&mut uncovered, |read| read.step);
        let mut kept = self.without_sheltered(structure, uncovered);
        // The latest are the nearest: one that is far away may use up all the effort.
        kept.sort_unstable_by_key(|read| std::cmp::Reverse(read.time));
        let mut effort = EFFORT * kept.len() as u64;
        kept.retain(|&reader| {
            let question = Question {
                step: reader.step,
                since: reader.time,
                milestone: Step::NONE,
                known: task.known(),
            };
            let Structure { tree, joins } = structure;
            reader.step == task.step()
                || !self.search.finds_within(tree, joins, question, &mut effort)
        });
        kept.reverse();
        *readers = Readers::from(kept);
    }

    /// Of reads from left to right in the tree, those that no other one covers by its silence. What a read covers lies together:
    /// to compare neighbours is enough.
    fn without_sheltered(
        &mut self,
        structure: &Structure,
        reads: Vec<PastAccess>,
    ) -> Vec<PastAccess> {
        let mut kept: Vec<PastAccess> = Vec::new();
        for read in reads {
            while kept
                .pop_if(|left| self.covers(structure, read, *left))
                .is_some()
            {}
            match kept.last() {
                Some(&left) if self.covers(structure, left, read) => {}
                _ => kept.push(read),
            }
        }
        kept
    }

    /// Whether a read covers another one by its silence.
    fn covers(&mut self, structure: &Structure, read: PastAccess, other: PastAccess) -> bool {
        let relation = self.relations.of(&structure.tree, read.step, other.step);
        covers(structure, read, relation.depth)
    }

    /// Whether an earlier access comes before what a task does now; perhaps a milestone is known
    /// that it comes before.
    #[inline]
    fn precedes(
        &mut self,
        structure: &Structure,
        earlier: PastAccess,
        milestone: Step,
        task: &Task,
    ) -> bool {
        let tree_precedes =
            |checker: &mut Checker, step: Step| checker.tree_precedes(structure, step, task.step());
        earlier.step.is_none()
            || milestone == task.step()
            || tree_precedes(self, earlier.step)
            || (!milestone.is_none() && tree_precedes(self, milestone))
            || self.search.finds(
                &structure.tree,
                &structure.joins,
                Question {
                    step: earlier.step,
                    since: earlier.time,
                    milestone,
                    known: task.known(),
                },
            )
    }

    #[inline]
    fn tree_precedes(&mut self, structure: &Structure, a: Step, b: Step) -> bool {
        a == b || self.relations.of(&structure.tree, a, b).precedes()
    }
}

/// Whether a read covers, by its silence, whatever it has an ancestor at a depth in common with. (That of steps in
/// different trees is 0, and who is silent up to there covers everything.)
#[inline]
fn covers(structure: &Structure, read: PastAccess, depth: u32) -> bool {
    structure.tree.is_silent_up_to(read.step, depth)
}
