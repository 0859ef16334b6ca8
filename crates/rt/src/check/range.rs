//! An access to any number of bytes, word by word. Most words of a range have one of a few histories: what such an access
//! makes of those is remembered along the way.

use deadheat_model::finding::AccessCause;
use std::sync::atomic::Ordering;

use deadheat_online::fasttrack::Kind;

use crate::check::access::replace;
use crate::check::in_place;
use crate::check::memo::AccessShape;
use crate::check::origins::Site;
use crate::check::recent_origins::with_cause;

use crate::check::strips::{GROUP, STRIP, Strip};
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
    let end = address.saturating_add(size);
    let mut address = address;
    if local.epoch.get() != 0 {
        let code = with_cause(Site { code: pc, cause });
        address = match (kind.write, kind.atomic) {
            (false, false) => in_place::usual_range::<false>(address, size, code),
            (true, false) => in_place::usual_range::<true>(address, size, code),
            _ => address,
        };
    }
    let size = end - address;
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
        if at >= address && end - at >= MANY && at.is_multiple_of(GROUP) {
            at = many_words(entered, at, end, &recent);
        }
        if at >= end {
            break;
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

/// From so many bytes on, words are changed many at a time.
const MANY: usize = 4 * GROUP;

/// Notes an access to words from an address on, as long as what it makes of their histories was seen lately. Says where that ends.
#[inline]
fn many_words(entered: &Entered, from: usize, end: usize, recent: &RecentTransitions) -> usize {
    let end = end.min((from | (STRIP - 1)) + 1);
    if end - from < MANY || world().contents.wait_at(from) {
        return from;
    }
    let shadow = &world().shadow;
    let Some(strip) = Strip::take(shadow.base(), from) else {
        return from;
    };
    let [before, after, mask] = recent.last;
    let usual = match mask {
        0xff => [before; 4],
        // What no word has.
        _ => [u32::MAX; 4],
    };
    let mut at = from;
    let mut any_empty = false;
    while end - at >= GROUP {
        let histories = strip.load(at);
        if histories == usual {
            any_empty |= before == 0;
            if before != after {
                strip.store(at, [after; 4]);
            }
        } else {
            let Some(next) = recent.find_all(histories) else {
                break;
            };
            any_empty |= histories.contains(&0);
            if next != histories {
                strip.store(at, next);
            }
        }
        at += GROUP;
    }
    drop(strip);
    if any_empty {
        shadow.note(shadow.cell(from));
        entered.thread().note_lowest(from);
    }
    at
}

/// What a range has made of the histories of its last few words: those of a loop that was unrolled take turns.
#[derive(Default)]
struct RecentTransitions {
    /// From which history, to which, by an access to which bytes: a place for each of a few histories.
    changes: [[u32; 3]; RECENT],
    last: [u32; 3],
}

const RECENT: usize = 16;

impl RecentTransitions {
    #[inline]
    fn place(history: u32) -> usize {
        (history ^ history >> 4) as usize % RECENT
    }

    /// What a history becomes, if such a one was seen.
    #[inline]
    fn find(&self, history: u32, mask: u8) -> Option<u32> {
        let [from, to, bytes] = self.changes[RecentTransitions::place(history)];
        (from == history && bytes == u32::from(mask)).then_some(to)
    }

    /// What the histories of four whole words become, if such were seen.
    #[inline]
    fn find_all(&self, histories: [u32; 4]) -> Option<[u32; 4]> {
        let mut next = [0; 4];
        for (next, history) in next.iter_mut().zip(histories) {
            *next = self.find(history, 0xff)?;
        }
        Some(next)
    }

    fn note(&mut self, history: u32, next: u32, mask: u8) {
        self.last = [history, next, u32::from(mask)];
        self.changes[RecentTransitions::place(history)] = self.last;
    }
}
