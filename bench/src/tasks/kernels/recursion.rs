//! Kernels that divide and conquer: fft, health, nqueens, knapsack, sort.

use deadheat_task::{Shared, SharedSlice, finish, join, par_for};

use super::{Done, Job, chance, close, random, timed};

type Complex = [f64; 2];

fn turn(at: usize, of: usize) -> Complex {
    let angle = -std::f64::consts::TAU * at as f64 / of as f64;
    [angle.cos(), angle.sin()]
}

/// Takes two halves of a transform together, pair by pair, from the pair of a number on.
fn butterflies(low: &mut [Complex], high: &mut [Complex], first: usize, size: usize) {
    for (i, (low, high)) in low.iter_mut().zip(high).enumerate() {
        let [c, s] = turn(first + i, size);
        let turned = [high[0] * c - high[1] * s, high[0] * s + high[1] * c];
        *high = [low[0] - turned[0], low[1] - turned[1]];
        *low = [low[0] + turned[0], low[1] + turned[1]];
    }
}

/// The transform of a range whose elements are in bit-reversed order.
fn transform(a: &SharedSlice<Complex>, start: usize, size: usize, leaf: usize, racy: bool) {
    if size <= leaf {
        let mut all = a.write(start..start + size);
        let mut width = 2;
        while width <= size {
            for part in all.chunks_exact_mut(width) {
                let (low, high) = part.split_at_mut(width / 2);
                butterflies(low, high, 0, width);
            }
            width *= 2;
        }
        return;
    }
    let half = size / 2;
    join(
        || transform(a, start, half, leaf, false),
        || transform(a, start + half, half, leaf, false),
    );
    let part = leaf.min(half);
    par_for(0..half / part, |number| {
        let first = number * part;
        let mut low = a.write(start + first..start + first + part);
        let extra = usize::from(racy && first + part < half);
        let high = start + half + first;
        let mut high = a.write(high..high + part + extra); // seeded race
        butterflies(&mut low, &mut high, first, size);
    });
}

/// The fast Fourier transform, recursively; a task a half, and a loop to take halves together.
pub fn fft(job: &Job) -> Done {
    let (bits, leaf) = job.pick((7, 16), (19, 2_048), (22, 2_048));
    let n = 1usize << bits;
    let input: Vec<Complex> = random(n, 1)
        .into_iter()
        .zip(random(n, 2))
        .map(|(x, y)| [x, y])
        .collect();
    let reversed = |i: usize| i.reverse_bits() >> (usize::BITS - bits);
    let a = SharedSlice::named("a", (0..n).map(|i| input[reversed(i)]).collect());
    timed(
        || transform(&a, 0, n, leaf, job.racy),
        |()| {
            // Some frequencies by their definition, and the energy of all.
            let a = a.read(..);
            let defined = |k: usize| {
                let mut sum = [0.0; 2];
                for (i, [x, y]) in input.iter().enumerate() {
                    let [c, s] = turn(i * k % n, n);
                    sum = [sum[0] + x * c - y * s, sum[1] + x * s + y * c];
                }
                sum
            };
            let energy = |a: &[Complex]| a.iter().map(|[x, y]| x * x + y * y).sum::<f64>();
            let right = [1, n / 3, n - 1].into_iter().all(|k| {
                let expected = defined(k);
                (0..2).all(|part| (a[k][part] - expected[part]).abs() < 1e-6 * n as f64)
            });
            right && close(energy(&a) / n as f64, energy(&input))
        },
    )
}

/// A village and its hospital.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Village {
    seed: u64,
    healthy: u32,
    waiting: u32,
    treated: u64,
    /// Who is too ill for this hospital: the one above takes them.
    referred: u32,
}

impl Village {
    /// One step: some fall ill, some are treated, some are referred.
    fn step(&mut self, from_below: u32, is_top: bool) {
        let ill = (f64::from(self.healthy) * 0.02 * chance(&mut self.seed)) as u32;
        self.healthy -= ill;
        self.waiting += ill + from_below;
        let treated = self.waiting.min(4);
        let mut referred = 0;
        for _ in 0..treated {
            if !is_top && chance(&mut self.seed) < 0.3 {
                referred += 1;
            }
        }
        self.waiting -= treated;
        self.healthy += treated - referred;
        self.treated += u64::from(treated - referred);
        self.referred = referred;
    }
}

const BRANCHES: usize = 4;

