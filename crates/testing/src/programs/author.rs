//! Writes one program, from its first statement to its last.
//!
//! While it writes, the author keeps book of what each strand may access (see
//! [`shares`](super::shares)): starting a strand, sending a signal and ending a `finish` pass shares
//! on, just as they order events. It waits only for what was sent earlier in the text, and takes
//! locks in one order. A program written by these rules has no race and no deadlock. A careless
//! author breaks the first rule now and then, a stuck one the others.
//!
//! Which statements there are, and how often, is here. The files below have what each does to the
//! book: [`access`] reads and writes, [`sections`] locks, [`signals`] promises and their like,
//! [`strands`] what starts strands and waits for them, [`flow`] conditions, loops and calls.

mod access;
mod flow;
mod sections;
mod signals;
mod strands;

use fastrand::Rng;

use self::build::{Statements, block, int, statement};
use self::flow::Procedure;
use self::sections::Guard;
use self::signals::{Carrier, Signal};
use self::strands::Finish;
use super::shares::{Shares, WHOLE};
use super::{Recipe, build};
use deadheat_lang::syntax::ast::*;

pub(super) struct Author<'a> {
    recipe: &'a Recipe,
    rng: &'a mut Rng,
    items: Vec<Item>,
    /// What the global names stand for.
    globals: Vec<Binding>,
    memory: Vec<Memory>,
    /// What excludes strands from each other, in the order in which they may nest.
    guards: Vec<Guard>,
    signals: Vec<Signal>,
    /// The signals sent so far.
    sent: Vec<usize>,
    /// The `finish`es around this point, the innermost last.
    finishes: Vec<Finish>,
    finish_count: usize,
    procedures: Vec<Procedure>,
    /// The accesses so far: the place, and whether it is written.
    uses: Vec<(usize, bool)>,
    size_left: i64,
    strands_left: i64,
    names: u32,
    loops: usize,
    careless: bool,
    stuck: bool,
    erring: bool,
    spinning: bool,
    /// How often, in percent, an author who can break a rule does.
    slips: u32,
}

/// What a name in scope stands for.
#[derive(Clone)]
enum Binding {
    /// A number. It is pure if it does not depend on shared memory.
    Number { name: Name, pure: bool },
    /// A way to write a place, and its number.
    Place(Place, usize),
    /// An array, and the number of its first element.
    Array(Name, usize),
    /// Something to wait for, and its number.
    Signal(Name, usize),
}

/// What is known of a place.
struct Memory {
    /// What protects it once there is more than one strand.
    guard: Option<usize>,
    /// The loop in whose body it was made, 0 outside of loops.
    home: usize,
    /// It only ever grows, so that a loop can count with it.
    counter: bool,
}

/// What may be written here.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    /// Everything.
    Free,
    /// Nothing that starts a strand or waits for one, except for a guard.
    Section,
    /// The same, and no guards.
    Isolated,
    /// Only accesses and what decides about them.
    Bare,
}

/// The strand that is being written, at the point that is reached.
#[derive(Clone)]
struct Strand {
    held: Shares,
    scope: Vec<Binding>,
    around: Around,
}

/// What is around a point of the text.
#[derive(Clone)]
struct Around {
    room: Room,
    /// Places that the next accesses should rather go to.
    focus: Vec<usize>,
    /// The guards it is inside of.
    inside: Vec<usize>,
    depth: u32,
    /// How often this point is reached, about.
    times: u32,
    /// The loop whose body this is, and how many `finish`es are around that loop.
    home: usize,
    finishes_around_home: usize,
    /// Whether this point can be passed by.
    conditional: bool,
}

type Form<'a> = fn(&mut Author<'a>, &mut Strand, &mut Statements);

