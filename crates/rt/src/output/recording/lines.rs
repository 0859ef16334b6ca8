//! Which accesses need a time of their own, so that those of several threads to the same memory keep their order.
//!
//! The simple model: an access takes the time if, since its thread took it last, another thread has accessed the same memory,
//! and one of the two writes. Then of two such accesses the later one has a time after the earlier one's, and
//! whoever orders all accesses by their threads' last times orders these two as they were.
//!
//! Memory is told apart by lines, and lines by their lowest bits: more accesses than need it take the time. A line is one thread's
//! own, which alone has written or read it, or shared by readers. Sharing is numbered: a thread that took the time after a line became
//! shared need not take it again for that line.
//!
//! Guarantee: as above, unless the later access begins while the earlier one is between its hook and its instruction.
//! Cost: a load and a comparison an access; an exchange and a time where a line changes hands.

use std::sync::atomic::{AtomicU32, Ordering};

/// How many bytes are one line.
const LINE_BITS: u32 = 6;
const LINES: usize = 1 << 16;

/// The last two bits of a line's state. Above them is the thread, or the number of the sharing.
const WRITTEN: u32 = 1;
const READ: u32 = 2;
const SHARED: u32 = 3;
/// Above those bits.
const STEP: u32 = 4;
/// Written by a thread that there is not: whoever comes next takes the time.
const ANYBODYS: u32 = !(STEP - 1) | WRITTEN;

static STATES: [AtomicU32; LINES] = [const { AtomicU32::new(0) }; LINES];

/// The number of the last sharing, in steps.
static SHARINGS: AtomicU32 = AtomicU32::new(SHARED);

/// What a thread knows of lines. All zeros: it has none.
#[derive(Debug)]
pub struct Lines {
    /// The state of a line that the thread has written.
    own: u32,
    /// The last sharing before the thread took the time.
    known: u32,
}

#[inline(always)]
fn state(address: usize) -> &'static AtomicU32 {
    &STATES[(address >> LINE_BITS) % LINES]
}

impl Lines {
    /// Those of the thread of this number.
    pub fn of_thread(id: u32) -> Lines {
        Lines {
            own: id.wrapping_add(1).wrapping_mul(STEP) | WRITTEN,
            known: SHARED,
        }
    }

    /// Notes an access of so many bytes, few; says whether it must take the time.
    #[inline(always)]
    pub fn access<const WRITES: bool>(&mut self, address: usize, bytes: usize) -> bool {
        let last = address.wrapping_add(bytes - 1);
        let changed = self.change::<WRITES>(address);
        match (address ^ last) >> LINE_BITS {
            0 => changed,
            _ => changed | self.change::<WRITES>(last),
        }
    }

    #[inline(always)]
    fn change<const WRITES: bool>(&mut self, address: usize) -> bool {
        let line = state(address);
        let now = line.load(Ordering::Relaxed);
        let stays = match WRITES {
            true => now == self.own,
            // Own, written or read.
            false => now.wrapping_sub(self.own) < 2 || self.knows(now),
        };
        !stays && self.take(line, now, WRITES)
    }

    /// Notes an access of any size, which takes the time anyway.
    pub fn change_all<const WRITES: bool>(&mut self, address: usize, size: usize) {
        let end = address.saturating_add(size);
        let first = address >> LINE_BITS << LINE_BITS;
        // Of more lines than there are states, the rest are those again.
        for line in (first..end).step_by(1 << LINE_BITS).take(LINES) {
            self.change::<WRITES>(line);
        }
    }

    /// Notes an atomic access. Those need not take the time for one another: they have stamps.
    pub fn change_atomically(address: usize, size: usize) {
        for address in [address, address.wrapping_add(size.saturating_sub(1))] {
            let line = state(address);
            if line.load(Ordering::Relaxed) != ANYBODYS {
                line.store(ANYBODYS, Ordering::SeqCst);
            }
        }
    }

    /// Whether a line has been shared since before the thread took the time.
    #[inline(always)]
    fn knows(&self, state: u32) -> bool {
        state & 3 == SHARED && self.known.wrapping_sub(state) <= u32::MAX / 2
    }

    #[cold]
    #[inline(never)]
    fn take(&mut self, line: &AtomicU32, mut now: u32, writes: bool) -> bool {
        let own_read = self.own - WRITTEN + READ;
        loop {
            let next = match (writes, now & 3) {
                (true, _) => self.own,
                (false, 0) => own_read,
                (false, WRITTEN) => own_read,
                (false, READ) => SHARINGS.fetch_add(STEP, Ordering::Relaxed) + STEP,
                (false, _) => now,
            };
            // The time is taken after this: whoever still finds the line as it was has accessed it before that.
            let order = Ordering::SeqCst;
            match line.compare_exchange(now, next, order, order) {
                Ok(_) => break,
                Err(other) => now = other,
            }
        }
        self.known = SHARINGS.load(Ordering::SeqCst);
        now != 0 && now != own_read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two accesses of different threads to the same bytes, one of which writes, the later one has a later time, if each
    /// access has the last time that its thread took: for random accesses, some of which cross lines.
    #[test]
    fn conflicting_accesses_have_times_in_their_order() {
        const BASE: usize = 0x1234_0000;
        let mut rng = fastrand::Rng::with_seed(5);
        let (mut taken, mut all) = (0, 0);
        for _ in 0..400 {
            let mut threads: Vec<(Lines, usize)> = Vec::new();
            for _ in 0..4 {
                threads.push((Lines::of_thread(rng.u32(..1 << 20)), 0));
            }
            // By thread: bytes, whether it writes, and its time.
            let mut past: Vec<(usize, std::ops::Range<usize>, bool, usize)> = Vec::new();
            let mut who = 0;
            for now in 1..200 {
                if rng.u32(..3) == 0 {
                    who = rng.usize(..threads.len());
                }
                let (lines, time) = &mut threads[who];
                let size = 1 << rng.u32(..4);
                let at = BASE + rng.usize(..200);
                let writes = rng.u32(..3) == 0;
                let takes = match writes {
                    true => lines.access::<true>(at, size),
                    false => lines.access::<false>(at, size),
                };
                if takes {
                    *time = now;
                    taken += 1;
                }
                all += 1;
                let (bytes, time) = (at..at + size, *time);
                for (other, theirs, wrote, before) in &past {
                    let overlap = theirs.start < bytes.end && bytes.start < theirs.end;
                    if *other != who && overlap && (writes || *wrote) {
                        assert!(*before < time, "{bytes:?} at {now}");
                    }
                }
                past.push((who, bytes, writes, time));
            }
            (BASE..BASE + 256).for_each(|at| state(at).store(0, Ordering::Relaxed));
        }
        assert!(taken < all * 2 / 3, "{taken} of {all}");
    }
}
