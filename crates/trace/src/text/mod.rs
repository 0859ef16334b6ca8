//! Traces as text: RAPID's STD and CSV, with words of our own for what RAPID does not have, and a table.
//!
//! The text is read in [`chunks`] of whole lines. A [`parser`] makes events of a chunk, with numbers of its own for their objects;
//! a [`merger`] gives them the numbers of the whole text. Of a long text, several parsers work at a time
//! ([`parallel`]). Inside a parser, a line is split into its fields by [`rapid_std`], [`rapid_csv`] or [`table`], and [`builder`] makes
//! an event of them. `docs/traces.md` describes the formats.
//!
//! Guarantee: the events, their numbers and the error are the same as if line after line were read, whatever the chunks and
//! however many the parsers. A line that is not an event is an error with its number; nothing else is. Cost: one pass, in
//! windows; memory for the names and, for each thread, a few chunks with their events.

mod builder;
mod chunks;
mod for_rapid;
mod merger;
mod name_list;
mod numbering;
mod parallel;
mod parser;
mod rapid_csv;
mod rapid_std;
mod table;
mod writer;

use std::io::Read;
use std::ops::ControlFlow;
use std::thread;

use deadheat_model::{Event, Names};

use crate::error::TraceError;
use chunks::{Chunk, Chunks};
use merger::Merger;
use parser::{Parsed, Parser};

pub use chunks::MAX_LINE;
pub use for_rapid::ForRapid;
pub(crate) use table::is_header_line;
pub use writer::TextWriter;

/// How an event is written as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextFormat {
    /// `THREAD|op(TARGET)|LOC`.
    Std,
    /// `,op(TARGET),,`: a column for each thread.
    Csv,
    /// `THREAD,op,TARGET,LOC`.
    Table,
}

/// How much text is parsed at a time: it and its events stay in a core's own cache.
const CHUNK: usize = 512 << 10;

/// How many names of a kind a parser may know: their numbers stay in a core's own cache, too.
const NAMES: usize = 16 << 10;

/// Threads that parse, at most: more than this and putting their names together takes longer.
const MOST_PARSERS: usize = 8;

/// Reads a trace in text, once.
pub struct TextReader<R> {
    chunks: Chunks<R>,
    merger: Merger,
    split: Split,
}

/// How the work is divided. What is read does not depend on it, only how fast.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// How many bytes are read at a time, and parsed by themselves.
    pub chunk: usize,
    /// How many parsers a text of several chunks has; as many as there are cores, unless given.
    pub parsers: Option<usize>,
    /// How many names of a kind a parser may know when it begins a chunk.
    pub names: usize,
}

impl Default for Split {
    fn default() -> Split {
        Split {
            chunk: CHUNK,
            parsers: None,
            names: NAMES,
        }
    }
}

impl<R: Read + Send> TextReader<R> {
    /// Reads from `reader`, which needs no buffer.
    pub fn new(format: TextFormat, reader: R) -> TextReader<R> {
        TextReader::with(Split::default(), format, reader)
    }

    /// The same, with the work divided in another way.
    pub fn with(split: Split, format: TextFormat, reader: R) -> TextReader<R> {
        TextReader {
            chunks: Chunks::new(format, reader, split.chunk.max(1)),
            merger: Merger::default(),
            split,
        }
    }

    /// Hands over the events in order, a window at a time, with the names of all that they mention and how many bytes have been
    /// read.
    pub fn for_each<B>(
        &mut self,
        mut each: impl FnMut(&[Event], &Names, u64) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TraceError> {
        let mut parsers = self.split.parsers;
        let mut parser = Parser::new(0, self.split.names);
        let mut chunk = Chunk::default();
        let mut parsed = Parsed::default();
        while self.chunks.next(&mut chunk)? {
            parser.parse(self.chunks.format(), &chunk, usize::MAX, &mut parsed);
            let flow = self.merger.hand_over(&mut parsed, &mut each)?;
            if flow.is_break() || self.chunks.is_at_end() {
                return Ok(flow);
            }
            // Not before: to ask for the cores takes longer than to read a short text.
            let parsers = *parsers.get_or_insert_with(|| {
                thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_PARSERS))
            });
            if parsers > 1 {
                let others = (1..parsers).map(|number| Parser::new(number, self.split.names));
                let parsers = [parser].into_iter().chain(others).collect();
                return parallel::for_each(&mut self.chunks, parsers, &mut self.merger, each);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The names in what was read so far.
    pub fn into_names(self) -> Names {
        self.merger.names
    }

    /// The line in which an event begins, by its number from 1; none if there are not so many.
    pub fn line_of(mut self, number: u64) -> Result<Option<u64>, TraceError> {
        let mut parser = Parser::new(0, self.split.names);
        let mut chunk = Chunk::default();
        let mut parsed = Parsed::default();
        let mut left = number;
        while self.chunks.next(&mut chunk)? {
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            parser.parse(self.chunks.format(), &chunk, most, &mut parsed);
            if let Some(problem) = parsed.problem {
                return Err(problem);
            }
            left -= parsed.events.len() as u64;
            if left == 0 {
                return Ok(Some(parsed.last_line));
            }
        }
        Ok(None)
    }
}

/// The beginning of a text, fit to be shown.
fn excerpt(text: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = text.trim_ascii();
    let shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
    let mut shown: String = shown
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.len() > SHOWN {
        shown.push('…');
    }
    shown
}
