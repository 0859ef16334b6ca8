//! Kernels whose tasks compute a number each: series, montecarlo, fannkuch.

use deadheat_task::{Shared, SharedGrid, SharedSlice, par_for};

use super::{Done, Job, chance, close, timed};

/// The Fourier coefficients of (x + 1)^x over 0..2, each by the trapezoidal rule; a task a pair.
pub fn series(job: &Job) -> Done {
    let n = job.pick(20, 2_000, 1_000_000);
    let coefficients = SharedGrid::named("coefficients", 2, n, vec![0.0; 2 * n]);
    let pair = |k: usize| {
        let omega = std::f64::consts::PI * k as f64;
        let integral = |wave: fn(f64) -> f64| {
            let steps = 1000;
            let dx = 2.0 / f64::from(steps);
            let value = |x: f64| (x + 1.0).powf(x) * wave(omega * x);
            let inner: f64 = (1..steps).map(|i| value(f64::from(i) * dx)).sum();
            (inner + (value(0.0) + value(2.0)) / 2.0) * dx
        };
        match k {
            0 => (integral(f64::cos) / 2.0, 0.0),
            _ => (integral(f64::cos), integral(f64::sin)),
        }
    };
    let work = || {
        par_for(0..n, |k| {
            let (a, b) = pair(k);
            coefficients.set(0, k, a);
            coefficients.set(1, k, b);
            if job.racy {
                coefficients.set(0, (k + 1) % n, a); // seeded race
            }
        });
    };
    timed(work, |()| {
        // The first ones by another rule, Simpson's.
        let simpson = |value: &dyn Fn(f64) -> f64| {
            let dx = 2.0 / 2000.0;
            let weight = |i: u32| match i {
                0 | 2000 => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let terms = (0..=2000).map(|i| weight(i) * value(f64::from(i) * dx));
            terms.sum::<f64>() * dx / 3.0
        };
        (0..2).all(|k| {
            let omega = std::f64::consts::PI * k as f64;
            let halved = if k == 0 { 2.0 } else { 1.0 };
            let a = simpson(&|x| (x + 1.0).powf(x) * (omega * x).cos()) / halved;
            let b = simpson(&|x| (x + 1.0).powf(x) * (omega * x).sin());
            let (found_a, found_b) = (coefficients.get(0, k), coefficients.get(1, k));
            (found_a - a).abs() < 1e-3 && (found_b - b).abs() < 1e-3
        })
    })
}

/// The mean growth of a price that follows a geometric random walk; a task a walk.
pub fn montecarlo(job: &Job) -> Done {
    let (walks, steps) = job.pick((50, 100), (20_000, 1_000), (60_000, 1_000));
    let growth = SharedSlice::named("growth", vec![0.0; walks]);
    let sum = Shared::named("sum", 0.0);
    let walk = |number: usize| {
        let mut seed = number as u64;
        let mut log = 0.0;
        for _ in 0..steps {
            // The sum of two uniform numbers will do for a normal one.
            let normal = (chance(&mut seed) + chance(&mut seed) - 1.0) * 6f64.sqrt();
            log += 0.0001 + 0.01 * normal;
        }
        log
    };
    let work = || {
        par_for(0..walks, |number| {
            let log = walk(number);
            growth.set(number, log);
            if job.racy {
                sum.set(sum.get() + log); // seeded race
            }
        });
        growth.read(..).iter().sum::<f64>() / walks as f64
    };
    timed(work, |mean| {
        let expected = (0..walks).map(walk).sum::<f64>() / walks as f64;
        close(mean, expected)
    })
}

/// The most flips that any permutation of n pancakes needs, and a checksum; a task for each first two.
pub fn fannkuch(job: &Job) -> Done {
    let n = job.pick(6, 9, 10);
    let parts = n * (n - 1);
    let results = SharedSlice::named("results", vec![(0u32, 0u64); parts]);
    let most = Shared::named("most", 0u32);
    let part = |number: usize| {
        let (first, second) = (number / (n - 1), number % (n - 1));
        let second = second + usize::from(second >= first);
        let rest: Vec<u8> = (0..n)
            .filter(|&i| i != first && i != second)
            .map(|i| i as u8)
            .collect();
        let mut permutation = vec![first as u8, second as u8];
        permutation.extend(rest);
        let (mut most, mut sum) = (0, 0);
        each_permutation(&mut permutation, 2, &mut |permutation| {
            let flips = flips(permutation);
            most = most.max(flips);
            sum += u64::from(flips);
        });
        (most, sum)
    };
    let work = || {
        par_for(0..parts, |number| {
            let result = part(number);
            results.set(number, result);
            if job.racy && result.0 > most.get() {
                most.set(result.0); // seeded race
            }
        });
        let results = results.read(..);
        let most = results.iter().map(|result| result.0).max();
        (most, results.iter().map(|result| result.1).sum::<u64>())
    };
    timed(work, |(most, sum)| {
        // The most flips are a known sequence; the sum was computed by hand for six.
        let known = [(6, 10), (9, 30), (10, 38)];
        let right = known
            .iter()
            .any(|&(size, flips)| size == n && most == Some(flips));
        let mut all: Vec<u8> = (0..n as u8).collect();
        let mut expected = 0;
        if n <= 9 {
            each_permutation(&mut all, 0, &mut |permutation| {
                expected += u64::from(flips(permutation));
            });
        }
        right && (n > 9 || sum == expected)
    })
}

/// Calls `visit` with each order of what comes from `from` on.
fn each_permutation(items: &mut [u8], from: usize, visit: &mut impl FnMut(&[u8])) {
    if from == items.len() {
        return visit(items);
    }
    for i in from..items.len() {
        items.swap(from, i);
        each_permutation(items, from + 1, visit);
        items.swap(from, i);
    }
}

/// How often the first so many have to be turned over until the first is 0.
fn flips(permutation: &[u8]) -> u32 {
    let mut stack = [0u8; 16];
    let stack = &mut stack[..permutation.len()];
    stack.copy_from_slice(permutation);
    let mut flips = 0;
    while stack[0] != 0 {
        let first = stack[0] as usize;
        stack[..=first].reverse();
        flips += 1;
    }
    flips
}
