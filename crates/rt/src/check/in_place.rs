//! An access of a program of threads: the marks of its word are changed in place.
//!
//! The simple model: load the cell, let [`mark::step`](deadheat_online::mark::step) make of its marks what the access makes of
//! them, replace them, and try again if another thread was quicker. Nothing is made anew whenever a thread's time goes up:
//! what is new in a mark is its epoch.
//!
//! What a word cannot say in two marks is in a history ([`check_word`]), to which
//! its cell has a link. What the thread has done to such words lately it knows (`memo`, `transitions`).
//!
//! Cost, in the cache's lines: the cell's; for a mark of another thread, the aliases' and the clock's, which stay near; for the
//! origin one of the thread's own table.

use deadheat_model::finding::AccessCause;

use deadheat_online::fasttrack::Kind;
use deadheat_online::mark::{InPlace, Mark, Told, step};

use crate::check::cell::Cell;
use crate::check::memo::AccessShape;
use crate::check::origins::{Common, Site};
use crate::check::shadow::{Regions, Shadow};
use crate::check::word::{Place, WordAccess, check_word, write_contents};
use crate::order::thread::{Entered, Local, Thread, enter, local};
use crate::platform::world::world;

/// The numbers of origins that a thread has had lately, of functions with many places. All zeros is none.
#[derive(Debug)]
pub struct RecentOrigins([RecentOrigin; RECENT]);

const RECENT: usize = 512;

#[derive(Clone, Copy, Debug)]
struct RecentOrigin {
    group: u32,
    number: u32,
    code: usize,
}

#[inline(always)]
fn recent_place(group: u32, site: Site) -> usize {
    let mixed = (site.code as u64 ^ u64::from(group) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 48) as usize % RECENT
}

impl Thread {
    /// The number of an access's origin, if it is near at hand.
    #[inline(always)]
    fn usual_origin(&self, code: usize, shape: AccessShape) -> Option<u32> {
        let cause = shape.cause();
        let site = Site { code, cause };
        let (common, group) = (Common::new(self.lockset?, site), self.group());
        match world().origins.has(group, common) {
            true => (world().origins.first(group, site)).or_else(|| self.recent(group, site)),
            false => None,
        }
    }

    /// The number of an origin that was found lately, also while a signal handler may run that finds others.
    #[inline(always)]
    fn recent(&self, group: u32, site: Site) -> Option<u32> {
        let entry = &raw const self.origins.0[recent_place(group, site)];
        // SAFETY: a living entry, of which the owner writes the key last.
        unsafe {
            let key = || {
                let group = (&raw const (*entry).group).read_volatile();
                (group, (&raw const (*entry).code).read_volatile())
            };
            let wanted = (group, site.code);
            if key() != wanted {
                return None;
            }
            let number = (&raw const (*entry).number).read_volatile();
            (key() == wanted && number != 0).then_some(number)
        }
    }

    /// The number of an access's origin. 0: it has none.
    #[inline]
    pub fn origin_number(&mut self, piece: &WordAccess) -> u32 {
        let site = Site {
            code: piece.pc,
            cause: piece.shape.cause(),
        };
        let common = Common::new(self.lockset(), site);
        let mut group = self.group();
        if !world().origins.has(group, common) {
            group = self.find_group(common, site.cause);
        }
        match world().origins.first(group, site) {
            Some(number) => number,
            None => self.find_number(group, site),
        }
    }

    /// The group of origins that the running function belongs to from now on.
    #[inline(never)]
    fn find_group(&mut self, common: Common, cause: AccessCause) -> u32 {
        let group = world().origins.group(self.chain(), common, cause);
        self.set_group(group);
        group
    }

    /// The number of an origin that is not where it is looked for first.
    #[inline(never)]
    fn find_number(&mut self, group: u32, site: Site) -> u32 {
        if let Some(number) = self.recent(group, site) {
            return number;
        }
        let number = world().origins.number(group, site);
        self.origins.0[recent_place(group, site)] = RecentOrigin {
            group,
            number,
            code: site.code,
        };
        number
    }

