//! A finding as JSON: one object for every command. What a source does not know is left out.

use std::cell::Cell;
use std::fmt::Display;

use deadheat_model::finding::{
    AccessCause, Act, Allocation, Creation, Finding, Frame, HeldLock, Reordering, Side, bugs,
};
use deadheat_model::{EventNumber, Strand};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::words::{self, Step};

/// Up to how many events a witness is spelt out in full.
const MAX_SPELT: u64 = 100_000;

/// How many events of witnesses are spelt out in one report: some 30 MB.
const MAX_SPELT_TOGETHER: u64 = 4_000_000;

/// How many steps a witness has whose trace is gone: its last.
const MAX_STEPS: usize = 16;

/// How many more events of witnesses are spelt out in a report.
pub(crate) struct Room(Cell<u64>);

impl Default for Room {
    fn default() -> Room {
        Room(Cell::new(MAX_SPELT_TOGETHER))
    }
}

/// Findings one after the other.
pub(crate) struct FindingsJson<'f>(pub &'f [Finding]);

impl Serialize for FindingsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let room = Room::default();
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for (finding, bug) in self.0.iter().zip(bug_numbers(self.0)) {
            list.serialize_element(&FindingJson::new(finding, Some(bug), &room))?;
        }
        list.end()
    }
}

/// Of each finding the number of its bug, from 1.
pub(crate) fn bug_numbers<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<usize> {
    let bugs = bugs(findings);
    let all = bugs.iter().map(|bug| 1 + bug.others.len()).sum();
    let mut numbers = vec![0; all];
    for (number, bug) in (1..).zip(&bugs) {
        for &index in std::iter::once(&bug.lead).chain(&bug.others) {
            numbers[index] = number;
        }
    }
    numbers
}

/// A finding of two accesses.
pub(crate) struct FindingJson<'f> {
    finding: &'f Finding,
    bug: Option<usize>,
    room: &'f Room,
}

impl<'f> FindingJson<'f> {
    pub(crate) fn new(finding: &'f Finding, bug: Option<usize>, room: &'f Room) -> FindingJson<'f> {
        FindingJson { finding, bug, room }
    }
}

impl Serialize for FindingJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("fingerprint", &finding.identity)?;
        map.serialize_entry("rule", finding.rule.name())?;
        if let Some(kind) = finding.kind() {
            map.serialize_entry("kind", &Shown(kind))?;
        }
        map.serialize_entry("variable", &finding.variable.name)?;
        let in_program = |side: &Side| side.place.span().is_some();
        if finding.sides.iter().any(in_program) {
            // As the language's definition calls it.
            map.serialize_entry("location", &finding.variable.name)?;
        }
        map.serialize_entry("count", &finding.count)?;
        if let Some((first, second)) = finding.pair() {
            map.serialize_entry("first", &SideJson(first))?;
            map.serialize_entry("second", &SideJson(second))?;
        }
        if let Some(block) = finding.variable.allocation() {
            map.serialize_entry("allocation", &AllocationJson::new(block))?;
        }
        if !finding.creations.is_empty() {
            let created = finding.creations.iter().map(CreationJson::new);
            map.serialize_entry("created", &created.collect::<Vec<_>>())?;
        }
        if let Some(process) = finding.process {
            map.serialize_entry("pid", &process)?;
        }
        if let Some(status) = finding.status {
            map.serialize_entry("status", status.name())?;
        }
        if let Some(is_first) = finding.is_first {
            map.serialize_entry("is_first", &is_first)?;
        }
        if let Some(bug) = self.bug {
            map.serialize_entry("bug", &bug)?;
        }
        if let Some(remedy) = words::advice(finding) {
            map.serialize_entry("remedy", &remedy)?;
        }
        if let Some(proof) = &finding.proof {
            if let Some(order) = proof.reordering() {
                self.witness(order, &mut map)?;
            }
            if let Some(sections) = proof.sections() {
                map.serialize_entry("order", sections)?;
            }
            if let Some(schedule) = proof.schedule() {
                map.serialize_entry("schedule", schedule)?;
            }
        }
        map.serialize_entry("verified", &finding.proof.is_some())?;
        if let Some(read) = &finding.rests_on {
            let read = RacingReadJson {
                variable: &read.variable,
                loc: read.place.as_str(),
            };
            map.serialize_entry("rests_on", &read)?;
        }
        if let Some(place) = &finding.wakes_early {
            map.serialize_entry("wakes_early", place.as_str())?;
        }
        map.end()
    }
}

/// A read that raced, in the order that shows a race.
#[derive(Serialize)]
struct RacingReadJson<'f> {
    variable: &'f str,
    loc: &'f str,
}

