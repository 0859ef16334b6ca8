//! What a terminal obeys, kept from it: names and lines of sources come from whoever wrote the program or the trace.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a terminal would do something on this character instead of showing it: move its cursor, change its state, or
/// write in another direction.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

/// A name without what a terminal would obey.
pub(crate) fn harmless_name(name: &str) -> String {
    name.replace(is_obeyed, "\u{fffd}")
}

/// A text of lines, tabs and colours without anything else that a terminal would obey.
pub fn harmless_text(text: &str) -> Cow<'_, str> {
    let is_dangerous = |(at, c): (usize, char)| match c {
        '\n' | '\t' => false,
        '\x1b' => !is_color(&text[at..]),
        c => is_obeyed(c),
    };
    if !text.char_indices().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let harmless = text
        .char_indices()
        .map(|(at, c)| match is_dangerous((at, c)) {
            true => '\u{fffd}',
            false => c,
        });
    Cow::Owned(harmless.collect())
}

/// Whether a text begins with a change of colour.
fn is_color(text: &str) -> bool {
    let parameters = text.strip_prefix("\x1b[").map(|rest| {
        let is_parameter = |c: char| c.is_ascii_digit() || c == ';';
        rest.trim_start_matches(is_parameter)
    });
    parameters.is_some_and(|rest| rest.starts_with('m'))
}

/// JSON on its way to a file or a terminal: what a terminal would obey is written as JSON's escapes, which mean the same.
/// serde_json escapes the rest of the control characters itself, and writes each piece of a text at once.
pub(crate) struct EscapedJson<W>(pub W);

impl<W: Write> Write for EscapedJson<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let is_plain = piece.iter().all(|byte| *byte < 0x7f);
        let text = match is_plain {
            true => None,
            false => std::str::from_utf8(piece).ok(),
        };
        let Some(text) = text else {
            return self.0.write(piece);
        };
        let mut rest = text;
        while let Some(at) = rest.find(|c| is_obeyed(c) && !c.is_ascii_whitespace()) {
            let (before, after) = rest.split_at(at);
            self.0.write_all(before.as_bytes())?;
            let mut characters = after.chars();
            let obeyed = characters.next().map_or(0, u32::from);
            write!(self.0, "\\u{obeyed:04x}")?;
            rest = characters.as_str();
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind: C0, delete, C1, marks and overrides of direction.
    const OBEYED: &str = "a\u{1b}\u{7f}\u{9b}31m\u{61c}\u{200f}\u{202e}\u{2067}ä";

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_in_a_name() {
        assert_eq!(
            harmless_name(OBEYED),
            "a\u{fffd}\u{fffd}\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}ä"
        );
        assert_eq!(harmless_name("x\n\ty"), "x\u{fffd}\u{fffd}y");
    }

    #[test]
    fn a_text_keeps_its_lines_and_colours_only() {
        let colored = "\x1b[1;31merror\x1b[0m:\tä\n";
        assert!(matches!(harmless_text(colored), Cow::Borrowed(_)));
        assert_eq!(
            harmless_text("\x1b[2Jx\x1b]0;title\x07\u{9b}2J\r"),
            "\u{fffd}[2Jx\u{fffd}]0;title\u{fffd}\u{fffd}2J\u{fffd}"
        );
        assert_eq!(harmless_text("\u{202e}x\x1b"), "\u{fffd}x\u{fffd}");
    }

    #[test]
    fn json_means_the_same_without_what_a_terminal_obeys() {
        let mut written = Vec::new();
        serde_json::to_writer_pretty(EscapedJson(&mut written), &[OBEYED])
            .expect("a vector takes everything");
        let written = String::from_utf8(written).expect("JSON is UTF-8");
        assert_eq!(written.find(|c| is_obeyed(c) && c != '\n'), None);
        let read: Vec<String> = serde_json::from_str(&written).expect("it is JSON");
        assert_eq!(read, [OBEYED]);
    }
}
