//! The programs on matrices that drdp-ecoop23 measures in its Tables 3 and 4, written anew from what
//! it says of them. All touch single elements.

use std::collections::BTreeMap;

use deadheat_model::Promise;

use crate::recording::Recording;

/// A square part of a matrix, or all of one.
#[derive(Clone, Copy)]
struct Square {
    first: u64,
    size: usize,
    /// From an element to the one below it.
    stride: usize,
}

impl Square {
    fn new(r: &mut Recording, size: usize) -> Square {
        Square {
            first: r.room(size * size).start,
            size,
            stride: size,
        }
    }

    fn at(self, row: usize, column: usize) -> u64 {
        self.first + (row * self.stride + column) as u64
    }

    /// The part of a given size, `row` and `column` such parts from the corner.
    fn part(self, size: usize, row: usize, column: usize) -> Square {
        Square {
            first: self.at(row * size, column * size),
            size,
            stride: self.stride,
        }
    }

    fn quarter(self, row: usize, column: usize) -> Square {
        self.part(self.size / 2, row, column)
    }

    fn places(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.size).flat_map(move |row| (0..self.size).map(move |column| (row, column)))
    }

    fn write(self, r: &mut Recording) {
        self.places().for_each(|(i, j)| r.write(self.at(i, j)));
    }

    /// Makes it the sum (or the difference) of others.
    fn sum(self, r: &mut Recording, terms: &[Square]) {
        for (i, j) in self.places() {
            terms.iter().for_each(|term| r.read(term.at(i, j)));
            r.write(self.at(i, j));
        }
    }

    /// Makes it the product of two others.
    fn product(self, r: &mut Recording, a: Square, b: Square) {
        for (i, j) in self.places() {
            for k in 0..self.size {
                r.read(a.at(i, k));
                r.read(b.at(k, j));
            }
            r.write(self.at(i, j));
        }
    }

    /// Adds the product of two others (or takes it away).
    fn add_product(self, r: &mut Recording, a: Square, b: Square) {
        for (i, j) in self.places() {
            for k in 0..self.size {
                r.read(a.at(i, k));
                r.read(b.at(k, j));
                r.read(self.at(i, j));
                r.write(self.at(i, j));
            }
        }
    }
}

/// Blocked multiplication: a task for each block of the result, which adds up products of blocks.
/// The blocks lie one after the other in memory, or in rows of the whole matrix.
pub fn matmul(r: &mut Recording, size: usize, block: usize, in_rows: bool) {
    let [a, b, c] = [(); 3].map(|()| Square::new(r, size));
    let blocks = size / block;
    let part = |of: Square, row: usize, column: usize| match in_rows {
        true => of.part(block, row, column),
        false => Square {
            first: of.first + ((row * blocks + column) * block * block) as u64,
            size: block,
            stride: block,
        },
    };
    a.write(r);
    b.write(r);
    r.begin_finish();
    for row in 0..blocks {
        for column in 0..blocks {
            r.spawn();
            for k in 0..blocks {
                let (a, b) = (part(a, row, k), part(b, k, column));
                part(c, row, column).add_product(r, a, b);
            }
            r.end();
        }
    }
    r.end_finish();
}

/// Strassen's multiplication: seven products of half the size, each a task with a promise, which the
/// additions wait for. Parts not larger than `cutoff` are multiplied as usual.
pub fn strassen(r: &mut Recording, size: usize, cutoff: usize) {
    let [a, b, c] = [(); 3].map(|()| Square::new(r, size));
    a.write(r);
    b.write(r);
    r.begin_finish();
    strassen_product(r, a, b, c, cutoff);
    r.end_finish();
}

fn strassen_product(r: &mut Recording, a: Square, b: Square, c: Square, cutoff: usize) {
    if a.size <= cutoff {
        return c.product(r, a, b);
    }
    let [a11, a12, a21, a22] = quarters(a);
    let [b11, b12, b21, b22] = quarters(b);
    let factors: [(&[Square], &[Square]); 7] = [
        (&[a11, a22], &[b11, b22]),
        (&[a21, a22], &[b11]),
        (&[a11], &[b12, b22]),
        (&[a22], &[b21, b11]),
        (&[a11, a12], &[b22]),
        (&[a21, a11], &[b11, b12]),
        (&[a12, a22], &[b21, b22]),
    ];
    let products = factors.map(|(left, right)| {
        let product = Square::new(r, a.size / 2);
        let done = r.promise();
        r.spawn();
        let left = sum_of(r, left);
        let right = sum_of(r, right);
        strassen_product(r, left, right, product, cutoff);
        r.set(done);
        r.end();
        (product, done)
    });
    let results: [&[usize]; 4] = [&[1, 4, 5, 7], &[3, 5], &[2, 4], &[1, 2, 3, 6]];
    let mut waited_for = [false; 7];
    for (result, terms) in quarters(c).into_iter().zip(results) {
        let terms = terms.iter().map(|term| {
            let (product, done) = products[term - 1];
            if !std::mem::replace(&mut waited_for[term - 1], true) {
                r.get(done);
            }
            product
        });
        let terms: Vec<Square> = terms.collect();
        result.sum(r, &terms);
    }
}

fn quarters(of: Square) -> [Square; 4] {
    [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| of.quarter(row, column))
}

/// A single term is used as it is.
fn sum_of(r: &mut Recording, terms: &[Square]) -> Square {
    if let &[term] = terms {
        return term;
    }
    let sum = Square::new(r, terms[0].size);
    sum.sum(r, terms);
    sum
}