fn simulate(villages: &SharedSlice<Village>, number: usize, job: Job) {
    let below = Job {
        racy: job.racy && number == 0,
        ..job
    };
    let children_of = |number: usize| number * BRANCHES + 1..(number + 1) * BRANCHES + 1;
    let children = children_of(number);
    let has_children = children.end <= villages.len();
    let have_children = children_of(children.start).end <= villages.len();
    if has_children && !have_children && !job.fine {
        // Small ones are not worth a task.
        for child in children.clone() {
            simulate(villages, child, below);
        }
    } else if has_children {
        finish(|s| {
            for child in children.clone() {
                s.spawn(move || simulate(villages, child, below));
            }
        });
    }
    let mut village = villages.get(number);
    let from_below = match has_children {
        true => villages
            .read(children)
            .iter()
            .map(|child| child.referred)
            .sum(),
        false => 0,
    };
    village.step(from_below, number == 0);
    villages.set(number, village);
    if job.racy && number > 0 {
        let mut above = villages.get(0);
        above.waiting += village.referred;
        villages.set(0, above); // seeded race
    }
}

/// Hospitals of a country of villages in levels; a task a step for each village that has others below it (or,
/// on demand, for each).
pub fn health(job: &Job) -> Done {
    let (levels, steps) = job.pick((3, 3), (6, 100), (7, 400));
    let count = (0..levels).map(|level| BRANCHES.pow(level)).sum();
    let start: Vec<Village> = (0..count)
        .map(|number| Village {
            seed: number as u64,
            healthy: 50,
            waiting: 0,
            treated: 0,
            referred: 0,
        })
        .collect();
    let villages = SharedSlice::named("villages", start.clone());
    let work = || {
        for _ in 0..steps {
            simulate(&villages, 0, *job);
        }
    };
    timed(work, |()| {
        let mut expected = start;
        for _ in 0..steps {
            for number in (0..count).rev() {
                let children = number * BRANCHES + 1..(number + 1) * BRANCHES + 1;
                let children = expected.get(children).unwrap_or(&[]);
                let from_below = children.iter().map(|child| child.referred).sum();
                expected[number].step(from_below, number == 0);
            }
        }
        *villages.read(..) == expected[..]
    })
}

/// Which columns and diagonals are taken, as bits.
#[derive(Clone, Copy)]
struct Board {
    columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    fn with(self, queen: u32) -> Board {
        Board {
            columns: self.columns | queen,
            left: (self.left | queen) << 1,
            right: (self.right | queen) >> 1,
        }
    }

    fn free(self, n: u32) -> u32 {
        !(self.columns | self.left | self.right) & ((1 << n) - 1)
    }

    fn count(self, n: u32, row: u32) -> u64 {
        if row == n {
            return 1;
        }
        let mut free = self.free(n);
        let mut count = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            count += self.with(queen).count(n, row + 1);
        }
        count
    }
}

fn queens(board: Board, n: u32, row: u32, cutoff: u32, total: Option<&Shared<u64>>) -> u64 {
    if row >= cutoff {
        let count = board.count(n, row);
        if let Some(total) = total {
            total.set(total.get() + count); // seeded race
        }
        return count;
    }
    let counts = SharedSlice::named("counts", vec![0; n as usize]);
    finish(|s| {
        for column in 0..n {
            let (queen, counts) = (1 << column, &counts);
            if board.free(n) & queen != 0 {
                s.spawn(move || {
                    let count = queens(board.with(queen), n, row + 1, cutoff, total);
                    counts.set(column as usize, count);
                });
            }
        }
    });
    counts.read(..).iter().sum()
}

/// In how many ways n queens can stand without threatening each other; a task for each square of the first third of the
/// rows (or, on demand, of all).
pub fn nqueens(job: &Job) -> Done {
    let (n, known) = job.pick((6, 4), (12, 14_200), (14, 365_596));
    let empty = Board {
        columns: 0,
        left: 0,
        right: 0,
    };
    let total = Shared::named("total", 0);
    let total = job.racy.then_some(&total);
    let rows = if job.fine { n } else { n / 3 };
    timed(|| queens(empty, n, 0, rows, total), |count| count == known)
}

/// The value of items, best for their weight first, that fit into some room, and the rest of the room filled with a part
/// of the next: no choice of these items is worth more.
fn bound(items: &[(u32, u32)], mut room: u32) -> f64 {
    let mut sum = 0.0;
    for &(weight, value) in items {
        if weight > room {
            return sum + f64::from(value) * f64::from(room) / f64::from(weight);
        }
        room -= weight;
        sum += f64::from(value);
    }
    sum
}

/// The most value of some items within a weight, if it is `enough` or more; else at most that. Two tasks for each of the first
/// items.
fn fill(
    items: &[(u32, u32)],
    room: u32,
    enough: u32,
    tasks: u32,
    best: Option<&Shared<u32>>,
) -> u32 {
    let Some((&(weight, value), rest)) = items.split_first() else {
        return 0;
    };
    if bound(items, room) < f64::from(enough) {
        return 0;
    }
    let fill_with = |tasks| match room.checked_sub(weight) {
        Some(left) => value + fill(rest, left, enough.saturating_sub(value), tasks, best),
        None => 0,
    };
    if tasks == 0 {
        return fill(rest, room, enough, 0, None).max(fill_with(0));
    }
    let (without, with) = join(
        || fill(rest, room, enough, tasks - 1, best),
        || fill_with(tasks - 1),
    );
    if let Some(best) = best
        && without.max(with) > best.get()
    {
        best.set(without.max(with)); // seeded race
    }
    without.max(with)
}

