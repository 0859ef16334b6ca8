//! An access of a program of threads: the marks of its word are changed in place.
//!
//! The simple model: load the cell, let [`mark::step`](deadheat_online::mark::step) make of its marks what the access makes of
//! them, replace them, and try again if another thread was quicker. Nothing is made anew whenever a thread's time goes up:
//! what is new in a mark is its epoch.
//!
//! What a word cannot say in two marks is in a list of more ([`longer`]), or in a history ([`check_word`]), to which its cell has a
//! link. What the thread has done to such a history lately it knows (`memo`, `transitions`).
//!
//! | an access that | takes about | and these lines of the cache |
//! |---|---|---|
//! | is told already, by the thread at its present time | 25 instructions | the cell's |
//! | makes other marks of marks that are known to happen before | 75, one of them a locked exchange | and the thread's: frame, origin, what it knows |
//! | is the first in its function or since the locks changed | 60 more | and a group of origins |
//! | is told by a mark of a list | 40 | and the list's |
//! | makes another list | 250, one locked exchange | and that of the new list, used lately |
//! | has to have a history, or races | 500 and more | and the arena's |
//!
//! A locked exchange is as long as some twenty of the other instructions.

use deadheat_model::finding::AccessCause;

use deadheat_online::fasttrack::Kind;
use deadheat_online::mark::{InPlace, Mark, Told, step, usual_step};
use deadheat_online::mark_list::Maker;
use deadheat_order::Time;

use crate::check::access::plain;
use crate::check::cell::Cell;
use crate::check::longer::{self, Outcome};
use crate::check::memo::AccessShape;
use crate::check::origins::{Common, Site};
use crate::check::shadow::{Regions, Shadow};
use crate::check::word::{Place, WordAccess, check_word, write_contents};
use crate::order::thread::{Entered, Local, Thread, enter, local};
use crate::platform::world::world;

impl Thread {
    /// The number of the origin of an access by an instruction, if it is near at hand.
    #[inline(always)]
    fn usual_origin(&self, code: usize) -> Option<u32> {
        // SAFETY: there is a frame before the first; those below the top have been written.
        let frame = unsafe { &*self.frame() };
        match frame.lockset == self.lockset {
            true => self.origins.number(frame.group, code),
            false => None,
        }
    }

    /// The number of an access's origin. 0: it has none.
    #[inline]
    pub fn origin_number(&mut self, piece: &WordAccess) -> u32 {
        let site = Site {
            code: piece.pc,
            cause: piece.shape.cause(),
        };
        if site.cause == AccessCause::Instruction
            && let Some(number) = self.usual_origin(site.code)
        {
            return number;
        }
        let group = self.group(site.code);
        let number = self.origins.number_of(group, site);
        number.unwrap_or_else(|| self.find_number(group, site))
    }

    /// The first group of origins of the running function's accesses, by code like this.
    #[inline(always)]
    fn group(&mut self, code: usize) -> u32 {
        let common = Common::new(self.lockset(), code);
        // SAFETY: as above.
        let frame = unsafe { &mut *self.frame() };
        if !world().origins.has(frame.group, common) {
            frame.group = self.find_group(common);
        }
        frame.lockset = self.lockset;
        frame.group
    }

    #[inline(never)]
    fn find_group(&mut self, common: Common) -> u32 {
        let chain = self.chain();
        (self.origins).group(chain, common, || world().origins.group(chain, common))
    }

    /// The number of an origin that the thread has not had lately.
    #[inline(never)]
    fn find_number(&mut self, group: u32, site: Site) -> u32 {
        let number = world().origins.number(group, site);
        if number != 0 {
            self.origins.note_number(group, site, number);
        }
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
        let left = marks.map(|mark| match self.is_past(mark) {
            true => Mark::NONE,
            false => mark,
        });
        match left == marks {
            true => InPlace::Rare,
            false => step(left, access, |mark| self.sees(mark)),
        }
    }

    /// Whether an access happens before whatever the thread does now.
    #[inline(always)]
    pub fn sees(&self, mark: Mark) -> bool {
        self.known.has(mark) || self.learns(mark)
    }

    #[inline(never)]
    fn learns(&self, mark: Mark) -> bool {
        let (slot, time) = world().aliases.of(mark);
        let known = match slot == self.timeline.slot() {
            true => Time::MAX,
            false => self.timeline.clock().get(slot),
        };
        if known < time {
            return false;
        }
        let times = (known - time).saturating_add(mark.time()).saturating_add(1);
        self.known.learn(mark.alias(), times);
        true
    }
}

