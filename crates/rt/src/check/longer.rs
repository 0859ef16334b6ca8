//! Words of which two marks cannot tell all: a [list of marks](deadheat_online::mark_list) in the arena of histories.
//!
//! Where nine are too few, or where there is a race, the word gets a history. Strings are why there are lists at all: a word that
//! was copied has an end that was written elsewhere, and then somebody reads it.

use std::sync::atomic::AtomicU64;

use deadheat_online::fasttrack::{self, Record};
use deadheat_online::mark::{Mark, Told};
use deadheat_online::mark_list::{
    self, HALF, LONGEST, List, Maker, SHARED, WHOLE, put_down, room_at,
};
pub use deadheat_online::mark_list::{Outcome, Spare, give_back};

use crate::check::cell::Cell;
use crate::check::marks::{compress, record};
use crate::check::transitions::Seen;
use crate::check::word::collect;
use crate::order::thread::{Entered, Thread};
use crate::platform::world::world;

/// Which record's room begins where the marks of a number lie.
#[inline]
pub fn record_at(number: u32) -> u32 {
    number & !(WHOLE | SHARED)
}

/// The marks that lie at a number, given where the arena is.
///
/// # Safety
/// The number was given out for marks.
#[inline]
pub unsafe fn others<'a>(records: *const Record, number: u32) -> &'a [AtomicU64] {
    let first = records.wrapping_add(record_at(number) as usize);
    // SAFETY: within the arena, as long as the process lives.
    unsafe { std::slice::from_raw_parts(first.cast::<AtomicU64>(), room_at(number)) }
}

impl mark_list::Cell for Cell {
    #[inline(always)]
    fn load(&self) -> [Mark; 2] {
        self.load()
    }

    #[inline(always)]
    fn replace(&self, old: [Mark; 2], new: [Mark; 2]) -> bool {
        self.replace(old, new)
    }
}

impl Maker for Thread {
    #[inline(always)]
    fn sees(&self, mark: Mark) -> bool {
        self.sees(mark)
    }

    #[inline]
    fn is_past(&self, mark: Mark) -> bool {
        let (slot, time) = world().aliases.of(mark);
        world().past.reaches(slot, time)
    }

    #[inline]
    fn others(&self, number: u32) -> &[AtomicU64] {
        world().histories.others(number)
    }

    fn fresh_room(&mut self, marks: usize) -> Option<u32> {
        let whole = if marks > HALF { WHOLE } else { 0 };
        // As many records as take as much room, within a line of the cache.
        let records = (room_at(whole) * 8 / size_of::<Record>()) as u32;
        let (number, _) =
            (world().histories).room(&mut self.record_buffer, records as usize * 2 - 1)?;
        let first = number.next_multiple_of(records);
        let taken = (first + records - number) as usize;
        world().histories.keep(&mut self.record_buffer, taken);
        Some(first | whole)
    }

    #[inline(always)]
    fn spare(&mut self) -> &mut Spare {
        &mut self.spare
    }
}

/// See [`mark_list::is_told`].
#[inline(never)]
pub fn is_told(cell: &Cell, had: [Mark; 2], others: u32, told: Told) -> bool {
    mark_list::is_told(cell, had, world().histories.others(others), told)
}

/// An access to a word that had these marks.
///
/// A loop over an array makes the same of one word after the other: the second time that an access has made something of the same
/// marks, its list is one that all those words share.
pub fn access(thread: &mut Thread, cell: &Cell, had: [Mark; 2], access: Mark) -> Outcome {
    let seen = thread.transitions.seen(had, access);
    if let Seen::Made(next) = seen
        && cell.replace(had, next)
    {
        give_back(thread, had);
        thread.timeline.record();
        return Outcome::Noted(next);
    }
    let shared = seen != Seen::Never;
    let outcome = mark_list::access(thread, cell, had, access, shared);
    if let Outcome::Noted(next) = outcome {
        thread.timeline.record();
        match shared {
            true => thread.transitions.note(had, access, next),
            false => thread.transitions.note_once(had, access),
        }
    }
    outcome
}

/// What a cell says that has the marks which stand for a history made of `before`. None: there are too many.
pub fn of_history(thread: &mut Thread, history: &[Record], before: [Mark; 2]) -> Option<[Mark; 2]> {
    let marks: [Mark; LONGEST] = compress(history, before)?;
    put_down(thread, &marks[..history.len()], false)
}

/// A word that has more than two marks gets a history instead.
pub fn make_history(entered: &Entered, cell: &Cell) {
    loop {
        let had = cell.load();
        if had[0].has_more().is_none() {
            return;
        }
        match replace_by_history(entered.thread(), cell, had) {
            Some(true) => return,
            Some(false) => (),
            None => collect(entered, LONGEST),
        }
    }
}

/// A word gets a history, as far as what its marks tell is not past for all. False: the cell says something else meanwhile.
/// None: a collection is due.
pub fn replace_by_history(thread: &mut Thread, cell: &Cell, had: [Mark; 2]) -> Option<bool> {
    let histories = &world().histories;
    let list = List::of(thread, had);
    let (history, room) = histories.room(&mut thread.record_buffer, list.marks().len())?;
    let mut length = 0;
    for mark in list.marks() {
        let record = record(*mark);
        if !world().past.has(&record) {
            room[length] = record;
            length += 1;
        }
    }
    fasttrack::end(&mut room[..length]);
    let first = match length {
        0 => Mark::NONE,
        _ => Mark::link(history),
    };
    let done = cell.replace(had, [first, Mark::NONE]);
    if done {
        histories.keep(&mut thread.record_buffer, length);
        give_back(thread, had);
    }
    Some(done)
}
