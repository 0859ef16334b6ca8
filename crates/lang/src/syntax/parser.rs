//! Tokens to tree: recursive descent over one token of look-ahead.
//!
//! An error skips to the end of its statement (or to the next declaration) and reading goes on, so
//! that one run shows several. Nesting is bounded: nothing in a text can make the reader, or
//! anything later that walks the tree, run out of stack.

use super::ast::*;
use super::lexer::{Keyword, Lexer, Token, shorten};
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

type Parsed<T> = Result<T, Skip>;

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

    fn item(&mut self) -> Parsed<Item> {
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

    fn initial(&mut self) -> Parsed<Option<i64>> {
        match self.eat("=") {
            true => Ok(Some(self.int("a number")?)),
            false => Ok(None),
        }
    }

    fn procedure(&mut self) -> Parsed<Item> {
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

    fn block(&mut self) -> Parsed<Block> {
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

    fn statement(&mut self) -> Parsed<Statement> {
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
    fn end_of_statement(&mut self, start: Span) -> Parsed<Span> {
        let span = start.to(self.previous);
        self.expect(";")?;
        Ok(span)
    }

    fn keyword_statement(&mut self, keyword: Keyword) -> Parsed<StatementKind> {
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

    fn if_statement(&mut self) -> Parsed<StatementKind> {
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

    fn init(&mut self) -> Parsed<Init> {
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
    fn place_statement(&mut self) -> Parsed<StatementKind> {
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

    fn store(&mut self, place: Place) -> Parsed<StatementKind> {
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

    fn operation(&mut self) -> Parsed<Operation> {
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

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
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

    fn expr(&mut self) -> Parsed<Expr> {
        self.binary(0)
    }

    /// An expression of operators that bind tighter than `floor`.
    fn binary(&mut self, floor: u8) -> Parsed<Expr> {
        let nesting = self.nesting;
        let mut left = self.unary()?;
        while let Some(operator) = self.operator() {
            if operator.precedence() <= floor {
                break;
            }
            // A chain `a + b + c` makes a tree as deep as it is long.
            self.nest()?;
            self.advance();
            let right = self.binary(operator.precedence())?;
            let span = left.span.to(right.span);
            left = Expr {
                kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
                span,
            };
        }
        self.nesting = nesting;
        Ok(left)
    }

    fn operator(&self) -> Option<BinaryOperator> {
        let Token::Symbol(symbol) = self.token else {
            return None;
        };
        BinaryOperator::ALL
            .into_iter()
            .find(|operator| operator.symbol() == symbol)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span;
        match self.token {
            Token::Symbol(symbol @ ("!" | "-")) => {
                let operator = match symbol {
                    "!" => UnaryOperator::Not,
                    _ => UnaryOperator::Negate,
                };
                self.nest()?;
                self.advance();
                let operand = self.unary()?;
                self.nesting -= 1;
                let span = start.to(operand.span);
                Ok(Expr {
                    kind: ExprKind::Unary(operator, Box::new(operand)),
                    span,
                })
            }
            Token::Symbol("(") => {
                self.nest()?;
                self.advance();
                let inner = self.expr()?;
                self.expect(")")?;
                self.nesting -= 1;
                Ok(inner)
            }
            Token::Symbol("*") => {
                let place = self.deref()?;
                Ok(self.place_expr(start, place))
            }
            Token::Int(value) => {
                self.advance();
                Ok(Expr {
                    kind: ExprKind::Int(value),
                    span: start,
                })
            }
            Token::Name => {
                let name = self.name("a name")?;
                let place = self.place_after(name)?;
                Ok(self.place_expr(start, place))
            }
            Token::Keyword(keyword @ (Keyword::Alloc | Keyword::Future | Keyword::Promise)) => {
                let text = keyword.text();
                let error = Diagnostic::new(
                    format!("`{text}` cannot be part of an expression"),
                    self.span,
                    "needs a `let` of its own",
                );
                Err(self.fail(error.help(format!("write `let NAME = {text}` and use NAME"))))
            }
            _ => Err(self.expected("an expression")),
        }
    }

    fn place_expr(&self, start: Span, place: Place) -> Expr {
        Expr {
            kind: ExprKind::Place(place),
            span: start.to(self.previous),
        }
    }

    /// What a name refers to, the name having been read.
    fn place_after(&mut self, name: Name) -> Parsed<Place> {
        if self.token != Token::Symbol("[") {
            return Ok(Place::Name(name));
        }
        self.nest()?;
        self.advance();
        let index = self.expr()?;
        self.expect("]")?;
        self.nesting -= 1;
        Ok(Place::Element(name, Box::new(index)))
    }

    fn deref(&mut self) -> Parsed<Place> {
        self.expect("*")?;
        Ok(Place::Deref(self.name("the name of a cell")?))
    }

    // The token under the cursor.

    fn advance(&mut self) {
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

    fn text(&self, span: Span) -> &str {
        &self.source[span.start as usize..span.end as usize]
    }

    fn eat(&mut self, symbol: &'static str) -> bool {
        let found = self.token == Token::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Parsed<()> {
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

    fn expect_keyword(&mut self, keyword: Keyword) -> Parsed<()> {
        if self.token == Token::Keyword(keyword) {
            self.advance();
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", keyword.text())))
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
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

    fn int(&mut self, what: &str) -> Parsed<i64> {
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

    fn expected(&mut self, what: &str) -> Skip {
        let message = format!("expected {what}, found {}", self.found());
        self.fail(Diagnostic::new(message, self.span, "not expected here"))
    }

    fn fail(&mut self, error: Diagnostic) -> Skip {
        self.errors.add(error);
        Skip
    }

    /// One level deeper. Too deep ends the reading: what follows would only repeat it.
    fn nest(&mut self) -> Parsed<()> {
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
