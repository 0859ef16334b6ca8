//! What one strand sends and another waits for, and what is passed on with it.

use super::build::{Statements, bind, operate};
use super::{Author, Binding, Strand};
use crate::programs::shares::{Share, Shares, WHOLE};
use deadheat_lang::syntax::ast::*;

/// Something that one strand sends and others wait for, with what it passes on.
pub(super) struct Signal {
    pub(super) carrier: Carrier,
    pub(super) progress: Progress,
    pub(super) carries: Shares,
    /// The `finish` that waits for the sender, if any.
    pub(super) finish: Option<usize>,
    /// The loop in whose body it was made, 0 outside of loops.
    home: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Carrier {
    Promise,
    Future,
    Semaphore,
    Event,
    Thread,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Progress {
    Unsent,
    /// Sent wherever this point of the text is reached.
    Sent,
    /// Used up, or perhaps not sent.
    Spent,
}

impl Signal {
    pub(super) fn new(carrier: Carrier, home: usize) -> Signal {
        Signal {
            carrier,
            progress: Progress::Unsent,
            carries: Shares::default(),
            finish: None,
            home,
        }
    }
}

impl Carrier {
    fn sending(self) -> Operation {
        match self {
            Carrier::Promise | Carrier::Future | Carrier::Thread => Operation::Set,
            Carrier::Semaphore => Operation::V,
            Carrier::Event => Operation::Post,
        }
    }

    fn waiting(self) -> Operation {
        match self {
            Carrier::Promise | Carrier::Future => Operation::Get,
            Carrier::Semaphore => Operation::P,
            Carrier::Event => Operation::Wait,
            Carrier::Thread => Operation::Join,
        }
    }

    /// Whether only one can wait for it, once.
    pub(super) fn is_used_up(self) -> bool {
        matches!(self, Carrier::Semaphore | Carrier::Thread)
    }
}

impl Author<'_> {
    /// The signals in scope that fit, by name and number.
    pub(super) fn signals(
        &self,
        here: &Strand,
        fits: impl Fn(&Signal) -> bool,
    ) -> Vec<(Name, usize)> {
        let signals = here.scope.iter().filter_map(|binding| match binding {
            Binding::Signal(name, number) => Some((name.clone(), *number)),
            _ => None,
        });
        signals.filter(|s| fits(&self.signals[s.1])).collect()
    }

    pub(super) fn make_promise(&mut self, here: &mut Strand, out: &mut Statements) {
        let name = self.fresh("p");
        out.push(bind(&name, Init::Promise));
        self.new_signal(here, Carrier::Promise, name);
    }

    pub(super) fn new_signal(
        &mut self,
        here: &mut Strand,
        carrier: Carrier,
        name: Name,
    ) -> &mut Signal {
        let number = self.signals.len();
        here.scope.push(Binding::Signal(name, number));
        self.signals.push(Signal::new(carrier, here.around.home));
        &mut self.signals[number]
    }

    /// A signal that may be sent here. None is sent twice.
    pub(super) fn unsent(&mut self, here: &Strand) -> Option<(Name, usize)> {
        let home = here.around.home;
        let unsent = |s: &Signal| s.progress == Progress::Unsent && s.home == home;
        let signals = self.signals(here, unsent);
        self.choose(&signals)
    }

    pub(super) fn send(&mut self, here: &mut Strand, out: &mut Statements) {
        let Some((name, signal)) = self.unsent(here) else {
            return;
        };
        let gift = self.gift(here);
        here.held.add_all(&gift);
        here.around.focus = gift.places();
        if self.chance(70) {
            self.store(here, out);
        }
        self.emit_send(here, &name, signal, out);
        here.held.remove_all(&gift);
        self.signals[signal].carries = gift;
    }

    /// Sends a signal. A stuck author forgets to.
    pub(super) fn emit_send(
        &mut self,
        here: &Strand,
        name: &Name,
        signal: usize,
        out: &mut Statements,
    ) {
        let finish = self.innermost_finish().number;
        self.sent.push(signal);
        let signal = &mut self.signals[signal];
        signal.progress = Progress::Sent;
        signal.finish = Some(finish);
        let operation = signal.carrier.sending();
        self.spend(here);
        if !self.slip(self.stuck) {
            out.push(operate(operation, name));
        }
    }

    pub(super) fn receive(&mut self, here: &mut Strand, out: &mut Statements) {
        let home = here.around.home;
        let sent = |s: &Signal| {
            s.progress == Progress::Sent && (s.home == home || !s.carrier.is_used_up())
        };
        let signals = self.signals(here, sent);
        let Some((name, signal)) = self.choose(&signals) else {
            return;
        };
        let signal = &mut self.signals[signal];
        let carrier = signal.carrier;
        // Others may wait for it too, and the next round of a loop does: leave them a part.
        let all = carrier.is_used_up() || (signal.home == home && self.rng.bool());
        let mut gift = Shares::default();
        for (place, share) in signal.carries.clone().parts() {
            let share = if all { share } else { share / 2 };
            signal.carries.pass(place, share, &mut gift);
        }
        if carrier.is_used_up() {
            signal.progress = Progress::Spent;
        }
        self.emit_receive(here, &name, carrier, out);
        self.accept(here, &gift, out);
    }

    /// Waits for a signal. A careless author forgets to.
    pub(super) fn emit_receive(
        &mut self,
        here: &Strand,
        name: &Name,
        how: Carrier,
        out: &mut Statements,
    ) {
        self.spend(here);
        if !self.slip(self.careless) {
            out.push(operate(how.waiting(), name));
        }
    }

    /// Uses what was received.
    pub(super) fn accept(&mut self, here: &mut Strand, gift: &Shares, out: &mut Statements) {
        here.held.add_all(gift);
        here.around.focus = gift.places();
        if self.chance(80) {
            self.access(here, out);
        }
    }

    /// Waits for the threads started since there were so many names, though not always for each.
    pub(super) fn join_threads(&mut self, here: &mut Strand, names: usize, out: &mut Statements) {
        let local = here.scope[names..].to_vec();
        for binding in local {
            let Binding::Signal(name, number) = binding else {
                continue;
            };
            let signal = &mut self.signals[number];
            if signal.carrier == Carrier::Thread && signal.progress == Progress::Sent {
                signal.progress = Progress::Spent;
                let carried = std::mem::take(&mut signal.carries);
                if here.around.conditional || self.chance(70) {
                    self.emit_receive(here, &name, Carrier::Thread, out);
                    self.accept(here, &carried, out);
                }
            }
        }
    }

    /// Waiting for what may never be sent.
    pub(super) fn idle_waits(&self, here: &Strand) -> Statements {
        let mut waits = Vec::new();
        for (name, signal) in self.signals(here, |s| s.progress != Progress::Sent) {
            let carrier = self.signals[signal].carrier;
            waits.push(operate(carrier.waiting(), &name));
            if carrier == Carrier::Event {
                waits.push(operate(Operation::Clear, &name));
            }
        }
        waits
    }

    /// What the strand passes on. It no longer has it then.
    pub(super) fn gift(&mut self, here: &mut Strand) -> Shares {
        let mut gift = Shares::default();
        for place in here.held.places() {
            if self.memory[place].guard.is_none() {
                let share = self.portion(here, place);
                here.held.pass(place, share, &mut gift);
            }
        }
        gift
    }

    /// How much to pass on of a place. In a loop the next round needs the whole again, unless it
    /// comes back before that.
    fn portion(&mut self, here: &Strand, place: usize) -> Share {
        let share = here.held.get(place);
        let comes_back = self.finishes.len() > here.around.finishes_around_home;
        if share == WHOLE && self.memory[place].home != here.around.home && !comes_back {
            return 0;
        }
        match self.rng.u32(0..10) {
            0..=2 => 0,
            3..=6 if share == WHOLE => share,
            _ => share / 2,
        }
    }
}
