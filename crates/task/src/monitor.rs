//! What is kept of a run that is checked or recorded: the order of its tasks, who they are, and its events.
//!
//! Every construct tells the monitor what it does, in the task that does it; the [`Structure`] then orders any
//! two steps. A task that is started in another block than its innermost (`s.spawn` inside a `join`, a free `future`) is
//! waited for by that block only: it becomes a tree of its own, and the block joins it at its end.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use deadheat_model::{Event, Finish as FinishNumber, Op, Promise, Site, Strand};
use deadheat_online::{drdp, spd3};
use deadheat_order::{FinishPast, Full, Step, Structure, Task};
use rustc_hash::FxHashMap;

use crate::error::{Error, cancel, place};
use crate::fiber::Caller;
use crate::finish::Finish;
use crate::future::End;
use crate::options::{Check, Options};
use crate::races::Races;
use crate::sync::{Mutex, lock};
use crate::variable::Variables;
use crate::worker::Worker;

/// See the [module](self).
pub(crate) struct Monitor {
    /// Tells this run from others.
    pub(crate) id: u64,
    pub(crate) check: Check,
    pub(crate) structure: Structure,
    tasks: AtomicU32,
    finishes: AtomicU64,
    promises: AtomicU64,
    sites: Mutex<Sites>,
    pub(crate) births: Mutex<Vec<Birth>>,
    pub(crate) variables: Mutex<Variables>,
    pub(crate) races: Mutex<Races>,
    pub(crate) events: Option<Mutex<Vec<Event>>>,
    /// Whose setting counts may be the schedule's choice.
    pub(crate) set_twice: AtomicBool,
    pub(crate) options: Options,
}

/// The places in the source that were met.
#[derive(Default)]
struct Sites {
    numbers: FxHashMap<usize, u32>,
    places: Vec<Caller>,
}

/// How a task came to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    /// Its first step.
    pub(crate) first: Step,
    pub(crate) number: u32,
    pub(crate) parent: u32,
    /// Which child of its parent, from 1.
    pub(crate) ordinal: u32,
    /// Where in the source.
    pub(crate) site: u32,
}

/// What a task carries along.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskState {
    pub(crate) task: Task,
    /// The address of the innermost block it is in.
    finish: usize,
    pub(crate) number: u32,
    children: u32,
}

/// What a block gathers from its tasks.
#[derive(Default)]
pub(crate) struct FinishState {
    past: Mutex<FinishPast>,
    /// Tasks that were not started by the block's own, in its order: the end of each.
    strays: Mutex<Vec<End>>,
    number: AtomicU64,
}

/// How a task is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Async,
    Future,
}

/// A task that was started and has not begun.
pub(crate) struct Child {
    state: Cell<TaskState>,
    kind: Kind,
    stray: bool,
}

impl Child {
    /// Runs the task's code, and then `end`, whether or not the code panics.
    pub(crate) fn perform<R>(
        &mut self,
        worker: &Worker,
        body: impl FnOnce() -> R,
        end: impl FnOnce(&Child),
    ) -> R {
        let result = catch_unwind(AssertUnwindSafe(|| worker.as_task(&self.state, body)));
        end(self);
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }
}

/// The engine's tables of a worker.
pub(crate) enum EngineTables {
    None,
    Spd3(Box<spd3::Worker>),
    Drdp(Box<drdp::Checker>),
}

/// How many places in the source a worker remembers the numbers of.
const REMEMBERED: usize = 64;

/// What the monitor keeps for each worker.
pub(crate) struct Tables {
    pub(crate) engine: EngineTables,
    births: Vec<Birth>,
    /// By address: where in the source, and its number.
    remembered: [(usize, u32); REMEMBERED],
}

impl Tables {
    pub(crate) fn new(monitor: Option<&Monitor>) -> Tables {
        Tables {
            engine: match monitor.map(|monitor| monitor.check) {
                None | Some(Check::Off) => EngineTables::None,
                Some(Check::Spd3) => EngineTables::Spd3(Box::default()),
                Some(Check::Drdp) => EngineTables::Drdp(Box::default()),
            },
            births: Vec::new(),
            remembered: [(0, 0); REMEMBERED],
        }
    }

    /// The number of a place in the source.
    #[inline]
    pub(crate) fn site(&mut self, monitor: &Monitor, at: Caller) -> u32 {
        let address = std::ptr::from_ref(at).addr();
        let entry = &mut self.remembered[address / align_of_val(at) % REMEMBERED];
        if entry.0 != address {
            *entry = (address, monitor.site(at));
        }
        entry.1
    }
}

