//! Findings as SARIF 2.1.0, the format that code scanning services and editors read.
//!
//! One run; a result a finding, at its first access, the other one as a related location; stacks, and the order that
//! shows a predicted race, as code flows. Places that are in no file have a logical name only. Paths below the
//! working directory are relative to it, as services want them.
//!
//! Cost: one result at a time is made and written, so the memory is that of the largest.

use std::io::{self, Write};

use deadheat_model::Strand;
use deadheat_model::finding::{Finding, Frame, Identity, Place, Rule, Side, Status};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::chapter::{Chapter, Entry};
use crate::sources::Sources;
use crate::terminal::EscapedJson;
use crate::text::shortened;
use crate::text::style::cut;
use crate::words::{self, Step};

/// How many events of a witness become steps: its last.
const MAX_STEPS: usize = 200;

/// How many steps all witnesses together have, roughly: services take 10 MB of SARIF, compressed.
const MAX_STEPS_TOGETHER: usize = 40_000;

/// Longer places that are in no file are cut: very many findings name them again and again.
const MAX_PLACE: usize = 1000;

/// Writes all findings of a command, and the sentences that say what it proves.
pub fn sarif(chapters: &[Chapter<'_>], to: &mut dyn Write) -> io::Result<()> {
    let here = std::env::current_dir().ok();
    let here = here.as_deref().and_then(|path| path.to_str());
    let here = here.unwrap_or_default();
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule.name(),
            "shortDescription": {"text": words::meaning(rule)},
            "defaultConfiguration": {"level": level(rule)},
        })
    });
    let guarantees = chapters.iter().flat_map(|chapter| &chapter.guarantees);
    let notifications = guarantees.map(|text| json!({"level": "note", "message": {"text": text}}));
    let document = Document {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        runs: [Run {
            column_kind: "unicodeCodePoints",
            invocations: json!([{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications.collect::<Vec<Value>>(),
            }]),
            results: Results { chapters, here },
            tool: json!({"driver": {
                "name": "deadheat",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }}),
        }],
        version: "2.1.0",
    };
    serde_json::to_writer_pretty(EscapedJson(&mut *to), &document)?;
    to.write_all(b"\n")
}

#[derive(Serialize)]
struct Document<'c> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'c>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'c> {
    column_kind: &'static str,
    invocations: Value,
    results: Results<'c>,
    tool: Value,
}

/// The results, each made when it is written.
struct Results<'c> {
    chapters: &'c [Chapter<'c>],
    here: &'c str,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.chapters.iter().flat_map(|chapter| {
            let proven = |entry: &&Entry| entry.lead.proof.is_some();
            let proven = chapter.entries.iter().filter(proven).count();
            let log = Log {
                here: self.here,
                sources: chapter.sources,
                most_steps: (MAX_STEPS_TOGETHER / proven.max(1)).clamp(2, MAX_STEPS),
            };
            chapter.entries.iter().map(move |entry| log.result(entry))
        }))
    }
}

fn level(rule: Rule) -> &'static str {
    match rule {
        Rule::Suspect => "warning",
        _ => "error",
    }
}

struct Log<'s> {
    here: &'s str,
    sources: &'s Sources,
    /// How many steps each witness has.
    most_steps: usize,
}

