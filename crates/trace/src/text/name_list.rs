//! Names by number, in one piece of memory.

use std::fmt::Write;

use super::numbering::Store;

/// Names, one behind the other.
#[derive(Default)]
pub(super) struct NameList {
    text: String,
    ends: Vec<usize>,
}

impl NameList {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes the names have.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// Adds a name that is a number, in digits.
    pub fn push_number(&mut self, number: u64) {
        // To write into a string does not fail.
        let _ = write!(self.text, "{number}");
        self.ends.push(self.text.len());
    }

    fn get(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    /// The names from a number on.
    pub fn iter_from(&self, number: usize) -> impl Iterator<Item = &str> {
        (number..self.len()).map(|number| self.get(number))
    }
}

impl Store for NameList {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, number: u32) -> &str {
        self.get(number as usize)
    }

    fn push(&mut self, name: &str) {
        self.push(name);
    }
}
