//! Fields of a line to an event, names to a parser's numbers.

use std::sync::LazyLock;

use deadheat_model::{Event, MAX_OBJECT, Site, Strand};

use super::excerpt;
use super::name_list::NameList;
use super::numbering::{Key, Lookup, Numbering};
use crate::error::{LineProblem, MAX_NAME};
use deadheat_model::words::{Table, Takes, WORDS, Word};

/// The declaration of a semaphore: an event of nobody.
pub(super) const SEMAPHORE: &str = "semaphore";

/// The fields of a line.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub thread: &'a [u8],
    pub word: &'a [u8],
    /// Empty if there is none.
    pub target: &'a [u8],
    /// None if an event's place is its line.
    pub site: Option<&'a [u8]>,
}

/// A semaphore, a new one, starts with so many tokens.
pub(super) struct Declared {
    pub semaphore: u32,
    pub tokens: u64,
}

/// Makes events, and numbers the names of what they mention.
#[derive(Default)]
pub(super) struct Builder {
    /// By table.
    pub names: [NameList; Table::ALL.len()],
    numberings: [Numbering; Table::ALL.len()],
}

impl Builder {
    /// Adds the event that the line of a number is; or tells what it declares.
    // The event is not returned: in a result it would have to be put together in memory.
    #[inline(always)]
    pub fn add(
        &mut self,
        fields: Fields<'_>,
        line: u64,
        events: &mut Vec<Event>,
    ) -> Result<Option<Declared>, LineProblem> {
        let Fields {
            thread,
            word,
            target,
            site,
        } = fields;
        if thread.is_empty() {
            return match word == SEMAPHORE.as_bytes() {
                true => self.declare(target, site).map(Some),
                false => Err(LineProblem::NoThread),
            };
        }
        let spelling = find(word)?;
        let strand = Strand(self.number(Table::Strands, thread)?);
        let object = match spelling.word.takes {
            Takes::Nothing => 0,
            Takes::Named(table) if target.is_empty() => {
                let word = spelling.word.word;
                return Err(LineProblem::NoTarget { word, table });
            }
            Takes::Named(table) => self.number(table, target)?.into(),
            Takes::Number => number(target, MAX_OBJECT).ok_or_else(|| LineProblem::NotANumber {
                word: spelling.word.word,
                target: excerpt(target),
            })?,
        };
        let site = match site {
            Some(name) => self.number(Table::Sites, name)?,
            None => {
                let lines = &mut self.names[Table::Sites as usize];
                lines.push_number(line);
                lines.len() as u32 - 1
            }
        };
        events.push(spelling.event.with(strand, object, Site(site)));
        Ok(None)
    }

    /// Forgets all names.
    pub fn forget(&mut self) {
        self.names.iter_mut().for_each(NameList::clear);
        self.numberings.iter_mut().for_each(Numbering::clear);
    }

    #[cold]
    fn declare(&mut self, name: &[u8], site: Option<&[u8]>) -> Result<Declared, LineProblem> {
        let tokens = site.and_then(|digits| number(digits, u64::MAX));
        let tokens = tokens.ok_or(LineProblem::Semaphore)?;
        let known = self.names[Table::Semaphores as usize].len();
        // What is declared when it has been used may have been handed on without its tokens.
        if name.is_empty() || (self.number(Table::Semaphores, name)? as usize) < known {
            return Err(LineProblem::Semaphore);
        }
        let semaphore = known as u32;
        Ok(Declared { semaphore, tokens })
    }

    #[inline]
    fn number(&mut self, table: Table, name: &[u8]) -> Result<u32, LineProblem> {
        let names = &mut self.names[table as usize];
        let found = self.numberings[table as usize].number(names, name, |name| {
            if name.len() > MAX_NAME {
                return Err(LineProblem::NameTooLong { table });
            }
            std::str::from_utf8(name).map_err(|_| LineProblem::NotUtf8 { table })
        });
        match found? {
            Lookup::Known(number) | Lookup::New(number) => Ok(number),
            Lookup::Full => Err(LineProblem::TooManyNames { table }),
        }
    }
}

/// How an operation is written.
pub(super) struct Spelling {
    key: Key,
    pub word: &'static Word,
    /// An event of this operation.
    event: Event,
}

/// Those that are used most first.
static SPELLINGS: LazyLock<Vec<Spelling>> = LazyLock::new(|| {
    let spelling = |text: &str, word| Spelling {
        key: Key::of(text.as_bytes()),
        word,
        event: Event::new(Strand::MAIN, (word.make)(0), Site(0)),
    };
    // Some tools spell accesses longer.
    let longer = |word: &'static Word| match word.word {
        "r" => Some(spelling("rd", word)),
        "w" => Some(spelling("wr", word)),
        _ => None,
    };
    let usual = WORDS.iter().map(|word| spelling(word.word, word));
    usual.chain(WORDS.iter().filter_map(longer)).collect()
});

#[inline]
pub(super) fn find(text: &[u8]) -> Result<&'static Spelling, LineProblem> {
    let key = Key::of(text);
    let known = SPELLINGS.iter().find(|known| known.key == key);
    known.ok_or_else(|| LineProblem::UnknownWord {
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
