//! What is wrong with a program's text, and where.

use std::fmt;

use crate::syntax::ast::Span;

/// One thing that is wrong, with the piece of source it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// The source it is about.
    pub span: Span,
    /// A few words to stand under that source.
    pub label: String,
    /// Other places that matter, with a few words each.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic with its main place.
    pub fn new(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            span,
            label: label.into(),
            related: Vec::new(),
            help: None,
        }
    }

    /// Adds another place.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// Everything that was found wrong with a program, in the order of the source. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    /// What was found.
    pub found: Vec<Diagnostic>,
    /// Whether there was more, beyond [`MAX_DIAGNOSTICS`].
    pub more: bool,
}

/// How many diagnostics are kept: a file that is not a program at all needs no more.
pub const MAX_DIAGNOSTICS: usize = 20;

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.found.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&diagnostic.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Collects diagnostics up to the limit.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    found: Vec<Diagnostic>,
    more: bool,
}

impl Collector {
    /// Adds a diagnostic, unless the same was said of the same place already.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        let said = |d: &Diagnostic| d.span == diagnostic.span && d.message == diagnostic.message;
        if self.found.iter().any(said) {
            return;
        }
        match self.found.len() < MAX_DIAGNOSTICS {
            true => self.found.push(diagnostic),
            false => self.more = true,
        }
    }

    /// Whether another one would be kept: if not, there is no point in working it out.
    pub(crate) fn has_room(&self) -> bool {
        self.found.len() < MAX_DIAGNOSTICS
    }

    pub(crate) fn is_full(&self) -> bool {
        self.more
    }

    pub(crate) fn finish<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.found.is_empty() {
            return Ok(value);
        }
        let mut found = self.found;
        found.sort_by_key(|diagnostic| diagnostic.span.start);
        Err(Diagnostics {
            found,
            more: self.more,
        })
    }
}
