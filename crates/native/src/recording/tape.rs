//! The tape that a recorded process leaves, read record by record. Its format is that of `deadheat_tape`.
//!
//! The process may have been killed at any moment, and the file may be damaged: whatever cannot be a record ends its
//! thread's part.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use deadheat_tape::packing::Packing;
use deadheat_tape::{
    ALIGNMENT, BUFFER, END_STAMP, END_TIME, FIRST_SITE, HEADER, PACKED, PAYLOAD, PLAIN, SITES,
};

/// A tape: its table of sites, and where each thread's chunks are.
pub struct Tape {
    file: File,
    sites: Vec<u64>,
    chunks: BTreeMap<u32, Vec<Chunk>>,
}

#[derive(Clone, Copy)]
struct Chunk {
    number: u64,
    offset: u64,
    bytes: u64,
    packed: bool,
}

/// Code that makes plain accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    pub pc: u64,
    pub size: u64,
    pub write: bool,
}

/// One record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Record {
    /// A function was entered that returns there.
    Entered(u64),
    /// So many functions are still entered.
    Left(u64),
    /// The time of the accesses that follow.
    Time(u64),
    /// A plain access.
    Access { address: u64, code: Code },
    /// The thread's name.
    Name([u8; 16]),
    /// The thread's stack.
    Stack { address: u64, size: u64 },
    /// Something that has a place in the order of all threads.
    Stamp(Stamp),
}

/// Something that has a place in the order of all threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    pub what: What,
    /// Of the object, or the number of a thread.
    pub address: u64,
    pub pc: u64,
    pub detail: u64,
    pub stamp: u64,
    pub time: u64,
    /// Of a piece of memory.
    pub size: u64,
}

/// What a stamped record tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Freed,
    Allocated,
    New,
    Lock,
    Unlock,
    Take,
    Give,
    Arrive,
    Leave,
    Acquire,
    Release,
    ReleaseMore,
    Atomic,
    Fence,
    Create,
    Join,
    Begin,
    End,
    Destroy,
    Run,
    Task,
}

impl What {
    fn of(number: u64) -> Option<What> {
        Some(match number {
            10 => What::Freed,
            11 => What::Allocated,
            12 => What::New,
            13 => What::Lock,
            14 => What::Unlock,
            15 => What::Take,
            16 => What::Give,
            17 => What::Arrive,
            18 => What::Leave,
            19 => What::Acquire,
            20 => What::Release,
            21 => What::ReleaseMore,
            22 => What::Atomic,
            23 => What::Fence,
            24 => What::Create,
            25 => What::Join,
            26 => What::Begin,
            27 => What::End,
            28 => What::Destroy,
            29 => What::Run,
            30 => What::Task,
            _ => return None,
        })
    }

    /// Whether a thread may know more than before, afterwards.
    pub fn acquires(self) -> bool {
        matches!(
            self,
            What::Lock
                | What::Take
                | What::Leave
                | What::Acquire
                | What::Atomic
                | What::Fence
                | What::Join
        )
    }

    fn has_size(self) -> bool {
        matches!(self, What::Freed | What::Allocated | What::New)
    }
}

impl Tape {
    /// Opens the tape at a path.
    pub fn open(path: &Path) -> io::Result<Tape> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let sites = words(&file, 0, (SITES as u64 * 8).min(length))?;
        let mut chunks: BTreeMap<u32, Vec<Chunk>> = BTreeMap::new();
        let mut offset = SITES as u64 * 8;
        while let Some((at, head)) = find_header(&file, offset, length)? {
            let [magic, bytes, thread, number] = head;
            let fits = bytes >= ALIGNMENT as u64
                && bytes.is_multiple_of(ALIGNMENT as u64)
                && bytes <= BUFFER as u64;
            match u32::try_from(thread) {
                Ok(thread) if fits && at + bytes <= length => {
                    chunks.entry(thread).or_default().push(Chunk {
                        number,
                        offset: at,
                        bytes,
                        packed: magic == PACKED,
                    });
                    offset = at + bytes;
                }
                _ => offset = at + ALIGNMENT as u64,
            }
        }
        for chunks in chunks.values_mut() {
            chunks.sort_by_key(|chunk| chunk.number);
            // One that is there twice was being copied.
            chunks.dedup_by_key(|chunk| chunk.number);
            // What follows a chunk that is missing is not what the thread did next.
            let whole = chunks
                .iter()
                .zip(0..)
                .take_while(|(chunk, number)| chunk.number == *number);
            let whole = whole.count();
            chunks.truncate(whole);
        }
        Ok(Tape {
            file,
            sites,
            chunks,
        })
    }

    /// The time and the stamp from which on there was no more room, if so.
    pub fn end(&self) -> Option<(u64, u64)> {
        let time = *self.sites.get(END_TIME)?;
        let stamp = *self.sites.get(END_STAMP)?;
        (time != 0).then_some((time, stamp))
    }

    /// The threads that have written something, in the order of their numbers.
    pub fn threads(&self) -> impl Iterator<Item = u32> {
        self.chunks.keys().copied()
    }

    /// The records of a thread.
    pub fn records(&self, thread: u32) -> Records<'_> {
        Records {
            tape: self,
            chunks: self.chunks.get(&thread).map_or(&[], |chunks| &chunks[..]),
            words: Vec::new(),
            at: 0,
            packing: Packing::new(),
        }
    }

    fn code(&self, site: u64) -> Code {
        Code {
            pc: site & PAYLOAD,
            size: (site >> 49).clamp(1, 16),
            write: site >> 48 & 1 != 0,
        }
    }
}

