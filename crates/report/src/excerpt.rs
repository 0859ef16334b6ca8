//! Pieces of source files with what is said about them, as compilers show them.

use std::ops::Range;
use std::rc::Rc;

use annotate_snippets::{AnnotationKind, Group, Snippet};

use crate::sources::{SourceFile, Sources, parts};

/// A line of more bytes than this is not shown.
const LONGEST_LINE: usize = 1000;

/// A piece of a source file to be underlined.
pub struct Mark {
    path: String,
    file: Rc<SourceFile>,
    span: Range<usize>,
    label: String,
}

impl Mark {
    /// What to underline at `dir/file.c:12:7`, if that can be read: the variable if the line names it, else the word at
    /// the column.
    pub fn new(sources: &Sources, place: &str, variable: &str, label: String) -> Option<Mark> {
        let (path, line, column) = parts(place);
        let file = sources.file(path)?;
        let text = file.line(line?)?;
        if text.len() > LONGEST_LINE {
            return None;
        }
        let start = file.start(line?)?;
        let variable = variable.split(['+', '[', ' ']).next().unwrap_or_default();
        let span = span(text, column, variable);
        Some(Mark {
            path: path.to_string(),
            span: start + span.start..start + span.end,
            file,
            label,
        })
    }

    /// The marks of a race's two accesses: two, or one if they share a line, or fewer.
    pub fn pair(first: Option<Mark>, second: Option<Mark>) -> Vec<Mark> {
        match (first, second) {
            (Some(mut first), Some(second))
                if first.path == second.path && first.span == second.span =>
            {
                if first.label != second.label {
                    first.label = format!("{}, {}", first.label, second.label);
                }
                vec![first]
            }
            (first, second) => first.into_iter().chain(second).collect(),
        }
    }
}

/// Shows marks below what a group says already, those of one file together.
pub fn shown<'m>(mut group: Group<'m>, marks: &'m [Mark]) -> Group<'m> {
    let mut files: Vec<Vec<&Mark>> = Vec::new();
    for mark in marks {
        match files.iter_mut().find(|file| file[0].path == mark.path) {
            Some(file) => file.push(mark),
            None => files.push(vec![mark]),
        }
    }
    for marks in files {
        let snippet = Snippet::source(&marks[0].file.text).path(marks[0].path.as_str());
        let annotations = marks.iter().map(|mark| {
            let span = AnnotationKind::Primary.span(mark.span.clone());
            span.label(mark.label.as_str())
        });
        group = group.element(snippet.annotations(annotations));
    }
    group
}

/// What to underline in a line: the variable if the line names it, else the word at the column.
pub fn span(text: &str, column: Option<u32>, variable: &str) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let name = variable.rsplit("::").next().unwrap_or(variable);
    let column = text
        .char_indices()
        .nth(column.unwrap_or(1).saturating_sub(1) as usize)
        .map_or(0, |(at, _)| at);
    let occurrences = match name.chars().all(is_word) && !name.is_empty() {
        true => text.match_indices(name).collect(),
        false => Vec::new(),
    };
    let whole = occurrences.into_iter().filter(|(at, _)| {
        let before = text[..*at].chars().next_back().is_none_or(|c| !is_word(c));
        let after = text[at + name.len()..]
            .chars()
            .next()
            .is_none_or(|c| !is_word(c));
        before && after
    });
    if let Some((at, _)) = whole.min_by_key(|(at, _)| at.abs_diff(column)) {
        return at..at + name.len();
    }
    let indent = text.len() - text.trim_start().len();
    let at = column.max(indent).min(text.len());
    let rest = &text[at..];
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    if word == 0
        && let Some(assigned) = assigned(text, at)
    {
        return assigned;
    }
    // Not at a word (`*p = 1`, `(…)`): the rest of the line.
    let length = if word == 0 {
        rest.trim_end().len()
    } else {
        word
    };
    at..at + length
}

/// What the operator at `at` assigns to, which is where compilers put the column of a write: `list->value` of
/// `list->value = 3`.
fn assigned(text: &str, at: usize) -> Option<Range<usize>> {
    let operator =
        text[at..].trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let steps = ["++", "--"].iter().any(|step| text[at..].starts_with(step));
    let assigns = operator.starts_with('=') && !operator.starts_with("==");
    if !assigns && !steps {
        return None;
    }
    let end = text[..at].trim_end().len();
    let (mut start, mut depth) = (end, 0);
    for (index, c) in text[..end].char_indices().rev() {
        match c {
            ']' | ')' => depth += 1,
            '[' | '(' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            _ if c.is_alphanumeric() || matches!(c, '_' | '.' | ':') => {}
            '>' if text[..index].ends_with('-') => {}
            '-' if text[index..].starts_with("->") => {}
            _ => break,
        }
        start = index;
    }
    (depth == 0 && start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_underlined() {
        let source = "int x;\n  xx = x + 1;\n\t*p = 2;\n  call(y);\n";
        let sources = Sources::with("a.c", source);
        let marked = |place: &str, variable| {
            let mark = Mark::new(&sources, place, variable, String::new());
            mark.map(|mark| &source[mark.span])
        };
        assert_eq!(marked("a.c:2:6", "x"), Some("x"));
        assert_eq!(marked("a.c:2:6", "x+12"), Some("x"));
        assert_eq!(span("  xx = x + 1;", Some(6), "x"), 7..8);
        assert_eq!(marked("a.c:2:3", "heap block of 4 bytes"), Some("xx"));
        assert_eq!(marked("a.c:3:2", "heap block of 4 bytes"), Some("*p = 2;"));
        assert_eq!(marked("a.c:4", "z"), Some("call"));
        assert_eq!(marked("a.c:4:900", "ns::y"), Some("y"));
        assert_eq!(marked("a.c:99:1", "x"), None);
        assert_eq!(marked("b.c:1:1", "x"), None);
        assert_eq!(marked("7", "x"), None);
        for (line, underlined) in [
            ("  list->value = 3;", "list->value"),
            ("  a[f(i, 2)].b += 1; c();", "a[f(i, 2)].b"),
            ("  p->n++;", "p->n"),
            ("  x = y == 2;", "== 2;"),
            ("  ) = 2;", "= 2;"),
            ("é.ü <<= 1", "é.ü"),
        ] {
            let operator = line.find(underlined).map_or(0, |at| at + underlined.len());
            let column = match underlined.contains('=') {
                true => line.find(underlined).unwrap(),
                false => operator + line[operator..].find(|c| c != ' ').unwrap(),
            };
            let column = line[..column].chars().count() as u32 + 1;
            assert_eq!(&line[span(line, Some(column), "heap block")], underlined);
        }
        assert_eq!(span("", Some(3), "x"), 0..0);
        assert_eq!(span("ä", Some(9), ""), 0..2);
    }
}
