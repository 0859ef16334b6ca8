//! Kernels of futures and promises: matmul, strassen, sparselu, poisson.

use deadheat_task::{Promise, SharedGrid, finish};

use super::grids::{PRODUCTS, SUMS, Square, add_all, multiply_add, product, sum_of, zeros};
use super::{Done, Job, random, timed};

/// c += a b by quarters: the first four products as futures, the other four when these are done.
fn multiply(a: Square, b: Square, c: Square, leaf: usize, racy: bool) {
    if a.size <= leaf {
        return multiply_add(a, b, c);
    }
    let quarters = [(0, 0), (0, 1), (1, 0), (1, 1)];
    finish(|s| {
        let first = quarters.map(|(down, right)| {
            s.future(move || {
                let (a, b) = (a.quarter(down, 0), b.quarter(0, right));
                multiply(a, b, c.quarter(down, right), leaf, racy);
            })
        });
        for (future, (down, right)) in first.into_iter().zip(quarters) {
            s.spawn(move || {
                if !racy {
                    future.get();
                }
                let (a, b) = (a.quarter(down, 1), b.quarter(1, right));
                multiply(a, b, c.quarter(down, right), leaf, racy);
            });
        }
    });
}

/// The product of two matrices by quarters, with futures.
pub fn matmul(job: &Job) -> Done {
    let sizes = job.pick((16, 4), (512, 64), (2_048, 64));
    product(job, sizes, 1, multiply)
}

/// Strassen's product, in which each quarter of the result waits for just those products that it needs.
fn strassen_add(a: Square, b: Square, c: Square, leaf: usize, racy: bool) {
    if a.size <= leaf {
        return multiply_add(a, b, c);
    }
    let products = PRODUCTS.map(|_| zeros(a.size / 2));
    let ready = PRODUCTS.map(|_| Promise::new());
    finish(|s| {
        let (products, ready) = (&products, &ready);
        for (down, right, sum) in SUMS {
            s.spawn(move || {
                let parts = sum.iter().map(|&(number, sign)| {
                    if !racy {
                        ready[number].get();
                    }
                    (Square::all(&products[number]), sign)
                });
                let parts: Vec<_> = parts.collect();
                add_all(c.quarter(down, right), &parts);
            });
        }
        for (number, (of_a, of_b)) in PRODUCTS.into_iter().enumerate() {
            s.spawn(move || {
                let (left, right) = (sum_of(a, of_a), sum_of(b, of_b));
                let product = Square::all(&products[number]);
                strassen_add(Square::all(&left), Square::all(&right), product, leaf, racy);
                ready[number].set(());
            });
        }
    });
}

/// Strassen's product of two matrices, with promises.
pub fn strassen(job: &Job) -> Done {
    let sizes = job.pick((16, 8), (512, 64), (2_048, 64));
    product(job, sizes, 3, strassen_add)
}

/// The block of a number of rows and columns of blocks.
fn block(grid: &SharedGrid<f64>, row: usize, column: usize, size: usize) -> Square<'_> {
    Square {
        grid,
        row: row * size,
        column: column * size,
        size,
    }
}

/// Factorises a block by itself.
fn factorise(diagonal: Square) {
    let mut a = diagonal.write();
    for k in 0..a.rows() {
        let top = a.row(k).to_vec();
        for i in k + 1..a.rows() {
            let row = a.row_mut(i);
            row[k] /= top[k];
            let factor = row[k];
            for (x, top) in row.iter_mut().zip(&top).skip(k + 1) {
                *x -= factor * top;
            }
        }
    }
}

/// Brings a block to the right of the diagonal along.
fn forward(diagonal: Square, right: Square) {
    let (diagonal, mut a) = (diagonal.read(), right.write());
    for k in 0..a.rows() {
        let top = a.row(k).to_vec();
        for i in k + 1..a.rows() {
            let factor = diagonal.row(i)[k];
            for (x, top) in a.row_mut(i).iter_mut().zip(&top) {
                *x -= factor * top;
            }
        }
    }
}

