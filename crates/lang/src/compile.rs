//! Tree to instructions: names are resolved, what the language forbids is found, and each read is
//! marked as control or data.

use deadheat_model::{ReadKind, Site, SourcePosition};
use rustc_hash::FxHashMap;

use crate::code::{Code, Instruction, Procedure, Requirement, Start, Value, Variable};
use crate::diagnostic::{Collector, Diagnostic, Diagnostics};
use crate::flow::{Binding, Flow, Flows, Store};
use crate::syntax::ast::*;

/// How many names one procedure may bind at a time: each strand it starts gets a copy.
const MAX_SLOTS: u32 = 1000;

/// How many cells all `shared` declarations may take together.
const MAX_CELLS: i64 = 1 << 24;

/// Compiles a program that was read from `source`. What is wrong is added to `errors`.
pub(crate) fn compile(
    program: &Program,
    source: &str,
    errors: Collector,
) -> Result<Code, Diagnostics> {
    let mut compiler = Compiler {
        source,
        lines: line_starts(source),
        last_place: (0, 1, 1),
        code: Code::default(),
        sites: FxHashMap::default(),
        globals: FxHashMap::default(),
        procedures: FxHashMap::default(),
        flows: Flows::default(),
        body: Body::default(),
        errors,
    };
    compiler.declare(program);
    compiler.procedures(program);
    compiler.flows.mark(&mut compiler.code);
    compiler.errors.finish(compiler.code)
}

/// What a global name stands for.
#[derive(Clone, Copy)]
enum Global {
    Variable(u32),
    /// A promise, lock, semaphore or event.
    Object(Value),
}

/// A local name in scope.
struct Local {
    name: String,
    span: Span,
    slot: u32,
    binding: Binding,
    /// How many blocks deep it was bound.
    depth: u32,
}

/// What must be closed when a statement leaves the body it stands in.
#[derive(Clone, Copy)]
enum Enclosing {
    Finish(Site),
    Isolated(Site),
}

/// The body of a procedure or a strand, while it is compiled.
#[derive(Default)]
struct Body {
    locals: Vec<Local>,
    depth: u32,
    next_slot: u32,
    /// The most slots in use at a time, over the whole frame.
    slots: u32,
    enclosing: Vec<Enclosing>,
    /// A strand's body ends the strand on `return`; a procedure's returns to its caller.
    is_strand: bool,
}

struct Compiler<'s> {
    source: &'s str,
    lines: Vec<u32>,
    /// The offset, line and column of the last place that was asked for.
    last_place: (u32, u32, u32),
    code: Code,
    sites: FxHashMap<Span, Site>,
    globals: FxHashMap<String, (Global, Span)>,
    procedures: FxHashMap<String, (u32, Span)>,
    flows: Flows,
    body: Body,
    errors: Collector,
}

