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

use crate::entry::{Chapter, Entry};
use crate::sources::{Sources, parts};

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
    entries: &'c [Entry],
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
                entries: &chapter.entries,
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
    let mut wanted: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for place in places_of(chapter) {
        if let (path, Some(line), _) = parts(place) {
            wanted.entry(path).or_default().push(line);
        }
    }
    for (path, mut lines) in wanted {
        lines.sort_unstable();
        lines.dedup();
        let stretches = files.entry(path.to_string()).or_default();
        add_stretches(chapter.sources, path, &lines, stretches, room);
    }
    files.retain(|_, stretches| !stretches.is_empty());
}

fn places_of<'c>(chapter: &'c Chapter<'_>) -> impl Iterator<Item = &'c str> {
    chapter.entries.iter().flat_map(|entry| {
        let sides = entry.sides.iter().flat_map(|side| {
            let stack = side.stack.iter().map(|call| call.place.as_str());
            std::iter::once(side.place.as_str()).chain(stack)
        });
        let story = entry.story.iter();
        let graph = entry.graph.iter();
        sides
            .chain(story.flat_map(|story| story.last_places(MAX_SHOWN)))
            .chain(graph.flat_map(Graph::places))
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
