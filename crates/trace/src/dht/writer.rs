//! Writing a `.dht` file, by many threads at once.
//!
//! Each thread has a [`StrandWriter`], collects events there, and makes a block of them without anybody
//! else's help; the file is locked only while a finished block is appended. Names may be added at any
//! time before the events that use them are handed over.
//!
//! Guarantee: whenever the program is killed, all blocks that were appended can be read. A strand's
//! events are handed over when there are enough for a block, when they span [`MAX_SPAN`] events of the
//! whole execution, and when [`StrandWriter::flush`] is called: do so before a wait that may be long,
//! because the events behind a missing one cannot be used.
//!
//! Cost: 16 bytes for each event that is not yet handed over.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deadheat_model::{Event, Names, Op, Site, SiteKind, Strand, StrandKind};

use super::block::{Encoder, Sizes};
use super::columns::ColumnWriter;
use super::layout::{
    HEAD, Head, Kind, MAX_BLOCK_EVENTS, MAX_SPAN, file_header, index_entry, trailer,
};
use super::names::{Detail, NewNames};
use super::runs::RunWriter;
use crate::error::{MAX_NAME, TraceError};
use deadheat_model::words::Table;

/// A `.dht` file that is being written.
pub struct Writer<W: Write = File> {
    output: Mutex<Output<W>>,
    /// What makes blocks, when nobody uses it.
    encoders: Mutex<Vec<Encoder>>,
}

struct Output<W> {
    out: W,
    offset: u64,
    index: Vec<u8>,
    blocks: u32,
    /// One more than the number of the last event.
    events: u64,
    /// How many names there are, by table, and those that are not yet written.
    known: Sizes,
    new_names: [NewNames; Table::ALL.len()],
    columns: ColumnWriter,
    /// Why nothing can be written any more.
    failed: Option<io::ErrorKind>,
    finished: bool,
}

impl Writer<File> {
    /// Makes a file.
    pub fn create(path: &Path) -> Result<Writer<File>, TraceError> {
        let file = File::create(path).map_err(|error| TraceError::File {
            doing: "write",
            path: path.into(),
            error,
        })?;
        Writer::new(file)
    }
}

impl<W: Write> Writer<W> {
    /// Writes to `out`: whole blocks, so it needs no buffer.
    pub fn new(mut out: W) -> Result<Writer<W>, TraceError> {
        let header = file_header();
        out.write_all(&header)?;
        let output = Output {
            out,
            offset: header.len() as u64,
            index: Vec::new(),
            blocks: 0,
            events: 0,
            known: Sizes::default(),
            new_names: Default::default(),
            columns: ColumnWriter::new()?,
            failed: None,
            finished: false,
        };
        Ok(Writer {
            output: Mutex::new(output),
            encoders: Mutex::default(),
        })
    }

    /// Gives the next object of a table its name, and says which number it is.
    pub fn name(&self, table: Table, name: &str) -> Result<u64, TraceError> {
        let detail = Detail::of(&Names::default(), table, 0);
        self.lock().name(table, name, detail)
    }

    /// The same for a strand of OpenMP, with what it is.
    pub fn strand_of(&self, kind: StrandKind, name: &str) -> Result<u64, TraceError> {
        self.lock().name(Table::Strands, name, Detail::strand(kind))
    }

    /// The same for a site at which memory is freed.
    pub fn site_of(&self, kind: SiteKind, name: &str) -> Result<u64, TraceError> {
        self.lock().name(Table::Sites, name, Detail::site(kind))
    }

    /// Adds the names that the names has beyond those that were added before.
    pub fn learn(&self, names: &Names) -> Result<(), TraceError> {
        let mut output = self.lock();
        for table in Table::ALL {
            let known = output.known[table as usize] as usize;
            for (number, name) in table.of(names).iter().enumerate().skip(known) {
                output.name(table, name, Detail::of(names, table, number))?;
            }
        }
        Ok(())
    }