/// The knapsack problem, by trying whatever may still be worth about as much as a greedy choice; in tasks down to a depth. (How much
/// less is tried tells how long it takes. A bound that tasks share would take less, but would be a race.)
pub fn knapsack(job: &Job) -> Done {
    let (count, slack, tasks) = job.pick((10, 10_000, 4), (33, 2_000, 14), (40, 2_000, 20));
    let mut seed = 5;
    let mut items: Vec<(u32, u32)> = (0..count)
        .map(|_| {
            let weight = 100 + (chance(&mut seed) * 1_000.0) as u32;
            (weight, weight + (chance(&mut seed) * 1_000.0) as u32)
        })
        .collect();
    // What is worth most for its weight comes first.
    items.sort_by(|a, b| (b.1 * a.0).cmp(&(a.1 * b.0)));
    let room = items.iter().map(|item| item.0).sum::<u32>() / 2;
    let (mut greedy, mut left) = (0u32, room);
    for &(weight, value) in &items {
        if weight <= left {
            (greedy, left) = (greedy + value, left - weight);
        }
    }
    let enough = greedy.saturating_sub(slack);
    let memory = SharedSlice::named("items", items.clone());
    let best = Shared::named("best", 0);
    let best = job.racy.then_some(&best);
    let work = || {
        let items = memory.read(..);
        fill(&items, room, enough, tasks, best)
    };
    timed(work, |found| {
        let mut most = vec![0; room as usize + 1];
        for &(weight, value) in &items {
            for room in (weight..=room).rev() {
                let with = most[(room - weight) as usize] + value;
                most[room as usize] = most[room as usize].max(with);
            }
        }
        found == most[room as usize]
    })
}

/// Sorts a range of `a` into itself or, if `into_b`, into the same range of `b`.
fn merge_sort(
    (a, b): (&SharedSlice<u64>, &SharedSlice<u64>),
    (start, end): (usize, usize),
    into_b: bool,
    leaf: usize,
    racy: bool,
) {
    if end - start <= leaf {
        let mut part = a.write(start..end); // seeded race
        part.sort_unstable();
        if into_b {
            b.write(start..end).copy_from_slice(&part);
        }
        return;
    }
    let middle = (start + end) / 2;
    let overlap = usize::from(racy);
    join(
        || merge_sort((a, b), (start, middle + overlap), !into_b, leaf, false),
        || merge_sort((a, b), (middle, end), !into_b, leaf, false),
    );
    let (from, to) = if into_b { (a, b) } else { (b, a) };
    merge(from, (start, middle), (middle, end), to, start, leaf);
}

/// Merges two sorted ranges, by halves that can be merged in parallel.
fn merge(
    from: &SharedSlice<u64>,
    one: (usize, usize),
    two: (usize, usize),
    to: &SharedSlice<u64>,
    at: usize,
    leaf: usize,
) {
    let (long, short) = if one.1 - one.0 < two.1 - two.0 {
        (two, one)
    } else {
        (one, two)
    };
    let length = long.1 - long.0 + short.1 - short.0;
    if length <= leaf {
        let (a, b) = (from.read(long.0..long.1), from.read(short.0..short.1));
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        for place in to.write(at..at + length).iter_mut() {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x > y => b.next(),
                (Some(_), _) => a.next(),
                _ => b.next(),
            };
            *place = next.copied().unwrap_or_default();
        }
        return;
    }
    let middle = (long.0 + long.1) / 2;
    let pivot = from.get(middle);
    let split = short.0 + from.read(short.0..short.1).partition_point(|&x| x < pivot);
    let left = middle - long.0 + split - short.0;
    join(
        || merge(from, (long.0, middle), (short.0, split), to, at, leaf),
        || {
            merge(
                from,
                (middle, long.1),
                (split, short.1),
                to,
                at + left,
                leaf,
            )
        },
    );
}

/// Merge sort, with parallel merges.
pub fn sort(job: &Job) -> Done {
    let (n, leaf) = job.pick((200, 16), (2_000_000, 4_096), (10_000_000, 4_096));
    let mut seed = 3;
    let input: Vec<u64> = (0..n).map(|_| (chance(&mut seed) * 1e15) as u64).collect();
    let a = SharedSlice::named("a", input.clone());
    let b = SharedSlice::named("b", vec![0; n]);
    timed(
        || merge_sort((&a, &b), (0, n), false, leaf, job.racy),
        |()| {
            let mut expected = input;
            expected.sort_unstable();
            *a.read(..) == expected[..]
        },
    )
}
