//! Recording: what the program does is written down instead of checked.
//! The format of what is written is that of `deadheat_tape`.
//!
//! # In which order things happened
//! The simple model: one list of everything, in the order in which it happened. The tape has a list for each thread, and
//! *stamps*, numbers from one counter of the process. Whatever orders threads gets its stamp at a moment when its object
//! cannot change: a lock's while it is held, an atomic variable's while its channel is locked, a release before
//! it can be seen, an acquire after it has seen. So the order of stamps is one in which all synchronisation can have
//! happened, and atomic reads observe what they observed.
//!
//! Plain accesses have no stamps. If the run has no race, they need none: any two
//! accesses that conflict are ordered by program order and stamps, so in every order that respects those each read
//! observes the write that it observed. Where two accesses do race, times put them in order: an access takes the time if another
//! thread has accessed the same memory before ([`lines`]), and in any case every few hundred accesses. The hook runs
//! before its access; so that order is certain where the first access is over, by a later time of its thread, when the hook of the
//! second runs, and otherwise only very likely. Such a pair is reported as a race either way; what is
//! predicted from the value that such a read has seen rests on it.
//!
//! # What is left out
//! A read is not written down if since an equal one (same code, same address, same value read) its thread has
//! written nothing down but reads. No engine's answer changes: say `e1` was kept and `e2` left out.
//! - Happens-before and locksets: between the two is no synchronisation, so whatever is ordered with one is ordered with the
//!   other, and the same locks are held.
//! - Prediction: take a correct reordering in which `e2` and `e` race. In it the events of the thread from `e1` on are reads,
//!   which nobody observes. Without them, `e1` and `e` race, at the same two places.
//! - Other pairs: `e2` observes what `e1` does, or a write of the same value, so it demands nothing of an order that `e1` does not.
//!
//! Only how often a race is counted changes. Writes are never left out: somebody may have observed the last of several, and
//! needs all that its thread has read before it.
//!
//! While a program has only ever had one thread, its accesses and synchronisation are left out: they come
//! before everything else in every order. The locks it then holds are written down when it creates the second.
//!
//! Cost: 8 bytes an access and 32 for whatever has a stamp; a fifth of that or less where it is packed. Memory: a buffer of
//! [`BUFFER`](deadheat_tape::BUFFER) bytes a thread.

mod events;
mod lines;
mod spool;
mod tape;

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_tape::findings::Obstacle;

use crate::order::thread::local;
use crate::output::findings::Findings;
use crate::platform::world::world;

pub use events::*;
pub use spool::Spool;
pub use tape::Tape;

static ON: AtomicBool = AtomicBool::new(false);

/// Whether this process is recorded instead of checked.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The file of a process that is to be recorded from now on.
pub fn spool(findings: &Findings, limit: u64) -> Option<Spool> {
    let spool = Spool::new(limit);
    spool.open(findings.tape()?)?;
    ON.store(true, Ordering::Relaxed);
    Some(spool)
}

/// In a forked child, with hooks switched off: it has a file of its own.
pub fn in_child() {
    let Some(parents) = &world().spool else {
        return;
    };
    crate::order::registry::threads_before_fork(|thread| thread.tape.forget(thread.frames));
    parents.leave();
    let findings = &world().findings;
    let tape = findings.tape();
    if tape.is_none_or(|tape| parents.open(tape).is_none()) {
        findings.unchecked(Obstacle::NoTape);
    // SAFETY: the running thread's own.
    } else if let Some(thread) = unsafe { local().thread.get().as_mut() } {
        thread.note(Stamped::Begin, 0, 0);
    }
}
