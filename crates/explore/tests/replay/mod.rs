//! Whether deadlocks and errors come with schedules that show them.

use deadheat_explore::Exploration;
use deadheat_lang::{Ending, Program, RecordedSchedule, Schedule};

/// How many were replayed.
#[derive(Default, Debug)]
pub struct Replays {
    pub deadlocks: u64,
    pub errors: u64,
}

impl Replays {
    /// Replays what was found; gives the first thing that does not show.
    pub fn replay(&mut self, program: &Program, exploration: &Exploration) -> Option<String> {
        let replay = |schedule: &RecordedSchedule| {
            let schedule = Schedule::Recorded(schedule.clone());
            program.run(&schedule, 10_000).map(|run| run.ending)
        };
        if let Some(deadlock) = &exploration.deadlock {
            self.deadlocks += 1;
            let ending = replay(&deadlock.schedule);
            if !matches!(ending, Ok(Ending::Deadlock(_))) {
                return Some(format!("{deadlock:?}: {ending:?}"));
            }
        }
        for error in &exploration.errors {
            self.errors += 1;
            match replay(&error.schedule) {
                Ok(Ending::Error(e))
                    if (&e.kind, e.site) == (&error.what.kind, error.what.site) => {}
                other => return Some(format!("{:?}: {other:?}", error.what)),
            }
        }
        None
    }
}