impl Compiler<'_> {
    // Declarations.

    fn declare(&mut self, program: &Program) {
        let mut main = None;
        for item in &program.items {
            match item {
                Item::Shared {
                    name,
                    length,
                    initial,
                } => self.declare_variable(name, *length, initial.unwrap_or(0)),
                Item::Promise(name) => {
                    let value = Value::Promise(self.code.promises.len() as u32);
                    self.code.promises.push(name.text.clone());
                    self.declare_global(name, Global::Object(value));
                }
                Item::Lock(name) => {
                    let value = Value::Lock(self.code.locks.len() as u32);
                    self.code.locks.push(name.text.clone());
                    self.declare_global(name, Global::Object(value));
                }
                Item::Event(name) => {
                    let value = Value::Event(self.code.events.len() as u32);
                    self.code.events.push(name.text.clone());
                    self.declare_global(name, Global::Object(value));
                }
                Item::Semaphore { name, initial } => {
                    let tokens = initial.unwrap_or(0);
                    if tokens < 0 {
                        self.errors.add(Diagnostic::new(
                            format!("semaphore `{}` starts below 0", name.text),
                            name.span,
                            format!("{tokens} tokens"),
                        ));
                    }
                    let value = Value::Semaphore(self.code.semaphores.len() as u32);
                    let tokens = tokens.max(0) as u64;
                    self.code.semaphores.push((name.text.clone(), tokens));
                    self.declare_global(name, Global::Object(value));
                }
                Item::Procedure {
                    name, parameters, ..
                } => {
                    let index = self.code.procedures.len() as u32;
                    self.code.procedures.push(Procedure {
                        parameters: parameters.len() as u32,
                        ..Procedure::default()
                    });
                    let bindings = parameters.iter().map(|_| self.flows.bind()).collect();
                    self.flows.parameters.push(bindings);
                    let new = (index, name.span);
                    if let Some((_, first)) = self.procedures.insert(name.text.clone(), new) {
                        self.errors.add(declared_twice(name, first));
                    }
                    if name.text == "main" {
                        main = Some((index, name.span, parameters.len()));
                    }
                }
            }
        }
        match main {
            None => self.errors.add(
                Diagnostic::new("there is no procedure `main`", Span::default(), "")
                    .help("execution starts at `proc main() { … }`"),
            ),
            Some((index, span, parameters)) => {
                self.code.main = index;
                if parameters > 0 {
                    self.errors.add(
                        Diagnostic::new("`main` takes no parameters", span, "nobody calls it")
                            .help("declare what it needs as `shared`, with an initial value"),
                    );
                }
            }
        }
    }

    fn declare_variable(&mut self, name: &Name, length: Option<i64>, initial: i64) {
        let cells = length.unwrap_or(1);
        if cells < 1 || i64::from(self.code.cells) + cells.min(MAX_CELLS + 1) > MAX_CELLS {
            let error = match cells < 1 {
                true => Diagnostic::new(
                    format!("array `{}` has no elements", name.text),
                    name.span,
                    format!("{cells} elements"),
                ),
                false => Diagnostic::new(
                    format!("array `{}` is too large", name.text),
                    name.span,
                    format!("{cells} elements"),
                )
                .help(format!(
                    "all shared variables together may have {MAX_CELLS} elements"
                )),
            };
            self.errors.add(error);
            // Keep the name known, so that its uses are not errors of their own.
            self.declare_global(name, Global::Variable(self.code.variables.len() as u32));
            self.code.variables.push(Variable {
                name: name.text.clone(),
                base: self.code.cells,
                length: Some(1),
                initial,
                matters: true,
            });
            return;
        }
        self.declare_global(name, Global::Variable(self.code.variables.len() as u32));
        self.code.variables.push(Variable {
            name: name.text.clone(),
            base: self.code.cells,
            length: length.map(|length| length as u32),
            initial,
            matters: true,
        });
        self.code.cells += cells as u32;
    }

    fn declare_global(&mut self, name: &Name, global: Global) {
        if let Some((_, first)) = self.globals.insert(name.text.clone(), (global, name.span)) {
            self.errors.add(declared_twice(name, first));
        }
    }

    // Bodies.

    fn procedures(&mut self, program: &Program) {
        let procedures = program.items.iter().filter_map(|item| match item {
            Item::Procedure {
                name,
                parameters,
                body,
            } => Some((name, parameters, body)),
            _ => None,
        });
        for (index, (name, parameters, body)) in procedures.enumerate() {
            let is_main = index as u32 == self.code.main && name.text == "main";
            self.body = Body {
                is_strand: is_main,
                ..Body::default()
            };
            for (position, parameter) in parameters.iter().enumerate() {
                let binding = self.flows.parameters[index][position];
                self.bind_as(parameter, binding);
            }
            self.code.procedures[index].entry = self.here();
            self.block(body);
            self.leave_body(body);
            self.code.procedures[index].slots = self.body.slots;
        }
    }

    fn leave_body(&mut self, body: &Block) {
        let end = self.site(closing_brace(body));
        self.emit(match self.body.is_strand {
            true => Instruction::End(end),
            false => Instruction::Return(end),
        });
    }

    /// Leaves every block that is open around this point.
    fn close_enclosing(&mut self) {
        for index in (0..self.body.enclosing.len()).rev() {
            self.emit(match self.body.enclosing[index] {
                Enclosing::Finish(site) => Instruction::FinishEnd(site),
                Enclosing::Isolated(site) => Instruction::IsolatedEnd(site),
            });
        }
    }

    fn block(&mut self, block: &Block) {
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
                self.body.enclosing.push(Enclosing::Finish(end));
                self.block(block);
                self.body.enclosing.pop();
                self.emit(Instruction::FinishEnd(end));
            }
            StatementKind::Isolated(block) => {
                let end = self.site(closing_brace(block));
                self.emit(Instruction::IsolatedBegin(site));
                self.body.enclosing.push(Enclosing::Isolated(end));
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

    // Places and expressions.

    /// The statement's span starts where the place does.
    fn store(&mut self, place: &Place, statement: Span) -> Option<Store> {
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
    fn read_handle(&mut self, name: &Name, wanted: Requirement) {
        let store = self.variable(name);
        let site = self.site(name.span);
        let read = self.emit(Instruction::Read(site, ReadKind::Data));
        if let Some(store) = store {
            let flow = self.flows.read(read, store);
            self.flows.depend_on(flow);
        }
        self.emit(Instruction::Check(wanted, site));
    }

    fn expr(&mut self, expr: &Expr) -> Flow {
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
    fn control_expr(&mut self, expr: &Expr) {
        let flow = self.expr(expr);
        self.flows.decide(flow);
    }

    /// A condition, and the jump that is taken when it does not hold.
    fn condition(&mut self, condition: &Expr) -> usize {
        self.control_expr(condition);
        let site = self.site_of(condition);
        self.emit(Instruction::JumpUnless(0, site))
    }

    // Names.

    fn local(&self, name: &str) -> Option<&Local> {
        self.body.locals.iter().rev().find(|l| l.name == name)
    }

    fn slot(&mut self) -> u32 {
        let slot = self.body.next_slot;
        self.body.next_slot += 1;
        self.body.slots = self.body.slots.max(self.body.next_slot);
        slot
    }

    /// Binds a name in this block to the value on the stack.
    fn bind(&mut self, name: &Name) -> Binding {
        let binding = self.flows.bind();
        let slot = self.bind_as(name, binding);
        self.emit(Instruction::Bind(slot));
        binding
    }

    fn bind_as(&mut self, name: &Name, binding: Binding) -> u32 {
        let depth = self.body.depth;
        let same_block = |l: &&Local| l.depth == depth && l.name == name.text;
        if let Some(first) = self.body.locals.iter().find(same_block) {
            let error = Diagnostic::new(
                format!("`{}` is already bound in this block", name.text),
                name.span,
                "bound again",
            );
            let first = first.span;
            self.errors.add(error.also(first, "first bound here"));
        }
        let slot = self.slot();
        if slot == MAX_SLOTS {
            let error = Diagnostic::new(
                format!("more than {MAX_SLOTS} names are bound at a time"),
                name.span,
                "one too many",
            );
            let help = "use a shared array, or blocks and procedures of their own";
            self.errors.add(error.help(help));
        }
        // Keeping them would make looking up names slow.
        if slot >= MAX_SLOTS {
            return slot;
        }
        self.body.locals.push(Local {
            name: name.text.clone(),
            span: name.span,
            slot,
            binding,
            depth,
        });
        slot
    }

    fn unknown(&mut self, name: &Name) {
        let locals = self.body.locals.iter().map(|local| local.name.as_str());
        let known = locals.chain(self.globals.keys().map(String::as_str));
        let mut error = Diagnostic::new(
            format!("`{}` is not declared", name.text),
            name.span,
            "unknown name",
        );
        error.help = match self.procedures.contains_key(&name.text) {
            true => Some("it is a procedure: write `call` or `async` before it".to_string()),
            false if !self.errors.has_room() => None,
            false => did_you_mean(&name.text, known),
        };
        self.errors.add(error);
    }

    // Instructions and sites.

    fn here(&self) -> u32 {
        self.code.instructions.len() as u32
    }

    fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.instructions.len() - 1
    }

    /// Makes a jump that was emitted before land here.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.code.instructions[jump] {
            Instruction::Jump(to)
            | Instruction::JumpIf(to, _)
            | Instruction::JumpUnless(to, _)
            | Instruction::LoopTest { exit: to, .. } => *to = here,
            other => unreachable!("{other:?} does not jump"),
        }
    }

    fn site_of(&mut self, expr: &Expr) -> Site {
        self.site(expr.span)
    }

    fn site(&mut self, span: Span) -> Site {
        if let Some(site) = self.sites.get(&span) {
            return *site;
        }
        let (line, column) = self.line_and_column(span.start);
        let site = Site(self.code.sites.len() as u32);
        self.code.sites.push(SourcePosition {
            line,
            column,
            offset: span.start,
            length: span.end.saturating_sub(span.start),
        });
        self.sites.insert(span, site);
        site
    }

    /// Counts from the last place asked for, which is near: a line can have millions of places.
    fn line_and_column(&mut self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= offset) as u32;
        let (near, near_line, near_column) = self.last_place;
        let (from, column) = match near_line == line {
            true => (near, near_column),
            false => (self.lines[line as usize - 1], 1),
        };
        let between = |a: u32, b: u32| self.source[a as usize..b as usize].chars().count() as u32;
        let column = match from <= offset {
            true => column + between(from, offset),
            false => column - between(offset, from),
        };
        self.last_place = (offset, line, column);
        (line, column)
    }
}

