//! What a thread remembers of what it has done at its present time.
//!
//! *Known*: such an access to a word with this history changes nothing. *Changes*: such an access, from this place
//! in the program, makes that history of this one. An entry holds for one time of the thread, which is
//! part of its key; when the time goes up, everything is forgotten at once.
//!
//! Accesses of 1, 2, 4 or 8 bytes at multiples of their size have a table for each place in a word, so that
//! looking is a comparison of one number; all others share a table.

use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Kind;

/// What an access is, beyond its word: which bytes of it, which kind, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct AccessShape(u32);

const WRITE: u32 = 1 << 8;
const ATOMIC: u32 = 1 << 9;
const CAUSE_SHIFT: u32 = 10;

impl AccessShape {
    #[inline(always)]
    pub fn new(mask: u32, kind: Kind) -> AccessShape {
        let write = if kind.write { WRITE } else { 0 };
        let atomic = if kind.atomic { ATOMIC } else { 0 };
        AccessShape(mask | write | atomic)
    }

    /// The same, made for this.
    #[inline(always)]
    pub fn of(self, cause: AccessCause) -> AccessShape {
        AccessShape(self.0 | (cause as u32) << CAUSE_SHIFT)
    }

    #[inline]
    pub fn cause(self) -> AccessCause {
        crate::check::origin::cause(self.0 >> CAUSE_SHIFT)
    }

    #[inline]
    pub fn mask(self) -> u8 {
        self.0 as u8
    }

    #[inline]
    pub fn kind(self) -> Kind {
        Kind {
            write: self.0 & WRITE != 0,
            atomic: self.0 & ATOMIC != 0,
        }
    }

    /// Whether it is a plain read.
    #[inline]
    pub fn is_read(self) -> bool {
        self.0 & (WRITE | ATOMIC) == 0
    }

    /// The key of an entry that is about such an access: the last 20 bits of the generation come first.
    #[inline]
    fn key(self, generation_key: u64, history: u32) -> u64 {
        generation_key << 12 | u64::from(self.0) << 32 | u64::from(history)
    }

    /// For an aligned plain access: the logarithm of its size, and where in the word it begins.
    fn usual(self) -> Option<(u32, usize)> {
        let (size, offset) = (self.mask().count_ones(), self.mask().trailing_zeros());
        let whole = size.is_power_of_two() && u32::from(self.mask()) == ((1 << size) - 1) << offset;
        (whole && offset.is_multiple_of(size) && !self.kind().atomic)
            .then(|| (size.trailing_zeros(), offset as usize))
    }
}

/// How many entries the tables have for accesses of 1, 2, 4 and 8 bytes: powers of two.
const TABLE: [usize; 4] = [64, 64, 256, 512];
/// Where the first table of each size begins: there are 8, 4, 2 and 1 of them.
const FIRST: [usize; 5] = [0, 512, 768, 1280, 1792];
/// First for reads, then for writes.
const USUAL: usize = 2 * FIRST[4];
const ODD: usize = 256;
const CHANGES: usize = 512;
const MADE_BITS: u32 = 9;
const MADE: usize = 1 << MADE_BITS;
/// How many changes have the same place.
const WAYS: usize = 4;

/// A change from one history to another.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Change {
    key: u64,
    /// The code address, and in the upper bits which set of locks.
    site: u64,
    chain: u32,
    next: u32,
}

/// See the [module](self). All zeros is an empty one.
#[derive(Debug)]
pub struct Memo {
    usual: [u64; USUAL],
    odd: [u64; ODD],
    changes: [Change; CHANGES],
    /// Histories that were made at the present time, by a hash of their records: the upper half is the time's.
    made: [u64; MADE],
    /// Which of the changes of a place was replaced last.
    turn: usize,
    /// The time at which a change was noted last: at others there is nothing to look for.
    changed: u64,
}

#[inline(always)]
fn table(log: u32, write: bool, offset: usize, history: u32) -> usize {
    let log = log as usize;
    let first = FIRST[log] + if write { FIRST[4] } else { 0 };
    first + (offset >> log) * TABLE[log] + (history as usize & (TABLE[log] - 1))
}

fn usual_place((log, offset): (u32, usize), shape: AccessShape, history: u32) -> usize {
    table(log, shape.kind().write, offset, history)
}

fn odd_place(history: u32, shape: AccessShape) -> usize {
    history.wrapping_add(shape.0.wrapping_mul(37)) as usize % ODD
}

#[inline(always)]
fn made_place(hash: u64) -> usize {
    (hash >> (64 - MADE_BITS)) as usize
}

