//! Reads, writes and values.

use super::build::{Statements, binary, bind, int, name, not, read, statement};
use super::{Author, Binding, Memory, Strand};
use crate::programs::shares::WHOLE;
use deadheat_lang::syntax::ast::*;

impl Strand {
    pub(super) fn may(&self, place: usize, write: bool) -> bool {
        let share = self.held.get(place);
        if write { share == WHOLE } else { share > 0 }
    }

    /// The cells in scope.
    pub(super) fn cells(&self) -> Vec<(Name, usize)> {
        let cells = self.scope.iter().filter_map(|binding| match binding {
            Binding::Place(Place::Deref(name), place) => Some((name.clone(), *place)),
            _ => None,
        });
        cells.collect()
    }

    /// The array, and the number of its first element.
    pub(super) fn array(&self) -> Option<(Name, usize)> {
        self.scope.iter().find_map(|binding| match binding {
            Binding::Array(name, first) => Some((name.clone(), *first)),
            _ => None,
        })
    }
}

impl Author<'_> {
    pub(super) fn access(&mut self, here: &mut Strand, out: &mut Statements) {
        if self.rng.bool() {
            self.store(here, out);
        } else {
            self.load(here, out);
        }
    }

    pub(super) fn store(&mut self, here: &mut Strand, out: &mut Statements) {
        let Some((place, counter)) = self.element_or_place(here, true) else {
            return self.load(here, out);
        };
        let value = match self.rng.u32(0..10) {
            0..=3 => {
                self.spend(here);
                binary(BinaryOperator::Add, read(place.clone()), int(1))
            }
            _ if counter => int(2),
            4..=6 => int(self.rng.i64(0..=2)),
            _ => self.value(here),
        };
        out.push(statement(StatementKind::Store(place, value)));
    }

    fn load(&mut self, here: &mut Strand, out: &mut Statements) {
        let pure = self.recipe.branches && self.chance(10);
        let value = if pure {
            int(self.rng.i64(0..=2))
        } else {
            match self.element_or_place(here, false) {
                Some((place, _)) if self.chance(80) => read(place),
                Some((place, _)) => binary(BinaryOperator::Add, read(place), self.operand(here)),
                None => return,
            }
        };
        let name = self.fresh("v");
        out.push(bind(&name, Init::Expr(value)));
        here.scope.push(Binding::Number { name, pure });
    }

    /// A fresh cell, or another name for one.
    pub(super) fn allocate(&mut self, here: &mut Strand, out: &mut Statements) {
        let cells = here.cells();
        let cell = self.fresh("r");
        let known = self.choose(&cells).filter(|_| self.chance(30));
        let (init, place) = match known {
            Some((known, place)) => (Init::Expr(name(&known)), place),
            None => (Init::Alloc, self.new_place(here)),
        };
        out.push(bind(&cell, init));
        here.scope.push(Binding::Place(Place::Deref(cell), place));
        here.around.focus = vec![place];
        self.store(here, out);
    }

    /// A place that did not exist before, all the strand's.
    pub(super) fn new_place(&mut self, here: &mut Strand) -> usize {
        let place = self.memory.len();
        self.memory.push(Memory {
            guard: None,
            home: here.around.home,
            counter: false,
        });
        here.held.set(place, WHOLE);
        place
    }

    fn element_or_place(&mut self, here: &Strand, write: bool) -> Option<(Place, bool)> {
        let element = match self.chance(25) {
            true => self.element(here, write),
            false => None,
        };
        match element {
            Some(element) => Some((element, false)),
            None => self.place(here, write),
        }
    }

    /// A place to access, and whether it is a counter. It is one that the strand may access, unless
    /// the author slips.
    pub(super) fn place(&mut self, here: &Strand, write: bool) -> Option<(Place, bool)> {
        let places = here.scope.iter().filter_map(|binding| match binding {
            Binding::Place(place, number) => Some((place.clone(), *number)),
            _ => None,
        });
        let (mut places, mut forbidden): (Vec<_>, Vec<_>) =
            places.partition(|(_, number)| here.may(*number, write));
        if !forbidden.is_empty() && self.slip(self.careless) {
            // It takes two to race.
            keep_if_any(&mut forbidden, |number| {
                let mut uses = self.uses.iter();
                uses.any(|(used, written)| used == number && (write || *written))
            });
            places = forbidden;
        } else if self.chance(75) {
            keep_if_any(&mut places, |number| here.around.focus.contains(number));
        }
        let (place, number) = self.choose(&places)?;
        self.uses.push((number, write));
        self.spend(here);
        Some((place, self.memory[number].counter))
    }

    /// An element at an index that is computed.
    fn element(&mut self, here: &Strand, write: bool) -> Option<Place> {
        let (name, first) = here.array()?;
        let length = self.recipe.array;
        let elements = first..first + length as usize;
        let allowed = elements.clone().all(|place| here.may(place, write));
        if !allowed && !self.slip(self.careless) {
            return None;
        }
        let index = binary(
            BinaryOperator::Remainder,
            self.deciding(here)?,
            int(length.into()),
        );
        self.uses.extend(elements.map(|place| (place, write)));
        self.spend(here);
        Some(Place::Element(name, Box::new(index)))
    }

    // No value is ever negative, so that the remainder of a division is an index.

    fn value(&mut self, here: &Strand) -> Expr {
        use BinaryOperator::*;
        let left = self.operand(here);
        match self.choose(&[Add, Add, Equal, NotEqual, Less, GreaterEqual]) {
            Some(operator) if self.chance(30) => binary(operator, left, self.operand(here)),
            _ => left,
        }
    }

    pub(super) fn operand(&mut self, here: &Strand) -> Expr {
        let operand = match self.rng.u32(0..3) {
            0 => self.number(here, false),
            1 => self.read(here),
            _ => None,
        };
        operand.unwrap_or_else(|| int(self.rng.i64(0..=2)))
    }

    fn number(&mut self, here: &Strand, only_pure: bool) -> Option<Expr> {
        let numbers = here.scope.iter().filter_map(|binding| match binding {
            Binding::Number { name, pure } if *pure || !only_pure => Some(name.clone()),
            _ => None,
        });
        let numbers: Vec<Name> = numbers.collect();
        self.choose(&numbers).map(|chosen| name(&chosen))
    }

    pub(super) fn read(&mut self, here: &Strand) -> Option<Expr> {
        self.place(here, false).map(|(place, _)| read(place))
    }

    /// A number that may decide what happens.
    pub(super) fn deciding(&mut self, here: &Strand) -> Option<Expr> {
        let shared = self.chance(self.recipe.control);
        let pure = match shared {
            true => None,
            false => self.number(here, true),
        };
        match pure {
            Some(number) => Some(number),
            None if self.recipe.control == 0 => None,
            None if self.chance(70) => self.read(here),
            None => self.number(here, false),
        }
    }

    pub(super) fn condition(&mut self, here: &Strand) -> Option<Expr> {
        use BinaryOperator::*;
        let left = self.deciding(here)?;
        let test = match self.choose(&[Equal, Equal, NotEqual, Less, Greater]) {
            Some(operator) if self.chance(85) => binary(operator, left, int(self.rng.i64(0..=1))),
            _ => not(left),
        };
        let other = match self.chance(20) {
            true => self.deciding(here),
            false => None,
        };
        Some(match other {
            Some(other) if self.rng.bool() => binary(And, test, other),
            Some(other) => binary(Or, test, other),
            None => test,
        })
    }
}

/// Keeps the places that fit, or all if none does.
fn keep_if_any(places: &mut Vec<(Place, usize)>, fits: impl Fn(&usize) -> bool) {
    if places.iter().any(|(_, number)| fits(number)) {
        places.retain(|(_, number)| fits(number));
    }
}
