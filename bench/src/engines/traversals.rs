//! In which order to search through joins: Table 3 of drdp-ecoop23, and how far it pays to leave
//! joins aside that are older than what is searched for.

use deadheat_online::drdp::Checker;
use deadheat_order::Traversal;

use super::{Program, best, drdp};
use crate::kernels::matrices::{poisson, sparselu, strassen};
use crate::recording::Recording;

/// Prints the table.
pub fn print() {
    println!("\nJoins visited in a search, by the order of the search");
    println!(
        "{:<12} {:<34} {:>10} {:>9} {:>9} {:>9}",
        "", "", "searches", "most", "average", "seconds"
    );
    let programs: [(&str, Program); 3] = [
        ("strassen", &|r| strassen(r, 128, 8)),
        ("sparselu", &|r| sparselu(r, 16, 8)),
        ("poisson", &|r| poisson(r, 16, 32, 3)),
    ];
    for (name, program) in programs {
        let execution = Recording::of(program);
        for (breadth_first, newest_first, since) in [
            (false, true, false),
            (false, false, false),
            (true, true, false),
            (true, false, false),
            (true, true, true),
        ] {
            let order = format!(
                "{}, {}{}",
                if breadth_first { "bfs" } else { "dfs" },
                if newest_first {
                    "back to front"
                } else {
                    "front to back"
                },
                if since { ", since" } else { "" },
            );
            let traversal = Traversal {
                breadth_first,
                newest_first,
                since,
            };
            let mut search = None;
            let time = best(|| {
                search = Some(drdp(&execution, Checker::searching(traversal)).search);
            });
            let Some(search) = search else { continue };
            println!(
                "{name:<12} {order:<34} {:>10} {:>9} {:>9.2} {:>9.3}",
                search.searches,
                search.most_visited,
                search.visited as f64 / f64::from(search.searches),
                time / 1e9,
            );
        }
    }
}
