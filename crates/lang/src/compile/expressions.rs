//! Expressions, and the places that are read and stored to.

use deadheat_model::ReadKind;

use super::{Compiler, Global};
use crate::code::{Instruction, Requirement, Value};
use crate::diagnostic::Diagnostic;
use crate::flow::{Flow, Store};
use crate::syntax::ast::*;

impl Compiler<'_> {
    /// The statement's span starts where the place does.
    pub(super) fn store(&mut self, place: &Place, statement: Span) -> Option<Store> {
        let (store, span) = match place {
            Place::Name(name) => {
                if let Some(bound) = self.local(&name.text).map(|local| local.span) {
                    self.errors.add(
                        Diagnostic::new(
                            format!("`{}` is a task-local name, bound once", name.text),
                            name.span,
                            "cannot be stored to",
                        )
                        .also(bound, "bound here")
                        .help("declare it as `shared`, or use another `let` in a block of its own"),
                    );
                    return None;
                }
                (self.variable(name), name.span)
            }
            Place::Element(name, index) => (self.element(name, index), statement.to(index.span)),
            Place::Deref(name) => (self.deref(name), statement.to(name.span)),
        };
        let site = self.site(span);
        self.emit(Instruction::Write(site));
        store
    }

    /// Pushes the cell of a scalar variable.
    fn variable(&mut self, name: &Name) -> Option<Store> {
        match self.globals.get(&name.text) {
            Some(&(Global::Variable(index), declared)) => {
                let variable = &self.code.variables[index as usize];
                let base = variable.base;
                if variable.length.is_some() {
                    self.errors.add(
                        Diagnostic::new(
                            format!("`{}` is an array", name.text),
                            name.span,
                            "which element?",
                        )
                        .also(declared, "declared here")
                        .help(format!("write `{}[INDEX]`", name.text)),
                    );
                }
                self.emit(Instruction::Push(Value::Cell(base)));
                return Some(Store::Variable(index));
            }
            Some(&(Global::Object(value), declared)) => self.errors.add(
                Diagnostic::new(
                    format!("`{}` is {}", name.text, value.description()),
                    name.span,
                    "cannot be stored to",
                )
                .also(declared, "declared here"),
            ),
            None => self.unknown(name),
        }
        None
    }

    /// Pushes the cell of an array's element.
    fn element(&mut self, name: &Name, index: &Expr) -> Option<Store> {
        self.control_expr(index);
        let site = self.site_of(index);
        if let Some(bound) = self.local(&name.text).map(|local| local.span) {
            self.errors.add(not_an_array(name, bound));
            return None;
        }
        match self.globals.get(&name.text) {
            Some(&(Global::Variable(index), declared)) => {
                let variable = &self.code.variables[index as usize];
                let base = variable.base;
                match variable.length {
                    Some(length) => {
                        self.emit(Instruction::Element { base, length, site });
                        return Some(Store::Variable(index));
                    }
                    None => self.errors.add(not_an_array(name, declared)),
                }
            }
            Some(&(Global::Object(_), declared)) => self.errors.add(not_an_array(name, declared)),
            None => self.unknown(name),
        }
        None
    }

    /// Pushes the cell that a name refers to.
    fn deref(&mut self, name: &Name) -> Option<Store> {
        if let Some(local) = self.local(&name.text) {
            let (slot, binding) = (local.slot, local.binding);
            self.flows.depend_on(Flow::from_binding(binding));
            self.emit(Instruction::Load(slot));
            let site = self.site(name.span);
            self.emit(Instruction::Check(Requirement::Cell, site));
            return Some(Store::Heap);
        }
        match self.globals.get(&name.text) {
            Some(&(Global::Variable(_), _)) => self.read_handle(name, Requirement::Cell),
            Some(&(Global::Object(value), _)) => {
                self.emit(Instruction::Push(value));
                let site = self.site(name.span);
                self.emit(Instruction::Check(Requirement::Cell, site));
            }
            None => {
                self.unknown(name);
                return None;
            }
        }
        Some(Store::Heap)
    }

    /// Pushes what a shared variable holds, which must be what is wanted.
    pub(super) fn read_handle(&mut self, name: &Name, wanted: Requirement) {
        let store = self.variable(name);
        let site = self.site(name.span);
        let read = self.emit(Instruction::Read(site, ReadKind::Data));
        if let Some(store) = store {
            let flow = self.flows.read(read, store);
            self.flows.depend_on(flow);
        }
        self.emit(Instruction::Check(wanted, site));
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Flow {
        match &expr.kind {
            ExprKind::Int(value) => {
                self.emit(Instruction::Push(Value::Int(*value)));
                Flow::default()
            }
            ExprKind::Place(place) => self.place(place, expr.span),
            ExprKind::Unary(operator, operand) => {
                let flow = self.expr(operand);
                let site = self.site_of(operand);
                self.emit(Instruction::Unary(*operator, site));
                flow
            }
            ExprKind::Binary(operator, left, right) => self.binary(expr, *operator, left, right),
        }
    }

    fn place(&mut self, place: &Place, span: Span) -> Flow {
        let store = match place {
            Place::Name(name) => {
                if let Some(local) = self.local(&name.text) {
                    let (slot, binding) = (local.slot, local.binding);
                    self.emit(Instruction::Load(slot));
                    return Flow::from_binding(binding);
                }
                if let Some(&(Global::Object(value), _)) = self.globals.get(&name.text) {
                    self.emit(Instruction::Push(value));
                    return Flow::from_handle();
                }
                self.variable(name)
            }
            Place::Element(name, index) => self.element(name, index),
            Place::Deref(name) => self.deref(name),
        };
        let site = self.site(span);
        let read = self.emit(Instruction::Read(site, ReadKind::Data));
        store.map_or_else(Flow::default, |store| self.flows.read(read, store))
    }

    fn binary(&mut self, expr: &Expr, operator: BinaryOperator, left: &Expr, right: &Expr) -> Flow {
        let mut flow = self.expr(left);
        let left_site = self.site_of(left);
        let right_site = self.site_of(right);
        match operator {
            BinaryOperator::And | BinaryOperator::Or => {
                let is_and = operator == BinaryOperator::And;
                // It decides whether the right side is evaluated.
                self.flows.depend_on(flow.clone());
                let decided = self.emit(match is_and {
                    true => Instruction::JumpUnless(0, left_site),
                    false => Instruction::JumpIf(0, left_site),
                });
                flow.join(self.expr(right));
                // The right side's truth, as 0 or 1.
                self.emit(Instruction::Unary(UnaryOperator::Not, right_site));
                self.emit(Instruction::Unary(UnaryOperator::Not, right_site));
                let end = self.emit(Instruction::Jump(0));
                self.land(decided);
                self.emit(Instruction::Push(Value::Int(!is_and as i64)));
                self.land(end);
            }
            BinaryOperator::Divide | BinaryOperator::Remainder => {
                let divisor = self.expr(right);
                self.flows.depend_on(divisor.clone());
                flow.join(divisor);
                self.emit(Instruction::Binary(operator, right_site));
            }
            _ => {
                flow.join(self.expr(right));
                let site = self.site_of(expr);
                self.emit(Instruction::Binary(operator, site));
            }
        }
        flow
    }

    /// An expression whose value decides what happens.
    pub(super) fn control_expr(&mut self, expr: &Expr) {
        let flow = self.expr(expr);
        self.flows.decide(flow);
    }

    /// A condition, and the jump that is taken when it does not hold.
    pub(super) fn condition(&mut self, condition: &Expr) -> usize {
        self.control_expr(condition);
        let site = self.site_of(condition);
        self.emit(Instruction::JumpUnless(0, site))
    }
}

fn not_an_array(name: &Name, declared: Span) -> Diagnostic {
    Diagnostic::new(
        format!("`{}` is not an array", name.text),
        name.span,
        "has no elements",
    )
    .also(declared, "declared here")
}
