//! Programs without any discipline: whatever the grammar allows, in any order.
//!
//! The other families are made of patterns that people write, most of which work. These are not:
//! many deadlock or fail, and all constructs meet in ways nobody would think of, which is what an
//! exhaustive search has to be right about.

use std::ops::RangeInclusive;

use fastrand::Rng;

use super::build::{binary, block, int, read, statement};
use deadheat_lang::syntax::ast::*;

const MAX_CHILDREN: u32 = 3;
const MAX_DEPTH: u32 = 3;
const BLOCK: u32 = 3;
const ELEMENTS: i64 = 2;
/// The kinds that every program may have: those that start strands, and stores.
const ALWAYS: u32 = 0b11_1111 | 0b111 << 29;
/// The kinds that belong together: `finish` and `join`, `isolated`, branches, promises, locks,
/// semaphores, events, cells, assertions, `let`, `return`.
const GROUPS: [u32; 11] = [
    1 << 6 | 1 << 11,
    0b11 << 7,
    0b11 << 9,
    0b11 << 12,
    0b11 << 14,
    0b111 << 16,
    0b1111 << 19,
    1 << 23,
    1 << 24,
    0b111 << 25,
    1 << 28,
];
/// How many kinds of statements there are, those that come up more often counted more often.
const KINDS: u32 = 32;

pub(super) fn program(statements: RangeInclusive<u32>, rng: &mut Rng) -> Program {
    let mut wild = Wild {
        statements_left: rng.u32(statements),
        children_left: MAX_CHILDREN,
        // Few constructs meet more often than many.
        constructs: (0..3).fold(ALWAYS, |kinds, _| kinds | GROUPS[rng.usize(..GROUPS.len())]),
        names: 0,
        rng,
    };
    let mut scope = Scope::default();
    let mut body = Vec::new();
    while wild.statements_left > 0 {
        body.push(wild.statement(&mut scope, MAX_DEPTH, false));
    }
    let tokens = wild.rng.i64(0..2);
    Program {
        items: vec![
            shared("x", None),
            shared("y", None),
            shared("a", Some(ELEMENTS)),
            Item::Promise(Name::new("p")),
            Item::Lock(Name::new("l")),
            Item::Semaphore {
                name: Name::new("s"),
                initial: Some(tokens),
            },
            Item::Event(Name::new("e")),
            Item::Procedure {
                name: Name::new("main"),
                parameters: Vec::new(),
                body: block(body),
            },
        ],
    }
}

/// The local names in scope, by what they hold.
#[derive(Clone, Default)]
struct Scope {
    numbers: Vec<String>,
    cells: Vec<String>,
    promises: Vec<String>,
    threads: Vec<String>,
}

struct Wild<'r> {
    statements_left: u32,
    children_left: u32,
    /// A bit for each kind of statement that the program may have.
    constructs: u32,
    names: u32,
    rng: &'r mut Rng,
}

