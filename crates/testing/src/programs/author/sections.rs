//! Mutual exclusion: `isolated`, locks, and semaphores that are used like locks.

use super::build::{Statements, block, operate, statement};
use super::{Author, Room, Strand};
use crate::programs::shares::WHOLE;
use deadheat_lang::syntax::ast::*;

/// A way to keep strands out while one is inside.
#[derive(Clone, PartialEq)]
pub(super) enum Guard {
    Lock(Name),
    /// A semaphore that starts with one token.
    Semaphore(Name),
    Isolated,
}

impl Author<'_> {
    pub(super) fn section(&mut self, here: &mut Strand, out: &mut Statements) {
        let Some(guard) = self.next_guard(here) else {
            return;
        };
        // A careless author takes another guard or none.
        let taken = match self.slip(self.careless) {
            true => self.next_guard(here).filter(|other| *other != guard),
            false => Some(guard),
        };
        let isolated = taken.is_some_and(|taken| self.guards[taken] == Guard::Isolated);
        let places = 0..self.memory.len();
        let places = places.filter(|place| self.memory[*place].guard == Some(guard));
        let places: Vec<usize> = places.collect();

        let outside = here.clone();
        for place in &places {
            here.held.set(*place, WHOLE);
        }
        here.around.focus = places.clone();
        here.around.inside.extend(taken);
        here.around.room = match isolated {
            true => Room::Isolated,
            false => Room::Section,
        };
        let mut inside = Vec::new();
        self.access(here, &mut inside);
        while self.size_left > 0 && self.chance(40) {
            self.statement(here, &mut inside);
        }
        for place in places {
            here.held.set(place, outside.held.get(place));
        }
        here.around = outside.around;
        if isolated {
            here.scope.truncate(outside.scope.len());
        }
        match taken {
            Some(taken) => self.enclose(here, taken, inside, out),
            None => out.append(&mut inside),
        }
    }

    /// A guard that may be taken here.
    fn next_guard(&mut self, here: &Strand) -> Option<usize> {
        let inside = &here.around.inside;
        let any_order = self.slip(self.stuck);
        let fits = |guard: &usize| match any_order {
            true => !inside.contains(guard),
            false => inside.iter().all(|outer| outer < guard),
        };
        let guards: Vec<usize> = (0..self.guards.len()).filter(fits).collect();
        // Rather one that protects something.
        let useful = |guard: &usize| self.memory.iter().any(|m| m.guard == Some(*guard));
        let useful: Vec<usize> = guards.iter().copied().filter(useful).collect();
        self.choose(&useful).or_else(|| self.choose(&guards))
    }

    fn enclose(
        &mut self,
        here: &Strand,
        guard: usize,
        mut inside: Statements,
        out: &mut Statements,
    ) {
        self.spend(here);
        let (name, before, after) = match self.guards[guard].clone() {
            Guard::Lock(name) => (name, Operation::Acquire, Operation::Release),
            Guard::Semaphore(name) => (name, Operation::P, Operation::V),
            Guard::Isolated => {
                return out.push(statement(StatementKind::Isolated(block(inside))));
            }
        };
        self.spend(here);
        out.push(operate(before, &name));
        // Two locks need not nest: now and then the outer one is released first.
        let overlaps = self.chance(40);
        let released = inside.pop_if(|last| match last.kind {
            StatementKind::Operation(Operation::Release | Operation::V, _) => overlaps,
            _ => false,
        });
        out.append(&mut inside);
        out.push(operate(after, &name));
        out.extend(released);
    }
}