    /// What an access of the thread's makes of marks. Those that are past for all go where there would be too many.
    #[inline(always)]
    fn step(&self, marks: [Mark; 2], access: Mark) -> InPlace {
        match step(marks, access, |mark| self.sees(mark)) {
            InPlace::Rare if marks[0].mask() != 0 => self.step_without_past(marks, access),
            result => result,
        }
    }

    #[inline(never)]
    fn step_without_past(&self, marks: [Mark; 2], access: Mark) -> InPlace {
        let past = |mark: Mark| {
            let (slot, time) = world().aliases.of(mark);
            world().past.reaches(slot, time)
        };
        let left = marks.map(|mark| if past(mark) { Mark::NONE } else { mark });
        match left == marks {
            true => InPlace::Rare,
            false => step(left, access, |mark| self.sees(mark)),
        }
    }

    /// Whether an access happens before whatever the thread does now.
    #[inline(always)]
    pub fn sees(&self, mark: Mark) -> bool {
        let (slot, time) = world().aliases.of(mark);
        slot == self.timeline.slot() || time <= self.timeline.clock().get(slot)
    }
}

/// Whether a mark tells all of an access, atomic or plain, to some bytes of a word.
#[inline(always)]
pub fn is_told(table: usize, address: usize, told: Told) -> bool {
    let [one, other] = Regions::cell_at(table, address).halves();
    told.by(one) || told.by(other)
}

/// An access that is not told yet to some bytes of the word around an address.
///
/// The usual case is settled without entering the runtime: nothing that others could wait for is begun, and a signal handler
/// of the program that comes between can at most have made the thread's time go up, which is found out at the end.
#[inline(never)]
pub extern "C" fn update(address: usize, shape: AccessShape, pc: usize) {
    let local = local();
    if local.epoch.get() == 0 || local.depth.get() != 0 || !update_usual(local, address, shape, pc)
    {
        update_entered(address, shape, pc);
    }
}

/// Notes an access, if two marks can tell of it and its origin has a number already, or the thread has seen the word's history
/// lately. False: it is not noted, or was too early.
#[inline(always)]
fn update_usual(local: &Local, address: usize, shape: AccessShape, pc: usize) -> bool {
    let epoch = local.epoch.get();
    let thread = local.thread.get();
    let cell = Regions::cell_at(local.shadow.get(), address);
    let marks = cell.load();
    if let Some(history) = marks[0].linked() {
        // SAFETY: an epoch is only set while there is a thread.
        return unsafe { (*thread).memo.knows(local.key.get(), shape, history) };
    }
    // SAFETY: as above.
    let Some(number) = (unsafe { (*thread).usual_origin(pc, shape) }) else {
        return false;
    };
    if marks[0].is_none() && !begins_usually(address) {
        return false;
    }
    let access = Mark::new(epoch, shape.kind(), shape.mask(), number);
    // SAFETY: as above.
    match unsafe { (*thread).step(marks, access) } {
        InPlace::Same => true,
        InPlace::Becomes(next) if cell.replace(marks, next) => {
            // SAFETY: as above.
            unsafe { (*thread).timeline.record() };
            local.epoch.get() == epoch
        }
        _ => false,
    }
}

#[cold]
#[inline(never)]
fn update_entered(address: usize, shape: AccessShape, pc: usize) {
    if let Some(entered) = enter() {
        check(&entered, address & !7, &WordAccess { shape, pc });
    }
}

