//! Findings as SARIF 2.1.0, the format that code scanning services and editors read.
//!
//! One run; a result a finding, at its first access, the other one as a related location; stacks, and the order that
//! shows a predicted race, as code flows. Places that are in no file have a logical name only. Paths below the
//! working directory are relative to it, as services want them.
//!
//! Cost: one result at a time is made and written, so the memory is that of the largest.

use std::io::{self, Write};

use deadheat_model::Strand;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::entry::{Call, Chapter, Entry, Rule, Side, Step};
use crate::fingerprint::SCHEME;
use crate::sources::{Sources, parts};

/// Writes all findings of a command, and the sentences that say what it proves.
pub fn sarif(chapters: &[Chapter<'_>], to: &mut dyn Write) -> io::Result<()> {
    let here = std::env::current_dir().ok();
    let here = here.as_deref().and_then(|path| path.to_str());
    let here = here.unwrap_or_default();
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule.name(),
            "shortDescription": {"text": rule.meaning()},
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
    serde_json::to_writer_pretty(&mut *to, &document)?;
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
            let log = Log {
                here: self.here,
                sources: chapter.sources,
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
}

impl Log<'_> {
    fn result(&self, entry: &Entry) -> Value {
        let index = Rule::ALL.iter().position(|rule| *rule == entry.rule);
        let mut message = entry.message.clone();
        for (number, side) in (1..).zip(&entry.sides) {
            message += &format!("\n[{}]({number})", escaped(&side.label));
        }
        for note in entry.notes.iter().chain(&entry.remedy) {
            message += &format!("\n{}", escaped(note));
        }
        let related = (1..).zip(&entry.sides).map(|(id, side)| {
            let mut location = self.location(&side.place, &side.label);
            location["id"] = json!(id);
            location
        });
        let related: Vec<Value> = related.collect();
        let primary = entry
            .sides
            .first()
            .map(|side| self.location(&side.place, &side.label));
        let mut result = json!({
            "ruleId": entry.rule.name(),
            "ruleIndex": index,
            "level": level(entry.rule),
            "message": {"text": message},
            "locations": primary.into_iter().collect::<Vec<Value>>(),
            "relatedLocations": related,
            "partialFingerprints": {SCHEME: entry.fingerprint},
            "occurrenceCount": entry.count.max(1),
            "properties": {"engine": entry.engine, "kind": entry.kind, "variable": entry.variable},
        });
        let flows = self.flows(entry);
        if !flows.is_empty() {
            result["codeFlows"] = json!(flows);
        }
        result
    }

    /// The order that shows it, or how each side got where it is.
    fn flows(&self, entry: &Entry) -> Vec<Value> {
        if !entry.steps.is_empty() {
            let steps = &entry.steps;
            let flows = threads(steps).into_iter().map(|(strand, id)| {
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
        let with_stack = entry.sides.iter().filter(|side| side.stack.len() > 1);
        with_stack.map(|side| self.stack(side)).collect()
    }

    fn step(&self, step: &Step, thread: &str, order: usize) -> Value {
        let label = format!("{thread}: {}", step.action);
        json!({"location": self.location(&step.place, &label), "executionOrder": order})
    }

    fn stack(&self, side: &Side) -> Value {
        let calls = side.stack.iter().rev().map(|call| self.call(call));
        json!({
            "message": {"text": side.label},
            "threadFlows": [{"id": side.thread, "locations": calls.collect::<Vec<Value>>()}],
        })
    }

    fn call(&self, call: &Call) -> Value {
        let label = call.function.as_deref().unwrap_or("?");
        json!({"location": self.location(&call.place, label)})
    }

    fn location(&self, place: &str, label: &str) -> Value {
        let mut location = json!({"message": {"text": label}});
        let (path, Some(line), column) = parts(place) else {
            location["logicalLocations"] = json!([{"fullyQualifiedName": place}]);
            return location;
        };
        let mut region = json!({"startLine": line});
        if let Some(column) = column {
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
            place: String::new(),
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
