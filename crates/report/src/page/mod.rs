//! Findings as one file for a browser, which needs no other and asks nobody.
//!
//! The file is a fixed page (HTML, style and script beside this file) with the findings as JSON in it. Of sources only
//! the lines around what is shown are in it, of witnesses at most their last events; the script draws what is in view.

mod graph;
mod story;

pub use graph::Graph;
pub use story::{Room, Story};

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use deadheat_model::finding::{Frame, Place, Side};

use crate::chapter::{Chapter, Entry};
use crate::sarif::notes;
use crate::sources::Sources;
use crate::text::excerpt;
use crate::text::style::cut;
use crate::words::{self, MAX_THREAD};

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A longer action, or name of a lock, is cut; and a longer place.
const MAX_NAME: usize = 120;
const MAX_PLACE: usize = 300;

/// How many lines before and after a place are shown.
const AROUND: u32 = 7;

/// How many lines of sources a page has.
const MAX_LINES: usize = 100_000;

/// A longer line is cut.
const LONGEST_LINE: usize = 400;

/// How many events of a story have their lines shown.
const MAX_SHOWN: usize = 2_000;

/// What the script reads.
#[derive(Serialize)]
struct Data<'c> {
    version: &'static str,
    chapters: Vec<ChapterData<'c>>,
    /// By path: the first line of each stretch, and its lines.
    files: BTreeMap<String, Vec<(u32, Vec<String>)>>,
}

#[derive(Serialize)]
struct ChapterData<'c> {
    title: &'c str,
    guarantees: &'c [String],
    entries: Vec<EntryData<'c>>,
}

/// A bug.
#[derive(Serialize)]
struct EntryData<'c> {
    rule: &'static str,
    fingerprint: String,
    engine: &'static str,
    /// What is wrong, in a sentence.
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    variable: &'c str,
    count: u64,
    sides: Vec<SideData>,
    /// Other races that the same change mends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<bool>,
    /// A line for a file of suppressions.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<&'c Story>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<&'c Graph>,
}

/// One side of a finding.
#[derive(Serialize)]
struct SideData {
    /// What happens there, and by whom.
    label: String,
    thread: String,
    place: String,
    /// What to underline in the line: from and to, in units of JavaScript's strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    underline: Option<(usize, usize)>,
    /// The calls that led there, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack: Vec<CallData>,
}

#[derive(Serialize)]
struct CallData {
    function: Option<String>,
    place: String,
}

/// Another race of a bug.
#[derive(Serialize)]
struct OtherData {
    fingerprint: String,
    /// What its other side does, and where.
    label: String,
    place: String,
}

