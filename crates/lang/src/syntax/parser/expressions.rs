//! Expressions, by precedence.

use super::{Parser, Reading};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::*;
use crate::syntax::lexer::{Keyword, Token};

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Reading<Expr> {
        self.binary(0)
    }

    /// An expression of operators that bind tighter than `floor`.
    fn binary(&mut self, floor: u8) -> Reading<Expr> {
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

    fn unary(&mut self) -> Reading<Expr> {
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
    pub(super) fn place_after(&mut self, name: Name) -> Reading<Place> {
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

    pub(super) fn deref(&mut self) -> Reading<Place> {
        self.expect("*")?;
        Ok(Place::Deref(self.name("the name of a cell")?))
    }
}
