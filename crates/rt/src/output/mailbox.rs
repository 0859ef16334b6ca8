//! The way to `deadheat run`: shared memory that it has made before the program started. `deadheat_tape::mailbox` has the format.
//!
//! Once it is mapped, nothing that the program does to its descriptors, its user, its root or its system calls stands between a
//! finding and the reader. The descriptor is kept only for what the program becomes by `exec`, which has to find the mailbox
//! again: by the descriptor, by a path, or through a process further up, whichever is left.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering, fence};

use deadheat_tape::findings::digits;
use deadheat_tape::mailbox::{
    DESCRIPTOR, DESCRIPTORS, FIRST, GRAIN, Header, MAGIC, MORE, MOST, PIECE, Piece, SIZE,
};

use crate::platform::os;

/// How many numbers of descriptors are tried.
const ALL_DESCRIPTORS: i32 = 1024;
/// How many processes further up are asked.
const ANCESTORS: usize = 64;
/// How many descriptors of each of them.
const THEIR_DESCRIPTORS: i32 = 4;

/// The descriptor of the mailbox.
static FILE: AtomicI32 = AtomicI32::new(-1);

/// The mailbox, mapped.
#[derive(Clone, Copy, Debug)]
pub struct Mailbox {
    base: usize,
}

/// What one process writes, until it becomes another program.
#[derive(Debug)]
pub struct Stream {
    mailbox: Mailbox,
    /// Its number: where its first piece is.
    pub number: usize,
    /// The process.
    pub pid: usize,
    /// The piece that it writes to, and how much of that is written.
    piece: usize,
    written: usize,
}

/// Finds the mailbox, if this process belongs to a run of `deadheat run`. `path` is what the environment says.
pub fn find(path: Option<&[u8]>) -> Option<i32> {
    let file = inherited()
        .or_else(|| by_path(path?))
        .or_else(of_ancestor)?;
    os::keep(file);
    FILE.store(file, Ordering::Relaxed);
    Some(file)
}

/// Sees to it that what this process becomes, or starts, can inherit the mailbox: the program may have put something else in the
/// descriptor's place.
pub fn hand_over(mailbox: Mailbox) {
    let file = FILE.load(Ordering::Relaxed);
    if is_mailbox(file) {
        return;
    }
    if let Some(file) = by_path(text(&mailbox.header().path)) {
        os::keep(file);
        FILE.store(file, Ordering::Relaxed);
    }
}

fn inherited() -> Option<i32> {
    let usual = DESCRIPTOR..DESCRIPTOR + DESCRIPTORS;
    let others = (3..DESCRIPTOR).chain(usual.end..ALL_DESCRIPTORS);
    usual.chain(others).find(|file| is_mailbox(*file))
}

/// The mailbox at a path, open with a number that the program does not count on.
fn by_path(path: &[u8]) -> Option<i32> {
    let mut path = path.to_vec();
    path.push(0);
    // What something else does when it is opened, nobody knows.
    os::status_at(&path).filter(looks_like_one)?;
    let file = os::open(&path, libc::O_RDWR)?;
    let file = os::move_up(file, DESCRIPTOR);
    if !is_mailbox(file) {
        os::close(file);
        return None;
    }
    Some(file)
}

/// The mailbox of a process further up, for one whose environment and descriptors were taken away.
fn of_ancestor() -> Option<i32> {
    // SAFETY: asks for a number.
    let mut process = unsafe { os::call(libc::SYS_getppid, [0; 6]) } as u64;
    for _ in 0..ANCESTORS {
        if process <= 1 {
            return None;
        }
        let below = |rest: &str, number: u64| {
            let mut path = b"/proc/".to_vec();
            path.extend(digits(process, &mut [0; 20]));
            path.extend(rest.as_bytes());
            if number > 0 {
                path.extend(digits(number, &mut [0; 20]));
            }
            path
        };
        let numbers = DESCRIPTOR..DESCRIPTOR + THEIR_DESCRIPTORS;
        let mut paths = numbers.map(|number| below("/fd/", number as u64));
        if let Some(file) = paths.find_map(|path| by_path(&path)) {
            return Some(file);
        }
        process = parent(below("/stat\0", 0))?;
    }
    None
}

/// The parent of a process, by the path of what the kernel says of it: `7 (a name) S 6 …`.
fn parent(stat: Vec<u8>) -> Option<u64> {
    let file = os::open(&stat, libc::O_RDONLY | libc::O_CLOEXEC)?;
    let mut text = [0; 512];
    let length = os::read(file, &mut text);
    os::close(file);
    let text = &text[..length];
    let behind_name = text.iter().rposition(|byte| *byte == b')')?;
    let mut words = text[behind_name + 1..].split(|byte| *byte == b' ').skip(2);
    std::str::from_utf8(words.next()?).ok()?.parse().ok()
}

fn looks_like_one(status: &libc::stat) -> bool {
    let is_file = status.st_mode & libc::S_IFMT == libc::S_IFREG;
    is_file && status.st_size == SIZE as i64 && status.st_nlink == 0
}

