//! What DRDP keeps: the reads that nothing covers, and not many more.

#![cfg(not(loom))]

use deadheat_model::{AccessKind, Location};
use deadheat_online::drdp::{Checker, History};
use deadheat_order::{Signal, Structure, Task};

/// One location.
#[derive(Default)]
struct World {
    structure: Structure,
    checker: Checker,
    history: History,
    races: usize,
    /// The most reads that were kept at any time.
    most: usize,
}

impl World {
    fn read(&mut self, task: &Task) {
        self.access(task, AccessKind::Read);
    }

    fn write(&mut self, task: &Task) {
        self.access(task, AccessKind::Write);
        assert_eq!(
            self.history.readers(),
            0,
            "a write covers all reads before it"
        );
    }

    fn access(&mut self, task: &Task, kind: AccessKind) {
        let (structure, history) = (&self.structure, &mut self.history);
        let races = &mut self.races;
        let report = |_| *races += 1;
        self.checker
            .access(structure, task, Location(0), kind, || history, report);
        self.most = self.most.max(self.history.readers());
    }

    /// The task goes on in a new step.
    fn go_on(&mut self, task: &mut Task) -> Signal {
        self.structure.signal(task).unwrap()
    }
}

#[test]
fn of_a_task_that_reads_in_every_step_one_read_is_kept() {
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    for _ in 0..1000 {
        world.read(&main);
        world.go_on(&mut main);
    }
    assert_eq!(world.most, 1);
}

/// No task's read covers another task's, but each covers its own earlier ones.
#[test]
fn of_many_tasks_that_read_in_turn_about_one_read_each_is_kept() {
    for tasks in [1, 3, 10, 100] {
        let mut world = World::default();
        let mut main = world.structure.main().unwrap();
        let mut running: Vec<Task> = (0..tasks)
            .map(|_| world.structure.spawn(&mut main).unwrap())
            .collect();
        for _ in 0..200 {
            for task in &mut running {
                world.read(task);
                world.go_on(task);
            }
        }
        assert!(world.most <= 2 * tasks + 9, "{tasks} tasks: {}", world.most);
        world.write(&main);
        // A task whose last two reads are kept is reported twice.
        assert!((tasks..=2 * tasks + 9).contains(&world.races));
    }
}

#[test]
fn reads_before_a_finish_are_covered_by_those_behind_it() {
    const TASKS: usize = 50;
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    for _ in 0..40 {
        let mut finish = world.structure.begin_finish(&mut main).unwrap();
        for _ in 0..TASKS {
            let task = world.structure.spawn(&mut main).unwrap();
            world.read(&task);
            world.structure.end(&task, Some(&mut finish));
        }
        world.structure.end_finish(&mut main, finish).unwrap();
    }
    assert!(world.most <= 2 * TASKS + 9, "{}", world.most);
    world.write(&main);
    assert_eq!(world.races, 0);
}

/// Nothing comes after a task that nobody has heard of but what comes after all inside of the `finish`.
#[test]
fn of_a_loop_whose_tasks_all_read_one_read_is_kept() {
    for waits in [true, false] {
        let mut world = World::default();
        let mut main = world.structure.main().unwrap();
        let mut finish = world.structure.begin_finish(&mut main).unwrap();
        let mut running = Vec::new();
        for number in 0..10_000 {
            let task = world.structure.spawn(&mut main).unwrap();
            world.read(&task);
            match number % 1000 {
                // A few go on.
                0 => running.push(task),
                _ => world.structure.end_async(&task, Some(&mut finish)),
            }
        }
        assert!(world.most <= running.len() + 2, "{}", world.most);
        for task in &running {
            world.structure.end_async(task, Some(&mut finish));
        }
        if waits {
            world.structure.end_finish(&mut main, finish).unwrap();
        }
        world.write(&main);
        assert_eq!(world.races == 0, waits);
    }
}

/// Tasks in a `finish` in a task in a `finish`: if all are silent, one read at the bottom covers what is outside.
#[test]
fn silence_reaches_as_far_as_it_goes() {
    for heard in [false, true] {
        let mut world = World::default();
        let mut main = world.structure.main().unwrap();
        let mut finish = world.structure.begin_finish(&mut main).unwrap();
        for _ in 0..100 {
            let mut task = world.structure.spawn(&mut main).unwrap();
            let mut inner = world.structure.begin_finish(&mut task).unwrap();
            for _ in 0..10 {
                let below = world.structure.spawn(&mut task).unwrap();
                world.read(&below);
                world.structure.end_async(&below, Some(&mut inner));
            }
            world.structure.end_finish(&mut task, inner).unwrap();
            if heard {
                world.structure.signal(&mut task).unwrap();
            }
            world.structure.end_async(&task, Some(&mut finish));
        }
        match heard {
            false => assert!(world.most <= 2, "{}", world.most),
            true => assert!(world.most >= 100, "{}", world.most),
        }
        world.structure.end_finish(&mut main, finish).unwrap();
        world.write(&main);
        assert_eq!(world.races, 0);
    }
}

