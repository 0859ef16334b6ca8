#![doc = include_str!("tape.md")]

pub mod findings;
pub mod mailbox;
pub mod packing;
mod record;

pub use record::{
    AccessSite, AtomicDetail, AtomicKind, Code, LONGEST, LockDetail, Member, NewMemory, Record,
    Stamped, THREAD_STRAND, TaskAction, UnknownNumber, Unstamped, head, parts,
};

/// Which form of findings and tapes a runtime writes: a command reads those of its own only. It goes up with every
/// change to either.
pub const VERSION: u64 = 6;

/// What a chunk begins with whose records are there as they are.
pub const PLAIN: u64 = 0x6b6e_7568_6368_6474;
/// What a chunk begins with whose records are packed.
pub const PACKED: u64 = 0x6b63_6170_6368_6474;
/// Words before the records of a chunk.
pub const HEADER: usize = 4;
/// Bytes of a buffer, and the most of a chunk.
pub const BUFFER: usize = 32 << 10;
/// Where chunks may begin.
pub const ALIGNMENT: usize = 64;
/// How many numbers of sites there are.
pub const SITES: usize = 1 << 16;
/// The first of them; those below are other records.
pub const FIRST_SITE: u64 = 32;
/// Bits of a record's first word that are an address or a number.
pub const PAYLOAD: u64 = (1 << 48) - 1;
/// Where in the table is the time from which on there was no more room, if so.
pub const END_TIME: usize = 0;
/// As [`END_TIME`], of the stamp.
pub const END_STAMP: usize = 1;
/// Where in the table is how many chunks the file has: a file with fewer was cut.
pub const CHUNKS: usize = 2;
