//! Which strands have to be tried first from a state: partial-order reduction.
//!
//! A set of strands is *persistent* in a state if nothing that the others can do, for as long as
//! none in the set has moved, depends on the next step of any in the set. Trying only the strands
//! of a persistent set reaches every final state (Godefroid): whatever the others do first could as
//! well be done afterwards. One is found by closure from a single strand:
//!
//! - a strand in the set that can move brings in every strand that might, now or later, do
//!   something its step conflicts with, unless that strand cannot move before one in the set has;
//! - a strand in the set that cannot move brings in those one of which must move before it can.
//!
//! Of the sets found from each strand that can move, the one with the fewest that can is taken.
//! What a final state has, every state on the way there has in part, so no race, deadlock or error
//! is lost. On a cycle of states a strand could be put off for ever; the search expands one state
//! of each cycle in full.

use deadheat_model::Strand;

use super::footprint::{Footprints, Touch};
use crate::code::{Instruction, Value};
use crate::machine::{Machine, Readiness, State, WaitsFor};

/// With more strands than this to choose from, no set is looked for: the closure's cost grows with
/// the cube of their number, and the search is hopeless anyway.
const MAX_READY: usize = 100;

/// The strands to try from `state`: all that can move and belong to a small persistent set.
/// `ready` are all that can move.
pub(super) fn persistent_set(
    machine: &Machine,
    footprints: &Footprints,
    state: &State,
    ready: &[Strand],
) -> Vec<Strand> {
    let mut best = ready.to_vec();
    if ready.len() < 2 || ready.len() > MAX_READY {
        return best;
    }
    let live: Vec<Strand> = state
        .strands()
        .filter(|strand| state.standing(*strand).is_some())
        .collect();
    let closure = Closure {
        machine,
        footprints,
        state,
        live: &live,
    };
    for &seed in ready {
        let set = closure.from(seed);
        let moving: Vec<Strand> = ready.iter().filter(|s| set.contains(s)).copied().collect();
        if moving.len() < best.len() {
            best = moving;
        }
        if best.len() == 1 {
            break;
        }
    }
    best
}

struct Closure<'c, 'p> {
    machine: &'c Machine<'p>,
    footprints: &'c Footprints<'p>,
    state: &'c State,
    live: &'c [Strand],
}

impl Closure<'_, '_> {
    fn from(&self, seed: Strand) -> Vec<Strand> {
        let mut set = vec![seed];
        let mut done = 0;
        while let Some(&strand) = set.get(done) {
            done += 1;
            let more = match self.machine.readiness(self.state, strand) {
                Readiness::Ready => self.conflicting(strand, &set),
                Readiness::Blocked(waits_for) => self.enabling(waits_for, &set),
                Readiness::Failing | Readiness::Gone => Vec::new(),
            };
            for strand in more {
                if !set.contains(&strand) {
                    set.push(strand);
                }
            }
        }
        set
    }

    /// Strands outside the set that may do something a strand's next step conflicts with.
    fn conflicting(&self, strand: Strand, set: &[Strand]) -> Vec<Strand> {
        let Some(standing) = self.state.standing(strand) else {
            return Vec::new();
        };
        let (instruction, object) = self.machine.next_step(standing);
        if let (Instruction::Read(..) | Instruction::Write(_), Value::Cell(cell)) =
            (instruction, object)
            && !self.machine.keeps(cell)
        {
            // Either order gives the same races, and nothing else depends on it.
            return Vec::new();
        }
        let conflicts = self.footprints.conflicts(instruction, object);
        if conflicts.is_empty() {
            return Vec::new();
        }
        let others = self.live.iter().filter(|other| !set.contains(other));
        others
            .filter(|other| self.may(**other, &conflicts) && !self.must_wait(**other, set))
            .copied()
            .collect()
    }

    /// Whether a strand cannot move before one in the set has.
    fn must_wait(&self, strand: Strand, set: &[Strand]) -> bool {
        let Readiness::Blocked(waits_for) = self.machine.readiness(self.state, strand) else {
            return false;
        };
        match waits_for {
            // Every task of the finish must end.
            WaitsFor::Finish(finish) => set.iter().any(|s| self.state.is_inside(*s, finish)),
            // One of those that could let it go on must move.
            _ => {
                let enabling = self.enabling(waits_for, set);
                enabling.iter().all(|strand| set.contains(strand))
            }
        }
    }

    /// Strands one of which must move before a strand that waits can.
    fn enabling(&self, waits_for: WaitsFor, set: &[Strand]) -> Vec<Strand> {
        match waits_for {
            WaitsFor::Promise(promise) => self.all_that_may(self.footprints.setting(promise.0)),
            WaitsFor::Semaphore(s) => self.all_that_may(Touch::V(s.0 as u32)),
            WaitsFor::Event(e) => self.all_that_may(Touch::Post(e.0 as u32)),
            WaitsFor::Strand(strand) => vec![strand],
            WaitsFor::Lock(lock) => self.state.holder(lock).into_iter().collect(),
            WaitsFor::Isolated => self.state.isolated().into_iter().collect(),
            // Any one of its tasks will do: all must end. One in the set already is best.
            WaitsFor::Finish(finish) => {
                let inside = |strand: &&Strand| self.state.is_inside(**strand, finish);
                let owner = |strand: &&Strand| {
                    let readiness = self.machine.readiness(self.state, **strand);
                    readiness == Readiness::Blocked(waits_for)
                };
                let in_set = set.iter().find(|s| inside(s) && !owner(s));
                let any = || self.live.iter().find(|s| inside(s) && !owner(s));
                in_set.or_else(any).copied().into_iter().collect()
            }
        }
    }

    fn all_that_may(&self, touch: Touch) -> Vec<Strand> {
        let live = self.live.iter().copied();
        live.filter(|strand| self.may(*strand, &[touch])).collect()
    }

    fn may(&self, strand: Strand, touches: &[Touch]) -> bool {
        let standing = self.state.standing(strand);
        standing.is_some_and(|s| self.footprints.may(s.continuations(), touches))
    }
}