impl FindingJson<'_> {
    /// A witness event by event, if it is short and as long as all that are have room together.
    pub(super) fn witness<M: SerializeMap>(
        &self,
        order: &dyn Reordering,
        map: &mut M,
    ) -> Result<(), M::Error> {
        // Without the trace, the numbers of its events mean nothing.
        if self.finding.sides.iter().any(|side| side.event == 0) {
            let (steps, _) = words::steps(order, MAX_STEPS);
            let steps: Vec<StepJson<'_>> = steps.iter().map(StepJson::new).collect();
            return map.serialize_entry("witness", &steps);
        }
        let length = order.length();
        let room = self.room.0.get();
        let is_short = length <= MAX_SPELT.min(room);
        if is_short {
            self.room.0.set(room - length);
        }
        // A thread whose name another has too could not be named.
        if is_short || !order.names_tell() {
            let most = usize::try_from(length).unwrap_or(usize::MAX);
            return map.serialize_entry("witness", &order.end(most));
        }
        let prefix = Prefix {
            before: order.witness().before,
            upto: Upto(order),
        };
        map.serialize_entry("witness_prefix", &prefix)?;
        map.serialize_entry("witness", &order.witness().then)
    }
}

/// What one thread does on one line.
#[derive(Serialize)]
struct StepJson<'s> {
    thread: &'s str,
    loc: &'s str,
    action: &'s str,
}

impl<'s> StepJson<'s> {
    fn new(step: &'s Step) -> StepJson<'s> {
        StepJson {
            thread: &step.thread,
            loc: step.place.as_str(),
            action: &step.action,
        }
    }
}

/// The beginning of a long witness: as in the trace, of each thread up to some event.
#[derive(Serialize)]
struct Prefix<'w> {
    before: EventNumber,
    upto: Upto<'w>,
}

struct Upto<'w>(&'w dyn Reordering);

impl Serialize for Upto<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = &self.0.execution().names;
        let upto = self.0.upto();
        let named = |(strand, number): (Strand, EventNumber)| (names.strand(strand), number);
        serializer.collect_map(upto.into_iter().map(named))
    }
}

/// What somebody does on one side of a finding.
struct SideJson<'f>(&'f Side);

impl Serialize for SideJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let side = self.0;
        let mut map = serializer.serialize_map(None)?;
        if side.event > 0 {
            map.serialize_entry("event", &side.event)?;
        }
        map.serialize_entry("thread", &side.thread)?;
        if let Act::Access {
            kind,
            cause,
            atomic,
            size,
        } = &side.act
        {
            let access = match cause {
                AccessCause::Free => "free".to_string(),
                _ => kind.to_string(),
            };
            map.serialize_entry("access", &access)?;
            map.serialize_entry("atomic", atomic)?;
            if *size > 0 {
                map.serialize_entry("size", size)?;
            }
        }
        map.serialize_entry("loc", side.place.as_str())?;
        if side.place.span().is_some() {
            // As the language's definition calls it.
            map.serialize_entry("line", &side.place.line())?;
            map.serialize_entry("column", &side.place.column())?;
            map.serialize_entry("task", &side.thread)?;
        } else if let Some(task) = side.tasks.first() {
            map.serialize_entry("task", &words::task_in_full(task))?;
        }
        if let Some(innermost) = side.stack.first() {
            map.serialize_entry("function", &innermost.function)?;
            map.serialize_entry("stack", &stack(&side.stack))?;
        }
        let locks = side.locks.iter().map(LockJson::new);
        map.serialize_entry("locks", &locks.collect::<Vec<_>>())?;
        map.end()
    }
}

#[derive(Serialize)]
pub(super) struct FrameJson<'f> {
    function: &'f Option<String>,
    file: &'f Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    near: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
}

pub(super) fn stack<F: AsRef<Frame>>(calls: &[F]) -> Vec<FrameJson<'_>> {
    calls
        .iter()
        .map(AsRef::as_ref)
        .map(FrameJson::new)
        .collect()
}

impl<'f> FrameJson<'f> {
    fn new(frame: &'f Frame) -> FrameJson<'f> {
        FrameJson {
            function: &frame.function,
            file: &frame.file,
            line: frame.line,
            column: frame.column,
            near: frame.near,
            module: frame.file.is_none().then(|| frame.place().to_string()),
        }
    }
}

#[derive(Serialize)]
struct LockJson<'f> {
    name: &'f str,
    shared: bool,
}

impl<'f> LockJson<'f> {
    fn new(lock: &'f HeldLock) -> LockJson<'f> {
        LockJson {
            name: &lock.name,
            shared: !lock.exclusive,
        }
    }
}

#[derive(Serialize)]
struct AllocationJson<'f> {
    size: u64,
    offset: u64,
    thread: &'f str,
    stack: Vec<FrameJson<'f>>,
}

impl<'f> AllocationJson<'f> {
    fn new(block: &'f Allocation) -> AllocationJson<'f> {
        AllocationJson {
            size: block.size,
            offset: block.offset,
            thread: &block.thread,
            stack: stack(&block.stack),
        }
    }
}

#[derive(Serialize)]
struct CreationJson<'f> {
    thread: &'f str,
    parent: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'f str>,
    finished: bool,
    stack: Vec<FrameJson<'f>>,
}

impl<'f> CreationJson<'f> {
    fn new(creation: &'f Creation) -> CreationJson<'f> {
        CreationJson {
            thread: &creation.thread,
            parent: &creation.parent,
            loc: creation.stack.is_empty().then(|| creation.place.as_str()),
            finished: creation.finished,
            stack: stack(&creation.stack),
        }
    }
}

/// What is written as it is shown.
struct Shown<T>(T);

impl<T: Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
