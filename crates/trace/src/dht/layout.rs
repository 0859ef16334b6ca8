//! The fixed parts of a file: its beginning, the head of a block, the index, its end.

use crate::error::{BlockProblem, HeaderProblem};

/// How every file begins: not text, and damaged by whatever changes line ends.
pub const MAGIC: [u8; 8] = *b"\x89dht\r\n\x1a\n";

/// The version that is written and read.
pub const VERSION: u16 = 1;

/// The most events in a block: their number and any of their indexes fit in 16 bits.
pub const MAX_BLOCK_EVENTS: usize = 1 << 16;

/// From a block's first event to its last there are at most so many events of the whole execution. It
/// bounds what a reader has to keep, whatever the file says.
pub const MAX_SPAN: u64 = 1 << 20;

/// The most bytes that the names in a block have, and that a block of names or events has in the file.
pub(super) const MAX_PAYLOAD: usize = 8 << 20;

/// How every finished file ends.
const END_MAGIC: [u8; 8] = *b"dht-end\n";

/// Bytes of the header of a file: magic, version, zeros.
pub(super) const FILE_HEADER: usize = 16;

/// Bytes of a block's head.
pub(super) const HEAD: usize = 40;

/// Bytes at the end: where the index is, and the magic.
pub(super) const TRAILER: usize = 16;

/// Bytes that the index has about each block.
pub(super) const INDEX_ENTRY: usize = 8 + HEAD - CHECKED_FROM;

/// Where in a block begins what its checksum is about.
const CHECKED_FROM: usize = 4;

pub(super) fn file_header() -> [u8; FILE_HEADER] {
    let mut bytes = [0; FILE_HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

pub(super) fn check_file_header(file: &[u8]) -> Result<(), HeaderProblem> {
    let header = file.get(..FILE_HEADER).ok_or(HeaderProblem::NotDht)?;
    if header[..8] != MAGIC {
        return Err(HeaderProblem::NotDht);
    }
    let version = u16::from_le_bytes([header[8], header[9]]);
    match header == file_header() {
        true => Ok(()),
        false if version == VERSION => Err(HeaderProblem::NotDht),
        false => Err(HeaderProblem::Version { version }),
    }
}

/// What is in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Events of a strand.
    Events,
    /// Names for a table.
    Names,
    /// What blocks there are.
    Index,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Events, Kind::Names, Kind::Index];

    fn mark(self) -> [u8; 4] {
        match self {
            Kind::Events => *b"evts",
            Kind::Names => *b"name",
            Kind::Index => *b"indx",
        }
    }
}

/// The head of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub kind: Kind,
    /// Bytes behind the head.
    pub payload: u32,
    /// The block's place among all, from 0.
    pub number: u32,
    /// Events, names or blocks in it.
    pub count: u32,
    /// The strand, or the table.
    pub whose: u32,
    /// The number of its first event or name, from 0.
    pub first: u64,
    /// One more than the number of its last. In an index: how many events there are.
    pub end: u64,
}

type Fields = [u8; HEAD - CHECKED_FROM];

impl Head {
    /// The bytes that the checksum covers.
    fn fields(&self) -> Fields {
        let mut bytes = [0; HEAD - CHECKED_FROM];
        bytes[0..4].copy_from_slice(&self.kind.mark());
        bytes[4..8].copy_from_slice(&self.payload.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.number.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.count.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.whose.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.first.to_le_bytes());
        bytes[28..36].copy_from_slice(&self.end.to_le_bytes());
        bytes
    }

