//! Names to bytes and back: for each name its length, and what a semaphore starts with; then all the
//! names in one piece; then, if there is anything to say, which strands are tasks of OpenMP, what is done at sites.

use deadheat_model::{Names, SiteKind, StrandKind};
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
    /// Of strands and sites, what each is.
    kinds: Vec<u8>,
    /// Whether one of them is not 0.
    has_kinds: bool,
}

/// What else there is to say about something with a name.
#[derive(Clone, Copy)]
pub(super) enum Detail {
    Nothing,
    /// What a semaphore starts with.
    Tokens(u64),
    /// What a strand or a site is, as a number.
    Kind(u64),
}

impl Detail {
    /// What these names say about the thing of a number in a table.
    pub fn of(names: &Names, table: Table, number: usize) -> Detail {
        match table {
            Table::Semaphores => Detail::Tokens(names.tokens.get(number).copied().unwrap_or(0)),
            Table::Strands => Detail::strand(names.kinds.get(number).copied().unwrap_or_default()),
            Table::Sites => Detail::site(names.site_kinds.get(number).copied().unwrap_or_default()),
            _ => Detail::Nothing,
        }
    }

    /// What a strand is.
    pub fn strand(kind: StrandKind) -> Detail {
        Detail::Kind(match kind {
            StrandKind::Plain => 0,
            StrandKind::Task => 1,
            StrandKind::Member(number) => u64::from(number) + 2,
        })
    }

    /// What is done at a site.
    pub fn site(kind: SiteKind) -> Detail {
        Detail::Kind(match kind {
            SiteKind::Plain => 0,
            SiteKind::Free => 1,
            SiteKind::LockLife => 2,
        })
    }
}

/// Adds what the thing of an index is; the tables end where only zeros would follow.
fn learn_kind(names: &mut Names, table: Table, index: usize, kind: u64) -> Option<()> {
    match (table, kind) {
        (_, 0) => {}
        (Table::Sites, 1 | 2) => {
            names.site_kinds.resize(index, SiteKind::Plain);
            names.site_kinds.push(match kind {
                1 => SiteKind::Free,
                _ => SiteKind::LockLife,
            });
        }
        (Table::Strands, _) => {
            names.kinds.resize(index, StrandKind::Plain);
            names.kinds.push(match kind {
                1 => StrandKind::Task,
                _ => StrandKind::Member(u32::try_from(kind - 2).ok()?),
            });
        }
        _ => return None,
    }
    Some(())
}

impl NewNames {
    /// Adds a name of at most [`MAX_NAME`] bytes, in a table whose things all have the same details.
    pub fn push(&mut self, name: &str, detail: Detail) {
        put_number(name.len() as u64, &mut self.numbers);
        match detail {
            Detail::Nothing => {}
            Detail::Tokens(tokens) => put_number(tokens, &mut self.numbers),
            Detail::Kind(kind) => {
                self.has_kinds |= kind != 0;
                put_number(kind, &mut self.kinds);
            }
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
        if self.has_kinds {
            columns.put_at_least(self.kinds.len() / MAX_RATIO, &self.kinds, out);
        }
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.numbers.clear();
        self.text.clear();
        self.kinds.clear();
        self.has_kinds = false;
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
    let mut kinds = Vec::new();
    let has_kinds = columns.left() > 0;
    if has_kinds {
        columns.take("names", most(&columns), &mut kinds)?;
    }
    columns.finish()?;
    let (mut numbers, mut text, mut kinds) = (&numbers[..], &text[..], &kinds[..]);
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
        if has_kinds {
            let kind = get_number(&mut kinds).ok_or(WRONG)?;
            learn_kind(names, table, number as usize, kind).ok_or(WRONG)?;
        }
        let name;
        (name, text) = text.split_at_checked(length as usize).ok_or(WRONG)?;
        let name = std::str::from_utf8(name).map_err(|_| BlockProblem::NotUtf8)?;
        table.of_mut(names).push(name.to_string());
    }
    match numbers.is_empty() && text.is_empty() && kinds.is_empty() {
        true => Ok(()),
        false => Err(WRONG),
    }
}
