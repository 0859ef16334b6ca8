//! The tape that a recorded process leaves, read record by record. Its format is that of `deadheat_tape`.
//!
//! The process may have been killed at any moment, and the file may be damaged: whatever cannot be a record ends its
//! thread's part.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::RecordingError;
use crate::mailbox::Mailbox;
use deadheat_tape::packing::Packing;
use deadheat_tape::{
    self as tape, ALIGNMENT, AccessSite, BUFFER, CHUNKS, Code, END_STAMP, END_TIME, HEADER, PACKED,
    PLAIN, SITES, Stamped, Unstamped, parts,
};

/// A tape: its table of sites, and where each thread's chunks are.
pub struct Tape<'m> {
    file: File,
    mailbox: &'m Mailbox,
    /// How many chunks the file has.
    in_file: u64,
    sites: Vec<u64>,
    chunks: BTreeMap<u32, Vec<Chunk>>,
}

#[derive(Clone, Copy)]
struct Chunk {
    number: u64,
    /// It is a buffer in the mailbox.
    is_buffer: bool,
    offset: u64,
    bytes: u64,
    packed: bool,
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
    Access { address: u64, code: AccessSite },
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
    pub what: Stamped,
    /// Of the object, or the number of a thread.
    pub address: u64,
    pub pc: u64,
    pub detail: u64,
    pub stamp: u64,
    pub time: u64,
    /// Of a piece of memory.
    pub size: u64,
}

/// Whether a thread may know more than before, after such a record.
pub fn acquires(record: Stamped) -> bool {
    match record {
        Stamped::Lock
        | Stamped::Take
        | Stamped::Leave
        | Stamped::Acquire
        | Stamped::Atomic
        | Stamped::Fence
        | Stamped::Join => true,
        Stamped::Freed
        | Stamped::Allocated
        | Stamped::New
        | Stamped::Unlock
        | Stamped::Give
        | Stamped::Arrive
        | Stamped::Release
        | Stamped::ReleaseMore
        | Stamped::Create
        | Stamped::Begin
        | Stamped::End
        | Stamped::Destroy
        | Stamped::Run
        | Stamped::Task => false,
    }
}

impl Tape<'_> {
    /// Opens the tape at a path, which the process with this stream has recorded. None: it has recorded nothing.
    pub fn open<'m>(
        path: &Path,
        mailbox: &'m Mailbox,
        stream: u64,
    ) -> Result<Option<Tape<'m>>, RecordingError> {
        let failure = |error| RecordingError::Tape {
            path: path.into(),
            error,
        };
        let Some((table, buffers)) = mailbox.tape(stream) else {
            return Ok(None);
        };
        let file = File::open(path).map_err(failure)?;
        let tape = Tape::read(file, mailbox, table, &buffers).map_err(failure)?;
        // Times and stamps say what is missing at the end; nothing does for what is missing before.
        let expected = tape.sites.get(CHUNKS).copied().unwrap_or(0);
        match tape.in_file < expected {
            true => Err(RecordingError::Cut {
                path: path.into(),
                missing: expected - tape.in_file,
            }),
            false => Ok(Some(tape)),
        }
    }

    fn read<'m>(
        file: File,
        mailbox: &'m Mailbox,
        table: u64,
        buffers: &[u64],
    ) -> io::Result<Tape<'m>> {
        let length = file.metadata()?.len();
        let sites = words(mailbox.file(), table, SITES as u64 * 8)?;
        let mut chunks: BTreeMap<u32, Vec<Chunk>> = BTreeMap::new();
        let mut in_file = 0;
        let mut add = |(at, head): (u64, [u64; HEADER]), end: u64, is_buffer: bool| {
            let [magic, bytes, thread, number] = head;
            let fits = bytes >= ALIGNMENT as u64
                && bytes.is_multiple_of(ALIGNMENT as u64)
                && bytes <= BUFFER as u64
                && at + bytes <= end;
            let thread = u32::try_from(thread).ok().filter(|_| fits)?;
            chunks.entry(thread).or_default().push(Chunk {
                number,
                is_buffer,
                offset: at,
                bytes,
                packed: magic == PACKED,
            });
            Some(at + bytes)
        };
        let mut offset = 0;
        while let Some(found) = find_header(&file, offset, length)? {
            match add(found, length, false) {
                Some(end) => {
                    offset = end;
                    in_file += 1;
                }
                None => offset = found.0 + ALIGNMENT as u64,
            }
        }
        for buffer in buffers {
            let end = buffer + BUFFER as u64;
            let head = words(mailbox.file(), *buffer, HEADER as u64 * 8)?;
            if head[0] == PLAIN {
                add((*buffer, std::array::from_fn(|at| head[at])), end, true);
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
            mailbox,
            in_file,
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
    tape: &'a Tape<'a>,
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
            let file = match chunk.is_buffer {
                true => self.tape.mailbox.file(),
                false => &self.tape.file,
            };
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
        let (number, payload) = parts(*words.first()?);
        let (record, length) = match tape::Record::try_from(number).ok()? {
            tape::Record::Access(site) => (self.access(payload, site)?, 1),
            tape::Record::Unstamped(kind) => unstamped(kind, payload, words)?,
            tape::Record::Stamped(what) => {
                let words = words.get(..what.words())?;
                let Code { pc, detail } = Code::from_word(words[1]);
                let stamp = Stamp {
                    what,
                    address: payload,
                    pc,
                    detail,
                    stamp: words[2],
                    time: words[3],
                    size: words.get(4).copied().unwrap_or(0),
                };
                (Record::Stamp(stamp), what.words())
            }
        };
        self.at += length;
        Some(record)
    }

    /// A plain access at a site of the table.
    fn access(&self, address: u64, site: u64) -> Option<Record> {
        let site = *self.tape.sites.get(usize::try_from(site).ok()?)?;
        let code = AccessSite::from_word(site);
        Some(Record::Access { address, code })
    }
}

/// A record without a stamp, from its words, and how many it has.
fn unstamped(kind: Unstamped, payload: u64, words: &[u64]) -> Option<(Record, usize)> {
    let address = payload;
    let range = |write| {
        let Code { pc, detail } = Code::from_word(*words.get(1)?);
        let code = AccessSite {
            pc,
            size: *words.get(2)?,
            write,
            of_lock: detail == 1,
        };
        Some((Record::Access { address, code }, 3))
    };
    Some(match kind {
        Unstamped::Entered => (Record::Entered(payload), 1),
        Unstamped::Left => (Record::Left(payload), 1),
        Unstamped::Time => (Record::Time(payload), 1),
        Unstamped::Elsewhere => {
            let code = AccessSite::from_word(*words.get(1)?);
            (Record::Access { address, code }, 2)
        }
        Unstamped::ReadRange => range(false)?,
        Unstamped::WriteRange => range(true)?,
        Unstamped::Name => {
            let text = [words.get(1)?.to_ne_bytes(), words.get(2)?.to_ne_bytes()];
            let name = std::array::from_fn(|at| text[at / 8][at % 8]);
            (Record::Name(name), 3)
        }
        Unstamped::Stack => {
            let size = *words.get(2)?;
            (Record::Stack { address, size }, 3)
        }
    })
}
