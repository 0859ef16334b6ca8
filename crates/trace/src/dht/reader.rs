//! Reading a `.dht` file, finished or not.
//!
//! A finished file ends in an index, which tells where each block is and which events it has. Without it
//! (the recorded program was killed, the file was cut), the blocks are walked from the front, up to
//! the first that is not whole; as the last blocks of some strands are then missing, the events up to
//! the first missing one are kept. [`Reader::damage`] tells what was lost.
//!
//! Guarantee: what comes out is what was written, or an error that names the block. Cost: opening reads
//! the names and the index, or all of an unfinished file; memory does not grow with the number of
//! events.

use std::fmt;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use deadheat_model::{Event, Execution, Names};
use zstd::bulk::Decompressor;

use super::ahead;
use super::block::{Decoder, EventBlock, Sizes};
use super::layout::{
    FILE_HEADER, HEAD, Head, INDEX_ENTRY, Kind, MAX_SPAN, TRAILER, block_at, check_file_header,
    from_index_entry, index_offset,
};
use super::map::Bytes;
use super::names;
use super::runs::Runs;
use super::window::SlotSet;
use crate::WINDOW;
use crate::error::{BlockProblem, HeaderProblem, TraceError};
use crate::room::room_for;
use deadheat_model::words::Table;

/// A `.dht` file, open for reading.
pub struct Reader {
    bytes: Bytes,
    names: Names,
    sizes: Sizes,
    /// Blocks of events, by their first event.
    blocks: Vec<BlockRef>,
    events: u64,
    damage: Option<Damage>,
}

/// A block in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRef {
    pub offset: u64,
    pub head: Head,
}

impl BlockRef {
    /// Something is wrong with it.
    pub fn error(&self, problem: BlockProblem) -> TraceError {
        TraceError::Block {
            block: self.head.number.into(),
            offset: self.offset,
            problem,
        }
    }
}

/// What an unfinished file has lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The first block that is not whole, from 0.
    pub block: u64,
    /// Where it begins.
    pub offset: u64,
    /// What is wrong with it; nothing if the file ends there.
    pub problem: Option<BlockProblem>,
    /// How many events are kept: all before the first that is missing.
    pub kept: u64,
    /// How many are known to be lost; there may have been more.
    pub lost: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the recording was not finished, or the file is damaged: "
        )?;
        match &self.problem {
            Some(problem) => write!(
                f,
                "block {} (at byte {}): {problem}",
                self.block, self.offset
            )?,
            None => write!(f, "events are missing behind its {} blocks", self.block)?,
        }
        write!(f, "; {} events are kept", self.kept)?;
        match self.lost {
            0 => Ok(()),
            lost => write!(f, ", at least {lost} are lost"),
        }
    }
}

