//! Names to numbers: dense, in order of first appearance.
//!
//! The names themselves stay in the tables. Here is a table of their numbers, found by a hash that is keyed anew in each
//! run, so that no file can be made to collide. Short names stand in its entries once more: a trace has very many
//! locations, and a name that is looked for is then one cache miss away, not three.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Which number a name has.
#[derive(Default)]
pub(crate) struct Numbering {
    entries: HashTable<Entry>,
    hasher: DefaultHashBuilder,
    /// The name that was found last, if it is short: a thread's is often the next again.
    last: Option<(Key, u32)>,
}

/// Where the names stand, by number.
pub(crate) trait Store {
    /// How many there are.
    fn len(&self) -> usize;

    /// The name of a number.
    fn get(&self, number: u32) -> &str;

    /// Adds a name, with the next number.
    fn push(&mut self, name: &str);
}

impl Store for Vec<String> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, number: u32) -> &str {
        &self[number as usize]
    }

    fn push(&mut self, name: &str) {
        self.push(name.to_string());
    }
}

/// The number of a name, in half a cache line.
#[derive(Clone, Copy)]
struct Entry {
    words: [u64; 3],
    length: u32,
    number: u32,
}

const _: () = assert!(size_of::<Entry>() == 32);

impl Entry {
    fn key(&self) -> Key {
        let Entry { words, length, .. } = *self;
        Key { length, words }
    }
}

/// The longest name that its key says all of.
const SHORT: usize = 24;

/// A name's length, and its bytes in words that may overlap; of one that is too long, the ends.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    length: u32,
    words: [u64; 3],
}

impl PartialEq for Key {
    /// Word by word, as they were made: a wider load has to wait until all of them have reached memory.
    #[inline]
    fn eq(&self, other: &Key) -> bool {
        let ([a, b, c], [d, e, f]) = (self.words, other.words);
        (a ^ d) | (b ^ e) | (c ^ f) | u64::from(self.length ^ other.length) == 0
    }
}

impl Key {
    #[inline]
    pub fn of(name: &[u8]) -> Key {
        let length = name.len();
        let word = |at: usize| {
            name[at..]
                .first_chunk()
                .map_or(0, |&word| u64::from_le_bytes(word))
        };
        let half = |at: usize| {
            name[at..]
                .first_chunk()
                .map_or(0, |&half| u32::from_le_bytes(half))
        };
        let words = match length {
            0 => [0; 3],
            1..4 => {
                let bytes = [name[0], name[length / 2], name[length - 1]];
                [
                    bytes
                        .into_iter()
                        .fold(0, |word, byte| word << 8 | u64::from(byte)),
                    0,
                    0,
                ]
            }
            4..8 => [u64::from(half(0)) << 32 | u64::from(half(length - 4)), 0, 0],
            8..16 => [word(0), word(length - 8), 0],
            _ => [word(0), word(8), word(length - 8)],
        };
        Key {
            length: u32::try_from(length).unwrap_or(u32::MAX),
            words,
        }
    }

    fn is_whole(self) -> bool {
        self.length as usize <= SHORT
    }

    /// Of a name that is not whole, of all of it: else names that begin and end alike would collide.
    #[inline]
    fn hash<'a>(self, keyed: &DefaultHashBuilder, name: impl FnOnce() -> &'a [u8]) -> u64 {
        if !self.is_whole() {
            return keyed.hash_one(name());
        }
        let mut hasher = keyed.build_hasher();
        hasher.write_u32(self.length);
        hasher.write_u64(self.words[0]);
        if self.length > 8 {
            hasher.write_u64(self.words[1]);
            hasher.write_u64(self.words[2]);
        }
        hasher.finish()
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
    pub fn number<'a, E>(
        &mut self,
        names: &mut impl Store,
        name: &'a [u8],
        text: impl FnOnce(&'a [u8]) -> Result<&'a str, E>,
    ) -> Result<Lookup, E> {
        let key = Key::of(name);
        if let Some((last, number)) = self.last
            && last == key
        {
            return Ok(Lookup::Known(number));
        }
        let hash = key.hash(&self.hasher, || name);
        let same = |entry: &Entry| {
            entry.key() == key && (key.is_whole() || names.get(entry.number).as_bytes() == name)
        };
        if let Some(entry) = self.entries.find(hash, same) {
            self.last = key.is_whole().then_some((key, entry.number));
            return Ok(Lookup::Known(entry.number));
        }
        let text = text(name)?;
        let Ok(number) = u32::try_from(names.len()) else {
            return Ok(Lookup::Full);
        };
        names.push(text);
        let rehash = |entry: &Entry| {
            let name = || names.get(entry.number).as_bytes();
            entry.key().hash(&self.hasher, name)
        };
        let Key { length, words } = key;
        let entry = Entry {
            words,
            length,
            number,
        };
        self.entries.insert_unique(hash, entry, rehash);
        Ok(Lookup::New(number))
    }

    /// Forgets all names, and keeps the room for them.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_length_keep_their_numbers() {
        let mut names = Vec::new();
        let mut numbering = Numbering::default();
        let mut number =
            |name: &str| match numbering.number(&mut names, name.as_bytes(), std::str::from_utf8) {
                Ok(Lookup::Known(number)) => (number, false),
                Ok(Lookup::New(number)) => (number, true),
                _ => panic!("there is room"),
            };
        // Names that begin alike, end in zeros, or are longer than an entry has room for.
        let all = (0..2 * SHORT).flat_map(|length| {
            let alike = "x".repeat(length);
            [
                alike.clone(),
                format!("{alike}\0"),
                format!("{alike}y"),
                format!("y{alike}"),
            ]
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
