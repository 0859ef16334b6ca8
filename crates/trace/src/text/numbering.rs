//! Names to numbers: dense, in order of first appearance.
//!
//! The names themselves stay in the tables. Here is a table of their numbers, found by a hash that is keyed anew in each
//! run, so that no file can be made to collide. Short names stand in its entries once more: a trace has very many
//! locations, and a name that is looked for is then one cache miss away, not three.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Which number a name has.
#[derive(Default)]
pub(crate) struct Numbering {
    entries: HashTable<Entry>,
    hasher: DefaultHashBuilder,
}

/// The number of a name, in half a cache line.
#[derive(Clone, Copy)]
struct Entry {
    number: u32,
    short: Short,
}

/// The longest name that an entry has room for.
const SHORT: usize = 27;

/// A name and its length; nothing of one that is too long, whose length is then none that a short one has.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Short {
    bytes: [u8; SHORT],
    length: u8,
}

impl Short {
    #[inline]
    fn of(name: &[u8]) -> Short {
        let mut bytes = [0; SHORT];
        let length = match bytes.get_mut(..name.len()) {
            Some(room) => {
                room.copy_from_slice(name);
                name.len() as u8
            }
            None => u8::MAX,
        };
        Short { bytes, length }
    }

    fn is_whole(self) -> bool {
        self.length != u8::MAX
    }
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
        let short = Short::of(name);
        let same = |entry: &Entry| {
            let is_name = || names[entry.number as usize].as_bytes() == name;
            entry.short == short && (short.is_whole() || is_name())
        };
        if let Some(entry) = self.entries.find(hash, same) {
            return Ok(Lookup::Known(entry.number));
        }
        let Ok(number) = u32::try_from(names.len()) else {
            return Ok(Lookup::Full);
        };
        names.push(text(name)?);
        let rehash = |entry: &Entry| {
            let name = names[entry.number as usize].as_bytes();
            self.hasher.hash_one(name)
        };
        let entry = Entry { number, short };
        self.entries.insert_unique(hash, entry, rehash);
        Ok(Lookup::New(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_length_keep_their_numbers() {
        let mut names = Vec::new();
        let mut numbering = Numbering::default();
        let mut number = |name: &str| {
            let text = |name: &[u8]| Ok::<_, ()>(String::from_utf8_lossy(name).into_owned());
            match numbering.number(&mut names, name.as_bytes(), text) {
                Ok(Lookup::Known(number)) => (number, false),
                Ok(Lookup::New(number)) => (number, true),
                _ => panic!("there is room"),
            }
        };
        // Names that begin alike, end in zeros, or are longer than an entry has room for.
        let all = (0..2 * SHORT).flat_map(|length| {
            let alike = "x".repeat(length);
            [alike.clone(), format!("{alike}\0"), format!("{alike}y")]
        });
        let mut all: Vec<String> = all.collect();
        all.sort();
        all.dedup();
        for (expected, name) in (0..).zip(&all) {
            assert_eq!(number(name), (expected, true), "{name:?}");
        }
        for (expected, name) in (0..).zip(&all) {
            assert_eq!(number(name), (expected, false), "{name:?}");
        }
    }
}
