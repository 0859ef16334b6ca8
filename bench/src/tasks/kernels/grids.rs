//! Kernels on matrices with `finish` and loops: matmul, lufact, sor, strassen.

use deadheat_task::{SharedGrid, finish, par_for};

use super::{Done, Job, random, timed};

/// Whether c = a b, as far as a random vector tells.
pub fn is_product(a: &[f64], b: &[f64], c: &[f64], n: usize) -> bool {
    let vector = random(n, 99);
    let apply = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
        let rows = matrix.chunks_exact(n);
        rows.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
            .collect()
    };
    let (expected, found) = (apply(a, &apply(b, &vector)), apply(c, &vector));
    expected
        .iter()
        .zip(found)
        .all(|(a, b)| (a - b).abs() < 1e-6 * n as f64)
}

/// The product of two matrices; a task a row.
pub fn matmul(job: &Job) -> Done {
    let n = job.pick(16, 400, 1_000);
    let (left, right) = (random(n * n, 1), random(n * n, 2));
    let a = SharedGrid::named("a", n, n, left.clone());
    let b = SharedGrid::named("b", n, n, right.clone());
    let c = SharedGrid::named("c", n, n, vec![0.0; n * n]);
    let work = || {
        par_for(0..n, |i| {
            let (row, b) = (a.read_row(i), b.read(.., ..));
            let target = if job.racy { i / 2 } else { i };
            let mut sum = c.write_row(target); // seeded race
            for (k, factor) in row.iter().enumerate() {
                for (sum, b) in sum.iter_mut().zip(b.row(k)) {
                    *sum += factor * b;
                }
            }
        });
    };
    let done = timed(work, |()| true);
    Done {
        right: is_product(&left, &right, &c.into_vec(), n),
        ..done
    }
}

/// LU factorisation with pivoting, then the solution of a system; a task a row, step by step.
pub fn lufact(job: &Job) -> Done {
    let n = job.pick(16, 500, 2_000);
    let matrix = random(n * n, 5);
    let solution: Vec<f64> = (0..n).map(|i| (i % 7) as f64 - 3.0).collect();
    let side: Vec<f64> = matrix
        .chunks_exact(n)
        .map(|row| row.iter().zip(&solution).map(|(a, x)| a * x).sum())
        .collect();
    // The right side is the last column.
    let width = n + 1;
    let rows = matrix.chunks_exact(n).zip(&side);
    let together = rows
        .flat_map(|(row, side)| row.iter().chain([side]).copied())
        .collect();
    let a = SharedGrid::named("a", n, width, together);
    let work = || {
        for k in 0..n {
            let sizes = (k..n).map(|i| (a.get(i, k).abs(), i));
            let pivot = sizes.max_by(|a, b| a.0.total_cmp(&b.0));
            let pivot = pivot.map_or(k, |(_, row)| row);
            if pivot != k {
                a.write_row(k).swap_with_slice(&mut a.write_row(pivot));
            }
            par_for(k + 1..n, |i| {
                let top = a.read_row(k);
                let mut row = a.write_row(i);
                let factor = row[k] / top[k];
                for (row, top) in row[k..].iter_mut().zip(&top[k..]) {
                    *row -= factor * top;
                }
                drop((row, top));
                if job.racy && i == k + 1 {
                    a.set(k, 0, 0.0); // seeded race
                }
            });
        }
        let mut x = vec![0.0; n];
        for k in (0..n).rev() {
            let row = a.read_row(k);
            let known: f64 = (k + 1..n).map(|j| row[j] * x[j]).sum();
            x[k] = (row[n] - known) / row[k];
        }
        x
    };
    timed(work, |x| {
        x.iter()
            .zip(&solution)
            .all(|(found, expected)| (found - expected).abs() < 1e-4)
    })
}

