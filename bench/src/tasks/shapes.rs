//! Shapes that hurt: tiny tasks, very many tasks, very many that wait, deep recursion, memory that all touch.

use deadheat_task::Check::{self, Drdp, Off, Spd3};
use deadheat_task::{Promise, Shared, SharedSlice, finish, join, par_for};

use super::kernels::{Done, timed};

/// A shape.
pub struct Shape {
    pub name: &'static str,
    pub checks: &'static [Check],
    pub run: fn(usize) -> Done,
    /// How large it is when it is measured.
    pub count: usize,
}

const MILLION: usize = 1_000_000;

/// Every shape.
pub const SHAPES: &[Shape] = &[
    shape(
        "tasks-of-nanoseconds",
        &[Off, Spd3, Drdp],
        tiny,
        2 * MILLION,
    ),
    shape(
        "children-of-one-finish",
        &[Off, Spd3, Drdp],
        children,
        MILLION,
    ),
    shape("recursion-deep", &[Off, Spd3, Drdp], deep, 10_000),
    shape(
        "array-read-by-every-task",
        &[Off, Spd3, Drdp],
        read_by_all,
        100_000,
    ),
    shape(
        "reads-then-one-write",
        &[Off, Spd3, Drdp],
        reads_then_write,
        MILLION,
    ),
    shape(
        "read-by-futures-then-write",
        &[Off, Drdp],
        read_by_futures,
        100_000,
    ),
    shape(
        "read-by-setters-then-write",
        &[Off, Drdp],
        read_by_setters,
        100_000,
    ),
    shape("chain-of-promises", &[Off, Drdp], chain, MILLION),
    shape("tasks-that-wait-at-once", &[Off, Drdp], waiting, MILLION),
];

const fn shape(
    name: &'static str,
    checks: &'static [Check],
    run: fn(usize) -> Done,
    count: usize,
) -> Shape {
    Shape {
        name,
        checks,
        run,
        count,
    }
}

/// A binary tree of joins with so many leaves, which do nothing.
fn tiny(count: usize) -> Done {
    fn leaves(count: usize) -> usize {
        if count < 2 {
            return count;
        }
        let (a, b) = join(|| leaves(count / 2), || leaves(count - count / 2));
        a + b
    }
    timed(|| leaves(count), |found| found == count)
}

fn children(count: usize) -> Done {
    let done = SharedSlice::new(vec![false; count]);
    let work = || {
        finish(|s| {
            for i in 0..count {
                let done = &done;
                s.spawn(move || done.set(i, true));
            }
        });
    };
    timed(work, |()| done.read(..).iter().all(|&done| done))
}

fn deep(count: usize) -> Done {
    fn down(depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let below = Shared::new(0);
        finish(|s| s.spawn(|| below.set(down(depth - 1))));
        below.get() + 1
    }
    timed(|| down(count), |depth| depth == count)
}

fn read_by_all(count: usize) -> Done {
    let numbers = SharedSlice::new(vec![1u64; 1000]);
    let sums = SharedSlice::new(vec![0; count]);
    let work = || {
        par_for(0..count, |i| {
            sums.set(i, numbers.read(..).iter().sum::<u64>());
        });
    };
    timed(work, |()| sums.read(..).iter().all(|&sum| sum == 1000))
}

fn reads_then_write(count: usize) -> Done {
    let x = Shared::new(1u64);
    let work = || {
        par_for(0..count, |_| {
            x.get();
        });
        x.set(2);
        x.get()
    };
    timed(work, |found| found == 2)
}

/// Futures that all read, each of which is waited for by name; then a write, which only those waits order.
fn read_by_futures(count: usize) -> Done {
    let x = Shared::new(1u64);
    let work = || {
        finish(|s| {
            let readers: Vec<_> = (0..count).map(|_| s.future(|| x.get())).collect();
            let sum: u64 = readers.iter().map(|reader| *reader.get()).sum();
            x.set(sum);
        });
        x.get()
    };
    timed(work, |found| found == count as u64)
}

/// The same with tasks that set promises.
fn read_by_setters(count: usize) -> Done {
    let x = Shared::new(1u64);
    let work = || {
        let read: Vec<Promise<u64>> = (0..count).map(|_| Promise::new()).collect();
        finish(|s| {
            for read in &read {
                s.spawn(|| read.set(x.get()));
            }
            let sum: u64 = read.iter().map(|read| *read.get()).sum();
            x.set(sum);
        });
        x.get()
    };
    timed(work, |found| found == count as u64)
}

/// Each task waits for the one before.
fn chain(count: usize) -> Done {
    let work = || {
        let links: Vec<Promise<usize>> = (0..=count).map(|_| Promise::new()).collect();
        finish(|s| {
            let links = &links;
            links[0].set(0);
            for i in 0..count {
                s.spawn(move || links[i + 1].set(links[i].get() + 1));
            }
        });
        *links[count].get()
    };
    timed(work, |found| found == count)
}

/// All tasks wait for one promise, which is set when all of them are about to wait.
fn waiting(count: usize) -> Done {
    let done = SharedSlice::new(vec![0u8; count]);
    let work = || {
        let go = Promise::new();
        let here: Vec<Promise<()>> = (0..count).map(|_| Promise::new()).collect();
        finish(|s| {
            let (done, go, here) = (&done, &go, &here);
            for (i, here) in here.iter().enumerate() {
                s.spawn(move || {
                    here.set(());
                    done.set(i, *go.get());
                });
            }
            for here in here {
                here.get();
            }
            go.set(1);
        });
    };
    timed(work, |()| done.read(..).iter().all(|&done| done == 1))
}
