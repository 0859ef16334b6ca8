//! Words of which two marks cannot tell all: up to nine are kept, in place.
//!
//! The simple model: a list of marks, the newest first. The cell has the newest in its second half, and in its first the
//! number of the others, which lie in the arena of histories, in half a line of the cache or a whole one for each word that needs them.
//!
//! A list never changes while a cell leads to it: an access makes another one and exchanges the cell. Whoever reads a list may read
//! one that is in use elsewhere meanwhile, and finds out by the cell, which then says something else: the link has a version
//! besides the number, and goes with the mark of who made it.
//!
//! Where nine are too few, or where there is a race, the word gets a history. Strings are why there are lists at all: a word that
//! was copied has an end that was written elsewhere, and then somebody reads it.
//!
//! Cost: an atomic exchange, the lines of the cell, of the old and of the new list, which the thread has used lately.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_online::fasttrack::{self, Record};
use deadheat_online::mark::{Among, Mark, Told, step_among};

use crate::check::cell::Cell;
use crate::check::marks::{compress, record};
use crate::check::word::collect;
use crate::order::thread::{Entered, Thread};
use crate::platform::world::world;

/// How many marks lie outside the cell: half as many, or so many.
const OTHERS: usize = 8;
const LONGEST: usize = OTHERS + 1;
/// How many records take as much room as half of them.
const HALF: u32 = (OTHERS / 2 * 8 / size_of::<Record>()) as u32;
/// In the number of a list: it has room for all.
const WHOLE: u32 = 1;

/// The marks that lie at a number, given where the arena is.
///
/// # Safety
/// The number was given out for marks.
#[inline]
pub unsafe fn others<'a>(records: *const Record, number: u32) -> &'a [AtomicU64] {
    let length = if number & WHOLE == 0 {
        OTHERS / 2
    } else {
        OTHERS
    };
    let first = records.wrapping_add((number & !WHOLE) as usize);
    // SAFETY: within the arena, as long as the process lives.
    unsafe { std::slice::from_raw_parts(first.cast::<AtomicU64>(), length) }
}

/// Room for the other marks of words, which a thread has used and words no longer do.
#[derive(Debug)]
pub struct Spare {
    /// For half of them, and for all.
    numbers: [Numbers; 2],
    version: u32,
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    numbers: [u32; 64],
    count: usize,
}

impl Spare {
    /// None.
    pub const NONE: Spare = Spare {
        numbers: [Numbers {
            numbers: [0; 64],
            count: 0,
        }; 2],
        version: 0,
    };

    /// As many as there may be are elsewhere now.
    pub fn forget(&mut self) {
        self.numbers
            .iter_mut()
            .for_each(|numbers| numbers.count = 0);
    }

    fn put(&mut self, number: u32) {
        let numbers = &mut self.numbers[(number & WHOLE) as usize];
        // What does not fit is found again by the next collection.
        if numbers.count < numbers.numbers.len() {
            numbers.numbers[numbers.count] = number;
            numbers.count += 1;
        }
    }

    fn take(&mut self, whole: u32) -> Option<u32> {
        let numbers = &mut self.numbers[whole as usize];
        numbers.count = numbers.count.checked_sub(1)?;
        Some(numbers.numbers[numbers.count])
    }
}

impl Thread {
    /// Room for so many marks.
    fn room_for_others(&mut self, length: usize) -> Option<u32> {
        let whole = if length > OTHERS / 2 { WHOLE } else { 0 };
        if let Some(number) = self.spare.take(whole) {
            return Some(number);
        }
        // Within a line of the cache.
        let records = HALF << whole;
        let (number, _) =
            (world().histories).room(&mut self.record_buffer, records as usize * 2 - 1)?;
        let first = number.next_multiple_of(records);
        let taken = (first + records - number) as usize;
        world().histories.keep(&mut self.record_buffer, taken);
        Some(first | whole)
    }
}

/// What came of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Noted,
    /// The cell says something else meanwhile.
    Again,
    /// A history has to say it.
    Rare,
}

/// The marks of a word. If its cell says something else meanwhile, they may be another's.
struct List {
    marks: [Mark; LONGEST],
    length: usize,
}