/// Brings a block below the diagonal along.
fn divide(diagonal: Square, below: Square) {
    let (diagonal, mut a) = (diagonal.read(), below.write());
    for i in 0..a.rows() {
        let row = a.row_mut(i);
        for k in 0..row.len() {
            row[k] /= diagonal.row(k)[k];
            let factor = row[k];
            for (x, diagonal) in row.iter_mut().zip(diagonal.row(k)).skip(k + 1) {
                *x -= factor * diagonal;
            }
        }
    }
}

/// Takes the product of two blocks from a third.
fn subtract(below: Square, right: Square, inner: Square) {
    let (below, right, mut a) = (below.read(), right.read(), inner.write()); // seeded race
    for i in 0..a.rows() {
        for (k, factor) in below.row(i).iter().enumerate() {
            for (x, right) in a.row_mut(i).iter_mut().zip(right.row(k)) {
                *x -= factor * right;
            }
        }
    }
}

/// LU factorisation by blocks, many of which are empty; a task for each block and step, which waits by promises for those that
/// it needs.
pub fn sparselu(job: &Job) -> Done {
    let (blocks, size) = job.pick((4, 4), (24, 24), (128, 32));
    let n = blocks * size;
    let mut matrix = random(n * n, 5);
    let empty = |i: usize, j: usize| i != j && (i * 7 + j * 5).is_multiple_of(3);
    for i in 0..n {
        for j in 0..n {
            if empty(i / size, j / size) {
                matrix[i * n + j] = 0.0;
            }
        }
        matrix[i * n + i] += n as f64;
    }
    let a = SharedGrid::named("a", n, n, matrix.clone());
    // Whether a block has something in it before each step.
    let row = |i: usize| (0..blocks).map(|j| !empty(i, j)).collect::<Vec<bool>>();
    let start: Vec<Vec<bool>> = (0..blocks).map(row).collect();
    let mut filled = vec![start; blocks + 1];
    for k in 0..blocks {
        for i in 0..blocks {
            for j in 0..blocks {
                let fills = i > k && j > k && filled[k][i][k] && filled[k][k][j];
                filled[k + 1][i][j] = filled[k][i][j] || fills;
            }
        }
    }
    let work = || {
        // Set when the step of a number is done with a block.
        let promises = || (0..blocks).map(|_| Promise::new()).collect::<Vec<_>>();
        let rows = || (0..blocks).map(|_| promises()).collect::<Vec<_>>();
        let done: Vec<Vec<Vec<Promise<()>>>> = (0..blocks).map(|_| rows()).collect();
        finish(|s| {
            let (a, done, filled) = (&a, &done, &filled);
            for k in 0..blocks {
                for i in k..blocks {
                    for j in k..blocks {
                        s.spawn(move || {
                            let before = |i: usize, j: usize| {
                                if k > 0 {
                                    done[k - 1][i][j].get();
                                }
                            };
                            before(i, j);
                            let at = |i, j| block(a, i, j, size);
                            match (i == k, j == k) {
                                (true, true) => factorise(at(k, k)),
                                (true, false) if filled[k][k][j] => {
                                    done[k][k][k].get();
                                    forward(at(k, k), at(k, j));
                                }
                                (false, true) if filled[k][i][k] => {
                                    done[k][k][k].get();
                                    divide(at(k, k), at(i, k));
                                }
                                (false, false) if filled[k][i][k] && filled[k][k][j] => {
                                    done[k][k][j].get();
                                    if !job.racy {
                                        done[k][i][k].get();
                                    }
                                    subtract(at(i, k), at(k, j), at(i, j));
                                }
                                _ => {}
                            }
                            done[k][i][j].set(());
                        });
                    }
                }
            }
        });
    };
    timed(work, |()| {
        // L U is the matrix again, as far as a vector tells.
        let a = a.read(.., ..);
        let x = random(n, 6);
        let upper: Vec<f64> = (0..n)
            .map(|i| (i..n).map(|j| a.row(i)[j] * x[j]).sum())
            .collect();
        (0..n).all(|i| {
            let lower: f64 = (0..i).map(|j| a.row(i)[j] * upper[j]).sum::<f64>() + upper[i];
            let expected: f64 = (0..n).map(|j| matrix[i * n + j] * x[j]).sum();
            (lower - expected).abs() < 1e-6 * n as f64
        })
    })
}

