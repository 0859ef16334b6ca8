//! STD: `THREAD|op(TARGET)|LOC`, an event a line.
//!
//! A name is any text. What would be taken for something else is written as in an address on the web:
//! `%7C` for a bar, and so on for the few characters in [`ESCAPED`]; any other `%` is itself.

use super::builder::Fields;
use super::parser::Room;
use crate::error::LineProblem;

const SHAPE: LineProblem = LineProblem::Expected("THREAD|op(TARGET)|LOC");

/// What cannot stand in a name as it is.
const ESCAPED: [(u8, &[u8; 3]); 8] = [
    (b',', b"%2C"),
    (b'|', b"%7C"),
    (b'\n', b"%0A"),
    (b'\r', b"%0D"),
    (b'\t', b"%09"),
    (b' ', b"%20"),
    (b'#', b"%23"),
    (b'%', b"%25"),
];

/// The fields of a line; none if it is empty or a comment. There is no `%` in it unless there may be escapes.
#[inline(always)]
pub(super) fn split<'a>(
    line: &'a [u8],
    escapes: bool,
    room: &'a mut Room,
) -> Result<Option<Fields<'a>>, LineProblem> {
    let line = line.trim_ascii();
    if line.is_empty() || line[0] == b'#' {
        return Ok(None);
    }
    let bar = memchr::memchr(b'|', line).ok_or(SHAPE)?;
    let (thread, rest) = (line[..bar].trim_ascii_end(), &line[bar + 1..]);
    let (action, site) = match memchr::memchr(b'|', rest) {
        Some(bar) => (&rest[..bar], rest[bar + 1..].trim_ascii_start()),
        None => (rest, &[][..]),
    };
    let (word, target) = split_action(action)?;
    let mut fields = Fields {
        thread,
        word,
        target: target.unwrap_or_default(),
        site: Some(site),
    };
    if escapes && memchr::memchr(b'%', line).is_some() {
        let [a, b, c, _] = room;
        fields.thread = unescape(thread, a);
        fields.target = unescape(fields.target, b);
        fields.site = Some(unescape(site, c));
    }
    Ok(Some(fields))
}

/// `op(TARGET)` or `op`.
#[inline]
pub(super) fn split_action(action: &[u8]) -> Result<(&[u8], Option<&[u8]>), LineProblem> {
    let action = action.trim_ascii();
    let Some(open) = action.iter().position(|&byte| byte == b'(') else {
        return Ok((action, None));
    };
    let target = action[open + 1..].strip_suffix(b")").ok_or(SHAPE)?;
    Ok((action[..open].trim_ascii_end(), Some(target.trim_ascii())))
}

/// A name as it is meant.
pub(super) fn unescape<'a>(name: &[u8], plain: &'a mut Vec<u8>) -> &'a [u8] {
    plain.clear();
    let mut rest = name;
    while let Some((&first, behind)) = rest.split_first() {
        let escape = ESCAPED
            .iter()
            .find(|(_, escape)| rest.starts_with(&escape[..]));
        match escape {
            Some((byte, escape)) if first == b'%' => {
                plain.push(*byte);
                rest = &rest[escape.len()..];
            }
            _ => {
                plain.push(first);
                rest = behind;
            }
        }
    }
    plain
}

/// A name as it stands in a line, where commas may mean something.
pub(super) fn escape(name: &str, commas: bool) -> Box<[u8]> {
    let mut escaped = Vec::with_capacity(name.len());
    let bytes = name.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let at_an_end = at == 0 || at + 1 == bytes.len();
        // White space is trimmed, and a comment begun, at the ends only.
        let must = match byte {
            b' ' | b'#' => at_an_end,
            b',' => commas,
            _ => true,
        };
        match ESCAPED.iter().find(|(special, _)| *special == byte) {
            Some((_, escape)) if must => escaped.extend_from_slice(&escape[..]),
            _ => escaped.push(byte),
        }
    }
    escaped.into()
}
