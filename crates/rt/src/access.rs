//! An access: from an address to a verdict, as quickly as possible.
//!
//! The simple model: load the history of each word touched, let [`fasttrack::step`] find races and make the new
//! history, store it, and try again if another thread was quicker.
//!
//! A thread remembers what it has done at its present time. *Known*: this kind of access to this history changes
//! nothing. *Changes*: this kind of access, from this place in the program, makes this of that history.
//! So an access that repeats is a load and a look into a table of the thread's own, and one that runs
//! over fresh memory is a compare-and-swap more.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_online::fasttrack::{self, Kind, Record, Step};

use crate::findings::RacyAccess;
use crate::histories::UNCHECKED;
use crate::memo::Code;
use crate::openmp;
use crate::openmp::order::{Asking, is_over};
use crate::origin::Origin;
pub use crate::origin::What;
use crate::recording;
use crate::registry::Pause;
use crate::shadow::{Pair, Shadow};
use crate::thread::{Entered, Local, ROOT, Thread, enter, local};
use crate::world::world;

/// An access of 1, 2, 4 or 8 bytes by code at an address.
#[inline(always)]
pub fn access<const LOG: u32, const WRITES: bool>(address: usize, pc: usize) {
    const { assert!(LOG <= 3) };
    let local = local();
    let base = local.key.get();
    let kind = Kind {
        write: WRITES,
        atomic: false,
    };
    if base == 0 {
        return not_checked(address, 1 << LOG, WRITES, pc);
    }
    if address & ((1 << LOG) - 1) != 0 {
        return unaligned::<WRITES>(address, 1 << LOG, pc);
    }
    let history = Shadow::cell_at(local.shadow.get(), address).load(Ordering::Relaxed);
    // SAFETY: a key is only set while there is a thread.
    let memo = unsafe { &(*local.thread.get()).memo };
    if !memo.knows_usual::<LOG, WRITES>(base, address, history) {
        let mask = ((1 << (1 << LOG)) - 1) << (address & 7);
        change(address, Code::new(mask, kind), pc);
    }
}

