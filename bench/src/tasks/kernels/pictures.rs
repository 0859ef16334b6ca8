//! Kernels that make a picture, a task a row: raytracer, mandelbrot.

use deadheat_task::{Shared, SharedGrid, par_for};

use super::{Done, Job, timed};

/// Whether a point belongs to the Mandelbrot set, as far as 50 steps tell.
fn escapes(x: f64, y: f64) -> bool {
    let (mut a, mut b) = (0.0, 0.0);
    (0..50).any(|_| {
        (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
        a * a + b * b > 4.0
    })
}

/// The Mandelbrot set as a bitmap.
pub fn mandelbrot(job: &Job) -> Done {
    let n = job.pick(40, 1_500, 8_000);
    let picture = SharedGrid::named("picture", n, n / 8, vec![0u8; n * (n / 8)]);
    let inside = Shared::named("inside", 0u32);
    let byte = |row: usize, byte: usize| {
        let mut bits = 0u8;
        for bit in 0..8 {
            let x = 2.0 * (byte * 8 + bit) as f64 / n as f64 - 1.5;
            let y = 2.0 * row as f64 / n as f64 - 1.0;
            bits = bits << 1 | u8::from(!escapes(x, y));
        }
        bits
    };
    let work = || {
        par_for(0..n, |row| {
            let mut count = 0;
            for (column, bits) in picture.write_row(row).iter_mut().enumerate() {
                *bits = byte(row, column);
                count += bits.count_ones();
            }
            if job.racy {
                inside.set(inside.get() + count); // seeded race
            }
        });
    };
    timed(work, |()| {
        (0..n).step_by(n / 8).all(|row| {
            let found = picture.read_row(row);
            (0..n / 8).all(|column| found[column] == byte(row, column))
        })
    })
}

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn plus(a: Vector, b: Vector, times: f64) -> Vector {
    [0, 1, 2].map(|i| a[i] + times * b[i])
}

fn unit(a: Vector) -> Vector {
    a.map(|x| x / dot(a, a).sqrt())
}

#[derive(Clone, Copy)]
struct Sphere {
    centre: Vector,
    radius: f64,
}

/// The nearest sphere that a ray meets, and how far away.
fn nearest(spheres: &[Sphere], from: Vector, to: Vector) -> Option<(Sphere, f64)> {
    let hits = spheres.iter().filter_map(|sphere| {
        let way = plus(from, sphere.centre, -1.0);
        let b = dot(way, to);
        let d = b * b - dot(way, way) + sphere.radius * sphere.radius;
        let distance = -b - d.max(0.0).sqrt();
        (d > 0.0 && distance > 1e-6).then_some((*sphere, distance))
    });
    hits.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// How bright what a ray meets is: lit from one side, with mirrors up to a depth.
fn light(spheres: &[Sphere], from: Vector, to: Vector, depth: u32) -> f64 {
    let Some((sphere, distance)) = nearest(spheres, from, to) else {
        return 0.1;
    };
    let point = plus(from, to, distance);
    let normal = unit(plus(point, sphere.centre, -1.0));
    let lamp = unit([1.0, 1.0, -1.0]);
    let shadow = nearest(spheres, point, lamp).is_some();
    let lit = if shadow {
        0.0
    } else {
        dot(normal, lamp).max(0.0)
    };
    let mirrored = plus(to, normal, -2.0 * dot(to, normal));
    match depth {
        0 => lit,
        _ => 0.7 * lit + 0.3 * light(spheres, point, mirrored, depth - 1),
    }
}

/// 64 mirroring spheres, seen from in front.
pub fn raytracer(job: &Job) -> Done {
    let n = job.pick(16, 400, 500);
    let spheres: Vec<Sphere> = (0..64)
        .map(|i| Sphere {
            centre: [f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16)]
                .map(|x| 2.0 * x - 3.0),
            radius: 0.8,
        })
        .collect();
    let scene = deadheat_task::SharedSlice::named("scene", spheres.clone());
    let picture = SharedGrid::named("picture", n, n, vec![0.0; n * n]);
    let checksum = Shared::named("checksum", 0.0);
    let pixel = |spheres: &[Sphere], row: usize, column: usize| {
        let at = |i: usize| 2.0 * i as f64 / n as f64 - 1.0;
        light(
            spheres,
            [0.0, 0.0, -10.0],
            unit([at(column), at(row), 2.0]),
            4,
        )
    };
    let work = || {
        par_for(0..n, |row| {
            let spheres = scene.read(..);
            let mut sum = 0.0;
            for (column, bright) in picture.write_row(row).iter_mut().enumerate() {
                *bright = pixel(&spheres, row, column);
                sum += *bright;
            }
            if job.racy {
                checksum.set(checksum.get() + sum); // seeded race
            }
        });
    };
    timed(work, |()| {
        (0..n).step_by(n / 8).all(|row| {
            let found = picture.read_row(row);
            (0..n).all(|column| found[column] == pixel(&spheres, row, column))
        })
    })
}