impl Log<'_> {
    fn result(&self, entry: &Entry) -> Value {
        let finding = &entry.lead;
        let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
        let mut message = words::title(finding);
        let labels = finding.sides.iter().map(words::label);
        let others = entry.others.iter();
        let others = others.map(|other| words::as_other(finding, other));
        for (number, label) in (1..).zip(labels.chain(others)) {
            message += &format!("\n[{}]({number})", escaped(&label));
        }
        for note in notes(finding).iter().chain(&words::advice(finding)) {
            message += &format!("\n{}", escaped(note));
        }
        let sides = finding.sides.iter().map(|side| (side, words::label(side)));
        let others = entry.others.iter().filter_map(|other| {
            let side = words::other_side(finding, other)?;
            Some((side, words::as_other(finding, other)))
        });
        let related = (1..).zip(sides.chain(others)).map(|(id, (side, label))| {
            let mut location = self.location(&side.place, &label);
            location["id"] = json!(id);
            location
        });
        let related: Vec<Value> = related.collect();
        let primary = finding.sides.first();
        let primary = primary.map(|side| self.location(&side.place, &words::label(side)));
        let kind = finding
            .kind()
            .map_or(String::new(), |kind| kind.to_string());
        let mut properties = json!({
            "engine": finding.engine,
            "kind": kind,
            "variable": finding.variable.name,
        });
        if !entry.others.is_empty() {
            // Each by its identity, so that a baseline knows all of them.
            let others = entry.others.iter();
            let others = others.map(|other| json!({"fingerprint": other.identity}));
            properties["others"] = others.collect();
        }
        let count: u64 = entry.findings().map(|finding| finding.count.max(1)).sum();
        let mut result = json!({
            "ruleId": finding.rule.name(),
            "ruleIndex": index,
            "level": level(finding.rule),
            "message": {"text": message},
            "locations": primary.into_iter().collect::<Vec<Value>>(),
            "relatedLocations": related,
            "partialFingerprints": {Identity::SCHEME: finding.identity},
            "occurrenceCount": count,
            "properties": properties,
        });
        let flows = self.flows(finding);
        if !flows.is_empty() {
            result["codeFlows"] = json!(flows);
        }
        result
    }

    /// The order that shows it, or how each side got where it is.
    fn flows(&self, finding: &Finding) -> Vec<Value> {
        if let Some(order) = finding.proof.as_ref().and_then(|proof| proof.reordering()) {
            let steps = match finding.sides.iter().any(|side| !side.stack.is_empty()) {
                true => words::steps(order, self.most_steps).0,
                false => words::events(order, self.most_steps),
            };
            let flows = threads(&steps).into_iter().map(|(strand, id)| {
                let own = steps.iter().enumerate();
                let own = own.filter(|(_, step)| step.strand == strand);
                let own = own.map(|(order, step)| self.step(step, &id, order + 1));
                json!({"id": id, "locations": own.collect::<Vec<Value>>()})
            });
            return vec![json!({
                "message": {"text": "an order that shows it"},
                "threadFlows": flows.collect::<Vec<Value>>(),
            })];
        }
        let with_stack = finding.sides.iter().filter(|side| side.stack.len() > 1);
        with_stack.map(|side| self.stack(side)).collect()
    }

    fn step(&self, step: &Step, thread: &str, order: usize) -> Value {
        let label = format!("{thread}: {}", step.action);
        json!({"location": self.location(&step.place, &label), "executionOrder": order})
    }

    fn stack(&self, side: &Side) -> Value {
        let calls = side.stack.iter().rev().map(|frame| self.call(frame));
        json!({
            "message": {"text": words::label(side)},
            "threadFlows": [{"id": side.thread, "locations": calls.collect::<Vec<Value>>()}],
        })
    }

    fn call(&self, frame: &Frame) -> Value {
        let label = frame.function.as_deref().unwrap_or("?");
        json!({"location": self.location(&frame.place(), label)})
    }

    fn location(&self, place: &Place, label: &str) -> Value {
        let mut location = json!({"message": {"text": label}});
        let (Some(path), Some(line)) = (place.file(), place.line()) else {
            let name = cut(place.as_str(), MAX_PLACE);
            location["logicalLocations"] = json!([{"fullyQualifiedName": name}]);
            return location;
        };
        let mut region = json!({"startLine": line});
        if let Some(column) = place.column() {
            region["startColumn"] = json!(column);
        }
        if let Some(text) = self
            .sources
            .line(path, line)
            .filter(|text| text.len() < 1000)
        {
            region["snippet"] = json!({"text": text});
        }
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": uri(path, self.here)},
            "region": region,
        });
        location
    }
}

/// What else there is to know about a finding, without its stacks.
pub(crate) fn notes(finding: &Finding) -> Vec<String> {
    let mut notes = words::about(finding);
    let schedule = finding.proof.as_ref().and_then(|proof| proof.schedule());
    if let Some(schedule) = schedule {
        notes.push(format!(
            "for example, by the schedule: {}",
            shortened(schedule)
        ));
    }
    match (finding.is_first, finding.status) {
        (None, _) => {}
        (Some(true), _) => {
            notes.push("fix it first: no other race can have caused it".to_string());
        }
        (Some(false), Some(Status::Tangled)) => {
            notes.push("it is not known to be possible at all".to_string());
        }
        (Some(false), _) => notes.push("another race may have caused it".to_string()),
    }
    notes
}

/// Whose the steps are, and what tells each from the others: its name, with a number if another has that name, too.
fn threads(steps: &[Step]) -> Vec<(Strand, String)> {
    let mut threads: Vec<(Strand, &str)> = Vec::new();
    let mut ids = Vec::new();
    for step in steps {
        if threads.iter().any(|(strand, _)| *strand == step.strand) {
            continue;
        }
        let same = threads.iter().filter(|(_, name)| *name == step.thread);
        ids.push(match same.count() {
            0 => (step.strand, step.thread.clone()),
            others => (step.strand, format!("{} ({})", step.thread, others + 1)),
        });
        threads.push((step.strand, &step.thread));
    }
    ids
}

/// A path as a reference: what is below the working directory is relative to it.
fn uri(path: &str, here: &str) -> String {
    let below = path
        .strip_prefix(here)
        .filter(|_| !here.is_empty())
        .and_then(|rest| rest.strip_prefix('/'));
    let path = below.unwrap_or(path);
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut uri = match path.starts_with('/') {
        true => "file://".to_string(),
        false => String::new(),
    };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(byte as char);
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// A text in which nothing is a link.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('[', "\\[")
        .replace(']', "\\]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_name_have_flows_of_their_own() {
        let steps = [(0, "a"), (1, "a"), (0, "a"), (2, "b"), (3, "a")];
        let steps = steps.map(|(strand, thread)| Step {
            strand: Strand(strand),
            thread: thread.to_string(),
            action: String::new(),
            place: Place::unknown(),
        });
        let ids = [(0, "a"), (1, "a (2)"), (2, "b"), (3, "a (3)")];
        assert_eq!(
            threads(&steps),
            ids.map(|(strand, id)| (Strand(strand), id.to_string()))
        );
    }

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("/home/me/a b.c", "/home/me"), "a%20b.c");
        assert_eq!(uri("/home/mean/a.c", "/home/me"), "file:///home/mean/a.c");
        assert_eq!(uri("./src/ä.c", "/x"), "src/%C3%A4.c");
        assert_eq!(uri("/a.c", ""), "file:///a.c");
    }
}
