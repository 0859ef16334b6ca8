//! Every schedule of a program.
//!
//! The simple model: from the initial state, try every strand that can take a step, and from each
//! state that gives, again, to the end of every schedule; at each end, build the computation graph
//! and look at all pairs of accesses. [`explore`] gives the same answers and does less:
//!
//! - states that come up again are not explored again (`causality` says what makes two states the
//!   same), so the cost follows the number of states, not of schedules;
//! - steps that do not depend on each other are not permuted (`persistent`);
//! - once two schedules are known to end differently, values only matter where they can change what
//!   happens (`flow`): other accesses are then not permuted either, and what they left in memory
//!   does not make states differ.
//!
//! All this is tested against the simple model on very many random programs.
//!
//! An error ends a run, and so cuts short what the other strands would still do. The search lets them
//! go on while the failed strand stands still: the error could always have come later, so some run
//! does all that is found that way. Only whether every schedule ends alike is another matter; when
//! errors are possible, a second search without reduction decides it.

mod bits;
mod causality;
mod footprint;
mod persistent;

use std::collections::BTreeMap;

use deadheat_lang::code::Value;
use deadheat_lang::digest::digest;
use deadheat_lang::machine::{Machine, Observer, Readiness, State};
use deadheat_lang::{
    LocationName, Program, RecordedSchedule, RuntimeError, WaitingStrand, waiting,
};
use deadheat_model::{AccessKind, Event, Site, StopToken, Strand};
use rustc_hash::{FxHashMap, FxHashSet};

use self::causality::{Causality, Instance, Instances};
use self::footprint::Footprints;
use self::persistent::persistent_set;
use crate::{Example, Exploration, Gap, MAX_SCHEDULES, News, PossibleAccess, PossibleRace};

/// How many states are visited at most, unless told otherwise.
pub const DEFAULT_MAX_STATES: u64 = 5_000_000;

/// How many races of one location are kept.
const MAX_RACES: usize = 1000;

/// How many steps of schedules that show something are kept.
const MAX_SHOWN_STEPS: usize = 5_000_000;

/// A state that takes so many bytes counts as one more, towards the bound on states.
const LARGE_STATE: usize = 2048;

/// How many bytes the states of one schedule may take: they are kept while the search is below.
const MAX_PATH_BYTES: usize = 1 << 30;

/// After how many steps it is asked whether to stop.
const STOPS: u64 = 64;

/// How to explore.
#[derive(Clone, Copy, Debug)]
pub struct ExploreOptions {
    /// How many states to visit at most.
    pub max_states: u64,
    /// Whether steps that do not depend on each other are left unpermuted, and values that cannot
    /// change what happens are forgotten. Without it the same is found, more slowly.
    pub reduce: bool,
    /// Ends the search, not what was found.
    pub stop: StopToken,
}

impl Default for ExploreOptions {
    fn default() -> ExploreOptions {
        ExploreOptions {
            max_states: DEFAULT_MAX_STATES,
            reduce: true,
            stop: StopToken::default(),
        }
    }
}

/// What a search has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'n> {
    /// States visited.
    pub states: u64,
    /// How deep the schedule at hand is.
    pub depth: usize,
    /// What was found since it was last told.
    pub news: &'n [News],
}

/// Explores every schedule of a program. `progress` is called now and then, and at once if something was found.
pub fn explore(
    program: &Program,
    options: &ExploreOptions,
    mut progress: impl FnMut(Progress),
) -> Exploration {
    let mut search = Search::new(program, *options, OnError::StandStill);
    search.run(&mut progress);
    let mut deterministic = search.deterministic();
    if !search.errors.is_empty() {
        let options = ExploreOptions {
            reduce: false,
            ..*options
        };
        let mut strict = Search::new(program, options, OnError::EndRun);
        // What it finds was found before.
        strict.run(&mut |told| progress(Progress { news: &[], ..told }));
        deterministic = strict.deterministic();
        if deterministic.is_none() {
            search.gap = search.gap.or(strict.gap);
        }
    }
    search.finish(deterministic)
}

/// What an error does to the strands that did not make it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnError {
    /// They go on.
    StandStill,
    /// The run ends, as it does in truth. The search stops once it has seen two different ends.
    EndRun,
}