impl Monitor {
    /// What keeps track of a run; nothing if nothing is to be checked or recorded.
    pub(crate) fn new(options: &Options) -> Option<Monitor> {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        let records = options.record.is_some() || options.keep;
        if !cfg!(feature = "check") || (options.check == Check::Off && !records) {
            return None;
        }
        Some(Monitor {
            id: RUNS.fetch_add(1, Ordering::Relaxed),
            check: options.check,
            structure: Structure::new(),
            tasks: AtomicU32::new(0),
            finishes: AtomicU64::new(0),
            promises: AtomicU64::new(0),
            sites: Mutex::default(),
            births: Mutex::default(),
            variables: Mutex::default(),
            races: Mutex::default(),
            events: records.then(Mutex::default),
            set_twice: AtomicBool::new(false),
            options: options.clone(),
        })
    }

    /// The first task begins.
    pub(crate) fn main(&self, outermost: &Finish) -> Result<Cell<TaskState>, Error> {
        let task = self.structure.main()?;
        Ok(Cell::new(TaskState {
            task,
            finish: outermost.address(),
            number: self.number()?,
            children: 0,
        }))
    }

    /// The first task has ended.
    pub(crate) fn end_main(&self, main: &Cell<TaskState>) {
        self.record(main.get().number, Op::End, 0);
    }

    /// How many tasks there were.
    pub(crate) fn task_count(&self) -> u32 {
        self.tasks.load(Ordering::Relaxed)
    }

    /// Where in the source a number stands for.
    pub(crate) fn places(&self) -> Vec<Caller> {
        lock(&self.sites).places.clone()
    }

    /// What a worker has kept is for all.
    pub(crate) fn collect(&self, tables: &mut Tables) {
        lock(&self.births).append(&mut tables.births);
    }

    fn number(&self) -> Result<u32, Full> {
        match self.tasks.fetch_add(1, Ordering::Relaxed) {
            u32::MAX => Err(Full),
            number => Ok(number),
        }
    }

    #[cold]
    fn site(&self, at: Caller) -> u32 {
        let mut sites = lock(&self.sites);
        let next = sites.places.len() as u32;
        let address = std::ptr::from_ref(at).addr();
        let number = *sites.numbers.entry(address).or_insert(next);
        if number == next {
            sites.places.push(at);
        }
        number
    }

    fn record(&self, task: u32, op: Op, site: u32) {
        if let Some(events) = &self.events {
            lock(events).push(Event::new(Strand(task), op, Site(site)));
        }
    }

    /// Records what a task does with several elements.
    pub(crate) fn record_all(&self, task: u32, ops: impl Iterator<Item = Op>, site: u32) {
        if let Some(events) = &self.events {
            let events_of = ops.map(|op| Event::new(Strand(task), op, Site(site)));
            lock(events).extend(events_of);
        }
    }
}

impl Worker {
    /// The monitor and the task that runs, unless the run is neither checked nor recorded or has failed.
    #[inline]
    pub(crate) fn monitored(&self) -> Option<(&Monitor, &Cell<TaskState>)> {
        let task = self.task()?;
        let monitor = self.run.monitor.as_ref()?;
        (!self.run.is_cancelled()).then_some((monitor, task))
    }

    /// The run cannot go on.
    fn give_up(&self, error: impl Into<Error>) -> ! {
        self.run.fail(error.into());
        cancel()
    }

    /// The task does something that adds to the order of tasks.
    fn advance<R>(
        &self,
        monitor: &Monitor,
        task: &Cell<TaskState>,
        act: impl FnOnce(&Structure, &mut TaskState) -> Result<R, Full>,
    ) -> R {
        let mut state = task.get();
        let result = act(&monitor.structure, &mut state);
        task.set(state);
        result.unwrap_or_else(|full| self.give_up(full))
    }

    pub(crate) fn site(&self, monitor: &Monitor, at: Caller) -> u32 {
        self.tables.borrow_mut().site(monitor, at)
    }

