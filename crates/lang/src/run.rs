//! One execution of a program, under a chosen schedule.

use std::collections::BTreeMap;

use deadheat_model::{Event, Execution, Site, Strand};

use crate::code::Value;
use crate::location::LocationName;
use crate::machine::{Machine, Observer, Readiness, RuntimeError, State, WaitsFor};
use crate::program::Program;
use crate::schedule::{CannotFollow, RecordedSchedule, Schedule, Scheduler};

/// How many steps a run takes at most, unless told otherwise.
pub const DEFAULT_MAX_STEPS: u64 = 2_000_000;

/// What happened in one run.
#[derive(Debug)]
pub struct Run {
    /// The events, in the order in which they happened.
    pub execution: Execution,
    /// How it ended.
    pub ending: Ending,
    /// Who took each step.
    pub steps: Vec<Strand>,
    /// What memory held at the end: the locations that hold something else than at the start.
    pub memory: BTreeMap<LocationName, Value>,
}

impl Run {
    /// The schedule of this run, to run the program in the same way again.
    pub fn schedule(&self) -> RecordedSchedule {
        RecordedSchedule::from_steps(&self.steps, &self.execution.names)
    }
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Every strand ended.
    Finished,
    /// Nobody can go on, and somebody waits.
    Deadlock(Vec<Waiting>),
    /// A run-time error.
    Error(RuntimeError),
    /// It was still running after as many steps as it was given.
    StillRunning,
}

/// A strand that waits in a deadlock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Waiting {
    /// Who.
    pub strand: Strand,
    /// For what.
    pub waits_for: WaitsFor,
    /// The object's name in the program, if it has one.
    pub name: Option<String>,
    /// Who holds the lock or is inside `isolated`, where that is what is waited for.
    pub held_by: Option<Strand>,
    /// Whether that strand has ended without giving it back.
    pub holder_ended: bool,
    /// Where.
    pub site: Site,
}

impl Program {
    /// Runs the program under a schedule, for at most `max_steps` steps.
    pub fn run(&self, schedule: &Schedule, max_steps: u64) -> Result<Run, CannotFollow> {
        let mut machine = Machine::new(&self.code);
        let mut state = machine.initial();
        let mut scheduler = Scheduler::new(schedule);
        let mut recorder = Recorder::default();
        let mut steps = Vec::new();
        let mut cost = 0;
        let ending = loop {
            if cost >= max_steps {
                break Ending::StillRunning;
            }
            let Some(strand) = scheduler.next(&machine, &state)? else {
                let waiting = waiting(&machine, &state);
                break match waiting.is_empty() {
                    true => Ending::Finished,
                    false => Ending::Deadlock(waiting),
                };
            };
            steps.push(strand);
            if let Some(failure) = state.failure(strand) {
                break Ending::Error(failure.clone());
            }
            let stepped = machine.step(&mut state, strand, &mut recorder);
            scheduler.stepped(&stepped);
            cost += stepped.cost;
        };
        let name = |(&cell, &value): (&u32, &Value)| (machine.location_name(&state, cell), value);
        Ok(Run {
            ending,
            steps,
            memory: state.memory().iter().map(name).collect(),
            execution: machine.execution(&state, recorder.events),
        })
    }
}

#[derive(Default)]
struct Recorder {
    events: Vec<Event>,
}

impl Observer for Recorder {
    fn event(&mut self, event: Event, _: Value) {
        self.events.push(event);
    }
}

/// Every strand that waits, and for what.
pub fn waiting(machine: &Machine, state: &State) -> Vec<Waiting> {
    let waiting = state.strands().filter_map(|strand| {
        let Readiness::Blocked(waits_for) = machine.readiness(state, strand) else {
            return None;
        };
        let standing = state.standing(strand)?;
        let code = machine.code;
        let name = match waits_for {
            WaitsFor::Promise(promise) => code.promises.get(promise.index()).cloned(),
            WaitsFor::Lock(lock) => code.locks.get(lock.index()).cloned(),
            WaitsFor::Semaphore(semaphore) => {
                let semaphore = code.semaphores.get(semaphore.index());
                semaphore.map(|(name, _)| name.clone())
            }
            WaitsFor::Event(event) => code.events.get(event.index()).cloned(),
            WaitsFor::Strand(_) | WaitsFor::Finish(_) | WaitsFor::Isolated => None,
        };
        let held_by = match waits_for {
            WaitsFor::Lock(lock) => state.holder(lock),
            WaitsFor::Isolated => state.isolated(),
            _ => None,
        };
        Some(Waiting {
            strand,
            waits_for,
            name,
            held_by,
            holder_ended: held_by.is_some_and(|holder| state.standing(holder).is_none()),
            site: machine.site(standing)?,
        })
    });
    waiting.collect()
}
