//! Tasks and the `finish` blocks that wait for them, told to engines as publishing and awaiting: a task
//! publishes its end to the finish that waits for it, and the end of the finish awaits them all.

use deadheat_model::{Finish, Names, Op, Strand};
use rustc_hash::FxHashMap;

use super::synchronisation::Synchronisation;
use super::{At, Publish, Slot, ThreadEngine};

/// A finish that is open.
#[derive(Default)]
struct OpenFinish {
    /// What the tasks that have ended published.
    ended: Option<Slot>,
    /// How many tasks have not ended.
    running: u64,
}

/// What the execution has of tasks.
#[derive(Default)]
pub(super) struct Tasks {
    /// The finishes that a strand has open, innermost last.
    open: FxHashMap<Strand, Vec<Finish>>,
    /// By task that has not ended: the finish that waits for it, if there is one.
    waited_for_by: FxHashMap<Strand, Option<Finish>>,
    finishes: FxHashMap<Finish, OpenFinish>,
}

impl Tasks {
    /// A strand starts a task.
    pub(super) fn start(&mut self, strand: Strand, task: Strand) {
        let innermost = self.open.get(&strand).and_then(|open| open.last());
        let inherited = || self.waited_for_by.get(&strand).copied().flatten();
        let finish = innermost.copied().or_else(inherited);
        if let Some(finish) = finish.and_then(|finish| self.finishes.get_mut(&finish)) {
            finish.running += 1;
        }
        self.waited_for_by.insert(task, finish);
    }

    /// A strand ends; says whether it is a task.
    pub(super) fn end(
        &mut self,
        at: At,
        synchronisation: &mut Synchronisation,
        engine: &mut impl ThreadEngine,
    ) -> bool {
        let Some(finish) = self.waited_for_by.remove(&at.strand) else {
            return false;
        };
        self.open.remove(&at.strand);
        let finish = finish.and_then(|finish| self.finishes.get_mut(&finish));
        if let Some(finish) = finish {
            let (slot, how): (Slot, Publish) = synchronisation.adding_to(finish.ended);
            finish.ended = Some(slot);
            finish.running -= 1;
            engine.publish(at, slot, how);
        }
        true
    }

    /// A strand enters a finish or leaves one.
    pub(super) fn finish(
        &mut self,
        at: At,
        op: Op,
        synchronisation: &mut Synchronisation,
        names: &Names,
        engine: &mut impl ThreadEngine,
    ) -> Result<(), String> {
        let open = self.open.entry(at.strand).or_default();
        match op {
            Op::FinishBegin(finish) => {
                if self.finishes.contains_key(&finish) {
                    return Err(format!("begins finish {}, which is open", finish.0));
                }
                self.finishes.insert(finish, OpenFinish::default());
                open.push(finish);
            }
            Op::FinishEnd(finish) => {
                if open.last() != Some(&finish) {
                    return Err(format!(
                        "ends finish {}, which is not the last it has begun and not ended",
                        finish.0
                    ));
                }
                if self.finishes.get(&finish).is_some_and(|f| f.running > 0) {
                    let waited = |(task, by): (&Strand, &Option<Finish>)| {
                        (*by == Some(finish)).then_some(*task)
                    };
                    let task = self.waited_for_by.iter().filter_map(waited).min();
                    return Err(format!(
                        "ends finish {}, but {} has not ended",
                        finish.0,
                        task.map_or("a task".into(), |task| names.strand(task))
                    ));
                }
                open.pop();
                let state = self.finishes.remove(&finish).unwrap_or_default();
                if let Some(slot) = state.ended {
                    engine.awaits(at, slot);
                    synchronisation.free.push(slot);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
