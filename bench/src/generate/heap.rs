//! The variables of one owner (a thread, a lock, or all), as objects of a few fields each, that are
//! made one after another. Some are in use all the time, most for a while after they were made.

use std::ops::Range;

use fastrand::Rng;

use super::due::Due;

/// How many variables an object has; the last of a heap may have fewer.
pub const FIELDS: u64 = 4;

/// How many of those made last are in use.
const RECENT: u64 = 64;
/// How many of those made first always are.
const HOT: u64 = 8;

/// Variables of one owner.
pub struct Heap {
    variables: Range<u64>,
    /// Objects below have been made.
    made: u64,
}

impl Heap {
    /// Of the variables from `start` to before `end`; nothing is made yet.
    pub fn new(start: u64, end: u64) -> Heap {
        Heap {
            variables: start..end,
            made: 0,
        }
    }

    /// The same, all made.
    pub fn full(start: u64, end: u64) -> Heap {
        let mut heap = Heap::new(start, end);
        heap.made = heap.objects();
        heap
    }

    /// How many there are.
    pub fn variables(&self) -> u64 {
        self.variables.end - self.variables.start
    }

    /// One of them.
    pub fn nth(&self, n: u64) -> u64 {
        self.variables.start + n
    }

    /// A variable of an object.
    #[inline]
    pub fn field(&self, object: u64, field: u8) -> u64 {
        let variable = self.variables.start + object * FIELDS + u64::from(field);
        variable.min(self.variables.end - 1)
    }

    /// How many variables an object has.
    pub fn fields(&self, object: u64) -> usize {
        FIELDS.min(self.variables() - object * FIELDS) as usize
    }

    /// A new object, if its variables are due or there is none yet.
    #[inline]
    pub fn make(&mut self, due: &mut Due) -> Option<u64> {
        let new = self.made;
        let make = new < self.objects() && (due.take(FIELDS) || new == 0);
        self.made += u64::from(make);
        make.then_some(new)
    }

    /// One of the objects made so far. There has to be one.
    #[inline]
    pub fn pick(&self, rng: &mut Rng) -> u64 {
        let random = rng.u64(..);
        let x = (random >> 32) as u32;
        match random % 32 {
            0 => ((u128::from(self.made) * u128::from(x)) >> 32) as u64,
            1..8 => skewed(self.made.min(HOT), x),
            _ => self.made - 1 - skewed(self.made.min(RECENT), x),
        }
    }

    fn objects(&self) -> u64 {
        self.variables().div_ceil(FIELDS)
    }
}

/// A number below `n`, by the square of a random one: below `n / 4` half of the time.
#[inline]
pub fn skewed(n: u64, random: u32) -> u64 {
    let random = u64::from(random);
    (n * ((random * random) >> 32)) >> 32
}