/// LU decomposition of a sparse matrix of blocks. Each change of a block is a task, which waits for
/// the last change of each block it needs.
pub fn sparselu(r: &mut Recording, blocks: usize, size: usize) {
    /// A block, and the promise of the last task that changed it.
    type Blocks = BTreeMap<(usize, usize), (Square, Option<Promise>)>;

    /// A task that changes `changed` waits for it and the others.
    fn task(
        r: &mut Recording,
        at: &mut Blocks,
        changed: (usize, usize),
        others: &[(usize, usize)],
        body: impl Fn(&mut Recording, Square),
    ) {
        let done = r.promise();
        r.spawn();
        for needed in others.iter().chain([&changed]) {
            if let Some(promise) = at[needed].1 {
                r.get(promise);
            }
        }
        body(r, at[&changed].0);
        r.set(done);
        r.end();
        at.entry(changed).and_modify(|block| block.1 = Some(done));
    }

    let mut at = Blocks::new();
    for row in 0..blocks {
        for column in 0..blocks {
            if row.abs_diff(column) <= 1 || (row + 2 * column).is_multiple_of(5) {
                let block = Square::new(r, size);
                block.write(r);
                at.insert((row, column), (block, None));
            }
        }
    }
    r.begin_finish();
    for k in 0..blocks {
        task(r, &mut at, (k, k), &[], lu0);
        let diagonal = at[&(k, k)].0;
        for n in k + 1..blocks {
            if at.contains_key(&(k, n)) {
                task(r, &mut at, (k, n), &[(k, k)], |r, block| {
                    forward(r, diagonal, block);
                });
            }
        }
        for n in k + 1..blocks {
            if at.contains_key(&(n, k)) {
                task(r, &mut at, (n, k), &[(k, k)], |r, block| {
                    divide(r, diagonal, block);
                });
            }
        }
        for row in k + 1..blocks {
            for column in k + 1..blocks {
                let (left, above) = ((row, k), (k, column));
                let (Some(&(l, _)), Some(&(u, _))) = (at.get(&left), at.get(&above)) else {
                    continue;
                };
                at.entry((row, column))
                    .or_insert_with(|| (Square::new(r, size), None));
                task(r, &mut at, (row, column), &[left, above], |r, block| {
                    block.add_product(r, l, u);
                });
            }
        }
    }
    r.end_finish();
}

/// Decomposes a block on the diagonal.
fn lu0(r: &mut Recording, block: Square) {
    for k in 0..block.size {
        for i in k + 1..block.size {
            r.read(block.at(k, k));
            r.read(block.at(i, k));
            r.write(block.at(i, k));
            for j in k + 1..block.size {
                eliminate(r, block.at(i, k), block.at(k, j), block.at(i, j));
            }
        }
    }
}

/// A block to the right of the diagonal.
fn forward(r: &mut Recording, diagonal: Square, block: Square) {
    for k in 0..block.size {
        for i in k + 1..block.size {
            for j in 0..block.size {
                eliminate(r, diagonal.at(i, k), block.at(k, j), block.at(i, j));
            }
        }
    }
}

/// A block below the diagonal.
fn divide(r: &mut Recording, diagonal: Square, block: Square) {
    for i in 0..block.size {
        for k in 0..block.size {
            r.read(diagonal.at(k, k));
            r.read(block.at(i, k));
            r.write(block.at(i, k));
            for j in k + 1..block.size {
                eliminate(r, block.at(i, k), diagonal.at(k, j), block.at(i, j));
            }
        }
    }
}

/// Takes the product of two elements away from a third.
fn eliminate(r: &mut Recording, a: u64, b: u64, c: u64) {
    r.read(a);
    r.read(b);
    r.read(c);
    r.write(c);
}

/// Jacobi's iteration on a square grid of blocks. A task for each block and iteration waits for the
/// tasks of the iteration before of the same block and its four neighbours.
pub fn poisson(r: &mut Recording, blocks: usize, size: usize, iterations: usize) {
    let grids = [(); 2].map(|()| Square::new(r, blocks * size));
    grids[0].write(r);
    let mut before: Option<Vec<Promise>> = None;
    r.begin_finish();
    for iteration in 0..iterations {
        let (old, new) = (grids[iteration % 2], grids[(iteration + 1) % 2]);
        let mut done = Vec::new();
        for (row, column) in old.part(blocks, 0, 0).places() {
            let promise = r.promise();
            r.spawn();
            if let Some(before) = &before {
                for (row, column) in around(row, column, blocks) {
                    r.get(before[row * blocks + column]);
                }
            }
            for (i, j) in new.part(size, row, column).places() {
                let (i, j) = (row * size + i, column * size + j);
                for (i, j) in around(i, j, old.size) {
                    r.read(old.at(i, j));
                }
                r.write(new.at(i, j));
            }
            r.set(promise);
            r.end();
            done.push(promise);
        }
        before = Some(done);
    }
    r.end_finish();
}

/// A place and those of its four neighbours that there are.
fn around(row: usize, column: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let neighbours = [
        Some((row, column)),
        row.checked_sub(1).map(|row| (row, column)),
        column.checked_sub(1).map(|column| (row, column)),
        (row + 1 < size).then_some((row + 1, column)),
        (column + 1 < size).then_some((row, column + 1)),
    ];
    neighbours.into_iter().flatten()
}