/// One row of successive over-relaxation, between its neighbours.
fn relax(row: &mut [f64], above: &[f64], below: &[f64]) {
    let omega = 1.25;
    for j in 1..row.len() - 1 {
        let around = above[j] + below[j] + row[j - 1] + row[j + 1];
        row[j] += omega * (around / 4.0 - row[j]);
    }
}

/// Successive over-relaxation: even rows, then odd rows; a task a row.
pub fn sor(job: &Job) -> Done {
    let (n, rounds) = job.pick((20, 2), (1_000, 50), (2_000, 100));
    let start = random(n * n, 6);
    let grid = SharedGrid::named("grid", n, n, start.clone());
    let work = || {
        for _ in 0..rounds {
            for parity in 0..2 {
                par_for(1..n - 1, |i| {
                    if job.racy || i % 2 == parity {
                        let (above, below) = (grid.read_row(i - 1), grid.read_row(i + 1)); // seeded race
                        relax(&mut grid.write_row(i), &above, &below); // seeded race
                    }
                });
            }
        }
    };
    timed(work, |()| {
        let mut rows: Vec<Vec<f64>> = start.chunks_exact(n).map(<[f64]>::to_vec).collect();
        for round in 0..2 * rounds {
            for i in (1..n - 1).filter(|i| i % 2 == round % 2) {
                let mut row = std::mem::take(&mut rows[i]);
                relax(&mut row, &rows[i - 1], &rows[i + 1]);
                rows[i] = row;
            }
        }
        (0..n).all(|i| grid.read_row(i)[..] == rows[i][..])
    })
}

/// A square part of a matrix.
#[derive(Clone, Copy)]
pub struct Square<'g> {
    pub grid: &'g SharedGrid<f64>,
    pub row: usize,
    pub column: usize,
    pub size: usize,
}

impl<'g> Square<'g> {
    pub fn all(grid: &'g SharedGrid<f64>) -> Square<'g> {
        Square {
            grid,
            row: 0,
            column: 0,
            size: grid.rows(),
        }
    }

    /// One of its four quarters.
    pub fn quarter(self, down: usize, right: usize) -> Square<'g> {
        let size = self.size / 2;
        Square {
            row: self.row + down * size,
            column: self.column + right * size,
            size,
            ..self
        }
    }

    #[track_caller]
    pub fn read(self) -> deadheat_task::ReadBlock<'g, f64> {
        let columns = self.column..self.column + self.size;
        self.grid.read(self.row..self.row + self.size, columns)
    }

    #[track_caller]
    pub fn write(self) -> deadheat_task::WriteBlock<'g, f64> {
        let columns = self.column..self.column + self.size;
        self.grid.write(self.row..self.row + self.size, columns)
    }
}

/// c += a b, all at once.
pub fn multiply_add(a: Square, b: Square, c: Square) {
    let (a, b, mut c) = (a.read(), b.read(), c.write()); // seeded race, of who does not wait
    for i in 0..c.rows() {
        let (row, sum) = (a.row(i), c.row_mut(i));
        for (k, factor) in row.iter().enumerate() {
            for (sum, b) in sum.iter_mut().zip(b.row(k)) {
                *sum += factor * b;
            }
        }
    }
}

/// to += sum of the others, each with its sign.
pub fn add_all(to: Square, others: &[(Square, f64)]) {
    let mut to = to.write();
    for (other, sign) in others {
        let other = other.read();
        for i in 0..to.rows() {
            for (to, from) in to.row_mut(i).iter_mut().zip(other.row(i)) {
                *to += sign * from;
            }
        }
    }
}

pub fn zeros(size: usize) -> SharedGrid<f64> {
    SharedGrid::new(size, size, vec![0.0; size * size])
}

