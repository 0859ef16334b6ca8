//! A recorded execution under [DRDP](deadheat_online::drdp).

use std::collections::BTreeSet;

use deadheat_model::{Construct, Execution, Location};
use deadheat_online::Shadow;
use deadheat_online::drdp::{Checker, History};
use deadheat_order::{Search, Structure};

use super::{Racy, all_races, each_access};
use crate::engine::{Engine, EngineError, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "drdp",
    summary: "tasks, futures, promises and threads without locks: exact",
    orders: &[
        Construct::Async,
        Construct::Finish,
        Construct::Future,
        Construct::Promise,
        Construct::Fork,
    ],
    worth: Worth::Exact,
    cost: "a few nanoseconds an access while joins are near, 72 bytes a location and 12 a reader",
    in_memory: true,
    judge: |survey, _| {
        let execution = survey.execution(ENGINE.name)?;
        let (racy, _) = run(execution, Checker::default())?;
        all_races(execution, &racy)
    },
};

/// What DRDP did, for those who measure it.
#[derive(Debug)]
pub struct Account {
    /// The locations that race, as the engine by itself sees them.
    pub racy: BTreeSet<Location>,
    /// Who came before whom.
    pub structure: Structure,
    /// The searches made.
    pub search: Search,
    /// The most reads kept of one location.
    pub most_readers: usize,
}

/// Judges an execution with a given checker; tells what that took.
pub fn account(execution: &Execution, checker: Checker) -> Result<Account, EngineError> {
    let (racy, mut account) = run(execution, checker)?;
    account.racy = racy.into_keys().collect();
    Ok(account)
}

fn run(execution: &Execution, mut checker: Checker) -> Result<(Racy, Account), EngineError> {
    let mut shadow = Shadow::<History>::default();
    let mut racy = Racy::new();
    let strands = each_access(execution, |strands, task, event, number| {
        if let Some(access) = event.access() {
            let (location, kind) = (access.location, access.kind);
            let structure = &strands.structure;
            checker.access(
                structure,
                task,
                location,
                kind,
                || shadow.cell_mut(location),
                |_| {
                    racy.entry(location).or_insert(number);
                },
            );
        }
    })?;
    let account = Account {
        racy: BTreeSet::new(),
        structure: strands.structure,
        search: checker.search,
        most_readers: checker.most_readers,
    };
    Ok((racy, account))
}
