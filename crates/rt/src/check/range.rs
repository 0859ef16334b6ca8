//! An access to any number of bytes, word by word. Most words of a range have one of a few histories: what such an access
//! makes of those is remembered along the way.

use deadheat_model::finding::AccessCause;
use std::sync::atomic::Ordering;

use deadheat_online::fasttrack::Kind;

use crate::check::access::replace;
use crate::check::in_place;
use crate::check::memo::AccessShape;
use crate::check::shadow::Pair;
use crate::check::word::{Place, WordAccess, check_word};
use crate::openmp;
use crate::order::thread::{Entered, enter, local};
use crate::output::recording;
use crate::platform::world::world;

/// An access to any number of bytes.
pub fn range(address: usize, size: usize, kind: Kind, cause: AccessCause, pc: usize) {
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
    range_entered(&entered, address, size, kind, cause, pc);
}

/// As [`range`], in the runtime already.
pub fn range_entered(
    entered: &Entered,
    address: usize,
    size: usize,
    kind: Kind,
    cause: AccessCause,
    pc: usize,
) {
    if world().tasks.is_none() {
        return in_place::range(entered, address, size, kind, cause, pc);
    }
    let end = address.saturating_add(size);
    let mut at = address & !7;
    let mut recent = RecentTransitions::default();
    let mut rested = 0;
    while at < end {
        rested += 1;
        if rested % 4096 == 0 {
            entered.rest();
            recent = RecentTransitions::default();
        }
        if at >= address && end - at >= 16 && two_words(entered, at, &recent) {
            at += 16;
            continue;
        }
        let from = address.max(at) - at;
        let to = (end - at).min(8);
        let mask = 0xffu32 >> (8 - (to - from)) << from;
        let piece = WordAccess {
            shape: AccessShape::new(mask, kind).of(cause),
            pc,
        };
        if !seen_recently(entered, at, &piece, &mut recent) {
            let collections = world().histories.collections();
            let place = Place::Number(world().shadow.cell(at));
            let seen = check_word(entered, at, place, &piece);
            if world().histories.collections() != collections {
                recent = RecentTransitions::default();
            }
            if let Some((history, next)) = seen {
                recent.note(history, next, piece.shape.mask());
            }
        }
        at += 8;
    }
}

/// Notes an access to a word, if what it makes of its history was seen lately, or before at the thread's present time.
#[inline(always)]
fn seen_recently(
    entered: &Entered,
    address: usize,
    piece: &WordAccess,
    recent: &mut RecentTransitions,
) -> bool {
    let thread = entered.thread();
    let shadow = &world().shadow;
    let cell = shadow.cell(address);
    let history = cell.load(Ordering::Acquire);
    let mask = piece.shape.mask();
    let next = recent.find(history, mask).or_else(|| {
        let (generation_key, site, chain) = (
            thread.generation_key(),
            thread.site(piece.pc),
            thread.chain(),
        );
        let next = match thread.memo.knows(generation_key, piece.shape, history) {
            true => history,
            false => {
                let memo = &thread.memo;
                memo.change(generation_key, piece.shape, history, site, chain)?
            }
        };
        recent.note(history, next, mask);
        Some(next)
    });
    let Some(next) = next else { return false };
    if history == 0 {
        if world().contents.wait_at(address) {
            return false;
        }
        shadow.note(cell);
        thread.note_lowest(address);
    }
    history == next || replace(cell, history, next)
}

/// Notes an access to two words at once, if what it makes of their histories was seen lately.
#[inline(always)]
fn two_words(entered: &Entered, address: usize, recent: &RecentTransitions) -> bool {
    let shadow = &world().shadow;
    let Some(pair) = Pair::at(shadow.base(), address) else {
        return false;
    };
    let histories = pair.load();
    let Some(first) = recent.find(histories[0], 0xff) else {
        return false;
    };
    let second = match histories[0] == histories[1] {
        true => Some(first),
        false => recent.find(histories[1], 0xff),
    };
    let Some(second) = second else { return false };
    if histories.contains(&0) {
        if world().contents.wait_at(address) || world().contents.wait_at(address + 8) {
            return false;
        }
        pair.cells().iter().for_each(|cell| shadow.note(cell));
        entered.thread().note_lowest(address);
    }
    histories == [first, second] || pair.replace(histories, [first, second])
}

/// What a range has made of the histories of its last few words: those of a loop that was unrolled take turns.
#[derive(Default)]
struct RecentTransitions {
    /// From which history, to which, by an access to which bytes.
    changes: [[u32; 3]; 4],
    last: u32,
}

impl RecentTransitions {
    /// What a history becomes, if such a one was seen.
    #[inline]
    fn find(&self, history: u32, mask: u8) -> Option<u32> {
        let fits = |change: &[u32; 3]| change[0] == history && change[2] == u32::from(mask);
        let last = &self.changes[self.last as usize];
        if fits(last) {
            return Some(last[1]);
        }
        let found = self.changes.iter().find(|change| fits(change));
        found.map(|change| change[1])
    }

    fn note(&mut self, history: u32, next: u32, mask: u8) {
        self.last = (self.last + 1) % 4;
        self.changes[self.last as usize] = [history, next, u32::from(mask)];
    }
}
