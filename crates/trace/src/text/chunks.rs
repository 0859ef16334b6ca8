//! A text in chunks of whole records, so that each can be parsed by itself.
//!
//! A record is a line; in a table, a quoted field goes on behind a line end. Every quote opens or closes one, wherever it
//! stands: records end at the line ends that have an even number of quotes before them, and nothing else
//! has to be known of what is before a chunk.
//!
//! Guarantee: a record that is not longer than [`MAX_LINE`] is in one chunk. Cost: what is kept is a chunk's size and the
//! longest record more.

use std::io::{self, Read};

use super::TextFormat;
use super::table::is_header_line;

/// The longest line, or record of several lines: three names and some room.
pub const MAX_LINE: usize = 512 << 10;

/// A text that is read chunk by chunk.
pub(super) struct Chunks<R> {
    format: TextFormat,
    reader: R,
    /// How much is read at a time.
    size: usize,
    /// What was read and is behind the last record of the chunk before.
    rest: Vec<u8>,
    ended: bool,
    /// How many line ends there are in the chunks before.
    line_ends: u64,
    /// How many bytes there are in the chunks before.
    bytes: u64,
}

/// Some whole records. Only the last one of the text may lack its line end, or be longer than [`MAX_LINE`] and not whole.
#[derive(Default)]
pub(super) struct Chunk {
    pub text: Vec<u8>,
    /// The number of its first line, from 1.
    pub line: u64,
    /// Where it ends in the text.
    pub end: u64,
}

impl<R: Read> Chunks<R> {
    pub fn new(format: TextFormat, reader: R, size: usize) -> Chunks<R> {
        Chunks {
            format,
            reader,
            size,
            rest: Vec::new(),
            ended: false,
            line_ends: 0,
            bytes: 0,
        }
    }

    /// How the text is written, as far as is known: the first line of a CSV may say that it is a table.
    pub fn format(&self) -> TextFormat {
        self.format
    }

    /// Whether all has been read.
    pub fn is_at_end(&self) -> bool {
        self.ended && self.rest.is_empty()
    }

    /// Fills the next chunk; says whether there was one.
    pub fn next(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        let text = &mut chunk.text;
        text.clear();
        text.append(&mut self.rest);
        let mut end = loop {
            let read = match self.ended {
                true => 0,
                false => self.read(text)?,
            };
            if self.ended {
                break text.len();
            }
            if let Some(end) = last_end(self.format, text, text.len() - read) {
                break end;
            }
            self.ended = text.len() > MAX_LINE;
        };
        if self.format == TextFormat::Csv && self.bytes == 0 {
            let first = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
            if is_header_line(without_mark(&text[..first])) {
                self.format = TextFormat::Table;
                end = first;
            }
        }
        self.rest.extend_from_slice(&text[end..]);
        text.truncate(end);
        chunk.line = self.line_ends + 1;
        self.line_ends += memchr::memchr_iter(b'\n', text).count() as u64;
        self.bytes += end as u64;
        chunk.end = self.bytes;
        Ok(end > 0)
    }

    /// Reads on; gives how much.
    fn read(&mut self, text: &mut Vec<u8>) -> io::Result<usize> {
        text.reserve(self.size);
        // Nothing comes behind an error.
        self.ended = true;
        let read = (&mut self.reader)
            .take(self.size as u64)
            .read_to_end(text)?;
        self.ended = read < self.size;
        Ok(read)
    }
}

/// Where the last whole record of a text ends. None ends before `from`.
fn last_end(format: TextFormat, text: &[u8], from: usize) -> Option<usize> {
    let at_line_end = || Some(from + memchr::memrchr(b'\n', &text[from..])? + 1);
    match format {
        TextFormat::Std | TextFormat::Csv => at_line_end(),
        TextFormat::Table => {
            let (mut inside, mut end) = (false, None);
            for at in memchr::memchr2_iter(b'"', b'\n', text) {
                match text[at] {
                    b'"' => inside = !inside,
                    _ if inside => {}
                    _ => end = Some(at + 1),
                }
            }
            end
        }
    }
}

/// The first line, without the mark of UTF-8 that it may begin with.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// The records of a chunk.
pub(super) struct Records<'a> {
    quoted: bool,
    rest: &'a [u8],
    /// The number of the line in which the next record begins.
    pub line: u64,
}

impl<'a> Records<'a> {
    pub fn new(format: TextFormat, chunk: &'a Chunk) -> Records<'a> {
        let table = format == TextFormat::Table;
        Records {
            quoted: table && memchr::memchr(b'"', &chunk.text).is_some(),
            rest: &chunk.text,
            line: chunk.line,
        }
    }
}

impl<'a> Iterator for Records<'a> {
    /// The line in which it begins, and the text without the line end.
    type Item = (u64, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        let mut looked = 0;
        let mut inside = false;
        let (record, rest) = loop {
            let Some(at) = memchr::memchr(b'\n', &self.rest[looked..]) else {
                break (self.rest, &[][..]);
            };
            let end = looked + at;
            self.line += 1;
            if self.quoted {
                let quotes = memchr::memchr_iter(b'"', &self.rest[looked..end]).count();
                inside ^= quotes % 2 == 1;
            }
            if !inside {
                break (&self.rest[..end], &self.rest[end + 1..]);
            }
            looked = end + 1;
        };
        self.rest = rest;
        Some((line, record))
    }
}
