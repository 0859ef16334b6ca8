//! What a task and an access cost, beside doing nothing.

use super::{Program, Subject, Twins};
use crate::kernels::tasks::{
    divide, flat, nest, sweep_in_new_steps, sweep_in_turn, sweep_own, sweep_shared,
};
use crate::recording::{Recording, tasks};

/// Elements that fit into what engines keep to recognise repeated accesses.
const FEW: usize = 64;
/// Elements that do not.
const MANY: usize = 1 << 13;

/// Prints the tables.
pub fn print() {
    header("ns for each task, programs without accesses");
    let programs: [(&str, Program); 4] = [
        ("one loop of 100,000 tasks", &|r| flat(r, 100_000, 0, 0)),
        ("100,000 tasks, 1,000 deep", &|r| nest(r, 1000, 100, false)),
        ("the same, a finish each", &|r| nest(r, 1000, 100, true)),
        ("divide and conquer, 2^18 tasks", &|r| divide(r, 17)),
    ];
    for (name, program) in programs {
        let execution = Recording::tasks_only(program);
        let tasks = tasks(&execution) as f64;
        row(name, |subject| subject.time(&execution) / tasks);
    }

    header("µs for a program that writes once");
    let tiny = Recording::of(|r| r.write(0));
    row("", |subject| subject.time(&tiny) / 1e3);

    header("ns for each access");
    let programs: [(&str, Program); 6] = [
        ("same step again, few elements", &|r| {
            sweep_own(r, 16, FEW, 1000);
        }),
        ("same step again, many elements", &|r| {
            sweep_own(r, 4, MANY, 30);
        }),
        ("own data, first time", &|r| sweep_own(r, 100, MANY, 1)),
        ("own data, new step", &|r| sweep_in_new_steps(r, MANY, 100)),
        ("shared data, only read", &|r| sweep_shared(r, 100, MANY)),
        ("write after another task's", &|r| {
            sweep_in_turn(r, 100, MANY)
        }),
    ];
    for (name, program) in programs {
        let twins = Twins::new(program);
        row(name, |subject| twins.measure(subject));
    }
    println!("empty: each event decoded; order: and its task found, and the tree kept.");
}

fn header(title: &str) {
    println!("\n{title}");
    print!("{:<34}", "");
    for subject in Subject::ALL {
        print!(" {:>9}", subject.name());
    }
    println!();
}

fn row(name: &str, value: impl Fn(Subject) -> f64) {
    print!("{name:<34}");
    for subject in Subject::ALL {
        print!(" {:>9.1}", value(subject));
    }
    println!();
}