#[inline(always)]
fn change_places(history: u32, shape: AccessShape, site: u64) -> usize {
    let mixed =
        (u64::from(history) ^ u64::from(shape.0) << 32 ^ site).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % (CHANGES / WAYS) * WAYS
}

impl Memo {
    /// Whether an aligned plain access changes nothing.
    #[inline(always)]
    pub fn knows_usual<const LOG: u32, const WRITES: bool>(
        &self,
        generation_key: u64,
        address: usize,
        history: u32,
    ) -> bool {
        let place = table(LOG, WRITES, address & 7, history);
        self.usual[place] == generation_key | u64::from(history)
    }

    /// Whether such an access changes nothing.
    #[inline]
    pub fn knows(&self, generation_key: u64, shape: AccessShape, history: u32) -> bool {
        match shape.usual() {
            Some(place) => {
                self.usual[usual_place(place, shape, history)]
                    == generation_key | u64::from(history)
            }
            None => self.odd[odd_place(history, shape)] == shape.key(generation_key, history),
        }
    }

    /// Such an access changes nothing.
    pub fn know(&mut self, generation_key: u64, shape: AccessShape, history: u32) {
        match shape.usual() {
            Some(place) => {
                self.usual[usual_place(place, shape, history)] = generation_key | u64::from(history)
            }
            None => self.odd[odd_place(history, shape)] = shape.key(generation_key, history),
        }
    }

    /// What such an access makes of a history.
    ///
    /// A signal handler may run meanwhile and replace entries: that is why the key is compared twice.
    #[inline]
    pub fn change(
        &self,
        generation_key: u64,
        shape: AccessShape,
        history: u32,
        site: u64,
        chain: u32,
    ) -> Option<u32> {
        if self.changed != generation_key {
            return None;
        }
        let key = shape.key(generation_key, history);
        let first = change_places(history, shape, site);
        let found = self.changes[first..first + WAYS].iter().find(|change| {
            // SAFETY: a field of a living entry.
            let found = unsafe { (&raw const change.key).read_volatile() };
            found == key && change.site == site && change.chain == chain
        })?;
        // SAFETY: fields of a living entry.
        unsafe {
            let next = (&raw const found.next).read_volatile();
            ((&raw const found.key).read_volatile() == key).then_some(next)
        }
    }

    /// Such an access made `next` of a history. A signal handler may run meanwhile: no entry is ever half true.
    pub fn note_change(
        &mut self,
        generation_key: u64,
        shape: AccessShape,
        history: u32,
        site: u64,
        chain: u32,
        next: u32,
    ) {
        self.changed = generation_key;
        self.turn = (self.turn + 1) % WAYS;
        let place = change_places(history, shape, site) + self.turn;
        let change = &mut self.changes[place];
        // SAFETY: fields of a living entry.
        unsafe {
            (&raw mut change.key).write_volatile(0);
            (&raw mut change.site).write_volatile(site);
            (&raw mut change.chain).write_volatile(chain);
            (&raw mut change.next).write_volatile(next);
            (&raw mut change.key).write_volatile(shape.key(generation_key, history));
        }
    }

    /// A history that was made at the present time of records with this hash.
    #[inline]
    pub fn made(&self, generation_key: u64, hash: u64) -> Option<u32> {
        let entry = self.made[made_place(hash)];
        (entry >> 32 == generation_key >> 32).then_some(entry as u32)
    }

    /// A history was made.
    pub fn note_made(&mut self, generation_key: u64, hash: u64, history: u32) {
        self.made[made_place(hash)] = generation_key | u64::from(history);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.usual.fill(0);
        self.odd.fill(0);
        self.made.fill(0);
        self.clear_changes();
    }

    /// Forgets the changes.
    pub fn clear_changes(&mut self) {
        self.changes.fill(Change::default());
    }

