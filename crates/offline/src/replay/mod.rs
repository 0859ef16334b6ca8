//! Feeding a recorded execution to the engines of `online`, as if it ran now.
//!
//! [`Strands`] keeps, for each strand that runs, its place in the order of tasks, and moves it on
//! with each event that starts or waits for something. Engines look at the accesses in between.
//!
//! An engine says which locations race. Which of their accesses do, all of them, is then asked of the
//! same order in a second pass that looks at these locations only: what users get is the same
//! whatever the engine.

pub mod drdp;
pub mod spd3;

use std::collections::BTreeMap;

use deadheat_model::{
    Event, EventNumber, Execution, Findings, Finish, Location, Op, Promise, StopPoll, Strand,
};
use deadheat_order::{FinishPast, Full, Signal, Structure, Task};
use rustc_hash::FxHashMap;

use crate::engine::EngineError;
use crate::pairs::{self, Node};
use crate::recorded_order::RecordedOrder;
use crate::survey::Survey;

/// A strand that runs.
#[derive(Debug)]
struct RunningStrand {
    task: Task,
    /// The finishes it has open, innermost last.
    finishes: Vec<Finish>,
    /// The finish that waits for it, if it is a task: the one it was started in.
    waited_for_by: Option<Finish>,
    started: Origin,
}

/// How a strand was started, which says what ends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// A task: its end is an event of its own.
    Async,
    /// The same, and others can wait for it by name.
    Future,
    /// A thread: who joins it says that it has ended. Some recorders mark the ends of blocks with the
    /// event that ends a task.
    Thread,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Strands {
    /// Who came before whom.
    pub structure: Structure,
    /// Where in `running` a strand is, by its number.
    slots: Vec<u32>,
    running: Vec<RunningStrand>,
    free: Vec<u32>,
    /// Of the finishes that are open.
    gathered: FxHashMap<Finish, FinishPast>,
    promises: FxHashMap<Promise, Signal>,
    /// Of futures and threads that have ended.
    ended: FxHashMap<Strand, Signal>,
}

/// In `slots`: not running.
const NOWHERE: u32 = u32::MAX;

impl Strands {
    /// The first strand begins.
    pub fn new() -> Result<Strands, Full> {
        let mut strands = Strands {
            structure: Structure::new(),
            slots: Vec::new(),
            running: Vec::new(),
            free: Vec::new(),
            gathered: FxHashMap::default(),
            promises: FxHashMap::default(),
            ended: FxHashMap::default(),
        };
        let main = strands.structure.main()?;
        strands.begin(Strand::MAIN, main, None, Origin::Thread);
        Ok(strands)
    }

    /// The task of a strand that runs.
    #[inline]
    pub fn task(&self, strand: Strand) -> Option<&Task> {
        let slot = *self.slots.get(strand.index())?;
        let running = self.running.get(slot as usize)?;
        Some(&running.task)
    }

