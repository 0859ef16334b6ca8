//! What a task has learnt by messages: steps, all of which come before what it does now.
//!
//! Simple model: a list of joins that grows with each message, searched from the newest on.
//!
//! A task that is told something every few accesses would have more joins than anybody can walk. So what messages tell is kept
//! beside the joins as a set of steps, at most one for each scope of the tree: of two steps of one scope the later one tells
//! of the earlier one and of all that its task knew. A message carries all of its sender's set, as a vector clock does. Only when
//! the task starts another, ends or is waited for, the set becomes joins ([`Reach::settle`]).
//!
//! A set that grows too large becomes a list of joins by itself, which is searched ([`Reach::fold`]).
//!
//! Guarantee: as with the simple model.
//! Cost: a message O(size of the sets), the size being the number of threads where those tell each other; a question a comparison
//! for each step, and the tree's for those of other scopes.

use crate::arena::Full;
use crate::joins::{Joins, Knowledge, Past, Signal};
use crate::tree::{Scope, Step, Tree};

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Reach(Vec<Known>);

impl Clone for Reach {
    fn clone(&self) -> Reach {
        Reach(self.0.clone())
    }

    /// In the room that there is.
    fn clone_from(&mut self, other: &Reach) {
        self.0.clone_from(&other.0);
    }
}

/// A step that is known to come before, and what its task knew then by joins. No step: a list of joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    step: Step,
    scope: Scope,
    past: Past,
}

impl Reach {
    /// Whether it tells of nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many steps it keeps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What a task did in a scope up to a signal comes before. Whether that is news.
    pub fn add(&mut self, signal: Signal, scope: Scope) -> bool {
        self.note(Known {
            step: signal.step,
            scope,
            past: signal.known,
        })
    }

    fn note(&mut self, new: Known) -> bool {
        let same = |known: &&mut Known| match new.step.is_none() {
            true => **known == new,
            false => known.scope == new.scope && !known.step.is_none(),
        };
        match self.0.iter_mut().find(same) {
            // What a task knows by joins only grows.
            Some(known) => {
                let is_news = known.step < new.step || known.past < new.past;
                known.step = known.step.max(new.step);
                known.past = known.past.max(new.past);
                is_news
            }
            None => {
                self.0.push(new);
                true
            }
        }
    }

    /// Learns what another tells, but for what comes before whatever is asked by anyone, as `is_past` says, and for the steps of
    /// the asking task's own scope. Calls `each` with what is news.
    pub fn merge(
        &mut self,
        other: &Reach,
        own: Option<Scope>,
        is_past: impl Fn(Step) -> bool,
        mut each: impl FnMut(Step),
    ) {
        for &known in &other.0 {
            let is_own = own == Some(known.scope) && !known.step.is_none();
            let needed = known.past != Past::default() || !is_own && !is_past(known.step);
            if needed && self.note(known) {
                each(known.step);
            }
        }
    }

    /// Becomes joins of a task.
    pub fn settle(&mut self, joins: &Joins, knowledge: &mut Knowledge) -> Result<(), Full> {
        for Known { step, past, .. } in self.0.drain(..) {
            match step.is_none() {
                true => joins.merge(knowledge, past)?,
                false => joins.join(knowledge, Signal { step, known: past })?,
            }
        }
        Ok(())
    }

    /// Becomes one list of joins if it has more steps than a limit.
    pub fn fold(&mut self, joins: &Joins, limit: usize) -> Result<(), Full> {
        if self.0.len() > limit {
            let mut knowledge = Knowledge::default();
            self.settle(joins, &mut knowledge)?;
            self.0.push(Known {
                step: Step::NONE,
                scope: Scope::NONE,
                past: knowledge.now,
            });
        }
        Ok(())
    }

    /// Whether a step comes before, or is one of these; `search` says whether joins lead from it to what a task knew.
    #[inline]
    pub fn has(&self, tree: &Tree, step: Step, mut search: impl FnMut(Past) -> bool) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let scope = tree.scope(step);
        let in_scope = |known: &&Known| known.scope == scope && !known.step.is_none();
        let same = self.0.iter().find(in_scope);
        same.is_some_and(|known| step <= known.step)
            || self.0.iter().any(|known| {
                let other = known.scope != scope && !known.step.is_none();
                other && tree.precedes(step, known.step)
                    || known.past != Past::default() && search(known.past)
            })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::search::{Question, Search};
    use crate::structure::{FinishPast, Structure, Task};

    /// A task with what it was told, and the same task as joins have it.
    struct Runner {
        task: Task,
        reach: Reach,
        slow: Knowledge,
        finishes: Vec<FinishPast>,
    }

