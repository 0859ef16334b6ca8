//! Words of which two [marks](crate::mark) cannot tell all: up to nine are kept, and changed by threads at once.
//!
//! The simple model: a list of marks, the newest first. The cell has the newest in its second half, and in its first the
//! number of the others, which lie elsewhere, in half a line of the cache or a whole one for each word that needs them.
//!
//! A list never changes while a cell leads to it: an access makes another one and exchanges the cell. Whoever reads a list may read
//! one that is in use elsewhere meanwhile, and finds out by the cell, which then says something else: the link has a version
//! besides the number, and goes with the mark of who made it.
//!
//! A list may be shared by words that say the same: then its room is not used again before all words have been looked at.
//!
//! Guarantee: no access is lost, and none is taken for one to another word. `tests/loom/mark_list.rs` tries every interleaving.
//! Cost: an atomic exchange, the lines of the cell, of the old and of the new list, which the thread has used lately.

use deadheat_order::sync::{AtomicU64, Ordering};

use crate::mark::{Among, Mark, Told, step_among};

/// How many marks lie outside the cell.
pub const OTHERS: usize = if cfg!(loom) { 3 } else { 8 };
/// How many marks a list can have.
pub const LONGEST: usize = OTHERS + 1;

/// How many lie in half the room.
pub const HALF: usize = OTHERS / 2;
/// In the number of a list's room: there is room for all.
pub const WHOLE: u32 = 1;

/// In the number of a list: other words may have it, too, so its room is not used again before a collection.
pub const SHARED: u32 = 1 << 31;

/// How many marks lie at a number.
#[inline]
pub fn room_at(number: u32) -> usize {
    if number & WHOLE == 0 { HALF } else { OTHERS }
}

/// What a word says: two marks, or the newest of more and where the others are.
pub trait Cell {
    /// Its marks. If they were never there together, a change of them fails.
    fn load(&self) -> [Mark; 2];

    /// Replaces what it says, if that is as expected.
    fn replace(&self, old: [Mark; 2], new: [Mark; 2]) -> bool;
}

/// A thread that makes accesses, and has room for lists.
pub trait Maker {
    /// Whether an access happens before whatever the thread does now.
    fn sees(&self, mark: Mark) -> bool;

    /// Whether an access happens before whatever any thread does from now on.
    fn is_past(&self, mark: Mark) -> bool;

    /// The marks that lie at a number.
    fn others(&self, number: u32) -> &[AtomicU64];

    /// The number of room for so many marks, which nobody has used.
    fn fresh_room(&mut self, marks: usize) -> Option<u32>;

    /// The room that words no longer use.
    fn spare(&mut self) -> &mut Spare;
}

/// Room for the other marks of words, which a thread has used and words no longer do.
#[derive(Debug)]
pub struct Spare {
    /// Halves, and whole ones.
    rooms: [Rooms; 2],
    version: u32,
}

#[derive(Clone, Copy, Debug)]
struct Rooms {
    numbers: [u32; 64],
    count: usize,
}

impl Spare {
    /// None.
    pub const NONE: Spare = Spare {
        rooms: [Rooms {
            numbers: [0; 64],
            count: 0,
        }; 2],
        version: 0,
    };

    /// As many as there may be are elsewhere now.
    pub fn forget(&mut self) {
        (self.rooms.iter_mut()).for_each(|rooms| rooms.count = 0);
    }

    #[inline]
    fn put(&mut self, number: u32) {
        if number & SHARED != 0 {
            return;
        }
        let rooms = &mut self.rooms[(number & WHOLE) as usize];
        // What does not fit is found again by the next collection.
        if rooms.count < rooms.numbers.len() {
            rooms.numbers[rooms.count] = number;
            rooms.count += 1;
        }
    }

    /// Room for so many marks.
    #[inline]
    fn take(&mut self, marks: usize) -> Option<u32> {
        let rooms = &mut self.rooms[usize::from(marks > HALF)];
        rooms.count = rooms.count.checked_sub(1)?;
        Some(rooms.numbers[rooms.count])
    }
}

/// What came of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The word told of it already.
    Told,
    /// The word tells of it now: its cell says this.
    Noted([Mark; 2]),
    /// The cell says something else meanwhile.
    Again,
    /// A history has to say it.
    Rare,
}

/// The marks of a word. If its cell says something else meanwhile, they may be another's.
#[derive(Debug)]
pub struct List {
    marks: [Mark; LONGEST],
    length: usize,
}