    fn begin(
        &mut self,
        strand: Strand,
        task: Task,
        waited_for_by: Option<Finish>,
        started: Origin,
    ) {
        let running = RunningStrand {
            task,
            started,
            finishes: Vec::new(),
            waited_for_by,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.running[slot as usize] = running;
                slot
            }
            None => {
                self.running.push(running);
                self.running.len() as u32 - 1
            }
        };
        if self.slots.len() <= strand.index() {
            self.slots.resize(strand.index() + 1, NOWHERE);
        }
        self.slots[strand.index()] = slot;
    }

    /// Moves on with an event that is no access. Events of strands that do not run are ignored: a
    /// well-formed execution has none.
    pub fn synchronise(&mut self, event: &Event) -> Result<(), Full> {
        let op = event.op();
        let strand = event.strand();
        let slot = self.slots.get(strand.index()).copied();
        let Some(running) = slot.and_then(|slot| self.running.get_mut(slot as usize)) else {
            return Ok(());
        };
        let structure = &self.structure;
        let task = &mut running.task;
        match op {
            Op::Async(child) | Op::Future(child) => {
                let innermost = running.finishes.last().copied();
                let innermost = innermost.or(running.waited_for_by);
                let task = structure.spawn(task)?;
                let started = match op {
                    Op::Future(_) => Origin::Future,
                    _ => Origin::Async,
                };
                self.begin(child, task, innermost, started);
            }
            Op::Fork(child) => {
                let task = structure.fork(task)?;
                self.begin(child, task, None, Origin::Thread);
            }
            Op::Join(other) => {
                self.end_thread(other);
                if let Some(&signal) = self.ended.get(&other)
                    && let Some(running) = self.running.get_mut(slot.unwrap_or(NOWHERE) as usize)
                {
                    self.structure.join(&mut running.task, signal)?;
                }
            }
            Op::End if running.started != Origin::Thread => {
                let finish = running.waited_for_by;
                let finish = finish.and_then(|finish| self.gathered.get_mut(&finish));
                match running.started {
                    Origin::Future => {
                        self.ended.insert(strand, structure.end(task, finish));
                    }
                    _ => structure.end_async(task, finish),
                }
                self.free.extend(slot);
                self.slots[strand.index()] = NOWHERE;
            }
            Op::FinishBegin(finish) => {
                let gathered = structure.begin_finish(task)?;
                running.finishes.push(finish);
                self.gathered.insert(finish, gathered);
            }
            Op::FinishEnd(finish) => {
                running.finishes.pop();
                let gathered = self.gathered.remove(&finish).unwrap_or_default();
                structure.end_finish(task, gathered)?;
            }
            Op::Set(promise) => {
                let signal = structure.signal(task)?;
                self.promises.insert(promise, signal);
            }
            Op::Get(promise) => {
                if let Some(&signal) = self.promises.get(&promise) {
                    structure.join(task, signal)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Strands {
    /// A thread that runs ends.
    fn end_thread(&mut self, strand: Strand) {
        let Some(slot) = self.slots.get_mut(strand.index()) else {
            return;
        };
        let slot = std::mem::replace(slot, NOWHERE);
        if let Some(running) = self.running.get_mut(slot as usize) {
            let signal = self.structure.end(&running.task, None);
            self.ended.insert(strand, signal);
            self.free.push(slot);
        }
    }
}

/// The locations that an engine has found to race, each with an event that races with another one.
pub(crate) type Racy = BTreeMap<Location, EventNumber>;

/// Gives every event to `access` or to [`Strands::synchronise`], until it is stopped; the strands as they are in
/// the end.
fn each_access(
    execution: &Execution,
    poll: &mut StopPoll,
    mut access: impl FnMut(&Strands, &Task, &Event, EventNumber),
) -> Result<Strands, Full> {
    let mut strands = Strands::new()?;
    for (event, number) in execution.events.iter().zip(1..) {
        if poll.stops() {
            break;
        }
        match event.access() {
            Some(_) => {
                if let Some(task) = strands.task(event.strand()) {
                    access(&strands, task, event, number);
                }
            }
            None => strands.synchronise(event)?,
        }
    }
    Ok(strands)
}

/// All races of the locations that an engine has found to race, as far as the engine, and then this, was not
/// stopped; of each location one at least.
pub(crate) fn all_races(
    execution: &Execution,
    racy: &Racy,
    engine: StopPoll,
    survey: &mut Survey,
) -> Result<Findings, EngineError> {
    survey.heed(engine);
    let judged = execution.events.len() as u64;
    if racy.is_empty() {
        return Ok(Findings::listed(Vec::new(), true, judged));
    }
    let mut order = RecordedOrder::new(execution, |location| racy.contains_key(&location))?;
    let accesses = std::mem::take(&mut order.graph.accesses);
    let node_of = |number| order.graph.node_of(number);
    let known: FxHashMap<Location, Node> = racy
        .iter()
        .filter_map(|(&location, &number)| Some((location, node_of(number)?)))
        .collect();
    let mut poll = StopPoll::new(survey.stop);
    let races = pairs::races(
        accesses,
        |location| known.get(&location).copied(),
        |a, b, compared| {
            let before = order.work();
            let found = order.precedes(a, b);
            *compared += (order.work() - before) as usize;
            found
        },
        &mut poll,
    );
    if let Some((why, _)) = poll.stopped() {
        survey.cut_short(why);
    }
    Ok(Findings::listed(races.found, races.complete, judged))
}
