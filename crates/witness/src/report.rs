//! Re-checks a report: every race and every deadlock that `deadheat analyze --json` printed, against the trace.
//!
//! Nothing in a report is believed. What it says of the two accesses (threads, places, variable, kind), or of those who
//! wait in a circle (threads, places, what each waits for and which locks it took where), must be what the trace says, and
//! its witness must be one. The events of a witness are listed, or all
//! but its beginning: then `witness_prefix` says which of the trace's events come first, in the trace's
//! order: those below `before`, and of each thread that `upto` names those up to a number. A report is
//! one JSON object, several one after the other, or an array of them; fields that it need not know are
//! skipped.
//!
//! Guarantee: a race or a deadlock is [`Verdict::Verified`] only if [`Witnesses`] accepts its witness. Cost: linear in
//! the report and the trace, and for each race with a `witness_prefix` in the threads; a report above
//! [`MAX_REPORT_BYTES`] is refused.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use deadheat_model::{
    Access, Event, EventNumber, Execution, Lock, Op, StopReason, StopToken, Strand, Witness,
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
    /// The deadlocks, in the report's order.
    pub deadlocks: Vec<CheckedDeadlock>,
}

/// What became of one deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedDeadlock {
    /// Who reported it, if the report says so.
    pub engine: Option<Arc<str>>,
    /// The events that wait.
    pub circle: Vec<EventNumber>,
    /// Whether it is true.
    pub verdict: Verdict,
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
    #[error("event {0} neither takes a lock nor waits for the end of a thread")]
    NotAWait(EventNumber),
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
    /// Whether every race and every deadlock has a valid witness.
    pub fn all_verified(&self) -> bool {
        self.verdicts().all(|verdict| *verdict == Verdict::Verified)
    }

    /// The races whose report is not so.
    pub fn refused(&self) -> impl Iterator<Item = &CheckedRace> {
        let races = self.races.iter();
        races.filter(|race| matches!(race.verdict, Verdict::Refused(_)))
    }

    /// What became of each.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        let deadlocks = self.deadlocks.iter().map(|deadlock| &deadlock.verdict);
        self.races.iter().map(|race| &race.verdict).chain(deadlocks)
    }
}

#[derive(Deserialize)]
struct Report {
    engine: Option<String>,
    events: Option<u64>,
    races: Vec<ReportedRace>,
    #[serde(default)]
    deadlocks: Vec<ReportedDeadlock>,
}

#[derive(Deserialize)]
struct ReportedDeadlock {
    waits: Vec<ReportedWait>,
    witness_prefix: Option<Prefix>,
    witness: Option<Vec<EventNumber>>,
}

/// One who waits, by the event that it does not do.
#[derive(Deserialize)]
struct ReportedWait {
    #[serde(flatten)]
    end: End,
    lock: Option<String>,
    shared: Option<bool>,
    joins: Option<String>,
    #[serde(default)]
    holds: Vec<ReportedHold>,
}