/// An access of 16 bytes, as vector code makes them.
#[inline(always)]
pub fn access16<const WRITES: bool>(address: usize, pc: usize) {
    let local = local();
    let base = local.key.get();
    if base == 0 || address & 7 != 0 {
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
    let code = Code::new(0xff, kind);
    if let Some(pair) = Pair::at(local.shadow.get(), address) {
        let [first, second] = pair.load();
        let [one, two] = pair.cells();
        if let Some(next) = known_change(local, one, address, first, code, pc)
            && let Some(next2) = match second == first {
                true => Some(next),
                false => known_change(local, two, address + 8, second, code, pc),
            }
            && pair.replace([first, second], [next, next2])
        {
            return;
        }
    }
    change(address, code, pc);
    // A signal handler that ran meanwhile may have switched checking off.
    if local.key.get() != 0 {
        change(address + 8, code, pc);
    }
}

/// An access of up to 16 bytes that begins within a word and ends in another.
#[cold]
#[inline(never)]
pub fn unaligned<const WRITES: bool>(address: usize, size: usize, pc: usize) {
    let local = local();
    let mut base = local.key.get();
    if base == 0 {
        return not_checked(address, size, WRITES, pc);
    }
    let kind = Kind {
        write: WRITES,
        atomic: false,
    };
    let first = address & 7;
    let mut bytes = (((1u32 << size) - 1) as u64) << first;
    let mut word = address & !7;
    while bytes != 0 && base != 0 {
        if bytes & 0xff != 0 {
            part(local, base, word, Code::new(bytes as u32 & 0xff, kind), pc);
            // The time may have gone up: a signal handler may have run.
            base = local.key.get();
        }
        bytes >>= 8;
        word += 8;
    }
}

/// The part of an access in one word.
#[inline(always)]
fn part(local: &Local, base: u64, address: usize, code: Code, pc: usize) {
    let history = Shadow::cell_at(local.shadow.get(), address).load(Ordering::Relaxed);
    // SAFETY: a key is only set while there is a thread.
    if unsafe { !(*local.thread.get()).memo.knows(base, code, history) } {
        change(address, code, pc);
    }
}

/// What an access makes of a history, if this thread has seen that at its present time.
#[inline(always)]
fn known_change(
    local: &Local,
    cell: &AtomicU32,
    address: usize,
    history: u32,
    code: Code,
    pc: usize,
) -> Option<u32> {
    let thread = local.thread.get();
    // SAFETY: a key is only set while there is a thread.
    unsafe {
        let (site, chain) = here(local, pc);
        let next = (*thread)
            .memo
            .change(local.key.get(), code, history, site, chain)?;
        if history == 0 {
            world().shadow.note(cell);
            (*thread).note_lowest(address);
        }
        Some(next)
    }
}

/// Code at an address in the running function: as the memo knows it.
#[inline(always)]
fn here(local: &Local, pc: usize) -> (u64, u32) {
    let thread = local.thread.get();
    let top = local.frame.get();
    // SAFETY: a thread has frames, of which those below the top have been written.
    unsafe {
        let chain = if top == (*thread).frames {
            ROOT
        } else {
            (*top.sub(1)).chain
        };
        ((*thread).site(pc), chain)
    }
}

/// An access that may change the history of its word.
#[cold]
#[inline(never)]
extern "C" fn change(address: usize, code: Code, pc: usize) {
    let local = local();
    let cell = Shadow::cell_at(local.shadow.get(), address);
    let history = cell.load(Ordering::Acquire);
    // SAFETY: a key is only set while there is a thread.
    let phase = unsafe { (*local.thread.get()).phase };
    if phase != 0 && code.is_read() && openmp::is_settled(phase, history, code.mask()) {
        return;
    }
    match known_change(local, cell, address, history, code, pc) {
        Some(next) if replace(cell, history, next) => (),
        _ => change_unknown(address, code, pc),
    }
}

#[inline(always)]
fn replace(cell: &AtomicU32, history: u32, next: u32) -> bool {
    cell.compare_exchange(history, next, Ordering::Release, Ordering::Relaxed)
        .is_ok()
}

/// An access to a history that this thread has not seen from there at its present time.
#[cold]
#[inline(never)]
fn change_unknown(address: usize, code: Code, pc: usize) {
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
            if let Some(next) = known_change(local, cell, address, 0, code, pc)
                && replace(cell, history, next)
            {
                let (site, chain) = here(local, pc);
                (*thread)
                    .memo
                    .note_change(base, code, history, site, chain, next);
                return;
            }
        }
        // What another thread does meanwhile may make the history's number mean something else: it still means the
        // same if the word still has it.
        if history != 0
            && world()
                .histories
                .newest(history)
                .any(|record| (*thread).told_by(record, code.kind(), code.mask()))
            && cell.load(Ordering::Acquire) == history
        {
            (*thread).memo.know(base, code, history);
            return;
        }
    }
    slow(address, code, pc);
}

#[cold]
#[inline(never)]
fn slow(address: usize, code: Code, pc: usize) {
    let Some(entered) = enter() else { return };
    let piece = Piece {
        code: Some(code),
        mask: code.mask(),
        kind: code.kind(),
        what: What::Access,
        pc,
    };
    word(&entered, address & !7, &piece, &mut Lately::default());
}

/// An access on a thread whose accesses are not looked at, or that is not known yet.
#[cold]
#[inline(never)]
fn not_checked(address: usize, size: usize, write: bool, pc: usize) {
    if recording::on() {
        return recording::access(address, size, write, pc);
    }
    let thread = local().thread.get();
    if !thread.is_null() {
        // SAFETY: the running thread's own.
        let ignore = unsafe { (*thread).ignore };
        if world().off() || ignore[usize::from(write)] > 0 {
            return;
        }
        return range(
            address,
            size,
            Kind {
                write,
                atomic: false,
            },
            What::Access,
            pc,
        );
    }
    if !local().dead.get() && local().depth.get() == 0 && enter().is_some() && !world().off() {
        range(
            address,
            size,
            Kind {
                write,
                atomic: false,
            },
            What::Access,
            pc,
        );
    }
}

