//! Tokens to tree: recursive descent over one token of look-ahead.
//!
//! An error skips to the end of its statement (or to the next declaration) and reading goes on, so
//! that one run shows several. Nesting is bounded: nothing in a text can make the reader, or
//! anything later that walks the tree, run out of stack.

mod expressions;
mod statements;
mod tokens;

use super::ast::*;
use super::lexer::{Keyword, Lexer, Token};
use crate::diagnostic::{Collector, Diagnostic, Diagnostics};

/// How deep blocks and parentheses may nest, and how many operators may stand in a row.
const MAX_NESTING: u32 = 200;

/// The largest source that is accepted, in bytes. A program whose every schedule is of interest is a
/// thousand times smaller.
pub const MAX_SOURCE_BYTES: usize = 8 << 20;

/// Reads a program. All that is wrong with the text is reported together.
pub fn parse(source: &str) -> Result<Program, Diagnostics> {
    let mut errors = Collector::default();
    if source.len() > MAX_SOURCE_BYTES {
        errors.add(
            Diagnostic::new(
                format!(
                    "this file has more than {} MiB, the most a program may have",
                    MAX_SOURCE_BYTES >> 20
                ),
                Span::default(),
                "too large",
            )
            .help("is this the right file?"),
        );
        return errors.finish(Program::default());
    }
    let mut parser = Parser {
        source,
        lexer: Lexer::new(source),
        token: Token::EndOfFile,
        span: Span::default(),
        previous: Span::default(),
        nesting: 0,
        in_open_block: false,
        errors,
    };
    parser.advance();
    let program = parser.program();
    parser.errors.finish(program)
}

/// The statement could not be read; what is wrong has been recorded.
struct Skip;

type Reading<T> = Result<T, Skip>;

struct Parser<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    token: Token,
    span: Span,
    /// The span of the token before `token`.
    previous: Span,
    nesting: u32,
    /// A block was found not to be closed: those around it are not either.
    in_open_block: bool,
    errors: Collector,
}

impl Parser<'_> {
    fn program(&mut self) -> Program {
        let mut items = Vec::new();
        while self.token != Token::EndOfFile && !self.errors.is_full() {
            match self.item() {
                Ok(item) => items.push(item),
                Err(Skip) => {
                    self.nesting = 0;
                    self.in_open_block = false;
                    self.skip_to_item();
                }
            }
        }
        Program { items }
    }

    fn item(&mut self) -> Reading<Item> {
        let Token::Keyword(keyword) = self.token else {
            return Err(self.expected(
                "a declaration (`shared`, `promise`, `lock`, `sem`, `event`) or a `proc`",
            ));
        };
        let item = match keyword {
            Keyword::Shared => {
                self.advance();
                let name = self.name("a variable's name")?;
                let length = match self.eat("[") {
                    true => {
                        let length = self.int("the number of elements")?;
                        self.expect("]")?;
                        Some(length)
                    }
                    false => None,
                };
                Item::Shared {
                    name,
                    length,
                    initial: self.initial()?,
                }
            }
            Keyword::Sem => {
                self.advance();
                Item::Semaphore {
                    name: self.name("a semaphore's name")?,
                    initial: self.initial()?,
                }
            }
            Keyword::Promise => {
                self.advance();
                Item::Promise(self.name("a promise's name")?)
            }
            Keyword::Lock => {
                self.advance();
                Item::Lock(self.name("a lock's name")?)
            }
            Keyword::Event => {
                self.advance();
                Item::Event(self.name("an event's name")?)
            }
            Keyword::Proc => return self.procedure(),
            other => {
                let text = other.text();
                let error = Diagnostic::new(
                    format!("`{text}` cannot stand outside a procedure"),
                    self.span,
                    "a statement",
                );
                return Err(self.fail(error.help("statements go into `proc main() { … }`")));
            }
        };
        self.expect(";")?;
        Ok(item)
    }

    fn initial(&mut self) -> Reading<Option<i64>> {
        match self.eat("=") {
            true => Ok(Some(self.int("a number")?)),
            false => Ok(None),
        }
    }

    fn procedure(&mut self) -> Reading<Item> {
        self.advance();
        let name = self.name("a procedure's name")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        if !self.eat(")") {
            loop {
                parameters.push(self.name("a parameter's name")?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        let body = self.block()?;
        Ok(Item::Procedure {
            name,
            parameters,
            body,
        })
    }

    // The token under the cursor.

    /// One level deeper. Too deep ends the reading: what follows would only repeat it.
    fn nest(&mut self) -> Reading<()> {
        self.nesting += 1;
        if self.nesting <= MAX_NESTING {
            return Ok(());
        }
        self.errors.add(
            Diagnostic::new(
                format!("this is nested more than {MAX_NESTING} deep"),
                self.span,
                "too deep",
            )
            .help("move inner parts into procedures, or bind parts of an expression with `let`"),
        );
        self.lexer = Lexer::new("");
        self.token = Token::EndOfFile;
        self.in_open_block = true;
        Err(Skip)
    }

    /// Behind the next `;` of this block, or at its `}`, or at a word that starts a statement.
    fn skip_to_statement(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.token {
                Token::EndOfFile | Token::Keyword(Keyword::Proc) => return,
                Token::Symbol(";") if depth == 0 => return self.advance(),
                Token::Symbol("{") => depth += 1,
                Token::Symbol("}") if depth == 0 => return,
                Token::Symbol("}") => {
                    depth -= 1;
                    if depth == 0 {
                        return self.advance();
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// At the next word that starts a declaration or a procedure.
    fn skip_to_item(&mut self) {
        loop {
            match self.token {
                Token::EndOfFile
                | Token::Keyword(Keyword::Shared | Keyword::Lock | Keyword::Sem)
                | Token::Keyword(Keyword::Event | Keyword::Proc) => return,
                _ => self.advance(),
            }
        }
    }
}
