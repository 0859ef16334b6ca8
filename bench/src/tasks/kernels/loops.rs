//! Kernels that are one loop over arrays: crypt, sparse.

use deadheat_task::{SharedSlice, par_for};

use super::{Done, Job, chance, close, random, timed};

/// Multiplies modulo 65537, where 0 stands for 65536.
fn times(a: u16, b: u16) -> u16 {
    let wide = |x: u16| if x == 0 { 65_536 } else { u64::from(x) };
    (wide(a) * wide(b) % 65_537) as u16
}

/// The number that gives 1 when multiplied with another.
fn inverse(a: u16) -> u16 {
    // a^(p - 2), p being prime.
    let (mut result, mut power, mut exponent) = (1, a, 65_535u32);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, power);
        }
        power = times(power, power);
        exponent >>= 1;
    }
    result
}

/// IDEA's 52 subkeys of a key: 16 bits each, the key turned by 25 bits after each eight.
fn subkeys(key: u128) -> [u16; 52] {
    let mut keys = [0; 52];
    for (i, subkey) in keys.iter_mut().enumerate() {
        let turned = key.rotate_left(25 * (i as u32 / 8));
        *subkey = (turned >> (112 - 16 * (i % 8))) as u16;
    }
    keys
}

/// The subkeys that undo others.
fn undoing(keys: &[u16; 52]) -> [u16; 52] {
    let mut undo = [0; 52];
    for round in 0..9 {
        let from = 6 * (8 - round);
        let (middle, other) = match round {
            0 | 8 => (1, 2),
            _ => (2, 1),
        };
        undo[6 * round] = inverse(keys[from]);
        undo[6 * round + 1] = keys[from + middle].wrapping_neg();
        undo[6 * round + 2] = keys[from + other].wrapping_neg();
        undo[6 * round + 3] = inverse(keys[from + 3]);
        if round < 8 {
            undo[6 * round + 4] = keys[from - 2];
            undo[6 * round + 5] = keys[from - 1];
        }
    }
    undo
}

/// One block of eight bytes through IDEA's eight rounds and a half.
fn idea(block: [u16; 4], keys: &[u16; 52]) -> [u16; 4] {
    let [mut a, mut b, mut c, mut d] = block;
    for round in keys[..48].chunks_exact(6) {
        a = times(a, round[0]);
        b = b.wrapping_add(round[1]);
        c = c.wrapping_add(round[2]);
        d = times(d, round[3]);
        let e = times(a ^ c, round[4]);
        let f = times((b ^ d).wrapping_add(e), round[5]);
        let e = e.wrapping_add(f);
        (a, b, c, d) = (a ^ f, c ^ f, b ^ e, d ^ e);
    }
    [
        times(a, keys[48]),
        c.wrapping_add(keys[49]),
        b.wrapping_add(keys[50]),
        times(d, keys[51]),
    ]
}

/// IDEA: encrypts and decrypts; a task some blocks.
pub fn crypt(job: &Job) -> Done {
    let blocks = job.pick(200, 400_000, 6_250_000);
    let part = 100;
    let mut seed = 1;
    let plain: Vec<[u16; 4]> = (0..blocks)
        .map(|_| [0; 4].map(|_: u16| (chance(&mut seed) * 65_536.0) as u16))
        .collect();
    let keys = subkeys(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
    let undo = undoing(&keys);
    let text = SharedSlice::named("plain", plain.clone());
    let secret = SharedSlice::named("secret", vec![[0; 4]; blocks]);
    let again = SharedSlice::named("again", vec![[0; 4]; blocks]);
    let pass = |from: &SharedSlice<[u16; 4]>, to: &SharedSlice<[u16; 4]>, keys: &[u16; 52]| {
        par_for(0..blocks.div_ceil(part), |number| {
            let range = number * part..((number + 1) * part).min(blocks);
            let from = from.read(range.clone());
            let mut written = range.clone();
            if job.racy {
                written.end = (written.end + 1).min(blocks);
            }
            let mut to = to.write(written); // seeded race
            for (to, from) in to.iter_mut().zip(from.iter()) {
                *to = idea(*from, keys);
            }
        });
    };
    let work = || {
        pass(&text, &secret, &keys);
        pass(&secret, &again, &undo);
    };
    timed(work, |()| {
        *again.read(..) == plain[..] && *secret.read(..) != plain[..]
    })
}

/// A sparse matrix times a vector, again and again; a task some rows.
pub fn sparse(job: &Job) -> Done {
    let (n, per_row, rounds) = job.pick((60, 3, 3), (50_000, 5, 40), (500_000, 5, 200));
    let part = job.pick(10, 250, 250);
    let mut seed = 2;
    let columns: Vec<usize> = (0..n * per_row)
        .map(|_| (chance(&mut seed) * n as f64) as usize)
        .collect();
    let values = random(n * per_row, 3);
    let start = random(n, 4);
    let matrix = SharedSlice::named("matrix", values.clone());
    let places = SharedSlice::named("columns", columns.clone());
    let x = SharedSlice::named("x", start.clone());
    let y = SharedSlice::named("y", vec![0.0; n]);
    let work = || {
        for _ in 0..rounds {
            par_for(0..n.div_ceil(part), |number| {
                let rows = number * part..((number + 1) * part).min(n);
                let elements = rows.start * per_row..rows.end * per_row;
                let (matrix, places) = (matrix.read(elements.clone()), places.read(elements));
                let x = x.read(..);
                let mut written = rows.clone();
                if job.racy {
                    written.start = written.start.saturating_sub(1);
                }
                let extra = rows.start - written.start;
                let mut y = y.write(written); // seeded race
                for (row, y) in y[extra..].iter_mut().enumerate() {
                    let elements = row * per_row..(row + 1) * per_row;
                    let products = elements.map(|i| matrix[i] * x[places[i]]);
                    *y += products.sum::<f64>();
                }
            });
        }
    };
    timed(work, |()| {
        let y = y.read(..);
        (0..n).step_by(7).all(|row| {
            let elements = row * per_row..(row + 1) * per_row;
            let once: f64 = elements.map(|i| values[i] * start[columns[i]]).sum();
            close(y[row], once * f64::from(rounds))
        })
    })
}
