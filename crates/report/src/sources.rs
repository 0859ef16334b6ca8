//! Source files that findings are about: each is read once, when something is first asked of it.
//!
//! A file that is missing, moved, too large or no regular file has no lines, and whoever asks shows less. Text that
//! is not UTF-8 is shown with replacement characters. Memory: what was read, at most [`LARGEST_TOGETHER`].

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use deadheat_model::finding::SourceLines;
use rustc_hash::FxHashMap;

use crate::text::style::counted;

/// A source file larger than this is not read.
const LARGEST: u64 = 16 << 20;

/// Once so many bytes have been read, no more files are.
const LARGEST_TOGETHER: u64 = 256 << 20;

/// The text of source files.
#[derive(Default)]
pub struct Sources {
    files: RefCell<FxHashMap<String, Option<Rc<SourceFile>>>>,
    read: Cell<u64>,
}

/// A source file's text, and where its lines start.
pub struct SourceFile {
    /// All of it.
    pub text: String,
    starts: Vec<usize>,
    /// Of each line: how many before it say the same.
    earlier: Vec<u32>,
}

impl Sources {
    /// A file whose text is at hand, such as standard input.
    pub fn with(path: &str, text: &str) -> Sources {
        let sources = Sources::default();
        let file = SourceFile::new(text.to_string());
        sources
            .files
            .borrow_mut()
            .insert(path.to_string(), Some(Rc::new(file)));
        sources
    }

    /// A file, if it can be read.
    pub fn file(&self, path: &str) -> Option<Rc<SourceFile>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let file = self.read(path).map(|text| Rc::new(SourceFile::new(text)));
        self.files
            .borrow_mut()
            .insert(path.to_string(), file.clone());
        file
    }

    /// A line of a file, from 1.
    pub fn line(&self, path: &str, number: u32) -> Option<String> {
        self.file(path)?.line(number).map(str::to_string)
    }

    /// A warning, if files that were read have been written to after `made` was, which ran or was recorded.
    pub fn newer_than(&self, made: &Path) -> Option<String> {
        let written = |path: &Path| {
            std::fs::metadata(path)
                .and_then(|file| file.modified())
                .ok()
        };
        let time = written(made)?;
        let files = self.files.borrow();
        let read = files.iter().filter(|(_, file)| file.is_some());
        let newer = read.filter(|(path, _)| written(Path::new(path)) > Some(time));
        let mut newer: Vec<&String> = newer.map(|(path, _)| path).collect();
        newer.sort();
        let (first, others) = newer.split_first()?;
        let more = match others.len() {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "other file")),
        };
        Some(format!(
            "`{first}`{more} changed after `{}` was made: the lines shown may not be those that ran",
            made.display()
        ))
    }

    fn read(&self, path: &str) -> Option<String> {
        let file = std::fs::metadata(path).ok()?;
        let together = self.read.get() + file.len();
        if !file.is_file() || file.len() > LARGEST || together > LARGEST_TOGETHER {
            return None;
        }
        let text = std::fs::read(path).ok()?;
        self.read.set(together);
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

impl SourceLines for Sources {
    fn words(&self, path: &str, line: u32) -> Option<(String, u32)> {
        self.file(path)?.saying(line)
    }
}

impl SourceFile {
    fn new(text: String) -> SourceFile {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let mut file = SourceFile {
            text,
            starts,
            earlier: Vec::new(),
        };
        let mut seen: FxHashMap<String, u32> = FxHashMap::default();
        let lines = 1..=file.starts.len() as u32;
        let earlier = lines.map(|number| {
            let line = file.line(number).unwrap_or_default();
            let count = seen.entry(words(line)).or_default();
            *count += 1;
            *count - 1
        });
        file.earlier = earlier.collect();
        file
    }

    /// A line, from 1, without its end.
    pub fn line(&self, number: u32) -> Option<&str> {
        let start = self.start(number)?;
        self.text[start..].lines().next()
    }

    /// Where a line starts, in bytes.
    pub fn start(&self, number: u32) -> Option<usize> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.starts.get(index).copied()
    }

    /// How many lines there are.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }

    /// What a line says and which of the lines that say so it is: the same when lines elsewhere come and go.
    pub fn saying(&self, number: u32) -> Option<(String, u32)> {
        let line = words(self.line(number)?);
        let earlier = *self.earlier.get(number as usize - 1)?;
        (!line.is_empty()).then_some((line, earlier))
    }
}

/// The words of a line, with one space between them.
fn words(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_what_it_says() {
        let sources = Sources::with("-", "x = 1;\n\n  x  =\t1;\ny = 2;");
        let file = sources.file("-").unwrap();
        assert_eq!(file.saying(1), Some(("x = 1;".to_string(), 0)));
        assert_eq!(file.saying(3), Some(("x = 1;".to_string(), 1)));
        assert_eq!(file.saying(2), None);
        assert_eq!(file.saying(0), None);
        assert_eq!(file.saying(5), None);
        assert_eq!((file.lines(), file.line(4)), (4, Some("y = 2;")));
    }

    #[test]
    fn what_cannot_be_read_has_no_lines() {
        let sources = Sources::default();
        for path in ["/dev/zero", "/", "no/such/file.c", ""] {
            assert!(sources.file(path).is_none(), "{path}");
        }
    }
}
