//! Traces as text: RAPID's STD and CSV, with words of our own for what RAPID does not have, and a table.
//!
//! A line is split into its fields by [`rapid_std`], [`rapid_csv`] or [`table`]; [`builder`] makes an event of
//! them and gives names their numbers. `docs/traces.md` describes the formats.
//!
//! Guarantee: a line that is not an event is an error with its number; nothing else is. Cost: one pass,
//! in windows; memory for the names and one window.

mod builder;
mod for_rapid;
mod lines;
mod numbering;
mod rapid_csv;
mod rapid_std;
mod table;
mod writer;

use std::io::Read;
use std::ops::ControlFlow;

use deadheat_model::{Event, Names};

use crate::WINDOW;
use crate::error::{LineProblem, TraceError};
use builder::Builder;
use lines::{Line, Lines};

pub use for_rapid::ForRapid;
pub use lines::MAX_LINE;
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

/// Reads a trace in text, once.
pub struct TextReader<R> {
    format: TextFormat,
    lines: Lines<R>,
    /// The number of the line that comes next.
    line: u64,
    /// The number of the line in which the last event began.
    last_event: u64,
    builder: Builder,
}

impl<R: Read> TextReader<R> {
    /// Reads from `reader`, which needs no buffer.
    pub fn new(format: TextFormat, reader: R) -> TextReader<R> {
        TextReader {
            format,
            lines: Lines::new(reader),
            line: 1,
            last_event: 0,
            builder: Builder::default(),
        }
    }

    /// Hands over the events in order, a window at a time, with the names of all that they mention and
    /// how many bytes have been read.
    pub fn for_each<B>(
        &mut self,
        mut each: impl FnMut(&[Event], &Names, u64) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TraceError> {
        let mut window = Vec::with_capacity(WINDOW);
        loop {
            let more = self.fill(&mut window, WINDOW)?;
            if !window.is_empty()
                && let ControlFlow::Break(value) =
                    each(&window, &self.builder.names, self.lines.read)
            {
                return Ok(ControlFlow::Break(value));
            }
            if !more {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// The names in what was read so far.
    pub fn into_names(self) -> Names {
        self.builder.names
    }

    /// The line in which an event begins, by its number from 1; none if there are not so many.
    pub fn line_of(mut self, number: u64) -> Result<Option<u64>, TraceError> {
        let mut window = Vec::new();
        let mut left = number;
        while left > 0 {
            let most = usize::try_from(left).map_or(WINDOW, |left| left.min(WINDOW));
            let more = self.fill(&mut window, most)?;
            left -= window.len() as u64;
            if !more && left > 0 {
                return Ok(None);
            }
        }
        Ok(Some(self.last_event))
    }

    /// Fills a window with so many events; says whether there may be more.
    fn fill(&mut self, window: &mut Vec<Event>, most: usize) -> Result<bool, TraceError> {
        window.clear();
        while window.len() < most {
            // A quoted field of a table goes on behind a line end.
            let (mut quotes, mut line_ends) = (0, 0);
            let line = match self.format {
                TextFormat::Std | TextFormat::Csv => self.lines.next()?,
                TextFormat::Table => self.lines.next_where(|piece| {
                    quotes += memchr::memchr_iter(b'"', piece).count();
                    line_ends += 1;
                    quotes % 2 == 0
                })?,
            };
            let line = match line {
                Line::Text(line) => line,
                Line::TooLong(text) => {
                    let problem = LineProblem::TooLong(MAX_LINE);
                    return Err(at_line(self.line, problem, text));
                }
                Line::End => return Ok(false),
            };
            // The first bytes may be a mark of UTF-8.
            let text = match self.line {
                1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
                _ => line,
            };
            if self.line == 1 && self.format == TextFormat::Csv && is_header_line(text) {
                self.format = TextFormat::Table;
            }
            let fields = match self.format {
                TextFormat::Std => rapid_std::split(text),
                TextFormat::Csv => rapid_csv::split(text, self.line),
                TextFormat::Table => table::split(text, self.line == 1),
            };
            let event = fields.and_then(|fields| match fields {
                Some(fields) => self.builder.event(&fields),
                None => Ok(None),
            });
            match event {
                Ok(Some(event)) => {
                    self.last_event = self.line;
                    window.push(event);
                }
                Ok(None) => {}
                Err(problem) => return Err(at_line(self.line, problem, text)),
            }
            self.line += line_ends.max(1);
        }
        Ok(true)
    }
}

/// An error about a line, of which only the beginning is kept.
fn at_line(line: u64, problem: LineProblem, text: &[u8]) -> TraceError {
    TraceError::Line {
        line,
        problem,
        text: excerpt(text),
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
