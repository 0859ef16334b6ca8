//! Pieces of the tree, standing nowhere.

use deadheat_lang::syntax::ast::*;

pub(super) type Statements = Vec<Statement>;

pub(super) fn block(statements: Statements) -> Block {
    Block {
        statements,
        span: Span::default(),
    }
}

pub(super) fn statement(kind: StatementKind) -> Statement {
    Statement {
        kind,
        span: Span::default(),
    }
}

pub(super) fn bind(name: &Name, init: Init) -> Statement {
    statement(StatementKind::Let(name.clone(), init))
}

pub(super) fn operate(operation: Operation, name: &Name) -> Statement {
    statement(StatementKind::Operation(operation, name.clone()))
}

pub(super) fn int(value: i64) -> Expr {
    Expr::new(ExprKind::Int(value))
}

pub(super) fn read(place: Place) -> Expr {
    Expr::new(ExprKind::Place(place))
}

pub(super) fn name(name: &Name) -> Expr {
    read(Place::Name(name.clone()))
}

pub(super) fn not(operand: Expr) -> Expr {
    Expr::new(ExprKind::Unary(UnaryOperator::Not, Box::new(operand)))
}

pub(super) fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    Expr::new(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
}
