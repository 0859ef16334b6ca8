//! Re-checks a report: every race that `deadheat analyze --json` printed, against the trace.
//!
//! Nothing in a report is believed. What it says of the two accesses (threads, places, variable, kind)
//! must be what the trace says, and its witness must be one. The events of a witness are listed, or all
//! but its beginning: then `witness_prefix` says which of the trace's events come first, in the trace's
//! order: those below `before`, and of each thread that `upto` names those up to a number. A report is
//! one JSON object, several one after the other, or an array of them; fields that it need not know are
//! skipped.
//!
//! Guarantee: a race is [`Verdict::Verified`] only if [`Witnesses`] accepts its witness. Cost: linear in
//! the report and the trace, and for each race with a `witness_prefix` in the threads; a report above
//! [`MAX_REPORT_BYTES`] is refused.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use deadheat_model::{
    Access, Event, EventNumber, Execution, StopReason, StopToken, Strand, Witness,
};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::Deserializer;
use thiserror::Error;

use crate::recording::NotATrace;
use crate::witness::{Refusal, Witnesses};

/// The largest report that is read.
pub const MAX_REPORT_BYTES: usize = 1 << 30;

/// Why a report cannot be checked at all.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum ReportError {
    #[error(
        "the report has {0} bytes, more than the {MAX_REPORT_BYTES} that are read: analyze with fewer races"
    )]
    TooLarge(usize),
    #[error("not a report of `deadheat analyze --json`: {0}")]
    NotAReport(#[from] serde_json::Error),
    #[error("the report is empty: give the output of `deadheat analyze --json`")]
    Empty,
    #[error(
        "the report is of a trace of {reported} events, this one has {events}: give the trace that was analyzed"
    )]
    OtherTrace { reported: u64, events: u64 },
    #[error("the trace cannot be checked: {0}")]
    NotATrace(#[from] NotATrace),
}

/// What became of every race of a report.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verification {
    /// In the report's order.
    pub races: Vec<CheckedRace>,
}

/// What became of one race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedRace {
    /// Who reported it, if the report says so.
    pub engine: Option<Arc<str>>,
    /// The first access's event.
    pub first: EventNumber,
    /// The other one's.
    pub second: EventNumber,
    /// Whether it is true.
    pub verdict: Verdict,
}

/// Whether a reported race is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Its witness is valid.
    Verified,
    /// What the report says of it is not so.
    Refused(Reason),
    /// What the report says of the accesses is so, but it gives no witness.
    NoWitness,
    /// It was stopped before.
    NotChecked(StopReason),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Verified => f.write_str("verified"),
            Verdict::Refused(reason) => write!(f, "refused: {reason}"),
            Verdict::NoWitness => f.write_str("no witness given"),
            Verdict::NotChecked(why) => write!(f, "not checked: {why}"),
        }
    }
}

/// Why a reported race is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[allow(missing_docs)]
pub enum Reason {
    #[error("event {event} is not in the trace, which has {events} events")]
    NoSuchEvent { event: EventNumber, events: u64 },
    #[error("event {0} is not a plain access")]
    NotAnAccess(EventNumber),
    #[error("the report says {what} of event {event} is {reported}, the trace says {in_trace}")]
    Differs {
        event: EventNumber,
        what: &'static str,
        reported: String,
        in_trace: String,
    },
    #[error("the witness begins with events of thread {0}, which the trace does not have")]
    NoSuchThread(String),
    #[error("the witness begins with events of thread {0}, as several of the trace are called")]
    SharedName(String),
    #[error("{0}")]
    Witness(#[from] Refusal),
}

impl Verification {
    /// Whether every race has a valid witness.
    pub fn all_verified(&self) -> bool {
        let mut races = self.races.iter();
        races.all(|race| race.verdict == Verdict::Verified)
    }

