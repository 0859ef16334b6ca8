//! An access: from an address to a verdict, as quickly as possible.
//!
//! The simple model: load the history of each word touched, let [`fasttrack::step`] find races and make the new
//! history, store it, and try again if another thread was quicker.
//!
//! A thread remembers what it has done at its present time. *Known*: this kind of access to this history changes
//! nothing. *Changes*: this kind of access, from this place in the program, makes this of that history.
//! So an access that repeats is a load and a look into a table of the thread's own, and one that runs
//! over fresh memory is a compare-and-swap more.

use std::sync::atomic::Ordering;

use deadheat_online::fasttrack::{self, Kind, Record, Step};

use crate::findings::RacyAccess;
use crate::origin::Origin;
pub use crate::origin::What;
use crate::shadow::Shadow;
use crate::thread::{CHANGES, Change, Entered, KNOWN, Local, ROOT, Thread, WAYS, enter, local};
use crate::world::world;

/// What an access is, beyond its word: which bytes of it, and which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Code(u32);

const WRITE: u32 = 1 << 8;
const ATOMIC: u32 = 1 << 9;

impl Code {
    #[inline(always)]
    fn new(mask: u32, kind: Kind) -> Code {
        let write = if kind.write { WRITE } else { 0 };
        let atomic = if kind.atomic { ATOMIC } else { 0 };
        Code(mask | write | atomic)
    }

    #[inline]
    fn mask(self) -> u8 {
        self.0 as u8
    }

    #[inline]
    fn kind(self) -> Kind {
        Kind {
            write: self.0 & WRITE != 0,
            atomic: self.0 & ATOMIC != 0,
        }
    }

    #[inline(always)]
    fn key(self, base: u64, history: u32) -> u64 {
        base | u64::from(self.0) << 32 | u64::from(history)
    }
}

#[inline(always)]
fn known_place(history: u32, code: Code) -> usize {
    history.wrapping_add(code.0.wrapping_mul(37)) as usize % KNOWN
}

/// The first of the entries that a change may be in.
#[inline(always)]
fn change_places(history: u32, code: Code, site: u64) -> usize {
    let mixed =
        (u64::from(history) ^ u64::from(code.0) << 32 ^ site).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % (CHANGES / WAYS) * WAYS
}

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
    if (address & 7) + (1 << LOG) > 8 {
        return unaligned::<WRITES>(address, 1 << LOG, pc);
    }
    let mask = if LOG == 3 {
        0xff
    } else {
        ((1 << (1 << LOG)) - 1) << (address & 7)
    };
    part(local, base, address, Code::new(mask, kind), pc);
}

/// An access of up to 16 bytes that begins within a word and ends in another.
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
    let known = unsafe { &(*local.thread.get()).known }[known_place(history, code)];
    if known != code.key(base, history) {
        change(address, code, pc);
    }
}

