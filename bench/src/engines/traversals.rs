//! In which order to search through joins: Table 3 of drdp-ecoop23, and what is gained by leaving
//! older joins aside and remembering what a task knows.

use deadheat_online::drdp::Checker;
use deadheat_order::{Search, Traversal};

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
        let as_printed = [(false, true), (false, false), (true, true), (true, false)];
        let as_printed = as_printed.map(|(breadth_first, newest_first)| {
            let order = format!(
                "{}, {}",
                if breadth_first { "bfs" } else { "dfs" },
                if newest_first {
                    "back to front"
                } else {
                    "front to back"
                },
            );
            let traversal = Traversal {
                breadth_first,
                newest_first,
            };
            (order, Search::as_printed(traversal))
        });
        let ours = ("ours".to_string(), Search::default());
        for (order, searching) in as_printed.into_iter().chain([ours]) {
            let mut search = None;
            let time = best(|| {
                search = Some(drdp(&execution, Checker::searching(searching.clone())).search);
            });
            let Some(search) = search else { continue };
            println!(
                "{name:<12} {order:<34} {:>10} {:>9} {:>9.2} {:>9.3}",
                search.searches,
                search.most_visited,
                search.visited as f64 / search.searches as f64,
                time / 1e9,
            );
        }
    }
}
