//! Events to text.
//!
//! In text an object is its name, so names must differ: an object without a name gets one made of its
//! number, and a name that another object of its kind has already gets `~` and a number behind it. The
//! places in the source are not objects: theirs stay as they are.

use std::io::{BufWriter, Write};

use deadheat_model::{Event, Names};

use super::builder::SEMAPHORE;
use super::numbering::{Lookup, Numbering};
use super::{TextFormat, rapid_csv, rapid_std, table};
use crate::error::TraceError;
use deadheat_model::words::{Table, Takes, word_of};

/// Writes a trace as text.
pub struct TextWriter<W: Write> {
    format: TextFormat,
    out: BufWriter<W>,
    /// By table.
    names: [NameTable; Table::ALL.len()],
    /// By strand, where each has a column.
    columns: Vec<usize>,
    /// How many columns there are.
    width: usize,
    line: Vec<u8>,
}

/// The names of a table as they are written.
#[derive(Default)]
struct NameTable {
    taken: Numbering,
    names: Vec<String>,
    /// The same, fit to stand in a line.
    escaped: Vec<Box<[u8]>>,
    /// How often a name was taken, for the next try.
    tries: u64,
}

impl<W: Write> TextWriter<W> {
    /// Writes to `out`, which needs no buffer.
    pub fn new(format: TextFormat, out: W) -> Result<TextWriter<W>, TraceError> {
        let mut out = BufWriter::with_capacity(256 << 10, out);
        if format == TextFormat::Table {
            out.write_all(table::HEADER.as_bytes())?;
        }
        Ok(TextWriter {
            format,
            out,
            names: Default::default(),
            columns: Vec::new(),
            width: 0,
            line: Vec::new(),
        })
    }

    /// Takes the names that were added since the last call.
    pub fn learn(&mut self, names: &Names) -> Result<(), TraceError> {
        if self.columns.is_empty() {
            self.columns = rapid_csv::columns(&names.strands);
            self.width = self.columns.iter().max().map_or(0, |last| last + 1);
        }
        while self.columns.len() < names.strands.len() {
            self.columns.push(self.width);
            self.width += 1;
        }
        for table in Table::ALL {
            let known = self.names[table as usize].escaped.len();
            for (number, name) in table.of(names).iter().enumerate().skip(known) {
                let escaped = self.names[table as usize].add(table, number, name, self.format)?;
                if table == Table::Semaphores
                    && let Some(&tokens) = names.tokens.get(number)
                    && tokens > 0
                {
                    let site = tokens.to_string();
                    self.line.clear();
                    match self.format {
                        // In the first column, and of no thread.
                        TextFormat::Csv => {
                            let parts = [SEMAPHORE.as_bytes(), b"(", &escaped, b")|"];
                            self.line.extend_from_slice(&parts.concat());
                            self.line
                                .extend_from_slice(&[site.as_bytes(), b"\n"].concat());
                        }
                        _ => put(
                            &mut self.line,
                            self.format,
                            b"",
                            SEMAPHORE,
                            &escaped,
                            site.as_bytes(),
                        ),
                    }
                    self.out.write_all(&self.line)?;
                }
            }
        }
        Ok(())
    }

    /// Writes events, whose names have been learnt.
    pub fn write(&mut self, events: &[Event]) -> Result<(), TraceError> {
        for event in events {
            let (code, detail, object) = event.to_parts();
            let word = word_of(code, detail);
            let digits;
            let target = match word.takes {
                Takes::Nothing => &[][..],
                Takes::Named(table) => self.names[table as usize].get(table, object)?,
                Takes::Number => {
                    digits = object.to_string();
                    digits.as_bytes()
                }
            };
            self.line.clear();
            if self.format == TextFormat::Csv {
                let own = self.column(event.strand().0.into())?;
                let thread;
                let target = match word.takes {
                    Takes::Named(Table::Strands) => {
                        thread = rapid_csv::thread(self.column(object)?);
                        &thread
                    }
                    _ => target,
                };
                self.line.resize(own, b',');
                for piece in [word.word.as_bytes(), b"(", target, b")"] {
                    self.line.extend_from_slice(piece);
                }
                let behind = self.line.len() + self.width - 1 - own;
                self.line.resize(behind, b',');
                self.line.push(b'\n');
                self.out.write_all(&self.line)?;
                continue;
            }
            let strands = &self.names[Table::Strands as usize];
            let thread = strands.get(Table::Strands, event.strand().0.into())?;
            let sites = &self.names[Table::Sites as usize];
            let site = sites.get(Table::Sites, event.site().0.into())?;
            put(&mut self.line, self.format, thread, word.word, target, site);
            self.out.write_all(&self.line)?;
        }
        Ok(())
    }

    /// The column of a strand.
    fn column(&self, strand: u64) -> Result<usize, TraceError> {
        let column = self.columns.get(strand as usize);
        column.copied().ok_or(TraceError::Unnamed {
            table: Table::Strands,
            number: strand,
            known: self.columns.len() as u64,
        })
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<(), TraceError> {
        Ok(self.out.flush()?)
    }
}

fn put(
    line: &mut Vec<u8>,
    format: TextFormat,
    thread: &[u8],
    word: &str,
    target: &[u8],
    site: &[u8],
) {
    let (before, between, behind): (&[u8], &[u8], &[u8]) = match format {
        TextFormat::Std => (b"|", b"(", b")|"),
        TextFormat::Csv | TextFormat::Table => (b",", b",", b","),
    };
    for piece in [
        thread,
        before,
        word.as_bytes(),
        between,
        target,
        behind,
        site,
        b"\n",
    ] {
        line.extend_from_slice(piece);
    }
}

impl NameTable {
    fn get(&self, table: Table, number: u64) -> Result<&[u8], TraceError> {
        let known = self.escaped.len() as u64;
        match self.escaped.get(number as usize) {
            Some(name) => Ok(name),
            None => Err(TraceError::Unnamed {
                table,
                number,
                known,
            }),
        }
    }

    /// The name of the next object, different from those before.
    fn add(
        &mut self,
        table: Table,
        number: usize,
        name: &str,
        format: TextFormat,
    ) -> Result<Box<[u8]>, TraceError> {
        let mut candidate = match name {
            "" => format!("{}{number}", table.prefix()),
            name => name.to_string(),
        };
        if table == Table::Sites {
            candidate = name.to_string();
        } else {
            while !self.take(table, &candidate)? {
                self.tries += 1;
                candidate = format!("{name}~{}", self.tries + 1);
            }
        }
        let escaped = match format {
            TextFormat::Std => rapid_std::escape(&candidate, false),
            TextFormat::Csv => rapid_std::escape(&candidate, true),
            TextFormat::Table => table::escape(&candidate),
        };
        self.escaped.push(escaped.clone());
        Ok(escaped)
    }

    /// Takes a name, if nobody has it.
    fn take(&mut self, table: Table, name: &str) -> Result<bool, TraceError> {
        let bytes = name.as_bytes();
        let text = |_| Ok::<_, TraceError>(name);
        match self.taken.number(&mut self.names, bytes, text)? {
            Lookup::New(_) => Ok(true),
            Lookup::Known(_) => Ok(false),
            Lookup::Full => Err(TraceError::TooManyNames { table }),
        }
    }
}