/// One step of Jacobi's iteration in a block of `to`.
fn jacobi(
    from: &SharedGrid<f64>,
    to: &SharedGrid<f64>,
    source: &[f64],
    rows: (usize, usize),
    columns: (usize, usize),
) {
    let n = from.rows();
    let (first, last) = (rows.0.max(1), rows.1.min(n - 1));
    let (left, right) = (columns.0.max(1), columns.1.min(n - 1));
    // The neighbours to the sides, but not at the corners: nobody has promised those.
    let middle = from.read(first..last, left - 1..right + 1); // seeded race
    let above = from.read(first - 1..first, left..right); // seeded race
    let below = from.read(last..last + 1, left..right); // seeded race
    let mut to = to.write(first..last, left..right);
    let width = right - left;
    for i in 0..to.rows() {
        let up = if i == 0 {
            above.row(0)
        } else {
            &middle.row(i - 1)[1..=width]
        };
        let down = if i + 1 == to.rows() {
            below.row(0)
        } else {
            &middle.row(i + 1)[1..=width]
        };
        let row = middle.row(i);
        for (j, x) in to.row_mut(i).iter_mut().enumerate() {
            let around = up[j] + down[j] + row[j] + row[j + 2];
            *x = (around + source[(first + i) * n + left + j]) / 4.0;
        }
    }
}

/// Poisson's equation on a square, by Jacobi's iteration; a task for each block and step, which waits by promises for its neighbours.
pub fn poisson(job: &Job) -> Done {
    let (n, size, steps) = job.pick((16, 4, 3), (2_048, 128, 6), (8_192, 128, 3));
    let blocks = n / size;
    let start = random(n * n, 7);
    let source = random(n * n, 8);
    let grids = [
        SharedGrid::named("even", n, n, start.clone()),
        SharedGrid::named("odd", n, n, start.clone()),
    ];
    let work = || {
        let promises = || (0..blocks * blocks).map(|_| Promise::new()).collect();
        let done: Vec<Vec<Promise<()>>> = (0..steps).map(|_| promises()).collect();
        finish(|s| {
            let (done, grids, source) = (&done, &grids, &source);
            for step in 0..steps {
                for number in 0..blocks * blocks {
                    s.spawn(move || {
                        let (i, j) = (number / blocks, number % blocks);
                        let wait = |step: usize, i: usize, j: usize| {
                            if i < blocks && j < blocks {
                                done[step][i * blocks + j].get();
                            }
                        };
                        if step > 0 && !job.racy {
                            // Those whose results it reads, which have also read what it writes over.
                            wait(step - 1, i, j);
                            wait(step - 1, i.wrapping_sub(1), j);
                            wait(step - 1, i + 1, j);
                            wait(step - 1, i, j.wrapping_sub(1));
                            wait(step - 1, i, j + 1);
                        }
                        let (from, to) = (&grids[step % 2], &grids[(step + 1) % 2]);
                        let part = |i: usize| (i * size, (i + 1) * size);
                        jacobi(from, to, source, part(i), part(j));
                        done[step][number].set(());
                    });
                }
            }
        });
    };
    timed(work, |()| {
        let (mut from, mut to) = (start.clone(), start);
        for _ in 0..steps {
            for i in 1..n - 1 {
                for j in 1..n - 1 {
                    let at = i * n + j;
                    // In the order of the parallel version, so that rounding is the same.
                    let around = from[at - n] + from[at + n] + from[at - 1] + from[at + 1];
                    to[at] = (around + source[at]) / 4.0;
                }
            }
            std::mem::swap(&mut from, &mut to);
        }
        let found = grids[steps % 2].read(.., ..);
        (0..n).all(|i| found.row(i) == &from[i * n..(i + 1) * n])
    })
}
