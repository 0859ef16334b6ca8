//! What several parsers made of the chunks of a text, in the order of the text and in its numbers.
//!
//! The simple model: the chunks are looked at one after the other, and the names of each table numbered in the order of their
//! first appearance. As a parser tells a name when it is new to it, and in order, only these have to be looked at, however many
//! events there are.

use std::ops::ControlFlow;

use deadheat_model::words::{Table, Takes, takes};
use deadheat_model::{Event, Names, Site, Strand};

use super::numbering::{Lookup, Numbering};
use super::parser::{Declaration, Parsed};
use crate::error::TraceError;

/// Numbers the names of a text.
#[derive(Default)]
pub(super) struct Merger {
    pub names: Names,
    numberings: [Numbering; Table::ALL.len()],
    parsers: Vec<Numbers>,
}

/// By table and a parser's number: the number in the text.
type Numbers = [Vec<u32>; Table::ALL.len()];

impl Merger {
    /// Hands over the events of the next chunk in the text's numbers, if there are any.
    pub fn hand_over<B>(
        &mut self,
        parsed: &mut Parsed,
        mut each: impl FnMut(&[Event], &Names, u64) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TraceError> {
        self.merge(parsed)?;
        Ok(match parsed.events.is_empty() {
            true => ControlFlow::Continue(()),
            false => each(&parsed.events, &self.names, parsed.end),
        })
    }

    fn merge(&mut self, parsed: &mut Parsed) -> Result<(), TraceError> {
        if self.parsers.len() <= parsed.parser {
            self.parsers
                .resize_with(parsed.parser + 1, Numbers::default);
        }
        if parsed.anew {
            self.parsers[parsed.parser].iter_mut().for_each(Vec::clear);
        }
        for table in Table::ALL {
            self.learn(table, parsed)?;
        }
        renumber(&mut parsed.events, &self.parsers[parsed.parser]);
        match parsed.problem.take() {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    /// Numbers the names that are new to the parser.
    fn learn(&mut self, table: Table, parsed: &mut Parsed) -> Result<(), TraceError> {
        let numbers = &mut self.parsers[parsed.parser][table as usize];
        let new = &parsed.names[table as usize];
        let names = table.of_mut(&mut self.names);
        if table == Table::Sites && parsed.by_line {
            let first = names.len() as u32;
            let count = u32::try_from(new.len()).ok();
            let end = count.and_then(|count| first.checked_add(count));
            numbers.clear();
            numbers.extend(first..end.ok_or(TraceError::TooManyNames { table })?);
            names.extend(new.iter_from(0).map(str::to_string));
            return Ok(());
        }
        let declarations = match table {
            Table::Semaphores => std::mem::take(&mut parsed.declarations),
            _ => Vec::new(),
        };
        let mut declarations = declarations.into_iter().peekable();
        for name in new.iter_from(0) {
            let is_declared = |declaration: &Declaration| {
                declaration.declared.semaphore as usize == numbers.len()
            };
            let declaration = declarations.next_if(is_declared);
            let text = |_| Ok::<_, TraceError>(name);
            let number = match self.numberings[table as usize].number(
                table.of_mut(&mut self.names),
                name.as_bytes(),
                text,
            )? {
                Lookup::Known(number) => match declaration {
                    Some(declaration) => return Err(declaration.problem),
                    None => number,
                },
                Lookup::New(number) => {
                    if let Some(declaration) = declaration {
                        self.names.tokens.resize(number as usize, 0);
                        self.names.tokens.push(declaration.declared.tokens);
                    }
                    number
                }
                Lookup::Full => return Err(TraceError::TooManyNames { table }),
            };
            numbers.push(number);
        }
        Ok(())
    }
}

fn renumber(events: &mut [Event], numbers: &Numbers) {
    let number = |table: Table, number: usize| numbers[table as usize][number];
    for event in events {
        let strand = Strand(number(Table::Strands, event.strand().index()));
        let site = Site(number(Table::Sites, event.site().0 as usize));
        let (code, _, object) = event.to_parts();
        let object = match takes(code) {
            Takes::Named(table) => number(table, object as usize).into(),
            Takes::Nothing | Takes::Number => object,
        };
        *event = event.with(strand, object, site);
    }
}