    /// The engine must know how to order a construct.
    fn require(&self, monitor: &Monitor, construct: &'static str, at: Caller) {
        let instead = match (monitor.check, construct) {
            (Check::Spd3, "isolated") | (Check::Drdp, "isolated") => {
                "record the run with Options::record and judge it with `deadheat analyze`"
            }
            (Check::Spd3, _) => "Check::Drdp can",
            _ => return,
        };
        self.give_up(Error::Unsupported {
            construct,
            engine: monitor.check.name(),
            at: place(at),
            instead,
        })
    }

    /// The task enters a block; gives the one it was in.
    pub(crate) fn begin_finish(&self, finish: &Finish, at: Caller) -> usize {
        let Some((monitor, task)) = self.monitored() else {
            return 0;
        };
        // Its past, too, is empty, as the block's is.
        self.advance(monitor, task, |structure, state| {
            structure.begin_finish(&mut state.task)
        });
        if monitor.events.is_some() {
            let number = monitor.finishes.fetch_add(1, Ordering::Relaxed);
            finish.state.number.store(number, Ordering::Relaxed);
            let op = Op::FinishBegin(FinishNumber(number));
            monitor.record(task.get().number, op, self.site(monitor, at));
        }
        let mut state = task.get();
        let outer = std::mem::replace(&mut state.finish, finish.address());
        task.set(state);
        outer
    }

    /// The task leaves a block, all of whose tasks have ended.
    pub(crate) fn end_finish(&self, finish: &Finish, outer: usize, at: Caller) {
        let Some((monitor, task)) = self.monitored() else {
            return;
        };
        let past = std::mem::take(&mut *lock(&finish.state.past));
        let strays = std::mem::take(&mut *lock(&finish.state.strays));
        self.advance(monitor, task, |structure, state| {
            state.finish = outer;
            structure.end_finish(&mut state.task, past)
        });
        if monitor.events.is_some() {
            let number = finish.state.number.load(Ordering::Relaxed);
            let op = Op::FinishEnd(FinishNumber(number));
            monitor.record(task.get().number, op, self.site(monitor, at));
        }
        for end in strays {
            self.join(end, at);
        }
    }

    /// The task starts another, which a block waits for.
    pub(crate) fn begin_task(&self, finish: &Finish, kind: Kind, at: Caller) -> Option<Child> {
        let (monitor, task) = self.monitored()?;
        if kind == Kind::Future {
            self.require(monitor, "future", at);
        }
        let stray = task.get().finish != finish.address();
        if stray && kind == Kind::Async {
            self.require(monitor, "spawn in an outer finish", at);
        }
        let started = self.advance(monitor, task, |structure, state| {
            state.children += 1;
            match stray {
                true => structure.fork(&mut state.task),
                false => structure.spawn(&mut state.task),
            }
        });
        let around = match stray {
            // In a tree of its own, no block is around it.
            true => 0,
            false => finish.address(),
        };
        let parent = task.get();
        let child = self.child(monitor, started, around, (parent, parent.children), at);
        let strand = Strand(child.number);
        let op = match (stray, kind) {
            (true, _) => Op::Fork(strand),
            (false, Kind::Async) => Op::Async(strand),
            (false, Kind::Future) => Op::Future(strand),
        };
        monitor.record(task.get().number, op, self.site(monitor, at));
        Some(Child {
            state: Cell::new(child),
            kind,
            stray,
        })
    }

    /// A loop's task starts that of an index.
    pub(crate) fn begin_index(&self, parent: TaskState, index: usize, at: Caller) -> Option<Child> {
        let monitor = self.run.monitor.as_ref()?;
        if self.run.is_cancelled() {
            cancel();
        }
        let ordinal = u32::try_from(index + 1).unwrap_or_else(|_| self.give_up(Full));
        let started = monitor.structure.spawn_nth(&parent.task, ordinal);
        let started = started.unwrap_or_else(|full| self.give_up(full));
        let named = parent.children.saturating_add(ordinal);
        let child = self.child(monitor, started, parent.finish, (parent, named), at);
        let op = Op::Async(Strand(child.number));
        monitor.record(parent.number, op, self.site(monitor, at));
        Some(Child {
            state: Cell::new(child),
            kind: Kind::Async,
            stray: false,
        })
    }

    /// A loop's task has started that many.
    pub(crate) fn count_indices(&self, count: usize) {
        if let Some((_, task)) = self.monitored() {
            let state = task.get();
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            let children = state.children.saturating_add(count);
            task.set(TaskState { children, ..state });
        }
    }

