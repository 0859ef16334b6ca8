//! An access: from an address to a verdict, as quickly as possible.
//!
//! The simple model: load the history of each word touched, let [`fasttrack::step`] find races and make the new
//! history, store it, and try again if another thread was quicker.
//!
//! A thread remembers what it has done at its present time. *Known*: this kind of access to this history changes
//! nothing. *Changes*: this kind of access, from this place in the program, makes this of that history.
//! So an access that repeats is a load and a look into a table of the thread's own, and one that runs
//! over fresh memory is a compare-and-swap more.

use deadheat_model::finding::AccessCause;
use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_online::fasttrack::Kind;
use deadheat_online::mark::Told;

use crate::check::histories::UNCHECKED;
use crate::check::in_place;
use crate::check::memo::AccessShape;
use crate::check::range::range;
use crate::check::shadow::{Pair, Shadow};
use crate::check::strips;
use crate::check::word::{Place, WordAccess, check_word};
use crate::openmp;
use crate::openmp::order::is_over;
use crate::order::thread::{Local, enter, local};
use crate::output::recording;
use crate::platform::world::world;

/// An access of 1, 2, 4 or 8 bytes by code at an address.
#[inline(always)]
pub fn access<const LOG: u32, const WRITES: bool>(address: usize, pc: usize) {
    const { assert!(LOG <= 3) };
    let local = local();
    let epoch = local.epoch.get();
    if epoch == 0 {
        return access_without_marks::<LOG, WRITES>(address, pc);
    }
    let first = address & 7;
    if first + (1 << LOG) > 8 {
        return across::<WRITES>(address, 1 << LOG, pc);
    }
    let mask = ((1 << (1 << LOG)) - 1) << first;
    let told = Told::new(epoch, WRITES, mask as u8);
    if !in_place::is_told(local.shadow.get(), address, told) {
        in_place::update_plain::<WRITES>(address, mask, pc);
    }
}

/// An access of 16 bytes, as vector code makes them.
#[inline(always)]
pub fn access16<const WRITES: bool>(address: usize, pc: usize) {
    let local = local();
    let epoch = local.epoch.get();
    if epoch == 0 {
        return access16_without_marks::<WRITES>(address, pc);
    }
    if address & 7 != 0 {
        return across::<WRITES>(address, 16, pc);
    }
    let told = Told::new(epoch, WRITES, 0xff);
    for word in [address, address + 8] {
        if !in_place::is_told(local.shadow.get(), word, told) {
            in_place::update_plain::<WRITES>(word, 0xff, pc);
        }
    }
}

/// An access of up to 16 bytes that begins within a word and ends in another, by a thread that makes marks.
#[inline(never)]
fn across<const WRITES: bool>(address: usize, size: usize, pc: usize) {
    let local = local();
    let mut bytes = (((1u32 << size) - 1) as u64) << (address & 7);
    let mut word = address & !7;
    while bytes != 0 {
        let mask = bytes as u32 & 0xff;
        let told = Told::new(local.epoch.get(), WRITES, mask as u8);
        if mask != 0 && !in_place::is_told(local.shadow.get(), word, told) {
            in_place::update_plain::<WRITES>(word, mask, pc);
        }
        bytes >>= 8;
        word += 8;
    }
}

#[inline(always)]
pub fn plain(write: bool) -> Kind {
    Kind {
        write,
        atomic: false,
    }
}

/// Whether the program is one of threads, of which marks tell.
#[inline(always)]
fn has_cells() -> bool {
    world().tasks.is_none()
}

/// As [`access`], by a thread that makes no marks now: accesses are not looked at, or histories tell of them.
#[inline(always)]
fn access_without_marks<const LOG: u32, const WRITES: bool>(address: usize, pc: usize) {
    let local = local();
    let base = local.key.get();
    if base == 0 {
        return not_checked::<LOG, WRITES>(address, pc);
    }
    if has_cells() {
        return range(
            address,
            1 << LOG,
            plain(WRITES),
            AccessCause::Instruction,
            pc,
        );
    }
    if address & ((1 << LOG) - 1) != 0 {
        return unaligned::<WRITES>(address, 1 << LOG, pc);
    }
    let history = Shadow::cell_at(local.shadow.get(), address).load(Ordering::Relaxed);
    // SAFETY: a key is only set while there is a thread.
    let memo = unsafe { &(*local.thread.get()).memo };
    if !memo.knows_usual::<LOG, WRITES>(base, address, history) {
        let mask = ((1 << (1 << LOG)) - 1) << (address & 7);
        change(address, AccessShape::new(mask, plain(WRITES)), pc);
    }
}

