//! How fast the explorer is, what a state costs, and how both grow.
//!
//! Tasks that all touch one variable in every step. Where what they leave there can change what
//! happens (*deciding*), every order of values must be seen; where it cannot, the explorer notices.

use std::time::Instant;

use deadheat_explore::ExploreOptions;
use deadheat_lang::Program;

/// What each step of each task does to `x`.
#[derive(Clone, Copy)]
enum Steps {
    /// Stores a number of its own.
    Store,
    /// Half of the steps read, half store.
    ReadAndStore,
    /// `x = x + 1`: two steps, a read and a write.
    Increment,
}

/// `tasks` tasks of `steps` steps on `x`, whose final value decides what `main` does if `deciding`.
fn program(tasks: usize, steps: usize, kind: Steps, deciding: bool) -> Program {
    let mut source = String::from("shared x; shared y;\nproc main() {\n  finish {\n");
    for task in 0..tasks {
        source += "    async {";
        for step in 0..steps {
            source += &match kind {
                Steps::Store => format!(" x = {};", task * steps + step + 1),
                Steps::ReadAndStore if step % 2 == 0 => format!(" x = {};", task + 1),
                Steps::ReadAndStore => format!(" let v{step} = x;"),
                Steps::Increment if step % 2 == 0 => " x = x + 1;".to_string(),
                Steps::Increment => String::new(),
            };
        }
        source += " }\n";
    }
    source += "  }\n";
    if deciding {
        source += "  if x == 1 { y = 1; }\n";
    }
    source += "}\n";
    Program::parse(&source).expect("a program")
}

/// Prints the tables.
pub fn print() {
    println!("Exploring tasks that conflict in every step");
    println!(
        "{:<34} {:>11} {:>9} {:>12} {:>13}",
        "tasks × steps", "states", "seconds", "states/s", "bytes/state"
    );
    let kinds = [
        ("stores", Steps::Store, false, 6),
        ("stores, deciding", Steps::Store, true, 6),
        ("reads and stores, deciding", Steps::ReadAndStore, true, 6),
        ("increments", Steps::Increment, false, 6),
        ("increments, deciding", Steps::Increment, true, 4),
    ];
    for (name, kind, deciding, most) in kinds {
        for tasks in 2..=most {
            row(name, &program(tasks, tasks, kind, deciding), tasks);
        }
    }
}

fn row(name: &str, program: &Program, tasks: usize) {
    let options = ExploreOptions {
        max_states: 50_000_000,
        ..ExploreOptions::default()
    };
    let start = Instant::now();
    let exploration = deadheat_explore::explore(program, &options, |_| {});
    let seconds = start.elapsed().as_secs_f64();
    let states = exploration.states as f64;
    println!(
        "{:<34} {:>11} {:>9.3} {:>12.0} {:>13.0}{}",
        format!("{name}, {tasks} × {tasks}"),
        exploration.states,
        seconds,
        states / seconds,
        exploration.bytes as f64 / states,
        if exploration.is_complete() {
            ""
        } else {
            "  (cut short)"
        }
    );
}
