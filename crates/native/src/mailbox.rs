//! The mailbox that the processes of a run deliver their findings to, from the command's side. `deadheat_tape::mailbox` has the
//! format.
//!
//! The processes write while this reads, may be killed at any moment, and a program can scribble over all of it: whatever makes no
//! sense is passed over.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use deadheat_tape::mailbox::{
    BUFFER, DESCRIPTOR, DESCRIPTORS, FIRST, GRAIN, Header, MAGIC, PATH, PIECE, Piece, SIZE, TABLE,
    WAITING, WAITS, Wait,
};
use rustc_hash::FxHashMap;

use crate::findings::Process;

/// The size of a piece of the file that is there or not.
const HOLE: u64 = 4096;

/// See the [module](self).
#[derive(Debug)]
pub struct Mailbox {
    file: File,
}

impl Mailbox {
    /// Makes one that all programs inherit which this process starts. Processes are to record up to so many bytes on tapes at a path, if
    /// there is one, instead of being checked.
    pub fn create(tapes: Option<(&Path, u64)>) -> io::Result<Mailbox> {
        let_go_of_others();
        let mailbox = Mailbox { file: memory()? };
        mailbox.file.set_len(SIZE as u64)?;
        let put = |bytes: &[u8], place: usize| mailbox.file.write_all_at(bytes, place as u64);
        put(&(FIRST as u64).to_ne_bytes(), offset_of!(Header, used))?;
        put(&path(mailbox.path().as_bytes())?, offset_of!(Header, path))?;
        put(&std::process::id().to_ne_bytes(), offset_of!(Header, run))?;
        if let Some((tapes, limit)) = tapes {
            put(&1_u32.to_ne_bytes(), offset_of!(Header, records))?;
            put(&limit.to_ne_bytes(), offset_of!(Header, limit))?;
            put(
                &path(tapes.as_os_str().as_bytes())?,
                offset_of!(Header, tapes),
            )?;
        }
        put(&MAGIC.to_ne_bytes(), offset_of!(Header, magic))?;
        seal(&mailbox.file)?;
        Ok(mailbox)
    }

    /// The program has this number.
    pub fn set_program(&self, pid: u32) {
        let place = offset_of!(Header, program) as u64;
        // Without it, an orphan sees who has adopted it.
        let _ = self.file.write_all_at(&pid.to_ne_bytes(), place);
    }

    /// By which path a process can open it that has not inherited it.
    pub fn path(&self) -> OsString {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Whether something was not written, for want of room.
    pub fn is_full(&self) -> bool {
        let mut word = [0; 4];
        let read = self
            .file
            .read_exact_at(&mut word, offset_of!(Header, full) as u64);
        read.is_ok() && u32::from_ne_bytes(word) != 0
    }

    fn words<const N: usize>(&self, place: u64) -> Option<[u64; N]> {
        let mut bytes = [[0; 8]; N];
        let read = self.file.read_exact_at(bytes.as_flattened_mut(), place);
        read.is_ok().then(|| bytes.map(u64::from_ne_bytes))
    }

    /// Where there may be something, from a place on.
    #[allow(unsafe_code)]
    fn data_from(&self, place: u64) -> Option<u64> {
        // SAFETY: takes numbers. Nobody reads or writes the file at its own position.
        let found = unsafe { libc::lseek(self.file.as_raw_fd(), place as i64, libc::SEEK_DATA) };
        u64::try_from(found).ok()
    }

    /// Its file, for what is read of a tape.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where the table of the tape is that a process with this stream has recorded, and its buffers. None: it has recorded nothing.
    pub(crate) fn tape(&self, stream: u64) -> Option<(u64, Vec<u64>)> {
        let mut table = None;
        let mut buffers = Vec::new();
        for (place, content) in self
            .pieces()
            .filter(|(_, content)| content.stream == stream)
        {
            match content.kind {
                Kind::Table => table = Some(place + GRAIN as u64),
                Kind::Buffer => buffers.push(place + GRAIN as u64),
                Kind::Lines | Kind::Waits => {}
            }
        }
        Some((table?, buffers))
    }

    /// What the threads of the process with this stream wait for, or have waited for.
    pub(crate) fn waits(&self, stream: u64) -> Vec<WaitPlace> {
        let own = |content: &Content| content.kind == Kind::Waits && content.stream == stream;
        let pieces = self.pieces().filter(|(_, content)| own(content));
        let places = pieces.flat_map(|(place, _)| {
            (0..WAITS as u64).filter_map(move |thread| {
                let wait = place + GRAIN as u64 + thread * size_of::<Wait>() as u64;
                let [what, object, pc] = self.words(wait)?;
                Some(WaitPlace {
                    thread,
                    what: what as u32,
                    tid: (what >> 32) as u32,
                    object,
                    pc,
                })
            })
        });
        places.filter(|place| place.tid != 0).collect()
    }

    /// A second way to it.
    pub(crate) fn try_clone(&self) -> io::Result<Mailbox> {
        let file = self.file.try_clone()?;
        Ok(Mailbox { file })
    }

    /// The pieces that there are, each with its place.
    fn pieces(&self) -> impl Iterator<Item = (u64, Content)> {
        let [used] = self.words(offset_of!(Header, used) as u64).unwrap_or([0]);
        let end = used.min(SIZE as u64);
        let mut next = FIRST as u64;
        std::iter::from_fn(move || {
            while next < end {
                let place = next;
                next += GRAIN as u64;
                // Most of what nobody has written to takes no memory, and no time either.
                if place.is_multiple_of(HOLE) {
                    let data = self.data_from(place)?;
                    if data - place >= HOLE {
                        next = data - data % HOLE;
                        continue;
                    }
                }
                let [kind, stream, size, length] = self.words(place)?;
                let header = size_of::<Piece>() as u64;
                let fits = size.is_multiple_of(GRAIN as u64)
                    && size >= GRAIN as u64
                    && place
                        .checked_add(size)
                        .is_some_and(|end| end <= SIZE as u64);
                let kind = match kind {
                    PIECE => Kind::Lines,
                    TABLE => Kind::Table,
                    BUFFER => Kind::Buffer,
                    WAITING => Kind::Waits,
                    _ => continue,
                };
                if fits && length <= size - header {
                    next = place + size;
                    let content = Content {
                        kind,
                        stream,
                        length,
                    };
                    return Some((place, content));
                }
            }
            None
        })
    }
}

/// What a piece is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Lines of findings.
    Lines,
    /// The table of a tape.
    Table,
    /// A buffer of a tape.
    Buffer,
    /// What threads wait for.
    Waits,
}

