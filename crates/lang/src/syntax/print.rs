//! A program as text: the other direction of the parser.
//!
//! What is printed reads back as the same tree, spans aside, with one exception: the syntax has
//! no negative numbers, so a negative [`ExprKind::Int`] reads back as a negation of the same value.

use std::fmt::{self, Display, Formatter};

use super::ast::*;

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, item) in self.items.iter().enumerate() {
            if position > 0 && matches!(item, Item::Procedure { .. }) {
                writeln!(f)?;
            }
            writeln!(f, "{item}")?;
        }
        Ok(())
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Shared {
                name,
                length,
                initial,
            } => {
                write!(f, "shared {name}")?;
                if let Some(length) = length {
                    write!(f, "[{length}]")?;
                }
                end_with_initial(f, *initial)
            }
            Item::Promise(name) => write!(f, "promise {name};"),
            Item::Lock(name) => write!(f, "lock {name};"),
            Item::Semaphore { name, initial } => {
                write!(f, "sem {name}")?;
                end_with_initial(f, *initial)
            }
            Item::Event(name) => write!(f, "event {name};"),
            Item::Procedure {
                name,
                parameters,
                body,
            } => {
                write!(f, "proc {name}(")?;
                list(f, parameters)?;
                write!(f, ") {body}")
            }
        }
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        block(f, self, 0)
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        statement(f, self, 0)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Place::Name(name) => write!(f, "{name}"),
            Place::Element(name, index) => write!(f, "{name}[{index}]"),
            Place::Deref(name) => write!(f, "*{name}"),
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expression(f, self, 0)
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn end_with_initial(f: &mut Formatter<'_>, initial: Option<i64>) -> fmt::Result {
    match initial {
        Some(value) => write!(f, " = {value};"),
        None => write!(f, ";"),
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, parts: &[T]) -> fmt::Result {
    for (position, part) in parts.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        write!(f, "{comma}{part}")?;
    }
    Ok(())
}

fn block(f: &mut Formatter<'_>, block: &Block, indent: usize) -> fmt::Result {
    if block.statements.is_empty() {
        return f.write_str("{}");
    }
    f.write_str("{\n")?;
    for inner in &block.statements {
        write!(f, "{:1$}", "", indent + 2)?;
        statement(f, inner, indent + 2)?;
        f.write_str("\n")?;
    }
    write!(f, "{:indent$}}}", "")
}

/// Writes a statement whose first line is already indented.
fn statement(f: &mut Formatter<'_>, statement: &Statement, indent: usize) -> fmt::Result {
    match &statement.kind {
        StatementKind::Let(name, init) => {
            write!(f, "let {name} = ")?;
            match init {
                Init::Expr(value) => write!(f, "{value};"),
                Init::Alloc => f.write_str("alloc;"),
                Init::Promise => f.write_str("promise;"),
                Init::Future(body) => {
                    f.write_str("future ")?;
                    block(f, body, indent)?;
                    f.write_str(";")
                }
            }
        }
        StatementKind::Store(place, value) => write!(f, "{place} = {value};"),
        StatementKind::If {
            branches,
            otherwise,
        } => {
            for (position, (condition, body)) in branches.iter().enumerate() {
                let before = if position > 0 { " else " } else { "" };
                write!(f, "{before}if {condition} ")?;
                block(f, body, indent)?;
            }
            if let Some(body) = otherwise {
                f.write_str(" else ")?;
                block(f, body, indent)?;
            }
            Ok(())
        }
        StatementKind::While(condition, body) => {
            write!(f, "while {condition} ")?;
            block(f, body, indent)
        }
        StatementKind::For(name, from, to, body) => {
            write!(f, "for {name} in {from}..{to} ")?;
            block(f, body, indent)
        }
        StatementKind::Async(body) => {
            f.write_str("async ")?;
            block(f, body, indent)
        }
        StatementKind::AsyncCall(name, arguments) => {
            write!(f, "async {name}(")?;
            list(f, arguments)?;
            f.write_str(");")
        }
        StatementKind::Finish(body) => {
            f.write_str("finish ")?;
            block(f, body, indent)
        }
        StatementKind::Isolated(body) => {
            f.write_str("isolated ")?;
            block(f, body, indent)
        }
        StatementKind::Operation(operation, name) => match operation {
            Operation::Set => write!(f, "{name}.set;"),
            Operation::Get => write!(f, "{name}.get;"),
            Operation::Acquire => write!(f, "acquire {name};"),
            Operation::Release => write!(f, "release {name};"),
            Operation::P => write!(f, "{name}.p;"),
            Operation::V => write!(f, "{name}.v;"),
            Operation::Post => write!(f, "{name}.post;"),
            Operation::Wait => write!(f, "{name}.wait;"),
            Operation::Clear => write!(f, "{name}.clear;"),
            Operation::Join => write!(f, "join {name};"),
        },
        StatementKind::Fork(name, body) => {
            write!(f, "fork {name} ")?;
            block(f, body, indent)
        }
        StatementKind::Call(name, arguments) => {
            write!(f, "call {name}(")?;
            list(f, arguments)?;
            f.write_str(");")
        }
        StatementKind::Assert(condition) => write!(f, "assert {condition};"),
        StatementKind::Skip => f.write_str("skip;"),
        StatementKind::Return => f.write_str("return;"),
    }
}

/// How tightly an operator before its operand binds: tighter than any between two operands.
const UNARY: u8 = 7;

/// Writes an expression, in parentheses if it binds less tightly than `least`.
fn expression(f: &mut Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    let tightness = match &expr.kind {
        ExprKind::Int(i64::MIN) => BinaryOperator::Subtract.precedence(),
        ExprKind::Int(value) if *value < 0 => UNARY,
        ExprKind::Int(_) | ExprKind::Place(_) => UNARY + 1,
        ExprKind::Unary(..) => UNARY,
        ExprKind::Binary(operator, ..) => operator.precedence(),
    };
    if tightness < least {
        f.write_str("(")?;
        expression(f, expr, 0)?;
        return f.write_str(")");
    }
    match &expr.kind {
        // The positive half does not fit.
        ExprKind::Int(i64::MIN) => write!(f, "-{} - 1", i64::MAX),
        ExprKind::Int(value) => write!(f, "{value}"),
        ExprKind::Place(place) => write!(f, "{place}"),
        ExprKind::Unary(UnaryOperator::Not, operand) => {
            f.write_str("!")?;
            expression(f, operand, UNARY)
        }
        ExprKind::Unary(UnaryOperator::Negate, operand) => {
            f.write_str("-")?;
            expression(f, operand, UNARY + 1)
        }
        ExprKind::Binary(operator, left, right) => {
            expression(f, left, operator.precedence())?;
            write!(f, " {} ", operator.symbol())?;
            expression(f, right, operator.precedence() + 1)
        }
    }
}
