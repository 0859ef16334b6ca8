//! Who takes the next step.

mod depth_first;
mod random;
mod recorded;
mod sections;

use std::collections::VecDeque;

use deadheat_model::Strand;
use rustc_hash::FxHashMap;

use self::depth_first::DepthFirst;
use self::random::Random;
use self::recorded::Replay;
use self::sections::Sections;
use crate::machine::{Machine, State, StepEffect, WaitsFor};

pub use self::recorded::{CannotFollow, NotASchedule, RecordedSchedule};

/// How the next strand to take a step is chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// A child runs as soon as it is started. A strand that cannot go on gives way to the strand
    /// that started it, or to that one's, and so on; one that can go on again runs before the
    /// strand that let it (drdp-ecoop23, 4.2).
    DepthFirst,
    /// Any strand that can go on, each as likely as another; the same choices for the same seed.
    Random(u64),
    /// The strands named, one step each; depth-first when the names run out.
    Recorded(RecordedSchedule),
    /// The `isolated` sections in this order, each named by the path of the strand that enters its
    /// next one; what is between them goes on as far as it can first, and sections beyond these come
    /// as they come. If a section does not come, the order is given up.
    Sections(Vec<Vec<u32>>),
}

/// Follows a schedule.
pub(crate) enum Scheduler {
    DepthFirst(DepthFirst),
    Random(Random),
    Recorded(Replay),
    Sections(Sections),
}

impl Scheduler {
    pub(crate) fn new(schedule: &Schedule) -> Scheduler {
        match schedule {
            Schedule::DepthFirst => Scheduler::DepthFirst(DepthFirst::new(vec![Strand::MAIN])),
            Schedule::Random(seed) => Scheduler::Random(Random::new(*seed)),
            Schedule::Recorded(recorded) => Scheduler::Recorded(Replay::new(recorded)),
            Schedule::Sections(order) => Scheduler::Sections(Sections::new(order)),
        }
    }

    /// The strand to take the next step: one that is ready or failing. None when nobody is.
    pub(crate) fn next(
        &mut self,
        machine: &Machine,
        state: &State,
    ) -> Result<Option<Strand>, CannotFollow> {
        match self {
            Scheduler::DepthFirst(scheduler) => Ok(scheduler.next(machine, state)),
            Scheduler::Random(scheduler) => Ok(scheduler.next(machine, state)),
            Scheduler::Recorded(scheduler) => scheduler.next(machine, state),
            Scheduler::Sections(scheduler) => Ok(scheduler.next(machine, state)),
        }
    }

    /// Takes note of what the chosen strand's step did.
    pub(crate) fn note(&mut self, effect: &StepEffect) {
        match self {
            Scheduler::DepthFirst(scheduler) => scheduler.note(effect),
            Scheduler::Random(scheduler) => scheduler.note(effect),
            Scheduler::Recorded(scheduler) => scheduler.note(effect),
            Scheduler::Sections(scheduler) => scheduler.note(effect),
        }
    }
}

/// Strands that wait, by what for, in the order in which they came.
#[derive(Default)]
struct Waiters(FxHashMap<WaitsFor, VecDeque<Strand>>);

impl Waiters {
    fn add(&mut self, strand: Strand, waits_for: WaitsFor) {
        self.0.entry(waits_for).or_default().push_back(strand);
    }

    /// All that waited for what a step gave.
    fn wake(&mut self, effect: &StepEffect) -> impl DoubleEndedIterator<Item = Strand> + use<> {
        let woken = effect.wakes.iter().flatten();
        let woken: Vec<Strand> = woken
            .filter_map(|waits_for| self.0.remove(waits_for))
            .flatten()
            .collect();
        woken.into_iter()
    }
}
