//! Programs whose tasks are ordered by promises and futures, not by the tree.

use deadheat_model::{Promise, Strand};

use crate::recording::Recording;

/// A task for each stage; an item goes from one to the next through a promise and a buffer:
/// `(stages - 1) * items` joins.
pub fn pipeline(r: &mut Recording, stages: usize, items: usize) {
    let buffers = r.used_room(stages * items);
    let promises: Vec<Promise> = (0..stages * items).map(|_| r.promise()).collect();
    r.begin_finish();
    for stage in 0..stages {
        r.spawn();
        for item in 0..items {
            let output = stage * items + item;
            if let Some(input) = output.checked_sub(items) {
                r.get(promises[input]);
                r.read(buffers.start + input as u64);
            }
            r.write(buffers.start + output as u64);
            r.set(promises[output]);
        }
        r.end();
    }
    r.end_finish();
}

/// Tasks that each wait for the one before, and read what it has written. `far` of them, evenly
/// spread, also read what the very first has written.
pub fn chain(r: &mut Recording, tasks: usize, far: usize) {
    let cells = r.used_room(tasks);
    let promises: Vec<Promise> = (0..tasks).map(|_| r.promise()).collect();
    r.begin_finish();
    for task in 0..tasks {
        let cell = cells.start + task as u64;
        r.spawn();
        if task > 0 {
            r.get(promises[task - 1]);
            r.read(cell - 1);
            if task * far / tasks != (task - 1) * far / tasks {
                r.read(cells.start);
            }
        }
        r.write(cell);
        r.set(promises[task]);
        r.end();
    }
    r.end_finish();
}

/// Futures that each write an element; the first task waits for all of them and reads all elements:
/// first waiting for all, or each one when it is waited for.
pub fn gather(r: &mut Recording, futures: usize, all_first: bool) {
    let elements = r.used_room(futures);
    let element = |n: usize| elements.start + n as u64;
    let started: Vec<Strand> = (0..futures)
        .map(|n| {
            let future = r.future();
            r.write(element(n));
            r.end();
            future
        })
        .collect();
    for (n, future) in started.into_iter().enumerate() {
        r.join(future);
        if !all_first {
            r.read(element(n));
        }
    }
    if all_first {
        (0..futures).for_each(|n| r.read(element(n)));
    }
}