    fn child(
        &self,
        monitor: &Monitor,
        task: Task,
        finish: usize,
        (parent, ordinal): (TaskState, u32),
        at: Caller,
    ) -> TaskState {
        let number = monitor.number().unwrap_or_else(|full| self.give_up(full));
        let mut tables = self.tables.borrow_mut();
        let site = tables.site(monitor, at);
        tables.births.push(Birth {
            first: task.step(),
            number,
            parent: parent.number,
            ordinal,
            site,
        });
        TaskState {
            task,
            finish,
            number,
            children: 0,
        }
    }

    /// A task has ended; `finish` waits for it. Gives its end if others can wait for it, too.
    pub(crate) fn end_task(&self, child: &Child, finish: &Finish) -> Option<End> {
        let state = child.state.get();
        let monitor = self.run.monitor.as_ref()?;
        if self.run.is_cancelled() {
            return None;
        }
        let structure = &monitor.structure;
        // The block learns what the task has learnt, and whether others may know of it.
        let tells = state.task.tells() || child.kind == Kind::Future;
        let mut past = (tells && !child.stray).then(|| lock(&finish.state.past));
        let signal = match (child.stray, child.kind) {
            (false, Kind::Async) => {
                structure.end_async(&state.task, past.as_deref_mut());
                None
            }
            _ => Some(structure.end(&state.task, past.as_deref_mut())),
        };
        drop(past);
        monitor.record(state.number, Op::End, 0);
        let end = signal.map(|signal| End {
            run: monitor.id,
            signal,
            task: state.number,
        });
        if child.stray {
            lock(&finish.state.strays).extend(end);
        }
        end
    }

    /// The task has waited for a future.
    pub(crate) fn join(&self, end: End, at: Caller) {
        if let Some((monitor, task)) = self.monitored()
            && end.run == monitor.id
        {
            self.advance(monitor, task, |structure, state| {
                structure.join(&mut state.task, end.signal)
            });
            let op = Op::Join(Strand(end.task));
            monitor.record(task.get().number, op, self.site(monitor, at));
        }
    }

    /// The task sets a promise.
    pub(crate) fn set(&self, at: Caller, number: impl FnOnce() -> u64) -> Option<End> {
        let (monitor, task) = self.monitored()?;
        self.require(monitor, "promise", at);
        let signal = self.advance(monitor, task, |structure, state| {
            structure.signal(&mut state.task)
        });
        if monitor.events.is_some() {
            let op = Op::Set(Promise(number()));
            monitor.record(task.get().number, op, self.site(monitor, at));
        }
        Some(End {
            run: monitor.id,
            signal,
            task: task.get().number,
        })
    }

    /// The task has tried to set a promise that was set.
    pub(crate) fn note_set_twice(&self) {
        if let Some(monitor) = &self.run.monitor {
            monitor.set_twice.store(true, Ordering::Relaxed);
        }
    }

    /// The task has waited for a promise.
    pub(crate) fn get(&self, set: End, at: Caller, number: impl FnOnce() -> u64) {
        if let Some((monitor, task)) = self.monitored()
            && set.run == monitor.id
        {
            self.advance(monitor, task, |structure, state| {
                structure.join(&mut state.task, set.signal)
            });
            if monitor.events.is_some() {
                let op = Op::Get(Promise(number()));
                monitor.record(task.get().number, op, self.site(monitor, at));
            }
        }
    }

    /// A promise gets a number, when it is first used.
    pub(crate) fn new_promise(&self) -> u64 {
        let monitor = self.run.monitor.as_ref();
        let number = monitor.map(|monitor| monitor.promises.fetch_add(1, Ordering::Relaxed));
        if let (Some(number), Some((monitor, task))) = (number, self.monitored()) {
            monitor.record(task.get().number, Op::NewPromise(Promise(number)), 0);
        }
        number.unwrap_or_default()
    }

    /// The task enters `isolated`.
    pub(crate) fn begin_isolated(&self, at: Caller) {
        if let Some((monitor, task)) = self.monitored() {
            self.require(monitor, "isolated", at);
            let site = self.site(monitor, at);
            monitor.record(task.get().number, Op::IsolatedBegin, site);
        }
    }

    /// The task leaves `isolated`.
    pub(crate) fn end_isolated(&self, at: Caller) {
        if let Some((monitor, task)) = self.monitored() {
            let site = self.site(monitor, at);
            monitor.record(task.get().number, Op::IsolatedEnd, site);
        }
    }
}
