//! A recorded execution under [SPD3](deadheat_online::spd3).

use std::collections::BTreeSet;

use deadheat_model::{Execution, Location};
use deadheat_online::Shadow;
use deadheat_online::spd3::{Cell, Worker};
use deadheat_order::Structure;

use super::{Racy, all_races, each_access};
use crate::engine::{Engine, EngineError, Findings};

/// Judges an execution.
pub fn check(execution: &Execution) -> Result<Findings, EngineError> {
    let (racy, _) = run(execution, Worker::default())?;
    all_races(execution, Engine::Spd3, &racy)
}

/// The locations that race, as the engine by itself sees them, and the tree.
pub fn racy_locations(
    execution: &Execution,
    worker: Worker,
) -> Result<(BTreeSet<Location>, Structure), EngineError> {
    let (racy, structure) = run(execution, worker)?;
    Ok((racy.into_keys().collect(), structure))
}

fn run(execution: &Execution, mut worker: Worker) -> Result<(Racy, Structure), EngineError> {
    let shadow = Shadow::<Cell>::default();
    let mut racy = Racy::new();
    let strands = each_access(execution, Engine::Spd3, |strands, task, event, number| {
        if let Some(access) = event.access() {
            let location = access.location;
            let cell = || shadow.cell(location);
            let tree = &strands.structure.tree;
            worker.access(tree, task.step(), location, access.kind, cell, |_| {
                racy.entry(location).or_insert(number);
            });
        }
    })?;
    Ok((racy, strands.structure))
}
