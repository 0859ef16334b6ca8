//! Fields of a line to an event, names to numbers.

use std::borrow::Cow;

use deadheat_model::{Event, MAX_OBJECT, Names, Site, Strand};

use super::excerpt;
use super::numbering::{Lookup, Numbering};
use crate::error::{LineProblem, MAX_NAME};
use deadheat_model::words::{Table, Takes, WORDS, Word};

/// The declaration of a semaphore: an event of nobody.
pub(super) const SEMAPHORE: &str = "semaphore";

/// What a line says.
pub(super) struct Fields<'a> {
    pub thread: Cow<'a, [u8]>,
    pub word: &'a [u8],
    pub target: Option<Cow<'a, [u8]>>,
    pub site: Cow<'a, [u8]>,
}

/// Makes events, and the names of what they mention.
#[derive(Default)]
pub(super) struct Builder {
    pub names: Names,
    numberings: [Numbering; Table::ALL.len()],
}

impl Builder {
    /// The event that a line says; none if it is a declaration.
    pub fn event(&mut self, fields: &Fields<'_>) -> Result<Option<Event>, LineProblem> {
        if fields.thread.is_empty() {
            return match fields.word == SEMAPHORE.as_bytes() {
                true => self.declare(fields).map(|()| None),
                false => Err(LineProblem::NoThread),
            };
        }
        let word = find(fields.word)?;
        let strand = Strand(self.number(Table::Strands, &fields.thread)?);
        let target = fields.target.as_deref().unwrap_or_default();
        let object = match word.takes {
            Takes::Nothing => 0,
            Takes::Named(table) if target.is_empty() => {
                let word = word.word;
                return Err(LineProblem::NoTarget { word, table });
            }
            Takes::Named(table) => self.number(table, target)?.into(),
            Takes::Number => number(target, MAX_OBJECT).ok_or_else(|| LineProblem::NotANumber {
                word: word.word,
                target: excerpt(target),
            })?,
        };
        let site = Site(self.number(Table::Sites, &fields.site)?);
        Ok(Some(Event::new(strand, (word.make)(object), site)))
    }

    /// A semaphore starts with so many tokens.
    fn declare(&mut self, fields: &Fields<'_>) -> Result<(), LineProblem> {
        let tokens = number(&fields.site, u64::MAX).ok_or(LineProblem::Semaphore)?;
        let name = fields.target.as_deref().unwrap_or_default();
        let known = self.names.semaphores.len();
        // What is declared when it has been used may have been handed on without its tokens.
        if name.is_empty() || (self.number(Table::Semaphores, name)? as usize) < known {
            return Err(LineProblem::Semaphore);
        }
        self.names.tokens.resize(known, 0);
        self.names.tokens.push(tokens);
        Ok(())
    }

    #[inline]
    fn number(&mut self, table: Table, name: &[u8]) -> Result<u32, LineProblem> {
        let names = table.of_mut(&mut self.names);
        let found = self.numberings[table as usize].number(names, name, |name| {
            if name.len() > MAX_NAME {
                return Err(LineProblem::NameTooLong { table });
            }
            String::from_utf8(name.to_vec()).map_err(|_| LineProblem::NotUtf8 { table })
        });
        match found? {
            Lookup::Known(number) | Lookup::New(number) => Ok(number),
            Lookup::Full => Err(LineProblem::TooManyNames { table }),
        }
    }
}

#[inline]
fn find(text: &[u8]) -> Result<&'static Word, LineProblem> {
    // Some tools spell accesses longer.
    let text = match text {
        b"rd" => b"r",
        b"wr" => b"w",
        text => text,
    };
    let word = WORDS.iter().find(|word| word.word.as_bytes() == text);
    word.ok_or_else(|| LineProblem::UnknownWord {
        word: excerpt(text),
    })
}

/// Decimal digits, and no more than `most`.
pub(super) fn number(digits: &[u8], most: u64) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number <= most).then_some(number)
}
