//! FastTrack for words of eight bytes: what is remembered of the accesses to a word.
//!
//! The simple model: remember every access to every byte; two of them race if they touch a common byte,
//! at least one writes, not both are atomic, and neither happens before the other.
//!
//! A [`Record`] is one access: the [epoch](deadheat_order::Epoch) (a thread's slot and its time), which bytes,
//! which kind, and where it came from. A *history* is the list of records of a word, newest first. A new
//! access takes out of it, byte by byte, what it makes superfluous: a record that happens before it and
//! conflicts with nothing that it does not conflict with itself. Whoever races with such a record
//! later races with the new access too. What is left is one record a word for data that one thread
//! works on, and one a thread for data that many read.
//!
//! What *happens before* means is an [`Order`]'s to say: clocks for threads; where a program is of tasks that locks
//! keep apart, the order of tasks and the sets of locks.
//!
//! Guarantee: until a byte's first race, a race is found at an access exactly if the simple model has one
//! there. After it, the raced record is forgotten where the new access stands for it.
//! Cost: one pass over the history. Nothing is allocated: the new history is written into the caller's room.
//!
//! Histories are values that never change once made, so that many words can share one: with the
//! words a loop runs over, a history is made once and each word only refers to it.

use std::hint::black_box;

use deadheat_model::Strand;
use deadheat_order::Clock;

const MASK: u64 = 0xff;
const LAST: u64 = 1 << 8;
const WRITE: u64 = 1 << 9;
const ATOMIC: u64 = 1 << 10;
const SLOT_SHIFT: u32 = 12;
/// The number of slots a record can tell apart.
pub const SLOTS: u32 = 1 << 20;
/// The part of a record that names its epoch.
const EPOCH: u64 = !0 << SLOT_SHIFT;
/// The part of a record that says what it was and when, but not which bytes.
const EXCEPT_BYTES: u64 = !(MASK | LAST);

/// How an access touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
}

/// One access to some of the bytes of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Record {
    /// Time (32 bits), slot (20), kind, whether the history ends here, which bytes (8).
    what: u64,
    /// Where it came from: the caller's own business.
    pub origin: u64,
}

impl Record {
    /// An access to the bytes in `mask` at a slot's time.
    #[inline]
    pub fn new(slot: Strand, time: u32, kind: Kind, mask: u8, origin: u64) -> Record {
        let what = u64::from(time) << 32
            | u64::from(slot.0 % SLOTS) << SLOT_SHIFT
            | if kind.write { WRITE } else { 0 }
            | if kind.atomic { ATOMIC } else { 0 }
            | u64::from(mask);
        Record { what, origin }
    }

    /// Whose access it was.
    #[inline]
    pub fn slot(&self) -> Strand {
        Strand((self.what >> SLOT_SHIFT) as u32 % SLOTS)
    }

    /// At which of the slot's times.
    #[inline]
    pub fn time(&self) -> u32 {
        (self.what >> 32) as u32
    }

    /// How it touched memory.
    #[inline]
    pub fn kind(&self) -> Kind {
        Kind {
            write: self.what & WRITE != 0,
            atomic: self.what & ATOMIC != 0,
        }
    }

    /// Which bytes of the word.
    #[inline]
    pub fn mask(&self) -> u8 {
        self.what as u8
    }

    /// Whether it is the oldest of its history.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.what & LAST != 0
    }

    /// A hash of records, one after the other. Only its highest bits depend on all that they say.
    #[inline]
    pub fn hash(before: u64, record: &Record) -> u64 {
        let mixed = before.rotate_left(5) ^ record.what ^ record.origin.rotate_left(29);
        mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Whether another record, of the same thread and time, tells all that this one would.
    #[inline]
    pub fn is_told_by(&self, other: &Record) -> bool {
        (self.what ^ other.what) & EPOCH == 0
            && other.covers(self)
            && self.mask() & !other.mask() == 0
    }

    #[inline]
    fn without(self, bytes: u8) -> Record {
        Record {
            what: self.what & !u64::from(bytes),
            ..self
        }
    }

    /// Whether two accesses to the same byte can race: one writes and not both are atomic.
    #[inline]
    pub(crate) fn conflicts(&self, other: &Record) -> bool {
        (self.what | other.what) & WRITE != 0 && (self.what & other.what) & ATOMIC == 0
    }

    /// Whether everything that conflicts with the other conflicts with this too.
    #[inline]
    pub(crate) fn covers(&self, other: &Record) -> bool {
        let (mine, theirs) = (self.kind(), other.kind());
        // A plain write conflicts with everything, an atomic read with plain writes only. An atomic write
        // does not conflict with the atomic accesses that a plain read conflicts with.
        match (mine.write, mine.atomic) {
            (true, false) => true,
            (true, true) => theirs.atomic,
            (false, false) => !theirs.write,
            (false, true) => theirs.atomic && !theirs.write,
        }
    }
}

