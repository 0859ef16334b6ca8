//! Measures, and prints tables (`make bench`).
//!
//! Arguments choose tables: `explore`, `table3`, `traces`, `engines` (all of the engines'), or one of
//! these by its name.

mod engines;
mod explore;
mod kernels;
mod programs;
mod recording;
mod table3;
mod traces;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    if wanted("explore") {
        explore::print();
    }
    if wanted("table3") {
        table3::print();
    }
    if wanted("traces") {
        traces::print();
    }
    for (name, print) in engines::TABLES {
        if wanted("engines") || wanted(name) {
            print();
        }
    }
}