impl<'c> EntryData<'c> {
    fn new(entry: &'c Entry, sources: &Sources) -> EntryData<'c> {
        let lead = &entry.lead;
        let others = entry.others.iter().map(|other| OtherData {
            fingerprint: other.identity.to_string(),
            label: words::as_other(lead, other),
            place: words::other_side(lead, other)
                .map_or_else(String::new, |side| shown(&side.place)),
        });
        let kind = lead.kind().map_or(String::new(), |kind| kind.to_string());
        let is_named = !lead.variable.is_described() && !lead.variable.name.is_empty();
        EntryData {
            rule: lead.rule.name(),
            fingerprint: lead.identity.to_string(),
            engine: lead.engine,
            message: words::title(lead),
            kind,
            variable: &lead.variable.name,
            count: lead.count,
            sides: lead
                .sides
                .iter()
                .map(|side| SideData::new(side, &lead.variable.name, sources))
                .collect(),
            others: others.collect(),
            notes: notes(lead),
            remedy: words::advice(lead),
            first: lead.is_first,
            suppression: is_named.then(|| format!("variable:^{}$", lead.variable.name)),
            story: entry.story.as_ref(),
            graph: entry.graph.as_ref(),
        }
    }
}

impl SideData {
    fn new(side: &Side, variable: &str, sources: &Sources) -> SideData {
        let call = |frame: &Frame| CallData {
            function: frame.function.clone(),
            place: shown(&frame.place()),
        };
        SideData {
            label: words::label(side),
            thread: cut(&side.thread, MAX_THREAD),
            place: shown(&side.place),
            underline: underline(&side.place, variable, sources),
            stack: side.stack.iter().map(|frame| call(frame)).collect(),
        }
    }
}

/// What to underline in the line of a place, as far as the page has it.
fn underline(place: &Place, variable: &str, sources: &Sources) -> Option<(usize, usize)> {
    let (file, line) = (sources.file(place.file()?)?, place.line()?);
    let text = file.line(line)?;
    let span = match place.span() {
        Some((start, length)) => {
            let start = (start as usize).checked_sub(file.start(line)?)?;
            start..start + length as usize
        }
        None => excerpt::span(text, place.column(), variable),
    };
    let units = |end: usize| Some(text.get(..end)?.encode_utf16().count());
    Some((units(span.start)?, units(span.end)?))
}

fn shown(place: &Place) -> String {
    cut(place.as_str(), MAX_PLACE)
}

/// Writes the page.
pub fn page(chapters: &[Chapter<'_>], to: &mut dyn Write) -> io::Result<()> {
    let mut files = BTreeMap::new();
    let mut room = MAX_LINES;
    for chapter in chapters {
        add_lines(chapter, &mut files, &mut room);
    }
    let data = Data {
        version: env!("CARGO_PKG_VERSION"),
        chapters: chapters
            .iter()
            .map(|chapter| ChapterData {
                title: &chapter.title,
                guarantees: &chapter.guarantees,
                entries: chapter
                    .entries
                    .iter()
                    .map(|entry| EntryData::new(entry, chapter.sources))
                    .collect(),
            })
            .collect(),
        files,
    };
    let mut rest = FRAME;
    for name in ["STYLE", "DATA", "SCRIPT"] {
        let mark = format!("<!--{name}-->");
        let (before, after) = rest.split_once(&mark).unwrap_or((rest, ""));
        to.write_all(before.as_bytes())?;
        match name {
            "STYLE" => to.write_all(STYLE.as_bytes())?,
            "SCRIPT" => to.write_all(SCRIPT.as_bytes())?,
            _ => {
                let mut script = BufWriter::new(InScript(to));
                serde_json::to_writer(&mut script, &data)?;
                script.flush()?;
            }
        }
        rest = after;
    }
    to.write_all(rest.as_bytes())
}

/// JSON inside a script, where `</script` and `<!--` would mean something: `<` is only in its strings, and spelt out.
struct InScript<'w>(&'w mut dyn Write);

impl Write for InScript<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (number, part) in bytes.split(|&byte| byte == b'<').enumerate() {
            if number > 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The lines around every place that a chapter shows, each once.
fn add_lines(
    chapter: &Chapter<'_>,
    files: &mut BTreeMap<String, Vec<(u32, Vec<String>)>>,
    room: &mut usize,
) {
    let mut wanted: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for place in places_of(chapter) {
        if let (Some(path), Some(line)) = (place.file(), place.line()) {
            wanted.entry(path.to_string()).or_default().push(line);
        }
    }
    for (path, mut lines) in wanted {
        lines.sort_unstable();
        lines.dedup();
        let stretches = files.entry(path.clone()).or_default();
        add_stretches(chapter.sources, &path, &lines, stretches, room);
    }
    files.retain(|_, stretches| !stretches.is_empty());
}

fn places_of(chapter: &Chapter<'_>) -> impl Iterator<Item = Place> {
    chapter.entries.iter().flat_map(|entry| {
        let sides = entry.findings().flat_map(|finding| &finding.sides);
        let sides = sides.flat_map(|side| {
            let stack = side.stack.iter().map(|frame| frame.place());
            std::iter::once((*side.place).clone()).chain(stack)
        });
        let story = entry.story.iter();
        let story = story.flat_map(|story| story.last_places(MAX_SHOWN));
        let graph = entry.graph.iter().flat_map(Graph::places);
        sides.chain(story.chain(graph).map(Place::parse))
    })
}

fn add_stretches(
    sources: &Sources,
    path: &str,
    lines: &[u32],
    stretches: &mut Vec<(u32, Vec<String>)>,
    room: &mut usize,
) {
    let Some(file) = sources.file(path) else {
        return;
    };
    for &line in lines {
        let from = line.saturating_sub(AROUND).max(1);
        let to = line.saturating_add(AROUND).min(file.lines());
        let next = match stretches.last() {
            Some((start, known)) => from.max(start + known.len() as u32),
            None => from,
        };
        for number in next..=to {
            let Some(text) = file.line(number).filter(|_| *room > 0) else {
                return;
            };
            *room -= 1;
            let text: String = text.chars().take(LONGEST_LINE).collect();
            match stretches.last_mut() {
                Some((start, known)) if *start + known.len() as u32 == number => known.push(text),
                _ => stretches.push((number, vec![text])),
            }
        }
    }
}
