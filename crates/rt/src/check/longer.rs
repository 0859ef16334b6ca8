//! Words of which two marks cannot tell all: up to five are kept, and changed in place.
//!
//! The simple model: a list of marks, the newest first. The cell has the newest in its second half, and in its first the
//! number of the others, which lie in the arena of histories, 32 bytes for each word that needs them.
//!
//! The cell is locked while they are read or changed, by threads that have entered the runtime: nobody who has may wait for
//! anything but the next few instructions of such a thread. Nobody gives a locked cell another value but who has locked it,
//! or who gives its memory away.
//!
//! Where five are too few, or where there is a race, the word gets a history. Strings are why there are lists at all: a word that
//! was copied has an end that was written elsewhere, and then somebody reads it.
//!
//! Cost: an atomic exchange, the line of the cell and that of the others.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_online::fasttrack::{self, Record};
use deadheat_online::mark::{Among, Mark, step_among};

use crate::check::cell::Cell;
use crate::check::marks::record;
use crate::check::word::collect;
use crate::order::thread::{Entered, Thread};
use crate::platform::os;
use crate::platform::world::world;

/// How many marks lie outside the cell.
pub const OTHERS: usize = 4;
const LONGEST: usize = OTHERS + 1;
/// How many records take as much room.
const RECORDS: u32 = (OTHERS * 8 / size_of::<Record>()) as u32;

/// The marks that lie outside a cell.
pub type Others = [AtomicU64; OTHERS];

/// Room for the other marks of words, which a thread has used and words no longer do.
#[derive(Debug)]
pub struct Spare {
    numbers: [u32; 64],
    count: usize,
}

impl Spare {
    /// None.
    pub const NONE: Spare = Spare {
        numbers: [0; 64],
        count: 0,
    };

    fn put(&mut self, number: u32) {
        // What does not fit is found again by the next collection.
        if self.count < self.numbers.len() {
            self.numbers[self.count] = number;
            self.count += 1;
        }
    }

    fn take(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        Some(self.numbers[self.count])
    }
}

impl Thread {
    fn room_for_others(&mut self) -> Option<u32> {
        if let Some(number) = self.spare.take() {
            return Some(number);
        }
        // Within a line of the cache.
        let length = RECORDS as usize * 2 - 1;
        let (number, _) = world().histories.room(&mut self.record_buffer, length)?;
        let first = number.next_multiple_of(RECORDS);
        let taken = (first + RECORDS - number) as usize;
        world().histories.keep(&mut self.record_buffer, taken);
        Some(first)
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

/// Marks of a word that is locked, or has two.
struct List {
    marks: [Mark; LONGEST],
    length: usize,
}

impl List {
    fn of(marks: [Mark; 2], others: Option<&Others>) -> List {
        let mut list = List {
            marks: [Mark::NONE; LONGEST],
            length: 0,
        };
        match others {
            None => marks.into_iter().for_each(|mark| list.push(mark)),
            Some(others) => {
                list.push(marks[1]);
                for mark in others {
                    list.push(Mark(mark.load(Ordering::Relaxed)));
                }
            }
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

/// The number of a word's other marks, if it has any, with its cell locked now. None: the cell says something else meanwhile.
fn lock(cell: &Cell, marks: [Mark; 2]) -> Option<Option<u32>> {
    let number = marks[0].has_more();
    if number.is_none() {
        return Some(None);
    }
    if marks[0].is_locked() {
        wait(cell, marks);
        return None;
    }
    (cell.replace(marks, [marks[0].locked(), marks[1]])).then_some(number)
}

#[cold]
fn wait(cell: &Cell, marks: [Mark; 2]) {
    for _ in 0..100 {
        if cell.load() != marks {
            return;
        }
        std::hint::spin_loop();
    }
    os::yield_now();
}

/// Gives a cell that was locked, or had these marks, others. False: it says something else meanwhile.
fn put(cell: &Cell, had: [Mark; 2], new: [Mark; 2]) -> bool {
    match had[0].has_more() {
        None => cell.replace(had, new),
        Some(_) => {
            // Who gives the memory away may have been quicker.
            cell.replace([had[0].locked(), had[1]], new);
            true
        }
    }
}

/// An access to a word that had these marks.
pub fn access(thread: &mut Thread, cell: &Cell, had: [Mark; 2], access: Mark) -> Outcome {
    let histories = &world().histories;
    let Some(number) = lock(cell, had) else {
        return Outcome::Again;
    };
    let list = List::of(had, number.map(|number| histories.others(number)));
    let mut made = [Mark::NONE; LONGEST + 1];
    let among = step_among(list.marks(), access, |mark| thread.sees(mark), &mut made);
    let (outcome, next) = match among {
        Among::Same => (Outcome::Noted, had),
        Among::Races => (Outcome::Rare, had),
        Among::Becomes(length) => match arrange(thread, number, &mut made[..length]) {
            Some(next) => (Outcome::Noted, next),
            None => (Outcome::Rare, had),
        },
    };
    let has_changed = put(cell, had, next);
    let unused = match has_changed {
        true => number.filter(|_| next[0].has_more().is_none()),
        false => next[0].has_more().filter(|_| number.is_none()),
    };
    if let Some(unused) = unused {
        thread.spare.put(unused);
    }
    if !has_changed {
        return Outcome::Again;
    }
    thread.timeline.record();
    outcome
}

/// What a cell says that has these marks, which may be one too many; those that are past for all go then. `number` is where it
/// has others so far. None: there is no room.
fn arrange(thread: &mut Thread, number: Option<u32>, marks: &mut [Mark]) -> Option<[Mark; 2]> {
    let mut length = marks.len();
    if length > 2 {
        length = without_past(marks);
    }
    if length <= 2 {
        let second = if length == 2 { marks[1] } else { Mark::NONE };
        return Some([marks[0], second]);
    }
    if length > LONGEST {
        return None;
    }
    let number = match number {
        Some(number) => number,
        None => thread.room_for_others()?,
    };
    let others = world().histories.others(number);
    for (at, other) in others.iter().enumerate() {
        let mark = if at + 1 < length {
            marks[at + 1]
        } else {
            Mark::NONE
        };
        other.store(mark.0, Ordering::Relaxed);
    }
    Some([Mark::more(number), marks[0]])
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
    let thread = entered.thread();
    loop {
        let had = cell.load();
        if had[0].has_more().is_none() {
            return;
        }
        match replace_by_history(thread, cell, had) {
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
    let Some(number) = lock(cell, had) else {
        return Some(false);
    };
    let list = List::of(had, number.map(|number| histories.others(number)));
    let Some((history, room)) = histories.room(&mut thread.record_buffer, list.length) else {
        put(cell, had, had);
        return None;
    };
    let mut length = 0;
    for mark in list.marks() {
        let record = record(*mark);
        if !world().past.has(&record) {
            room[length] = record;
            length += 1;
        }
    }
    fasttrack::end(&mut room[..length]);
    histories.keep(&mut thread.record_buffer, length);
    let first = match length {
        0 => Mark::NONE,
        _ => Mark::link(history),
    };
    let done = put(cell, had, [first, Mark::NONE]);
    if let Some(number) = number.filter(|_| done) {
        thread.spare.put(number);
    }
    Some(done)
}
