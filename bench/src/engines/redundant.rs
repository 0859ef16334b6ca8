//! What recognising repeated accesses saves: Table 4 of drdp-ecoop23.

use deadheat_online::drdp::Checker;
use deadheat_online::spd3::Worker;

use super::{Program, best, drdp, spd3};
use crate::kernels::matrices::{matmul, poisson, sparselu, strassen};
use crate::recording::{Recording, accesses};

/// Prints the table.
pub fn print() {
    println!("\nRepeated accesses recognised, and everything checked: ns for each access");
    println!(
        "{:<34} {:>10} {:<6} {:>10} {:>10} {:>7}",
        "", "accesses", "", "recognised", "everything", "ratio"
    );
    let programs: [(&str, bool, Program); 5] = [
        ("matmul 128, blocks of 16", true, &|r| {
            matmul(r, 128, 16, false);
        }),
        ("the same, in rows of the matrix", true, &|r| {
            matmul(r, 128, 16, true);
        }),
        ("strassen 128, cutoff 16", false, &|r| strassen(r, 128, 16)),
        ("sparselu 16 × 16 blocks of 16", false, &|r| {
            sparselu(r, 16, 16);
        }),
        ("poisson 16 × 16 blocks of 32, 3", false, &|r| {
            poisson(r, 16, 32, 3);
        }),
    ];
    for (name, structured, program) in programs {
        let execution = Recording::of(program);
        let count = accesses(&execution);
        let row = |engine: &str, recognised: f64, everything: f64| {
            println!(
                "{name:<34} {count:>10} {engine:<6} {:>10.1} {:>10.1} {:>7.2}",
                recognised / count as f64,
                everything / count as f64,
                everything / recognised,
            );
        };
        if structured {
            row(
                "spd3",
                best(|| drop(spd3(&execution, Worker::default()))),
                best(|| drop(spd3(&execution, Worker::checking_everything()))),
            );
        }
        row(
            "drdp",
            best(|| drop(drdp(&execution, Checker::default()))),
            best(|| drop(drdp(&execution, Checker::checking_everything()))),
        );
    }
}
