//! The program of the guide (docs/tasks.md): wrong, and then right.

use deadheat_task::{Check, Options, Outcome, SharedGrid, par_for};

/// Each row becomes the mean of its neighbours, all rows at once: row i reads what the tasks of i - 1 and i + 1 write.
fn wrong(grid: &SharedGrid<f64>) {
    par_for(1..grid.rows() - 1, |i| {
        let (above, below) = (grid.read_row(i - 1), grid.read_row(i + 1));
        for (x, (a, b)) in grid
            .write_row(i)
            .iter_mut()
            .zip(above.iter().zip(below.iter()))
        {
            *x = (a + b) / 2.0;
        }
    });
}

/// The odd rows first, and then the even ones.
fn right(grid: &SharedGrid<f64>) {
    for first in [1, 2] {
        par_for(0..(grid.rows() - first) / 2, |turn| {
            let i = first + 2 * turn;
            let (above, below) = (grid.read_row(i - 1), grid.read_row(i + 1));
            for (x, (a, b)) in grid
                .write_row(i)
                .iter_mut()
                .zip(above.iter().zip(below.iter()))
            {
                *x = (a + b) / 2.0;
            }
        });
    }
}

fn check(program: fn(&SharedGrid<f64>)) -> Outcome<()> {
    Options::new().workers(1).check(Check::Spd3).run(|| {
        let grid = SharedGrid::named("grid", 1000, 100, vec![1.0; 100_000]);
        program(&grid);
    })
}

fn main() {
    for program in [wrong, right] {
        let outcome = check(program);
        print!("{}", outcome.report);
    }
}
