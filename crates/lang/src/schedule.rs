//! Who takes the next step.

use std::collections::VecDeque;
use std::fmt;

use deadheat_model::{Names, Strand, path_name};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::code::Instruction;
use crate::machine::{Machine, Readiness, State, Stepped, WaitsFor};

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

/// A schedule as text: one strand a line, with how many steps it takes if more than one.
///
/// ```
/// use deadheat_lang::RecordedSchedule;
///
/// let schedule: RecordedSchedule = "main 2\nmain/1\n# a comment\nmain\n".parse().unwrap();
/// assert_eq!(schedule.to_string(), "main 2\nmain/1\nmain\n");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedSchedule {
    turns: Vec<Turn>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Turn {
    /// The ordinals of the path from `main`.
    path: Vec<u32>,
    steps: u64,
    /// The line it was read from, from 1.
    line: u32,
}

/// A text that is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "line {line}: expected a task such as `main` or `main/1`, and how many steps it takes if more than one; found `{text}`"
)]
pub struct NotASchedule {
    /// The line, from 1.
    pub line: u32,
    /// What it says.
    pub text: String,
}

/// A schedule that the program cannot follow.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line} of the schedule: {name} {why}")]
pub struct CannotFollow {
    /// The line, from 1.
    pub line: u32,
    /// The strand it names.
    pub name: String,
    /// Why it cannot take a step there.
    pub why: &'static str,
}

impl RecordedSchedule {
    /// How many steps it names.
    pub fn steps(&self) -> u64 {
        self.turns.iter().map(|turn| turn.steps).sum()
    }

    /// The schedule in which these strands take a step each.
    pub fn from_steps(steps: &[Strand], names: &Names) -> RecordedSchedule {
        let turns = steps.chunk_by(|a, b| a == b).enumerate();
        let turns = turns.map(|(index, turn)| Turn {
            path: names.strand_path(turn[0]),
            steps: turn.len() as u64,
            line: index as u32 + 1,
        });
        RecordedSchedule {
            turns: turns.collect(),
        }
    }
}

impl std::str::FromStr for RecordedSchedule {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<RecordedSchedule, NotASchedule> {
        let mut turns = Vec::new();
        for (index, full) in text.lines().enumerate() {
            let line = index as u32 + 1;
            let content = full.split('#').next().unwrap_or_default();
            let words: Vec<&str> = content.split_whitespace().collect();
            let turn = match words[..] {
                [] => continue,
                [name] => parse_path(name).map(|path| (path, 1)),
                [name, steps] => parse_path(name).zip(steps.parse().ok()),
                _ => None,
            };
            let Some((path, steps)) = turn else {
                return Err(NotASchedule {
                    line,
                    text: full.trim().chars().take(60).collect(),
                });
            };
            turns.push(Turn { path, steps, line });
        }
        Ok(RecordedSchedule { turns })
    }
}

impl fmt::Display for RecordedSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for turn in &self.turns {
            match turn.steps {
                1 => writeln!(f, "{}", path_name(&turn.path))?,
                n => writeln!(f, "{} {n}", path_name(&turn.path))?,
            }
        }
        Ok(())
    }
}

fn parse_path(name: &str) -> Option<Vec<u32>> {
    let rest = name.strip_prefix("main")?;
    match rest.strip_prefix('/') {
        None if rest.is_empty() => Some(Vec::new()),
        None => None,
        Some(ordinals) => ordinals.split('/').map(|o| o.parse().ok()).collect(),
    }
}

/// Follows a schedule.
pub(crate) enum Scheduler {
    DepthFirst(DepthFirst),
    Random(Random),
    Recorded(Recorded),
    Sections(Sections),
}

