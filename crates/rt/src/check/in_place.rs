//! An access of a program of threads: the marks of its word are changed in place.
//!
//! The simple model: load the cell, let [`mark::step`](deadheat_online::mark::step) make of its marks what the access makes of
//! them, replace them, and try again if another thread was quicker. Nothing is made anew whenever a thread's time goes up:
//! what is new in a mark is its epoch.
//!
//! What a word cannot say in two marks is in a history ([`check_word`]), to which
//! its cell has a link. How an access changes such histories the thread's memo knows.
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
use crate::order::thread::{Entered, Thread, enter};
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

impl Thread {
    /// The number of an access's origin. 0: it has none.
    #[inline(always)]
    pub fn origin_number(&mut self, piece: &WordAccess) -> u32 {
        let site = Site {
            code: piece.pc,
            cause: piece.shape.cause(),
        };
        let common = Common::new(self.lockset(), site);
        let mut group = *self.group();
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
        *self.group() = group;
        group
    }

    /// The number of an origin that is not where it is looked for first.
    #[inline(never)]
    fn find_number(&mut self, group: u32, site: Site) -> u32 {
        let mixed = (site.code as u64 ^ u64::from(group) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let recent = &mut self.origins.0[(mixed >> 48) as usize % RECENT];
        if recent.group != group || recent.code != site.code {
            *recent = RecentOrigin {
                group,
                number: world().origins.number(group, site),
                code: site.code,
            };
        }
        recent.number
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
#[cold]
#[inline(never)]
pub extern "C" fn update(address: usize, shape: AccessShape, pc: usize) {
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
        return check_otherwise(entered, address, cell, piece);
    }
    loop {
        let marks = cell.load();
        if marks[0].is_none() && !begins(entered, regions, address) {
            continue;
        }
        match step(marks, access, |mark| thread.sees(mark)) {
            InPlace::Same => return,
            InPlace::Becomes(next) if cell.replace(marks, next) => {
                thread.timeline.record();
                return;
            }
            InPlace::Becomes(_) => (),
            InPlace::Rare => return check_otherwise(entered, address, cell, piece),
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

/// An access of which two marks cannot tell all.
#[cold]
#[inline(never)]
fn check_otherwise(entered: &Entered, address: usize, cell: &Cell, piece: &WordAccess) {
    let thread = entered.thread();
    thread.was_rare(entered);
    let marks = cell.load();
    if let Some(history) = marks[0].linked() {
        let shape = piece.shape;
        let key = thread.generation_key();
        let (site, chain) = (thread.site(piece.pc), thread.chain());
        if thread.memo.knows(key, shape, history) {
            return;
        }
        let change = thread.memo.change(key, shape, history, site, chain);
        if change.is_some_and(|next| cell.replace(marks, [Mark::link(next), Mark::NONE])) {
            return;
        }
    }
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
            match step(marks, access, |mark| thread.sees(mark)) {
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
                    check_otherwise(entered, at, cell, &whole);
                    at += 8;
                }
            }
        }
    }
}
