//! Tree to instructions: names are resolved, what the language forbids is found, and each read is
//! marked as control or data.

mod declarations;
mod expressions;
mod names;
mod sites;
mod statements;

use deadheat_model::Site;
use rustc_hash::FxHashMap;

use self::sites::{closing_brace, line_starts};
use crate::code::{Code, Instruction, Value};
use crate::diagnostic::{Collector, Diagnostics};
use crate::flow::{Binding, Flows};
use crate::syntax::ast::*;

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
enum OpenBlock {
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
    enclosing: Vec<OpenBlock>,
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
                OpenBlock::Finish(site) => Instruction::FinishEnd(site),
                OpenBlock::Isolated(site) => Instruction::IsolatedEnd(site),
            });
        }
    }

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
}