    /// What a variable carries.
    #[derive(Default)]
    struct Channel {
        reach: Reach,
        signals: Vec<Signal>,
    }

    #[derive(Default)]
    struct World {
        structure: Structure,
        /// The slow definition's joins, of the same steps.
        joins: Joins,
        runners: Vec<Runner>,
        channels: [Channel; 3],
        steps: Vec<(Step, u32)>,
    }

    impl World {
        fn settle(&mut self, at: usize) {
            let runner = &mut self.runners[at];
            self.structure
                .settle(&mut runner.task, &mut runner.reach)
                .unwrap();
        }

        fn note(&mut self, at: usize) {
            let step = self.runners[at].task.step();
            self.steps.push((step, self.joins.now()));
        }

        fn spawn(&mut self, at: usize) {
            self.settle(at);
            let runner = &mut self.runners[at];
            let task = self.structure.spawn(&mut runner.task).unwrap();
            let slow = runner.slow.inherit();
            self.runners.push(Runner {
                task,
                reach: Reach::default(),
                slow,
                finishes: Vec::new(),
            });
            self.note(at);
            self.note(self.runners.len() - 1);
        }

        fn release(&mut self, at: usize, channel: usize, more: bool, limit: usize) {
            let runner = &mut self.runners[at];
            let signal = self.structure.signal(&mut runner.task).unwrap();
            let channel = &mut self.channels[channel];
            if !more {
                channel.reach = Reach::default();
                channel.signals.clear();
            }
            channel.reach.merge(&runner.reach, None, |_| false, |_| ());
            channel.reach.add(signal, runner.task.scope());
            channel.reach.fold(&self.structure.joins, limit).unwrap();
            channel.signals.push(Signal {
                step: signal.step,
                known: runner.slow.now,
            });
            self.note(at);
        }

        fn acquire(&mut self, at: usize, channel: usize) {
            let runner = &mut self.runners[at];
            let channel = &self.channels[channel];
            let own = Some(runner.task.scope());
            runner.reach.merge(&channel.reach, own, |_| false, |_| ());
            for &signal in &channel.signals {
                self.joins.join(&mut runner.slow, signal).unwrap();
            }
        }

        /// Compares what a task knows with what it knows by joins.
        fn compare(&self, at: usize, search: &mut [Search; 2]) -> usize {
            let runner = &self.runners[at];
            let tree = &self.structure.tree;
            let mut known = 0;
            for &(step, since) in &self.steps {
                let question = |past| Question {
                    step,
                    since: 0,
                    milestone: Step::NONE,
                    known: past,
                };
                let now = runner.task.step();
                let by_tree = tree.precedes(step, now);
                let [one, two] = &mut *search;
                let slow = two.finds(
                    tree,
                    &self.joins,
                    Question {
                        since,
                        ..question(runner.slow.now)
                    },
                );
                let joins = &self.structure.joins;
                let mut finds = |past| one.finds(tree, joins, question(past));
                let fast = finds(runner.task.known()) || runner.reach.has(tree, step, finds);
                assert_eq!(by_tree || slow, by_tree || fast, "{step:?} {now:?}");
                known += usize::from(slow && !by_tree);
            }
            known
        }
    }

    #[test]
    fn what_messages_tell_is_what_joins_tell() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut known = 0;
        for _ in 0..400 {
            let mut world = World::default();
            let mut search = [Search::default(), Search::default()];
            let limit = [1, 3, 64][rng.usize(..3)];
            let task = world.structure.main().unwrap();
            world.runners.push(Runner {
                task,
                reach: Reach::default(),
                slow: Knowledge::default(),
                finishes: Vec::new(),
            });
            world.note(0);
            for _ in 0..rng.usize(10..60) {
                let at = rng.usize(..world.runners.len());
                let channel = rng.usize(..3);
                match rng.u32(..10) {
                    0 | 1 if world.runners.len() < 6 => world.spawn(at),
                    // Nobody is inside but the task itself: nothing is waited for.
                    2 => {
                        let runner = &mut world.runners[at];
                        let past = world.structure.begin_finish(&mut runner.task).unwrap();
                        runner.finishes.push(past);
                        world.note(at);
                    }
                    3 => {
                        let runner = &mut world.runners[at];
                        if runner.finishes.pop().is_some() {
                            world.structure.leave_open(&mut runner.task);
                            world.note(at);
                        }
                    }
                    4..=6 => world.release(at, channel, rng.bool(), limit),
                    _ => world.acquire(at, channel),
                }
                known += world.compare(at, &mut search);
            }
        }
        assert!(known > 1000, "{known}");
    }
}
