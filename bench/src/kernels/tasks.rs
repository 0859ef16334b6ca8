//! Programs of `async` and `finish`.

use crate::recording::Recording;

/// How many locations all tasks of [`flat`] read.
const COMMON: usize = 64;

/// One `finish` around tasks that each write `own` elements of their own and read `shared` ones that
/// the first task has written.
pub fn flat(r: &mut Recording, tasks: usize, own: usize, shared: usize) {
    let mine = r.used_room((tasks * own).max(1));
    let common = r.used_room(COMMON);
    common.clone().for_each(|x| r.write(x));
    r.begin_finish();
    for task in 0..tasks {
        r.spawn();
        for n in 0..own {
            r.write(mine.start + (task * own + n) as u64);
        }
        for n in 0..shared {
            r.read(common.start + ((task + n) % COMMON) as u64);
        }
        r.end();
    }
    r.end_finish();
}

/// Tasks (in `finish`es of their own, if asked for) started one inside the other, over and over.
///
/// At each level a task writes a cell, last written by the same level of the nest before: the two
/// meet at the top. It reads cells written at two levels above it, far and near. With `finish`es, it
/// also reads a cell written at a level below it, afterwards.
pub fn nest(r: &mut Recording, depth: usize, times: usize, finishes: bool) {
    let mut random = fastrand::Rng::with_seed(1);
    let cells = r.used_room(depth);
    let cell = |level: usize| cells.start + level as u64;
    for _ in 0..times {
        r.begin_finish();
        for level in 0..depth {
            r.spawn();
            r.write(cell(level));
            r.read(cell(random.usize(..=level)));
            r.read(cell(random.usize(..=level)));
            if finishes {
                r.begin_finish();
            }
        }
        for level in (0..depth).rev() {
            if finishes {
                r.end_finish();
                r.read(cell(random.usize(level..depth)));
            }
            r.end();
        }
        r.end_finish();
    }
}

/// Divide and conquer: a task starts two and waits for them, and puts their results together;
/// 2^(levels + 1) - 2 tasks.
pub fn divide(r: &mut Recording, levels: u32) {
    let results = r.used_room(2 << levels);
    half(r, results.start, 1, levels);
}

/// The results are numbered like a heap: those of `n` come from `2n` and `2n + 1`.
fn half(r: &mut Recording, results: u64, n: u64, levels: u32) {
    if levels > 0 {
        r.begin_finish();
        for part in [2 * n, 2 * n + 1] {
            r.spawn();
            half(r, results, part, levels - 1);
            r.end();
        }
        r.end_finish();
        r.read(results + 2 * n);
        r.read(results + 2 * n + 1);
    }
    r.write(results + n);
}

/// Tasks that all read one location; again with the next location.
pub fn readers(r: &mut Recording, readers: usize, times: usize) {
    for location in r.used_room(times) {
        r.begin_finish();
        for _ in 0..readers {
            r.spawn();
            r.read(location);
            r.end();
        }
        r.end_finish();
    }
}

/// Tasks that each write all of their own elements, again and again in one step.
pub fn sweep_own(r: &mut Recording, tasks: usize, elements: usize, times: usize) {
    r.begin_finish();
    for _ in 0..tasks {
        let own = r.room(elements);
        r.spawn();
        for _ in 0..times {
            own.clone().for_each(|x| r.write(x));
        }
        r.end();
    }
    r.end_finish();
}

/// One task that writes all elements again and again, each time in a new step.
pub fn sweep_in_new_steps(r: &mut Recording, elements: usize, times: usize) {
    let own = r.used_room(elements);
    for _ in 0..times {
        own.clone().for_each(|x| r.write(x));
        r.begin_finish();
        r.end_finish();
    }
}

/// Tasks in parallel that each read all elements once; the first task has written them.
pub fn sweep_shared(r: &mut Recording, tasks: usize, elements: usize) {
    let common = r.used_room(elements);
    common.clone().for_each(|x| r.write(x));
    r.begin_finish();
    for _ in 0..tasks {
        r.spawn();
        common.clone().for_each(|x| r.read(x));
        r.end();
    }
    r.end_finish();
}

/// Tasks one after the other that each write all elements once.
pub fn sweep_in_turn(r: &mut Recording, tasks: usize, elements: usize) {
    let common = r.used_room(elements);
    for _ in 0..tasks {
        r.begin_finish();
        r.spawn();
        common.clone().for_each(|x| r.write(x));
        r.end();
        r.end_finish();
    }
}
