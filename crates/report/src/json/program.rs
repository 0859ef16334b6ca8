//! What else can go wrong with a program, as JSON: deadlocks and failures.

use deadheat_model::finding::{Act, Finding, Side};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

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
