//! Declarations: what the global names stand for.

use super::{Compiler, Global};
use crate::code::{Procedure, Value, Variable};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::*;

/// How many cells all `shared` declarations may take together.
const MAX_CELLS: i64 = 1 << 24;

impl Compiler<'_> {
    pub(super) fn declare(&mut self, program: &Program) {
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
}

fn declared_twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::new(
        format!("`{}` is declared twice", name.text),
        name.span,
        "declared again",
    )
    .also(first, "first declared here")
}
