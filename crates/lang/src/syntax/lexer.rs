//! Characters to tokens.

use super::ast::Span;
use crate::diagnostic::Diagnostic;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Name,
    Keyword(Keyword),
    Int(i64),
    /// Punctuation and operators, by how they are written.
    Symbol(&'static str),
    EndOfFile,
}

macro_rules! keywords {
    ($($variant:ident $text:literal,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Keyword { $($variant,)* }

        impl Keyword {
            pub(super) fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text,)* }
            }

            fn from_text(text: &str) -> Option<Keyword> {
                match text { $($text => Some(Keyword::$variant),)* _ => None }
            }
        }
    };
}

keywords! {
    Shared "shared", Promise "promise", Lock "lock", Sem "sem", Event "event", Proc "proc",
    Let "let", If "if", Else "else", While "while", For "for", In "in", Async "async",
    Finish "finish", Isolated "isolated", Acquire "acquire", Release "release", Fork "fork",
    Join "join", Call "call", Assert "assert", Skip "skip", Return "return", Alloc "alloc",
    Future "future",
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 25] = [
    "||", "&&", "==", "!=", "<=", ">=", "..", "{", "}", "(", ")", "[", "]", ";", ",", "=", ".",
    "<", ">", "+", "-", "*", "/", "%", "!",
];

const BYTE_ORDER_MARK: char = '\u{feff}';

/// How long a name may be.
const MAX_NAME: usize = 200;

/// Reads tokens one at a time from a text shorter than 4 GiB.
pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    /// At the beginning of a text, after its byte-order mark if it has one.
    pub(super) fn new(source: &'s str) -> Lexer<'s> {
        let at = match source.starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len_utf8(),
            false => 0,
        };
        Lexer { source, at }
    }

    /// The next token. After an error the lexer stands after the offending text.
    pub(super) fn next(&mut self) -> Result<(Token, Span), Diagnostic> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.source.as_bytes()[start..];
        let Some(&first) = rest.first() else {
            return Ok((Token::EndOfFile, self.span_from(start)));
        };
        if first.is_ascii_alphabetic() || first == b'_' {
            let length = length_while(rest, |b| b.is_ascii_alphanumeric() || b == b'_');
            self.at += length;
            if length > MAX_NAME {
                let error = Diagnostic::new(
                    format!("this name has more than {MAX_NAME} characters"),
                    self.span_from(start),
                    "too long",
                );
                return Err(error);
            }
            let text = &self.source[start..self.at];
            let token = Keyword::from_text(text).map_or(Token::Name, Token::Keyword);
            return Ok((token, self.span_from(start)));
        }
        if first.is_ascii_digit() {
            let length = length_while(rest, |b| b.is_ascii_alphanumeric() || b == b'_');
            self.at += length;
            return self.int(start);
        }
        for symbol in SYMBOLS {
            if rest.starts_with(symbol.as_bytes()) {
                self.at += symbol.len();
                return Ok((Token::Symbol(symbol), self.span_from(start)));
            }
        }
        Err(self.stray(start))
    }

    fn skip_blanks(&mut self) {
        let bytes = self.source.as_bytes();
        loop {
            self.at += length_while(&bytes[self.at..], |b| b.is_ascii_whitespace());
            if !bytes[self.at..].starts_with(b"//") {
                return;
            }
            self.at += length_while(&bytes[self.at..], |b| b != b'\n' && b != b'\r');
        }
    }

    fn int(&self, start: usize) -> Result<(Token, Span), Diagnostic> {
        let span = self.span_from(start);
        let text = &self.source[start..self.at];
        if let Some(odd) = text.bytes().find(|b| !b.is_ascii_digit()) {
            return Err(Diagnostic::new(
                format!("`{}` is not a number", shorten(text)),
                span,
                format!("`{}` cannot stand in a number", odd as char),
            )
            .help("numbers are written in decimal, and a name does not start with a digit"));
        }
        match text.parse() {
            Ok(value) => Ok((Token::Int(value), span)),
            Err(_) => {
                Err(
                    Diagnostic::new("this number does not fit in 64 bits", span, "too large")
                        .help(format!("the largest is {}", i64::MAX)),
                )
            }
        }
    }

    /// Characters that start no token: the whole run of them, so that it is reported once.
    fn stray(&mut self, start: usize) -> Diagnostic {
        let stray = |c: char| {
            let starts_symbol = SYMBOLS.iter().any(|symbol| symbol.starts_with(c));
            !(c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || c == '_' || starts_symbol)
        };
        let rest = &self.source[start..];
        let first = rest.chars().next().unwrap_or_default();
        // The first is one, even if it is the beginning of a symbol (`|` of `||`).
        let after = &rest[first.len_utf8()..];
        self.at += first.len_utf8() + after.find(|c| !stray(c)).unwrap_or(after.len());
        let mut error = Diagnostic::new(
            format!("{} has no meaning here", name_of(first)),
            self.span_from(start),
            "not part of the language",
        );
        if let '|' | '&' = first {
            error.help = Some(format!("did you mean `{first}{first}`?"));
        }
        error
    }

    fn span_from(&self, start: usize) -> Span {
        Span {
            start: start as u32,
            end: self.at as u32,
        }
    }
}

fn length_while(bytes: &[u8], accept: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|&b| !accept(b))
        .unwrap_or(bytes.len())
}

fn name_of(c: char) -> String {
    match c {
        '\0' => "a NUL byte".to_string(),
        c if c.is_control() || c.is_whitespace() || c == BYTE_ORDER_MARK => {
            format!("the character U+{:04X}", c as u32)
        }
        c => format!("`{c}`"),
    }
}

/// A text of the user's, cut to what fits in a message.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
