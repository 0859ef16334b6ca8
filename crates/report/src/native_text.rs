//! Races of C and C++ programs as text, shown in their source.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use deadheat_native::{Frame, NativeAccess, NativeRace, Place, Survey};

use crate::native::RunReport;
use crate::openmp;
use crate::style::{counted, grouped};

/// A source file larger than this is not shown.
const LARGEST_SOURCE: u64 = 16 << 20;

/// How many calls of a stack are shown.
const MAX_CALLS: usize = 12;

/// Shows races in the source files they are about, each of which is read once.
#[derive(Default)]
pub struct Excerpts {
    sources: HashMap<String, Option<Rc<str>>>,
}

/// A piece of a source file to mark.
struct Mark {
    path: String,
    source: Rc<str>,
    span: Range<usize>,
    label: String,
}

impl Excerpts {
    /// All races from number `from` on, at most `most` of them in full, and what the run proves.
    pub fn text(
        &mut self,
        survey: &Survey,
        report: &RunReport,
        from: usize,
        most: usize,
    ) -> String {
        let mut text = String::new();
        let new = &survey.races[from.min(survey.races.len())..];
        for race in new.iter().take(most) {
            text += &self.race(race);
        }
        let hidden = new.len().saturating_sub(most) as u64;
        if hidden > 0 {
            text += &format!(
                "{} not shown; --json FILE lists all\n",
                counted(hidden, "more race")
            );
        }
        text + &format!("deadheat: {}\n", report.guarantee)
    }

    /// One race.
    pub fn race(&mut self, race: &NativeRace) -> String {
        let marks = self.marks(race);
        let title = Level::ERROR
            .with_name(Some("race"))
            .primary_title(title(race));
        let mut group = Group::with_title(title);
        for marks in by_file(&marks) {
            let snippet = Snippet::source(&*marks[0].source).path(marks[0].path.as_str());
            let annotations = marks.iter().map(|mark| annotation(mark));
            group = group.element(snippet.annotations(annotations));
        }
        for note in notes(race, marks.len()) {
            group = group.element(Level::NOTE.message(note));
        }
        Renderer::styled().render(&[group]) + "\n\n"
    }

    /// Where the two accesses stand in files that can be read: two marks, or one if they share a line, or fewer.
    fn marks(&mut self, race: &NativeRace) -> Vec<Mark> {
        let first = self.mark(race, &race.first);
        let second = self.mark(race, &race.second);
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

    fn mark(&mut self, race: &NativeRace, access: &NativeAccess) -> Option<Mark> {
        let site = access.site()?;
        let path = site.file.clone()?;
        let source = self.source(&path)?;
        let span = span(
            &source,
            site.line?,
            site.column,
            race.variable.split('+').next().unwrap_or_default(),
        )?;
        Some(Mark {
            path,
            source,
            span,
            label: label(access),
        })
    }

    fn source(&mut self, path: &str) -> Option<Rc<str>> {
        let read = || {
            let file = std::fs::metadata(path).ok()?;
            let text = (file.is_file() && file.len() <= LARGEST_SOURCE)
                .then(|| std::fs::read(path).ok())??;
            Some(String::from_utf8_lossy(&text).into())
        };
        self.sources
            .entry(path.to_string())
            .or_insert_with(read)
            .clone()
    }
}

/// Marks of one file together.
fn by_file(marks: &[Mark]) -> Vec<Vec<&Mark>> {
    let mut files: Vec<Vec<&Mark>> = Vec::new();
    for mark in marks {
        match files.iter_mut().find(|file| file[0].path == mark.path) {
            Some(file) => file.push(mark),
            None => files.push(vec![mark]),
        }
    }
    files
}

fn annotation(mark: &Mark) -> Annotation<'_> {
    AnnotationKind::Primary
        .span(mark.span.clone())
        .label(mark.label.as_str())
}

/// What to underline in a line: the variable if the line names it, else the word at the column.
fn span(source: &str, line: u32, column: Option<u32>, variable: &str) -> Option<Range<usize>> {
    let start: usize = source
        .split_inclusive('\n')
        .take(line as usize - 1)
        .map(str::len)
        .sum();
    let text = source.get(start..)?.lines().next()?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let name = variable.rsplit("::").next().unwrap_or(variable);
    let column = text
        .char_indices()
        .nth(column.unwrap_or(1) as usize - 1)
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
        return Some(start + at..start + at + name.len());
    }
    let indent = text.len() - text.trim_start().len();
    let at = column.max(indent);
    let rest = &text[at.min(text.len())..];
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    // Not at a word (`*p = 1`, `(…)`): the rest of the line.
    let length = if word == 0 {
        rest.trim_end().len()
    } else {
        word
    };
    Some(start + at..start + at + length.max(1).min(rest.len().max(1)))
}