/// Strassen's seven products: for each, the quarters of a and of b that it is made of.
pub type Part = (usize, usize, f64);
pub const PRODUCTS: [(&[Part], &[Part]); 7] = [
    (&[(0, 0, 1.0), (1, 1, 1.0)], &[(0, 0, 1.0), (1, 1, 1.0)]),
    (&[(1, 0, 1.0), (1, 1, 1.0)], &[(0, 0, 1.0)]),
    (&[(0, 0, 1.0)], &[(0, 1, 1.0), (1, 1, -1.0)]),
    (&[(1, 1, 1.0)], &[(1, 0, 1.0), (0, 0, -1.0)]),
    (&[(0, 0, 1.0), (0, 1, 1.0)], &[(1, 1, 1.0)]),
    (&[(1, 0, 1.0), (0, 0, -1.0)], &[(0, 0, 1.0), (0, 1, 1.0)]),
    (&[(0, 1, 1.0), (1, 1, -1.0)], &[(1, 0, 1.0), (1, 1, 1.0)]),
];
/// And for each quarter of c, the products that it is the sum of.
pub type Sum = &'static [(usize, f64)];
pub const SUMS: [(usize, usize, Sum); 4] = [
    (0, 0, &[(0, 1.0), (3, 1.0), (4, -1.0), (6, 1.0)]),
    (0, 1, &[(2, 1.0), (4, 1.0)]),
    (1, 0, &[(1, 1.0), (3, 1.0)]),
    (1, 1, &[(0, 1.0), (1, -1.0), (2, 1.0), (5, 1.0)]),
];

/// A sum of quarters, as a matrix of its own.
pub fn sum_of(whole: Square, parts: &[Part]) -> SharedGrid<f64> {
    let sum = zeros(whole.size / 2);
    let quarters = parts
        .iter()
        .map(|&(down, right, sign)| (whole.quarter(down, right), sign));
    let quarters: Vec<_> = quarters.collect();
    add_all(Square::all(&sum), &quarters);
    sum
}

fn strassen_add(a: Square, b: Square, c: Square, leaf: usize, racy: bool) {
    if a.size <= leaf {
        return multiply_add(a, b, c);
    }
    let products: Vec<SharedGrid<f64>> = PRODUCTS.map(|_| zeros(a.size / 2)).into();
    finish(|s| {
        for (product, (of_a, of_b)) in products.iter().zip(PRODUCTS) {
            s.spawn(move || {
                let (left, right) = (sum_of(a, of_a), sum_of(b, of_b));
                let (left, right) = (Square::all(&left), Square::all(&right));
                strassen_add(left, right, Square::all(product), leaf, false);
            });
        }
    });
    finish(|s| {
        for (down, right, sum) in SUMS {
            let products = &products;
            s.spawn(move || {
                let parts = sum
                    .iter()
                    .map(|&(number, sign)| (Square::all(&products[number]), sign));
                let parts: Vec<_> = parts.collect();
                add_all(c.quarter(down, right), &parts);
                if racy && right == 1 {
                    c.quarter(down, 0).write().row_mut(0)[0] += 0.0; // seeded race
                }
            });
        }
    });
}

/// How a kernel adds the product of two matrices to a third, down to leaves of this size, racy or not.
pub type Product = fn(Square, Square, Square, usize, bool);

/// Multiplies two random matrices.
pub fn product(job: &Job, (n, leaf): (usize, usize), seed: u64, add: Product) -> Done {
    let (left, right) = (random(n * n, seed), random(n * n, seed + 1));
    let a = SharedGrid::named("a", n, n, left.clone());
    let b = SharedGrid::named("b", n, n, right.clone());
    let c = SharedGrid::named("c", n, n, vec![0.0; n * n]);
    let work = || {
        add(
            Square::all(&a),
            Square::all(&b),
            Square::all(&c),
            leaf,
            job.racy,
        );
    };
    let done = timed(work, |()| true);
    let right = is_product(&left, &right, &c.into_vec(), n);
    Done { right, ..done }
}

/// Strassen's product of two matrices; a task for each of seven products, and for each quarter of the result.
pub fn strassen(job: &Job) -> Done {
    let sizes = job.pick((16, 4), (512, 64), (2_048, 64));
    product(job, sizes, 7, strassen_add)
}