fn line_starts(source: &str) -> Vec<u32> {
    let breaks = source.bytes().enumerate().filter(|(_, b)| *b == b'\n');
    std::iter::once(0)
        .chain(breaks.map(|(at, _)| at as u32 + 1))
        .collect()
}

fn closing_brace(block: &Block) -> Span {
    Span {
        start: block.span.end.saturating_sub(1),
        end: block.span.end,
    }
}

fn declared_twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::new(
        format!("`{}` is declared twice", name.text),
        name.span,
        "declared again",
    )
    .also(first, "first declared here")
}

fn not_an_array(name: &Name, declared: Span) -> Diagnostic {
    Diagnostic::new(
        format!("`{}` is not an array", name.text),
        name.span,
        "has no elements",
    )
    .also(declared, "declared here")
}

fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// The known name that is closest to a mistyped one, if any is close.
fn did_you_mean<'n>(typed: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    // A long name is not a typing mistake for anything, and comparing it would be slow.
    if typed.len() > 64 {
        return None;
    }
    let close = known
        .filter(|name| name.len() <= 64)
        .map(|name| (distance(typed, name), name))
        .filter(|(d, name)| *d <= 1 + name.len() / 4 && *d < typed.len())
        .min();
    close.map(|(_, name)| format!("did you mean `{name}`?"))
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + (x != y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
