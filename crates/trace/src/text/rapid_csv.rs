//! RAPID's CSV: an event a line, in the column of its thread. `r(V1),,` is thread `T0`, the first of three;
//! `,w(V1),` is `T1`.
//!
//! Names are written as in [STD](super::rapid_std), commas as `%2C`. The place of an event is its line.

use std::borrow::Cow;

use deadheat_model::words::{Table, Takes, WORDS};

use super::MAX_LINE;
use super::builder::{Fields, SEMAPHORE};
use super::rapid_std::{split_action, unescape};
use crate::error::LineProblem;

const SHAPE: LineProblem = LineProblem::Expected(
    "one event, in the column of its thread, as in `r(V1),,` (a table of events begins with the line \
     `thread,op,target,loc`)",
);

const COLUMN: LineProblem =
    LineProblem::Expected("a thread by its column: T0 or 0 for the first, T1 or 1 for the second");

/// No line has more columns.
const MAX_COLUMN: u64 = MAX_LINE as u64;

/// The fields of a line; none if it is empty or a comment.
pub(super) fn split(line: &[u8], number: u64) -> Result<Option<Fields<'_>>, LineProblem> {
    let line = line.trim_ascii();
    if line.first() == Some(&b'#') {
        return Ok(None);
    }
    let columns = line.split(|&byte| byte == b',').enumerate();
    let mut events = columns.filter(|(_, text)| !text.trim_ascii().is_empty());
    let (column, event) = match (events.next(), events.next()) {
        (None, _) => return Ok(None),
        (Some(event), None) => event,
        (Some(_), Some(_)) => return Err(SHAPE),
    };
    let declares = event.trim_ascii_start().starts_with(SEMAPHORE.as_bytes());
    let bar = memchr::memrchr(b'|', event).filter(|_| declares);
    let (event, tokens) = match bar {
        Some(bar) => (&event[..bar], Some(event[bar + 1..].trim_ascii())),
        None => (event, None),
    };
    let (word, target) = split_action(event).map_err(|_| SHAPE)?;
    let target = target.map(|target| match memchr::memchr(b'%', target) {
        Some(_) => unescape(target),
        None => Cow::Borrowed(target),
    });
    let of_thread = WORDS
        .iter()
        .any(|known| known.word.as_bytes() == word && known.takes == Takes::Named(Table::Strands));
    let target = match target {
        // What is no column would be a thread that does nothing.
        Some(target) if of_thread => {
            let digits = target.strip_prefix(b"T").unwrap_or(&target);
            let column = super::builder::number(digits, MAX_COLUMN).ok_or(COLUMN)?;
            Some(Cow::Owned(thread(column as usize)))
        }
        target => target,
    };
    Ok(Some(Fields {
        thread: match tokens {
            Some(_) => Cow::default(),
            None => Cow::Owned(thread(column)),
        },
        word,
        target,
        site: match tokens {
            Some(tokens) => Cow::Borrowed(tokens),
            None => Cow::Owned(number.to_string().into_bytes()),
        },
    }))
}

/// What the thread of a column is called.
pub(super) fn thread(column: usize) -> Vec<u8> {
    format!("T{column}").into_bytes()
}

/// The columns of threads with these names: their numbers if they are called `T0`, `T1` and so on, otherwise
/// one after the other.
pub(super) fn columns(threads: &[String]) -> Vec<usize> {
    let mut taken = vec![false; 2 * threads.len() + 16];
    let mut by_name = |name: &String| {
        let number: usize = name.strip_prefix('T')?.parse().ok()?;
        let is_its_name = thread(number) == name.as_bytes();
        let is_new = !std::mem::replace(taken.get_mut(number)?, true);
        (is_its_name && is_new).then_some(number)
    };
    let by_name: Option<Vec<usize>> = threads.iter().map(&mut by_name).collect();
    by_name.unwrap_or_else(|| (0..threads.len()).collect())
}