fn is_mailbox(file: i32) -> bool {
    os::status(file).is_some_and(|status| looks_like_one(&status))
        && os::read_at(file, 0) == Some(MAGIC)
}

/// A text up to its zero byte.
fn text(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// Says something about this process, which has no room for the whole mailbox: one line.
pub fn leave_note(file: i32, note: &[u8]) {
    let Some(base) = os::map_file(file, 0, FIRST) else {
        return;
    };
    let mailbox = Mailbox { base };
    if size_of::<Piece>() + note.len() <= GRAIN
        && let Some(place) = mailbox.take(GRAIN)
    {
        let head = [PIECE, place as u64, GRAIN as u64, note.len() as u64];
        let head = head.map(u64::to_ne_bytes);
        os::write_at(file, (place + size_of::<Piece>()) as u64, note);
        os::write_at(file, place as u64, head.as_flattened());
    }
    // SAFETY: mapped above, and nobody else's.
    unsafe { os::unmap(base, FIRST) };
}

impl Mailbox {
    /// Maps it. None: the address space is limited.
    pub fn map(file: i32) -> Option<Mailbox> {
        let base = os::map_file(file, 0, SIZE)?;
        os::advise(base, SIZE, libc::MADV_DONTDUMP);
        Some(Mailbox { base })
    }

    fn header(&self) -> &'static Header {
        // SAFETY: mapped for as long as the process is this program; what others change is atomic.
        unsafe { &*(self.base as *const Header) }
    }

    /// Whether processes are to be recorded instead of checked.
    pub fn records(&self) -> bool {
        self.header().records != 0
    }

    /// How many bytes a process may record.
    pub fn limit(&self) -> u64 {
        self.header().limit
    }

    /// Whether a process is an orphan if this is its parent: `deadheat run` adopts those of the program.
    pub fn adopts(&self, pid: usize, parent: usize) -> bool {
        let header = self.header();
        let program = header.program.load(Ordering::Relaxed) as usize;
        parent == header.run as usize && program != 0 && pid != program
    }

    /// The path of tapes, without the number of the stream.
    pub fn tapes(&self) -> &'static [u8] {
        text(&self.header().tapes)
    }

    /// A piece of this size. None: the mailbox is full.
    fn take(&self, size: usize) -> Option<usize> {
        let header = self.header();
        let place = header.used.fetch_add(size as u64, Ordering::Relaxed);
        let end = if self.records() { SIZE } else { MOST };
        // The program may have written anything there.
        let place = usize::try_from(place).ok();
        let place = place.filter(|place| (FIRST..=end - size).contains(place));
        let place = place.filter(|place| place.is_multiple_of(GRAIN));
        if place.is_none() {
            header.full.store(1, Ordering::Relaxed);
        }
        place
    }

    /// Memory of this size, all zero, for the tape of the process with this stream: the reader finds it by its kind.
    pub fn room(&self, kind: u64, stream: usize, bytes: usize) -> Option<usize> {
        let size = GRAIN + bytes.next_multiple_of(GRAIN);
        let place = self.take(size)?;
        self.begin(place, kind, stream, size);
        Some(self.base + place + GRAIN)
    }

    fn begin(&self, place: usize, kind: u64, stream: usize, size: usize) {
        let piece = (self.base + place) as *mut Piece;
        // SAFETY: a piece that only this process has, within the mapping; its reader looks at the first word first.
        unsafe {
            (&raw mut (*piece).stream).write(stream as u64);
            (&raw mut (*piece).size).write(size as u64);
            (*piece).magic.store(kind, Ordering::Release);
        }
    }

    /// A stream for a process.
    pub fn stream(self, pid: usize) -> Option<Stream> {
        let number = self.take(GRAIN)?;
        let mut stream = Stream {
            mailbox: self,
            number,
            pid,
            piece: number,
            written: 0,
        };
        stream.begin(number, GRAIN);
        Some(stream)
    }
}

impl Stream {
    fn begin(&mut self, place: usize, size: usize) {
        self.piece = place;
        self.written = 0;
        self.mailbox.begin(place, PIECE, self.number, size);
    }

    /// How many bytes a piece has room for behind its header.
    fn room(&self) -> usize {
        let size = match self.piece == self.number {
            true => GRAIN,
            false => MORE,
        };
        size - size_of::<Piece>()
    }

    /// Writes bytes, as far as there is room.
    pub fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.written == self.room() {
                let Some(place) = self.mailbox.take(MORE) else {
                    return;
                };
                self.begin(place, MORE);
            }
            let fits = bytes.len().min(self.room() - self.written);
            let piece = self.mailbox.base + self.piece;
            // SAFETY: behind what is written in a piece that only this process has.
            unsafe {
                let to = (piece + size_of::<Piece>() + self.written) as *mut u8;
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, fits);
                self.written += fits;
                // The process may be killed at any moment: what counts as written is there.
                fence(Ordering::Release);
                let length: &AtomicU64 = &(*(piece as *const Piece)).length;
                length.store(self.written as u64, Ordering::Release);
            }
            bytes = &bytes[fits..];
        }
    }
}