/// The next header of a chunk, and where it is.
fn find_header(
    file: &File,
    mut offset: u64,
    length: u64,
) -> io::Result<Option<(u64, [u64; HEADER])>> {
    // Mostly it is right there, so little is read at first.
    let step = ALIGNMENT as u64;
    let mut bytes = step;
    while offset + step <= length {
        let bytes_now = bytes.min((length - offset) / step * step);
        let window = words(file, offset, bytes_now)?;
        let mut places = window.chunks_exact(ALIGNMENT / 8).zip(0..);
        if let Some((found, place)) = places.find(|(words, _)| [PLAIN, PACKED].contains(&words[0]))
        {
            let head = std::array::from_fn(|at| found[at]);
            return Ok(Some((offset + place * step, head)));
        }
        offset += bytes_now;
        bytes = 64 << 10;
    }
    Ok(None)
}

fn bytes(file: &File, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = vec![0; bytes as usize];
    file.read_exact_at(&mut content, offset)?;
    Ok(content)
}

fn words(file: &File, offset: u64, length: u64) -> io::Result<Vec<u64>> {
    let content = bytes(file, offset, length)?;
    let word = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|at| bytes[at]));
    Ok(content.chunks_exact(8).map(word).collect())
}

/// The records of one thread, one after the other. A chunk is in memory at a time.
pub struct Records<'a> {
    tape: &'a Tape,
    chunks: &'a [Chunk],
    words: Vec<u64>,
    at: usize,
    packing: Packing,
}

impl Iterator for Records<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            if let Some(record) = self.record() {
                return Some(record);
            }
            let (chunk, rest) = self.chunks.split_first()?;
            self.chunks = rest;
            let file = &self.tape.file;
            if chunk.packed {
                let content = bytes(file, chunk.offset, chunk.bytes).ok()?;
                self.words.clear();
                self.packing.unpack(&content[HEADER * 8..], &mut self.words);
                self.at = 0;
            } else {
                self.words = words(file, chunk.offset, chunk.bytes).ok()?;
                self.at = HEADER;
            }
        }
    }
}

impl Records<'_> {
    fn record(&mut self) -> Option<Record> {
        let words = self.words.get(self.at..)?;
        let head = *words.first()?;
        let (number, payload) = (head >> 48, head & PAYLOAD);
        let (record, length) = match number {
            0 => return None,
            1 => (Record::Entered(payload), 1),
            2 => (Record::Left(payload), 1),
            3 => (Record::Time(payload), 1),
            4 => {
                let code = self.tape.code(*words.get(1)?);
                (
                    Record::Access {
                        address: payload,
                        code,
                    },
                    2,
                )
            }
            5 | 6 => {
                let code = Code {
                    pc: *words.get(1)? & PAYLOAD,
                    size: *words.get(2)?,
                    write: number == 6,
                };
                (
                    Record::Access {
                        address: payload,
                        code,
                    },
                    3,
                )
            }
            7 => {
                let text = [words.get(1)?.to_ne_bytes(), words.get(2)?.to_ne_bytes()];
                let name = std::array::from_fn(|at| text[at / 8][at % 8]);
                (Record::Name(name), 3)
            }
            8 => {
                let size = *words.get(2)?;
                (
                    Record::Stack {
                        address: payload,
                        size,
                    },
                    3,
                )
            }
            FIRST_SITE.. => {
                let site = *self.tape.sites.get(number as usize)?;
                let code = self.tape.code(site);
                (
                    Record::Access {
                        address: payload,
                        code,
                    },
                    1,
                )
            }
            _ => {
                let what = What::of(number)?;
                let length = 4 + usize::from(what.has_size());
                let words = words.get(..length)?;
                let stamped = Stamp {
                    what,
                    address: payload,
                    pc: words[1] & PAYLOAD,
                    detail: words[1] >> 48,
                    stamp: words[2],
                    time: words[3],
                    size: words.get(4).copied().unwrap_or(0),
                };
                (Record::Stamp(stamped), length)
            }
        };
        self.at += length;
        Some(record)
    }
}
