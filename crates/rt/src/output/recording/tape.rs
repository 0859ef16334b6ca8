//! What one thread writes.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_tape::{AccessSite, BUFFER, Code, HEADER, LONGEST, PAYLOAD, Stamped, Unstamped, head};

use super::lines::Lines;
use super::spool::{Full, Spool, begin};
use crate::order::thread::{Frame, Thread, local};
use crate::platform::world::world;

/// How many accesses have one time, if no other thread accesses the same memory.
const SAME_TIME: u32 = 256;
/// How many chunks are not packed after one that was not worth it.
const UNTRIED: u32 = 15;
/// A frame that the tape has.
const TOLD: u32 = 1;
const READS: usize = 1 << 7;

/// The next stamp.
static STAMP: AtomicU64 = AtomicU64::new(1);

/// A number above all that were given out before.
#[inline]
pub fn stamp() -> u64 {
    STAMP.fetch_add(1, Ordering::SeqCst)
}

/// The time, in sixteens of cycles.
#[inline]
pub fn time() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has it.
    let cycles = unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    let cycles = 0;
    cycles >> 4 & PAYLOAD
}

/// See the [module](self). All zeros: nothing was written.
#[derive(Debug)]
pub struct Tape {
    /// Where the next record goes, and the end of the room for it.
    next: *mut u64,
    end: *mut u64,
    /// Where the buffer is; 0 if there is none.
    buffer: usize,
    /// How many chunks were made.
    chunks: u64,
    /// So many chunks are not to be packed, as one that was tried became little shorter.
    plain: u32,
    /// There is no more room.
    is_over: bool,
    /// How many frames have been told, and the top of the stack then.
    told: usize,
    top: *mut Frame,
    lines: Lines,
    /// Accesses until the next time.
    timeless: u32,
    /// Counts records that are no reads.
    era: u64,
    /// The reads that were written last.
    reads: [Read; READS],
}

#[derive(Clone, Copy, Debug)]
struct Read {
    /// The record.
    word: u64,
    value: u64,
    era: u64,
}

impl Tape {
    /// Makes room for the longest record, and tells of functions entered and left. False: there is none.
    #[inline(always)]
    fn prepare(&mut self, frames: *mut Frame, id: u32) -> bool {
        let top = local().frame.get();
        // SAFETY: frames below the top have been written.
        let told = top == self.top && (top == frames || unsafe { (*top.sub(1)).chain == TOLD });
        (told || self.tell_frames(frames, top, id)) && self.has_room(id)
    }

    #[inline(always)]
    fn has_room(&mut self, id: u32) -> bool {
        (self.end as usize).wrapping_sub(self.next as usize) > LONGEST * 8 || self.turn(id)
    }

