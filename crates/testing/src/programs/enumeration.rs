//! Every schedule of a program, one after another: brute force, right by inspection.
//!
//! No state is remembered and no step is left unpermuted, so the number of schedules is what
//! limits this: it is for tests of everything that does better.

use std::collections::BTreeMap;

use deadheat_model::{Event, Execution};

use deadheat_lang::machine::{Machine, Observer, Readiness, State};
use deadheat_lang::{Ending, Program, Value, waiting};

/// What happened under one schedule.
#[derive(Debug)]
pub struct ScheduleRun {
    /// What happened, for an engine to judge.
    pub execution: Execution,
    /// The same events with numbers that mean the same in all schedules of one enumeration.
    pub events: Vec<Event>,
    /// What each event read or wrote.
    pub values: Vec<Value>,
    /// How it ended.
    pub ending: Ending,
    /// The cells that hold something else than at the start, by their numbers.
    pub memory: BTreeMap<u32, Value>,
}

/// Calls `each` with every schedule's run. Gives up, and says so by `false`, after `max_schedules`, or
/// when a schedule is longer than `max_steps`.
pub fn enumerate(
    program: &Program,
    max_schedules: u64,
    max_steps: usize,
    each: &mut impl FnMut(ScheduleRun),
) -> bool {
    let mut enumeration = Enumeration {
        machine: Machine::new(program.code()),
        schedules_left: max_schedules,
        each,
    };
    let state = enumeration.machine.initial();
    enumeration.from(state, Record::default(), max_steps)
}

#[derive(Clone, Default)]
struct Record {
    events: Vec<Event>,
    values: Vec<Value>,
}

impl Observer for Record {
    fn event(&mut self, event: Event, value: Value) {
        self.events.push(event);
        self.values.push(value);
    }
}

struct Enumeration<'e, 'p, F> {
    machine: Machine<'p>,
    schedules_left: u64,
    each: &'e mut F,
}

impl<F: FnMut(ScheduleRun)> Enumeration<'_, '_, F> {
    fn from(&mut self, state: State, record: Record, steps_left: usize) -> bool {
        let mut moved = false;
        for strand in state.strands().collect::<Vec<_>>() {
            match self.machine.readiness(&state, strand) {
                Readiness::Blocked(_) | Readiness::Gone => {}
                Readiness::Failing => {
                    moved = true;
                    let failure = state.failure(strand).cloned();
                    let ending = failure.map_or(Ending::Finished, Ending::Error);
                    if !self.end(&state, &record, ending) {
                        return false;
                    }
                }
                Readiness::Ready => {
                    moved = true;
                    if steps_left == 0 {
                        return false;
                    }
                    let (mut state, mut record) = (state.clone(), record.clone());
                    self.machine.step(&mut state, strand, &mut record);
                    if !self.from(state, record, steps_left - 1) {
                        return false;
                    }
                }
            }
        }
        if moved {
            return true;
        }
        let waiting = waiting(&self.machine, &state);
        let ending = match waiting.is_empty() {
            true => Ending::Finished,
            false => Ending::Deadlock(waiting),
        };
        self.end(&state, &record, ending)
    }

    fn end(&mut self, state: &State, record: &Record, ending: Ending) -> bool {
        if self.schedules_left == 0 {
            return false;
        }
        self.schedules_left -= 1;
        (self.each)(ScheduleRun {
            execution: self.machine.execution(state, record.events.clone()),
            events: record.events.clone(),
            values: record.values.clone(),
            ending,
            memory: state.memory().clone(),
        });
        true
    }
}
