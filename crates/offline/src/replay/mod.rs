//! Feeding a recorded execution to the engines of `online`, as if it ran now.
//!
//! [`Strands`] keeps, for each strand that runs, its place in the order of tasks, and moves it on
//! with each event that starts or waits for something. Engines look at the accesses in between.
//!
//! An engine says which locations race. Which of their accesses do, all of them, is then asked of the
//! same order in a second pass that looks at these locations only: what users get is the same
//! whatever the engine.

pub mod drdp;
pub mod parallel;
pub mod spd3;

use std::collections::BTreeMap;

use deadheat_model::{
    Event, EventNumber, Execution, Finish, Location, Op, Promise, Race, RacingAccess, Strand,
};
use deadheat_online::Conflict;
use deadheat_order::{Gathered, Known, Question, Search, Signal, Step, Structure, Task};
use rustc_hash::FxHashMap;

use crate::engine::{Engine, EngineError, Findings};
use crate::pairs::{self, Group, Node};

/// A strand that runs.
#[derive(Debug)]
struct Running {
    task: Task,
    /// The finishes it has open, innermost last, behind the one it was started in.
    finishes: Vec<Finish>,
    /// The finish that waits for it, if it is a task.
    waited_for_by: Option<Finish>,
    /// Whether it can be waited for by name.
    has_name: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Strands {
    /// Who came before whom.
    pub structure: Structure,
    /// Whose events these are, for errors.
    engine: Engine,
    /// Where in `running` a strand is, by its number.
    slots: Vec<u32>,
    running: Vec<Running>,
    free: Vec<u32>,
    /// Of the finishes that are open.
    gathered: FxHashMap<Finish, Gathered>,
    promises: FxHashMap<Promise, Signal>,
    /// Of futures and threads that have ended.
    ended: FxHashMap<Strand, Signal>,
}

/// In `slots`: not running.
const NOWHERE: u32 = u32::MAX;

impl Strands {
    /// The first strand begins.
    pub fn new(engine: Engine) -> Result<Strands, EngineError> {
        let mut strands = Strands {
            structure: Structure::new(),
            engine,
            slots: Vec::new(),
            running: Vec::new(),
            free: Vec::new(),
            gathered: FxHashMap::default(),
            promises: FxHashMap::default(),
            ended: FxHashMap::default(),
        };
        let main = strands.structure.main()?;
        strands.begin(Strand::MAIN, main, None, false);
        Ok(strands)
    }

    /// The task of a strand that runs.
    #[inline]
    pub fn task(&self, strand: Strand) -> Option<&Task> {
        let slot = *self.slots.get(strand.index())?;
        let running = self.running.get(slot as usize)?;
        Some(&running.task)
    }

