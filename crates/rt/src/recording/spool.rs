//! The file that tapes are written to: the table of sites, and chunks, given to threads one after the other.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};

use crate::os;

/// What a chunk begins with.
pub const MAGIC: u64 = 0x6b6e_7568_6368_6474;
/// Words before the records of a chunk.
pub const HEADER: usize = 4;
/// The numbers of sites; those below are other records.
pub const FIRST_SITE: u64 = 32;
const SITES: u64 = 1 << 16;
const TABLE: usize = SITES as usize * 8;
/// How far from its own place a site may lie.
const NEAR: u64 = 16;
const SMALLEST: usize = 8 << 10;
/// The most bytes a chunk has.
pub const LARGEST: usize = 512 << 10;

/// See the [module](self).
#[derive(Debug)]
pub struct Spool {
    file: AtomicI32,
    sites: AtomicPtr<AtomicU64>,
    /// How much of the file is given away, and how much it may have.
    used: AtomicU64,
    limit: u64,
    /// There is no more room: nobody writes any more.
    full: AtomicBool,
}

/// A piece of the file, as memory.
#[derive(Debug, Default)]
pub struct Chunk {
    pub address: usize,
    pub bytes: usize,
}

impl Spool {
    /// One without a file, which may have so many bytes.
    pub fn new(limit: u64) -> Spool {
        Spool {
            file: AtomicI32::new(-1),
            sites: AtomicPtr::default(),
            used: AtomicU64::new(0),
            limit,
            full: AtomicBool::new(true),
        }
    }

    /// Makes its file, at a path that ends with a zero byte.
    pub fn open(&self, path: &[u8]) -> Option<()> {
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
        let file = os::high(os::open(path, flags)?);
        os::allocate(file, 0, TABLE)?;
        let sites = os::map_file(file, 0, TABLE)? as *mut AtomicU64;
        self.file.store(file, Ordering::Relaxed);
        self.sites.store(sites, Ordering::Relaxed);
        self.used.store(TABLE as u64, Ordering::Relaxed);
        self.full.store(false, Ordering::Release);
        Some(())
    }

    /// The file is another process's: for a forked child.
    pub fn leave(&self) {
        self.full.store(true, Ordering::Relaxed);
        os::close(self.file.load(Ordering::Relaxed));
        // SAFETY: the child's own mapping; nobody refers to it any more.
        unsafe { os::unmap(self.sites.load(Ordering::Relaxed) as usize, TABLE) };
    }

    fn place(&self, number: u64) -> &AtomicU64 {
        // SAFETY: numbers are below SITES, and the table is there while the spool is not full.
        unsafe { &*self.sites.load(Ordering::Relaxed).add(number as usize) }
    }

    /// The number of a site. None: the table has no room for it.
    #[inline]
    pub fn site(&self, site: u64) -> Option<u64> {
        let spread = site.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
        let first = FIRST_SITE + (spread * (SITES - FIRST_SITE - NEAR) >> 16);
        if self.place(first).load(Ordering::Relaxed) == site {
            return Some(first);
        }
        self.find(first, site)
    }

    #[cold]
    fn find(&self, first: u64, site: u64) -> Option<u64> {
        (first..first + NEAR).find(|number| {
            let place = self.place(*number);
            match place.compare_exchange(0, site, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => true,
                Err(other) => other == site,
            }
        })
    }

    /// The next chunk of a thread. Else there is no more room, for anybody, since a stamp that is taken now: what has
    /// a lower one is in the file.
    pub fn chunk(&self, thread: u32, number: u64, stamp: impl Fn() -> u64) -> Result<Chunk, u64> {
        let bytes = (SMALLEST << number.min(16)).min(LARGEST);
        let room = (!self.is_full()).then(|| self.make(bytes)).flatten();
        let Some(address) = room else {
            let end = stamp();
            self.full.store(true, Ordering::SeqCst);
            return Err(end);
        };
        let header = [bytes as u64, u64::from(thread), number];
        // SAFETY: a new mapping, larger than this.
        unsafe {
            ((address + 8) as *mut [u64; 3]).write(header);
            (*(address as *const AtomicU64)).store(MAGIC, Ordering::Release);
        }
        Ok(Chunk { address, bytes })
    }

    /// Whether nobody writes any more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    fn make(&self, bytes: usize) -> Option<usize> {
        let offset = self.used.fetch_add(bytes as u64, Ordering::Relaxed);
        if offset + bytes as u64 > self.limit {
            return None;
        }
        // A page of the file that does not exist would end the program when it is written to.
        let file = self.file.load(Ordering::Relaxed);
        os::allocate(file, offset, bytes)?;
        os::map_file(file, offset, bytes)
    }
}