impl<'a> Author<'a> {
    pub(super) fn new(recipe: &'a Recipe, rng: &'a mut Rng) -> Author<'a> {
        let faults = [recipe.racy, recipe.deadlocks, recipe.errors, recipe.spins];
        let [careless, stuck, erring, spinning] = faults.map(|p| rng.u32(0..100) < p);
        let (least, most) = (*recipe.size.start(), *recipe.size.end());
        let size = rng.u32(least..=most.max(least));
        let slips = rng.u32(20..=60);
        Author {
            recipe,
            rng,
            items: Vec::new(),
            globals: Vec::new(),
            memory: Vec::new(),
            guards: Vec::new(),
            signals: Vec::new(),
            sent: Vec::new(),
            finishes: vec![Finish::default()],
            finish_count: 0,
            procedures: Vec::new(),
            uses: Vec::new(),
            size_left: size.into(),
            strands_left: i64::from(recipe.strands) - 1,
            names: 0,
            loops: 0,
            careless,
            stuck,
            erring,
            spinning,
            slips,
        }
    }

    pub(super) fn write(mut self) -> Program {
        self.declare_signals_and_guards();
        self.declare_memory();
        let body = self.main();
        self.items.push(Item::Procedure {
            name: Name::new("main"),
            parameters: Vec::new(),
            body,
        });
        Program { items: self.items }
    }

    fn declare_signals_and_guards(&mut self) {
        for _ in 0..self.recipe.promises {
            let name = self.declare_signal("p", Carrier::Promise);
            self.items.push(Item::Promise(name));
        }
        for _ in 0..self.recipe.events {
            let name = self.declare_signal("e", Carrier::Event);
            self.items.push(Item::Event(name));
        }
        for _ in 0..self.recipe.locks {
            let name = self.fresh("l");
            self.guards.push(Guard::Lock(name.clone()));
            self.items.push(Item::Lock(name));
        }
        for _ in 0..self.recipe.semaphores {
            let (name, initial) = if self.rng.bool() {
                (self.declare_signal("s", Carrier::Semaphore), None)
            } else {
                let name = self.fresh("s");
                self.guards.push(Guard::Semaphore(name.clone()));
                (name, Some(1))
            };
            self.items.push(Item::Semaphore { name, initial });
        }
        if self.recipe.isolated {
            self.guards.push(Guard::Isolated);
        }
    }

    fn declare_signal(&mut self, letter: &str, carrier: Carrier) -> Name {
        let name = self.fresh(letter);
        self.signals.push(Signal::new(carrier, 0));
        let binding = Binding::Signal(name.clone(), self.signals.len() - 1);
        self.globals.push(binding);
        name
    }

    fn declare_memory(&mut self) {
        for number in 0..self.recipe.variables {
            let name = match ["x", "y", "z"].get(number as usize) {
                Some(letter) => Name::new(*letter),
                None => Name::new(format!("x{number}")),
            };
            let counts = number == 0 && self.recipe.loops && self.recipe.control > 0;
            self.declare_place(Place::Name(name.clone()), counts);
            let initial = self.chance(20).then_some(1);
            self.items.push(Item::Shared {
                name,
                length: None,
                initial,
            });
        }
        if self.recipe.array > 0 {
            let name = Name::new("a");
            let array = Binding::Array(name.clone(), self.memory.len());
            self.globals.push(array);
            for index in 0..self.recipe.array {
                let index = Box::new(int(index.into()));
                self.declare_place(Place::Element(name.clone(), index), false);
            }
            self.items.push(Item::Shared {
                name,
                length: Some(self.recipe.array.into()),
                initial: None,
            });
        }
    }

    fn declare_place(&mut self, place: Place, counter: bool) {
        let guarded = !self.guards.is_empty() && self.chance(70);
        let guard = guarded.then(|| self.rng.usize(0..self.guards.len()));
        self.globals.push(Binding::Place(place, self.memory.len()));
        self.memory.push(Memory {
            guard,
            home: 0,
            counter,
        });
    }

    fn main(&mut self) -> Block {
        let mut held = Shares::default();
        for place in 0..self.memory.len() {
            held.set(place, WHOLE);
        }
        let mut here = Strand {
            held,
            scope: self.globals.clone(),
            around: Around {
                room: Room::Free,
                focus: Vec::new(),
                inside: Vec::new(),
                depth: 0,
                times: 1,
                home: 0,
                finishes_around_home: 0,
                conditional: false,
            },
        };
        self.nested(&mut here, |author, here, out| {
            if author.chance(30) {
                author.access(here, out);
            }
            if author.strands_left > 0 && author.recipe.finish && author.chance(50) {
                author.finish(here, out);
            } else if author.strands_left > 0 {
                author.start(here, out);
            }
            if author.strands_left > 0 && author.chance(50) {
                author.start(here, out);
            }
            for _ in 0..3 * author.recipe.statements {
                author.statement(here, out);
            }
            author.access(here, out);
        })
    }

    /// A block, with names of its own.
    fn nested(
        &mut self,
        here: &mut Strand,
        write: impl FnOnce(&mut Self, &mut Strand, &mut Statements),
    ) -> Block {
        let names = here.scope.len();
        let around = here.around.clone();
        let mut out = Vec::new();
        here.around.depth += 1;
        write(self, here, &mut out);
        if out.is_empty() {
            self.access(here, &mut out);
        }
        self.join_threads(here, names, &mut out);
        here.around = around;
        here.scope.truncate(names);
        if out.is_empty() {
            out.push(statement(StatementKind::Skip));
        }
        block(out)
    }

    /// The body of a strand or a procedure. It may end early.
    fn body(&mut self, here: &mut Strand) -> Block {
        let names = here.scope.len();
        self.nested(here, |author, here, out| {
            author.statements(here, out);
            if author.recipe.branches && author.chance(10) {
                author.join_threads(here, names, out);
                author.leave_early(here, out);
            }
        })
    }

    fn statements(&mut self, here: &mut Strand, out: &mut Statements) {
        for _ in 0..self.rng.u32(1..=self.recipe.statements.max(1)) {
            self.statement(here, out);
        }
    }

    /// One more statement, or a few that belong together, if there is something left to write.
    fn statement(&mut self, here: &mut Strand, out: &mut Statements) {
        if self.size_left <= 0 {
            return;
        }
        let recipe = self.recipe;
        let room = here.around.room;
        let free = room == Room::Free;
        let guards = !self.guards.is_empty() && (free || room == Room::Section);
        let deep = here.around.depth <= recipe.depth;
        let starting = free && deep && self.strands_left >= here.around.times.into();
        let forms: [(bool, u32, Form<'a>); 15] = [
            (true, 14, Self::access),
            (guards, 24, Self::section),
            (room != Room::Bare, 5, Self::send),
            (free, 8, Self::receive),
            (starting, 10, Self::start),
            (starting && recipe.finish, 6, Self::finish),
            (deep && recipe.branches, 6, Self::branch),
            (deep && recipe.loops, 3, Self::count),
            (deep && recipe.loops, 3, Self::repeat),
            (deep && recipe.procedures, 4, Self::call),
            (recipe.cells, 4, Self::allocate),
            (free && recipe.promises > 0, 2, Self::make_promise),
            (self.erring, 8, Self::blunder),
            (self.stuck && free, 8, Self::hazard),
            (self.spinning && free, 8, Self::spin),
        ];
        let possible = forms.into_iter().filter(|(possible, ..)| *possible);
        let possible: Vec<(u32, Form<'a>)> = possible.map(|(_, w, form)| (w, form)).collect();
        let total = possible.iter().map(|(weight, _)| weight).sum();
        let mut pick = self.rng.u32(0..total);
        for (weight, form) in possible {
            if pick < weight {
                return form(self, here, out);
            }
            pick -= weight;
        }
    }

    /// A statement that can end the run with an error.
    fn blunder(&mut self, here: &mut Strand, out: &mut Statements) {
        let room = here.around.room;
        let mut mistakes = Vec::new();
        if room != Room::Bare {
            let promises = self.signals(here, |signal| signal.carrier == Carrier::Promise);
            let set = |(name, _)| StatementKind::Operation(Operation::Set, name);
            mistakes.extend(promises.into_iter().map(set));
        }
        if let (Some(Guard::Lock(name)), Room::Free | Room::Section) = (self.guards.first(), room) {
            mistakes.push(StatementKind::Operation(Operation::Acquire, name.clone()));
            mistakes.push(StatementKind::Operation(Operation::Release, name.clone()));
        }
        if let Some((place, false)) = self.place(here, true) {
            let value = build::binary(BinaryOperator::Divide, int(1), self.operand(here));
            mistakes.push(StatementKind::Store(place, value));
        }
        if let Some(value) = self.read(here) {
            let test = build::binary(BinaryOperator::Equal, value, int(1));
            mistakes.push(StatementKind::Assert(test));
        }
        out.extend(self.choose(&mistakes).map(statement));
    }

    /// A statement that can block forever.
    fn hazard(&mut self, here: &mut Strand, out: &mut Statements) {
        let mut waits = self.idle_waits(here);
        for guard in &self.guards {
            if let Guard::Semaphore(name) = guard {
                waits.push(build::operate(Operation::P, name));
            }
        }
        self.spend(here);
        out.extend(self.choose(&waits));
    }

    /// Waits in a loop for a shared variable to change.
    fn spin(&mut self, here: &mut Strand, out: &mut Statements) {
        if let Some(value) = self.read(here) {
            let test = build::binary(BinaryOperator::Equal, value, int(0));
            let skip = block(vec![statement(StatementKind::Skip)]);
            out.push(statement(StatementKind::While(test, skip)));
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn slip(&mut self, can: bool) -> bool {
        can && self.chance(self.slips)
    }

    fn choose<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        self.rng.choice(from).cloned()
    }

    fn fresh(&mut self, letter: &str) -> Name {
        self.names += 1;
        Name::new(format!("{letter}{}", self.names))
    }

    fn spend(&mut self, here: &Strand) {
        self.size_left -= i64::from(here.around.times);
    }
}