impl Wild<'_> {
    fn block(&mut self, scope: &Scope, depth: u32, isolated: bool) -> Block {
        let mut scope = scope.clone();
        let mut statements = Vec::new();
        for _ in 0..self.rng.u32(1..=BLOCK) {
            if self.statements_left > 0 {
                statements.push(self.statement(&mut scope, depth, isolated));
            }
        }
        block(statements)
    }

    fn statement(&mut self, scope: &mut Scope, depth: u32, isolated: bool) -> Statement {
        self.statements_left -= 1;
        let nested = depth > 0;
        let inner = depth.saturating_sub(1);
        let kind = match self.kind() {
            0..3 if nested && !isolated && self.children_left > 0 => {
                self.children_left -= 1;
                StatementKind::Async(self.block(scope, inner, false))
            }
            3 if nested && !isolated && self.children_left > 0 => {
                self.children_left -= 1;
                let body = self.block(scope, inner, false);
                let name = self.name();
                scope.promises.push(name.clone());
                StatementKind::Let(Name::new(name), Init::Future(body))
            }
            4..6 if nested && !isolated && self.children_left > 0 => {
                self.children_left -= 1;
                let body = self.block(scope, inner, false);
                let name = self.name();
                scope.threads.push(name.clone());
                StatementKind::Fork(Name::new(name), body)
            }
            6 if nested && !isolated => StatementKind::Finish(self.block(scope, inner, false)),
            7..9 if nested => StatementKind::Isolated(self.block(scope, inner, true)),
            9 if nested => StatementKind::If {
                branches: vec![(self.expr(scope), self.block(scope, inner, isolated))],
                otherwise: None,
            },
            10 if nested && self.rng.u32(..3) == 0 => StatementKind::While(
                binary(BinaryOperator::Equal, self.read(scope), int(0)),
                self.block(scope, inner, isolated),
            ),
            11 if !isolated && !scope.threads.is_empty() => {
                let thread = self.rng.choice(&scope.threads).cloned();
                operation(Operation::Join, &thread.unwrap_or_default())
            }
            12 if !isolated => {
                let promise = self.promise(scope);
                operation(Operation::Get, &promise)
            }
            13 => operation(Operation::Set, "p"),
            14 if !isolated => operation(Operation::Acquire, "l"),
            15 => operation(Operation::Release, "l"),
            16 if !isolated => operation(Operation::P, "s"),
            17 | 18 => operation(Operation::V, "s"),
            19 | 20 => operation(Operation::Post, "e"),
            21 if !isolated => operation(Operation::Wait, "e"),
            22 => operation(Operation::Clear, "e"),
            23 => {
                let name = self.name();
                scope.cells.push(name.clone());
                StatementKind::Let(Name::new(name), Init::Alloc)
            }
            24 => StatementKind::Assert(self.expr(scope)),
            25..28 => {
                let value = self.expr(scope);
                let name = self.name();
                scope.numbers.push(name.clone());
                StatementKind::Let(Name::new(name), Init::Expr(value))
            }
            28 if self.rng.u32(..3) == 0 => StatementKind::Return,
            _ => StatementKind::Store(self.place(scope), self.expr(scope)),
        };
        statement(kind)
    }

    /// A kind of statement that the program may have, or a store.
    fn kind(&mut self) -> u32 {
        let mut tries = (0..16).map(|_| self.rng.u32(..KINDS));
        let kind = tries.find(|kind| self.constructs & (1 << kind) != 0);
        kind.unwrap_or(KINDS)
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn promise(&mut self, scope: &Scope) -> String {
        let local = self.rng.choice(&scope.promises).cloned();
        local.filter(|_| self.rng.bool()).unwrap_or("p".into())
    }

    fn place(&mut self, scope: &Scope) -> Place {
        match self.rng.u32(..16) {
            0 | 1 => {
                let index = int(self.rng.i64(0..ELEMENTS));
                Place::Element(Name::new("a"), Box::new(index))
            }
            2 => {
                let index = self.read(scope);
                Place::Element(Name::new("a"), Box::new(index))
            }
            3..7 => match self.rng.choice(&scope.cells) {
                Some(cell) => Place::Deref(Name::new(cell)),
                None => Place::Name(Name::new("x")),
            },
            // What was read may be a cell that somebody stored.
            7 => match self.rng.choice(&scope.numbers) {
                Some(number) => Place::Deref(Name::new(number)),
                None => Place::Name(Name::new("y")),
            },
            8..10 => Place::Name(Name::new("y")),
            _ => Place::Name(Name::new("x")),
        }
    }

    /// A read of shared memory.
    fn read(&mut self, scope: &Scope) -> Expr {
        match self.rng.choice(&scope.cells) {
            Some(cell) if self.rng.u32(..4) == 0 => read(Place::Deref(Name::new(cell))),
            _ => {
                let variable = if self.rng.bool() { "x" } else { "y" };
                read(Place::Name(Name::new(variable)))
            }
        }
    }

    fn expr(&mut self, scope: &Scope) -> Expr {
        match self.rng.u32(..8) {
            0 | 1 => self.read(scope),
            2 => match self.rng.choice(&scope.numbers) {
                Some(number) => read(Place::Name(Name::new(number))),
                None => int(1),
            },
            3 => binary(BinaryOperator::Add, self.read(scope), int(1)),
            4 => {
                let operator = match self.rng.bool() {
                    true => BinaryOperator::And,
                    false => BinaryOperator::Or,
                };
                binary(operator, self.read(scope), self.read(scope))
            }
            5 if self.rng.u32(..4) == 0 => match self.rng.choice(&scope.cells) {
                Some(cell) => read(Place::Name(Name::new(cell))),
                None => read(Place::Name(Name::new("p"))),
            },
            _ => int(self.rng.i64(0..3)),
        }
    }
}

fn shared(name: &str, length: Option<i64>) -> Item {
    Item::Shared {
        name: Name::new(name),
        length,
        initial: None,
    }
}

fn operation(operation: Operation, name: &str) -> StatementKind {
    StatementKind::Operation(operation, Name::new(name))
}
