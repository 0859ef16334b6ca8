//! What else can go wrong with a program, as JSON: deadlocks and failures.

use deadheat_model::finding::{Act, Finding, Side};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::finding::{FindingJson, Room, stack};

/// A deadlock: who waits for what.
pub(crate) struct DeadlockJson<'f>(pub &'f Finding);

impl Serialize for DeadlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("fingerprint", &finding.identity)?;
        let waiting: Vec<Waiting<'_>> = finding.sides.iter().map(Waiting::new).collect();
        map.serialize_entry("waiting", &waiting)?;
        let more = finding.count.saturating_sub(finding.sides.len() as u64);
        map.serialize_entry("more", &more)?;
        schedule(finding, &mut map)?;
        map.end()
    }
}

#[derive(Serialize)]
struct Waiting<'f> {
    task: &'f str,
    waits_for: &'f str,
    line: Option<u32>,
    column: Option<u32>,
}

impl<'f> Waiting<'f> {
    fn new(side: &'f Side) -> Waiting<'f> {
        Waiting {
            task: &side.thread,
            waits_for: match &side.act {
                Act::Wait(what) => what,
                _ => "",
            },
            line: side.place.line(),
            column: side.place.column(),
        }
    }
}

/// Deadlocks that other orders of a trace end in, or may end in.
pub(crate) struct DeadlocksJson<'f>(pub &'f [Finding]);

impl Serialize for DeadlocksJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let room = Room::default();
        serializer.collect_seq(self.0.iter().map(|finding| CircleJson {
            finding,
            room: &room,
        }))
    }
}

struct CircleJson<'f> {
    finding: &'f Finding,
    room: &'f Room,
}

impl Serialize for CircleJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("fingerprint", &finding.identity)?;
        let waits: Vec<LinkJson<'_>> = finding.sides.iter().map(LinkJson).collect();
        map.serialize_entry("waits", &waits)?;
        let proof = finding.proof.as_ref();
        if let Some(order) = proof.and_then(|proof| proof.reordering()) {
            FindingJson::new(finding, None, self.room).witness(order, &mut map)?;
        }
        map.serialize_entry("verified", &proof.is_some())?;
        if let Some(status) = finding.status {
            map.serialize_entry("status", status.name())?;
        }
        map.end()
    }
}

/// One of a circle: what it has, and what it waits for.
struct LinkJson<'f>(&'f Side);

impl Serialize for LinkJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let side = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("thread", &side.thread)?;
        if side.event > 0 {
            map.serialize_entry("event", &side.event)?;
        }
        map.serialize_entry("loc", side.place.as_str())?;
        match &side.act {
            Act::Want { lock, exclusive } => {
                map.serialize_entry("lock", lock)?;
                map.serialize_entry("shared", &!exclusive)?;
            }
            Act::Join(thread) => map.serialize_entry("joins", thread)?,
            _ => {}
        }
        let holds = side.locks.iter().map(|lock| HoldJson {
            lock: &lock.name,
            loc: lock.taken.as_ref().map(|place| place.as_str()),
            shared: !lock.exclusive,
        });
        map.serialize_entry("holds", &holds.collect::<Vec<_>>())?;
        if !side.stack.is_empty() {
            map.serialize_entry("stack", &stack(&side.stack))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct HoldJson<'f> {
    lock: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'f str>,
    shared: bool,
}

/// A failure: its message and its place.
pub(crate) struct FailureJson<'f>(pub &'f Finding);

#[derive(Serialize)]
struct Position {
    line: Option<u32>,
    column: Option<u32>,
}

impl Serialize for FailureJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("fingerprint", &finding.identity)?;
        if let Some(side) = finding.sides.first() {
            if let Act::Fail(message) = &side.act {
                map.serialize_entry("message", message)?;
            }
            map.serialize_entry("line", &side.place.line())?;
            map.serialize_entry("column", &side.place.column())?;
            map.serialize_entry("task", &side.thread)?;
        }
        let mut sides = finding.sides.iter();
        if let Some(first) = sides.find(|side| side.act == Act::SetFirst) {
            let position = Position {
                line: first.place.line(),
                column: first.place.column(),
            };
            map.serialize_entry("first_set", &position)?;
        }
        schedule(finding, &mut map)?;
        map.end()
    }
}

/// The schedule that shows it, where another one than the run's own does.
fn schedule<M: SerializeMap>(finding: &Finding, map: &mut M) -> Result<(), M::Error> {
    match finding.proof.as_ref().and_then(|proof| proof.schedule()) {
        Some(schedule) => map.serialize_entry("schedule", schedule),
        None => Ok(()),
    }
}
