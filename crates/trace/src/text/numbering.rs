//! Numbering to numbers: dense, in order of first appearance.
//!
//! The names themselves stay in the tables; here is only a table of their numbers, found by a hash that
//! is keyed anew in each run, so that no file can be made to collide.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Which number a name has.
#[derive(Default)]
pub(crate) struct Numbering {
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// What became of a name.
pub(crate) enum Lookup {
    /// It has this number already.
    Known(u32),
    /// It has it from now on.
    New(u32),
    /// There is no number left.
    Full,
}

impl Numbering {
    /// The number of a name. A new one is put at the end of `names`, as `text` makes it.
    #[inline]
    pub fn number<E>(
        &mut self,
        names: &mut Vec<String>,
        name: &[u8],
        text: impl FnOnce(&[u8]) -> Result<String, E>,
    ) -> Result<Lookup, E> {
        let hash = self.hasher.hash_one(name);
        let same = |&number: &u32| names[number as usize].as_bytes() == name;
        if let Some(&number) = self.numbers.find(hash, same) {
            return Ok(Lookup::Known(number));
        }
        let Ok(number) = u32::try_from(names.len()) else {
            return Ok(Lookup::Full);
        };
        names.push(text(name)?);
        let rehash = |&number: &u32| self.hasher.hash_one(names[number as usize].as_bytes());
        self.numbers.insert_unique(hash, number, rehash);
        Ok(Lookup::New(number))
    }
}
