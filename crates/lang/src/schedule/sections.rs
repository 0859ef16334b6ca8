//! The `isolated` sections in a given order.

use std::collections::VecDeque;

use deadheat_model::Strand;

use super::Waiters;
use crate::code::Instruction;
use crate::machine::{Machine, Readiness, State, StepEffect, WaitsFor};

/// Lets everybody go on who can without entering a section; when all stand at the door, or wait, one
/// of them enters.
#[derive(Default)]
pub(crate) struct Sections {
    /// The paths of the strands that enter the next sections.
    order: VecDeque<Vec<u32>>,
    /// The last one runs.
    stack: Vec<Strand>,
    waiters: Waiters,
    /// Strands that stand before a section, in the order in which they came.
    door: Vec<Strand>,
    /// Strands whose next step is the end of the run: the others go first.
    failing: Vec<Strand>,
}

impl Sections {
    pub(super) fn new(order: &[Vec<u32>]) -> Sections {
        Sections {
            order: order.iter().cloned().collect(),
            stack: vec![Strand::MAIN],
            ..Sections::default()
        }
    }

    pub(super) fn next(&mut self, machine: &Machine, state: &State) -> Option<Strand> {
        while let Some(&strand) = self.stack.last() {
            let enters = state.strand(strand).is_some_and(|strand_state| {
                let (next, _) = machine.next_step(strand_state);
                matches!(next, Instruction::IsolatedBegin(_))
            });
            match machine.readiness(state, strand) {
                Readiness::Ready if !enters => return Some(strand),
                Readiness::Ready | Readiness::Blocked(WaitsFor::Isolated) => self.door.push(strand),
                Readiness::Blocked(waits_for) => self.waiters.add(strand, waits_for),
                Readiness::Failing => self.failing.push(strand),
                Readiness::Gone => {}
            }
            self.stack.pop();
        }
        // Whoever is still inside has failed there.
        if state.isolated().is_some() {
            return self.failing.first().copied();
        }
        if let Some(path) = self.order.pop_front() {
            let wanted = path.iter().try_fold(Strand::MAIN, |parent, &ordinal| {
                machine.child(state, parent, ordinal)
            });
            match self.door.iter().position(|&strand| Some(strand) == wanted) {
                Some(position) => {
                    let strand = self.door.remove(position);
                    self.stack.push(strand);
                    return Some(strand);
                }
                // Whoever was to come next does not come.
                None => self.order.clear(),
            }
        }
        match self.door.pop() {
            Some(strand) => {
                self.stack.push(strand);
                Some(strand)
            }
            None => self.failing.first().copied(),
        }
    }

    pub(super) fn note(&mut self, effect: &StepEffect) {
        self.stack.extend(self.waiters.wake(effect).rev());
        self.stack.extend(effect.started);
    }
}