/// A task that has left another one behind is heard of through it: its read covers nobody's.
#[test]
fn who_leaves_a_task_behind_is_not_silent() {
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    let mut finish = world.structure.begin_finish(&mut main).unwrap();
    let mut task = world.structure.spawn(&mut main).unwrap();
    world.read(&task);
    let mut left_behind = world.structure.spawn(&mut task).unwrap();
    world.structure.end_async(&task, Some(&mut finish));
    let other = world.structure.spawn(&mut main).unwrap();
    world.read(&other);
    let signal = world.go_on(&mut left_behind);
    world.structure.join(&mut main, signal).unwrap();
    world.write(&main);
    assert_eq!(world.races, 1, "with the other one's read");
}

/// The tree does not know that one round comes before the next: promises do.
#[test]
fn reads_before_a_barrier_of_promises_are_covered_by_those_behind_it() {
    const TASKS: usize = 20;
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    let mut running: Vec<Task> = (0..TASKS)
        .map(|_| world.structure.spawn(&mut main).unwrap())
        .collect();
    let mut passed: Option<Signal> = None;
    for _ in 0..40 {
        let mut signals = Vec::new();
        for task in &mut running {
            if let Some(passed) = passed {
                world.structure.join(task, passed).unwrap();
            }
            // In every round by tasks that end, so that the tree orders none of them with the next.
            let reader = world.structure.spawn(task).unwrap();
            world.read(&reader);
            signals.push(world.structure.end(&reader, None));
        }
        for signal in signals {
            world.structure.join(&mut main, signal).unwrap();
        }
        passed = Some(world.go_on(&mut main));
    }
    assert!(world.most <= 2 * TASKS + 9, "{}", world.most);
    world.write(&main);
    assert_eq!(world.races, 0);
}

/// Reads that nothing orders must all be kept: a later write can be ordered with any of them alone.
#[test]
fn a_write_behind_all_parallel_reads_but_one_races_with_that_one() {
    const TASKS: usize = 300;
    for missing in [0, 17, TASKS - 1] {
        let mut world = World::default();
        let mut main = world.structure.main().unwrap();
        let signals: Vec<Signal> = (0..TASKS)
            .map(|_| {
                let task = world.structure.spawn(&mut main).unwrap();
                world.read(&task);
                world.structure.end(&task, None)
            })
            .collect();
        for (index, &signal) in signals.iter().enumerate() {
            if index != missing {
                world.structure.join(&mut main, signal).unwrap();
            }
        }
        world.write(&main);
        assert_eq!(world.races, 1, "without {missing}");
    }
}

/// A task that knows of a write, and then waits for others again and again, reads what was written:
/// that it once knew is enough.
#[test]
fn what_was_known_once_is_not_searched_for_again() {
    const JOINS: usize = 2000;
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    let writer = world.structure.spawn(&mut main).unwrap();
    world.write(&writer);
    let written = world.structure.end(&writer, None);
    let others: Vec<Signal> = (0..JOINS)
        .map(|_| {
            let other = world.structure.spawn(&mut main).unwrap();
            world.structure.end(&other, None)
        })
        .collect();
    world.structure.join(&mut main, written).unwrap();
    for other in others {
        world.structure.join(&mut main, other).unwrap();
        world.read(&main);
    }
    assert_eq!(world.races, 0);
    let visited = world.checker.search.visited;
    assert!(visited < JOINS as u64, "{visited}");
}

/// One old read that nothing orders does not make every later one pay for a search in vain.
#[test]
fn a_read_that_stays_uncovered_costs_little() {
    const JOINS: usize = 20_000;
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    let old = world.structure.spawn(&mut main).unwrap();
    world.read(&old);
    for _ in 0..JOINS {
        let task = world.structure.spawn(&mut main).unwrap();
        world.read(&task);
        let signal = world.structure.end(&task, None);
        world.structure.join(&mut main, signal).unwrap();
    }
    let visited = world.checker.search.visited;
    assert!(visited < 100 * JOINS as u64, "{visited}");
    assert!(world.most < 100, "{}", world.most);
    world.write(&main);
    assert_eq!(world.races, 1);
}

/// After its first race, a location costs nothing.
#[test]
fn a_location_that_races_is_reported_once() {
    let mut world = World::default();
    let mut main = world.structure.main().unwrap();
    let task = world.structure.spawn(&mut main).unwrap();
    world.write(&task);
    for _ in 0..100 {
        world.go_on(&mut main);
        world.read(&main);
    }
    assert_eq!(world.races, 1);
    assert_eq!(world.checker.search.visited, 0);
}
