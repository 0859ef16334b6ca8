//! Zipper and the direct analysis of the computation graph: Table 3 of zipper, and how both go on
//! from there.
//!
//! What is timed is the analysis of one recorded execution. The paper's times are for all orders of
//! sections, and with the model checker that goes through them.

use std::hint::black_box;

use deadheat_lang::Schedule;
use deadheat_model::Execution;
use deadheat_offline::{ComputationGraph, graph, zipper};
use deadheat_testing::direct_graph;

use crate::engines::best;
use crate::programs::{ROWS, Row};
use crate::recording::accesses;

/// Those above are scaled up.
const SMALL: usize = 37;

/// Programs grow no larger.
const MOST_NODES: usize = 210_000;
const MOST_ACCESSES: usize = 5_000_000;

/// Prints the tables.
pub fn print() {
    compare();
    grow();
}

fn compare() {
    println!("\nTable 3 of zipper: µs for the analysis of one execution");
    println!(
        "{:<26} {:>9} {:>6} {:>12} {:>6} {:>9} {:>10} {:>10} {:>10} {:>7}",
        "",
        "sections",
        "races",
        "nodes: paper",
        "here",
        "accesses",
        "CG",
        "Zipper",
        "Zipper/CG",
        "paper"
    );
    for row in &ROWS {
        let execution = execution(row, 1);
        let (cg, zipper) = (cg(&execution), zipper(&execution));
        println!(
            "{:<26} {:>9} {:>6} {:>12} {:>6} {:>9} {:>10.2} {:>10.2} {:>10.4} {:>7.4}",
            row.name,
            if row.isolated { "yes" } else { "" },
            if row.races { "yes" } else { "" },
            row.nodes,
            nodes(&execution),
            accesses(&execution),
            cg / 1e3,
            zipper / 1e3,
            zipper / cg,
            row.ratio,
        );
    }
}

/// A row for each factor of ten.
fn grow() {
    println!(
        "\nThe same programs with more tasks: ns for each node (no CG above {} nodes: the closure \
         gets too large)",
        graph::MAX_NODES
    );
    println!(
        "{:<26} {:>9} {:>9} {:>14} {:>9} {:>14} {:>9} {:>10}",
        "", "nodes", "accesses", "Zipper", "", "CG", "", "Zipper/CG"
    );
    for row in ROWS.iter().filter(|row| row.nodes > SMALL) {
        let (mut before, mut scale) = (None, 1);
        loop {
            let execution = execution(row, scale);
            let (nodes, accesses) = (nodes(&execution), accesses(&execution));
            let each = |time: f64| time / nodes as f64;
            let zipper = each(zipper(&execution));
            let cg = (nodes <= graph::MAX_NODES).then(|| each(cg(&execution)));
            let times = [Some(zipper), cg];
            print!("{:<26} {nodes:>9} {accesses:>9}", row.name);
            for (now, before) in times.into_iter().zip(before.unwrap_or_default()) {
                let time = now.map_or("–".to_string(), |now| format!("{now:.1}"));
                let growth = now.zip(before).map(|(now, before)| now / before);
                let growth = growth.map_or(String::new(), |growth| format!("(×{growth:.2})"));
                print!(" {time:>14} {growth:>9}");
            }
            let ratio = cg.map_or("–".to_string(), |cg| format!("{:.6}", zipper / cg));
            println!(" {ratio:>10}");
            before = Some(times);
            scale *= 10;
            if row.nodes * scale > MOST_NODES || accesses * 10 > MOST_ACCESSES {
                break;
            }
        }
    }
}

/// What one worker does.
fn execution(row: &Row, scale: usize) -> Execution {
    let run = row
        .program(row.size * scale)
        .run(&Schedule::DepthFirst, u64::MAX);
    run.expect("no schedule to follow").execution
}

fn nodes(execution: &Execution) -> usize {
    let graph = ComputationGraph::new(execution, usize::MAX, |_| true);
    graph.len()
}

/// How many ns CG takes.
fn cg(execution: &Execution) -> f64 {
    best(|| {
        drop(black_box(direct_graph::racy_locations(black_box(
            execution,
        ))))
    })
}

/// How many ns Zipper takes.
fn zipper(execution: &Execution) -> f64 {
    best(|| drop(black_box(zipper::racy_locations(black_box(execution)))))
}
