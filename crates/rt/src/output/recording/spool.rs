//! Where tapes are written to: the table of sites and buffers in the mailbox, and the file of chunks.
//!
//! A buffer is a piece of the mailbox: what is written there is with the reader at once, and stays there if the
//! process is killed. A full one is packed, written to the end of the file as a chunk, and used again; so most is
//! written by `write`, which costs far less than writing to so much shared memory would, and which no cut of the file turns into a signal.
//! A chunk gets its header last: where there is a header, there is all of the chunk.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use deadheat_tape::findings::digits;
use deadheat_tape::packing::Packing;
use deadheat_tape::{
    ALIGNMENT, BUFFER, CHUNKS, END_STAMP, END_TIME, FIRST_SITE, HEADER, PACKED, PLAIN, SITES,
    mailbox,
};

use super::tape::time;
use crate::output::mailbox::Mailbox;
use crate::platform::os::{self, Spin};
use crate::platform::world::world;

const TABLE: usize = SITES * 8;
/// How far from its own place a site may lie.
const NEAR: u64 = 16;

/// See the [module](self).
#[derive(Debug)]
pub struct Spool {
    file: AtomicI32,
    /// The number of the process's stream.
    stream: AtomicUsize,
    sites: AtomicPtr<AtomicU64>,
    /// How much of the file is given away.
    used: AtomicU64,
    /// How much was recorded, and how much may be, before it is packed: what is made of the file takes as long.
    recorded: AtomicU64,
    limit: u64,
    /// There is no more room: nobody writes any more.
    full: AtomicBool,
    /// Buffers that nobody uses.
    buffers: Pool,
    /// [`ChunkPacker`]s that nobody uses.
    packers: Pool,
}

/// Addresses of what nobody uses just now.
#[derive(Debug, Default)]
struct Pool {
    lock: Spin,
    free: UnsafeCell<Vec<usize>>,
}

// SAFETY: the list is only touched with its lock held.
unsafe impl Sync for Pool {}

impl Pool {
    fn with<T>(&self, what: impl FnOnce(&mut Vec<usize>) -> T) -> T {
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.free.get() })
    }

    fn take(&self) -> Option<usize> {
        self.with(Vec::pop)
    }

    fn put(&self, address: usize) {
        self.with(|free| free.push(address));
    }

    /// There is none, whatever happened: for the only thread of a forked child.
    fn forget(&self) {
        self.lock.reset();
        self.with(|free| std::mem::forget(std::mem::take(free)));
    }
}

/// What packing a chunk takes. All zeros is one.
struct ChunkPacker {
    packing: Packing,
    out: [u8; BUFFER],
}

/// There is no more room, for anybody.
pub struct Full;

impl Spool {
    /// One without a file, which may have so many bytes.
    pub fn new(limit: u64) -> Spool {
        Spool {
            file: AtomicI32::new(-1),
            stream: AtomicUsize::new(0),
            sites: AtomicPtr::default(),
            used: AtomicU64::new(0),
            recorded: AtomicU64::new(0),
            limit,
            full: AtomicBool::new(true),
            buffers: Pool::default(),
            packers: Pool::default(),
        }
    }

    /// Makes its file, and takes what it needs of the mailbox.
    pub fn open(&self, (mailbox, stream): (Mailbox, usize)) -> Option<()> {
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
        let file = os::high(os::open(&path(mailbox, stream), flags)?);
        let sites = mailbox.room(mailbox::TABLE, stream, TABLE)? as *mut AtomicU64;
        self.file.store(file, Ordering::Relaxed);
        self.stream.store(stream, Ordering::Relaxed);
        self.sites.store(sites, Ordering::Relaxed);
        self.used.store(0, Ordering::Relaxed);
        self.recorded.store(TABLE as u64, Ordering::Relaxed);
        self.full.store(false, Ordering::Release);
        Some(())
    }