/// What is kept of a visited state: 16 bytes beside its 16-byte key.
#[derive(Clone, Copy)]
struct VisitedState {
    /// The graph of the execution that came here first.
    graph: u64,
    /// How many ways lead from here to an end, or [`VisitedState::BELOW`].
    schedules: u64,
}

impl VisitedState {
    /// The search is still below this state.
    const BELOW: u64 = u64::MAX;
}

/// A state on the schedule at hand.
struct Node {
    key: u128,
    /// Who took the step that led here.
    by: Strand,
    state: State,
    causality: Causality,
    /// Who is still to be tried.
    untried: Vec<Strand>,
    /// Who can move and need not be tried, as long as no cycle is closed.
    put_off: Vec<Strand>,
    schedules: u64,
    bytes: usize,
}

/// A race without the strands: what makes two races the same.
type RaceKey = (LocationName, (Site, AccessKind), (Site, AccessKind));

struct Search<'p> {
    machine: Machine<'p>,
    footprints: Footprints<'p>,
    options: ExploreOptions,
    on_error: OnError,
    instances: Instances,
    visited: FxHashMap<u128, VisitedState>,
    path: Vec<Node>,
    /// About how many bytes `path` takes.
    path_bytes: usize,
    /// What steps cost beyond one state each.
    extra_cost: u64,
    /// How many steps the schedules of what was found have.
    shown_steps: usize,
    /// The bound on states is met: nothing more is visited.
    stopped: bool,
    gap: Option<Gap>,
    schedules: u64,
    endless: bool,
    races: BTreeMap<RaceKey, (PossibleAccess, PossibleAccess, Vec<Strand>)>,
    /// How many races each location has in `races`.
    races_of: BTreeMap<LocationName, usize>,
    /// The pairs of instances of declared cells that were found to race.
    met: FxHashSet<(u32, u32)>,
    deadlock: Option<(Vec<WaitingStrand>, Vec<Strand>)>,
    errors: BTreeMap<RuntimeError, Vec<Strand>>,
    /// What was found and not yet told.
    news: Vec<News>,
    /// How the first schedule ended, and whether another one ended differently.
    end: Option<u128>,
    ends_differ: bool,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, options: ExploreOptions, on_error: OnError) -> Search<'p> {
        Search {
            machine: Machine::for_comparing(program.code()),
            footprints: Footprints::new(program.code()),
            options,
            on_error,
            instances: Instances::default(),
            visited: FxHashMap::default(),
            path: Vec::new(),
            path_bytes: 0,
            extra_cost: 0,
            shown_steps: 0,
            stopped: false,
            gap: None,
            schedules: 0,
            endless: false,
            races: BTreeMap::new(),
            races_of: BTreeMap::new(),
            met: FxHashSet::default(),
            deadlock: None,
            errors: BTreeMap::new(),
            news: Vec::new(),
            end: None,
            ends_differ: false,
        }
    }

    fn run(&mut self, progress: &mut impl FnMut(Progress)) {
        let state = self.machine.initial();
        let code = self.machine.code;
        let tokens = code.semaphores.iter().map(|(_, tokens)| *tokens).collect();
        self.visit(state, Causality::new(tokens), Strand::MAIN);
        let mut steps: u64 = 0;
        while let Some(node) = self.path.last_mut() {
            if self.stopped || self.on_error == OnError::EndRun && self.ends_differ {
                break;
            }
            if self.ends_differ && self.options.reduce {
                self.machine.forget_what_does_not_matter();
            }
            let Some(strand) = node.untried.pop() else {
                self.leave();
                continue;
            };
            let (state, causality) = (node.state.clone(), node.causality.clone());
            if steps.is_multiple_of(STOPS)
                && let Some(why) = self.options.stop.due()
            {
                self.gap.get_or_insert(Gap::Stopped(why));
                break;
            }
            steps += 1;
            self.take(state, causality, strand);
            if self.visited.len().is_multiple_of(4096) || !self.news.is_empty() {
                progress(Progress {
                    states: self.visited.len() as u64,
                    depth: self.path.len(),
                    news: &self.news,
                });
                self.news.clear();
            }
        }
        while !self.path.is_empty() {
            self.leave();
        }
    }

    /// Lets a strand take its step from a copy of the last state.
    fn take(&mut self, mut state: State, mut causality: Causality, strand: Strand) {
        if self.on_error == OnError::EndRun
            && let Some(failure) = state.failure(strand)
        {
            let error = digest(failure);
            self.reach_end(&state, &causality, error);
            return self.count(1);
        }
        let mut found = Vec::new();
        let mut observer = CausalityObserver {
            causality: &mut causality,
            instances: &mut self.instances,
            races: &mut found,
        };
        let effect = self.machine.step(&mut state, strand, &mut observer);
        // A step is a state to come; a long computation counts for more.
        self.extra_cost += effect.cost - 1;
        for (past, now) in found {
            self.race(&state, past, now, strand);
        }
        self.visit(state, causality, strand);
    }

    fn race(&mut self, state: &State, past: u32, now: u32, by: Strand) {
        // The name of a cell that was made depends on the schedule; all others are met once.
        let is_declared = self.instances.get(now).cell < self.machine.code.cells;
        if is_declared && !self.met.insert((past, now)) {
            return;
        }
        let (past, now) = (self.instances.get(past), self.instances.get(now));
        let location = self.machine.location_name(state, now.cell);
        let side = |instance: Instance| (instance.site, instance.kind);
        let (low, high) = (side(past).min(side(now)), side(past).max(side(now)));
        let key = (location, low, high);
        if self.races.contains_key(&key) {
            return;
        }
        // Of a location that races at very many places, the first are enough.
        let of_location = self.races_of.entry(key.0.clone()).or_default();
        if *of_location >= MAX_RACES {
            return;
        }
        *of_location += 1;
        let access = |instance: Instance| PossibleAccess {
            site: instance.site,
            kind: instance.kind,
            strand: instance.strand,
        };
        let schedule = self.schedule(by);
        self.news.push(News::Race {
            location: key.0.to_string(),
            places: [past.site, now.site],
        });
        self.races
            .insert(key, (access(past), access(now), schedule));
    }

    /// Comes to a state: goes on below it if it is new.
    fn visit(&mut self, mut state: State, causality: Causality, by: Strand) {
        if self.on_error == OnError::StandStill {
            self.give_up_failing(&mut state, by);
        }
        let key = digest((&state, &causality));
        let graph = causality.graph();
        if let Some(visited) = self.visited.get(&key) {
            let schedules = visited.schedules;
            // Two graphs that go on in the same way stay different.
            self.ends_differ |= visited.graph != graph;
            if schedules == VisitedState::BELOW {
                return self.expand_in_full();
            }
            return self.count(schedules);
        }
        let bytes = size_of::<Node>() + state.bytes(by) + causality.bytes();
        let cost = self.visited.len() as u64 + self.extra_cost;
        self.stopped |= cost >= self.options.max_states;
        self.extra_cost += (bytes / LARGE_STATE) as u64;
        if self.stopped || self.path_bytes + bytes > MAX_PATH_BYTES {
            // A state that is not gone into has cost as much as one that is.
            self.extra_cost += 1;
            let gap = if self.stopped {
                Gap::States
            } else {
                Gap::Memory
            };
            self.gap.get_or_insert(gap);
            return;
        }
        self.path_bytes += bytes;
        let can_move = |strand: &Strand| match self.machine.readiness(&state, *strand) {
            Readiness::Ready | Readiness::Failing => true,
            Readiness::Blocked(_) | Readiness::Gone => false,
        };
        let ready: Vec<Strand> = state.strands().filter(can_move).collect();
        let untried = match self.options.reduce {
            true => persistent_set(&self.machine, &self.footprints, &state, &ready),
            false => ready.clone(),
        };
        let put_off = match untried.len() == ready.len() {
            true => Vec::new(),
            false => {
                let put_off = ready.iter().filter(|strand| !untried.contains(strand));
                put_off.copied().collect()
            }
        };
        let schedules = VisitedState::BELOW;
        self.visited.insert(key, VisitedState { graph, schedules });
        if ready.is_empty() {
            self.reach_end(&state, &causality, 0);
            self.note_deadlock(&state, by);
        }
        self.path.push(Node {
            key,
            by,
            state,
            causality,
            schedules: ready.is_empty() as u64,
            bytes,
            put_off,
            untried,
        });
    }

    /// Nobody can take a step from `state`: a deadlock, if somebody waits and no error is the cause.
    fn note_deadlock(&mut self, state: &State, by: Strand) {
        let waiting = waiting(&self.machine, state);
        if self.deadlock.is_none() && !waiting.is_empty() && !state.has_failed() {
            self.news.push(News::Deadlock(waiting[0].site));
            self.deadlock = Some((waiting, self.schedule(by)));
        }
    }

    /// Notes the errors of strands that fail, which then stand still.
    fn give_up_failing(&mut self, state: &mut State, by: Strand) {
        let failing: Vec<RuntimeError> = state
            .strands()
            .filter_map(|strand| state.failure(strand).cloned())
            .collect();
        for failure in failing {
            self.machine.give_up(state, failure.strand);
            if !self.errors.contains_key(&failure) {
                let mut schedule = self.schedule(by);
                schedule.push(failure.strand);
                self.news.push(News::Error(failure.clone()));
                self.errors.insert(failure, schedule);
            }
        }
    }

    fn reach_end(&mut self, state: &State, causality: &Causality, error: u128) {
        let memory = digest(state.memory());
        let end = digest((memory, causality.graph(), error));
        self.ends_differ |= *self.end.get_or_insert(end) != end;
    }

    /// All that can follow the last state has been seen.
    fn leave(&mut self) {
        let Some(node) = self.path.pop() else {
            return;
        };
        self.path_bytes -= node.bytes;
        if let Some(visited) = self.visited.get_mut(&node.key) {
            visited.schedules = node.schedules;
        }
        self.count(node.schedules);
    }

    /// Adds schedules that lead on from the last state.
    fn count(&mut self, schedules: u64) {
        let sum = match self.path.last_mut() {
            Some(node) => &mut node.schedules,
            None => &mut self.schedules,
        };
        *sum = sum.saturating_add(schedules).min(MAX_SCHEDULES);
    }

    /// The last state has a step that closes a cycle: nothing may be put off there.
    fn expand_in_full(&mut self) {
        // A schedule that goes round never ends.
        self.endless = true;
        self.ends_differ = true;
        if let Some(node) = self.path.last_mut() {
            node.untried.append(&mut node.put_off);
        }
    }

    /// Who took each step up to the last state, and then `by`. Empty once so much has been shown
    /// that keeping more would take too much memory.
    fn schedule(&mut self, by: Strand) -> Vec<Strand> {
        self.shown_steps += self.path.len();
        if self.shown_steps > MAX_SHOWN_STEPS {
            return Vec::new();
        }
        // Nobody took a step to the initial state.
        let path = self.path.iter().skip(1).map(|node| node.by);
        let then = (!self.path.is_empty()).then_some(by);
        path.chain(then).collect()
    }

    /// Whether all schedules end alike.
    fn deterministic(&self) -> Option<bool> {
        match (self.ends_differ, self.gap) {
            (true, _) => Some(false),
            (false, None) => Some(true),
            (false, Some(_)) => None,
        }
    }

    fn finish(self, deterministic: Option<bool>) -> Exploration {
        let names = self.machine.strand_names();
        let strands = (0..names.parents.len() as u32).map(Strand);
        let strand_names = strands.map(|strand| names.strand(strand).into_owned());
        let strand_names = strand_names.collect();
        let schedule = |steps: Vec<Strand>| RecordedSchedule::from_steps(&steps, &names);
        let races = self.races.into_iter();
        let races = races.map(|((location, ..), (first, second, steps))| PossibleRace {
            location: location.to_string(),
            first,
            second,
            sections: Vec::new(),
            schedule: schedule(steps),
        });
        let errors = self.errors.into_iter().map(|(what, steps)| Example {
            what,
            schedule: schedule(steps),
        });
        Exploration {
            gap: self.gap,
            schedules: self.schedules,
            states: self.visited.len() as u64,
            deterministic,
            endless: self.endless,
            races: races.collect(),
            deadlock: self.deadlock.map(|(what, steps)| Example {
                what,
                schedule: schedule(steps),
            }),
            errors: errors.collect(),
            bytes: (self.visited.capacity() * (size_of::<(u128, VisitedState)>() + 1)) as u64,
            strand_names,
        }
    }
}

/// Passes a step's event on to the causality of its state.
struct CausalityObserver<'c> {
    causality: &'c mut Causality,
    instances: &'c mut Instances,
    races: &'c mut Vec<(u32, u32)>,
}

impl Observer for CausalityObserver<'_> {
    fn event(&mut self, event: Event, value: Value) {
        let races = &mut *self.races;
        self.causality
            .event(&event, value, self.instances, |past, now| {
                races.push((past, now));
            });
    }
}
