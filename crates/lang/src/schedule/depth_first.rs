//! A child runs as soon as it is started (drdp-ecoop23, 4.2).

use deadheat_model::Strand;

use super::Waiters;
use crate::machine::{Machine, Readiness, State, StepEffect};

pub(crate) struct DepthFirst {
    /// The last one runs.
    stack: Vec<Strand>,
    waiters: Waiters,
}

impl DepthFirst {
    /// Of these strands, the last one runs.
    pub(super) fn new(stack: Vec<Strand>) -> DepthFirst {
        DepthFirst {
            stack,
            waiters: Waiters::default(),
        }
    }

    pub(super) fn next(&mut self, machine: &Machine, state: &State) -> Option<Strand> {
        while let Some(&strand) = self.stack.last() {
            match machine.readiness(state, strand) {
                Readiness::Ready | Readiness::Failing => return Some(strand),
                Readiness::Gone => {
                    self.stack.pop();
                }
                Readiness::Blocked(waits_for) => {
                    self.waiters.add(strand, waits_for);
                    self.stack.pop();
                    self.give_way(machine, strand);
                }
            }
        }
        None
    }

    /// Lets the nearest ancestor that does not wait run next. It is on the stack, mostly on top;
    /// not if the strand that waits was resumed by another one.
    fn give_way(&mut self, machine: &Machine, strand: Strand) {
        let mut ancestor = machine.parent(strand);
        while let Some(strand) = ancestor {
            if let Some(position) = self.stack.iter().rposition(|s| *s == strand) {
                let strand = self.stack.remove(position);
                self.stack.push(strand);
                return;
            }
            ancestor = machine.parent(strand);
        }
    }

    pub(super) fn note(&mut self, effect: &StepEffect) {
        // The one that waited longest runs first.
        self.stack.extend(self.waiters.wake(effect).rev());
        self.stack.extend(effect.started);
    }
}
