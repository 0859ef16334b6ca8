//! Any strand that can go on, each as likely as another.

use deadheat_model::Strand;

use super::Waiters;
use crate::machine::{Machine, Readiness, State, StepEffect};

pub(crate) struct Random {
    rng: fastrand::Rng,
    runnable: Vec<Strand>,
    waiters: Waiters,
}

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random {
            rng: fastrand::Rng::with_seed(seed),
            runnable: vec![Strand::MAIN],
            waiters: Waiters::default(),
        }
    }

    pub(super) fn next(&mut self, machine: &Machine, state: &State) -> Option<Strand> {
        while !self.runnable.is_empty() {
            let index = self.rng.usize(..self.runnable.len());
            let strand = self.runnable[index];
            match machine.readiness(state, strand) {
                Readiness::Ready | Readiness::Failing => return Some(strand),
                Readiness::Gone => {}
                Readiness::Blocked(waits_for) => self.waiters.add(strand, waits_for),
            }
            self.runnable.swap_remove(index);
        }
        None
    }

    pub(super) fn note(&mut self, effect: &StepEffect) {
        self.runnable.extend(self.waiters.wake(effect));
        self.runnable.extend(effect.started);
    }
}