/// An access that may change the history of its word.
#[cold]
#[inline(never)]
extern "C" fn change(address: usize, code: Code, pc: usize) {
    let local = local();
    let base = local.key.get();
    let cell = Shadow::cell_at(local.shadow.get(), address);
    let history = cell.load(Ordering::Relaxed);
    let thread = local.thread.get();
    let key = code.key(base, history);
    // SAFETY: a key is only set while there is a thread. A signal handler may run between the loads and
    // change the entry: that is why the key is compared twice.
    unsafe {
        let top = local.frame.get();
        let chain = if top == (*thread).frames {
            ROOT
        } else {
            (*top.sub(1)).chain
        };
        let site = pc as u64 | u64::from((*thread).lock_generation) << 48;
        let first = &raw const (*thread).changes[change_places(history, code, site)];
        for way in 0..WAYS {
            let entry = first.add(way);
            if (&raw const (*entry).key).read_volatile() != key
                || (*entry).site != site
                || (*entry).chain != chain
            {
                continue;
            }
            let next = (&raw const (*entry).next).read_volatile();
            let same = (&raw const (*entry).key).read_volatile() == key;
            if history == 0 {
                world().shadow.note(cell);
            }
            if same
                && cell
                    .compare_exchange(history, next, Ordering::Release, Ordering::Relaxed)
                    .is_ok()
            {
                return;
            }
            break;
        }
        // Only this thread makes records of its present time: if there is one, it is not about something else,
        // even if the word has another history by now.
        if history != 0
            && (*thread).told_by(world().histories.newest(history), code.kind(), code.mask())
        {
            (*thread).known[known_place(history, code)] = key;
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
    word(&entered, address & !7, &piece, &mut None);
}

/// An access on a thread whose accesses are not looked at, or that is not known yet.
#[cold]
#[inline(never)]
fn not_checked(address: usize, size: usize, write: bool, pc: usize) {
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
    let local = local();
    let idle = local.key.get() == 0 && !local.thread.get().is_null() && world().off();
    if size == 0 || idle || local.dead.get() {
        return;
    }
    let Some(entered) = enter() else { return };
    if world().off() || entered.thread().ignore[usize::from(kind.write)] > 0 {
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
    let mut last = None;
    let mut rested = 0;
    while at < end {
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
        word(entered, at, &piece, &mut last);
        at += 8;
        rested += 1;
        if rested % 4096 == 0 {
            entered.rest();
            last = None;
        }
    }
}

/// The part of an access in one word.
struct Piece {
    code: Option<Code>,
    mask: u8,
    kind: Kind,
    what: What,
    pc: usize,
}

/// Checks and notes an access to a word. `last` is what the access made of the word before, for ranges.
fn word(entered: &Entered, address: usize, piece: &Piece, last: &mut Option<(u32, u32, u8)>) {
    let thread = entered.thread();
    let world = world();
    let cell = world.shadow.cell(address);
    loop {
        let history = cell.load(Ordering::Acquire);
        if history == 0 {
            world.shadow.note(cell);
        }
        if let Some((from, to, mask)) = *last
            && from == history
            && mask == piece.mask
        {
            if from != to
                && cell
                    .compare_exchange(from, to, Ordering::Release, Ordering::Relaxed)
                    .is_err()
            {
                continue;
            }
            return;
        }
        let records = world.histories.get(history);
        let Some((number, room)) = world.histories.room(&mut thread.room, records.len() + 1) else {
            collect(entered);
            *last = None;
            continue;
        };
        let origin = origin(thread, piece);
        let access = Record::new(
            thread.line.slot(),
            thread.line.now(),
            piece.kind,
            piece.mask,
            origin,
        );
        let mut races = [Record::default(); 4];
        let mut found = 0;
        let step = fasttrack::step(records, access, thread.line.clock(), room, |earlier| {
            if found < races.len() {
                races[found] = *earlier;
            }
            found += 1;
        });
        match step {
            Step::Same => {
                if let Some(code) = piece.code {
                    thread.known[known_place(history, code)] = code.key(thread.key(), history);
                }
                *last = Some((history, history, piece.mask));
                return;
            }
            Step::Changed(length) => {
                if cell
                    .compare_exchange(history, number, Ordering::Release, Ordering::Relaxed)
                    .is_err()
                {
                    continue;
                }
                world.histories.keep(&mut thread.room, length);
                thread.line.record();
                if found == 0 {
                    remember(thread, piece, history, number);
                    *last = Some((history, number, piece.mask));
                } else {
                    *last = None;
                }
                for earlier in races.iter().take(found) {
                    world.findings.race(
                        thread,
                        &RacyAccess {
                            address,
                            first: *earlier,
                            second: access,
                        },
                    );
                }
                return;
            }
        }
    }
}

fn remember(thread: &mut Thread, piece: &Piece, history: u32, next: u32) {
    let Some(code) = piece.code else { return };
    let site = piece.pc as u64 | u64::from(thread.lock_generation) << 48;
    let key = code.key(thread.key(), history);
    let chain = thread.chain();
    thread.turn = (thread.turn + 1) % WAYS;
    let place = change_places(history, code, site) + thread.turn;
    thread.changes[place] = Change {
        key,
        site,
        chain,
        next,
    };
    thread.known[known_place(next, code)] = code.key(thread.key(), next);
}

/// Where an access came from.
#[inline]
fn origin(thread: &mut Thread, piece: &Piece) -> u64 {
    Origin::new(thread.stack_at(piece.pc), thread.lockset(), piece.what).0
}

/// Finds the histories that are in use, so that the others' room can be used again.
#[cold]
fn collect(entered: &Entered) {
    let world = world();
    let enough = entered.alone(|pause| {
        world.histories.collect(|mark| {
            pause.threads(|thread| {
                thread.room = Default::default();
                // Entries of the present time are still looked at, even now; others never again.
                let present = thread.key() >> 44;
                for key in &mut thread.known {
                    match *key >> 44 == present {
                        true => mark(*key as u32),
                        false => *key = 0,
                    }
                }
                for change in &mut thread.changes {
                    match change.key >> 44 == present {
                        true => [change.key as u32, change.next]
                            .into_iter()
                            .for_each(&mut *mark),
                        false => *change = Change::default(),
                    }
                }
            });
            world.shadow.visit(mark)
        })
    });
    if !enough {
        crate::os::die("deadheat: the histories of accesses fill their room\n");
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
        return range(address, size, kind, What::Access, pc);
    }
    let mask = ((1u32 << size) - 1) << (address & 7);
    part(local, base, address, Code::new(mask, kind), pc);
}
