//! Chunks to events, whose objects have numbers of the parser's own.
//!
//! A parser numbers names as if the chunks that it is given were the whole text, and tells with each chunk which names are
//! new to it. A [`Merger`](super::merger::Merger) gives them the numbers that they have in the whole text. So a parser needs
//! to know nothing of the chunks that others parse.
//!
//! Cost: memory for a bounded number of names. A parser that begins a chunk with more forgets all of them, and numbers anew.

use deadheat_model::Event;
use deadheat_model::words::Table;

use super::builder::{Builder, Declared};
use super::chunks::{Chunk, MAX_LINE, Records, without_mark};
use super::name_list::NameList;
use super::{TextFormat, excerpt, rapid_csv, rapid_std, table};
use crate::error::{LineProblem, TraceError};

/// How many bytes of names of a kind a parser begins a chunk with at most.
const MOST_BYTES: usize = 4 << 20;

/// Parses some of the chunks of a text, in their order.
pub(super) struct Parser {
    /// Which parser it is, from 0.
    number: usize,
    builder: Builder,
    /// How many names of a kind it begins a chunk with at most.
    most_names: usize,
    room: Room,
}

/// Room for the fields of a line that do not stand there as they are meant.
pub(super) type Room = [Vec<u8>; 4];

/// What a chunk says.
#[derive(Default)]
pub(super) struct Parsed {
    /// By which parser.
    pub parser: usize,
    /// Whether the parser has forgotten the names of the chunks before.
    pub anew: bool,
    /// In the parser's numbers.
    pub events: Vec<Event>,
    /// By table: the names that are new to the parser, in the order of their numbers.
    pub names: [NameList; Table::ALL.len()],
    /// Whether the places are lines: then each is an event's own.
    pub by_line: bool,
    /// In order.
    pub declarations: Vec<Declaration>,
    /// What is wrong behind the events and declarations.
    pub problem: Option<TraceError>,
    /// The line in which the last event begins.
    pub last_line: u64,
    /// Where the chunk ends in the text.
    pub end: u64,
}

impl Parsed {
    /// What could not even be read.
    pub fn failed(problem: TraceError) -> Parsed {
        Parsed {
            problem: Some(problem),
            ..Parsed::default()
        }
    }
}

/// A line that declares a semaphore.
pub(super) struct Declaration {
    /// In the parser's number.
    pub declared: Declared,
    /// What is wrong if the semaphore is known in the whole text.
    pub problem: TraceError,
}

impl Parser {
    pub fn new(number: usize, most_names: usize) -> Parser {
        Parser {
            number,
            builder: Builder::default(),
            most_names,
            room: Room::default(),
        }
    }

    /// Parses a chunk of a text in this format, up to so many events.
    pub fn parse(&mut self, format: TextFormat, chunk: &Chunk, most: usize, parsed: &mut Parsed) {
        parsed.by_line = format == TextFormat::Csv;
        if parsed.by_line {
            self.builder.names[Table::Sites as usize].clear();
        }
        let mut names = self.builder.names.iter();
        parsed.anew =
            names.any(|names| names.len() > self.most_names || names.bytes() > MOST_BYTES);
        if parsed.anew {
            self.builder.forget();
        }
        let known = self.builder.names.each_ref().map(NameList::len);
        parsed.parser = self.number;
        parsed.events.clear();
        parsed.declarations.clear();
        parsed.end = chunk.end;
        parsed.problem = self.parse_records(format, chunk, most, parsed).err();
        for (table, known) in known.into_iter().enumerate() {
            let new = self.builder.names[table].iter_from(known);
            parsed.names[table].clear();
            new.for_each(|name| parsed.names[table].push(name));
        }
    }

    fn parse_records(
        &mut self,
        format: TextFormat,
        chunk: &Chunk,
        most: usize,
        parsed: &mut Parsed,
    ) -> Result<(), TraceError> {
        let mut records = Records::new(format, chunk);
        let escapes = memchr::memchr(b'%', &chunk.text).is_some();
        while parsed.events.len() < most
            && let Some((line, record)) = records.next()
        {
            if record.len() > MAX_LINE {
                return Err(at_line(line, LineProblem::TooLong(MAX_LINE), record));
            }
            let text = match line {
                1 => without_mark(record),
                _ => record,
            };
            let fields = match format {
                TextFormat::Std => rapid_std::split(text, escapes, &mut self.room),
                TextFormat::Csv => rapid_csv::split(text, &mut self.room),
                TextFormat::Table => table::split(text, line == 1, &mut self.room),
            };
            let problem = |problem| at_line(line, problem, text);
            let Some(fields) = fields.map_err(problem)? else {
                continue;
            };
            let declared = self.builder.add(fields, line, &mut parsed.events);
            match declared.map_err(problem)? {
                None => parsed.last_line = line,
                Some(declared) => parsed.declarations.push(Declaration {
                    declared,
                    problem: problem(LineProblem::Semaphore),
                }),
            }
        }
        Ok(())
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
