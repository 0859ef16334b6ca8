//! A pipeline with promises: one task makes blocks, one packs them, one adds them up.

use deadheat_task::{Check, Options, Promise, SharedGrid, finish};

const BLOCKS: usize = 4;

/// The stages, with a promise for each block and stage. If it is set `too_early`, that of `packed` says what is not yet so.
fn pipeline(too_early: bool) -> u64 {
    let blocks = SharedGrid::named("blocks", BLOCKS, 100, vec![1u64; 100 * BLOCKS]);
    let made: Vec<Promise<()>> = (0..BLOCKS).map(|_| Promise::new()).collect();
    let packed: Vec<Promise<()>> = (0..BLOCKS).map(|_| Promise::new()).collect();
    let (blocks, made, packed) = (&blocks, &made, &packed);
    finish(|s| {
        s.spawn(move || {
            for (i, made) in made.iter().enumerate() {
                blocks.write_row(i).fill(i as u64);
                made.set(());
            }
        });
        s.spawn(move || {
            for i in 0..BLOCKS {
                made[i].get();
                if too_early {
                    packed[i].set(());
                }
                blocks.write_row(i).iter_mut().for_each(|x| *x *= 10);
                if !too_early {
                    packed[i].set(());
                }
            }
        });
        let sum = s.future(move || {
            let block = |i: usize| {
                packed[i].get();
                blocks.read_row(i).iter().sum::<u64>()
            };
            (0..BLOCKS).map(block).sum()
        });
        *sum.get()
    })
}

fn main() {
    for too_early in [true, false] {
        let options = Options::new().workers(1).check(Check::Drdp);
        let outcome = options.run(|| pipeline(too_early));
        print!("{}", outcome.report);
    }
}
