//! The checker of schedules: runs the program again, and looks whether the race, the deadlock or the error is there.
//!
//! An exploration says that two accesses race in some schedule, and gives it. Simple model: follow the
//! schedule to its end; the two accesses must be there, and happens-before must order them neither way. A deadlock or an
//! error must be what the run ends in. How the schedule was found plays no part.
//!
//! Cost: a run up to the race, and happens-before over it, for each race.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use deadheat_explore::{Exploration, PossibleRace};
use deadheat_lang::{Ending, Program, RecordedSchedule, RuntimeError};
use deadheat_model::finding::{Proof, Reordering};
use deadheat_model::{AccessKind, Site, StopToken};
use deadheat_offline::threads::hb;

/// A schedule that shows its finding when the program follows it. Only [`Replay`] makes one, once it has seen that.
///
/// This checker needs the program and happens-before, so it cannot live beside the checker of witnesses, which uses
/// neither; therefore its proof is a type of its own.
#[derive(Clone, Debug)]
pub struct VerifiedSchedule {
    schedule: RecordedSchedule,
    /// Its lines, once somebody asks for them.
    lines: OnceLock<Vec<String>>,
    /// Who enters sections up to there, where orders of sections were searched.
    sections: Option<Vec<String>>,
}

impl VerifiedSchedule {
    fn seen(schedule: &RecordedSchedule) -> VerifiedSchedule {
        VerifiedSchedule {
            schedule: schedule.clone(),
            lines: OnceLock::new(),
            sections: None,
        }
    }

    /// The schedule.
    pub fn proof(&self) -> &RecordedSchedule {
        &self.schedule
    }

    /// The same, with who enters sections up to there.
    #[must_use]
    pub fn through(mut self, sections: Vec<String>) -> VerifiedSchedule {
        self.sections = Some(sections);
        self
    }
}

impl Proof for VerifiedSchedule {
    fn reordering(&self) -> Option<&dyn Reordering> {
        None
    }

    fn schedule(&self) -> Option<&[String]> {
        let text = || self.schedule.to_string();
        let lines = || text().lines().map(str::to_string).collect();
        Some(self.lines.get_or_init(lines))
    }

    fn sections(&self) -> Option<&[String]> {
        self.sections.as_deref()
    }
}

/// An exploration whose races have been looked at again.
pub struct Replay<'e> {
    /// What was explored.
    pub exploration: &'e Exploration,
    /// The races, each with its schedule; without one where too many were found to keep it, or to follow it in time.
    pub races: Vec<(&'e PossibleRace, Option<VerifiedSchedule>)>,
    /// What the deadlock's schedule shows, if it was followed.
    pub deadlock: Option<VerifiedSchedule>,
    /// The same for each error.
    pub errors: Vec<Option<VerifiedSchedule>>,
    /// How many races did not show when their schedules were followed. Each is a bug in the explorer.
    pub refused: usize,
}

impl<'e> Replay<'e> {
    /// Follows the schedule of each race, until it is time to stop.
    pub fn new(program: &Program, exploration: &'e Exploration, stop: StopToken) -> Replay<'e> {
        let mut races = Vec::new();
        for race in &exploration.races {
            match race.schedule.steps() {
                0 => races.push((race, None)),
                _ if stop.due().is_some() => races.push((race, None)),
                _ if shows(program, race) => {
                    races.push((race, Some(VerifiedSchedule::seen(&race.schedule))));
                }
                _ => {}
            }
        }
        let ends = |schedule: &RecordedSchedule, so: &dyn Fn(&Ending) -> bool| {
            let in_time = schedule.steps() > 0 && stop.due().is_none();
            let run = in_time.then(|| program.follow(schedule).ok()).flatten()?;
            so(&run.ending).then(|| VerifiedSchedule::seen(schedule))
        };
        let deadlock = exploration.deadlock.as_ref().and_then(|found| {
            ends(&found.schedule, &|ending| {
                matches!(ending, Ending::Deadlock(_))
            })
        });
        let errors = exploration.errors.iter().map(|found| {
            let same = |error: &RuntimeError| {
                error.site == found.what.site
                    && error.kind.to_string() == found.what.kind.to_string()
            };
            ends(
                &found.schedule,
                &|ending| matches!(ending, Ending::Error(error) if same(error)),
            )
        });
        Replay {
            exploration,
            deadlock,
            errors: errors.collect(),
            refused: exploration.races.len() - races.len(),
            races,
        }
    }

    /// The names of the locations that race in some schedule, sorted.
    pub fn racy_locations(&self) -> Vec<String> {
        let names = self.races.iter().map(|(race, _)| race.location.clone());
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether everything was covered, and every race showed.
    pub fn is_complete(&self) -> bool {
        self.exploration.is_complete() && self.refused == 0
    }
}

/// Whether a race is there when its schedule is followed.
fn shows(program: &Program, race: &PossibleRace) -> bool {
    let Ok(run) = program.follow(&race.schedule) else {
        return false;
    };
    let Ok(findings) = hb::ENGINE.check(&run.execution) else {
        return false;
    };
    let mut ends: [(Site, AccessKind); 2] =
        [race.first, race.second].map(|access| (access.site, access.kind));
    ends.sort();
    findings.races.iter().any(|found| {
        let name = run.execution.names.location(found.race.location);
        found.race.ends() == ends && name == race.location
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_explore::{ExploreOptions, explore};

    use super::*;

    #[test]
    fn a_race_that_its_schedule_does_not_show_is_refused() {
        let source = "shared x; shared y; lock l;
proc main() {
  fork a { x = 1; acquire l; y = 1; release l; }
  fork b { acquire l; let v = y; release l; if v == 0 { x = 2; } }
}";
        let program = Program::parse(source).unwrap();
        let mut exploration = explore(&program, &ExploreOptions::default(), |_| {});
        let replayed = Replay::new(&program, &exploration, StopToken::default());
        assert_eq!((replayed.races.len(), replayed.refused), (1, 0));
        assert!(replayed.is_complete());
        let proof = replayed.races[0].1.as_ref().unwrap();
        let schedule = exploration.races[0].schedule.to_string();
        assert_eq!(proof.schedule().unwrap().join("\n") + "\n", schedule);
        assert!(proof.reordering().is_none());
        // Who has no time to follow it keeps it all the same.
        let due = StopToken::default().or_after(Duration::ZERO);
        let replayed = Replay::new(&program, &exploration, due);
        assert_eq!((replayed.races.len(), replayed.refused), (1, 0));
        assert!(replayed.races[0].1.is_none());
        exploration.races[0].schedule = "main 3\nmain/1 4\n".parse().unwrap();
        let replayed = Replay::new(&program, &exploration, StopToken::default());
        assert_eq!((replayed.races.len(), replayed.refused), (0, 1));
        assert!(!replayed.is_complete());
        exploration.races[0].schedule = "main/7\n".parse().unwrap();
        let replayed = Replay::new(&program, &exploration, StopToken::default());
        assert_eq!(replayed.refused, 1);
    }
}
