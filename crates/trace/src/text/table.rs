//! A table of events: `thread,op,target,loc`, or `thread,op(target),loc`, an event a record, quoted as RFC 4180
//! says. Our own: RAPID's CSV has a column for each thread.

use super::builder::Fields;
use super::parser::Room;
use super::rapid_std::split_action;
use crate::error::LineProblem;
use deadheat_model::words::{Takes, WORDS};

const SHAPE: LineProblem = LineProblem::Expected("thread,op,target,loc or thread,op(target),loc");

/// What the columns are called.
pub(super) const HEADER: &str = "thread,op,target,loc\n";

/// The most columns that a record has.
const COLUMNS: usize = 4;

/// The fields of a record; none if it is empty, a comment, or the first one and a header.
#[inline(always)]
pub(super) fn split<'a>(
    record: &'a [u8],
    first: bool,
    room: &'a mut Room,
) -> Result<Option<Fields<'a>>, LineProblem> {
    let start = record.trim_ascii_start();
    if start.is_empty() || start[0] == b'#' {
        return Ok(None);
    }
    let mut columns = [&[][..]; COLUMNS];
    let mut count = 0;
    let mut rest = Some(record);
    let mut action_is_joined = false;
    let mut room = room.iter_mut();
    while let Some(text) = rest {
        let joined = room.next().ok_or(SHAPE)?;
        joined.clear();
        let column = next_column(text, joined)?;
        action_is_joined |= count == 1 && column.is_joined;
        (columns[count], rest) = (column.text, column.behind);
        count += 1;
    }
    let [thread, action, third, fourth] = columns;
    if first && is_header(thread, action) {
        return Ok(None);
    }
    // The word is looked at only: a quoted one that has to be put together is none.
    if count == 1 || action_is_joined {
        return Err(SHAPE);
    }
    if count == COLUMNS {
        return Ok(Some(Fields {
            thread,
            word: action,
            target: third,
            site: Some(fourth),
        }));
    }
    let (word, target) = split_action(action).map_err(|_| SHAPE)?;
    let has_target = target.is_some() || takes_nothing(word);
    let (target, site) = match has_target {
        true => (target.unwrap_or_default(), third),
        false => (third, &[][..]),
    };
    Ok(Some(Fields {
        thread,
        word,
        target,
        site: Some(site),
    }))
}

/// Whether a line is the header of a table.
pub(crate) fn is_header_line(line: &[u8]) -> bool {
    let mut columns = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let (first, second) = (columns.next(), columns.next());
    is_header(first.unwrap_or_default(), second.unwrap_or_default())
}

fn is_header(first: &[u8], second: &[u8]) -> bool {
    let action = second.get(..2).unwrap_or_default();
    first.eq_ignore_ascii_case(b"thread") && action.eq_ignore_ascii_case(b"op")
}

fn takes_nothing(text: &[u8]) -> bool {
    let mut words = WORDS.iter();
    words.any(|word| word.takes == Takes::Nothing && word.word.as_bytes() == text)
}

struct Column<'a> {
    text: &'a [u8],
    /// What comes behind the comma that ends it.
    behind: Option<&'a [u8]>,
    /// Whether the text does not stand there as it is meant.
    is_joined: bool,
}

#[inline]
fn next_column<'a>(text: &'a [u8], joined: &'a mut Vec<u8>) -> Result<Column<'a>, LineProblem> {
    let start = text.trim_ascii_start();
    if start.first() == Some(&b'"') {
        return quoted_column(&start[1..], joined);
    }
    let (text, behind) = match memchr::memchr(b',', text) {
        Some(comma) => (&text[..comma], Some(&text[comma + 1..])),
        None => (text, None),
    };
    Ok(Column {
        text: text.trim_ascii(),
        behind,
        is_joined: false,
    })
}

/// The same, behind the opening quote.
fn quoted_column<'a>(text: &'a [u8], joined: &'a mut Vec<u8>) -> Result<Column<'a>, LineProblem> {
    let mut rest = text;
    loop {
        let quote = memchr::memchr(b'"', rest).ok_or(LineProblem::OpenQuote)?;
        let (piece, behind) = (&rest[..quote], &rest[quote + 1..]);
        // Two quotes are one, inside.
        if let Some(behind) = behind.strip_prefix(b"\"") {
            joined.extend_from_slice(&rest[..=quote]);
            rest = behind;
            continue;
        }
        let behind = behind.trim_ascii_start();
        let behind = match behind.split_first() {
            None => None,
            Some((b',', behind)) => Some(behind),
            Some(_) => return Err(SHAPE),
        };
        let is_joined = !joined.is_empty();
        let text = match is_joined {
            true => {
                joined.extend_from_slice(piece);
                joined
            }
            false => piece,
        };
        return Ok(Column {
            text,
            behind,
            is_joined,
        });
    }
}

/// A name as it stands in a record.
pub(super) fn escape(name: &str) -> Box<[u8]> {
    let bytes = name.as_bytes();
    let plain = bytes.trim_ascii().len() == bytes.len()
        && !bytes.iter().any(|byte| b",\"\r\n#".contains(byte));
    match plain {
        true => bytes.into(),
        false => format!("\"{}\"", name.replace('"', "\"\""))
            .into_bytes()
            .into(),
    }
}
