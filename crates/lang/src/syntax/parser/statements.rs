//! Statements.

use super::{Parser, Reading, Skip};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::*;
use crate::syntax::lexer::{Keyword, Token, shorten};

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Reading<Block> {
        let open = self.span;
        self.expect("{")?;
        self.nest()?;
        let nesting = self.nesting;
        let mut statements = Vec::new();
        while self.token != Token::Symbol("}") {
            let is_proc = self.token == Token::Keyword(Keyword::Proc);
            if self.token == Token::EndOfFile || is_proc {
                // The innermost block that is open says so; those around it are open for the same
                // reason.
                if !std::mem::replace(&mut self.in_open_block, true) {
                    self.errors.add(
                        Diagnostic::new("this block is never closed", open, "opened here")
                            .help("add a `}`"),
                    );
                }
                return Err(Skip);
            }
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Skip) => {
                    self.nesting = nesting;
                    self.skip_to_statement();
                }
            }
        }
        let close = self.span;
        self.advance();
        self.nesting -= 1;
        Ok(Block {
            statements,
            span: open.to(close),
        })
    }

    fn statement(&mut self) -> Reading<Statement> {
        let start = self.span;
        match self.token {
            Token::Keyword(keyword) => {
                let kind = self.keyword_statement(keyword)?;
                // A compound statement is underlined at its keyword, not over its whole body.
                let span = match &kind {
                    StatementKind::If { .. }
                    | StatementKind::While(..)
                    | StatementKind::For(..)
                    | StatementKind::Async(_)
                    | StatementKind::Finish(_)
                    | StatementKind::Isolated(_)
                    | StatementKind::Fork(..) => start,
                    StatementKind::Let(_, Init::Future(_)) => start,
                    _ => self.end_of_statement(start)?,
                };
                // `let f = future { … };`
                if let StatementKind::Let(_, Init::Future(_)) = kind {
                    self.expect(";")?;
                }
                Ok(Statement { kind, span })
            }
            Token::Name | Token::Symbol("*") => {
                let kind = self.place_statement()?;
                let span = self.end_of_statement(start)?;
                Ok(Statement { kind, span })
            }
            _ => Err(self.expected("a statement")),
        }
    }

    /// The `;`, and the statement's span without it.
    fn end_of_statement(&mut self, start: Span) -> Reading<Span> {
        let span = start.to(self.previous);
        self.expect(";")?;
        Ok(span)
    }

    fn keyword_statement(&mut self, keyword: Keyword) -> Reading<StatementKind> {
        let operation = |operation| move |name| StatementKind::Operation(operation, name);
        match keyword {
            Keyword::Let => {
                self.advance();
                let name = self.name("a name to bind")?;
                self.expect("=")?;
                Ok(StatementKind::Let(name, self.init()?))
            }
            Keyword::If => self.if_statement(),
            Keyword::While => {
                self.advance();
                Ok(StatementKind::While(self.expr()?, self.block()?))
            }
            Keyword::For => {
                self.advance();
                let name = self.name("the loop's variable")?;
                self.expect_keyword(Keyword::In)?;
                let from = self.expr()?;
                self.expect("..")?;
                Ok(StatementKind::For(name, from, self.expr()?, self.block()?))
            }
            Keyword::Async => {
                self.advance();
                if self.token == Token::Symbol("{") {
                    return Ok(StatementKind::Async(self.block()?));
                }
                let name = self.name("a block or a procedure's name")?;
                Ok(StatementKind::AsyncCall(name, self.arguments()?))
            }
            Keyword::Finish => {
                self.advance();
                Ok(StatementKind::Finish(self.block()?))
            }
            Keyword::Isolated => {
                self.advance();
                Ok(StatementKind::Isolated(self.block()?))
            }
            Keyword::Acquire => {
                self.advance();
                self.name("a lock's name")
                    .map(operation(Operation::Acquire))
            }
            Keyword::Release => {
                self.advance();
                self.name("a lock's name")
                    .map(operation(Operation::Release))
            }
            Keyword::Join => {
                self.advance();
                self.name("a thread's name").map(operation(Operation::Join))
            }
            Keyword::Fork => {
                self.advance();
                let name = self.name("a name for the thread")?;
                Ok(StatementKind::Fork(name, self.block()?))
            }
            Keyword::Call => {
                self.advance();
                let name = self.name("a procedure's name")?;
                Ok(StatementKind::Call(name, self.arguments()?))
            }
            Keyword::Assert => {
                self.advance();
                Ok(StatementKind::Assert(self.expr()?))
            }
            Keyword::Skip => {
                self.advance();
                Ok(StatementKind::Skip)
            }
            Keyword::Return => {
                self.advance();
                Ok(StatementKind::Return)
            }
            Keyword::Else => {
                let error = Diagnostic::new("`else` without an `if` before it", self.span, "");
                Err(self.fail(error))
            }
            Keyword::Shared | Keyword::Lock | Keyword::Sem | Keyword::Event | Keyword::Proc => {
                let error = Diagnostic::new(
                    format!("`{}` cannot stand inside a procedure", keyword.text()),
                    self.span,
                    "a declaration",
                );
                Err(self.fail(error.help("declarations go outside, before `proc main()`")))
            }
            Keyword::Promise | Keyword::Alloc | Keyword::Future => {
                let text = keyword.text();
                let error = Diagnostic::new(
                    format!("`{text}` needs a name to be bound to"),
                    self.span,
                    "not a statement by itself",
                );
                Err(self.fail(error.help(format!("write `let NAME = {text}`"))))
            }
            Keyword::In => Err(self.expected("a statement")),
        }
    }

    fn if_statement(&mut self) -> Reading<StatementKind> {
        let mut branches = Vec::new();
        loop {
            self.advance(); // `if`
            branches.push((self.expr()?, self.block()?));
            if self.token != Token::Keyword(Keyword::Else) {
                return Ok(StatementKind::If {
                    branches,
                    otherwise: None,
                });
            }
            self.advance(); // `else`
            if self.token != Token::Keyword(Keyword::If) {
                return Ok(StatementKind::If {
                    branches,
                    otherwise: Some(self.block()?),
                });
            }
        }
    }

    fn init(&mut self) -> Reading<Init> {
        match self.token {
            Token::Keyword(Keyword::Alloc) => {
                self.advance();
                Ok(Init::Alloc)
            }
            Token::Keyword(Keyword::Promise) => {
                self.advance();
                Ok(Init::Promise)
            }
            Token::Keyword(Keyword::Future) => {
                self.advance();
                Ok(Init::Future(self.block()?))
            }
            _ => Ok(Init::Expr(self.expr()?)),
        }
    }

    /// A statement that starts with a place: a store, or an operation on a named object.
    fn place_statement(&mut self) -> Reading<StatementKind> {
        if self.token == Token::Name {
            let name = self.name("a name")?;
            if self.eat(".") {
                return Ok(StatementKind::Operation(self.operation()?, name));
            }
            if self.token == Token::Symbol("(") {
                let error = Diagnostic::new(
                    format!("calling `{}` needs a word before it", shorten(&name.text)),
                    name.span,
                    "a procedure's name alone does nothing",
                );
                return Err(self.fail(error.help(
                    "write `call NAME(…);` to run it here, `async NAME(…);` to start a task",
                )));
            }
            let place = self.place_after(name)?;
            return self.store(place);
        }
        let place = self.deref()?;
        self.store(place)
    }

    fn store(&mut self, place: Place) -> Reading<StatementKind> {
        if self.token != Token::Symbol("=") {
            let hint = match place {
                Place::Name(_) => "`=`, `[` or `.`",
                _ => "`=`",
            };
            return Err(self.expected(hint));
        }
        self.advance();
        Ok(StatementKind::Store(place, self.expr()?))
    }

    fn operation(&mut self) -> Reading<Operation> {
        const KNOWN: [(&str, Operation); 7] = [
            ("set", Operation::Set),
            ("get", Operation::Get),
            ("p", Operation::P),
            ("v", Operation::V),
            ("post", Operation::Post),
            ("wait", Operation::Wait),
            ("clear", Operation::Clear),
        ];
        if self.token == Token::Name {
            let text = self.text(self.span);
            if let Some((_, operation)) = KNOWN.iter().find(|(name, _)| *name == text) {
                self.advance();
                return Ok(*operation);
            }
            let error = Diagnostic::new(
                format!("there is no operation `.{}`", shorten(text)),
                self.span,
                "unknown operation",
            );
            return Err(self.fail(error.help(
                "promises have `.set` and `.get`, futures `.get`, semaphores `.p` and `.v`, events \
                 `.post`, `.wait` and `.clear`",
            )));
        }
        Err(self.expected("an operation: `set`, `get`, `p`, `v`, `post`, `wait` or `clear`"))
    }

    fn arguments(&mut self) -> Reading<Vec<Expr>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.eat(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }
}