/// Checks and notes an access to a word.
#[inline]
pub fn check(entered: &Entered, address: usize, piece: &WordAccess) {
    let Shadow::Cells(regions) = world().shadow else {
        return;
    };
    let thread = entered.thread();
    let cell = regions.cell(address);
    let number = thread.origin_number(piece);
    let access = Mark::new(
        thread.epoch(),
        piece.shape.kind(),
        piece.shape.mask(),
        number,
    );
    if number == 0 || access.alias() == 0 {
        return check_anew(entered, address, cell, piece);
    }
    loop {
        let marks = cell.load();
        if marks[0].is_none() && !begins(entered, regions, address) {
            continue;
        }
        match thread.step(marks, access) {
            InPlace::Same => return,
            InPlace::Becomes(next) if cell.replace(marks, next) => {
                thread.timeline.record();
                return;
            }
            InPlace::Becomes(_) => (),
            InPlace::Rare => return check_otherwise(entered, address, cell, access, piece),
        }
    }
}

/// The word at an address is accessed for the first time. False: it has been written meanwhile by whoever handed it out.
#[inline(always)]
fn begins(entered: &Entered, regions: Regions, address: usize) -> bool {
    if world().contents.wait_at(address) {
        write_contents(entered, address);
        return false;
    }
    regions.note(address);
    true
}

/// As [`begins`], where nothing has to be waited for. False: something may have.
#[inline(always)]
fn begins_usually(address: usize) -> bool {
    match world().shadow {
        Shadow::Cells(regions) => {
            !world().contents.wait_at(address) && regions.note_if_made(address)
        }
        Shadow::Numbers(_) => false,
    }
}

/// An access of which two marks cannot tell all.
#[inline]
fn check_otherwise(
    entered: &Entered,
    address: usize,
    cell: &Cell,
    access: Mark,
    piece: &WordAccess,
) {
    let thread = entered.thread();
    let marks = cell.load();
    if let Some(history) = marks[0].linked()
        && (thread.memo).knows(thread.generation_key(), piece.shape, history)
    {
        return;
    }
    if let Some(next) = thread.transitions.find(marks, access)
        && cell.replace(marks, next)
    {
        return thread.timeline.record();
    }
    check_anew(entered, address, cell, piece);
}

#[cold]
#[inline(never)]
fn check_anew(entered: &Entered, address: usize, cell: &Cell, piece: &WordAccess) {
    entered.thread().was_rare(entered);
    check_word(entered, address, Place::Marks(cell), piece);
}

/// An access to any number of bytes, by a thread that is in the runtime.
pub fn range(
    entered: &Entered,
    address: usize,
    size: usize,
    kind: Kind,
    cause: AccessCause,
    pc: usize,
) {
    let Shadow::Cells(regions) = world().shadow else {
        return;
    };
    let thread = entered.thread();
    let piece = |mask: u32| WordAccess {
        shape: AccessShape::new(mask, kind).of(cause),
        pc,
    };
    let whole = piece(0xff);
    let number = thread.origin_number(&whole);
    let access = Mark::new(thread.epoch(), kind, 0xff, number);
    let simple = number != 0 && access.alias() != 0;
    let end = address.saturating_add(size);
    let mut at = address & !7;
    // What the last word had, and what became of it.
    let mut last = [[Mark::NONE; 2]; 2];
    let mut words = 0;
    while at < end {
        words += 1;
        if words % 4096 == 0 {
            entered.rest();
            last = Default::default();
        }
        if at < address || end - at < 8 || !simple {
            let from = address.max(at) - at;
            let to = (end - at).min(8);
            check(entered, at, &piece(0xffu32 >> (8 - (to - from)) << from));
            at += 8;
            continue;
        }
        let cell = regions.cell(at);
        let marks = cell.load();
        if marks == last[0] && !marks[0].is_none() {
            if marks == last[1] || cell.replace(marks, last[1]) {
                at += 8;
                continue;
            }
        } else if !marks[0].is_none() || begins(entered, regions, at) {
            match thread.step(marks, access) {
                InPlace::Same => {
                    last = [marks, marks];
                    at += 8;
                }
                InPlace::Becomes(next) if cell.replace(marks, next) => {
                    thread.timeline.record();
                    last = [marks, next];
                    at += 8;
                }
                InPlace::Becomes(_) => (),
                InPlace::Rare => {
                    check_otherwise(entered, at, cell, access, &whole);
                    at += 8;
                }
            }
        }
    }
}