fn title(race: &NativeRace) -> String {
    let what = subject(race);
    let (first, second) = (&race.first, &race.second);
    let again = match race.count {
        1 => String::new(),
        n => format!(" (seen {} times)", grouped(n)),
    };
    let does = |access: &NativeAccess| match access.what.as_str() {
        "free" => "frees",
        _ => "writes",
    };
    let [one, other] = [first, second].map(who);
    let title = match (first.write, second.write) {
        (true, true) if does(first) == "writes" && does(second) == "writes" => {
            format!("{one} and {other} can write {what} at the same time")
        }
        (true, true) if does(second) == "frees" => {
            format!("{one} can write {what} while {other} frees it")
        }
        (true, true) => format!("{other} can write {what} while {one} frees it"),
        (false, _) => format!("{one} can read {what} while {other} {} it", does(second)),
        (true, false) => format!("{other} can read {what} while {one} {} it", does(first)),
    };
    title + &again
}

/// Who made an access: a thread, or what it is to OpenMP.
fn who(access: &NativeAccess) -> String {
    openmp::who(access).unwrap_or_else(|| access.thread.clone())
}

fn subject(race: &NativeRace) -> String {
    match &race.place {
        Place::Heap {
            offset: 0, size, ..
        } => format!("a heap block of {}", counted(*size, "byte")),
        Place::Heap { offset, size, .. } => format!(
            "byte {offset} of a heap block of {}",
            counted(*size, "byte")
        ),
        Place::Thread => format!("the {}", race.variable),
        Place::Unknown => format!("the {}", race.variable),
        Place::Global => format!("`{}`", race.variable),
    }
}

fn label(access: &NativeAccess) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    let who = openmp::who_in_short(access).unwrap_or_else(|| access.thread.clone());
    let size = counted(access.size, "byte");
    let done = match (access.what.as_str(), access.write) {
        ("free", _) => format!("freed by {who}"),
        ("vptr", true) => format!("virtual table pointer written by {who}"),
        ("vptr", false) => format!("virtual call by {who}"),
        (_, true) => format!("{atomic}write of {size} by {who}"),
        (_, false) => format!("{atomic}read of {size} by {who}"),
    };
    match access.locks.as_slice() {
        [] => done,
        locks => {
            let names = locks.iter().map(|lock| match lock.write {
                true => format!("`{}`", lock.name),
                false => format!("`{}` (for reading)", lock.name),
            });
            format!("{done}, holding {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Stacks where they say more than the excerpt, threads and the block's origin.
fn notes(race: &NativeRace, marks: usize) -> Vec<String> {
    let mut notes = Vec::new();
    for access in [&race.first, &race.second] {
        let is_shown = marks > 0
            && openmp::own_frames(&access.stack).len() <= 1
            && access.site().is_some_and(|site| site.file.is_some());
        if !is_shown {
            notes.push(format!("{}{}", label(access), calls(&access.stack)));
        }
    }
    if let Place::Heap { thread, stack, .. } = &race.place {
        notes.push(format!(
            "the block was allocated by {thread}{}",
            calls(stack)
        ));
    }
    for access in [&race.first, &race.second] {
        if let Some(task) = access.tasks.first()
            && !task.depends.is_empty()
        {
            notes.push(openmp::task_in_full(task));
        }
    }
    notes.extend(openmp::remedy(&race.first, &race.second));
    // OpenMP's threads are its own business.
    let threads = match race.first.tasks.is_empty() {
        true => race.creations.as_slice(),
        false => &[],
    };
    for creation in threads {
        let ended = if creation.finished {
            " (which has ended)"
        } else {
            ""
        };
        notes.push(format!(
            "{}{ended} was created by {}{}",
            creation.thread,
            creation.parent,
            calls(&creation.stack)
        ));
    }
    if let Some(pid) = race.pid {
        notes.push(format!("in process {pid}"));
    }
    notes
}

/// A stack, innermost first: in the line if it is one call, else one a line.
fn calls(stack: &[Rc<Frame>]) -> String {
    let shown = |frame: &Frame| match &frame.function {
        Some(function) => format!(
            "{} in `{}`",
            frame.location(),
            short(openmp::function(function))
        ),
        None => frame.location(),
    };
    let own = openmp::own_frames(stack);
    match own.as_slice() {
        [] => "; where is not known".to_string(),
        [only] => format!(" at {}", shown(only)),
        _ => {
            let mut text = String::from(":");
            for frame in own.iter().take(MAX_CALLS) {
                text += &format!("\n  at {}", shown(frame));
            }
            let hidden = own.len().saturating_sub(MAX_CALLS) as u64;
            if hidden > 0 {
                text += &format!("\n  and {}", counted(hidden, "more call"));
            }
            text
        }
    }
}

/// A name that fits in a line: templates can be pages long.
fn short(function: &str) -> String {
    crate::style::cut(function, 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_underlined() {
        let source = "int x;\n  xx = x + 1;\n\t*p = 2;\n  call(y);\n";
        let marked =
            |line, column, variable| &source[span(source, line, column, variable).unwrap()];
        assert_eq!(marked(2, Some(6), "x"), "x");
        assert_eq!(span(source, 2, Some(6), "x"), Some(14..15));
        assert_eq!(marked(2, Some(3), "heap block of 4 bytes"), "xx");
        assert_eq!(marked(3, Some(2), "heap block of 4 bytes"), "*p = 2;");
        assert_eq!(marked(4, None, "z"), "call");
        assert_eq!(marked(4, Some(900), "ns::y"), "y");
        assert_eq!(span(source, 99, Some(1), "x"), None);
    }
}
