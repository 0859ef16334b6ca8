//! How costs grow with depth, tasks, joins and readers: a row for each factor of ten.

use std::hint::black_box;
use std::time::{Duration, Instant};

use deadheat_model::{AccessKind, Location};
use deadheat_online::drdp::{Checker, History};
use deadheat_order::Structure;

use super::{GrowthTable, Subject, Twins, drdp};
use crate::kernels::joins::{chain, gather, pipeline};
use crate::kernels::tasks::{flat, nest, readers};
use crate::recording::{Recording, accesses};

const ENGINES: [Subject; 3] = [Subject::EspBags, Subject::Spd3, Subject::Drdp];

/// Prints the tables.
pub fn print() {
    depth(false);
    depth(true);
    tasks();
    joins_nearby();
    joins_far_away();
    joins_gathered();
    many_readers();
}

/// Always as many tasks, in nests that are deeper and fewer.
fn depth(finishes: bool) {
    const TASKS: usize = 200_000;
    let title = match finishes {
        true => "Depth, tasks and finishes in turn (a level is both): ns for each access",
        false => "Depth, tasks only: ns for each access",
    };
    let mut table = GrowthTable::new(title, "levels", &ENGINES.map(Subject::name));
    for depth in [10, 100, 1000, 10_000] {
        let twins = Twins::new(|r| nest(r, depth, TASKS / depth, finishes));
        table.row(depth, &ENGINES.map(|engine| twins.measure(engine)));
    }
}

fn tasks() {
    let columns = [
        "esp-bags: task",
        "access",
        "spd3: task",
        "access",
        "drdp: task",
        "access",
    ];
    let title = "Tasks in one loop, 8 writes to own and 8 reads of shared elements each: ns";
    let mut table = GrowthTable::new(title, "tasks", &columns);
    for tasks in [1000, 10_000, 100_000, 1_000_000] {
        let without = Recording::tasks_only(|r| flat(r, tasks, 8, 8));
        let twins = Twins::new(|r| flat(r, tasks, 8, 8));
        let values = ENGINES.map(|engine| {
            let task = engine.time(&without) / tasks as f64;
            [task, twins.measure(engine)]
        });
        table.row(tasks, values.as_flattened());
    }
}

/// A write and a read for each join; a search for each read.
fn searches(title: &str, program: impl Fn(&mut Recording, usize)) {
    let columns = ["ns/access", "searches", "visited/search", "most visited"];
    let mut table = GrowthTable::new(title, "joins", &columns);
    for joins in (2..=6).map(|n| 10_usize.pow(n)) {
        let twins = Twins::new(|r| program(r, joins));
        let access = twins.measure(Subject::Drdp);
        let search = drdp(&twins.full, Checker::default()).search;
        let searches = search.searches as f64;
        let average = search.visited as f64 / searches;
        let most = search.most_visited as f64;
        table.row(joins, &[access, searches, average, most]);
    }
}

fn joins_nearby() {
    searches(
        "Joins, a pipeline of 11 stages, reading what was just waited for: drdp",
        |r, joins| pipeline(r, 11, joins / 10),
    );
    searches(
        "Joins, futures waited for, each one's element read at once: drdp",
        |r, joins| gather(r, joins, false),
    );
}

fn joins_gathered() {
    searches(
        "Joins, futures waited for, all before the first element is read: drdp",
        |r, joins| gather(r, joins, true),
    );
}

/// Beside reading from the task before, a hundred tasks read from the first one.
fn joins_far_away() {
    const FAR: usize = 100;
    let title = "Joins, a chain of tasks, 100 of which read what the first one wrote: drdp";
    let columns = ["ns/far read", "visited/far read", "ns/visited"];
    let mut table = GrowthTable::new(title, "joins", &columns);
    for joins in [100, 1000, 10_000, 100_000, 1_000_000] {
        let [near, far] = [0, FAR].map(|far| Recording::of(|r| chain(r, joins + 1, far)));
        let reads = (accesses(&far) - accesses(&near)) as f64;
        let time = Subject::Drdp.time(&far) - Subject::Drdp.time(&near);
        let [near, far] = [near, far].map(|e| drdp(&e, Checker::default()).search.visited);
        let visited = (far - near) as f64;
        table.row(joins, &[time / reads, visited / reads, time / visited]);
    }
}

/// Always as many reads, of more or fewer locations.
fn many_readers() {
    const READS: usize = 1_000_000;
    let title = "Tasks that read one location, then one write";
    let columns = [
        "spd3: ns/read",
        "drdp: ns/read",
        "drdp: ns/write",
        "drdp: reads kept",
    ];
    let mut table = GrowthTable::new(title, "readers", &columns);
    for count in [100, 1000, 10_000, 100_000, 1_000_000] {
        let times = READS / count;
        let twins = Twins::new(|r| readers(r, count, times));
        let spd3 = twins.measure(Subject::Spd3);
        let read = twins.measure(Subject::Drdp);
        let kept = drdp(&twins.full, Checker::default()).most_readers;
        table.row(count, &[spd3, read, write_after(count), kept as f64]);
    }
}

/// How many ns DRDP takes for a write that follows parallel reads. By itself: beside the reads, it
/// would be lost in the noise.
fn write_after(readers: usize) -> f64 {
    let structure = Structure::new();
    let mut checker = Checker::default();
    let mut history = History::default();
    let mut races = 0;
    let location = Location(0);
    let mut main = structure.main().expect("room");
    let mut finish = structure.begin_finish(&mut main).expect("room");
    for _ in 0..readers {
        let task = structure.spawn(&mut main).expect("room");
        let kind = AccessKind::Read;
        checker.access(
            &structure,
            &task,
            location,
            kind,
            || &mut history,
            |_| {
                races += 1;
            },
        );
        structure.end(&task, Some(&mut finish));
    }
    structure.end_finish(&mut main, finish).expect("room");
    let mut shortest = Duration::MAX;
    for _ in 0..20 {
        let (mut checker, mut history) = black_box((checker.clone(), history.clone()));
        let kind = AccessKind::Write;
        let start = Instant::now();
        checker.access(
            &structure,
            &main,
            location,
            kind,
            || &mut history,
            |_| {
                races += 1;
            },
        );
        shortest = shortest.min(start.elapsed());
        black_box(history);
    }
    assert_eq!(races, 0);
    shortest.as_nanos() as f64
}
