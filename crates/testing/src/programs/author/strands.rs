//! Tasks, futures and threads, and the `finish` that waits for tasks.

use super::build::{Statements, int, name, statement};
use super::signals::{Carrier, Progress};
use super::{Author, Binding, Room, Strand};
use crate::programs::shares::{Shares, WHOLE};
use deadheat_lang::syntax::ast::*;

#[derive(Default)]
pub(super) struct Finish {
    pub(super) number: usize,
    /// What the strands that ended inside it had left.
    pub(super) returned: Shares,
}

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Async,
    AsyncCall,
    Future,
    Fork,
}

impl Author<'_> {
    /// Starts one or more strands.
    pub(super) fn start(&mut self, here: &mut Strand, out: &mut Statements) {
        let scatters = self.recipe.tasks && self.recipe.loops;
        match self.rng.u32(0..10) {
            0..=3 => self.errand(here, out),
            4..=5 if scatters && self.can_scatter(here) => self.scatter(here, out),
            _ => {
                if let Some(how) = self.way_to_start(true) {
                    self.launch(here, how, out, Self::body);
                    self.access(here, out);
                }
            }
        }
    }

    fn way_to_start(&mut self, with_call: bool) -> Option<Start> {
        let recipe = self.recipe;
        let ways = [
            (recipe.tasks, Start::Async),
            (recipe.tasks, Start::Async),
            (
                recipe.tasks && recipe.procedures && with_call,
                Start::AsyncCall,
            ),
            (recipe.futures, Start::Future),
            (recipe.threads, Start::Fork),
        ];
        let ways = ways.into_iter().filter(|(possible, _)| *possible);
        let ways: Vec<Start> = ways.map(|(_, start)| start).collect();
        self.choose(&ways)
    }

    fn launch(
        &mut self,
        here: &mut Strand,
        how: Start,
        out: &mut Statements,
        write: impl FnOnce(&mut Self, &mut Strand) -> Block,
    ) {
        self.strands_left -= i64::from(here.around.times);
        let mut child = here.clone();
        child.held = self.gift(here);
        child.around.focus = child.held.places();
        self.guard_from_now_on(here, how);
        // No `finish` waits for a thread, nor for what it starts and sends.
        if how == Start::Fork {
            self.open_finish();
        }
        let name = self.fresh(if how == Start::Fork { "t" } else { "f" });
        let kind = match how {
            Start::Async => StatementKind::Async(write(self, &mut child)),
            Start::AsyncCall => {
                let (name, arguments) = self.procedure(&mut child);
                StatementKind::AsyncCall(name, arguments)
            }
            Start::Future => {
                let body = write(self, &mut child);
                StatementKind::Let(name.clone(), Init::Future(body))
            }
            Start::Fork => StatementKind::Fork(name.clone(), write(self, &mut child)),
        };
        out.push(statement(kind));
        if how == Start::Fork {
            self.finishes.pop();
        }
        let finish = self.innermost_finish();
        let (carrier, finish) = match how {
            Start::Async | Start::AsyncCall => return finish.returned.add_all(&child.held),
            Start::Future => (Carrier::Future, Some(finish.number)),
            Start::Fork => (Carrier::Thread, None),
        };
        self.sent.push(self.signals.len());
        let signal = self.new_signal(here, carrier, name);
        signal.progress = Progress::Sent;
        signal.carries = child.held;
        signal.finish = finish;
    }

    /// Once there is another strand, what has a guard needs it: until the `finish` ends or, as
    /// nothing need ever end a thread, for good.
    fn guard_from_now_on(&mut self, here: &mut Strand, how: Start) {
        for place in 0..self.memory.len() {
            if self.memory[place].guard.is_some() {
                let share = here.held.get(place);
                here.held.set(place, 0);
                self.innermost_finish().returned.add(place, share);
                if how == Start::Fork {
                    for finish in &mut self.finishes {
                        finish.returned.set(place, 0);
                    }
                }
            }
        }
    }

    /// Starts a strand that waits for a signal, and sends it.
    fn errand(&mut self, here: &mut Strand, out: &mut Statements) {
        let Some(how) = self.way_to_start(false) else {
            return;
        };
        if self.recipe.promises > 0 && self.chance(40) {
            self.make_promise(here, out);
        }
        let Some((name, signal)) = self.unsent(here) else {
            return self.launch(here, how, out, Self::body);
        };
        let carrier = self.signals[signal].carrier;
        self.signals[signal].progress = Progress::Spent;
        let gift = self.gift(here);
        self.launch(here, how, out, |author, child| {
            author.nested(child, |author, child, out| {
                if author.chance(30) {
                    author.access(child, out);
                }
                author.emit_receive(child, &name, carrier, out);
                author.accept(child, &gift, out);
                if author.chance(50) {
                    author.statements(child, out);
                }
            })
        });
        // Until the signal is sent, nothing here may wait, and the gift is still here.
        here.held.add_all(&gift);
        here.around.focus = gift.places();
        let room = std::mem::replace(&mut here.around.room, Room::Bare);
        let too_early = self.slip(self.careless);
        if too_early {
            self.emit_send(here, &name, signal, out);
        }
        self.store(here, out);
        if self.chance(30) {
            self.statement(here, out);
        }
        if !too_early {
            self.emit_send(here, &name, signal, out);
        }
        here.around.room = room;
        here.held.remove_all(&gift);
        if carrier.is_used_up() {
            self.signals[signal].progress = Progress::Spent;
        }
    }

    fn can_scatter(&self, here: &Strand) -> bool {
        let length = self.recipe.array;
        let tasks = i64::from(length * here.around.times);
        here.array().is_some_and(|(_, first)| {
            (first..first + length as usize).all(|place| {
                let memory = &self.memory[place];
                let is_free = memory.guard.is_none() && memory.home == here.around.home;
                is_free && here.may(place, true)
            })
        }) && tasks <= self.strands_left
    }

    /// Starts a task for each element of the array.
    fn scatter(&mut self, here: &mut Strand, out: &mut Statements) {
        let Some((array, first)) = here.array() else {
            return;
        };
        let length = self.recipe.array;
        for place in first..first + length as usize {
            here.held.set(place, 0);
        }
        let index = self.fresh("i");
        let body = self.in_loop(here, length, true, |author, here, out| {
            let element = Place::Element(array.clone(), Box::new(name(&index)));
            let place = author.new_place(here);
            here.held.set(place, 0);
            here.scope.push(Binding::Number {
                name: index.clone(),
                pure: true,
            });
            here.scope.push(Binding::Place(element, place));
            author.launch(here, Start::Async, out, |author, child| {
                child.held.set(place, WHOLE);
                child.around.focus = vec![place];
                author.nested(child, |author, child, out| {
                    author.store(child, out);
                    if author.chance(50) {
                        author.statements(child, out);
                    }
                })
            });
        });
        for place in first..first + length as usize {
            self.innermost_finish().returned.add(place, WHOLE);
        }
        let to = int(length.into());
        out.push(statement(StatementKind::For(index, int(0), to, body)));
    }

    pub(super) fn finish(&mut self, here: &mut Strand, out: &mut Statements) {
        self.open_finish();
        let body = self.nested(here, |author, here, out| {
            if author.chance(30) {
                author.access(here, out);
            }
            author.start(here, out);
            author.statements(here, out);
        });
        let mut returned = Shares::default();
        if let Some(finish) = self.finishes.pop() {
            returned = finish.returned;
            for signal in &mut self.signals {
                if signal.finish == Some(finish.number) {
                    returned.add_all(&std::mem::take(&mut signal.carries));
                }
            }
        }
        // A careless author forgets the `finish`, not what is in it.
        if self.slip(self.careless) {
            out.extend(body.statements);
        } else {
            out.push(statement(StatementKind::Finish(body)));
        }
        self.accept(here, &returned, out);
    }

    fn open_finish(&mut self) {
        self.finish_count += 1;
        self.finishes.push(Finish {
            number: self.finish_count,
            returned: Shares::default(),
        });
    }

    pub(super) fn innermost_finish(&mut self) -> &mut Finish {
        if self.finishes.is_empty() {
            self.finishes.push(Finish::default());
        }
        let innermost = self.finishes.len() - 1;
        &mut self.finishes[innermost]
    }
}
