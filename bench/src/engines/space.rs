//! What is kept of a task and of a location.

use deadheat_model::Execution;
use deadheat_offline::{ComputationGraph, esp_bags};
use deadheat_online::drdp::{Checker, History};
use deadheat_online::spd3::{Cell, Worker};

use super::{Program, drdp, spd3};
use crate::kernels::{joins, matrices, tasks};
use crate::recording::{self, Recording};

/// A node of the tree.
const NODE: usize = 16;

/// Prints the tables.
pub fn print() {
    println!("\nBytes of tree for each task");
    println!(
        "{:<34} {:>9} {:>9} {:>9} {:>9}",
        "", "tasks", "nodes", "in use", "reserved"
    );
    let wide = Recording::tasks_only(|r| tasks::flat(r, 2_000_000, 0, 0));
    tree("one loop", &wide);
    drop(wide);
    let deep = Recording::tasks_only(|r| tasks::divide(r, 20));
    tree("divide and conquer, a finish each", &deep);
    drop(deep);

    let execution = Recording::of(|r| tasks::flat(r, 500_000, 2, 2));
    let graph = ComputationGraph::new(&execution, usize::MAX, |_| true);
    {
        println!(
            "\nA computation graph of {} nodes and {} accesses takes {} bytes a node",
            graph.len(),
            recording::accesses(&execution),
            graph.bytes() / graph.len()
        );
    }
    drop(execution);

    println!("\nBytes for each location");
    println!("{:<34} {:>9}", "esp-bags", esp_bags::BYTES_PER_LOCATION);
    println!("{:<34} {:>9}", "spd3", size_of::<Cell>());
    let history = size_of::<History>();
    println!(
        "{:<34} {history:>9} and 8 for each read kept above 2",
        "drdp"
    );

    println!("\nMost reads that drdp kept of one location");
    let programs: [(&str, Program); 6] = [
        ("one loop, 1,000 tasks", &|r| tasks::flat(r, 1000, 8, 64)),
        ("divide and conquer, 1,000 tasks", &|r| tasks::divide(r, 9)),
        ("pipeline", &|r| joins::pipeline(r, 11, 100)),
        ("strassen 64 8", &|r| matrices::strassen(r, 64, 8)),
        ("sparselu 16 4", &|r| matrices::sparselu(r, 16, 4)),
        ("poisson 16 × 16 blocks of 8, 10", &|r| {
            matrices::poisson(r, 16, 8, 10)
        }),
    ];
    for (name, program) in programs {
        let account = drdp(&Recording::of(program), Checker::default());
        println!("{name:<34} {:>9}", account.most_readers);
    }
}

fn tree(name: &str, execution: &Execution) {
    let (_, structure) = spd3(execution, Worker::default());
    let (tasks, nodes) = (recording::tasks(execution), structure.tree.len());
    println!(
        "{name:<34} {tasks:>9} {nodes:>9} {:>9.1} {:>9.1}",
        (NODE * nodes) as f64 / tasks as f64,
        structure.tree.bytes() as f64 / tasks as f64,
    );
}
