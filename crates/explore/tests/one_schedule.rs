//! What the guarantee at the end of a clean run claims: where every order is the program's, one race-free
//! schedule speaks for all of them.

use deadheat_explore::ExploreOptions;
use deadheat_lang::{Ending, Schedule};
use deadheat_offline::Engine;
use deadheat_testing::programs::{Tasks, on_programs_of_tasks};

#[test]
fn one_race_free_schedule_speaks_for_all_of_them() {
    let (mut race_free, mut confirmed) = (0u64, 0u64);
    let trials = on_programs_of_tasks(15, Tasks::Small, |program| {
        for schedule in [Schedule::DepthFirst, Schedule::Random(3)] {
            let run = program.run(&schedule, 10_000).unwrap();
            let cut_short = matches!(run.ending, Ending::Error(_) | Ending::StillRunning);
            let engine = Engine::fitting(program.constructs());
            if cut_short || !engine.check(&run.execution).unwrap().races.is_empty() {
                continue;
            }
            race_free += 1;
            let options = ExploreOptions {
                max_states: 10_000,
                ..Default::default()
            };
            let exploration = deadheat_explore::explore(program, &options, |_| {});
            if !exploration.is_complete() {
                continue;
            }
            confirmed += 1;
            let deadlocks = matches!(run.ending, Ending::Deadlock(_));
            let agrees = exploration.races.is_empty()
                && exploration.errors.is_empty()
                && exploration.deterministic == Some(true)
                && exploration.deadlock.is_some() == deadlocks;
            if !agrees {
                return Some(format!("{schedule:?} is race-free; {exploration:#?}"));
            }
        }
        None
    });
    println!("{race_free} race-free runs, {confirmed} confirmed in every schedule");
    trials.expect(
        confirmed > trials.count() / 5 && confirmed * 10 > race_free * 9,
        format!("{confirmed} of {race_free}"),
    );
}
