//! RAPID's CSV: an event a line, in the column of its thread. `r(V1),,` is thread `T0`, the first of three;
//! `,w(V1),` is `T1`.
//!
//! Names are written as in [STD](super::rapid_std), commas as `%2C`. The place of an event is its line.

use deadheat_model::words::{Table, Takes};

use super::builder::{Fields, SEMAPHORE, find};
use super::chunks::MAX_LINE;
use super::parser::Room;
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
#[inline(always)]
pub(super) fn split<'a>(
    line: &'a [u8],
    room: &'a mut Room,
) -> Result<Option<Fields<'a>>, LineProblem> {
    let line = line.trim_ascii();
    if line.first() == Some(&b'#') {
        return Ok(None);
    }
    let Some((column, event)) = only_column(line)? else {
        return Ok(None);
    };
    let declares = event.first() == Some(&b's') && event.starts_with(SEMAPHORE.as_bytes());
    let bar = memchr::memrchr(b'|', event).filter(|_| declares);
    let (event, tokens) = match bar {
        Some(bar) => (&event[..bar], Some(event[bar + 1..].trim_ascii())),
        None => (event, None),
    };
    let (word, target) = split_action(event).map_err(|_| SHAPE)?;
    let [thread, plain, of_thread, _] = room;
    let mut target = target.map(|target| match memchr::memchr(b'%', target) {
        Some(_) => unescape(target, plain),
        None => target,
    });
    if let Some(name) = target
        && is_of_thread(word)
    {
        // What is no column would be a thread that does nothing.
        let digits = name.strip_prefix(b"T").unwrap_or(name);
        let column = super::builder::number(digits, MAX_COLUMN).ok_or(COLUMN)?;
        target = Some(thread_in(column as usize, of_thread));
    }
    Ok(Some(Fields {
        thread: match tokens {
            Some(_) => &[],
            None => thread_in(column, thread),
        },
        word,
        target: target.unwrap_or_default(),
        site: tokens,
    }))
}

/// The only column with something in it, and its number; none if there is none.
#[inline(always)]
fn only_column(line: &[u8]) -> Result<Option<(usize, &[u8])>, LineProblem> {
    let is_empty = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
    let Some(start) = line.iter().position(|byte| !is_empty(byte)) else {
        return Ok(None);
    };
    let (before, rest) = line.split_at(start);
    let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
    let (event, behind) = rest.split_at(end);
    if !behind.iter().all(is_empty) {
        return Err(SHAPE);
    }
    let column = before.iter().filter(|&&byte| byte == b',').count();
    Ok(Some((column, event)))
}

/// Whether what is done is done to a thread.
fn is_of_thread(word: &[u8]) -> bool {
    find(word).is_ok_and(|known| known.word.takes == Takes::Named(Table::Strands))
}

/// What the thread of a column is called.
pub(super) fn thread(column: usize) -> Vec<u8> {
    let mut name = Vec::new();
    thread_in(column, &mut name);
    name
}

/// The same, written where there is room.
fn thread_in(column: usize, name: &mut Vec<u8>) -> &[u8] {
    name.clear();
    name.push(b'T');
    if column >= 10 {
        name.extend_from_slice(column.to_string().as_bytes());
    } else {
        name.push(b'0' + column as u8);
    }
    name
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