/// A lock that it has.
#[derive(Deserialize)]
struct ReportedHold {
    lock: String,
    loc: Option<String>,
    shared: Option<bool>,
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
    let deadlocks = || reports.iter().flat_map(|report| &report.deadlocks);
    let waits = deadlocks().flat_map(|deadlock| &deadlock.waits);
    let held = HeldLocks::new(trace, waits.map(|wait| wait.end.event));
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
        let checked = report.deadlocks.iter().map(|deadlock| CheckedDeadlock {
            engine: engine.clone(),
            circle: deadlock.circle(),
            verdict: match stop.due() {
                None => judge_deadlock(deadlock, trace, &held, &threads, &witnesses),
                Some(why) => Verdict::NotChecked(why),
            },
        });
        verification.deadlocks.extend(checked);
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

impl ReportedDeadlock {
    fn circle(&self) -> Vec<EventNumber> {
        self.waits.iter().map(|wait| wait.end.event).collect()
    }
}

fn judge_deadlock(
    deadlock: &ReportedDeadlock,
    trace: &Execution,
    held: &HeldLocks,
    threads: &Threads,
    witnesses: &Witnesses,
) -> Verdict {
    let mut waits = deadlock.waits.iter();
    if let Some(reason) = waits.find_map(|wait| held.agrees(wait, trace).err()) {
        return Verdict::Refused(reason);
    }
    let Some(then) = &deadlock.witness else {
        return Verdict::NoWitness;
    };
    let witness = match &deadlock.witness_prefix {
        None => Ok(Witness {
            then: then.clone(),
            ..Witness::default()
        }),
        Some(prefix) => threads.witness(prefix, then),
    };
    let verified = witness.and_then(|witness| {
        let verified = witnesses.verify_deadlock(&deadlock.circle(), &witness);
        verified.map_err(Reason::from)
    });
    match verified {
        Ok(()) => Verdict::Verified,
        Err(reason) => Verdict::Refused(reason),
    }
}

/// A lock that a strand has, whether for reading, and the event that took it.
type Held = (Lock, bool, EventNumber);

/// The locks held before some events, in the order in which they were taken.
struct HeldLocks(FxHashMap<EventNumber, Vec<Held>>);

impl HeldLocks {
    /// Those of the events' own strands, in one pass over the trace. A lock that is taken again is held since the first
    /// time.
    fn new(trace: &Execution, wanted: impl Iterator<Item = EventNumber>) -> HeldLocks {
        let wanted: FxHashSet<EventNumber> = wanted.collect();
        let last = wanted.iter().copied().max().unwrap_or(0);
        let mut held: FxHashMap<Strand, Vec<(Held, u32)>> = FxHashMap::default();
        let mut before = FxHashMap::default();
        let isolation = trace.names.isolation();
        for (event, number) in trace.events.iter().zip(1..=last) {
            let own = held.entry(event.strand()).or_default();
            if wanted.contains(&number) {
                before.insert(number, own.iter().map(|(held, _)| *held).collect());
            }
            let (lock, shared, takes) = match event.op() {
                Op::Acquire(lock) => (lock, false, true),
                Op::AcquireShared(lock) => (lock, true, true),
                Op::IsolatedBegin => (isolation, false, true),
                Op::Release(lock) => (lock, false, false),
                Op::ReleaseShared(lock) => (lock, true, false),
                Op::IsolatedEnd => (isolation, false, false),
                _ => continue,
            };
            let mut known = own.iter().rev();
            let place = known.position(|((known, how, _), _)| (*known, *how) == (lock, shared));
            match (place.map(|from_end| own.len() - 1 - from_end), takes) {
                (Some(place), true) => own[place].1 += 1,
                (None, true) => own.push(((lock, shared, number), 1)),
                (Some(place), false) => {
                    own[place].1 -= 1;
                    if own[place].1 == 0 {
                        own.remove(place);
                    }
                }
                (None, false) => {}
            }
        }
        HeldLocks(before)
    }

    /// Whether what a report says of somebody who waits is what the trace says.
    fn agrees(&self, wait: &ReportedWait, trace: &Execution) -> Result<(), Reason> {
        let (end, names) = (&wait.end, &trace.names);
        let number = end.event;
        let event = trace.event(number).ok_or(Reason::NoSuchEvent {
            event: number,
            events: trace.events.len() as u64,
        })?;
        let (lock, shared, joins) = match event.op() {
            Op::Acquire(lock) => (Some(lock), false, None),
            Op::AcquireShared(lock) => (Some(lock), true, None),
            Op::IsolatedBegin => (Some(names.isolation()), false, None),
            Op::Join(child) => (None, false, Some(child)),
            _ => return Err(Reason::NotAWait(number)),
        };
        let lock = lock.map_or(Cow::Borrowed("none"), |lock| names.lock(lock));
        let joins = joins.map_or(Cow::Borrowed("none"), |child| names.strand(child));
        agree(
            end,
            "the thread",
            &end.thread,
            &names.strand(event.strand()),
        )?;
        agree(end, "the place", &end.loc, &names.site(event.site()))?;
        agree(end, "the lock", &wait.lock, &lock)?;
        agree(end, "the thread that it joins", &wait.joins, &joins)?;
        let how = |shared: bool| if shared { "for reading" } else { "alone" };
        let reported = wait.shared.map(|shared| how(shared).to_string());
        agree(end, "the way to take it", &reported, how(shared))?;
        let list = |locks: Vec<String>| locks.join(", ");
        let reported = wait.holds.iter().map(|held| {
            let loc = held.loc.as_deref().unwrap_or("?");
            let shared = held.shared.unwrap_or_default();
            format!("{} {} at {loc}", held.lock, how(shared))
        });
        let held = self.0.get(&number).into_iter().flatten();
        let held = held.map(|(lock, shared, taken)| {
            let taken = trace.event(*taken).map(|event| names.site(event.site()));
            let loc = taken.unwrap_or(Cow::Borrowed("?"));
            format!("{} {} at {loc}", names.lock(*lock), how(*shared))
        });
        let reported = Some(list(reported.collect()));
        agree(
            end,
            "the list of locks held",
            &reported,
            &list(held.collect()),
        )
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
