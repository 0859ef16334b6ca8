//! One token after another, and what to say when it is not the one expected.

use super::{Parser, Reading, Skip};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::*;
use crate::syntax::lexer::{Keyword, Token, shorten};

impl Parser<'_> {
    pub(super) fn advance(&mut self) {
        self.previous = self.span;
        loop {
            match self.lexer.next() {
                Ok((token, span)) => {
                    (self.token, self.span) = (token, span);
                    return;
                }
                Err(error) => {
                    let span = error.span;
                    self.errors.add(error);
                    // What was meant to be a number is read as one.
                    if self.text(span).starts_with(|c: char| c.is_ascii_digit()) {
                        (self.token, self.span) = (Token::Int(0), span);
                        return;
                    }
                }
            }
            if self.errors.is_full() {
                self.token = Token::EndOfFile;
                return;
            }
        }
    }

    pub(super) fn text(&self, span: Span) -> &str {
        &self.source[span.start as usize..span.end as usize]
    }

    pub(super) fn eat(&mut self, symbol: &'static str) -> bool {
        let found = self.token == Token::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: &'static str) -> Reading<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        if symbol == ";" {
            // Point at where the `;` is missing, not at the next line.
            let end = Span {
                start: self.previous.end,
                end: self.previous.end,
            };
            let found = self.found();
            let error = Diagnostic::new(
                format!("expected `;`, found {found}"),
                end,
                "a `;` is missing here",
            );
            self.errors.add(error);
            // Where the next statement starts, nothing is lost by going on.
            return match self.token {
                Token::Keyword(_) | Token::Name | Token::Symbol("}" | "*") => Ok(()),
                _ => Err(Skip),
            };
        }
        Err(self.expected(&format!("`{symbol}`")))
    }

    pub(super) fn expect_keyword(&mut self, keyword: Keyword) -> Reading<()> {
        if self.token == Token::Keyword(keyword) {
            self.advance();
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", keyword.text())))
    }

    pub(super) fn name(&mut self, what: &str) -> Reading<Name> {
        match self.token {
            Token::Name => {
                let name = Name {
                    text: self.text(self.span).to_string(),
                    span: self.span,
                };
                self.advance();
                Ok(name)
            }
            Token::Keyword(keyword) => {
                let error = Diagnostic::new(
                    format!("expected {what}, found the keyword `{}`", keyword.text()),
                    self.span,
                    "a word of the language cannot be a name",
                );
                Err(self.fail(error))
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn int(&mut self, what: &str) -> Reading<i64> {
        let negative = self.eat("-");
        let Token::Int(value) = self.token else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(if negative { -value } else { value })
    }

    fn found(&self) -> String {
        match self.token {
            Token::EndOfFile => "the end of the file".to_string(),
            _ => format!("`{}`", shorten(self.text(self.span))),
        }
    }

    pub(super) fn expected(&mut self, what: &str) -> Skip {
        let message = format!("expected {what}, found {}", self.found());
        self.fail(Diagnostic::new(message, self.span, "not expected here"))
    }

    pub(super) fn fail(&mut self, error: Diagnostic) -> Skip {
        self.errors.add(error);
        Skip
    }
}