impl List {
    fn of(marks: [Mark; 2]) -> List {
        let mut list = List {
            marks: [Mark::NONE; LONGEST],
            length: 0,
        };
        let Some(number) = marks[0].has_more() else {
            marks.into_iter().for_each(|mark| list.push(mark));
            return list;
        };
        list.push(marks[1]);
        for mark in world().histories.others(number) {
            let mark = Mark(mark.load(Ordering::Acquire));
            if mark.is_none() {
                break;
            }
            list.push(mark);
        }
        list
    }

    fn push(&mut self, mark: Mark) {
        if !mark.is_none() {
            self.marks[self.length] = mark;
            self.length += 1;
        }
    }

    fn marks(&self) -> &[Mark] {
        &self.marks[..self.length]
    }
}

/// Whether one of the other marks of a word tells all of an access.
#[inline(never)]
pub fn is_told(cell: &Cell, marks: [Mark; 2], others: u32, told: Told) -> bool {
    for mark in world().histories.others(others) {
        let mark = mark.load(Ordering::Acquire);
        if told.by(mark) {
            // The list was this word's, if the cell still leads there.
            return cell.load() == marks;
        }
        if mark == 0 {
            return false;
        }
    }
    false
}

/// An access to a word that had these marks.
pub fn access(thread: &mut Thread, cell: &Cell, had: [Mark; 2], access: Mark) -> Outcome {
    let list = List::of(had);
    let mut made = [Mark::NONE; LONGEST + 1];
    let among = step_among(list.marks(), access, |mark| thread.sees(mark), &mut made);
    let next = match among {
        Among::Same if cell.load() == had => return Outcome::Noted,
        Among::Same => return Outcome::Again,
        Among::Races => return Outcome::Rare,
        Among::Becomes(length) => match arrange(thread, &mut made[..length]) {
            Some(next) => next,
            None => return Outcome::Rare,
        },
    };
    let done = cell.replace(had, next);
    give_back(thread, if done { had } else { next });
    if !done {
        return Outcome::Again;
    }
    thread.timeline.record();
    Outcome::Noted
}

/// What a cell says that has these marks, which may be one too many; those that are past for all go then. None: there is no
/// room.
fn arrange(thread: &mut Thread, marks: &mut [Mark]) -> Option<[Mark; 2]> {
    let mut length = marks.len();
    // Now and then is enough, as long as there is room.
    if length > LONGEST || length > 2 && thread.spare.version % 8 == 0 {
        length = without_past(marks);
    }
    put_down(thread, &marks[..length])
}

/// What a cell says that has these marks. None: they are too many.
fn put_down(thread: &mut Thread, marks: &[Mark]) -> Option<[Mark; 2]> {
    match *marks {
        [] => Some([Mark::NONE; 2]),
        [one] => Some([one, Mark::NONE]),
        [one, other] => Some([one, other]),
        [first, ref rest @ ..] if rest.len() <= OTHERS => {
            let number = thread.room_for_others(rest.len())?;
            let others = world().histories.others(number);
            for (other, mark) in others.iter().zip(rest) {
                other.store(mark.0, Ordering::Relaxed);
            }
            if let Some(end) = others.get(rest.len()) {
                end.store(0, Ordering::Relaxed);
            }
            thread.spare.version = thread.spare.version.wrapping_add(1);
            Some([Mark::more(number, thread.spare.version), first])
        }
        _ => None,
    }
}

/// What a cell says that has the marks which stand for a history made of `before`. None: there are too many.
pub fn of_history(thread: &mut Thread, history: &[Record], before: [Mark; 2]) -> Option<[Mark; 2]> {
    let marks: [Mark; LONGEST] = compress(history, before)?;
    put_down(thread, &marks[..history.len()])
}

/// No cell says this: it never did, or no longer does.
pub fn give_back(thread: &mut Thread, marks: [Mark; 2]) {
    if let Some(number) = marks[0].has_more() {
        thread.spare.put(number);
    }
}

/// How many marks there are without those that are past for all, which are taken out of all but the first.
fn without_past(marks: &mut [Mark]) -> usize {
    let mut kept = 1;
    for at in 1..marks.len() {
        let (slot, time) = world().aliases.of(marks[at]);
        if !world().past.reaches(slot, time) {
            marks[kept] = marks[at];
            kept += 1;
        }
    }
    kept
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
    let list = List::of(had);
    let (history, room) = histories.room(&mut thread.record_buffer, list.length)?;
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