impl List {
    /// Those that a cell says or leads to.
    #[inline]
    pub fn of(maker: &impl Maker, marks: [Mark; 2]) -> List {
        let mut list = List {
            marks: [Mark::NONE; LONGEST],
            length: 0,
        };
        let Some(number) = marks[0].has_more() else {
            marks.into_iter().for_each(|mark| list.push(mark));
            return list;
        };
        list.push(marks[1]);
        for mark in maker.others(number) {
            let mark = Mark(mark.load(Ordering::Acquire));
            if mark.is_none() {
                break;
            }
            list.push(mark);
        }
        list
    }

    #[inline]
    fn push(&mut self, mark: Mark) {
        if !mark.is_none() {
            self.marks[self.length] = mark;
            self.length += 1;
        }
    }

    /// The newest first.
    #[inline]
    pub fn marks(&self) -> &[Mark] {
        &self.marks[..self.length]
    }
}

/// Whether one of the other marks of a word that had these tells all of an access.
#[inline]
pub fn is_told(cell: &impl Cell, had: [Mark; 2], others: &[AtomicU64], told: Told) -> bool {
    for mark in others {
        let mark = mark.load(Ordering::Acquire);
        if told.by(mark) {
            // The list was this word's, if the cell still leads there.
            return cell.load() == had;
        }
        if mark == 0 {
            return false;
        }
    }
    false
}

/// An access to a word that had these marks. `shared` says whether others may get the list that it makes.
#[inline]
pub fn access(
    maker: &mut impl Maker,
    cell: &impl Cell,
    had: [Mark; 2],
    access: Mark,
    shared: bool,
) -> Outcome {
    let list = List::of(maker, had);
    let mut made = [Mark::NONE; LONGEST + 1];
    let among = step_among(list.marks(), access, |mark| maker.sees(mark), &mut made);
    let next = match among {
        Among::Same if cell.load() == had => return Outcome::Told,
        Among::Same => return Outcome::Again,
        Among::Races => return Outcome::Rare,
        Among::Becomes(length) => match arrange(maker, &mut made[..length], shared) {
            Some(next) => next,
            None => return Outcome::Rare,
        },
    };
    let done = cell.replace(had, next);
    give_back(maker, if done { had } else { next });
    match done {
        true => Outcome::Noted(next),
        false => Outcome::Again,
    }
}

/// What a cell says that has these marks, which may be one too many; those that are past for all go then. None: there is no
/// room.
#[inline]
fn arrange(maker: &mut impl Maker, marks: &mut [Mark], shared: bool) -> Option<[Mark; 2]> {
    let mut length = marks.len();
    // Now and then is enough, as long as there is room.
    if length > LONGEST || length > 2 && maker.spare().version.is_multiple_of(8) {
        length = without_past(maker, marks);
    }
    put_down(maker, &marks[..length], shared)
}

/// What a cell says that has these marks. None: they are too many, or of too many threads.
#[inline]
pub fn put_down(maker: &mut impl Maker, marks: &[Mark], shared: bool) -> Option<[Mark; 2]> {
    match *marks {
        [] => Some([Mark::NONE; 2]),
        [one] => Some([one, Mark::NONE]),
        [one, other] => Some([one, other]),
        [first, ref rest @ ..] if rest.len() <= OTHERS && !are_of_many(marks) => {
            let number = match maker.spare().take(rest.len()) {
                Some(number) => number,
                None => maker.fresh_room(rest.len())?,
            };
            let others = maker.others(number);
            // Whoever reads one of these instead of what was there before is to find the cell changed.
            for (other, mark) in others.iter().zip(rest) {
                other.store(mark.0, Ordering::Release);
            }
            if let Some(end) = others.get(rest.len()) {
                end.store(0, Ordering::Release);
            }
            let number = number | if shared { SHARED } else { 0 };
            let spare = maker.spare();
            spare.version = spare.version.wrapping_add(1);
            Some([Mark::more(number, spare.version), first])
        }
        _ => None,
    }
}

/// Whether marks are of so many threads that other words probably have the same: what all read, one after the other, is
/// better kept in histories, which words share.
#[inline]
fn are_of_many(marks: &[Mark]) -> bool {
    const MANY: usize = 5;
    let is_first = |at: &usize| {
        let alias = marks[*at].alias();
        marks[..*at].iter().all(|mark| mark.alias() != alias)
    };
    marks.len() > MANY && (0..marks.len()).filter(is_first).count() > MANY
}

/// No cell says this: it never did, or no longer does.
#[inline]
pub fn give_back(maker: &mut impl Maker, marks: [Mark; 2]) {
    if let Some(number) = marks[0].has_more() {
        maker.spare().put(number);
    }
}

/// How many marks there are without those that are past for all, which are taken out of all but the first.
#[inline]
fn without_past(maker: &impl Maker, marks: &mut [Mark]) -> usize {
    let mut kept = 1;
    for at in 1..marks.len() {
        if !maker.is_past(marks[at]) {
            marks[kept] = marks[at];
            kept += 1;
        }
    }
    kept
}