    /// Somebody to hand the events of a strand to. A strand has one at a time.
    pub fn strand(&self, strand: Strand) -> StrandWriter<'_, W> {
        StrandWriter {
            writer: self,
            strand,
            events: Vec::new(),
            numbers: RunWriter::default(),
        }
    }

    /// Writes what is left of the names, the index and the end. Every strand's events must have been
    /// handed over: what comes later is refused.
    pub fn finish(&self) -> Result<(), TraceError> {
        self.lock().finish()
    }

    /// Gives back what was written to.
    pub fn into_inner(self) -> W {
        self.output
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .out
    }

    fn lock(&self) -> MutexGuard<'_, Output<W>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a block and appends it.
    fn append(
        &self,
        strand: Strand,
        events: &[Event],
        numbers: &mut RunWriter,
    ) -> Result<(), TraceError> {
        let encoders = || self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = encoders().pop();
        let mut encoder = match spare {
            Some(encoder) => encoder,
            None => Encoder::new()?,
        };
        let (first, end) = numbers.range();
        let (payload, needs) = encoder.encode(events, numbers.finish());
        let appended = self
            .lock()
            .events(strand, events.len(), (first, end), payload, needs);
        encoders().push(encoder);
        appended
    }
}

impl<W: Write> Output<W> {
    fn name(&mut self, table: Table, name: &str, detail: Detail) -> Result<u64, TraceError> {
        let number = self.known[table as usize];
        if name.len() > MAX_NAME {
            return Err(TraceError::NameTooLong {
                table,
                number,
                bytes: name.len(),
            });
        }
        if number >= 1 << 32 {
            return Err(TraceError::TooManyNames { table });
        }
        let names = &mut self.new_names[table as usize];
        names.push(name, detail);
        let full = names.is_full();
        self.known[table as usize] += 1;
        if full {
            self.write_names(table)?;
        }
        Ok(number)
    }

    /// Appends the new names of a table.
    fn write_names(&mut self, table: Table) -> Result<(), TraceError> {
        let names = &mut self.new_names[table as usize];
        if names.count == 0 {
            return Ok(());
        }
        let mut payload = Vec::new();
        names.encode(&mut self.columns, &mut payload);
        let (count, end) = (names.count, self.known[table as usize]);
        names.clear();
        self.block(
            Kind::Names,
            count,
            table as u32,
            (end - u64::from(count), end),
            &payload,
        )
    }

    fn write_all_names(&mut self) -> Result<(), TraceError> {
        Table::ALL
            .into_iter()
            .try_for_each(|table| self.write_names(table))
    }

    fn events(
        &mut self,
        strand: Strand,
        count: usize,
        (first, end): (u64, u64),
        payload: &[u8],
        needs: &Sizes,
    ) -> Result<(), TraceError> {
        for table in Table::ALL {
            let (need, known) = (needs[table as usize], self.known[table as usize]);
            if need > known {
                return Err(TraceError::Unnamed {
                    table,
                    number: need - 1,
                    known,
                });
            }
        }
        self.write_all_names()?;
        self.events = self.events.max(end);
        self.block(Kind::Events, count as u32, strand.0, (first, end), payload)
    }

    /// Appends a block. After a failure nothing more is appended: what is in the file can be read.
    fn block(
        &mut self,
        kind: Kind,
        count: u32,
        whose: u32,
        (first, end): (u64, u64),
        payload: &[u8],
    ) -> Result<(), TraceError> {
        if self.finished {
            self.failed = Some(io::ErrorKind::WriteZero);
        }
        if let Some(kind) = self.failed {
            return Err(io::Error::from(kind).into());
        }
        let length = u32::try_from(payload.len()).map_err(|_| too_many_blocks())?;
        let head = Head {
            kind,
            payload: length,
            number: self.blocks,
            count,
            whose,
            first,
            end,
        };
        let written = self.out.write_all(&head.to_bytes(payload));
        let written = written.and_then(|()| self.out.write_all(payload));
        if let Err(error) = written {
            self.failed = Some(error.kind());
            return Err(error.into());
        }
        self.index
            .extend_from_slice(&index_entry(self.offset, &head));
        self.offset += (HEAD + payload.len()) as u64;
        self.blocks = self.blocks.checked_add(1).ok_or_else(too_many_blocks)?;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.write_all_names()?;
        let index_at = self.offset;
        let index = std::mem::take(&mut self.index);
        self.block(Kind::Index, self.blocks, 0, (0, self.events), &index)?;
        self.out.write_all(&trailer(index_at))?;
        self.out.flush()?;
        self.finished = true;
        Ok(())
    }
}