/// As [`access16`], by a thread that makes no marks now.
#[inline(always)]
fn access16_without_marks<const WRITES: bool>(address: usize, pc: usize) {
    let local = local();
    let base = local.key.get();
    if base == 0 {
        return not_checked::<4, WRITES>(address, pc);
    }
    if has_cells() {
        return range(address, 16, plain(WRITES), AccessCause::Instruction, pc);
    }
    if address & 7 != 0 {
        return unaligned::<WRITES>(address, 16, pc);
    }
    // SAFETY: a key is only set while there is a thread.
    let memo = unsafe { &(*local.thread.get()).memo };
    let knows = |address| {
        let history = Shadow::cell_at(local.shadow.get(), address).load(Ordering::Relaxed);
        memo.knows_usual::<3, WRITES>(base, address, history)
    };
    if !(knows(address) && knows(address + 8)) {
        change_two::<WRITES>(address, pc);
    }
}

/// An access to two words that may change their histories.
#[cold]
#[inline(never)]
fn change_two<const WRITES: bool>(address: usize, pc: usize) {
    let local = local();
    let kind = Kind {
        write: WRITES,
        atomic: false,
    };
    let shape = AccessShape::new(0xff, kind);
    if let Some(pair) = Pair::at(local.shadow.get(), address) {
        let [first, second] = pair.load();
        let [one, two] = pair.cells();
        if let Some(next) = known_change(local, one, address, first, shape, pc)
            && let Some(next2) = match second == first {
                true => Some(next),
                false => known_change(local, two, address + 8, second, shape, pc),
            }
            && pair.replace([first, second], [next, next2])
        {
            return;
        }
    }
    change(address, shape, pc);
    // A signal handler that ran meanwhile may have switched checking off.
    if local.key.get() != 0 {
        change(address + 8, shape, pc);
    }
}

/// An access of up to 16 bytes that begins within a word and ends in another.
#[cold]
#[inline(never)]
fn unaligned<const WRITES: bool>(address: usize, size: usize, pc: usize) {
    let local = local();
    let mut base = local.key.get();
    let kind = Kind {
        write: WRITES,
        atomic: false,
    };
    let first = address & 7;
    let mut bytes = (((1u32 << size) - 1) as u64) << first;
    let mut word = address & !7;
    while bytes != 0 && base != 0 {
        if bytes & 0xff != 0 {
            part(
                local,
                base,
                word,
                AccessShape::new(bytes as u32 & 0xff, kind),
                pc,
            );
            // The time may have gone up: a signal handler may have run.
            base = local.key.get();
        }
        bytes >>= 8;
        word += 8;
    }
}

/// The part of an access in one word.
#[inline(always)]
fn part(local: &Local, base: u64, address: usize, shape: AccessShape, pc: usize) {
    let history = Shadow::cell_at(local.shadow.get(), address).load(Ordering::Relaxed);
    // SAFETY: a key is only set while there is a thread.
    if unsafe { !(*local.thread.get()).memo.knows(base, shape, history) } {
        change(address, shape, pc);
    }
}

/// What an access makes of a history, if this thread has seen that at its present time.
#[inline(always)]
fn known_change(
    local: &Local,
    cell: &AtomicU32,
    address: usize,
    history: u32,
    shape: AccessShape,
    pc: usize,
) -> Option<u32> {
    let thread = local.thread.get();
    // SAFETY: a key is only set while there is a thread.
    unsafe {
        let (site, chain) = here(local, pc);
        let next = (*thread)
            .memo
            .change(local.key.get(), shape, history, site, chain)?;
        if history == 0 {
            if world().contents.wait_at(address) {
                return None;
            }
            world().shadow.note(cell);
            (*thread).note_lowest(address);
        }
        Some(next)
    }
}

/// Code at an address in the running function: as the memo knows it.
#[inline(always)]
fn here(local: &Local, pc: usize) -> (u64, u32) {
    let (thread, top) = (local.thread.get(), local.frame.get());
    // SAFETY: a thread has a frame before its first; those below the top have been written.
    unsafe { ((*thread).site(pc), (*top.sub(1)).chain) }
}