/// An access to any number of bytes.
pub fn range(address: usize, size: usize, kind: Kind, what: What, pc: usize) {
    if recording::on() {
        if size > 0 {
            recording::range(address, size, kind.write, pc);
        }
        return;
    }
    let local = local();
    let idle = local.key.get() == 0 && !local.thread.get().is_null() && world().off();
    if size == 0 || idle || local.dead.get() || local.depth.get() != 0 {
        return;
    }
    let Some(entered) = enter() else { return };
    let ignored = entered.thread().ignore[usize::from(kind.write)] > 0;
    if world().off() || ignored || openmp::is_runtime(pc) {
        return;
    }
    range_entered(&entered, address, size, kind, what, pc);
}

/// As [`range`], in the runtime already.
pub fn range_entered(
    entered: &Entered,
    address: usize,
    size: usize,
    kind: Kind,
    what: What,
    pc: usize,
) {
    let end = address.saturating_add(size);
    let mut at = address & !7;
    let mut lately = Lately::default();
    let mut rested = 0;
    while at < end {
        rested += 1;
        if rested % 4096 == 0 {
            entered.rest();
            lately = Lately::default();
        }
        if at >= address && end - at >= 16 && two_words(entered, at, &lately) {
            at += 16;
            continue;
        }
        let from = address.max(at) - at;
        let to = (end - at).min(8);
        let mask = (0xffu32 >> (8 - (to - from)) << from) as u8;
        let piece = Piece {
            code: None,
            mask,
            kind,
            what,
            pc,
        };
        word(entered, at, &piece, &mut lately);
        at += 8;
    }
}

/// Notes an access to two words at once, if what it makes of their histories was seen lately.
#[inline(always)]
fn two_words(entered: &Entered, address: usize, lately: &Lately) -> bool {
    let shadow = &world().shadow;
    let Some(pair) = Pair::at(shadow.base(), address) else {
        return false;
    };
    let histories = pair.load();
    let Some(first) = lately.find(histories[0], 0xff) else {
        return false;
    };
    let second = match histories[0] == histories[1] {
        true => Some(first),
        false => lately.find(histories[1], 0xff),
    };
    let Some(second) = second else { return false };
    if histories.contains(&0) {
        pair.cells().iter().for_each(|cell| shadow.note(cell));
        entered.thread().note_lowest(address);
    }
    histories == [first, second] || pair.replace(histories, [first, second])
}

/// The part of an access in one word.
struct Piece {
    code: Option<Code>,
    mask: u8,
    kind: Kind,
    what: What,
    pc: usize,
}

/// What a range has made of the histories of its last few words: those of a loop that was unrolled take turns.
#[derive(Default)]
struct Lately {
    changes: [(u32, u32, u8); 4],
    last: usize,
}

impl Lately {
    /// What a history becomes, if such a one was seen.
    #[inline]
    fn find(&self, history: u32, mask: u8) -> Option<u32> {
        let fits = |change: &(u32, u32, u8)| change.0 == history && change.2 == mask;
        let last = &self.changes[self.last];
        if fits(last) {
            return Some(last.1);
        }
        let found = self.changes.iter().find(|change| fits(change));
        found.map(|change| change.1)
    }

    fn note(&mut self, history: u32, next: u32, mask: u8) {
        self.last = (self.last + 1) % 4;
        self.changes[self.last] = (history, next, mask);
    }
}