    /// The races whose report is not so.
    pub fn refused(&self) -> impl Iterator<Item = &CheckedRace> {
        let races = self.races.iter();
        races.filter(|race| matches!(race.verdict, Verdict::Refused(_)))
    }
}

#[derive(Deserialize)]
struct Report {
    engine: Option<String>,
    events: Option<u64>,
    races: Vec<ReportedRace>,
}

#[derive(Deserialize)]
struct ReportedRace {
    kind: Option<String>,
    variable: Option<String>,
    first: End,
    second: End,
    witness_prefix: Option<Prefix>,
    witness: Option<Vec<EventNumber>>,
}

/// The events that a witness begins with.
#[derive(Deserialize)]
struct Prefix {
    before: EventNumber,
    /// By the thread's name.
    upto: BTreeMap<String, EventNumber>,
}

#[derive(Deserialize)]
struct End {
    event: EventNumber,
    thread: Option<String>,
    loc: Option<String>,
}

/// Re-checks every race of a report against the trace it was made from. Once it is stopped, the rest is not
/// checked.
pub fn verify_report(
    json: &str,
    trace: &Execution,
    stop: StopToken,
) -> Result<Verification, ReportError> {
    let reports = read(json)?;
    let events = trace.events.len() as u64;
    let witnesses = Witnesses::new(trace)?;
    let threads = Threads::new(trace);
    let mut verification = Verification::default();
    for report in &reports {
        if let Some(reported) = report.events
            && reported != events
        {
            return Err(ReportError::OtherTrace { reported, events });
        }
        let engine: Option<Arc<str>> = report.engine.as_deref().map(Arc::from);
        let checked = report.races.iter().map(|race| CheckedRace {
            engine: engine.clone(),
            first: race.first.event,
            second: race.second.event,
            verdict: match stop.due() {
                None => judge(race, trace, &threads, &witnesses),
                Some(why) => Verdict::NotChecked(why),
            },
        });
        verification.races.extend(checked);
    }
    Ok(verification)
}

fn read(json: &str) -> Result<Vec<Report>, ReportError> {
    if json.len() > MAX_REPORT_BYTES {
        return Err(ReportError::TooLarge(json.len()));
    }
    let reports: Vec<Report> = match json.trim_start().starts_with('[') {
        true => serde_json::from_str(json)?,
        false => Deserializer::from_str(json)
            .into_iter()
            .collect::<Result<_, _>>()?,
    };
    match reports.is_empty() {
        true => Err(ReportError::Empty),
        false => Ok(reports),
    }
}

fn judge(
    race: &ReportedRace,
    trace: &Execution,
    threads: &Threads,
    witnesses: &Witnesses,
) -> Verdict {
    if let Err(reason) = names_agree(race, trace) {
        return Verdict::Refused(reason);
    }
    let Some(witness) = &race.witness else {
        return Verdict::NoWitness;
    };
    let (first, second) = (race.first.event, race.second.event);
    let verified = match &race.witness_prefix {
        None => witnesses
            .verify(first, second, witness)
            .map_err(Reason::from),
        Some(prefix) => threads.witness(prefix, witness).and_then(|witness| {
            let verified = witnesses.verify_witness(first, second, &witness);
            verified.map_err(Reason::from)
        }),
    };
    match verified {
        Ok(()) => Verdict::Verified,
        Err(reason) => Verdict::Refused(reason),
    }
}

/// The threads of a trace by name; nothing for a name of several.
struct Threads<'t>(FxHashMap<Cow<'t, str>, Option<Strand>>);

impl<'t> Threads<'t> {
    fn new(trace: &'t Execution) -> Threads<'t> {
        let mut threads = FxHashMap::default();
        let acting = trace.events.iter().map(Event::strand);
        let mut strands: FxHashSet<_> = acting.collect();
        strands.extend((0..trace.names.strands.len() as u32).map(Strand));
        for strand in strands {
            let name = trace.names.strand(strand);
            let known = threads.entry(name).or_insert(Some(strand));
            *known = known.filter(|&known| known == strand);
        }
        Threads(threads)
    }

    /// The witness that begins with a prefix.
    fn witness(&self, prefix: &Prefix, then: &[EventNumber]) -> Result<Witness, Reason> {
        let mut witness = Witness {
            before: prefix.before,
            upto: Vec::new(),
            then: then.to_vec(),
        };
        for (name, &number) in &prefix.upto {
            let strand = match self.0.get(name.as_str()) {
                Some(&Some(strand)) => strand,
                Some(None) => return Err(Reason::SharedName(name.clone())),
                None => return Err(Reason::NoSuchThread(name.clone())),
            };
            witness.upto.push((strand, number));
        }
        witness.upto.sort_unstable();
        Ok(witness)
    }
}

/// Whether what a report says of the two accesses is what the trace says.
fn names_agree(race: &ReportedRace, trace: &Execution) -> Result<(), Reason> {
    let mut kinds = Vec::new();
    for end in [&race.first, &race.second] {
        let (event, access) = access(trace, end.event)?;
        let names = &trace.names;
        agree(
            end,
            "the thread",
            &end.thread,
            &names.strand(event.strand()),
        )?;
        agree(end, "the place", &end.loc, &names.site(event.site()))?;
        let variable = names.location(access.location);
        agree(end, "the variable", &race.variable, &variable)?;
        kinds.push(access.kind.to_string());
    }
    let in_order = kinds.join("-");
    kinds.reverse();
    match &race.kind {
        // Which of the two is named first says nothing.
        Some(kind) if *kind == kinds.join("-") => Ok(()),
        kind => agree(&race.second, "the kind of race", kind, &in_order),
    }
}

fn access(trace: &Execution, number: EventNumber) -> Result<(&Event, Access), Reason> {
    let index = number.checked_sub(1).and_then(|n| usize::try_from(n).ok());
    let event = index.and_then(|index| trace.events.get(index));
    let event = event.ok_or(Reason::NoSuchEvent {
        event: number,
        events: trace.events.len() as u64,
    })?;
    let (access, _) = event.any_access().ok_or(Reason::NotAnAccess(number))?;
    Ok((event, access))
}

/// What the report says, if it says anything, is what the trace says.
fn agree(
    end: &End,
    what: &'static str,
    reported: &Option<String>,
    in_trace: &str,
) -> Result<(), Reason> {
    match reported {
        Some(reported) if reported != in_trace => Err(Reason::Differs {
            event: end.event,
            what,
            reported: reported.clone(),
            in_trace: in_trace.to_string(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
