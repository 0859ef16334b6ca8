//! A wavefront: each cell needs the one above and the one to the left, and a future for each block waits for just these.

use std::sync::Arc;

use deadheat_task::{Check, Future, Options, SharedGrid, finish};

const BLOCKS: usize = 4;
const SIDE: usize = 8;

/// Paths from the corner to each cell. Without `waits_left`, the wait for the block to the left was forgotten.
fn wavefront(waits_left: bool) -> u64 {
    let n = BLOCKS * SIDE + 1;
    let mut start = vec![0u64; n * n];
    start[..n].fill(1);
    start.iter_mut().step_by(n).for_each(|x| *x = 1);
    let paths = SharedGrid::named("paths", n, n, start);
    let paths = &paths;
    finish(|s| {
        let mut blocks: Vec<Arc<Future<()>>> = Vec::new();
        for number in 0..BLOCKS * BLOCKS {
            let (i, j) = (number / BLOCKS, number % BLOCKS);
            let above = (i > 0).then(|| blocks[number - BLOCKS].clone());
            let left = (j > 0 && waits_left).then(|| blocks[number - 1].clone());
            let block = s.future(move || {
                for before in [&above, &left].into_iter().flatten() {
                    before.get();
                }
                for row in i * SIDE + 1..=(i + 1) * SIDE {
                    for column in j * SIDE + 1..=(j + 1) * SIDE {
                        let (up, left) = (paths.get(row - 1, column), paths.get(row, column - 1));
                        paths.set(row, column, (up + left) % 1_000_007);
                    }
                }
            });
            blocks.push(Arc::new(block));
        }
    });
    paths.get(n - 1, n - 1)
}

fn main() {
    for waits_left in [false, true] {
        let options = Options::new().workers(1).check(Check::Drdp);
        let outcome = options.run(|| wavefront(waits_left));
        print!("{}", outcome.report);
    }
}
