//! The scheduler by itself, beside rayon's: the same programs, unchecked, in turns in one process.

use std::time::Instant;

use deadheat_task::Options;

use super::WORKERS;

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The best of several runs of two ways, which take turns.
fn best_of_both(mut ours: impl FnMut() -> f64, mut theirs: impl FnMut() -> f64) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..9 {
        best = (best.0.min(ours()), best.1.min(theirs()));
    }
    best
}

macro_rules! programs {
    ($join:path, $name:ident) => {
        mod $name {
            pub fn fib(n: u64) -> u64 {
                if n < 2 {
                    return n;
                }
                let (a, b) = $join(|| fib(n - 1), || fib(n - 2));
                a + b
            }

            /// The solutions with queens in some columns of a row, half of them a task.
            pub fn queens(n: u32, columns: u32, left: u32, right: u32, choices: u32) -> u64 {
                match choices.count_ones() {
                    0 => 0,
                    1 => {
                        let columns = columns | choices;
                        if columns == (1 << n) - 1 {
                            return 1;
                        }
                        let (left, right) = ((left | choices) << 1, (right | choices) >> 1);
                        let free = !(columns | left | right) & ((1 << n) - 1);
                        queens(n, columns, left, right, free)
                    }
                    _ => {
                        let first = choices & choices.wrapping_neg();
                        let (a, b) = $join(
                            || queens(n, columns, left, right, first),
                            || queens(n, columns, left, right, choices ^ first),
                        );
                        a + b
                    }
                }
            }

            /// c = a b for rows of a and c, by halves.
            pub fn matmul(n: usize, a: &[f64], b: &[f64], c: &mut [f64]) {
                let rows = c.len() / n;
                if rows > 4 {
                    let (top, bottom) = a.split_at(rows / 2 * n);
                    let (c_top, c_bottom) = c.split_at_mut(rows / 2 * n);
                    $join(
                        || matmul(n, top, b, c_top),
                        || matmul(n, bottom, b, c_bottom),
                    );
                    return;
                }
                for (a, c) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
                    c.fill(0.0);
                    for (factor, b) in a.iter().zip(b.chunks_exact(n)) {
                        for (c, b) in c.iter_mut().zip(b) {
                            *c += factor * b;
                        }
                    }
                }
            }
        }
    };
}

programs!(deadheat_task::join, ours);
programs!(rayon::join, theirs);

pub fn print() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(WORKERS).build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(error) => return println!("rayon does not start: {error}"),
    };
    let options = Options::new().workers(WORKERS);
    let n = 500;
    let (a, b) = (
        super::kernels::random(n * n, 1),
        super::kernels::random(n * n, 2),
    );
    println!("the scheduler, {WORKERS} workers, unchecked: best of nine, in turns");
    println!(
        "{:10} {:>10} {:>10} {:>6}",
        "program", "ours s", "rayon s", "ratio"
    );
    let row = |name: &str, (ours, theirs): (f64, f64)| {
        println!("{name:10} {ours:10.4} {theirs:10.4} {:6.2}", ours / theirs);
    };
    let run_ours = |work: &(dyn Fn() + Sync)| {
        let outcome = options.run(|| seconds(work));
        outcome.result.unwrap_or(f64::NAN)
    };
    let run_theirs = |work: &(dyn Fn() + Sync)| pool.install(|| seconds(work));
    let fib = best_of_both(
        || run_ours(&|| assert_eq!(ours::fib(30), 832_040)),
        || run_theirs(&|| assert_eq!(theirs::fib(30), 832_040)),
    );
    row("fib", fib);
    let all = (1 << 12) - 1;
    let queens = best_of_both(
        || run_ours(&|| assert_eq!(ours::queens(12, 0, 0, 0, all), 14_200)),
        || run_theirs(&|| assert_eq!(theirs::queens(12, 0, 0, 0, all), 14_200)),
    );
    row("nqueens", queens);
    let matmul = best_of_both(
        || run_ours(&|| ours::matmul(n, &a, &b, &mut vec![0.0; n * n])),
        || run_theirs(&|| theirs::matmul(n, &a, &b, &mut vec![0.0; n * n])),
    );
    row("matmul", matmul);
}
