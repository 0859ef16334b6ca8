//! Pieces of source files with what is said about them, as compilers show them.

use std::ops::Range;
use std::rc::Rc;

use annotate_snippets::{AnnotationKind, Group, Snippet};
use deadheat_model::Finding;
use deadheat_model::finding::{Act, Place, stable_name};

use crate::sources::{SourceFile, Sources};
use crate::words;

/// Of a line of more bytes than this, only a piece that is known is shown.
const LONGEST_LINE: usize = 1000;

/// A piece of a source file to be underlined.
pub struct Mark {
    path: String,
    file: Rc<SourceFile>,
    /// Whether its line is too long to be shown whole.
    is_long: bool,
    span: Range<usize>,
    label: String,
}

impl Mark {
    /// What to underline at a place, if that can be read: what stands there, where that is known; else the expression at
    /// the column; without a column the variable, if the line names it.
    pub fn new(sources: &Sources, place: &Place, variable: &str, label: String) -> Option<Mark> {
        let path = place.file()?;
        let file = sources.file(path)?;
        let line = place.line()?;
        let text = file.line(line)?;
        let span = match place.span() {
            Some((start, length)) => {
                let end = (start as usize + length as usize).min(file.text.len());
                end.min(start as usize)..end
            }
            None if text.len() > LONGEST_LINE => return None,
            None => {
                let start = file.start(line)?;
                let span = span(text, place.column(), variable);
                start + span.start..start + span.end
            }
        };
        Some(Mark {
            path: path.to_string(),
            is_long: text.len() > LONGEST_LINE,
            span,
            file,
            label,
        })
    }

    /// What each side of a finding does, where it stands; sides that share a place have one mark.
    pub fn of_finding(sources: &Sources, finding: &Finding, most: usize) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        for side in finding.sides.iter().take(most) {
            let variable = &finding.variable.name;
            let Some(mark) = Mark::new(sources, &side.place, variable, words::label(side)) else {
                continue;
            };
            mark.add_to(&mut marks);
        }
        marks
    }

    /// Where each strand of a deadlock took what it has, and where it waits.
    pub fn of_circle(sources: &Sources, deadlock: &Finding) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        for side in &deadlock.sides {
            for held in side.locks.iter() {
                let label = format!("{} takes `{}`", words::name(side), held.name);
                let taken = held.taken.as_ref();
                let mark = taken.and_then(|at| Mark::new(sources, at, &held.name, label));
                mark.into_iter().for_each(|mark| mark.add_to(&mut marks));
            }
            let name = match &side.act {
                Act::Want { lock, .. } => lock,
                _ => "",
            };
            let mark = Mark::new(sources, &side.place, name, words::wants(side));
            mark.into_iter().for_each(|mark| mark.add_to(&mut marks));
        }
        marks
    }

    /// Adds it to others: what is said of one piece is said together.
    fn add_to(self, marks: &mut Vec<Mark>) {
        let same = |known: &&mut Mark| known.path == self.path && known.span == self.span;
        match marks.iter_mut().find(same) {
            Some(known) if known.label == self.label => {}
            Some(known) => known.label = format!("{}, {}", known.label, self.label),
            None => marks.push(self),
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
        let snippet = || Snippet::source(marks[0].file.text.as_str()).path(marks[0].path.as_str());
        let annotations = marks.iter().map(|mark| {
            let span = AnnotationKind::Primary.span(mark.span.clone());
            span.label(mark.label.as_str())
        });
        group = match marks.iter().any(|mark| mark.is_long) {
            false => group.element(snippet().annotations(annotations)),
            // Two marks in a line as long as a book would show all that lies between them.
            true => group.elements(annotations.map(|mark| snippet().annotation(mark))),
        };
    }
    group
}

/// What to underline in a line: the expression at the column, which is where compilers put the access; without a column,
/// the variable if the line names it, else the first word.
pub fn span(text: &str, column: Option<u32>, variable: &str) -> Range<usize> {
    let indent = text.len() - text.trim_start().len();
    // gfortran names the end of the statement.
    let is_end = |column: &u32| *column as usize == text.trim_end().chars().count();
    let Some(column) = column.filter(|column| !is_end(column)) else {
        return word_named(text, variable).unwrap_or_else(|| expression(text, indent));
    };
    let at = text.char_indices().nth(column.saturating_sub(1) as usize);
    let at = at.map_or(text.len(), |(at, _)| at).max(indent);
    assigned(text, at).unwrap_or_else(|| expression(text, at))
}