/// Whether a mark tells all of an access, atomic or plain, to some bytes of a word.
#[inline(always)]
pub fn is_told(table: usize, address: usize, told: Told) -> bool {
    let [one, other] = Regions::cell_at(table, address).halves();
    told.by(one) || told.by(other)
}

/// An access that is not told yet to some bytes of the word around an address.
#[inline(never)]
pub extern "C" fn update(address: usize, shape: AccessShape, pc: usize) {
    let local = local();
    if local.epoch.get() == 0 || local.depth.get() != 0 || !knows(local, address, shape) {
        update_entered(address, shape, pc);
    }
}

/// The same, of a plain one.
///
/// The usual case is settled without entering the runtime: nothing that others could wait for is begun, and a signal handler
/// of the program that comes between can at most have made the thread's time go up, which is found out at the end.
#[inline(never)]
pub extern "C" fn update_plain<const WRITES: bool>(address: usize, mask: u32, pc: usize) {
    let local = local();
    if !update_usual::<WRITES>(local, address, mask, pc) {
        update(address, AccessShape::new(mask, plain(WRITES)), pc);
    }
}

/// As much of a plain access to a range as is told already or, where that is little, can be noted in the usual way: where the rest
/// begins. `code` is where it is made, with its cause.
#[inline]
pub fn usual_range<const WRITES: bool>(address: usize, size: usize, code: usize) -> usize {
    /// Of more words, it is of use to see what they have in common.
    const FEW: usize = 64;
    let local = local();
    let end = address.saturating_add(size);
    let mut at = address;
    while at < end {
        let word = at & !7;
        let mask = (0xff << (at - word)) & (0xff >> (8 - (end - word).min(8)));
        let told = Told::new(local.epoch.get(), WRITES, mask as u8);
        if !is_told(local.shadow.get(), word, told)
            && (size > FEW || !update_usual::<WRITES>(local, word, mask, code))
        {
            break;
        }
        at = word + 8;
    }
    at.min(end)
}

/// Notes a plain access, if the usual step can and its origin is near at hand. False: it is not noted, or was too early.
#[inline(always)]
fn update_usual<const WRITES: bool>(local: &Local, address: usize, mask: u32, pc: usize) -> bool {
    let epoch = local.epoch.get();
    if epoch == 0 || local.depth.get() != 0 {
        return false;
    }
    let thread = local.thread.get();
    let cell = Regions::cell_at(local.shadow.get(), address);
    cell.prefetch();
    let marks = cell.load();
    let number_of_others = marks[0].has_more();
    if let Some(others) = number_of_others
        && longer::is_told(cell, marks, others, Told::new(epoch, WRITES, mask as u8))
    {
        return true;
    }
    // SAFETY: an epoch is only set while there is a thread.
    let Some(number) = (unsafe { (*thread).usual_origin(pc) }) else {
        return false;
    };
    let access = Mark::new(epoch, plain(WRITES), mask as u8, number);
    if number_of_others.is_some() {
        return update_longer(cell, marks, access);
    }
    // SAFETY: as above.
    let Some(next) = usual_step(marks, access, unsafe { &(*thread).known }) else {
        return false;
    };
    // SAFETY: as above.
    if marks[0].is_none() && !unsafe { begins_usually(&mut (*thread).noted, address) } {
        return false;
    }
    if !cell.replace(marks, next) {
        return false;
    }
    // SAFETY: as above.
    unsafe { (*thread).timeline.record() };
    local.epoch.get() == epoch
}

/// Notes an access to a word with more than two marks, if there is nothing to find out for it. The access is one of now.
#[inline(never)]
fn update_longer(cell: &Cell, marks: [Mark; 2], access: Mark) -> bool {
    let Some(entered) = enter() else { return true };
    let thread = entered.thread();
    // A signal handler may have run in between.
    let is_now = thread.epoch() == access.epoch_of();
    is_now
        && matches!(
            longer::access(thread, cell, marks, access),
            Outcome::Told | Outcome::Noted(_)
        )
}

