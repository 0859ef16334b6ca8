//! Races that are known and not to be shown: a text file, one rule a line.
//!
//! ```text
//! # comment
//! function:legacy_counter      any frame of either stack is in such a function
//! file:third_party/            … in such a source file
//! library:libfoo.so            … in such a library or executable
//! variable:statistics          the racing global
//! ```
//!
//! Files for ThreadSanitizer work as they are: `race:` (function, file, library or variable), `race_top:` (the
//! innermost frames only) and `called_from_lib:`; its rules about other findings (`thread:`, `mutex:`,
//! `deadlock:`, `signal:`) are accepted and match nothing here. A pattern matches anywhere in a name; `*` stands
//! for anything, `^` at its start and `$` at its end for the name's own.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

use deadheat_model::Finding;
use deadheat_model::finding::{Frame, Side};
use thiserror::Error;

/// The rules of one or several files.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    kind: Kind,
    pattern: String,
    /// Where it stands, for a rule of a file.
    origin: String,
    /// Whether it has matched something.
    used: Cell<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Function,
    File,
    Library,
    Variable,
    Anywhere,
    Innermost,
    OtherFindings,
}

const KINDS: [(&str, Kind); 11] = [
    ("function", Kind::Function),
    ("file", Kind::File),
    ("library", Kind::Library),
    ("variable", Kind::Variable),
    ("race", Kind::Anywhere),
    ("race_top", Kind::Innermost),
    ("called_from_lib", Kind::Library),
    ("thread", Kind::OtherFindings),
    ("mutex", Kind::OtherFindings),
    ("deadlock", Kind::OtherFindings),
    ("signal", Kind::OtherFindings),
];

/// What is wrong with a file of suppressions.
#[derive(Debug, Error)]
pub enum SuppressionError {
    /// It cannot be read.
    #[error("the suppressions in `{}` could not be read: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A line is no rule.
    #[error(
        "`{}`, line {line}: `{text}` is no rule; a rule is KIND:PATTERN, where KIND is function, file, library, variable, \
         or one of ThreadSanitizer's (race, race_top, called_from_lib, thread, mutex, deadlock, signal)",
        path.display()
    )]
    Rule {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What stands there.
        text: String,
    },
}

impl Suppressions {
    /// Adds the rules of a file.
    pub fn read(&mut self, path: &Path) -> Result<(), SuppressionError> {
        let text = std::fs::read_to_string(path).map_err(|error| SuppressionError::File {
            path: path.to_path_buf(),
            error,
        })?;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut rule = rule(line).ok_or_else(|| SuppressionError::Rule {
                path: path.to_path_buf(),
                line: index + 1,
                text: line.to_string(),
            })?;
            rule.origin = format!("`{line}` (line {} of `{}`)", index + 1, path.display());
            self.rules.push(rule);
        }
        Ok(())
    }

    /// The rules that a program brings with it. It was built with them: what is no rule is left aside.
    pub fn of_program(text: &str) -> Suppressions {
        Suppressions {
            rules: text.lines().filter_map(|line| rule(line.trim())).collect(),
        }
    }

    /// Is this finding not to be shown?
    pub fn cover(&self, finding: &Finding) -> bool {
        // Every rule that matches is of use, not only the first.
        let matching = self.rules.iter().filter(|rule| rule.matches(finding));
        matching.map(|rule| rule.used.set(true)).count() > 0
    }

    /// The rules of files that have matched nothing, and where they stand. Rules about findings of other tools never match.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.rules.iter().filter(|rule| !rule.used.get());
        let own = unused.filter(|rule| rule.kind != Kind::OtherFindings);
        own.map(|rule| rule.origin.as_str())
    }
}

fn rule(line: &str) -> Option<Rule> {
    let (name, pattern) = line.split_once(':')?;
    let (_, kind) = KINDS.into_iter().find(|(known, _)| *known == name.trim())?;
    let pattern = pattern.trim().to_string();
    (!pattern.is_empty()).then(|| Rule {
        kind,
        pattern,
        origin: String::new(),
        used: Cell::new(false),
    })
}