/// What an access made of a word's history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The history tells all of it already, and will as long as the thread's time is the same.
    Same,
    /// There is a new history, so many records long.
    Changed(usize),
}

/// What orders accesses, and what else keeps them apart.
pub trait Order {
    /// Whether an earlier access comes before the new one.
    fn precedes(&mut self, earlier: &Record, access: &Record) -> bool;

    /// Whether an earlier access comes before whatever is done from now on, by anyone.
    fn is_over(&mut self, _earlier: &Record) -> bool {
        false
    }

    /// Whether two accesses that nothing orders can never meet, because both hold a lock.
    fn excludes(&mut self, _earlier: &Record, _access: &Record) -> bool {
        false
    }

    /// Whether whoever is not kept from the second access by a lock is not kept from the first either.
    fn is_as_exposed(&mut self, _first: &Record, _second: &Record) -> bool {
        true
    }
}

/// What happens before an access by a thread with this clock. What the access's own slot has done all happens before
/// it, whatever the clock says.
impl Order for &Clock {
    #[inline]
    fn precedes(&mut self, earlier: &Record, access: &Record) -> bool {
        earlier.slot() == access.slot() || earlier.time() <= self.get(earlier.slot())
    }
}

/// The history after an access, written into `next`, which must have room for one record more than the history. `race`
/// is told of every record that races with the access.
#[inline]
pub fn step(
    history: &[Record],
    access: Record,
    mut order: impl Order,
    next: &mut [Record],
    mut race: impl FnMut(&Record),
) -> Step {
    let told = |record: &&Record| {
        (record.what ^ access.what) & EPOCH == 0
            && record.covers(&access)
            && order.is_as_exposed(record, &access)
    };
    let told = history
        .iter()
        .filter(told)
        .fold(0, |told, record| told | record.mask());
    let mut new = access.without(told);
    if new.mask() == 0 || next.len() <= history.len() {
        return Step::Same;
    }
    let mut length = 1;
    for record in history {
        if order.is_over(record) {
            continue;
        }
        let common = record.mask() & new.mask();
        // In words of the processor's size: what is stored in parts, and loaded as a whole a moment later, waits for memory.
        let mut rest = record.what;
        if common != 0 {
            let ordered = order.precedes(record, &new);
            let races = !ordered && record.conflicts(&new) && !order.excludes(record, &new);
            if races {
                race(record);
            }
            if (races || ordered) && new.covers(record) && order.is_as_exposed(&new, record) {
                rest &= !u64::from(common);
            }
        }
        let same = (rest ^ access.what) & EXCEPT_BYTES == 0 && record.origin == access.origin;
        if same {
            new.what |= rest & MASK;
        } else if rest & MASK != 0 {
            next[length] = Record {
                what: rest & !LAST,
                origin: record.origin,
            };
            length += 1;
        }
    }
    next[0] = new;
    sort(&mut next[1..length]);
    let last = &mut next[length - 1];
    last.what = black_box(last.what | LAST);
    Step::Changed(length)
}

/// Makes a history of these records, of which some may have been in the midst of another.
pub fn end(history: &mut [Record]) {
    if let Some((last, rest)) = history.split_last_mut() {
        rest.iter_mut().for_each(|record| record.what &= !LAST);
        last.what |= LAST;
    }
}

/// All but the newest record are in an order that does not depend on how they came together, so that histories that say
/// the same look the same: the later ones first, so that few are out of place.
fn sort(records: &mut [Record]) {
    for end in 1..records.len() {
        let mut at = end;
        while at > 0
            && (records[at].what, records[at].origin)
                > (records[at - 1].what, records[at - 1].origin)
        {
            records.swap(at, at - 1);
            at -= 1;
        }
    }
}
