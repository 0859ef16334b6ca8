//! What a program, a procedure or a block can do, calls included.

use deadheat_model::Construct;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Collector, Diagnostic};
use crate::syntax::ast::*;

/// What a piece of program can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Effect {
    /// A bit for each construct.
    constructs: u16,
    /// A statement that cannot stand inside `isolated`, and its word.
    unfit_for_isolated: Option<(Span, &'static str)>,
}

impl Effect {
    fn join(&mut self, other: Effect) {
        self.constructs |= other.constructs;
        self.unfit_for_isolated = self.unfit_for_isolated.or(other.unfit_for_isolated);
    }

    fn uses(&mut self, construct: Construct) {
        self.constructs |= 1 << construct as u16;
    }
}

/// What each procedure can do.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    procedures: FxHashMap<String, Effect>,
}

impl Effects {
    /// Computes the effects of every procedure, and checks what stands inside `isolated`.
    pub(crate) fn of_program(program: &Program, errors: &mut Collector) -> Effects {
        let bodies: Vec<(&str, &Block)> = program
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Procedure { name, body, .. } => Some((name.text.as_str(), body)),
                _ => None,
            })
            .collect();
        let promises: FxHashSet<&str> = program
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Promise(name) => Some(name.text.as_str()),
                _ => None,
            })
            .collect();
        // Who is called by whom, then what each does by itself flows to its callers.
        let mut effects = Effects::default();
        let mut callers: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for &(name, body) in &bodies {
            let effect = effects.procedures.entry(name.to_string()).or_default();
            each_statement(body, &mut |statement| {
                effect.join(own_effect(statement));
                if let StatementKind::Operation(Operation::Get, name) = &statement.kind
                    && promises.contains(&name.text.as_str())
                {
                    effect.uses(Construct::Promise);
                }
                if let Some((callee, _)) = callee(statement) {
                    callers.entry(callee.text.as_str()).or_default().push(name);
                }
            });
        }
        let mut pending: Vec<&str> = bodies.iter().map(|(name, _)| *name).collect();
        while let Some(name) = pending.pop() {
            let effect = effects.of_procedure(name);
            for caller in callers.get(name).into_iter().flatten() {
                let before = effects.of_procedure(caller);
                let mut after = before;
                after.join(effect);
                if after != before {
                    effects.procedures.insert(caller.to_string(), after);
                    pending.push(caller);
                }
            }
        }
        for (_, body) in bodies {
            each_statement(body, &mut |statement| {
                if let StatementKind::Isolated(block) = &statement.kind {
                    effects.check_isolated(statement.span, block, errors);
                }
            });
        }
        effects
    }

    fn of_procedure(&self, name: &str) -> Effect {
        self.procedures.get(name).copied().unwrap_or_default()
    }

    /// The constructs that `main` can use.
    pub(crate) fn constructs(&self) -> Vec<Construct> {
        let main = self.of_procedure("main");
        let used = |construct: &Construct| main.constructs & (1 << *construct as u16) != 0;
        Construct::ALL.into_iter().filter(used).collect()
    }

    fn check_isolated(&self, isolated: Span, block: &Block, errors: &mut Collector) {
        each_statement(block, &mut |statement| {
            if let Some((span, word)) = own_effect(statement).unfit_for_isolated {
                errors.add(
                    Diagnostic::new(
                        format!("`{word}` cannot stand inside `isolated`"),
                        span,
                        "starts or waits for another strand",
                    )
                    .also(isolated, "inside this block"),
                );
            } else if let Some((name, true)) = callee(statement)
                && let Some((span, word)) = self.of_procedure(&name.text).unfit_for_isolated
            {
                errors.add(
                    Diagnostic::new(
                        format!("`{}` cannot be called inside `isolated`", name.text),
                        name.span,
                        format!("reaches `{word}`"),
                    )
                    .also(isolated, "inside this block")
                    .also(span, "starts or waits for another strand"),
                );
            }
        });
    }
}

/// The procedure a statement runs, and whether in this strand.
fn callee(statement: &Statement) -> Option<(&Name, bool)> {
    match &statement.kind {
        StatementKind::Call(name, _) => Some((name, true)),
        StatementKind::AsyncCall(name, _) => Some((name, false)),
        _ => None,
    }
}

/// What a statement does by itself, without the blocks in it and the procedures it calls.
fn own_effect(statement: &Statement) -> Effect {
    // What it uses, and its word if it cannot stand in `isolated`.
    let (construct, unfit) = match &statement.kind {
        StatementKind::Async(_) | StatementKind::AsyncCall(..) => (Construct::Async, "async"),
        StatementKind::Let(_, Init::Future(_)) => (Construct::Future, "future"),
        StatementKind::Let(_, Init::Promise) => (Construct::Promise, ""),
        StatementKind::Finish(_) => (Construct::Finish, "finish"),
        StatementKind::Isolated(_) => (Construct::Isolated, ""),
        StatementKind::Fork(..) => (Construct::Fork, "fork"),
        StatementKind::Operation(operation, _) => match operation {
            Operation::Set => (Construct::Promise, ""),
            // Of a declared promise, one made or set elsewhere, or a future: all counted there.
            Operation::Get => {
                let unfit_for_isolated = Some((statement.span, "get"));
                return Effect {
                    unfit_for_isolated,
                    ..Effect::default()
                };
            }
            Operation::Acquire => (Construct::Lock, "acquire"),
            Operation::Release => (Construct::Lock, ""),
            Operation::P => (Construct::Semaphore, "p"),
            Operation::V => (Construct::Semaphore, ""),
            Operation::Wait => (Construct::Event, "wait"),
            Operation::Post | Operation::Clear => (Construct::Event, ""),
            Operation::Join => (Construct::Fork, "join"),
        },
        _ => return Effect::default(),
    };
    let mut effect = Effect::default();
    effect.uses(construct);
    if !unfit.is_empty() {
        effect.unfit_for_isolated = Some((statement.span, unfit));
    }
    effect
}

/// Calls `f` on every statement of a block, those inside others included.
fn each_statement<'b>(block: &'b Block, f: &mut impl FnMut(&'b Statement)) {
    for statement in &block.statements {
        f(statement);
        for block in statement.blocks() {
            each_statement(block, f);
        }
    }
}
