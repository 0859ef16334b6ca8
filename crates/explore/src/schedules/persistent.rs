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

use super::footprint::{Footprints, Touch, Touches};
use deadheat_lang::code::{Instruction, Value};
use deadheat_lang::machine::{Machine, Readiness, State, StrandState, WaitsFor};

/// With more strands than this alive, no set is looked for: the closure's cost grows with the cube
/// of their number, and the search is hopeless anyway.
const MAX_LIVE: usize = 100;

/// The strands to try from `state`: all that can move and belong to a small persistent set.
/// `ready` are all that can move.
pub(super) fn persistent_set(
    machine: &Machine,
    footprints: &Footprints,
    state: &State,
    ready: &[Strand],
) -> Vec<Strand> {
    if ready.len() < 2 {
        return ready.to_vec();
    }
    let live = live_strands(machine, footprints, state);
    if live.len() > MAX_LIVE {
        return ready.to_vec();
    }
    let closure = Closure {
        state,
        footprints,
        live,
    };
    let mut best: Option<Vec<Strand>> = None;
    for (seed, live) in closure.live.iter().enumerate() {
        if live.readiness != Readiness::Ready {
            continue;
        }
        let set = closure.from(seed);
        let moving = set
            .iter()
            .map(|member| &closure.live[*member])
            .filter(|member| member.readiness == Readiness::Ready)
            .map(|member| member.strand)
            .collect::<Vec<_>>();
        if best.as_ref().is_none_or(|best| moving.len() < best.len()) {
            best = Some(moving);
        }
        if best.as_ref().is_some_and(|best| best.len() == 1) {
            break;
        }
    }
    best.unwrap_or_else(|| ready.to_vec())
}

/// A strand that has not ended.
struct Live<'s> {
    strand: Strand,
    strand_state: &'s StrandState,
    readiness: Readiness,
    /// What others could do that its next step conflicts with.
    conflicts: Touches,
}

fn live_strands<'s>(machine: &Machine, footprints: &Footprints, state: &'s State) -> Vec<Live<'s>> {
    let live = state.strands().filter_map(|strand| {
        let strand_state = state.strand(strand)?;
        let readiness = machine.readiness(state, strand);
        let (instruction, object) = machine.next_step(strand_state);
        let conflicts = match (readiness, instruction, object) {
            // Either order gives the same races, and nothing else depends on it.
            (
                Readiness::Ready,
                Instruction::Read(..) | Instruction::Write(_),
                Value::Cell(cell),
            ) if !machine.keeps(cell) => Touches::default(),
            (Readiness::Ready, ..) => footprints.conflicts(instruction, object),
            _ => Touches::default(),
        };
        Some(Live {
            strand,
            strand_state,
            readiness,
            conflicts,
        })
    });
    live.collect()
}

/// Strands are known by their index in `live` here.
struct Closure<'s, 'p> {
    state: &'s State,
    footprints: &'s Footprints<'p>,
    live: Vec<Live<'s>>,
}

impl Closure<'_, '_> {
    fn from(&self, seed: usize) -> Vec<usize> {
        let mut set = vec![seed];
        let mut done = 0;
        while let Some(&member) = set.get(done) {
            done += 1;
            let more = match self.live[member].readiness {
                Readiness::Ready => self.conflicting(member, &set),
                Readiness::Blocked(waits_for) => self.enabling(member, waits_for, &set),
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

    /// Strands outside the set that may do something a member's next step conflicts with.
    fn conflicting(&self, member: usize, set: &[usize]) -> Vec<usize> {
        let conflicts = &self.live[member].conflicts;
        if conflicts.is_empty() {
            return Vec::new();
        }
        (0..self.live.len())
            .filter(|other| !set.contains(other))
            .filter(|other| self.may(*other, conflicts) && !self.must_wait(*other, set))
            .collect()
    }

    /// Whether a strand cannot move before one in the set has.
    fn must_wait(&self, strand: usize, set: &[usize]) -> bool {
        let Readiness::Blocked(waits_for) = self.live[strand].readiness else {
            return false;
        };
        match waits_for {
            // Every task of the finish must end.
            WaitsFor::Finish(finish) => set.iter().any(|member| {
                let member = self.live[*member].strand;
                self.state.is_inside(member, finish)
            }),
            // The thread or task, the holder of the lock: it must move, and it is known.
            WaitsFor::Strand(other) => self.contains(set, Some(other)),
            WaitsFor::Lock(lock) => self.contains(set, self.state.holder(lock)),
            WaitsFor::Isolated => self.contains(set, self.state.isolated()),
            // One of those that could let it go on must move.
            WaitsFor::Promise(_) | WaitsFor::Semaphore(_) | WaitsFor::Event(_) => {
                let enabling = self.enabling(strand, waits_for, set);
                enabling.iter().all(|strand| set.contains(strand))
            }
        }
    }

    fn contains(&self, set: &[usize], strand: Option<Strand>) -> bool {
        let mut members = set.iter().map(|member| self.live[*member].strand);
        strand.is_some_and(|strand| members.any(|member| member == strand))
    }

    /// Strands one of which must move before `waiting` can. Those that have ended never will.
    fn enabling(&self, waiting: usize, waits_for: WaitsFor, set: &[usize]) -> Vec<usize> {
        let all_that_may = |touch: Touch| {
            let touches = self.footprints.touches_of(&[touch]);
            let live = 0..self.live.len();
            live.filter(|strand| self.may(*strand, &touches)).collect()
        };
        let one = |strand: Option<Strand>| {
            let live = self.live.iter();
            let index = live.clone().position(|live| Some(live.strand) == strand);
            index.into_iter().collect()
        };
        match waits_for {
            WaitsFor::Promise(promise) => all_that_may(self.footprints.setting(promise.0)),
            WaitsFor::Semaphore(s) => all_that_may(Touch::V(s.0 as u32)),
            WaitsFor::Event(e) => all_that_may(Touch::Post(e.0 as u32)),
            WaitsFor::Strand(strand) => one(Some(strand)),
            WaitsFor::Lock(lock) => one(self.state.holder(lock)),
            WaitsFor::Isolated => one(self.state.isolated()),
            // Any one of its tasks will do: all must end. One in the set already is best.
            WaitsFor::Finish(finish) => {
                let inside = |strand: &usize| {
                    let task = self.live[*strand].strand;
                    *strand != waiting && self.state.is_inside(task, finish)
                };
                let in_set = set.iter().copied().find(inside);
                let any = || (0..self.live.len()).find(inside);
                in_set.or_else(any).into_iter().collect()
            }
        }
    }

    fn may(&self, strand: usize, touches: &Touches) -> bool {
        let continuations = self.live[strand].strand_state.continuations();
        self.footprints.may(continuations, touches)
    }
}
