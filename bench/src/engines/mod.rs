//! What the engines for structured programs cost, and how that grows.
//!
//! A time is the best of several runs. What an access costs is the time of a program less that of
//! the same program without its accesses, for each of them.

mod cost;
mod growth;
mod redundant;
mod space;
mod threads;
mod traversals;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use deadheat_model::{Access, Execution, Location, Op};
use deadheat_offline::esp_bags;
use deadheat_offline::replay::{self, Strands};
use deadheat_online::drdp::Checker;
use deadheat_online::spd3::Worker;
use deadheat_order::{Step, Structure};

use crate::recording::{Recording, accesses};

/// The tables there are, by name.
pub const TABLES: [(&str, fn()); 6] = [
    ("cost", cost::print),
    ("growth", growth::print),
    ("space", space::print),
    ("traversals", traversals::print),
    ("redundant", redundant::print),
    ("threads", threads::print),
];

/// What a recording is made of.
type Program<'a> = &'a dyn Fn(&mut Recording);

/// What is measured.
#[derive(Clone, Copy)]
enum Subject {
    /// Decodes each event and gives it to a function that does nothing.
    Empty,
    /// Keeps the tree and finds the task of each access, as SPD3's replay does; gives that to a
    /// function that does nothing.
    Order,
    EspBags,
    Spd3,
    Drdp,
}

impl Subject {
    const ALL: [Subject; 5] = [
        Subject::Empty,
        Subject::Order,
        Subject::EspBags,
        Subject::Spd3,
        Subject::Drdp,
    ];

    fn name(self) -> &'static str {
        match self {
            Subject::Empty => "empty",
            Subject::Order => "order",
            Subject::EspBags => "esp-bags",
            Subject::Spd3 => "spd3",
            Subject::Drdp => "drdp",
        }
    }

    /// Goes through an execution once.
    fn run(self, execution: &Execution) {
        let execution = black_box(execution);
        let race_free = match self {
            Subject::Empty => {
                empty(execution);
                true
            }
            Subject::Order => {
                order(execution);
                true
            }
            Subject::EspBags => esp_bags::racy_locations(execution).is_empty(),
            Subject::Spd3 => spd3(execution, Worker::default()).0.is_empty(),
            Subject::Drdp => drdp(execution, Checker::default()).racy.is_empty(),
        };
        assert!(race_free, "no kernel has a race");
    }

    /// How many ns going through an execution takes.
    fn time(self, execution: &Execution) -> f64 {
        best(|| self.run(execution))
    }
}

fn spd3(execution: &Execution, worker: Worker) -> (BTreeSet<Location>, Structure) {
    replay::spd3::racy_locations(execution, worker).expect("async and finish only")
}

fn drdp(execution: &Execution, checker: Checker) -> replay::drdp::Account {
    replay::drdp::account(execution, checker).expect("no locks")
}

fn empty(execution: &Execution) {
    let access: fn(Access) = black_box(|_| ());
    let other: fn(Op) = black_box(|_| ());
    for event in &execution.events {
        match event.access() {
            Some(found) => access(found),
            None => other(event.op()),
        }
    }
}

fn order(execution: &Execution) {
    let mut strands = Strands::new().expect("room");
    let access: fn(Access, Step) = black_box(|_, _| ());
    for event in &execution.events {
        match event.access() {
            Some(found) => {
                if let Some(task) = strands.task(event.strand()) {
                    access(found, task.step());
                }
            }
            None => strands.synchronise(event).expect("async and finish only"),
        }
    }
    black_box(&strands.structure);
}

/// The shortest of several runs, in ns: at least five unless they take long, and as many as fit
/// into a little while.
pub fn best(mut run: impl FnMut()) -> f64 {
    let mut shortest = Duration::MAX;
    let (mut spent, mut runs) = (Duration::ZERO, 0);
    while runs < 5 && spent.as_secs() < 4 || spent.as_millis() < 200 {
        let start = Instant::now();
        run();
        let took = start.elapsed();
        shortest = shortest.min(took);
        spent += took;
        runs += 1;
    }
    shortest.as_nanos() as f64
}

/// A program with its accesses and without.
struct Twins {
    full: Execution,
    bare: Execution,
    accesses: f64,
}

impl Twins {
    fn new(program: impl Fn(&mut Recording)) -> Twins {
        let full = Recording::of(&program);
        let bare = Recording::without_accesses(&program);
        Twins {
            accesses: (accesses(&full) - accesses(&bare)) as f64,
            full,
            bare,
        }
    }

    /// ns for each access.
    fn measure(&self, subject: Subject) -> f64 {
        (subject.time(&self.full) - subject.time(&self.bare)) / self.accesses
    }
}

/// A table in which each row is compared with the row before.
#[derive(Default)]
struct GrowthTable {
    before: Vec<f64>,
}

impl GrowthTable {
    /// Prints what the table is, and what its columns are.
    fn new(title: &str, size: &str, columns: &[&str]) -> GrowthTable {
        println!("\n{title}");
        print!("{size:>12}");
        for column in columns {
            print!(" {column:>24}");
        }
        println!();
        GrowthTable::default()
    }

    fn row(&mut self, size: usize, values: &[f64]) {
        print!("{size:>12}");
        for (column, value) in values.iter().enumerate() {
            let ratio = match self.before.get(column) {
                Some(before) => format!("(×{:.2})", value / before),
                None => String::new(),
            };
            print!(" {value:>14.1} {ratio:>9}");
        }
        println!();
        self.before = values.to_vec();
    }
}