    /// Visits the histories of entries of the present, which the owner may look at even now. Others will not be
    /// looked at again, and are forgotten.
    pub fn visit(&mut self, generation_key: u64, mut each: impl FnMut(u32)) {
        self.made.fill(0);
        for entry in &mut self.usual {
            match *entry >> 32 == generation_key >> 32 {
                true => each(*entry as u32),
                false => *entry = 0,
            }
        }
        let short = generation_key << 12 >> 44;
        for entry in &mut self.odd {
            match *entry >> 44 == short {
                true => each(*entry as u32),
                false => *entry = 0,
            }
        }
        for change in &mut self.changes {
            match change.key >> 44 == short {
                true => [change.key as u32, change.next]
                    .into_iter()
                    .for_each(&mut each),
                false => *change = Change::default(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Box<Memo> {
        let memo = Memo {
            usual: [0; USUAL],
            odd: [0; ODD],
            changes: [Change::default(); CHANGES],
            made: [0; MADE],
            turn: 0,
            changed: 0,
        };
        Box::new(memo)
    }

    /// Whether a memo knows an access of `1 << log` bytes, asked as the access path asks.
    fn knows(
        memo: &Memo,
        generation_key: u64,
        log: u32,
        write: bool,
        offset: usize,
        history: u32,
    ) -> bool {
        match (log, write) {
            (0, false) => memo.knows_usual::<0, false>(generation_key, offset, history),
            (1, false) => memo.knows_usual::<1, false>(generation_key, offset, history),
            (2, false) => memo.knows_usual::<2, false>(generation_key, offset, history),
            (3, false) => memo.knows_usual::<3, false>(generation_key, offset, history),
            (0, true) => memo.knows_usual::<0, true>(generation_key, offset, history),
            (1, true) => memo.knows_usual::<1, true>(generation_key, offset, history),
            (2, true) => memo.knows_usual::<2, true>(generation_key, offset, history),
            _ => memo.knows_usual::<3, true>(generation_key, offset, history),
        }
    }

    /// Atomic operations order only each other: a plain access in the same place may race where they do not.
    #[test]
    fn an_atomic_access_is_not_taken_for_a_plain_one() {
        for write in [false, true] {
            for log in 0..4 {
                let mask = (1u32 << (1 << log)) - 1;
                let shape = |atomic| AccessShape::new(mask, Kind { write, atomic });
                for noted in [false, true] {
                    let mut memo = empty();
                    memo.know(7 << 32, shape(noted), 99);
                    assert!(memo.knows(7 << 32, shape(noted), 99));
                    assert!(!memo.knows(7 << 32, shape(!noted), 99));
                    assert_eq!(knows(&memo, 7 << 32, log, write, 0, 99), !noted);
                }
            }
        }
    }

    #[test]
    fn an_access_is_known_only_as_it_was_noted() {
        let all: Vec<(u32, bool, usize)> = (0..4)
            .flat_map(|log| (0..8 >> log).map(move |place| (log, place << log)))
            .flat_map(|(log, offset)| [(log, false, offset), (log, true, offset)])
            .collect();
        assert_eq!(all.len(), 2 * (8 + 4 + 2 + 1));
        for &(log, write, offset) in &all {
            let mut memo = empty();
            let mask = ((1u32 << (1 << log)) - 1) << offset;
            memo.know(
                7 << 32,
                AccessShape::new(
                    mask,
                    Kind {
                        write,
                        atomic: false,
                    },
                ),
                99,
            );
            for &(log2, write2, offset2) in &all {
                let same = (log, write, offset) == (log2, write2, offset2);
                let mask = ((1u32 << (1 << log2)) - 1) << offset2;
                let shape = AccessShape::new(
                    mask,
                    Kind {
                        write: write2,
                        atomic: false,
                    },
                );
                assert_eq!(memo.knows(7 << 32, shape, 99), same);
                assert_eq!(knows(&memo, 7 << 32, log2, write2, offset2, 99), same);
                assert!(!knows(&memo, 8 << 32, log2, write2, offset2, 99));
                assert!(!knows(&memo, 7 << 32, log2, write2, offset2, 99 + 512));
            }
        }
        let mut memo = empty();
        let odd = AccessShape::new(
            0b1110,
            Kind {
                write: true,
                atomic: false,
            },
        );
        memo.know(7 << 32, odd, 99);
        assert!(memo.knows(7 << 32, odd, 99) && !memo.knows(8 << 32, odd, 99));
        assert!(!memo.knows(
            7 << 32,
            AccessShape::new(
                0b1110,
                Kind {
                    write: true,
                    atomic: true
                }
            ),
            99
        ));
        memo.note_change(7 << 32, odd, 5, 1000, 3, 6);
        assert_eq!(memo.change(7 << 32, odd, 5, 1000, 3), Some(6));
        assert_eq!(memo.change(7 << 32, odd, 5, 1000, 4), None);
        assert_eq!(memo.change(8 << 32, odd, 5, 1000, 3), None);
        let mut seen = Vec::new();
        memo.visit(7 << 32, |history| seen.push(history));
        assert_eq!(seen, [99, 5, 6]);
        memo.visit(8 << 32, |_| panic!("nothing is of this time"));
        assert!(!memo.knows(7 << 32, odd, 99));
    }
}
