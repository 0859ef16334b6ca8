//! Molecular dynamics: every particle attracts and repels every other one.

use deadheat_task::{SharedSlice, par_for};

use super::{Done, Job, close, timed};

type Vector = [f64; 3];

/// The force of a particle at `b` on one at `a`, after Lennard and Jones, in a box that repeats itself.
fn force(a: Vector, b: Vector, side: f64) -> Vector {
    let way = [0, 1, 2].map(|i| {
        let difference: f64 = a[i] - b[i];
        difference - side * (difference / side).round()
    });
    let square: f64 = way.iter().map(|x| x * x).sum();
    if square == 0.0 || square > side * side / 4.0 {
        return [0.0; 3];
    }
    let sixth = 1.0 / (square * square * square);
    way.map(|x| x * sixth * (sixth - 0.5) / square)
}

fn forces(positions: &[Vector], particle: usize, side: f64) -> Vector {
    let mut sum = [0.0; 3];
    for other in positions {
        let force = force(positions[particle], *other, side);
        for axis in 0..3 {
            sum[axis] += force[axis];
        }
    }
    sum
}

const STEP: f64 = 1e-3;

/// How many particles a task moves.
const PART: usize = 64;

/// See the [module](self). A task for the forces on each particle, then one to move some (or, on demand, each).
pub fn moldyn(job: &Job) -> Done {
    let (edge, steps) = job.pick((3, 2), (13, 10), (20, 50));
    let n = edge * edge * edge;
    let part_size = if job.fine { 1 } else { PART };
    let side = edge as f64 * 1.2;
    let start: Vec<Vector> = (0..n)
        .map(|i| [i % edge, i / edge % edge, i / edge / edge].map(|x| x as f64 * 1.2))
        .map(|at| [at[0] + 0.01 * (at[1] - at[2]), at[1], at[2]])
        .collect();
    let positions = SharedSlice::named("positions", start.clone());
    let speeds = SharedSlice::named("speeds", vec![[0.0; 3]; n]);
    let pulls = SharedSlice::named("pulls", vec![[0.0; 3]; n]);
    let work = || {
        for _ in 0..steps {
            par_for(0..n, |particle| {
                let pull = forces(&positions.read(..), particle, side);
                pulls.set(particle, pull);
                if job.racy {
                    // What this one feels, the next one feels the other way round.
                    pulls.set((particle + 1) % n, pull.map(|x| -x)); // seeded race
                }
            });
            par_for(0..n.div_ceil(part_size), |part| {
                let range = part * part_size..((part + 1) * part_size).min(n);
                let (pulls, mut speeds) = (pulls.read(range.clone()), speeds.write(range.clone()));
                let mut positions = positions.write(range);
                for ((pull, speed), position) in pulls.iter().zip(&mut *speeds).zip(&mut *positions)
                {
                    for axis in 0..3 {
                        speed[axis] += STEP * pull[axis];
                        position[axis] += STEP * speed[axis];
                    }
                }
            });
        }
    };
    timed(work, |()| {
        // The same, one after another, for a small number; the sum of all speeds stays zero for any.
        let mut at = start;
        let mut moving = vec![[0.0; 3]; n];
        if n < 100 {
            for _ in 0..steps {
                let pulls: Vec<Vector> = (0..n).map(|i| forces(&at, i, side)).collect();
                for i in 0..n {
                    for axis in 0..3 {
                        moving[i][axis] += STEP * pulls[i][axis];
                        at[i][axis] += STEP * moving[i][axis];
                    }
                }
            }
            return *positions.read(..) == at[..];
        }
        let speeds = speeds.read(..);
        (0..3).all(|axis| close(speeds.iter().map(|speed| speed[axis]).sum(), 0.0))
    })
}