    /// The file is another process's: for a forked child, whose only thread has no buffer.
    pub fn leave(&self) {
        self.full.store(true, Ordering::Relaxed);
        self.buffers.forget();
        self.packers.forget();
        let file = self.file.load(Ordering::Relaxed);
        if os::is_own(file) {
            os::close(file);
        }
        self.sites.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// The file. The program may have put another one of its own in the place of the descriptor.
    fn file(&self) -> Option<i32> {
        let file = self.file.load(Ordering::Relaxed);
        if os::is_own(file) {
            return Some(file);
        }
        let (mailbox, _) = world().findings.tape()?;
        let path = path(mailbox, self.stream.load(Ordering::Relaxed));
        let file = os::high(os::open(&path, libc::O_RDWR | libc::O_CLOEXEC)?);
        self.file.store(file, Ordering::Relaxed);
        Some(file)
    }

    fn place(&self, number: usize) -> &AtomicU64 {
        // SAFETY: numbers are below SITES, and the table is there while the spool is not full.
        unsafe { &*self.sites.load(Ordering::Relaxed).add(number) }
    }

    /// The number of a site. None: the table has no room for it.
    #[inline(always)]
    pub fn site(&self, site: u64) -> Option<u64> {
        let spread = site.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
        let first = FIRST_SITE + ((spread * (SITES as u64 - FIRST_SITE - NEAR)) >> 16);
        if self.place(first as usize).load(Ordering::Relaxed) == site {
            return Some(first);
        }
        self.find(first, site)
    }

    #[cold]
    fn find(&self, first: u64, site: u64) -> Option<u64> {
        (first..first + NEAR).find(|number| {
            let place = self.place(*number as usize);
            match place.compare_exchange(0, site, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => true,
                Err(other) => other == site,
            }
        })
    }

    /// Whether nobody writes any more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// A buffer for a thread, all zero, whose next chunk has this number.
    pub fn buffer(&self, thread: u32, number: u64, stamp: impl Fn() -> u64) -> Result<usize, Full> {
        let free = self.buffers.take();
        let room = (!self.is_full()).then(|| free.or_else(|| self.map_buffer()));
        let Some(buffer) = room.flatten() else {
            return Err(self.fill(stamp));
        };
        // SAFETY: nobody else has the buffer.
        unsafe { begin(buffer, thread, number) };
        Ok(buffer)
    }

    fn map_buffer(&self) -> Option<usize> {
        self.take(0, BUFFER)?;
        let (mailbox, _) = world().findings.tape()?;
        let stream = self.stream.load(Ordering::Relaxed);
        mailbox.room(mailbox::BUFFER, stream, BUFFER)
    }

    /// A piece of the file, for what had so many bytes before it was packed.
    fn take(&self, bytes: usize, unpacked: usize) -> Option<u64> {
        let before = self.recorded.fetch_add(unpacked as u64, Ordering::Relaxed);
        let recorded = before + unpacked as u64;
        if recorded > self.limit {
            return None;
        }
        // Code may come in libraries that were loaded meanwhile.
        if before >> 24 != recorded >> 24 {
            world().findings.tell_modules();
        }
        Some(self.used.fetch_add(bytes as u64, Ordering::Relaxed))
    }

    /// There is no more room: what comes later is not all there.
    fn fill(&self, stamp: impl Fn() -> u64) -> Full {
        if !self.sites.load(Ordering::Relaxed).is_null() {
            for (place, end) in [(END_TIME, time()), (END_STAMP, stamp())] {
                let earliest = |known| (known == 0 || end < known).then_some(end);
                let (order, place) = (Ordering::Relaxed, self.place(place));
                let _ = place.fetch_update(order, order, earliest);
            }
        }
        self.full.store(true, Ordering::SeqCst);
        Full
    }

    /// Makes a chunk of what a thread has written to its buffer, up to `end`; the buffer is all zero then. It is packed if
    /// that is wanted and makes it a fifth as long, which is when it saves time: says whether it was.
    pub fn flush(
        &self,
        buffer: usize,
        end: usize,
        (thread, number): (u32, u64),
        packed: bool,
        stamp: impl Fn() -> u64,
    ) -> Result<bool, Full> {
        let header = HEADER * 8;
        let bytes = (end - buffer).next_multiple_of(ALIGNMENT);
        // SAFETY: the thread's own buffer; behind what was written there are zeros.
        let records = unsafe {
            std::slice::from_raw_parts((buffer + header) as *const u64, (bytes - header) / 8)
        };
        let new_packer = || os::reserve(size_of::<ChunkPacker>());
        let packer = packed.then(|| self.packers.take().or_else(new_packer));
        let packer = packer.flatten();
        // SAFETY: mapped all zero, and nobody else's until it is put back.
        let packed = packer.and_then(|packer| unsafe {
            let ChunkPacker { packing, out } = &mut *(packer as *mut ChunkPacker);
            let length = packing.pack(
                &records[..(end - buffer - header) / 8],
                &mut out[..bytes / 5],
            )?;
            out.get(..(header + length).next_multiple_of(ALIGNMENT) - header)
        });
        // SAFETY: words are bytes.
        let plain =
            || unsafe { std::slice::from_raw_parts(records.as_ptr().cast(), bytes - header) };
        let magic = if packed.is_some() { PACKED } else { PLAIN };
        let content = packed.unwrap_or_else(plain);
        let length = header + content.len();
        let written = !self.is_full() && {
            let place = self.take(length, bytes).zip(self.file());
            place.is_some_and(|(offset, file)| {
                let head = [magic, length as u64, u64::from(thread), number];
                let head: [u8; HEADER * 8] =
                    std::array::from_fn(|at| head[at / 8].to_ne_bytes()[at % 8]);
                os::write_at(file, offset + header as u64, content)
                    && os::write_at(file, offset, &head)
            })
        };
        if let Some(packer) = packer {
            self.packers.put(packer);
        }
        if !written {
            return Err(self.fill(stamp));
        }
        self.place(CHUNKS).fetch_add(1, Ordering::Relaxed);
        // SAFETY: the thread's own buffer. Without its first word it is none to a reader.
        unsafe {
            (buffer as *mut u64).write_volatile(0);
            std::sync::atomic::compiler_fence(Ordering::SeqCst);
            std::ptr::write_bytes(buffer as *mut u8, 0, bytes);
        }
        Ok(magic == PACKED)
    }

    /// Nobody uses a buffer any more, which is all zero.
    pub fn give_back(&self, buffer: usize) {
        self.buffers.put(buffer);
    }
}

/// The path of a process's file, with a zero byte at its end.
fn path(mailbox: Mailbox, stream: usize) -> Vec<u8> {
    let mut path = mailbox.tapes().to_vec();
    path.push(b'.');
    path.extend(digits(stream as u64, &mut [0; 20]));
    path.push(0);
    path
}

/// Makes a buffer of zeros a thread's.
///
/// # Safety
/// Nobody else has it.
pub unsafe fn begin(buffer: usize, thread: u32, number: u64) {
    let header = [BUFFER as u64, u64::from(thread), number];
    // SAFETY: the caller's promise.
    unsafe {
        ((buffer + 8) as *mut [u64; 3]).write_volatile(header);
        (*(buffer as *const AtomicU64)).store(PLAIN, Ordering::Release);
    }
}
