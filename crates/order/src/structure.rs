//! The order of a program of tasks, futures, promises and threads: the tree, the joins beside it, and
//! how each construct adds to them.
//!
//! Guarantee: a step comes before another in the computation graph if and only if the tree says so,
//! or a search through what the other's task knew then finds it.

use crate::arena::Full;
use crate::joins::{Joins, Knowledge, Past, Signal};
use crate::reach::Reach;
use crate::tree::{Place, Scope, Step, Tree};

/// A running task or thread: where it stands, and what it knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    place: Place,
    knowledge: Knowledge,
    /// Whether something outside of the `finish` around it may come after what it did, before that ends: it has signalled,
    /// or a task that it has waited for in a `finish` of its own has, or may be waited for by name.
    heard: bool,
    /// Whether it has left tasks behind that only the `finish` around it waits for.
    has_left: bool,
}

impl Task {
    /// The step it is in.
    #[inline]
    pub fn step(&self) -> Step {
        self.place.step()
    }

    /// The scope that step lies in.
    #[inline]
    pub fn scope(&self) -> Scope {
        self.place.scope()
    }

    /// All that it knows beside the tree comes before whatever is asked about from now on: it need not be searched.
    pub fn forget_known(&mut self) {
        self.knowledge = Knowledge::default();
    }

    /// Whether it has learnt anything, beside the tree, since it began.
    #[inline]
    pub fn has_learnt(&self) -> bool {
        self.knowledge.has_grown()
    }

    /// Whether the `finish` around it has to know of its end: what it has learnt, or that it was heard.
    #[inline]
    pub fn tells(&self) -> bool {
        self.has_learnt() || self.heard
    }

    /// What it knows beside the tree.
    #[inline]
    pub fn known(&self) -> Past {
        self.knowledge.now
    }
}

/// The tasks that have ended inside an open `finish`.
#[derive(Clone, Debug, Default)]
pub struct FinishPast {
    /// What they knew.
    pasts: Vec<Past>,
    /// Whether one of them was heard outside. Then so is what the task did before that has entered the `finish`.
    heard: bool,
}

impl FinishPast {
    fn add(&mut self, task: &Task) {
        if task.has_learnt() {
            self.pasts.push(task.known());
        }
    }

    /// Another `finish` was left without waiting: this one waits for what was inside.
    pub fn extend(&mut self, other: FinishPast) {
        self.pasts.extend(other.pasts);
        self.heard |= other.heard;
    }
}

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Structure {
    /// What `async` and `finish` order.
    pub tree: Tree,
    /// What everything else orders.
    pub joins: Joins,
}

impl Structure {
    /// Nothing has happened.
    pub fn new() -> Structure {
        Structure::default()
    }

    /// The first task begins.
    pub fn main(&self) -> Result<Task, Full> {
        Ok(Task {
            place: self.tree.root()?,
            knowledge: Knowledge::default(),
            heard: false,
            has_left: false,
        })
    }

    /// A task starts a task.
    pub fn spawn(&self, task: &mut Task) -> Result<Task, Full> {
        task.has_left |= !self.tree.is_in_finish(&task.place);
        Ok(Task {
            place: self.tree.spawn(&mut task.place)?,
            knowledge: task.knowledge.inherit(),
            heard: false,
            has_left: false,
        })
    }

    /// A task that has entered a `finish` for a parallel loop starts its child of a number; see [`Tree::spawn_nth`].
    pub fn spawn_nth(&self, task: &Task, number: u32) -> Result<Task, Full> {
        Ok(Task {
            place: self.tree.spawn_nth(&task.place, number)?,
            knowledge: task.knowledge.inherit(),
            heard: false,
            has_left: false,
        })
    }

    /// A task starts a thread, which no `finish` waits for.
    pub fn fork(&self, task: &mut Task) -> Result<Task, Full> {
        let mut thread = self.main()?;
        let signal = self.signal(task)?;
        self.joins.join(&mut thread.knowledge, signal)?;
        // What it learns at its start is not news to whoever waits for it.
        thread.knowledge = thread.knowledge.inherit();
        Ok(thread)
    }

    /// A task enters a `finish`.
    pub fn begin_finish(&self, task: &mut Task) -> Result<FinishPast, Full> {
        self.tree.begin_finish(&mut task.place)?;
        Ok(FinishPast::default())
    }

    /// A task leaves its innermost `finish`, everything inside having ended.
    pub fn end_finish(&self, task: &mut Task, finish: FinishPast) -> Result<(), Full> {
        self.tree.end_finish(&mut task.place);
        task.heard |= finish.heard;
        self.learn(task, finish.pasts)
    }

    /// A task leaves its innermost `finish` without having waited for all inside.
    pub fn leave_open(&self, task: &mut Task) {
        self.tree.leave_open(&mut task.place);
    }

    /// A task has waited for several signals. What it did before and does after is one step: nobody asks whether what
    /// it did before comes after them.
    pub fn join_all(&self, task: &mut Task, signals: &[Signal]) -> Result<(), Full> {
        for &signal in signals {
            self.joins.join(&mut task.knowledge, signal)?;
        }
        Ok(())
    }

    /// A task learns what others knew that it has waited for.
    pub fn learn(
        &self,
        task: &mut Task,
        pasts: impl IntoIterator<Item = Past>,
    ) -> Result<(), Full> {
        for known in pasts {
            self.joins.merge(&mut task.knowledge, known)?;
        }
        Ok(())
    }

    /// What a task has learnt by messages becomes known by joins: others are going to know what it knows.
    pub fn settle(&self, task: &mut Task, reach: &mut Reach) -> Result<(), Full> {
        reach.settle(&self.joins, &mut task.knowledge)
    }

    /// A task ends that nobody waits for but the `finish` around it.
    pub fn end_async(&self, task: &Task, finish: Option<&mut FinishPast>) {
        if let Some(finish) = finish {
            finish.add(task);
            finish.heard |= task.heard;
        }
        if !task.heard && !task.has_left {
            self.tree.silence(&task.place);
        }
    }

    /// A task ends, inside a `finish` or nowhere, and gives a signal to whoever waits for it.
    pub fn end(&self, task: &Task, finish: Option<&mut FinishPast>) -> Signal {
        if let Some(finish) = finish {
            finish.add(task);
            finish.heard = true;
        }
        Signal {
            step: task.step(),
            known: task.known(),
        }
    }

    /// A task sets a promise.
    pub fn signal(&self, task: &mut Task) -> Result<Signal, Full> {
        let signal = self.end(task, None);
        task.heard = true;
        self.tree.cut(&mut task.place)?;
        Ok(signal)
    }

    /// A task has waited for a promise, a future or a thread.
    pub fn join(&self, task: &mut Task, signal: Signal) -> Result<(), Full> {
        self.joins.join(&mut task.knowledge, signal)?;
        self.tree.cut(&mut task.place)
    }

    /// How many bytes all this takes.
    pub fn bytes(&self) -> usize {
        self.tree.bytes() + self.joins.bytes()
    }
}