/// What a thread has said last of what it waits for.
pub(crate) struct WaitPlace {
    /// Its number.
    pub thread: u64,
    pub what: u32,
    pub tid: u32,
    pub object: u64,
    pub pc: u64,
}

/// What is in a piece.
struct Content {
    kind: Kind,
    stream: u64,
    length: u64,
}

/// The processes that have written to a mailbox, by the numbers of their streams.
#[derive(Default)]
pub struct Letters {
    /// How much was taken of each piece.
    taken: FxHashMap<u64, u64>,
    processes: BTreeMap<u64, (Process, Vec<u8>)>,
}

impl Letters {
    /// Takes what has been written since the last time.
    pub fn take(&mut self, mailbox: &Mailbox) {
        let mut new = Vec::new();
        let pieces = mailbox.pieces();
        let lines = pieces.filter(|(_, content)| content.kind == Kind::Lines);
        for (place, Content { stream, length, .. }) in lines {
            let taken = self.taken.entry(place).or_default();
            let (process, rest) = self.processes.entry(stream).or_default();
            process.stream = stream;
            if length <= *taken {
                continue;
            }
            new.resize((length - *taken) as usize, 0);
            let from = place + size_of::<Piece>() as u64 + *taken;
            if mailbox.file.read_exact_at(&mut new, from).is_ok() {
                *taken = length;
                rest.extend_from_slice(&new);
                let whole = process.take(rest);
                rest.drain(..whole);
            }
        }
    }

    /// The processes, in the order in which they have come.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.processes.values().map(|(process, _)| process)
    }

    /// The processes: the first, and the others by their numbers.
    pub fn into_processes(self) -> Vec<Process> {
        let processes = self.processes.into_values();
        let mut processes: Vec<Process> = processes.map(|(process, _)| process).collect();
        if let Some((_, others)) = processes.split_first_mut() {
            others.sort_by_key(|process| (process.pid, process.stream));
        }
        processes
    }
}

/// A path with zero bytes behind it.
fn path(bytes: &[u8]) -> io::Result<[u8; PATH]> {
    let mut path = [0; PATH];
    // At the end there is a zero byte.
    match path[..PATH - 1].get_mut(..bytes.len()) {
        Some(room) => room.copy_from_slice(bytes),
        None => return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG)),
    }
    Ok(path)
}

/// A file in memory, without a name, which programs inherit.
#[allow(unsafe_code)]
fn memory() -> io::Result<File> {
    /// Needed where the system forbids programs in memory.
    const NOT_EXECUTABLE: libc::c_uint = 8;
    let make = |flags| {
        // SAFETY: the kernel reads the name.
        unsafe { libc::memfd_create(c"deadheat".as_ptr(), flags) }
    };
    let mut file = make(libc::MFD_ALLOW_SEALING | NOT_EXECUTABLE);
    if file < 0 {
        file = make(libc::MFD_ALLOW_SEALING);
    }
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: takes numbers; the descriptor was made above and belongs to nobody else.
    unsafe {
        let moved = libc::fcntl(file, libc::F_DUPFD, DESCRIPTOR);
        if moved >= 0 {
            libc::close(file);
            file = moved;
        }
        Ok(File::from_raw_fd(file))
    }
}