fn too_many_blocks() -> TraceError {
    io::Error::other("there are too many blocks for one file").into()
}

/// Collects the events of one strand.
pub struct StrandWriter<'w, W: Write = File> {
    writer: &'w Writer<W>,
    strand: Strand,
    events: Vec<Event>,
    numbers: RunWriter,
}

impl<W: Write> StrandWriter<'_, W> {
    /// The strand has done something. `number` is the event's place among those of all strands, from
    /// 0: each number belongs to one event.
    #[inline]
    pub fn push(&mut self, number: u64, op: Op, site: Site) -> Result<(), TraceError> {
        let (first, next) = self.numbers.range();
        if !self.numbers.is_empty() {
            if number < next {
                return Err(TraceError::OutOfOrder {
                    strand: self.strand.0,
                    number,
                    last: next - 1,
                });
            }
            if self.events.len() == MAX_BLOCK_EVENTS || number - first >= MAX_SPAN {
                self.flush()?;
            }
        }
        self.numbers.push(number);
        self.events.push(Event::new(self.strand, op, site));
        Ok(())
    }

    /// The number of the first event that is not yet handed over.
    pub fn oldest(&self) -> Option<u64> {
        (!self.numbers.is_empty()).then(|| self.numbers.range().0)
    }

    /// Hands over what was collected.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        let appended = self
            .writer
            .append(self.strand, &self.events, &mut self.numbers);
        self.numbers.clear();
        self.events.clear();
        appended
    }

    /// Hands over what was collected, and gives back the memory.
    fn put_away(&mut self) -> Result<(), TraceError> {
        self.flush()?;
        self.events = Vec::new();
        self.numbers = RunWriter::default();
        Ok(())
    }
}

impl<W: Write> Drop for StrandWriter<'_, W> {
    /// Hands over what was collected; if that fails, [`Writer::finish`] says so.
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            let mut output = self.writer.lock();
            output.failed.get_or_insert(match error {
                TraceError::Io(error) => error.kind(),
                _ => io::ErrorKind::InvalidData,
            });
        }
    }
}

/// Writes events that come in the order in which they happened.
pub struct OrderedWriter<'w, W: Write = File> {
    writer: &'w Writer<W>,
    strands: Vec<StrandWriter<'w, W>>,
    next: u64,
    /// When to look for strands that have been idle.
    look: u64,
}

impl<'w, W: Write> OrderedWriter<'w, W> {
    /// Writes all events of a file.
    pub fn new(writer: &'w Writer<W>) -> OrderedWriter<'w, W> {
        OrderedWriter {
            writer,
            strands: Vec::new(),
            next: 0,
            look: MAX_SPAN,
        }
    }

    /// Writes the next events, whose names have been added.
    pub fn write(&mut self, events: &[Event]) -> Result<(), TraceError> {
        for event in events {
            let strand = event.strand().index();
            if strand >= self.strands.len() {
                let known = self.writer.lock().known[Table::Strands as usize];
                if strand as u64 >= known {
                    return Err(TraceError::Unnamed {
                        table: Table::Strands,
                        number: strand as u64,
                        known,
                    });
                }
                let new = self.strands.len()..strand + 1;
                self.strands
                    .extend(new.map(|strand| self.writer.strand(Strand(strand as u32))));
            }
            self.strands[strand].push(self.next, event.op(), event.site())?;
            self.next += 1;
        }
        if self.next >= self.look {
            self.look = self.next + MAX_SPAN;
            self.put_idle_away()?;
        }
        Ok(())
    }

    /// Events of strands that do nothing any more are not kept in memory.
    fn put_idle_away(&mut self) -> Result<(), TraceError> {
        let idle = |strand: &&mut StrandWriter<'_, W>| {
            strand
                .oldest()
                .is_none_or(|oldest| oldest + MAX_SPAN <= self.next)
        };
        self.strands
            .iter_mut()
            .filter(idle)
            .try_for_each(StrandWriter::put_away)
    }

    /// Hands over what was collected.
    pub fn finish(mut self) -> Result<(), TraceError> {
        self.strands.iter_mut().try_for_each(StrandWriter::flush)
    }
}
