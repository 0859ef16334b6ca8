//! An access by a thread to a word with a short history in which nothing races: most accesses that find something new are
//! of this kind, to fresh memory or to what locks keep in order.
//!
//! It makes of the history what [`word`](crate::check::word::word) makes of it, without what that has to be ready for.

use std::sync::atomic::Ordering;

use deadheat_online::fasttrack::{Record, step_simple};

use crate::check::access::replace;
use crate::check::histories::UNCHECKED;
use crate::check::word::{Piece, origin, remember};
use crate::order::thread::Entered;
use crate::platform::world::world;

/// How many records the history may come to have.
const MOST: usize = 6;

/// Notes an access to a word, if it is so simple. The history there was, and what became of it.
#[inline]
pub fn short(entered: &Entered, address: usize, piece: &Piece) -> Option<(u32, u32)> {
    let thread = entered.thread();
    let world = world();
    let cell = world.shadow.cell(address);
    let history = cell.load(Ordering::Acquire);
    if history == UNCHECKED || !thread.strand.is_null() {
        return None;
    }
    let (number, room) = world.histories.room(&mut thread.room, MOST)?;
    let origin = origin(thread, piece);
    let access = thread.record(piece.code.kind(), piece.code.mask(), origin);
    let records = world.histories.each(history);
    let length = step_simple(records, access, thread.line.clock(), room)?;
    let made = &room[..length];
    let hash = made.iter().fold(0, Record::hash);
    let present = thread.key();
    let same = thread.memo.made(present, hash);
    let same = same.filter(|same| world.histories.each(*same).eq(made.iter().copied()));
    let next = same.unwrap_or(number);
    if history == 0 {
        world.shadow.note(cell);
        thread.note_lowest(address);
    }
    if !replace(cell, history, next) {
        return None;
    }
    thread.line.record();
    match same {
        // What happens twice may happen often, as in a loop.
        Some(_) => remember(thread, piece, history, next),
        None => {
            world.histories.keep(&mut thread.room, length);
            thread.memo.note_made(present, hash, next);
            thread.memo.know(present, piece.code, next);
        }
    }
    Some((history, next))
}