/// Nobody can change the size of the file from now on.
#[allow(unsafe_code)]
fn seal(file: &File) -> io::Result<()> {
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: takes numbers.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What is started from here belongs to this run, not to one that this command is part of.
#[allow(unsafe_code)]
fn let_go_of_others() {
    for file in 3..DESCRIPTOR + DESCRIPTORS {
        // SAFETY: the descriptor is only asked about, and not closed.
        let status = unsafe { std::mem::ManuallyDrop::new(File::from_raw_fd(file)) };
        let status = status.metadata();
        if status.is_ok_and(|status| status.nlink() == 0 && status.len() == SIZE as u64) {
            // SAFETY: takes numbers.
            unsafe { libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

#[cfg(test)]
impl Mailbox {
    /// Writes a piece as a runtime does.
    fn put_piece(&self, place: u64, head: [u64; 4], (offset, content): (u64, &[u8])) {
        let used = (place + head[2]).to_ne_bytes();
        let head = head.map(u64::to_ne_bytes);
        let put = |bytes: &[u8], place| self.file.write_all_at(bytes, place).unwrap();
        put(head.as_flattened(), place);
        put(content, place + offset);
        put(&used, offset_of!(Header, used) as u64);
    }

    /// Writes the table of a tape as a runtime does.
    pub(crate) fn put_table(&self, stream: u64, table: &[u8]) {
        let size = (GRAIN + table.len()) as u64;
        self.put_piece(
            FIRST as u64,
            [TABLE, stream, size, 0],
            (GRAIN as u64, table),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(mailbox: &Mailbox, place: u64, stream: u64, size: u64, content: &str) {
        let length = content.len() as u64;
        mailbox.put_piece(
            place,
            [PIECE, stream, size, length],
            (32, content.as_bytes()),
        );
    }

    fn start(pid: u64) -> String {
        format!(
            "{{\"start\": {{\"version\": {}, \"pid\": {pid}, \"parent\": 1, \"program\": \"/p\", \"forked\": false}}}}\n",
            deadheat_tape::VERSION
        )
    }

    fn numbers(letters: Letters) -> Vec<u64> {
        let processes = letters.into_processes();
        processes.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn lines_that_are_cut_by_the_end_of_a_piece_go_on_in_the_next_of_the_stream() {
        let mailbox = Mailbox::create(None).unwrap();
        let (first, line) = (FIRST as u64, start(7));
        piece(&mailbox, first, first, 1024, &line[..20]);
        piece(&mailbox, first + 1024, first + 1024, 1024, &start(9));
        let mut letters = Letters::default();
        letters.take(&mailbox);
        assert_eq!(
            letters
                .processes()
                .map(|process| process.pid)
                .collect::<Vec<_>>(),
            [0, 9]
        );
        piece(&mailbox, first + 2048, first, 65536, &line[20..]);
        letters.take(&mailbox);
        assert_eq!(numbers(letters), [7, 9]);
    }

    #[test]
    fn a_process_that_was_killed_before_its_header_was_there_hides_nobody() {
        let mailbox = Mailbox::create(None).unwrap();
        let place = FIRST as u64 + 65536;
        piece(&mailbox, place, place, 1024, &start(5));
        let mut letters = Letters::default();
        letters.take(&mailbox);
        assert_eq!(numbers(letters), [5]);
    }

    #[test]
    fn whatever_a_program_writes_over_it_is_no_reason_to_panic() {
        let mailbox = Mailbox::create(None).unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let mut bytes = vec![0; 4096];
            bytes.iter_mut().for_each(|byte| *byte = random.u8(..));
            let head = [
                PIECE,
                random.u64(..),
                random.u64(..) << random.u32(..40),
                random.u64(..9000),
            ];
            for (word, at) in head.into_iter().zip([0, 8, 16, 24]) {
                bytes[1024 + at..][..8].copy_from_slice(&word.to_ne_bytes());
            }
            let place = random.u64(..16) * 1024;
            mailbox.file.write_all_at(&bytes, place).unwrap();
            let mut letters = Letters::default();
            letters.take(&mailbox);
            letters.into_processes();
            mailbox.is_full();
        }
    }

    #[test]
    fn nobody_can_cut_it() {
        let mailbox = Mailbox::create(None).unwrap();
        assert!(mailbox.file.set_len(0).is_err());
        assert!(mailbox.file.set_len(2 * SIZE as u64).is_err());
    }

    #[test]
    fn a_path_that_is_too_long_is_an_error() {
        let long = "x".repeat(PATH);
        assert!(Mailbox::create(Some((Path::new(&long), 0))).is_err());
        assert!(Mailbox::create(Some((Path::new(&long[1..]), 0))).is_ok());
    }
}
