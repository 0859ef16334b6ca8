//! An access by a thread to a word with a short history in which nothing races: most accesses that find something new are
//! of this kind, to fresh memory or to what locks keep in order.
//!
//! It makes of the history what [`check_word`](crate::check::word::check_word) makes of it, without what that has to be ready for.

use std::sync::atomic::Ordering;

use deadheat_online::fasttrack::{Record, step_simple};

use crate::check::access::replace;
use crate::check::histories::UNCHECKED;
use crate::check::word::{WordAccess, origin, remember};
use crate::order::thread::Entered;
use crate::platform::world::world;

/// How many records the history may come to have.
const MOST: usize = 6;

/// Notes an access to a word, if it is so simple. The history there was, and what became of it.
#[inline]
pub fn try_check_word_fast(
    entered: &Entered,
    address: usize,
    piece: &WordAccess,
) -> Option<(u32, u32)> {
    let thread = entered.thread();
    let world = world();
    let cell = world.shadow.cell(address);
    let history = cell.load(Ordering::Acquire);
    let waits = history == 0 && world.contents.wait_at(address);
    if history == UNCHECKED || waits || !thread.strand.is_null() {
        return None;
    }
    let (number, room) = world.histories.room(&mut thread.record_buffer, MOST)?;
    let origin = origin(thread, piece);
    let access = thread.record(piece.shape.kind(), piece.shape.mask(), origin);
    let records = world.histories.each(history);
    let length = step_simple(records, access, thread.timeline.clock(), room)?;
    let made = &room[..length];
    let hash = made.iter().fold(0, Record::hash);
    let generation_key = thread.generation_key();
    let same = thread.memo.made(generation_key, hash);
    let same = same.filter(|same| world.histories.each(*same).eq(made.iter().copied()));
    let next = same.unwrap_or(number);
    if history == 0 {
        world.shadow.note(cell);
        thread.note_lowest(address);
    }
    if !replace(cell, history, next) {
        return None;
    }
    thread.timeline.record();
    match same {
        // What happens twice may happen often, as in a loop.
        Some(_) => remember(thread, piece, history, next),
        None => {
            world.histories.keep(&mut thread.record_buffer, length);
            thread.memo.note_made(generation_key, hash, next);
            thread.memo.know(generation_key, piece.shape, next);
        }
    }
    Some((history, next))
}
