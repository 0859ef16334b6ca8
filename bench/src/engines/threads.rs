//! What an access costs SPD3 while threads become more.
//!
//! Tasks of one loop, shared out among threads that check at the same time. A machine has only so
//! many cores: what is given is the time of a core for each access.

use deadheat_testing::parallel_replay;

use super::{Program, best};
use crate::kernels::tasks::sweep_shared;
use crate::recording::{Recording, accesses};

/// Prints the table.
pub fn print() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("\nspd3 on several threads, {cores} cores: ns of a core for each access");
    println!(
        "{:>12} {:>24} {:>24}",
        "threads", "own data", "shared, read"
    );
    let programs: [Program; 2] = [
        &|r| {
            r.begin_finish();
            for _ in 0..64 {
                let room = r.room(1 << 13);
                r.spawn();
                for location in room.clone().chain(room) {
                    r.write(location);
                }
                r.end();
            }
            r.end_finish();
        },
        &|r| sweep_shared(r, 100, 1 << 13),
    ];
    let executions = programs.map(|program| Recording::of(program));
    for threads in [1, 2, 4, 8] {
        print!("{threads:>12}");
        for execution in &executions {
            let time = best(|| {
                let racy = parallel_replay::racy_locations(execution, threads, |_| 0);
                assert!(racy.is_ok_and(|racy| racy.is_empty()));
            });
            let time = time * threads.min(cores) as f64;
            print!(" {:>24.1}", time / accesses(execution) as f64);
        }
        println!();
    }
}