/// Whether the word has a history that the thread has seen lately, to which the access adds nothing.
#[inline(always)]
fn knows(local: &Local, address: usize, shape: AccessShape) -> bool {
    let marks = Regions::cell_at(local.shadow.get(), address).load();
    let Some(history) = marks[0].linked() else {
        return false;
    };
    // SAFETY: there is a thread, as an epoch is set.
    unsafe {
        (*local.thread.get())
            .memo
            .knows(local.key.get(), shape, history)
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
    let (access, cell) = (mark_of(entered.thread(), piece), regions.cell(address));
    match access {
        Some(access) => note(entered, address, cell, access, piece),
        None => check_anew(entered, address, cell, piece),
    }
}

/// The mark of an access made now. None: marks cannot tell of it.
#[inline]
fn mark_of(thread: &mut Thread, piece: &WordAccess) -> Option<Mark> {
    let (number, epoch) = (thread.origin_number(piece), thread.epoch());
    let mark = Mark::new(epoch, piece.shape.kind(), piece.shape.mask(), number);
    (number != 0 && epoch != 0).then_some(mark)
}

#[inline]
fn note(entered: &Entered, address: usize, cell: &Cell, access: Mark, piece: &WordAccess) {
    let thread = entered.thread();
    loop {
        let marks = cell.load();
        if marks[0].is_none() && !begins(entered, address) {
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
fn begins(entered: &Entered, address: usize) -> bool {
    if world().contents.wait_at(address) {
        write_contents(entered, address);
        return false;
    }
    let noted = &mut entered.thread().noted;
    *noted == Regions::part(address) || notes(noted, address)
}

/// As [`begins`], where nothing has to be waited for. False: something may have. In `noted` is where the thread last was.
#[inline(always)]
fn begins_usually(noted: &mut usize, address: usize) -> bool {
    if world().contents.wait_at(address) {
        return false;
    }
    *noted == Regions::part(address) || notes(noted, address)
}

#[inline(never)]
fn notes(noted: &mut usize, address: usize) -> bool {
    let Shadow::Cells(regions) = world().shadow else {
        return false;
    };
    let made = regions.note_if_made(address);
    if made {
        *noted = Regions::part(address);
    }
    made
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
    if cell.load()[0].mask() != 0 {
        thread.was_rare(entered);
    }
    loop {
        let marks = cell.load();
        if marks[0].linked().is_some() || marks[0].is_none() {
            break;
        }
        match longer::access(thread, cell, marks, access) {
            Outcome::Told | Outcome::Noted(_) => return,
            Outcome::Again => (),
            Outcome::Rare => break,
        }
    }
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
    let piece = |mask: u32| WordAccess {
        shape: AccessShape::new(mask, kind).of(cause),
        pc,
    };
    let whole = piece(0xff);
    let Some(access) = mark_of(entered.thread(), &whole) else {
        let end = address.saturating_add(size);
        for at in (address & !7..end).step_by(8) {
            let (from, to) = (address.max(at) - at, (end - at).min(8));
            let piece = piece(0xff >> (8 - (to - from)) << from);
            check_anew(entered, at, regions.cell(at), &piece);
        }
        return;
    };
    let part = |at: usize, mask: u32| {
        let access = access.of_bytes(mask as u8);
        note(entered, at, regions.cell(at), access, &piece(mask));
    };
    let end = address.saturating_add(size);
    let mut at = address & !7;
    if at < address {
        let to = (end - at).min(8);
        part(at, 0xff >> (8 - to) & 0xff << (address - at));
        at += 8;
    }
    let last = end & !7;
    while at < last {
        // As many as are of one region of the shadow, and others can wait for.
        let some = (Regions::end_of_region(at) - at)
            .min(last - at)
            .min(1 << 15);
        words(entered, at, regions.cells(at, some / 8), access, &whole);
        at += some;
        if at < last {
            entered.rest();
        }
    }
    if at < end {
        part(at, 0xff >> (8 - (end - at)));
    }
}

/// An access to all of the words of some cells, of which the first is at an address.
fn words(entered: &Entered, address: usize, cells: &[Cell], access: Mark, whole: &WordAccess) {
    let thread = entered.thread();
    // What the last word had, and what became of it.
    let mut last = ([Mark::NONE; 2], [Mark::NONE; 2]);
    for (index, cell) in cells.iter().enumerate() {
        let marks = cell.load();
        let next = match marks == last.0 && !marks[0].is_none() {
            true => Some(last.1),
            false => match thread.step(marks, access) {
                InPlace::Same => Some(marks),
                InPlace::Becomes(next) => Some(next),
                InPlace::Rare => None,
            },
        };
        let at = address + index * 8;
        if let Some(next) = next
            && (!marks[0].is_none() || begins(entered, at))
            && (next == marks || cell.replace(marks, next))
        {
            last = (marks, next);
        } else {
            note(entered, at, cell, access, whole);
        }
    }
    thread.timeline.record();
}