    fn from_fields(bytes: &Fields) -> Result<Head, BlockProblem> {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| bytes.starts_with(&kind.mark()));
        let head = Head {
            kind: kind.ok_or(BlockProblem::Kind)?,
            payload: u32_at(bytes, 4),
            number: u32_at(bytes, 8),
            count: u32_at(bytes, 12),
            whose: u32_at(bytes, 16),
            first: u64_at(bytes, 20),
            end: u64_at(bytes, 28),
        };
        head.check()?;
        Ok(head)
    }

    /// Whether the counts can be true.
    fn check(&self) -> Result<(), BlockProblem> {
        let count = |what, value: u64, most: u64| match value <= most {
            true => Ok(()),
            false => Err(BlockProblem::Count { what, value, most }),
        };
        if self.kind == Kind::Index {
            let fits = u64::from(self.payload) / INDEX_ENTRY as u64;
            return count("the number of blocks", self.count.into(), fits);
        }
        count("its length", self.payload.into(), MAX_PAYLOAD as u64)?;
        count("its end", self.end, MAX_EVENTS)?;
        let span = self.end.checked_sub(self.first);
        let span = span.ok_or(BlockProblem::Content("numbers"))?;
        if self.kind == Kind::Names {
            return match span == self.count.into() {
                true => Ok(()),
                false => Err(BlockProblem::Content("numbers")),
            };
        }
        count(
            "the number of events",
            self.count.into(),
            MAX_BLOCK_EVENTS as u64,
        )?;
        count("the span of its events", span, MAX_SPAN)?;
        count("the number of events", self.count.into(), span)?;
        match self.count {
            0 => Err(BlockProblem::Content("events")),
            _ => Ok(()),
        }
    }

    /// The head as it stands before this payload.
    pub fn to_bytes(self, payload: &[u8]) -> [u8; HEAD] {
        let fields = self.fields();
        let mut bytes = [0; HEAD];
        bytes[..CHECKED_FROM].copy_from_slice(&checksum(&fields, payload).to_le_bytes());
        bytes[CHECKED_FROM..].copy_from_slice(&fields);
        bytes
    }
}

/// Room for events in an execution.
const MAX_EVENTS: u64 = 1 << 40;

/// A block in a file, its checksum looked at.
pub(super) fn block_at(file: &[u8], offset: u64) -> Result<(Head, &[u8]), BlockProblem> {
    let from = usize::try_from(offset).map_err(|_| BlockProblem::CutOff)?;
    let block = file.get(from..).ok_or(BlockProblem::CutOff)?;
    let (head, behind) = block
        .split_first_chunk::<HEAD>()
        .ok_or(BlockProblem::CutOff)?;
    let fields: &Fields = head.last_chunk().ok_or(BlockProblem::CutOff)?;
    let payload = behind
        .get(..u32_at(fields, 4) as usize)
        .ok_or(BlockProblem::CutOff)?;
    if checksum(fields, payload) != u32_at(head, 0) {
        return Err(BlockProblem::Checksum);
    }
    Ok((Head::from_fields(fields)?, payload))
}

fn checksum(fields: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(fields);
    hasher.update(payload);
    hasher.finalize()
}

/// What the index says of a block.
pub(super) fn index_entry(offset: u64, head: &Head) -> [u8; INDEX_ENTRY] {
    let mut bytes = [0; INDEX_ENTRY];
    bytes[..8].copy_from_slice(&offset.to_le_bytes());
    bytes[8..].copy_from_slice(&head.fields());
    bytes
}

/// The same, read.
pub(super) fn from_index_entry(entry: &[u8; INDEX_ENTRY]) -> Result<(u64, Head), BlockProblem> {
    let fields = entry.last_chunk().ok_or(BlockProblem::CutOff)?;
    Ok((u64_at(entry, 0), Head::from_fields(fields)?))
}

pub(super) fn trailer(index_at: u64) -> [u8; TRAILER] {
    let mut bytes = [0; TRAILER];
    bytes[..8].copy_from_slice(&index_at.to_le_bytes());
    bytes[8..].copy_from_slice(&END_MAGIC);
    bytes
}

/// Where the index of a finished file is.
pub(super) fn index_offset(file: &[u8]) -> Option<u64> {
    let trailer = file.last_chunk::<TRAILER>()?;
    (trailer[8..] == END_MAGIC).then(|| u64_at(trailer, 0))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
