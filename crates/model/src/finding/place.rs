//! Places in source files, and the calls that lead there.

use std::fmt;

/// A place in the source, as far as it is known: `dir/file.c:12:7`, `near dir/file.c:12`, `7`, `lib.so+0x1f0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    text: String,
    /// How many bytes of the text are the path, and where it begins; nothing if the place is in no file.
    path: Option<(usize, usize)>,
    line: Option<u32>,
    column: Option<u32>,
    /// In the file's text, in bytes: what stands there, where the source was parsed.
    span: Option<(u32, u32)>,
}

/// What is written in front of a place whose line is only the nearest that is known.
const NEAR: &str = "near ";

impl Place {
    /// A place in a file.
    pub fn new(file: &str, line: u32, column: Option<u32>) -> Place {
        Place::parse(&match column {
            Some(column) => format!("{file}:{line}:{column}"),
            None => format!("{file}:{line}"),
        })
    }

    /// A place whose line is only the nearest one of the same function that is known.
    pub fn near(file: &str, line: u32) -> Place {
        Place::parse(&format!("{NEAR}{file}:{line}"))
    }

    /// What is not known.
    pub fn unknown() -> Place {
        Place::parse("?")
    }

    /// A place as traces spell it. Some have no column, some are in no file.
    pub fn parse(text: &str) -> Place {
        let start = if text.starts_with(NEAR) {
            NEAR.len()
        } else {
            0
        };
        let (path, line, column) = parts(&text[start..]);
        Place {
            text: text.to_string(),
            path: line.map(|_| (start, path.len())),
            line,
            column,
            span: None,
        }
    }

    /// The same, where the piece of the text that stands there is known: its start and length in bytes.
    #[must_use]
    pub fn spanning(mut self, start: u32, length: u32) -> Place {
        self.span = Some((start, length));
        self
    }

    /// The file; nothing for a place that is in none.
    pub fn file(&self) -> Option<&str> {
        let (start, length) = self.path?;
        self.text.get(start..start + length)
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// The column, from 1, in characters.
    pub fn column(&self) -> Option<u32> {
        self.column
    }

    /// The piece of the file's text, where it is known: its start and length in bytes.
    pub fn span(&self) -> Option<(u32, u32)> {
        self.span
    }

    /// Whether the line is only the nearest one of the same function that is known.
    pub fn is_near(&self) -> bool {
        self.path.is_some_and(|(start, _)| start > 0)
    }

    /// As it is spelt in full.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `file.c:12` of `dir/file.c:12:7`.
    pub fn short(&self) -> String {
        match (self.file(), self.line) {
            (Some(file), Some(line)) => {
                format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
            }
            _ => self.text.clone(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Of `dir/file.c:12:7`: the file, its line, and its column.
fn parts(place: &str) -> (&str, Option<u32>, Option<u32>) {
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
    let Some((before, last)) = place.rsplit_once(':') else {
        return (place, None, None);
    };
    let Some(last) = number(last) else {
        return (place, None, None);
    };
    match before.rsplit_once(':') {
        Some((file, line)) if number(line).is_some() => (file, number(line), Some(last)),
        _ => (before, Some(last), None),
    }
}

/// One call: a function and where it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function's full name.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// Whether the line is only the nearest one of the function that is known.
    pub near: bool,
    /// The executable or library.
    pub module: String,
    /// Where in it.
    pub offset: u64,
}

impl Frame {
    /// A call of which only the place is known, if that is in a file.
    pub fn at(place: &Place) -> Option<Frame> {
        Some(Frame {
            file: Some(place.file()?.to_string()),
            line: place.line(),
            column: place.column(),
            near: place.is_near(),
            ..Frame::default()
        })
    }

    /// `file.c:12:7`, as much of it as is known, or `library.so+0x1f0`.
    pub fn place(&self) -> Place {
        match (&self.file, self.line) {
            (Some(file), Some(line)) if self.near => Place::near(file, line),
            (Some(file), Some(line)) => Place::new(file, line, self.column),
            _ => {
                let module = self.module.rsplit('/').next().unwrap_or(&self.module);
                Place::parse(&format!("{module}+{:#x}", self.offset))
            }
        }
    }

    /// Part of the compiler's or the system's headers and libraries, rather than of the program.
    pub fn is_system(&self) -> bool {
        // Rust's standard library lies in the toolchain, or where the toolchain was built.
        let in_rust = |path: &str| {
            path.contains("/rustlib/src/rust/library/")
                || path.starts_with("/rustc/") && path.contains("/library/")
        };
        let in_system =
            |path: &str| path.starts_with("/usr/") || path.starts_with("/lib") || in_rust(path);
        match &self.file {
            Some(file) => in_system(file) || file.starts_with("../"),
            None => {
                let rust = |function: &String| function.starts_with("__rust_");
                in_system(&self.module) || self.function.as_ref().is_some_and(rust)
            }
        }
    }

    /// Whether it is a line of the program's own code.
    pub fn is_own(&self) -> bool {
        self.line.is_some() && !self.is_system()
    }

    /// The innermost call in the program's own code, if any is known to be; else the innermost.
    pub fn of_program<F: AsRef<Frame>>(stack: &[F]) -> Option<&Frame> {
        let own = stack.iter().find(|frame| frame.as_ref().is_own());
        own.or(stack.first()).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_parts() {
        let of = |text: &str| {
            let place = Place::parse(text);
            (
                place.file().map(str::to_string),
                place.line(),
                place.column(),
            )
        };
        let file = |name: &str| Some(name.to_string());
        assert_eq!(of("a/b.c:12:7"), (file("a/b.c"), Some(12), Some(7)));
        assert_eq!(of("b.c:12"), (file("b.c"), Some(12), None));
        assert_eq!(of("a:b/c.c:3:1"), (file("a:b/c.c"), Some(3), Some(1)));
        for nowhere in ["lib.so+0x1f0", "7", "a.c:0", "", "near "] {
            assert_eq!(of(nowhere), (None, None, None), "{nowhere}");
        }
        let near = Place::near("a/b.c", 12);
        assert_eq!(near, Place::parse("near a/b.c:12"));
        assert_eq!((near.file(), near.line()), (Some("a/b.c"), Some(12)));
        assert!(near.is_near() && !Place::parse("a/b.c:12").is_near());
        assert_eq!(near.short(), "b.c:12");
        assert_eq!(Place::parse("lib.so+0x1f0").short(), "lib.so+0x1f0");
    }
}
