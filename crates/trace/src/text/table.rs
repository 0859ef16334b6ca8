//! A table of events: `thread,op,target,loc`, or `thread,op(target),loc`, an event a record, quoted as RFC 4180
//! says. Our own: RAPID's CSV has a column for each thread.

use std::borrow::Cow;

use super::builder::Fields;
use super::rapid_std::split_action;
use crate::error::LineProblem;
use deadheat_model::words::{Takes, WORDS};

const SHAPE: LineProblem = LineProblem::Expected("thread,op,target,loc or thread,op(target),loc");

/// What the columns are called.
pub(super) const HEADER: &str = "thread,op,target,loc\n";

/// The most columns that a record has.
const COLUMNS: usize = 4;

/// The fields of a record; none if it is empty, a comment, or the first one and a header.
#[inline]
pub(super) fn split(record: &[u8], first: bool) -> Result<Option<Fields<'_>>, LineProblem> {
    let start = record.trim_ascii_start();
    if start.is_empty() || start[0] == b'#' {
        return Ok(None);
    }
    let mut columns: [Cow<'_, [u8]>; COLUMNS] = Default::default();
    let mut count = 0;
    let mut rest = Some(record);
    while let Some(text) = rest {
        let column = columns.get_mut(count).ok_or(SHAPE)?;
        (*column, rest) = next_column(text)?;
        count += 1;
    }
    if first && is_header(&columns[0], &columns[1]) {
        return Ok(None);
    }
    let [thread, action, third, fourth] = columns;
    // The word is looked at only: a quoted one that has to be put together is none.
    let Cow::Borrowed(action) = action else {
        return Err(SHAPE);
    };
    if count == 1 {
        return Err(SHAPE);
    }
    if count == COLUMNS {
        return Ok(Some(Fields {
            thread,
            word: action,
            target: Some(third),
            site: fourth,
        }));
    }
    let (word, target) = split_action(action).map_err(|_| SHAPE)?;
    let has_target = target.is_some() || takes_nothing(word);
    Ok(Some(match has_target {
        true => Fields {
            thread,
            word,
            target: target.map(Cow::Borrowed),
            site: third,
        },
        false => Fields {
            thread,
            word,
            target: Some(third),
            site: Cow::default(),
        },
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

/// A column, and what comes behind the comma that ends it.
type Column<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>);

#[inline]
fn next_column(text: &[u8]) -> Result<Column<'_>, LineProblem> {
    let start = text.trim_ascii_start();
    if start.first() == Some(&b'"') {
        return quoted_column(&start[1..]);
    }
    Ok(match memchr::memchr(b',', text) {
        Some(comma) => (
            Cow::Borrowed(text[..comma].trim_ascii()),
            Some(&text[comma + 1..]),
        ),
        None => (Cow::Borrowed(text.trim_ascii()), None),
    })
}

/// The same, behind the opening quote.
fn quoted_column(text: &[u8]) -> Result<Column<'_>, LineProblem> {
    let mut column = Cow::Borrowed(&[][..]);
    let mut rest = text;
    loop {
        let quote = memchr::memchr(b'"', rest).ok_or(LineProblem::OpenQuote)?;
        let (piece, behind) = (&rest[..quote], &rest[quote + 1..]);
        match column.is_empty() {
            true => column = Cow::Borrowed(piece),
            false => column.to_mut().extend_from_slice(piece),
        }
        // Two quotes are one, inside.
        if let Some(behind) = behind.strip_prefix(b"\"") {
            column.to_mut().push(b'"');
            rest = behind;
            continue;
        }
        let behind = behind.trim_ascii_start();
        return match behind.split_first() {
            None => Ok((column, None)),
            Some((b',', behind)) => Ok((column, Some(behind))),
            Some(_) => Err(SHAPE),
        };
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
