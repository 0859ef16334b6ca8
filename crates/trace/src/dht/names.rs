//! Names to bytes and back: for each name its length, and what a semaphore starts with; then all the
//! names in one piece.

use deadheat_model::Names;
use zstd::bulk::Decompressor;

use super::columns::{ColumnReader, ColumnWriter, get_number, put_number};
use super::layout::{Head, MAX_PAYLOAD};
use crate::error::{BlockProblem, MAX_NAME};
use deadheat_model::words::Table;

/// Names are kept for as long as a trace is open: a file holds at least this part of their bytes.
const MAX_RATIO: usize = 64;

/// Names of one table that are not yet in the file.
#[derive(Default)]
pub(super) struct NewNames {
    pub count: u32,
    numbers: Vec<u8>,
    text: Vec<u8>,
}

impl NewNames {
    /// Adds a name of at most [`MAX_NAME`] bytes. `tokens` is for semaphores.
    pub fn push(&mut self, table: Table, name: &str, tokens: u64) {
        put_number(name.len() as u64, &mut self.numbers);
        if table == Table::Semaphores {
            put_number(tokens, &mut self.numbers);
        }
        self.text.extend_from_slice(name.as_bytes());
        self.count += 1;
    }

    /// Whether they should become a block now: one more name still fits.
    pub fn is_full(&self) -> bool {
        self.text.len() + self.numbers.len() > 1 << 20
    }

    /// The payload of the block.
    pub fn encode(&self, columns: &mut ColumnWriter, out: &mut Vec<u8>) {
        columns.put_at_least(self.numbers.len() / MAX_RATIO, &self.numbers, out);
        columns.put_at_least(self.text.len() / MAX_RATIO, &self.text, out);
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.numbers.clear();
        self.text.clear();
    }
}

/// Adds the names in a block to the names.
pub(super) fn decode(
    head: &Head,
    payload: &[u8],
    decompressor: &mut Decompressor<'static>,
    names: &mut Names,
) -> Result<(), BlockProblem> {
    const WRONG: BlockProblem = BlockProblem::Content("names");
    let table = Table::ALL.get(head.whose as usize).copied();
    let table = table.ok_or(BlockProblem::Count {
        what: "the table",
        value: head.whose.into(),
        most: Table::ALL.len() as u64 - 1,
    })?;
    let known = table.of(names).len() as u64;
    if head.first != known || head.end > 1 << 32 {
        let first = head.first;
        return Err(BlockProblem::NamesOutOfOrder {
            table,
            first,
            known,
        });
    }
    let (mut numbers, mut text) = (Vec::new(), Vec::new());
    let mut columns = ColumnReader::new(payload, decompressor);
    let most = |columns: &ColumnReader<'_>| MAX_PAYLOAD.min((columns.left() + 1) * MAX_RATIO);
    columns.take("names", most(&columns), &mut numbers)?;
    columns.take("names", most(&columns), &mut text)?;
    columns.finish()?;
    let (mut numbers, mut text) = (&numbers[..], &text[..]);
    for number in head.first..head.end {
        let length = get_number(&mut numbers).ok_or(WRONG)?;
        if length > MAX_NAME as u64 {
            return Err(BlockProblem::Count {
                what: "the length of a name",
                value: length,
                most: MAX_NAME as u64,
            });
        }
        if table == Table::Semaphores {
            let tokens = get_number(&mut numbers).ok_or(WRONG)?;
            // The table ends where only zeros would follow.
            if tokens > 0 {
                names.tokens.resize(number as usize, 0);
                names.tokens.push(tokens);
            }
        }
        let name;
        (name, text) = text.split_at_checked(length as usize).ok_or(WRONG)?;
        let name = std::str::from_utf8(name).map_err(|_| BlockProblem::NotUtf8)?;
        table.of_mut(names).push(name.to_string());
    }
    match numbers.is_empty() && text.is_empty() {
        true => Ok(()),
        false => Err(WRONG),
    }
}