/// Checks and notes an access to a word.
fn word(entered: &Entered, address: usize, piece: &Piece, lately: &mut Lately) {
    let thread = entered.thread();
    let world = world();
    let cell = world.shadow.cell(address);
    loop {
        let history = cell.load(Ordering::Acquire);
        if history == 0 {
            world.shadow.note(cell);
            thread.note_lowest(address);
        }
        if history == UNCHECKED {
            if let Some(code) = piece.code {
                thread.memo.know(thread.key(), code, history);
            }
            return;
        }
        if let Some(next) = lately.find(history, piece.mask) {
            if history != next && !replace(cell, history, next) {
                continue;
            }
            return;
        }
        let records = world.histories.get(history);
        let Some((number, room)) = world.histories.room(&mut thread.room, records.len() + 1) else {
            collect(entered);
            *lately = Lately::default();
            continue;
        };
        if !thread.strand.is_null() {
            openmp::unsettle(number);
        }
        let origin = origin(thread, piece);
        let access = thread.record(piece.kind, piece.mask, origin);
        // Up to sixteen races, and one more for each byte that these leave out.
        let mut races = [const { MaybeUninit::uninit() }; 16 + 8];
        let (mut found, mut bytes) = (0, 0);
        let race = |earlier: &Record| {
            let common = earlier.mask() & piece.mask;
            if (found < 16 || common & !bytes != 0) && found < races.len() {
                races[found].write(*earlier);
                found += 1;
                bytes |= common;
            }
        };
        let step = match thread.strand.is_null() {
            true => fasttrack::step(records, access, thread.line.clock(), room, race),
            false => strand_step(thread, address, history, access, room, race),
        };
        match step {
            Step::Same => {
                if let Some(code) = piece.code {
                    thread.memo.know(thread.key(), code, history);
                }
                lately.note(history, history, piece.mask);
                return;
            }
            Step::Changed(length) => {
                // Words that come to say the same share one history.
                let made = &room[..length];
                let hash = made.iter().fold(0, Record::hash);
                let present = thread.key();
                let same = thread
                    .memo
                    .made(present, hash)
                    .filter(|same| world.histories.get(*same) == made);
                let number = same.unwrap_or(number);
                if !replace(cell, history, number) {
                    continue;
                }
                if same.is_none() {
                    world.histories.keep(&mut thread.room, length);
                    thread.memo.note_made(present, hash, number);
                }
                thread.line.record();
                if found == 0 {
                    remember(thread, piece, history, number);
                    if !thread.strand.is_null() && records.iter().all(is_over) {
                        remember(thread, piece, 0, number);
                    }
                    lately.note(history, number, piece.mask);
                }
                for earlier in races.iter().take(found) {
                    // SAFETY: the first `found` have been written.
                    let first = unsafe { earlier.assume_init() };
                    world.findings.race(
                        thread,
                        &RacyAccess {
                            address,
                            first,
                            second: access,
                        },
                    );
                }
                return;
            }
        }
    }
}

/// As [`fasttrack::step`], for a thread that runs a strand of OpenMP.
#[inline(never)]
fn strand_step(
    thread: &mut Thread,
    address: usize,
    history: u32,
    access: Record,
    room: &mut [Record],
    mut race: impl FnMut(&Record),
) -> Step {
    let records = world().histories.get(history);
    let phase = thread.phase;
    let Some(mut asking) = Asking::of(thread, address) else {
        return Step::Same;
    };
    let superfluous = asking.is_superfluous(records, &access);
    let mut found = false;
    let step = fasttrack::step(records, access, &mut asking, room, |earlier| {
        found = true;
        race(earlier);
    });
    match step {
        Step::Changed(_) if superfluous && !found => {
            if phase != 0 {
                asking.settle(phase, history, &access);
            }
            Step::Same
        }
        Step::Changed(length) => Step::Changed(asking.shorten(&mut room[..length])),
        Step::Same => Step::Same,
    }
}

fn remember(thread: &mut Thread, piece: &Piece, history: u32, next: u32) {
    let Some(code) = piece.code else { return };
    let (present, site, chain) = (thread.key(), thread.site(piece.pc), thread.chain());
    thread
        .memo
        .note_change(present, code, history, site, chain, next);
    thread.memo.know(present, code, next);
}

/// Where an access came from.
#[inline]
fn origin(thread: &mut Thread, piece: &Piece) -> u64 {
    Origin::new(thread.stack_at(piece.pc), thread.lockset(), piece.what).0
}

/// Finds the histories that are in use, so that the others' room can be used again. If they fill it, all are given up:
/// rather miss races than end the program.
#[cold]
fn collect(entered: &Entered) {
    entered.alone(|pause| {
        if !visit_all(pause) {
            world().drop_one();
            world().shadow.forget_all();
            visit_all(pause);
        }
    });
}

/// Visits whatever refers to histories. False: almost all of their room is in use.
fn visit_all(pause: &Pause) -> bool {
    world().histories.collect(|mark| {
        pause.threads(|thread| {
            thread.room = Default::default();
            let present = thread.key();
            thread.memo.visit(present, &mut *mark);
        });
        world().shadow.visit(mark)
    })
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
        return range(address, size, kind, What::Access, pc);
    }
    let mask = ((1u32 << size) - 1) << (address & 7);
    part(local, base, address, Code::new(mask, kind), pc);
}
