//! One execution of a program, under a chosen schedule.

use std::collections::BTreeMap;

use deadheat_model::{Event, Execution, Site, StopReason, StopToken, Strand};

use crate::code::Value;
use crate::location::LocationName;
use crate::machine::{Machine, Observer, Readiness, RuntimeError, State, WaitsFor};
use crate::program::Program;
use crate::schedule::{CannotFollow, RecordedSchedule, Schedule, Scheduler};

/// How many steps a run takes at most, unless told otherwise.
pub const DEFAULT_MAX_STEPS: u64 = 2_000_000;

/// After how many steps a run asks whether to stop.
const STOPS: u64 = 1 << 10;

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
    Deadlock(Vec<WaitingStrand>),
    /// A run-time error.
    Error(RuntimeError),
    /// It was still running after as many steps as it was given.
    StillRunning,
    /// It was still running when it was stopped.
    Stopped(StopReason),
}

/// A strand that waits in a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingStrand {
    /// The strand that waits.
    pub strand: Strand,
    /// What would let it go on.
    pub waits_for: WaitsFor,
    /// The object's name in the program, if it has one.
    pub name: Option<String>,
    /// Who holds the lock or is inside `isolated`, where that is what is waited for.
    pub held_by: Option<Strand>,
    /// Whether that strand has ended without giving it back.
    pub holder_ended: bool,
    /// The operation that waits.
    pub site: Site,
}

impl Program {
    /// Runs the program under a schedule, for at most `max_steps` steps.
    pub fn run(&self, schedule: &Schedule, max_steps: u64) -> Result<Run, CannotFollow> {
        self.run_until(schedule, max_steps, StopToken::default())
    }

    /// The same, unless it is stopped before.
    pub fn run_until(
        &self,
        schedule: &Schedule,
        max_steps: u64,
        stop: StopToken,
    ) -> Result<Run, CannotFollow> {
        self.run_while(schedule, |steps, cost| {
            let asks = steps.is_multiple_of(STOPS);
            let stopped = asks.then(|| stop.due()).flatten().map(Ending::Stopped);
            stopped.or((cost >= max_steps).then_some(Ending::StillRunning))
        })
    }

    /// Follows a schedule to its end, and no further.
    pub fn follow(&self, schedule: &RecordedSchedule) -> Result<Run, CannotFollow> {
        let most = schedule.steps();
        self.run_while(&Schedule::Recorded(schedule.clone()), |steps, _| {
            (steps >= most).then_some(Ending::StillRunning)
        })
    }

    /// Runs the program until `end` says how it ended, given how many steps were taken and their cost.
    fn run_while(
        &self,
        schedule: &Schedule,
        end: impl Fn(u64, u64) -> Option<Ending>,
    ) -> Result<Run, CannotFollow> {
        let mut machine = Machine::new(&self.code);
        let mut state = machine.initial();
        let mut scheduler = Scheduler::new(schedule);
        let mut recorder = Recorder::default();
        let mut steps = Vec::new();
        let mut cost = 0;
        let ending = loop {
            if let Some(ending) = end(steps.len() as u64, cost) {
                break ending;
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
            let effect = machine.step(&mut state, strand, &mut recorder);
            scheduler.note(&effect);
            cost += effect.cost;
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
pub fn waiting(machine: &Machine, state: &State) -> Vec<WaitingStrand> {
    let waiting = state.strands().filter_map(|strand| {
        let Readiness::Blocked(waits_for) = machine.readiness(state, strand) else {
            return None;
        };
        let strand_state = state.strand(strand)?;
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
        Some(WaitingStrand {
            strand,
            waits_for,
            name,
            held_by,
            holder_ended: held_by.is_some_and(|holder| state.strand(holder).is_none()),
            site: machine.site(strand_state)?,
        })
    });
    waiting.collect()
}
