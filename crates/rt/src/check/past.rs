//! What is past for all: accesses that happen before whatever any thread does from now on. They race with nothing any more.
//!
//! The simple model: the least of all living threads' clocks. Whoever begins later knows what its creator knew, so what was past
//! stays past.
//!
//! It is found out while all threads pause, when words have had more to say than two marks can often enough to be worth it.
//! Without that, what was written before many read it would stay in every word's history for ever.
//!
//! Aliases that no living thread goes on with are taken back in the same way: what cells say by them moves to histories.

use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_model::Strand;
use deadheat_online::fasttrack::{self, Record, SLOTS};
use deadheat_online::mark::{ALIASES, Mark};
use deadheat_order::Time;

use crate::check::cell::Cell;
use crate::check::longer::replace_by_history;
use crate::check::word::visit_all;
use crate::order::registry::Pause;
use crate::order::thread::{Entered, Thread};
use crate::platform::os;
use crate::platform::world::world;

/// See the [module](self).
#[derive(Debug)]
pub struct Past {
    /// By slot: the last time that is past.
    times: *const AtomicU32,
}

// SAFETY: an array of atomics.
unsafe impl Sync for Past {}
// SAFETY: as above.
unsafe impl Send for Past {}

/// When a thread finds out again what is past: after so many accesses that marks could not tell of.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    left: u32,
    next: u32,
}

const SHORT: u32 = 1 << 10;
const LONG: u32 = 1 << 20;

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            left: SHORT,
            next: SHORT,
        }
    }
}

impl Past {
    /// Nothing is.
    pub fn new() -> Past {
        Past {
            times: os::reserve_or_die(SLOTS as usize * 4) as *const AtomicU32,
        }
    }

    fn time(&self, slot: Strand) -> &AtomicU32 {
        // SAFETY: there are so many slots.
        unsafe { &*self.times.add(slot.index() % SLOTS as usize) }
    }

    /// Whether an access is.
    #[inline]
    pub fn has(&self, record: &Record) -> bool {
        self.reaches(record.slot(), record.time())
    }

    /// Whether what was done in a slot at a time is.
    #[inline]
    pub fn reaches(&self, slot: Strand, time: Time) -> bool {
        time <= self.time(slot).load(Ordering::Relaxed)
    }

    /// Takes what is past out of a history, of which the first is not, and says how long it is then.
    pub fn take_out(&self, history: &mut [Record]) -> usize {
        let mut kept = 0;
        for at in 0..history.len() {
            if at == 0 || !self.has(&history[at]) {
                history[kept] = history[at];
                kept += 1;
            }
        }
        fasttrack::end(&mut history[..kept]);
        kept
    }

    /// Finds out what is past now. Whether that is more than before.
    pub fn learn(&self, pause: &Pause) -> bool {
        let mut known: Vec<Time> = Vec::new();
        let mut living = 0;
        // The least that any thread knows of each slot: a thread need not know what itself has done.
        pause.threads(|thread| {
            let (own, clock) = (thread.timeline.slot(), thread.timeline.clock());
            let slots = clock.times().len().max(known.len());
            known.resize(slots, Time::MAX);
            for (slot, least) in known.iter_mut().enumerate() {
                let slot = Strand(slot as u32);
                if slot != own {
                    *least = clock.get(slot).min(*least);
                }
            }
            living += 1;
        });
        // Of one that is about to begin nobody knows what it knows.
        if living != world().threads.living() || living < 2 {
            return false;
        }
        let mut news = false;
        for (slot, least) in known.iter().enumerate() {
            let time = self.time(Strand(slot as u32));
            if *least != Time::MAX && *least > time.load(Ordering::Relaxed) {
                time.store(*least, Ordering::Relaxed);
                news = true;
            }
        }
        news
    }
}

impl Thread {
    /// An access was made that marks cannot tell of: perhaps they can once it is known what is past, or the thread has an alias.
    pub fn was_rare(&mut self, entered: &Entered) {
        if self.epoch() == 0 {
            self.take_alias();
            self.refresh();
        }
        self.patience.left -= 1;
        if self.patience.left > 0 {
            return;
        }
        let without = self.epoch() == 0;
        let news = entered.alone(|pause| {
            let news = world().past.learn(pause);
            if without {
                take_back(self, pause);
            }
            news
        });
        let next = match news {
            true => SHORT,
            false => (self.patience.next * 2).min(LONG),
        };
        self.patience = Patience { left: next, next };
    }
}

/// Takes back the aliases that no living thread goes on with.
fn take_back(thread: &mut Thread, pause: &Pause) {
    let mut living = [false; ALIASES];
    pause.threads(|thread| living[usize::from(thread.alias.number)] = true);
    let world = world();
    if world.aliases.are_all(|number| living[usize::from(number)]) {
        return;
    }
    world.shadow.visit_cells(|cell| {
        let marks = cell.load();
        let goes = |mark: Mark| mark.mask() != 0 && !living[usize::from(mark.alias())];
        let others = marks[0]
            .has_more()
            .map(|number| world.histories.others(number));
        let others = others
            .into_iter()
            .flatten()
            .map(|mark| Mark(mark.load(Ordering::Relaxed)));
        if marks.into_iter().chain(others).any(goes) {
            make_history(thread, pause, cell);
        }
    });
    world
        .aliases
        .take_back(|number| living[usize::from(number)]);
    pause.threads(|thread| {
        thread.forget_aliases();
        thread.transitions.clear();
    });
}

/// A cell is to have a history.
fn make_history(thread: &mut Thread, pause: &Pause, cell: &Cell) {
    while replace_by_history(thread, cell, cell.load()).is_none() {
        if !visit_all(pause, 1) {
            world().drop_one();
            cell.replace(cell.load(), [Mark::NONE; 2]);
            return;
        }
    }
}