    /// Goes on in an empty buffer.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, id: u32) -> bool {
        let Some(spool) = &world().spool else {
            return false;
        };
        if self.buffer == 0 {
            let Ok(buffer) = spool.buffer(id, self.chunks, stamp) else {
                return false;
            };
            self.buffer = buffer;
            self.lines = Lines::of_thread(id);
        } else if self.is_over {
            return false;
        } else if let Err(Full) = self.flush(spool, id) {
            self.is_over = true;
            self.end = self.next;
            return false;
        }
        self.next = (self.buffer as *mut u64).wrapping_add(HEADER);
        // Behind the last record there is a word of zeros.
        self.end = ((self.buffer + BUFFER) as *mut u64).wrapping_sub(1);
        true
    }

    /// Makes a chunk of what is in the buffer, which is empty then.
    fn flush(&mut self, spool: &Spool, id: u32) -> Result<(), Full> {
        self.write(spool, id)?;
        // SAFETY: the thread's own buffer, which is all zero.
        unsafe { begin(self.buffer, id, self.chunks) };
        Ok(())
    }

    fn write(&mut self, spool: &Spool, id: u32) -> Result<(), Full> {
        let name = (id, self.chunks);
        let wanted = self.plain == 0;
        let packed = spool.flush(self.buffer, self.next as usize, name, wanted, stamp)?;
        self.chunks += 1;
        self.plain = match wanted {
            true if packed => 0,
            true => UNTRIED,
            false => self.plain - 1,
        };
        Ok(())
    }

    /// The thread writes nothing more.
    pub fn close(&mut self, id: u32) {
        let Some(spool) = world().spool.as_ref().filter(|_| self.buffer != 0) else {
            return;
        };
        // Without room, what the buffer has stays where it is.
        if !self.is_over && self.write(spool, id).is_ok() {
            spool.give_back(self.buffer);
        }
        self.leave();
    }

    fn leave(&mut self) {
        self.buffer = 0;
        self.next = std::ptr::null_mut();
        self.end = std::ptr::null_mut();
    }

    /// In a forked child: nothing was written yet.
    pub fn forget(&mut self, frames: *mut Frame) {
        self.leave();
        self.is_over = false;
        for index in 0..self.told {
            // SAFETY: frames that have been told have been written.
            unsafe { (*frames.add(index)).chain = 0 };
        }
        self.chunks = 0;
        self.told = 0;
        self.top = std::ptr::null_mut();
        self.timeless = 0;
        self.era += 1;
    }

    #[cold]
    #[inline(never)]
    fn tell_frames(&mut self, frames: *mut Frame, top: *mut Frame, id: u32) -> bool {
        // SAFETY: frames between `frames` and the top have been written.
        unsafe {
            let mut known = top;
            while known > frames && (*known.sub(1)).chain != TOLD {
                known = known.sub(1);
            }
            let depth = known.offset_from(frames) as usize;
            if depth < self.told {
                if !self.has_room(id) {
                    return false;
                }
                self.put(Unstamped::Left.into(), depth as u64);
            }
            while known < top {
                if !self.has_room(id) {
                    return false;
                }
                self.put(Unstamped::Entered.into(), (*known).caller);
                (*known).chain = TOLD;
                known = known.add(1);
            }
            self.told = top.offset_from(frames) as usize;
            self.top = top;
        }
        true
    }

    /// Writes a record of one word.
    #[inline]
    fn put(&mut self, number: u64, payload: u64) {
        // SAFETY: there is room. The compiler must not put this off: the process may be killed at any time.
        unsafe { self.next.write_volatile(head(number, payload)) };
        self.next = self.next.wrapping_add(1);
    }

    /// Writes a record of several words, the first of them last.
    #[inline]
    fn put_long(&mut self, number: u64, payload: u64, further: &[u64]) {
        for (index, word) in further.iter().enumerate() {
            // SAFETY: there is room.
            unsafe { self.next.add(1 + index).write_volatile(*word) };
        }
        let head = self.next;
        self.put(number, payload);
        self.next = head.wrapping_add(1 + further.len());
    }

    /// Writes a plain access of 1, 2, 4, 8 or 16 bytes.
    #[inline(always)]
    pub fn access<const LOG: u32, const WRITES: bool>(
        &mut self,
        frames: *mut Frame,
        id: u32,
        address: usize,
        pc: usize,
    ) {
        let Some(spool) = &world().spool else { return };
        if spool.is_full() || !self.prepare(frames, id) {
            return;
        }
        let site = AccessSite {
            pc: pc as u64,
            size: 1 << LOG,
            write: WRITES,
            of_lock: false,
        };
        let site = site.word();
        let number = spool.site(site);
        let word = head(number.unwrap_or(0), address as u64);
        if WRITES {
            self.era += 1;
        } else if LOG <= 3 && number.is_some() {
            // SAFETY: the program is about to read there.
            let value = unsafe { value::<LOG>(address) };
            let mixed = (address ^ pc << 4) as u64;
            let place = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - READS.ilog2());
            let era = self.era;
            let read = &mut self.reads[place as usize];
            if read.word == word && read.era == era {
                if read.value == value {
                    return;
                }
                // Somebody else has written: it matters when.
                self.timeless = 0;
            }
            *read = Read { word, value, era };
        }
        if self.lines.access::<WRITES>(address, 1 << LOG) || self.timeless == 0 {
            self.timeless = SAME_TIME;
            self.put(Unstamped::Time.into(), time());
        }
        self.timeless -= 1;
        match number {
            Some(number) => self.put(number, address as u64),
            None => self.put_long(Unstamped::Elsewhere.into(), address as u64, &[site]),
        }
    }

    /// Memory is accessed by what is written next, with its time.
    pub fn touch(&mut self, address: usize, size: usize, writes: bool) {
        match writes {
            true => self.lines.change_all::<true>(address, size),
            false => self.lines.change_all::<false>(address, size),
        }
    }

    /// Writes something that has no stamp.
    pub fn note(
        &mut self,
        frames: *mut Frame,
        id: u32,
        record: Unstamped,
        payload: u64,
        more: [u64; 2],
    ) {
        if self.prepare(frames, id) {
            self.era += 1;
            self.put(Unstamped::Time.into(), time());
            if self.has_room(id) {
                self.put_long(record.into(), payload, &more);
            }
        }
    }

    /// Writes something that has a stamp, which is taken now.
    pub fn stamped(
        &mut self,
        frames: *mut Frame,
        id: u32,
        record: Stamped,
        payload: u64,
        pc: u64,
        size: Option<u64>,
    ) {
        if !self.prepare(frames, id) {
            return;
        }
        self.era += 1;
        self.timeless = 0;
        let (stamp, time) = (stamp(), time());
        match size {
            None => self.put_long(record.into(), payload, &[pc, stamp, time]),
            Some(size) => self.put_long(record.into(), payload, &[pc, stamp, time, size]),
        }
    }
}

/// What up to 8 bytes at an address hold.
///
/// # Safety
/// They can be read.
#[inline(always)]
unsafe fn value<const LOG: u32>(address: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match LOG {
            0 => u64::from((address as *const u8).read_volatile()),
            1 => u64::from((address as *const u16).read_unaligned()),
            2 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

/// What a record says of code, and a detail.
#[inline]
pub fn code(pc: usize, detail: u64) -> u64 {
    let pc = pc as u64;
    Code { pc, detail }.word()
}

impl Thread {
    /// Writes something with a stamp to the thread's tape.
    pub fn note(&mut self, record: Stamped, payload: usize, code: u64) {
        let (frames, id) = (self.frames, self.id);
        self.tape
            .stamped(frames, id, record, payload as u64, code, None);
    }

    /// Writes something about a piece of memory, with a stamp.
    pub fn note_memory(&mut self, record: Stamped, address: usize, size: usize, code: u64) {
        let (frames, id) = (self.frames, self.id);
        let size = Some(size as u64);
        self.tape
            .stamped(frames, id, record, address as u64, code, size);
    }
}
