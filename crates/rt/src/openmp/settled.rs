//! Histories that another read does not change, whichever piece of a phase makes it.
//!
//! The pieces of a phase (iterations handed out, sections) are all alike to what came before the phase, and none is
//! ordered with another. So where two of them have read a word, and one more read by a third is superfluous, it is
//! superfluous for every other piece, too. That is noted beside the history, for whoever comes next.
//!
//! Guarantee: as [`Asking::is_superfluous`](super::order::Asking::is_superfluous), for plain reads in a piece's first
//! step.
//! Cost: eight bytes a history, of memory that is only taken where something is noted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::check::histories::RECORDS;
use crate::platform::os;

/// See the [module](self).
#[derive(Debug)]
pub struct Settled {
    /// By number of a history: the phase, and which bytes.
    notes: *const AtomicU64,
    /// Whether anything was ever noted.
    any: AtomicBool,
}

// SAFETY: an array of atomics.
unsafe impl Sync for Settled {}
// SAFETY: as above.
unsafe impl Send for Settled {}

impl Settled {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Settled> {
        let notes = os::reserve(RECORDS * 8)? as *const AtomicU64;
        Some(Settled {
            notes,
            any: AtomicBool::new(false),
        })
    }

    #[inline]
    fn of(&self, history: u32) -> &AtomicU64 {
        // SAFETY: histories have numbers below `RECORDS`.
        unsafe { &*self.notes.add(history as usize % RECORDS) }
    }

    /// Whether a plain read of these bytes in a piece of this phase changes nothing.
    #[inline]
    pub fn has(&self, phase: u32, history: u32, bytes: u8) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        let note = self.of(history).load(Ordering::Relaxed);
        note >> 32 == u64::from(phase) && bytes & !(note as u8) == 0
    }

    /// It does not.
    pub fn note(&self, phase: u32, history: u32, bytes: u8) {
        self.any.store(true, Ordering::SeqCst);
        let note = u64::from(phase) << 32 | u64::from(bytes);
        self.of(history).store(note, Ordering::Relaxed);
    }

    /// Another history is to have this number.
    #[inline]
    pub fn forget(&self, history: u32) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let note = self.of(history);
        if note.load(Ordering::Relaxed) != 0 {
            note.store(0, Ordering::Relaxed);
        }
    }
}
