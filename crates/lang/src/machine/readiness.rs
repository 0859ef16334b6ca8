//! Whether a strand can take its next step, or what it waits for.

use deadheat_model::{Finish, Flag, Lock, Promise, Semaphore, Strand};

use super::{Machine, State};
use crate::code::{Instruction, Value};

/// What a strand that cannot go on is waiting for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum WaitsFor {
    Promise(Promise),
    /// The end of a thread or a future.
    Strand(Strand),
    /// The end of the tasks of a finish.
    Finish(Finish),
    Lock(Lock),
    Semaphore(Semaphore),
    Event(Flag),
    Isolated,
}

/// Whether a strand can take its next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// It can.
    Ready,
    /// Not before it gets what it waits for.
    Blocked(WaitsFor),
    /// The next step is the end of the run, with the strand's error.
    Failing,
    /// Ended, failed or not started.
    Gone,
}

impl Machine<'_> {
    /// Whether a strand can take its next step.
    pub fn readiness(&self, state: &State, strand: Strand) -> Readiness {
        let Some(strand_state) = state.strand(strand) else {
            return Readiness::Gone;
        };
        if strand_state.failure.is_some() {
            return Readiness::Failing;
        }
        let (open, waits_for) = match (self.next_instruction(strand_state), strand_state.top()) {
            (Instruction::Get(_), Value::Promise(p)) => (
                state.promises.contains_key(&p),
                WaitsFor::Promise(Promise(p.into())),
            ),
            (Instruction::Get(_), Value::Task(other))
            | (Instruction::Join(_), Value::Thread(other)) => (
                state.has_ended(Strand(other)),
                WaitsFor::Strand(Strand(other)),
            ),
            (Instruction::FinishEnd(_), _) => {
                let finish = strand_state.finish.unwrap_or(Finish(0));
                let running = state.finishes.get(&finish).map_or(0, |f| f.running);
                (running == 0, WaitsFor::Finish(finish))
            }
            // Taking a lock one holds is an error, not a wait.
            (Instruction::Acquire(_), Value::Lock(l)) => {
                let lock = Lock(l.into());
                let holder = state.holder(lock);
                (
                    holder.is_none() || holder == Some(strand),
                    WaitsFor::Lock(lock),
                )
            }
            (Instruction::P(_), Value::Semaphore(s)) => (
                state.tokens[s as usize] > 0,
                WaitsFor::Semaphore(Semaphore(s.into())),
            ),
            (Instruction::Wait(_), Value::Event(e)) => {
                (state.flags[e as usize], WaitsFor::Event(Flag(e.into())))
            }
            (Instruction::IsolatedBegin(_), _) => (
                state.isolated.is_none() || strand_state.isolated > 0,
                WaitsFor::Isolated,
            ),
            _ => (true, WaitsFor::Isolated),
        };
        match open {
            true => Readiness::Ready,
            false => Readiness::Blocked(waits_for),
        }
    }
}
