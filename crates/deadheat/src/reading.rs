//! A trace that is read whole; one that could not have happened, as far as it goes.

use deadheat_model::{Execution, StopReason, StopToken};
use deadheat_offline::threads::repair;
use deadheat_trace::{Source, TraceError};

use crate::{Step, Watch};

/// How many events that were left out are told one by one.
const TOLD: usize = 3;

/// A trace in memory.
#[derive(Debug)]
pub struct Reading {
    /// All of it, or what is left.
    pub execution: Execution,
    /// What was left out because it could not have happened, if something was: `2 events that could not have
    /// happened were left out: …`.
    pub repair: Option<String>,
}

/// Reads all of a trace into memory, or says why that was stopped. `repairs` leaves out the events that
/// could not have happened, given those before; otherwise engines refuse such a trace.
pub fn read(
    source: &Source,
    repairs: bool,
    stop: StopToken,
    watch: Watch,
) -> Result<Result<Reading, StopReason>, TraceError> {
    let mut stopped = None;
    let execution = source.read_while(|done| {
        watch(Step::Reading(done));
        stopped = stop.due();
        stopped.is_none()
    })?;
    if let Some(why) = stopped {
        return Ok(Err(why));
    }
    let mut reading = Reading {
        execution,
        repair: None,
    };
    if repairs {
        reading.repair = repaired(&mut reading.execution, source);
    }
    Ok(Ok(reading))
}

fn repaired(execution: &mut Execution, source: &Source) -> Option<String> {
    let problems = repair(execution);
    let told = problems.iter().take(TOLD).map(|problem| {
        let (strand, what) = (&problem.strand, &problem.problem);
        match source.line_of(problem.number) {
            Some(line) => format!("line {line}: {strand} {what}"),
            None => format!("event {}: {strand} {what}", problem.number),
        }
    });
    let told: Vec<String> = told.collect();
    let (events, more) = match problems.len() {
        0 => return None,
        1 => ("1 event that could not have happened was", ""),
        n if n <= TOLD => (
            &*format!("{n} events that could not have happened were"),
            "",
        ),
        n => (
            &*format!("{n} events that could not have happened were"),
            "; …",
        ),
    };
    Some(format!("{events} left out: {}{more}", told.join("; ")))
}