impl Reader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Reader, TraceError> {
        let unreadable = |error| TraceError::File {
            doing: "read",
            path: path.into(),
            error,
        };
        let file = File::open(path).map_err(unreadable)?;
        Reader::of(Bytes::map(&file).map_err(unreadable)?)
    }

    /// Reads what is in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Reader, TraceError> {
        Reader::of(Bytes::Given(bytes))
    }

    fn of(bytes: Bytes) -> Result<Reader, TraceError> {
        check_file_header(&bytes)?;
        match indexed(&bytes) {
            Some((blocks, events)) => Reader::finished(bytes, blocks, events),
            None => Reader::unfinished(bytes),
        }
    }

    /// A file whose index says what is in it.
    fn finished(bytes: Bytes, all: Vec<BlockRef>, events: u64) -> Result<Reader, TraceError> {
        let events_in = |at: &BlockRef| match at.head.kind {
            Kind::Events => u64::from(at.head.count),
            _ => 0,
        };
        if all.iter().map(events_in).sum::<u64>() != events {
            // Some strands had not handed over all when the file was finished.
            return Reader::unfinished(bytes);
        }
        let mut names = NameReader::new()?;
        for at in all.iter().filter(|at| at.head.kind == Kind::Names) {
            names.read(&bytes, at)?;
        }
        let blocks = in_order(all)?;
        Ok(Reader::with(bytes, names.names, blocks, events, None))
    }

    /// A file without an index, or with a damaged one.
    fn unfinished(bytes: Bytes) -> Result<Reader, TraceError> {
        let mut names = NameReader::new()?;
        let mut all = Vec::new();
        let mut offset = FILE_HEADER as u64;
        let problem = loop {
            if offset == bytes.len() as u64 {
                break None;
            }
            let (head, payload) = match block_at(&bytes, offset) {
                Ok(block) => block,
                Err(problem) => break Some(problem),
            };
            match head.kind {
                Kind::Index => break None,
                _ if u64::from(head.number) != all.len() as u64 => break Some(BlockProblem::Index),
                Kind::Names => {
                    if let Err(problem) = names.decode(&head, payload) {
                        break Some(problem);
                    }
                }
                Kind::Events => {}
            }
            all.push(BlockRef { offset, head });
            offset += (HEAD + payload.len()) as u64;
        };
        let block = all.len() as u64;
        let mut blocks = in_order(all)?;
        let kept = until_first_hole(&bytes, &blocks)?;
        let end = blocks.iter().map(|at| at.head.end).max().unwrap_or(0);
        blocks.retain(|at| at.head.first < kept);
        let damage = Damage {
            block,
            offset,
            problem,
            kept,
            lost: end - kept,
        };
        Ok(Reader::with(bytes, names.names, blocks, kept, Some(damage)))
    }

    fn with(
        bytes: Bytes,
        names: Names,
        blocks: Vec<BlockRef>,
        events: u64,
        damage: Option<Damage>,
    ) -> Reader {
        let sizes = Table::ALL.map(|table| table.of(&names).len() as u64);
        Reader {
            bytes,
            names,
            sizes,
            blocks,
            events,
            damage,
        }
    }

    /// What the numbers in the events mean.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How large the file is.
    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// What was lost, if the file was not finished or its end is damaged.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    pub(super) fn blocks(&self) -> &[BlockRef] {
        &self.blocks
    }

    /// Hands over the events in the order in which they happened, in windows of [`WINDOW`] (the last
    /// may be shorter), until there are no more or `each` breaks off. `each` runs on the calling
    /// thread, the decoding ahead of it on others.
    pub fn for_each<B>(
        &self,
        each: impl FnMut(&[Event]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TraceError> {
        ahead::for_each(self, each)
    }

    /// The whole trace.
    pub fn read_all(&self) -> Result<Execution, TraceError> {
        self.read_while(|_| true)
    }

    /// The trace, as far as it is read while `goes_on` says so, which is told how much is done. A small file can have very
    /// many events.
    pub fn read_while(
        &self,
        mut goes_on: impl FnMut(f64) -> bool,
    ) -> Result<Execution, TraceError> {
        let mut events = room_for(self.events)?;
        let all = self.events.max(1) as f64;
        let read = self.for_each(|window| {
            events.extend_from_slice(window);
            match goes_on(events.len() as f64 / all) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        read.map(|_| Execution {
            events,
            names: self.names.clone(),
        })
    }

    /// Decodes a block of events.
    pub(super) fn decode(
        &self,
        number: usize,
        decoder: &mut Decoder,
        block: &mut EventBlock,
    ) -> Result<(), TraceError> {
        let at = &self.blocks[number];
        let decoded = checked(&self.bytes, at)
            .and_then(|payload| decoder.decode(&at.head, payload, &self.sizes, block));
        decoded.map_err(|problem| at.error(problem))
    }
}

/// The payload of a block that is what it is said to be.
fn checked<'a>(bytes: &'a [u8], at: &BlockRef) -> Result<&'a [u8], BlockProblem> {
    let (head, payload) = block_at(bytes, at.offset)?;
    match head == at.head {
        true => Ok(payload),
        false => Err(BlockProblem::Index),
    }
}

/// Collects names.
struct NameReader {
    names: Names,
    decompressor: Decompressor<'static>,
}

impl NameReader {
    fn new() -> Result<NameReader, TraceError> {
        Ok(NameReader {
            names: Names::default(),
            decompressor: Decompressor::new()?,
        })
    }

    fn read(&mut self, bytes: &[u8], at: &BlockRef) -> Result<(), TraceError> {
        let read = checked(bytes, at).and_then(|payload| self.decode(&at.head, payload));
        read.map_err(|problem| at.error(problem))
    }

    fn decode(&mut self, head: &Head, payload: &[u8]) -> Result<(), BlockProblem> {
        names::decode(head, payload, &mut self.decompressor, &mut self.names)
    }
}

/// All blocks, and how many events there are, if the file has a whole index that fits it.
fn indexed(bytes: &[u8]) -> Option<(Vec<BlockRef>, u64)> {
    let index_at = index_offset(bytes)?;
    let (index, entries) = block_at(bytes, index_at).ok()?;
    let (entries, rest) = entries.as_chunks::<INDEX_ENTRY>();
    let whole = index.kind == Kind::Index
        && index_at + HEAD as u64 + u64::from(index.payload) + TRAILER as u64 == bytes.len() as u64
        && entries.len() == index.count as usize
        && index.number == index.count
        && rest.is_empty();
    if !whole {
        return None;
    }
    let mut blocks = Vec::with_capacity(entries.len());
    let mut expected = FILE_HEADER as u64;
    for (number, entry) in entries.iter().enumerate() {
        let (offset, head) = from_index_entry(entry).ok()?;
        if offset != expected || head.kind == Kind::Index || head.number as usize != number {
            return None;
        }
        expected += HEAD as u64 + u64::from(head.payload);
        blocks.push(BlockRef { offset, head });
    }
    (expected == index_at).then_some((blocks, index.end))
}

/// The blocks of events, by their first event. More events than there are numbers for them are refused
/// here, which bounds what can be open at a time.
fn in_order(all: Vec<BlockRef>) -> Result<Vec<BlockRef>, TraceError> {
    let events = |at: &BlockRef| at.head.kind == Kind::Events;
    let mut blocks: Vec<BlockRef> = all.into_iter().filter(events).collect();
    blocks.sort_unstable_by_key(|at| (at.head.first, at.head.number));
    let mut total = 0;
    for at in &blocks {
        total += u64::from(at.head.count);
        // Whatever begins here or before has ended by then.
        let end = at.head.first + MAX_SPAN;
        if total > end {
            return Err(HeaderProblem::Overlap {
                events: total,
                end,
                block: at.head.number.into(),
            }
            .into());
        }
    }
    Ok(blocks)
}

/// The number of the first event that is in no block.
fn until_first_hole(bytes: &[u8], blocks: &[BlockRef]) -> Result<u64, TraceError> {
    let mut decoder = Decoder::new()?;
    let mut covered = SlotSet::new();
    let mut open = Vec::new();
    let mut waiting = blocks.iter().peekable();
    let mut start = 0;
    loop {
        let end = start + WINDOW as u64;
        while let Some(at) = waiting.next_if(|at| at.head.first < end) {
            let mut runs = Runs::default();
            let decoded = checked(bytes, at)
                .and_then(|payload| decoder.decode_runs(&at.head, payload, &mut runs));
            decoded.map_err(|problem| at.error(problem))?;
            open.push((at, EventBlock::cursor(&at.head), runs));
        }
        covered.clear();
        for (at, cursor, runs) in &mut open {
            while let Some((number, length)) = cursor
                .next(runs, end)
                .map_err(|problem| at.error(problem))?
            {
                let from = (number - start) as usize;
                covered.fill(from, length as usize).map_err(|slot| {
                    let event = start + slot as u64 + 1;
                    at.error(BlockProblem::Duplicate { event })
                })?;
            }
        }
        open.retain(|(_, cursor, _)| !cursor.is_done());
        let hole = covered.first_hole();
        if hole < WINDOW {
            return Ok(start + hole as u64);
        }
        start = end;
    }
}