impl Rule {
    fn matches(&self, finding: &Finding) -> bool {
        let any_frame = |test: &dyn Fn(&Frame) -> bool| {
            let mut frames = finding.sides.iter().flat_map(|side| side.stack.iter());
            frames.any(|frame| test(frame))
        };
        let function = |frame: &Frame| self.fits(frame.function.as_deref());
        let file = |frame: &Frame| self.fits(frame.file.as_deref());
        let library = |frame: &Frame| self.fits(Some(&frame.module));
        let anywhere = |frame: &Frame| function(frame) || file(frame) || library(frame);
        // Of what comes from a trace, only the places are known.
        let place = |side: &Side| self.fits(side.place.file());
        let any_place = || finding.sides.iter().any(place);
        let variable = || self.fits(Some(&finding.variable.name));
        match self.kind {
            Kind::Function => any_frame(&function),
            Kind::File => any_frame(&file) || any_place(),
            Kind::Library => any_frame(&library),
            Kind::Variable => variable(),
            Kind::Anywhere => any_frame(&anywhere) || any_place() || variable(),
            Kind::Innermost => finding.sides.iter().any(|side| match side.stack.first() {
                Some(innermost) => anywhere(innermost),
                None => place(side),
            }),
            Kind::OtherFindings => false,
        }
    }

    fn fits(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| fits(&self.pattern, name))
    }
}

/// Does a pattern match a name? Each piece between stars is taken where it first occurs; the last, if it must
/// stand at the end, where it last does.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, at_start) = match pattern.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let (pattern, at_end) = match pattern.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let pieces: Vec<&str> = pattern.split('*').collect();
    let mut rest = name;
    for (index, piece) in pieces.iter().enumerate() {
        let is_first = index == 0 && at_start;
        let is_last = index + 1 == pieces.len() && at_end;
        match (is_first, is_last) {
            (true, true) => return rest == *piece,
            (false, true) => return rest.ends_with(piece),
            (true, false) => match rest.strip_prefix(piece) {
                Some(after) => rest = after,
                None => return false,
            },
            (false, false) => match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            },
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deadheat_model::AccessKind;
    use deadheat_model::finding::{Act, Place, Rule, Variable};

    use super::*;

    #[test]
    fn patterns() {
        assert!(fits("count", "my_counter"));
        assert!(fits("^my*er$", "my_counter"));
        assert!(!fits("^count", "my_counter"));
        assert!(!fits("count$", "my_counter"));
        assert!(fits("^f$", "f") && !fits("^f$", "ff"));
        assert!(fits("a*b*c", "xaybzc") && !fits("a*b*c", "xaybz"));
        assert!(fits("*", "") && fits("^*$", "x"));
        assert!(fits("ab*ab$", "abab") && !fits("ab*ab$", "ab"));
    }

    #[test]
    fn a_line_that_is_no_rule_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# ours\nrace:f\n\nmutex:g\nnonsense\n").unwrap();
        let error = Suppressions::default()
            .read(file.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 5: `nonsense` is no rule"), "{error}");
        std::fs::write(file.path(), "race:f\nfunction:\n").unwrap();
        let error = Suppressions::default()
            .read(file.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn each_kind_matches_its_own() {
        let frame = |function: &str, file: &str| {
            Arc::new(Frame {
                function: Some(function.to_string()),
                file: Some(file.to_string()),
                module: "/lib/libold.so.1".to_string(),
                ..Frame::default()
            })
        };
        let side = |place: &str| {
            let act = Act::plain(AccessKind::Write);
            Side::new(act, "T1".into(), Arc::new(Place::parse(place)))
        };
        let sides = vec![side("a.c:1"), side("traced.c:2")];
        let mut race = Finding::new(Rule::Race, "hb", Variable::named("hits+4"), sides);
        race.sides[0].stack = vec![frame("inner", "a.c"), frame("outer", "b.c")].into();
        let covers = |text: &str| {
            let mut suppressions = Suppressions::default();
            suppressions.rules.push(rule(text).unwrap());
            let covers = suppressions.cover(&race);
            assert_eq!(
                suppressions.unused().count() == 0,
                covers || text.starts_with(['t', 'm'])
            );
            covers
        };
        for covering in [
            "function:outer",
            "file:b.c",
            "file:traced",
            "library:libold",
            "variable:^hits",
            "race:outer",
            "race:a.c",
            "race:hits",
            "race_top:inner",
            "race_top:traced.c",
            "called_from_lib:libold.so",
        ] {
            assert!(covers(covering), "{covering}");
        }
        for other in [
            "function:a.c",
            "file:outer",
            "variable:inner",
            "race_top:outer",
            "thread:inner",
            "mutex:hits",
        ] {
            assert!(!covers(other), "{other}");
        }
    }
}