impl Scheduler {
    pub(crate) fn new(schedule: &Schedule) -> Scheduler {
        match schedule {
            Schedule::DepthFirst => Scheduler::DepthFirst(DepthFirst::default()),
            Schedule::Random(seed) => Scheduler::Random(Random {
                rng: fastrand::Rng::with_seed(*seed),
                runnable: vec![Strand::MAIN],
                parked: Parked::default(),
            }),
            Schedule::Recorded(recorded) => Scheduler::Recorded(Recorded {
                turns: recorded.turns.clone().into(),
                then: None,
            }),
            Schedule::Sections(order) => Scheduler::Sections(Sections {
                order: order.clone().into(),
                stack: vec![Strand::MAIN],
                ..Sections::default()
            }),
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
    pub(crate) fn stepped(&mut self, stepped: &Stepped) {
        match self {
            Scheduler::DepthFirst(scheduler) => scheduler.stepped(stepped),
            Scheduler::Random(scheduler) => scheduler.stepped(stepped),
            Scheduler::Recorded(scheduler) => {
                if let Some(scheduler) = &mut scheduler.then {
                    scheduler.stepped(stepped);
                }
            }
            Scheduler::Sections(scheduler) => scheduler.stepped(stepped),
        }
    }
}

/// Strands that wait, by what for, in the order in which they came.
#[derive(Default)]
struct Parked(FxHashMap<WaitsFor, VecDeque<Strand>>);

impl Parked {
    fn park(&mut self, strand: Strand, waits_for: WaitsFor) {
        self.0.entry(waits_for).or_default().push_back(strand);
    }

    /// All that waited for what a step gave.
    fn woken(&mut self, stepped: &Stepped) -> impl DoubleEndedIterator<Item = Strand> + use<> {
        let woken = stepped.wakes.iter().flatten();
        let woken: Vec<Strand> = woken
            .filter_map(|waits_for| self.0.remove(waits_for))
            .flatten()
            .collect();
        woken.into_iter()
    }
}

pub(crate) struct DepthFirst {
    /// The last one runs.
    stack: Vec<Strand>,
    parked: Parked,
}

impl Default for DepthFirst {
    fn default() -> DepthFirst {
        DepthFirst {
            stack: vec![Strand::MAIN],
            parked: Parked::default(),
        }
    }
}

impl DepthFirst {
    fn next(&mut self, machine: &Machine, state: &State) -> Option<Strand> {
        while let Some(&strand) = self.stack.last() {
            match machine.readiness(state, strand) {
                Readiness::Ready | Readiness::Failing => return Some(strand),
                Readiness::Gone => {
                    self.stack.pop();
                }
                Readiness::Blocked(waits_for) => {
                    self.parked.park(strand, waits_for);
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

    fn stepped(&mut self, stepped: &Stepped) {
        // The one that waited longest runs first.
        self.stack.extend(self.parked.woken(stepped).rev());
        self.stack.extend(stepped.started);
    }
}

pub(crate) struct Random {
    rng: fastrand::Rng,
    runnable: Vec<Strand>,
    parked: Parked,
}

impl Random {
    fn next(&mut self, machine: &Machine, state: &State) -> Option<Strand> {
        while !self.runnable.is_empty() {
            let index = self.rng.usize(..self.runnable.len());
            let strand = self.runnable[index];
            match machine.readiness(state, strand) {
                Readiness::Ready | Readiness::Failing => return Some(strand),
                Readiness::Gone => {}
                Readiness::Blocked(waits_for) => self.parked.park(strand, waits_for),
            }
            self.runnable.swap_remove(index);
        }
        None
    }

    fn stepped(&mut self, stepped: &Stepped) {
        self.runnable.extend(self.parked.woken(stepped));
        self.runnable.extend(stepped.started);
    }
}

pub(crate) struct Recorded {
    turns: VecDeque<Turn>,
    /// What goes on when the record ends.
    then: Option<DepthFirst>,
}

impl Recorded {
    fn next(&mut self, machine: &Machine, state: &State) -> Result<Option<Strand>, CannotFollow> {
        while let Some(turn) = self.turns.front_mut() {
            if turn.steps == 0 {
                self.turns.pop_front();
                continue;
            }
            turn.steps -= 1;
            let cannot = |why| CannotFollow {
                line: turn.line,
                name: path_name(&turn.path),
                why,
            };
            let strand = turn.path.iter().try_fold(Strand::MAIN, |parent, &ordinal| {
                machine.child(state, parent, ordinal)
            });
            let strand = strand.ok_or_else(|| cannot("has not been started"))?;
            return match machine.readiness(state, strand) {
                Readiness::Ready | Readiness::Failing => Ok(Some(strand)),
                Readiness::Gone => Err(cannot("has already ended")),
                Readiness::Blocked(_) => Err(cannot("cannot go on: it waits for another strand")),
            };
        }
        let then = self.then.get_or_insert_with(|| DepthFirst {
            stack: state.strands().collect(),
            parked: Parked::default(),
        });
        Ok(then.next(machine, state))
    }
}

/// Lets everybody go on who can without entering a section; when all stand at the door, or wait, one
/// of them enters.
#[derive(Default)]
pub(crate) struct Sections {
    /// The paths of the strands that enter the next sections.
    order: VecDeque<Vec<u32>>,
    /// The last one runs.
    stack: Vec<Strand>,
    parked: Parked,
    /// Strands that stand before a section, in the order in which they came.
    door: Vec<Strand>,
    /// Strands whose next step is the end of the run: the others go first.
    failing: Vec<Strand>,
}

impl Sections {
    fn next(&mut self, machine: &Machine, state: &State) -> Option<Strand> {
        while let Some(&strand) = self.stack.last() {
            let enters = state.standing(strand).is_some_and(|standing| {
                let (next, _) = machine.next_step(standing);
                matches!(next, Instruction::IsolatedBegin(_))
            });
            match machine.readiness(state, strand) {
                Readiness::Ready if !enters => return Some(strand),
                Readiness::Ready | Readiness::Blocked(WaitsFor::Isolated) => self.door.push(strand),
                Readiness::Blocked(waits_for) => self.parked.park(strand, waits_for),
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

    fn stepped(&mut self, stepped: &Stepped) {
        self.stack.extend(self.parked.woken(stepped).rev());
        self.stack.extend(stepped.started);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Parent;

    #[test]
    fn a_schedule_says_where_it_is_not_one() {
        for (text, line) in [
            ("mein", 1),
            ("main\nmain/x", 2),
            ("main 1 2", 1),
            ("main/", 1),
            ("main x", 1),
            ("main1", 1),
        ] {
            let error = text.parse::<RecordedSchedule>().unwrap_err();
            assert_eq!(error.line, line, "{text}");
        }
    }

    #[test]
    fn steps_are_joined_into_turns() {
        let child = |strand, ordinal| Some(Parent { strand, ordinal });
        let names = Names {
            parents: vec![None, child(Strand(0), 1), child(Strand(1), 2)],
            ..Names::default()
        };
        let steps = [0, 0, 2, 0].map(Strand);
        let schedule = RecordedSchedule::from_steps(&steps, &names);
        assert_eq!(schedule.to_string(), "main 2\nmain/1/2\nmain\n");
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }
}
