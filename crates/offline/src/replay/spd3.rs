//! A recorded execution under [SPD3](deadheat_online::spd3).

use std::collections::BTreeSet;

use deadheat_model::{Construct, Execution, Location, StopPoll};
use deadheat_online::Shadow;
use deadheat_online::spd3::{Cell, Worker};
use deadheat_order::Structure;

use super::{Racy, all_races, each_access};
use crate::engine::{Engine, EngineError, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "spd3",
    summary: "`async` and `finish`: exact, in constant space a location, while the program runs",
    orders: &[Construct::Async, Construct::Finish],
    worth: Worth::Exact,
    cost: "a few nanoseconds an access, 16 bytes a location, any number of threads",
    in_memory: true,
    judge: |survey, _| {
        let execution = survey.execution(ENGINE.name)?;
        let mut poll = StopPoll::new(survey.stop);
        let (racy, _) = run(execution, Worker::default(), &mut poll)?;
        all_races(execution, &racy, poll, survey)
    },
};

/// The locations that race, as the engine by itself sees them, and the tree.
pub fn racy_locations(
    execution: &Execution,
    worker: Worker,
) -> Result<(BTreeSet<Location>, Structure), EngineError> {
    let (racy, structure) = run(execution, worker, &mut StopPoll::default())?;
    Ok((racy.into_keys().collect(), structure))
}

fn run(
    execution: &Execution,
    mut worker: Worker,
    poll: &mut StopPoll,
) -> Result<(Racy, Structure), EngineError> {
    let shadow = Shadow::<Cell>::default();
    let mut racy = Racy::new();
    let strands = each_access(execution, poll, |strands, task, event, number| {
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
