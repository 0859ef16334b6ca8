//! Schedules as text, and how one is followed.

use std::collections::VecDeque;
use std::fmt;

use deadheat_model::{Names, Strand, path_name};
use thiserror::Error;

use super::depth_first::DepthFirst;
use crate::machine::{Machine, Readiness, State, StepEffect};

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

pub(crate) struct Replay {
    turns: VecDeque<Turn>,
    /// What goes on when the record ends.
    then: Option<DepthFirst>,
}

impl Replay {
    pub(super) fn new(schedule: &RecordedSchedule) -> Replay {
        Replay {
            turns: schedule.turns.clone().into(),
            then: None,
        }
    }

    pub(super) fn note(&mut self, effect: &StepEffect) {
        if let Some(scheduler) = &mut self.then {
            scheduler.note(effect);
        }
    }

    pub(super) fn next(
        &mut self,
        machine: &Machine,
        state: &State,
    ) -> Result<Option<Strand>, CannotFollow> {
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
        let then = self
            .then
            .get_or_insert_with(|| DepthFirst::new(state.strands().collect()));
        Ok(then.next(machine, state))
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
