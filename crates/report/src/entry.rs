//! A finding as SARIF and the page show it, whatever command and engine it comes from.

use deadheat_model::Strand;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::page::{Graph, Story};
use crate::sources::Sources;
use crate::style::counted;

/// What a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Nothing ordered two conflicting accesses.
    Race,
    /// A race that another schedule shows.
    PredictedRace,
    /// An engine that can be wrong says so.
    Suspect,
    /// Nobody can go on.
    Deadlock,
    /// The program failed.
    Failure,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 5] = [
        Rule::Race,
        Rule::PredictedRace,
        Rule::Suspect,
        Rule::Deadlock,
        Rule::Failure,
    ];

    /// Its name, for other programs to read.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Race => "race",
            Rule::PredictedRace => "predicted-race",
            Rule::Suspect => "suspect",
            Rule::Deadlock => "deadlock",
            Rule::Failure => "failure",
        }
    }

    /// The less, the better founded.
    fn doubt(self) -> u8 {
        match self {
            Rule::PredictedRace => 0,
            Rule::Suspect => 2,
            _ => 1,
        }
    }

    /// What it means, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Rule::Race => "Nothing orders two accesses to the same memory, one of which writes.",
            Rule::PredictedRace => {
                "Another schedule of what the program did has two accesses to the same memory side by side, one of which \
                 writes."
            }
            Rule::Suspect => {
                "Two accesses to the same memory, one of which writes, follow no rule that would keep them apart."
            }
            Rule::Deadlock => "Tasks or threads wait for each other or for what never comes.",
            Rule::Failure => "The program fails in some schedule.",
        }
    }
}

/// How many findings of one report become entries, the first ones; services take no more, either.
pub const MAX_ENTRIES: usize = 10_000;

/// What is to be said if a report has more findings than become entries.
pub(crate) fn more(findings: usize) -> Option<String> {
    let more = findings.saturating_sub(MAX_ENTRIES) as u64;
    (more > 0).then(|| format!("{} only in --json", counted(more, "more finding")))
}

/// What a command has to say about one input.
pub struct Chapter<'s> {
    /// The program or the trace.
    pub title: String,
    /// Its findings.
    pub entries: Vec<Entry>,
    /// What each engine proves.
    pub guarantees: Vec<String>,
    /// The files that it is about.
    pub sources: &'s Sources,
}

impl<'s> Chapter<'s> {
    /// One finding of each identity, the one that is best founded.
    pub fn new(
        title: String,
        entries: Vec<Entry>,
        guarantees: Vec<String>,
        sources: &'s Sources,
    ) -> Chapter<'s> {
        let mut chapter = Chapter {
            title,
            entries: Vec::new(),
            guarantees,
            sources,
        };
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        for entry in entries {
            match places.get(&entry.fingerprint) {
                Some(&place) if entry.rule.doubt() < chapter.entries[place].rule.doubt() => {
                    chapter.entries[place] = entry;
                }
                Some(&place) => chapter.entries[place].absorb(&entry),
                None => {
                    places.insert(entry.fingerprint.clone(), chapter.entries.len());
                    chapter.entries.push(entry);
                }
            }
        }
        chapter
    }
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// What it is.
    pub rule: Rule,
    /// Its identity.
    pub fingerprint: String,
    /// Who found it.
    pub engine: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// `write-read` and so on; nothing for what is no race.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// What the accesses touch; nothing for what is no race.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variable: String,
    /// How many pairs of accesses it stands for.
    pub count: u64,
    /// The two accesses; or who waits where; or where it failed.
    pub sides: Vec<Side>,
    /// More to know, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What would order the accesses or keep them apart, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Whether it is among those to fix first, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<bool>,
    /// The last steps of an order that shows it.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// The events that lead to it, for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// What orders the events around it, for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
}

impl Entry {
    /// Adds what the same engine says of other accesses on the same lines.
    fn absorb(&mut self, other: &Entry) {
        if self.engine != other.engine {
            return;
        }
        self.count = self.count.saturating_add(other.count);
        if !self.kind.split(", ").any(|kind| kind == other.kind) {
            self.kind = format!("{}, {}", self.kind, other.kind);
        }
    }
}

/// One place of a finding.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Side {
    /// What happens there, and by whom.
    pub label: String,
    /// The name of the thread or task.
    pub thread: String,
    /// `dir/file.c:12:7`, or what else is known.
    pub place: String,
    /// The calls that led there, innermost first, where they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Call>,
}

/// One call of a stack.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The function.
    pub function: Option<String>,
    /// `dir/file.c:12:7`, or what else is known.
    pub place: String,
}

/// What one thread does at one place.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Whose it is: names may agree, most of all cut ones.
    pub strand: Strand,
    /// The name of the thread or task.
    pub thread: String,
    /// What it does, as an operation of a trace.
    pub action: String,
    /// `dir/file.c:12:7`, or what else is known.
    pub place: String,
}

/// What is wrong, in a sentence: who `can` do what at the same time.
pub fn at_the_same_time(
    can: &str,
    variable: &str,
    (first, first_kind): (&str, &str),
    (second, second_kind): (&str, &str),
) -> String {
    match (first_kind, second_kind) {
        ("write", "read") => format!("{first} {can} write `{variable}` while {second} reads it"),
        ("read", "write") => format!("{second} {can} write `{variable}` while {first} reads it"),
        _ => {
            let (a, b) = match first <= second {
                true => (first, second),
                false => (second, first),
            };
            format!("{a} and {b} {can} write `{variable}` at the same time")
        }
    }
}