/// The first word of a line that is a variable's name, or that of its last member.
fn word_named(text: &str, variable: &str) -> Option<Range<usize>> {
    let name = stable_name(variable);
    let name = name.rsplit(['.', ':', '%']).next().unwrap_or_default();
    let name = name.trim_end_matches("[]");
    if name.is_empty() || !name.chars().all(is_word) {
        return None;
    }
    let mut occurrences = text.match_indices(name);
    let (at, _) = occurrences.find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })?;
    Some(at..at + name.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The expression that names memory at a column: `list->value`, `a[f(i)].b`, `*p`. Compilers put the column at its start, or
/// at the `->`, `.` or `[` that makes the access.
fn expression(text: &str, at: usize) -> Range<usize> {
    let at = at.min(text.len());
    let selects = |rest: &str| rest.starts_with("->") || rest.starts_with(['.', '[']);
    let start = match selects(&text[at..]) {
        true => named_before(text, at).map_or(at, |name| name.start),
        false => at,
    };
    let prefix = text[start..].len() - text[start..].trim_start_matches(['*', '&', '!']).len();
    let mut end = start + prefix;
    end += text[end..]
        .find(|c| !is_word(c))
        .unwrap_or(text.len() - end);
    while let Some(more) = selected(&text[end..]) {
        end += more;
    }
    match end > start + prefix {
        true => start..end,
        // No name stands here (`(…)`): the rest of the line.
        false => at..text.trim_end().len().max(at),
    }
}

/// How long a selection is that a text starts with: `.name`, `->name`, `::name`, `[…]`.
fn selected(text: &str) -> Option<usize> {
    if text.starts_with('[') {
        return balanced(text);
    }
    let sign = ["->", "::", "."]
        .iter()
        .find(|sign| text.starts_with(**sign))?;
    let name = text[sign.len()..].chars().take_while(|&c| is_word(c));
    let length: usize = name.map(char::len_utf8).sum();
    (length > 0).then_some(sign.len() + length)
}

/// How long the brackets are that a text starts with.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(index + c.len_utf8());
        }
    }
    None
}

/// What the operator at `at` assigns to, which is where compilers put the column of a write: `list->value` of
/// `list->value = 3`.
fn assigned(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at.min(text.len())..];
    let operator = rest.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let steps = rest.starts_with("++") || rest.starts_with("--");
    let assigns = operator.starts_with('=') && !operator.starts_with("==");
    if !assigns && !steps {
        return None;
    }
    // `++n` is written after its operator.
    named_before(text, at).or_else(|| steps.then(|| at..expression(text, at + 2).end))
}

/// The expression that ends before a column.
fn named_before(text: &str, at: usize) -> Option<Range<usize>> {
    let end = text[..at].trim_end().len();
    let (mut start, mut depth) = (end, 0);
    for (index, c) in text[..end].char_indices().rev() {
        match c {
            ']' | ')' => depth += 1,
            '[' | '(' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            _ if is_word(c) || matches!(c, '.' | ':') => {}
            '>' if text[..index].ends_with('-') => {}
            '-' if text[index..].starts_with("->") => {}
            _ => break,
        }
        start = index;
    }
    if depth > 0 || start == end {
        return None;
    }
    // `*p = 1` writes where `p` points; `a * b = 1` is nothing that a program has.
    let before = text[..start].trim_end_matches('*');
    if !before.ends_with(|c| is_word(c) || c == ')' || c == ']') {
        start = before.len();
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_underlined() {
        let source = "int x;\n  xx = x + 1;\n\t*p = 2;\n  call(y);\n";
        let sources = Sources::with("a.c", source);
        let marked = |place: &str, variable| {
            let mark = Mark::new(&sources, &Place::parse(place), variable, String::new());
            mark.map(|mark| &source[mark.span])
        };
        assert_eq!(marked("a.c:2:8", "x"), Some("x"));
        assert_eq!(marked("a.c:2:6", "*"), Some("xx"));
        assert_eq!(marked("a.c:2", "x+12"), Some("x"));
        assert_eq!(marked("a.c:2", "a.x"), Some("x"));
        assert_eq!(marked("a.c:2:3", "heap block of 4 bytes"), Some("xx"));
        assert_eq!(marked("a.c:3:2", "x"), Some("*p"));
        assert_eq!(marked("a.c:3:5", "x"), Some("*p"));
        assert_eq!(marked("a.c:4", "z"), Some("call"));
        assert_eq!(marked("a.c:4", "ns::y"), Some("y"));
        assert_eq!(marked("a.c:4:900", "ns::y"), Some(""));
        assert_eq!(marked("a.c:99:1", "x"), None);
        assert_eq!(marked("b.c:1:1", "x"), None);
        assert_eq!(marked("7", "x"), None);
        let exact = Place::new("a.c", 2, Some(3)).spanning(9, 6);
        let mark = Mark::new(&sources, &exact, "y", String::new()).unwrap();
        assert_eq!(&source[mark.span], "xx = x");
        // The expression at the column, not another one of that name.
        let line = "  total = p->hits + q->hits[i + 1].n; f(x)";
        for (column, underlined) in [
            (9, "total"),
            (11, "p->hits"),
            (12, "p->hits"),
            (21, "q->hits[i + 1].n"),
            (28, "q->hits[i + 1].n"),
            (39, "f"),
        ] {
            assert_eq!(
                &line[span(line, Some(column), "hits")],
                underlined,
                "{column}"
            );
        }
        assert_eq!(
            &"  ++count;"[span("  ++count;", Some(3), "count")],
            "++count"
        );
        for (line, underlined) in [
            ("  list->value = 3;", "list->value"),
            ("  a[f(i, 2)].b += 1; c();", "a[f(i, 2)].b"),
            ("  p->n++;", "p->n"),
            ("  x = y == 2;", "== 2;"),
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
        assert_eq!(span("ä", Some(9), ""), 2..2);
    }
}
