//! The direct analysis of a computation graph (zipper, section 2.2, and the work it improves on).
//!
//! Computes the transitive closure, and compares what any two nodes touch that nothing orders. It is
//! what the paper measures Zipper against, and no more: [`graph`](mod@graph) says the same, and
//! where.
//!
//! Cost: nodes² for the closure, and nodes² comparisons of sets.

use std::collections::BTreeSet;

use deadheat_model::{AccessKind, Execution, Location};
use deadheat_offline::{ComputationGraph, graph};

/// The locations that race.
pub fn racy_locations(execution: &Execution) -> BTreeSet<Location> {
    let graph = ComputationGraph::new(execution, graph::MAX_NODES, |_| true);
    let before = graph::closure(&graph);
    let mut touched: Vec<Vec<(Location, AccessKind)>> = vec![Vec::new(); graph.len()];
    for access in &graph.accesses {
        touched[access.node].push((access.location, access.kind));
    }
    for touched in &mut touched {
        touched.sort_unstable();
        // Once each, as written if it is written at all.
        touched.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
    }
    let mut racy = BTreeSet::new();
    for (node, before) in before.iter().enumerate() {
        for other in (0..node).filter(|&other| !before.contains(other)) {
            add_conflicts(&touched[node], &touched[other], &mut racy);
        }
    }
    racy
}

/// Adds the locations that two nodes touch and at least one of them writes.
fn add_conflicts(
    a: &[(Location, AccessKind)],
    b: &[(Location, AccessKind)],
    racy: &mut BTreeSet<Location>,
) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&&(x, x_kind)), Some(&&(y, y_kind))) = (a.peek(), b.peek()) {
        if x == y && (x_kind == AccessKind::Write || y_kind == AccessKind::Write) {
            racy.insert(x);
        }
        match x <= y {
            true => drop(a.next()),
            false => drop(b.next()),
        }
    }
}
