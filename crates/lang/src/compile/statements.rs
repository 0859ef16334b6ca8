//! Statements.

use deadheat_model::Site;

use super::names::did_you_mean;
use super::sites::closing_brace;
use super::{Compiler, Global, OpenBlock};
use crate::code::{Instruction, Requirement, Start};
use crate::diagnostic::Diagnostic;
use crate::flow::Flow;
use crate::syntax::ast::*;

impl Compiler<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        self.body.depth += 1;
        let slots = self.body.next_slot;
        for statement in &block.statements {
            self.statement(statement);
        }
        let depth = self.body.depth;
        self.body.locals.retain(|local| local.depth < depth);
        self.body.next_slot = slots;
        self.body.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        let site = self.site(statement.span);
        match &statement.kind {
            StatementKind::Let(name, init) => self.let_statement(name, init, statement.span),
            StatementKind::Store(place, value) => {
                let flow = self.expr(value);
                if let Some(store) = self.store(place, statement.span) {
                    self.flows.write(store, flow);
                }
            }
            StatementKind::If {
                branches,
                otherwise,
            } => self.if_statement(branches, otherwise.as_ref()),
            StatementKind::While(condition, body) => {
                let test = self.here();
                let exit = self.condition(condition);
                self.block(body);
                self.emit(Instruction::Jump(test));
                self.land(exit);
            }
            StatementKind::For(name, from, to, body) => self.for_statement(name, from, to, body),
            StatementKind::Async(block) => self.start(Start::Async, block, statement.span),
            StatementKind::Fork(name, block) => {
                self.start(Start::Fork, block, statement.span);
                let binding = self.bind(name);
                self.flows.reaches(binding, Flow::from_handle());
            }
            StatementKind::AsyncCall(name, arguments) => {
                if let Some(procedure) = self.call(name, arguments) {
                    self.emit(Instruction::StartCall { procedure, site });
                }
            }
            StatementKind::Call(name, arguments) => {
                if let Some(procedure) = self.call(name, arguments) {
                    self.emit(Instruction::Call { procedure, site });
                }
            }
            StatementKind::Finish(block) => {
                let end = self.site(closing_brace(block));
                self.emit(Instruction::FinishBegin(site));
                self.body.enclosing.push(OpenBlock::Finish(end));
                self.block(block);
                self.body.enclosing.pop();
                self.emit(Instruction::FinishEnd(end));
            }
            StatementKind::Isolated(block) => {
                let end = self.site(closing_brace(block));
                self.emit(Instruction::IsolatedBegin(site));
                self.body.enclosing.push(OpenBlock::Isolated(end));
                self.block(block);
                self.body.enclosing.pop();
                self.emit(Instruction::IsolatedEnd(end));
            }
            StatementKind::Operation(operation, name) => self.operation(*operation, name, site),
            StatementKind::Assert(condition) => {
                let flow = self.expr(condition);
                self.flows.depend_on(flow);
                let site = self.site_of(condition);
                self.emit(Instruction::Assert(site));
            }
            StatementKind::Skip => {}
            StatementKind::Return => {
                self.close_enclosing();
                self.emit(match self.body.is_strand {
                    true => Instruction::End(site),
                    false => Instruction::Return(site),
                });
            }
        }
    }

    fn let_statement(&mut self, name: &Name, init: &Init, span: Span) {
        match init {
            Init::Expr(value) => {
                let flow = self.expr(value);
                let binding = self.bind(name);
                self.flows.reaches(binding, flow);
                return;
            }
            Init::Alloc => {
                let site = self.site(span);
                self.emit(Instruction::Alloc(site));
            }
            Init::Promise => {
                let site = self.site(span);
                self.emit(Instruction::NewPromise(site));
            }
            Init::Future(block) => self.start(Start::Future, block, span),
        }
        let binding = self.bind(name);
        self.flows.reaches(binding, Flow::from_handle());
    }

    fn if_statement(&mut self, branches: &[(Expr, Block)], otherwise: Option<&Block>) {
        let mut ends = Vec::new();
        for (index, (condition, block)) in branches.iter().enumerate() {
            let next = self.condition(condition);
            self.block(block);
            if index + 1 < branches.len() || otherwise.is_some() {
                ends.push(self.emit(Instruction::Jump(0)));
            }
            self.land(next);
        }
        if let Some(block) = otherwise {
            self.block(block);
        }
        for end in ends {
            self.land(end);
        }
    }

    fn for_statement(&mut self, name: &Name, from: &Expr, to: &Expr, body: &Block) {
        self.control_expr(from);
        let site = self.site_of(from);
        self.emit(Instruction::CheckInt(site));
        self.control_expr(to);
        let site = self.site_of(to);
        self.emit(Instruction::CheckInt(site));
        // The loop's variable and bound live in a scope of their own around the body.
        self.body.depth += 1;
        let slots = self.body.next_slot;
        let bound = self.slot();
        self.emit(Instruction::Bind(bound));
        self.bind(name);
        let counter = self.body.next_slot - 1;
        let test = self.emit(Instruction::LoopTest {
            counter,
            bound,
            exit: 0,
        });
        self.block(body);
        self.emit(Instruction::Increment(counter));
        self.emit(Instruction::Jump(test as u32));
        self.land(test);
        let depth = self.body.depth;
        self.body.locals.retain(|local| local.depth < depth);
        self.body.next_slot = slots;
        self.body.depth -= 1;
    }

    /// The strand's body follows in place; who starts it jumps over it.
    fn start(&mut self, how: Start, block: &Block, span: Span) {
        let site = self.site(span);
        let body = self.here() + 2;
        self.emit(Instruction::Start { how, body, site });
        let over = self.emit(Instruction::Jump(0));
        let is_strand = std::mem::replace(&mut self.body.is_strand, true);
        let enclosing = std::mem::take(&mut self.body.enclosing);
        let end = self.site(closing_brace(block));
        self.block(block);
        self.emit(Instruction::End(end));
        self.body.is_strand = is_strand;
        self.body.enclosing = enclosing;
        self.land(over);
    }

    fn call(&mut self, name: &Name, arguments: &[Expr]) -> Option<u32> {
        let flows: Vec<Flow> = arguments.iter().map(|a| self.expr(a)).collect();
        let Some(&(procedure, declared)) = self.procedures.get(&name.text) else {
            let known = self.procedures.keys().map(String::as_str);
            let mut error = Diagnostic::new(
                format!("there is no procedure `{}`", name.text),
                name.span,
                "unknown",
            );
            if self.errors.has_room() {
                error.help = did_you_mean(&name.text, known);
            }
            self.errors.add(error);
            return None;
        };
        let wanted = self.code.procedures[procedure as usize].parameters as usize;
        if wanted != arguments.len() {
            self.errors.add(
                Diagnostic::new(
                    format!(
                        "`{}` takes {}, but {} given",
                        name.text,
                        counted(wanted, "argument"),
                        match arguments.len() {
                            1 => "1 is".to_string(),
                            n => format!("{n} are"),
                        }
                    ),
                    name.span,
                    "",
                )
                .also(declared, "declared here"),
            );
            return None;
        }
        if name.text == "main" {
            self.errors.add(Diagnostic::new(
                "`main` cannot be called",
                name.span,
                "execution starts there",
            ));
            return None;
        }
        for (position, flow) in flows.into_iter().enumerate() {
            let binding = self.flows.parameters[procedure as usize][position];
            self.flows.reaches(binding, flow);
        }
        Some(procedure)
    }

    fn operation(&mut self, operation: Operation, name: &Name, site: Site) {
        let (wanted, step) = match operation {
            Operation::Set => (Requirement::Promise, Instruction::Set(site)),
            Operation::Get => (Requirement::PromiseOrFuture, Instruction::Get(site)),
            Operation::Acquire => (Requirement::Lock, Instruction::Acquire(site)),
            Operation::Release => (Requirement::Lock, Instruction::Release(site)),
            Operation::P => (Requirement::Semaphore, Instruction::P(site)),
            Operation::V => (Requirement::Semaphore, Instruction::V(site)),
            Operation::Post => (Requirement::Event, Instruction::Post(site)),
            Operation::Wait => (Requirement::Event, Instruction::Wait(site)),
            Operation::Clear => (Requirement::Event, Instruction::Clear(site)),
            Operation::Join => (Requirement::Thread, Instruction::Join(site)),
        };
        if let Some(local) = self.local(&name.text) {
            let (slot, binding) = (local.slot, local.binding);
            self.flows.depend_on(Flow::from_binding(binding));
            self.emit(Instruction::Load(slot));
            let site = self.site(name.span);
            self.emit(Instruction::Check(wanted, site));
            self.emit(step);
            return;
        }
        match self.globals.get(&name.text) {
            Some(&(Global::Object(value), declared)) => {
                // What has no `.get` ends the run; what has no other operation is no program.
                if operation == Operation::Get {
                    self.emit(Instruction::Push(value));
                    let site = self.site(name.span);
                    self.emit(Instruction::Check(wanted, site));
                    self.emit(step);
                    return;
                }
                if !wanted.accepts(value) {
                    let error = Diagnostic::new(
                        format!(
                            "`{}` is {}, not {}",
                            name.text,
                            value.description(),
                            wanted.description()
                        ),
                        name.span,
                        format!("{} is needed here", wanted.description()),
                    );
                    self.errors.add(error.also(declared, "declared here"));
                }
                self.emit(Instruction::Push(value));
                self.emit(step);
            }
            Some(&(Global::Variable(_), _)) if operation == Operation::Get => {
                self.read_handle(name, wanted);
                self.emit(step);
            }
            Some(&(Global::Variable(_), declared)) => self.errors.add(
                Diagnostic::new(
                    format!(
                        "`{}` is a shared variable, not {}",
                        name.text,
                        wanted.description()
                    ),
                    name.span,
                    format!("{} is needed here", wanted.description()),
                )
                .also(declared, "declared here")
                .help("if it holds one, bind it first: `let NAME = VARIABLE;`"),
            ),
            None => self.unknown(name),
        }
    }
}

fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