/// An access that may change the history of its word.
#[cold]
#[inline(never)]
extern "C" fn change(address: usize, shape: AccessShape, pc: usize) {
    let local = local();
    let cell = Shadow::cell_at(local.shadow.get(), address);
    let history = cell.load(Ordering::Acquire);
    // SAFETY: a key is only set while there is a thread.
    let phase = unsafe { (*local.thread.get()).phase };
    if phase != 0 && shape.is_read() && openmp::is_settled(phase, history, shape.mask()) {
        return;
    }
    match known_change(local, cell, address, history, shape, pc) {
        Some(next) if replace(cell, history, next) => (),
        _ => change_unknown(address, shape, pc),
    }
}

/// Gives a word another history, if it still has the one expected. False: it had not, or may have another again.
#[inline(always)]
pub fn replace(cell: &AtomicU32, history: u32, next: u32) -> bool {
    let replace = || {
        cell.compare_exchange(history, next, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    };
    strips::exchange(cell, replace, || cell.load(Ordering::Relaxed) == next)
}

/// An access to a history that this thread has not seen from there at its present time.
#[cold]
#[inline(never)]
fn change_unknown(address: usize, shape: AccessShape, pc: usize) {
    let local = local();
    let base = local.key.get();
    let cell = Shadow::cell_at(local.shadow.get(), address);
    let history = cell.load(Ordering::Relaxed);
    let thread = local.thread.get();
    // SAFETY: a key is only set while there is a thread.
    unsafe {
        if history > UNCHECKED
            && !(*thread).strand.is_null()
            && world().histories.all(history, is_over)
        {
            // As if nothing were known of the word.
            if let Some(next) = known_change(local, cell, address, 0, shape, pc)
                && replace(cell, history, next)
            {
                let (site, chain) = here(local, pc);
                (*thread)
                    .memo
                    .note_change(base, shape, history, site, chain, next);
                return;
            }
        }
        // What another thread does meanwhile may make the history's number mean something else: it still means the
        // same if the word still has it.
        if history != 0
            && world()
                .histories
                .newest(history)
                .any(|record| (*thread).told_by(record, shape.kind(), shape.mask()))
            && cell.load(Ordering::Acquire) == history
        {
            (*thread).memo.know(base, shape, history);
            return;
        }
    }
    slow(address, shape, pc);
}

#[cold]
#[inline(never)]
fn slow(address: usize, shape: AccessShape, pc: usize) {
    let Some(entered) = enter() else { return };
    let address = address & !7;
    let place = Place::Number(world().shadow.cell(address));
    check_word(&entered, address, place, &WordAccess { shape, pc });
}

/// An access on a thread whose accesses are not looked at, or that is not known yet.
#[inline(always)]
fn not_checked<const LOG: u32, const WRITES: bool>(address: usize, pc: usize) {
    match recording::on() {
        true => recording::access::<LOG, WRITES>(address, pc),
        false => not_known(address, 1 << LOG, WRITES, pc),
    }
}

#[cold]
#[inline(never)]
fn not_known(address: usize, size: usize, write: bool, pc: usize) {
    let thread = local().thread.get();
    let is_new = || !local().dead.get() && local().depth.get() == 0 && enter().is_some();
    let looked_at = match thread.is_null() {
        // SAFETY: the running thread's own.
        false => unsafe { (*thread).ignore[usize::from(write)] == 0 },
        true => is_new(),
    };
    if looked_at && !world().off() {
        let kind = Kind {
            write,
            atomic: false,
        };
        range(address, size, kind, AccessCause::Instruction, pc);
    }
}

/// An atomic access of up to 8 bytes.
#[inline]
pub fn atomic_access(address: usize, size: usize, write: bool, pc: usize) {
    let kind = Kind {
        write,
        atomic: true,
    };
    let local = local();
    let base = local.key.get();
    if base == 0 || (address & 7) + size > 8 {
        return range(address, size, kind, AccessCause::Instruction, pc);
    }
    let mask = ((1u32 << size) - 1) << (address & 7);
    let epoch = local.epoch.get();
    if epoch != 0 {
        let told = Told::atomic(epoch, write, mask as u8);
        if !in_place::is_told(local.shadow.get(), address, told) {
            in_place::update(address, AccessShape::new(mask, kind), pc);
        }
        return;
    }
    if has_cells() {
        return range(address, size, kind, AccessCause::Instruction, pc);
    }
    part(local, base, address, AccessShape::new(mask, kind), pc);
}
