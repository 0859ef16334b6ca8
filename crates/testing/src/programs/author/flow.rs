//! What decides, repeats and is called.

use rustc_hash::FxHashMap;

use super::build::{Statements, binary, block, int, name, read, statement};
use super::signals::Progress;
use super::{Author, Binding, Room, Strand};
use crate::programs::shares::Shares;
use deadheat_lang::syntax::ast::*;

/// A procedure that only accesses memory, so that it can be called from several places.
pub(super) struct Procedure {
    name: Name,
    parameters: Vec<Parameter>,
    uses: Vec<(usize, bool)>,
}

#[derive(Clone, Copy)]
enum Parameter {
    Number,
    /// A cell, with the number it had in the first call.
    Cell(usize),
}

impl Author<'_> {
    /// Writes blocks of which at most one happens. Afterwards the strand has what it has after each
    /// of them, and the rest comes back when the `finish` around ends.
    fn alternatives(
        &mut self,
        here: &mut Strand,
        count: usize,
        mut write: impl FnMut(&mut Self, &mut Strand, &mut Statements),
    ) -> Vec<Block> {
        let before = here.held.clone();
        let mut kept = before.clone();
        let mut returned = self.innermost_finish().returned.clone();
        let sent = self.sent.len();
        let mut blocks = Vec::new();
        for _ in 0..count {
            here.held = before.clone();
            self.innermost_finish().returned = returned.clone();
            blocks.push(self.nested(here, |author, here, out| {
                here.around.conditional = true;
                write(author, here, out);
            }));
            kept.lower_to(&here.held);
            for signal in self.sent.drain(sent..) {
                self.signals[signal].progress = Progress::Spent;
                self.signals[signal].carries = Shares::default();
            }
        }
        let mut lost = before;
        lost.remove_all(&kept);
        returned.add_all(&lost);
        here.held = kept;
        self.innermost_finish().returned = returned;
        blocks
    }

    pub(super) fn branch(&mut self, here: &mut Strand, out: &mut Statements) {
        let mut conditions = Vec::from_iter(self.condition(here));
        if conditions.is_empty() {
            return self.access(here, out);
        }
        if self.chance(10) {
            conditions.extend(self.condition(here));
        }
        let with_else = self.chance(40);
        let count = conditions.len() + usize::from(with_else);
        let mut blocks = self.alternatives(here, count, Self::statements);
        let otherwise = blocks.split_off(conditions.len()).pop();
        out.push(statement(StatementKind::If {
            branches: conditions.into_iter().zip(blocks).collect(),
            otherwise,
        }));
    }

    /// Leaves the strand or procedure on a condition. What follows happens otherwise.
    pub(super) fn leave_early(&mut self, here: &mut Strand, out: &mut Statements) {
        let Some(condition) = self.condition(here) else {
            return;
        };
        let leave = block(vec![statement(StatementKind::Return)]);
        out.push(statement(StatementKind::If {
            branches: vec![(condition, leave)],
            otherwise: None,
        }));
        for rest in self.alternatives(here, 1, Self::statements) {
            out.extend(rest.statements);
        }
    }

    /// Writes the body of a loop, in which strands are started or not.
    pub(super) fn in_loop(
        &mut self,
        here: &mut Strand,
        rounds: u32,
        starting: bool,
        mut write: impl FnMut(&mut Self, &mut Strand, &mut Statements),
    ) -> Block {
        self.loops += 1;
        let home = self.loops;
        let bodies = self.alternatives(here, 1, |author, here, out| {
            here.around.times *= rounds;
            here.around.home = home;
            here.around.finishes_around_home = author.finishes.len();
            if starting {
                // The strands of all rounds run together: of what they share, each has a part.
                for place in here.held.places() {
                    if author.chance(60) {
                        here.held.set(place, here.held.get(place) / 2);
                    }
                }
            } else if here.around.room == Room::Free {
                here.around.room = Room::Section;
            }
            write(author, here, out);
        });
        bodies.into_iter().next().unwrap_or_default()
    }

    pub(super) fn count(&mut self, here: &mut Strand, out: &mut Statements) {
        let shared = match self.chance(self.recipe.control) {
            true => self.deciding(here),
            false => None,
        };
        let (to, at_most_2) = match shared {
            Some(bound) if self.rng.bool() => {
                (binary(BinaryOperator::Remainder, bound, int(3)), true)
            }
            Some(bound) => (bound, false),
            None => (int(2), true),
        };
        let index = self.fresh("i");
        let starting = here.around.room == Room::Free
            && at_most_2
            && self.strands_left >= (2 * here.around.times).into()
            && self.chance(60);
        let body = self.in_loop(here, 2, starting, |author, here, out| {
            let name = index.clone();
            here.scope.push(Binding::Number { name, pure: true });
            if starting {
                author.start(here, out);
            }
            author.statements(here, out);
        });
        out.push(statement(StatementKind::For(index, int(0), to, body)));
    }

    /// Repeats until a shared variable has grown.
    pub(super) fn repeat(&mut self, here: &mut Strand, out: &mut Statements) {
        let counters = here.scope.iter().filter_map(|binding| match binding {
            Binding::Place(place, number) => Some((place.clone(), *number)),
            _ => None,
        });
        let mut counters: Vec<(Place, usize)> = counters.collect();
        let slip = self.slip(self.careless);
        counters.retain(|(_, number)| {
            self.memory[*number].counter && (slip || here.may(*number, true))
        });
        let Some((counter, number)) = self.choose(&counters) else {
            return self.access(here, out);
        };
        self.uses.push((number, true));
        let body = self.in_loop(here, 2, false, |author, here, out| {
            let next = binary(BinaryOperator::Add, read(counter.clone()), int(1));
            out.push(statement(StatementKind::Store(counter.clone(), next)));
            author.spend(here);
            author.spend(here);
            if author.chance(60) {
                author.statement(here, out);
            }
        });
        let test = binary(BinaryOperator::Less, read(counter), int(2));
        out.push(statement(StatementKind::While(test, body)));
    }

    pub(super) fn call(&mut self, here: &mut Strand, out: &mut Statements) {
        let (name, arguments) = self.procedure(here);
        out.push(statement(StatementKind::Call(name, arguments)));
    }

    /// A procedure for the strand to run, and arguments for it.
    pub(super) fn procedure(&mut self, here: &mut Strand) -> (Name, Vec<Expr>) {
        let known = match self.chance(60) {
            true => self.known_procedure(here),
            false => None,
        };
        known.unwrap_or_else(|| self.new_procedure(here))
    }

    fn new_procedure(&mut self, here: &mut Strand) -> (Name, Vec<Expr>) {
        let bare = here.around.room != Room::Free || self.chance(60);
        let (mut names, mut parameters, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
        let mut scope = self.globals.clone();
        for binding in here.scope.iter().skip(scope.len()) {
            let parameter = self.fresh("n");
            let inside = parameter.clone();
            let (argument, binding) = match binding {
                Binding::Number { name, .. } if self.chance(40) => {
                    parameters.push(Parameter::Number);
                    let (name, pure) = (name.clone(), false);
                    (name, Binding::Number { name: inside, pure })
                }
                Binding::Place(Place::Deref(name), place) if self.chance(70) => {
                    parameters.push(Parameter::Cell(*place));
                    (name.clone(), Binding::Place(Place::Deref(inside), *place))
                }
                Binding::Signal(name, signal) if !bare && self.chance(50) => {
                    (name.clone(), Binding::Signal(inside, *signal))
                }
                _ => continue,
            };
            scope.push(binding);
            names.push(parameter);
            arguments.push(name(&argument));
        }
        let scope = std::mem::replace(&mut here.scope, scope);
        let around = here.around.clone();
        if bare {
            here.around.room = Room::Bare;
        }
        let (used, places) = (self.uses.len(), self.memory.len());
        let body = self.body(here);
        here.around = around;
        here.scope = scope;
        let work = self.fresh("work");
        if bare {
            // What it makes itself it may always access.
            let uses = self.uses[used..].iter().copied();
            let uses = uses.filter(|(place, _)| *place < places).collect();
            self.procedures.push(Procedure {
                name: work.clone(),
                parameters,
                uses,
            });
        }
        self.items.push(Item::Procedure {
            name: work.clone(),
            parameters: names,
            body,
        });
        (work, arguments)
    }

    /// A procedure that was written before, if what it does may be done here.
    fn known_procedure(&mut self, here: &Strand) -> Option<(Name, Vec<Expr>)> {
        let known = self.rng.choice(&self.procedures)?;
        let called = known.name.clone();
        let uses = known.uses.clone();
        let parameters = known.parameters.clone();
        let cells = here.cells();
        let mut arguments = Vec::new();
        let mut given: FxHashMap<usize, (Name, usize)> = FxHashMap::default();
        for parameter in parameters {
            arguments.push(match parameter {
                Parameter::Number => int(self.rng.i64(0..=2)),
                Parameter::Cell(then) => {
                    let now = self.choose(&cells)?;
                    name(&given.entry(then).or_insert(now).0)
                }
            });
        }
        let now = |place| given.get(&place).map_or(place, |(_, now)| *now);
        let uses = uses.into_iter().map(|(place, write)| (now(place), write));
        let uses: Vec<(usize, bool)> = uses.collect();
        let allowed = uses.iter().all(|(place, write)| here.may(*place, *write));
        if !allowed && !self.slip(self.careless) {
            return None;
        }
        for access in uses {
            self.uses.push(access);
            self.spend(here);
        }
        Some((called, arguments))
    }
}