    fn begin(&mut self, strand: Strand, task: Task, waited_for_by: Option<Finish>, has_name: bool) {
        let running = Running {
            task,
            has_name,
            finishes: waited_for_by.into_iter().collect(),
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
    pub fn synchronise(&mut self, event: &Event, number: EventNumber) -> Result<(), EngineError> {
        let op = event.op();
        if let Some(construct) = op.construct()
            && !self.engine.orders(construct)
        {
            return Err(EngineError::cannot_order(self.engine, number, construct));
        }
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
                let task = structure.spawn(task)?;
                self.begin(child, task, innermost, matches!(op, Op::Future(_)));
            }
            Op::Fork(child) => {
                let task = structure.fork(task)?;
                self.begin(child, task, None, true);
            }
            Op::Join(other) => {
                if let Some(&signal) = self.ended.get(&other) {
                    structure.join(task, signal)?;
                }
            }
            Op::End => {
                let finish = running.waited_for_by;
                let finish = finish.and_then(|finish| self.gathered.get_mut(&finish));
                let signal = structure.end(task, finish);
                if running.has_name {
                    self.ended.insert(strand, signal);
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

/// What an engine saw first at each location that races: an access, and an earlier one.
pub(crate) type Racy = BTreeMap<Location, (EventNumber, Earlier)>;

/// The earlier one of two accesses that race.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Earlier {
    /// By its number. It is the one that was looked at earlier: its number may be the higher one.
    Event(EventNumber),
    /// As an engine remembers it.
    Conflict(Conflict),
}

/// Gives every event to `access` or to [`Strands::synchronise`]; the strands as they are in the end.
fn each_access(
    execution: &Execution,
    engine: Engine,
    mut access: impl FnMut(&Strands, &Task, &Event, EventNumber),
) -> Result<Strands, EngineError> {
    let mut strands = Strands::new(engine)?;
    for (event, number) in execution.events.iter().zip(1..) {
        match event.access() {
            Some(_) => {
                if let Some(task) = strands.task(event.strand()) {
                    access(&strands, task, event, number);
                }
            }
            None => strands.synchronise(event, number)?,
        }
    }
    Ok(strands)
}

/// All races of the locations that an engine has found to race.
pub(crate) fn all_races(
    execution: &Execution,
    engine: Engine,
    racy: &Racy,
) -> Result<Findings, EngineError> {
    let mut findings = Findings {
        races: Vec::new(),
        complete: true,
        judged: execution.events.len(),
    };
    if racy.is_empty() {
        return Ok(findings);
    }
    // The steps that touch these locations, in order, with what their tasks knew and when.
    let mut nodes: Vec<(Step, Known, u32)> = Vec::new();
    let mut node_of: FxHashMap<Step, Node> = FxHashMap::default();
    let mut accesses: Vec<Group> = Vec::new();
    // What the engine itself saw, with the latest access of the step it saw a conflict with.
    let mut remembered: FxHashMap<Location, EventNumber> = FxHashMap::default();
    let mut seen: FxHashMap<Location, Race> = FxHashMap::default();
    let strands = each_access(execution, engine, |strands, task, event, number| {
        let Some(access) = event.access() else { return };
        let Some((second, earlier)) = racy.get(&access.location) else {
            return;
        };
        let node = *node_of.entry(task.step()).or_insert_with(|| {
            nodes.push((task.step(), task.known(), strands.structure.joins.now()));
            nodes.len() - 1
        });
        accesses.push(Group {
            location: access.location,
            node,
            site: event.site(),
            kind: access.kind,
            strand: event.strand(),
            first: number,
            count: 1,
        });
        match *earlier {
            Earlier::Conflict(conflict)
                if number < *second
                    && conflict.step == task.step()
                    && conflict.kind == access.kind =>
            {
                remembered.insert(access.location, number);
            }
            _ => {}
        }
        if number == *second {
            let first = match *earlier {
                Earlier::Event(first) => Some(first),
                Earlier::Conflict(_) => remembered.get(&access.location).copied(),
            };
            let race = first.and_then(|first| race(execution, access.location, first, number));
            seen.extend(race.map(|race| (access.location, race)));
        }
    })?;
    let structure = &strands.structure;
    let mut search = Search::default();
    let races = pairs::races(accesses, false, |a, b, compared| {
        let ((a, _, since), (b, known, _)) = (nodes[a], nodes[b]);
        if structure.tree.precedes(a, b) {
            return true;
        }
        let before = search.work();
        let question = Question {
            step: a,
            since,
            milestone: Step::NONE,
            known,
        };
        let found = search.finds(&structure.tree, &structure.joins, question);
        *compared += (search.work() - before) as usize;
        found
    });
    findings.races = races.found;
    findings.complete = races.complete;
    if !races.complete {
        for race in &findings.races {
            seen.remove(&race.location);
        }
        findings.races.extend(seen.into_values());
        let order = |race: &Race| (race.second.event, race.first.event);
        findings.races.sort_by_key(order);
    }
    Ok(findings)
}

/// The race of two events, by their numbers.
fn race(execution: &Execution, location: Location, a: EventNumber, b: EventNumber) -> Option<Race> {
    let access = |number: EventNumber| {
        let event = execution.events.get(number as usize - 1)?;
        Some(RacingAccess {
            event: number,
            strand: event.strand(),
            site: event.site(),
            kind: event.access()?.kind,
        })
    };
    Some(Race {
        location,
        first: access(a.min(b))?,
        second: access(a.max(b))?,
        count: 1,
    })
}
