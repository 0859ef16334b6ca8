//! Reports as JSON: one object a line, each with the command that wrote it and the version of its schema.

mod finding;
mod program;

pub(crate) use finding::{FindingJson, FindingsJson, Room, bug_numbers};
pub(crate) use program::{DeadlockJson, DeadlocksJson, FailureJson};

use std::io::{self, Write};

use serde::Serialize;

use crate::terminal::EscapedJson;

/// The version of the JSON, and of its schema in `docs/report.schema.json`.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Envelope<'r, T> {
    schema: u32,
    command: &'r str,
    #[serde(flatten)]
    report: &'r T,
}

/// Writes the reports of a command.
pub fn json<'r, T: Serialize + 'r>(
    command: &str,
    reports: impl IntoIterator<Item = &'r T>,
    to: impl Write,
) -> io::Result<()> {
    let mut to = EscapedJson(to);
    for report in reports {
        let envelope = Envelope {
            schema: SCHEMA,
            command,
            report,
        };
        serde_json::to_writer(&mut to, &envelope)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}
