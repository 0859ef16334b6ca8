//! Critical sections: which races another order of them could undo.
//!
//! Sections can come in another order, so to the question whether two accesses race they order nothing. But where one
//! section reads what another has written, or writes what it has read, the other order may decide what is done at all.
//!
//! The simple model: happens-before with one more kind of edge. Whoever makes an access in a section that
//! conflicts with an access in an earlier section of the same lock, by a strand that nothing else orders with it,
//! has *heard* of all that was done before the sections of that lock were given back so far. What it
//! starts, and who waits for it, have heard what it has. A race whose first access comes before the second by these
//! edges is *possible*: the order of sections in which the accesses meet may be one in which they are not made. Every other race
//! is *certain*: this run, with its sections in the same order as far as something flows through them, makes both accesses
//! in either order.
//!
//! A section that began before another could (its holder started the other, or met it at a barrier, while it held the lock) also
//! ends before that, in every order: whoever begins the other has heard of it, whatever flows.
//!
//! What is not known counts as heard: a task group hears what anybody has, and past [`MOST`] sections, or [`QUESTIONS`]
//! questions, every race is possible once something has flown.
//! Cost: a step and a join for each section, up to [`MOST`]; nothing more until something flows.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use deadheat_online::fasttrack::Record;
use deadheat_order::{Knowledge, Past, Signal, Step};
use rustc_hash::FxHashMap;

use super::order::{Asking, joins_lead};
use super::strand::{Shared, Strand};
use super::tasks;
use crate::check::origin::Origin;
use crate::order::thread::Thread;
use crate::output::recording;
use crate::platform::os;
use crate::platform::world::world;

/// How many sections begin a step when they end.
const MOST: u32 = 1 << 17;
/// How many sections of a lock that others can have met are kept.
const MET: usize = 16;
/// How often somebody is let run who is about to tell that a section has ended.
const PATIENCE: u32 = 200;
/// How often is asked whether a race is certain.
const QUESTIONS: u32 = 10_000;

/// What all sections have told.
#[derive(Debug, Default)]
pub struct Sections {
    /// Something has flown.
    any: AtomicBool,
    ended: AtomicU32,
    asked: AtomicU32,
    inner: Shared<Option<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// What was done before each lock was given back.
    locks: FxHashMap<usize, Knowledge>,
    /// The sections of each lock that are not known to have ended: whose each is, and the step in which it began.
    open: FxHashMap<usize, Vec<(u32, Step)>>,
    /// The sections of each lock that somebody else can have met: the steps in which they began, and what was done before
    /// they ended.
    met: FxHashMap<usize, Vec<(Step, Past)>>,
    /// What was heard by those who may be waited for, by their last step.
    heard: FxHashMap<u32, Past>,
    /// What the tasks of groups have heard.
    by_groups: Knowledge,
}

impl Sections {
    fn with<T>(&self, what: impl FnOnce(&mut Inner) -> T) -> T {
        self.inner.with(|inner| what(inner.get_or_insert_default()))
    }

    fn have_flown(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }
}

/// Adds what somebody has heard.
pub fn add(heard: &mut Knowledge, more: Past) {
    if more != Past::default() {
        tasks().or_drop(tasks().structure.joins.merge(heard, more));
    }
}

impl Strand {
    /// It has given a lock back, which it, or who began with the lock, has taken.
    pub fn end_section(&mut self, lock: usize) {
        let sections = &tasks().sections;
        if recording::on() || sections.ended.load(Ordering::Relaxed) >= MOST {
            return;
        }
        sections.ended.fetch_add(1, Ordering::Relaxed);
        let Some(signal) = self.signal() else { return };
        let mut known = Knowledge::default();
        add(&mut known, signal.known);
        add(&mut known, self.heard.now);
        let signal = Signal {
            known: known.now,
            ..signal
        };
        sections.with(|inner| {
            let joins = &tasks().structure.joins;
            let told = inner.locks.entry(lock).or_default();
            tasks().or_drop(joins.join(told, signal));
            // Nobody can have met what began in the step that ends now.
            let open = inner.open.entry(lock).or_default();
            let own = open
                .iter()
                .position(|(whose, _)| *whose == self.description);
            let began = (!open.is_empty()).then(|| open.remove(own.unwrap_or(0)).1);
            if let Some(began) = began.filter(|began| *began != signal.step) {
                let mut own = Knowledge::default();
                tasks().or_drop(joins.join(&mut own, signal));
                let met = inner.met.entry(lock).or_default();
                if met.len() >= MET {
                    met.remove(0);
                }
                met.push((began, own.now));
            }
        });
    }

    /// In a section, it does something that conflicts with what was done in an earlier one.
    #[cold]
    pub fn hear(&mut self, earlier: &Record, access: &Record) {
        let sections = &tasks().sections;
        sections.any.store(true, Ordering::Relaxed);
        let [a, b] = [earlier, access].map(|record| Origin(record.origin).locks());
        let sets = &world().locksets;
        for lock in sets.addresses(a) {
            if sets.addresses(b).any(|other| other >> 1 == lock >> 1) {
                self.hear_lock((lock >> 1) as usize, Step(earlier.time()));
            }
        }
    }

    fn hear_lock(&mut self, lock: usize, earlier: Step) {
        let told = tasks()
            .sections
            .with(|inner| inner.locks.get(&lock).map(|told| told.now));
        match told {
            Some(told) if self.heard_last == (lock, told) => {}
            Some(told) => {
                self.heard_last = (lock, told);
                add(&mut self.heard, told);
            }
            // Tasks that exclude each other by their dependences: each is a section as a whole.
            None => {
                let signal = Signal {
                    step: earlier,
                    known: Past::default(),
                };
                let joins = &tasks().structure.joins;
                tasks().or_drop(joins.join(&mut self.heard, signal));
            }
        }
    }

    /// It can be waited for now.
    pub(super) fn tell_heard(&self) {
        if self.heard.now != Past::default() {
            let (step, heard) = (self.step(), self.heard.now);
            tasks().sections.with(|inner| {
                inner.heard.insert(step.0, heard);
                add(&mut inner.by_groups, heard);
            });
        }
    }

    /// It has waited for these.
    pub(super) fn hear_of(&mut self, signals: &[Signal]) {
        for signal in signals {
            self.hear_of_step(signal.step);
        }
    }

    /// It knows of what was done up to a step.
    pub(super) fn hear_of_step(&mut self, step: Step) {
        if tasks().sections.have_flown() {
            let heard = tasks()
                .sections
                .with(|inner| inner.heard.get(&step.0).copied());
            add(&mut self.heard, heard.unwrap_or_default());
        }
    }

    /// It has waited for tasks of which nobody knows which they were.
    pub(super) fn hear_of_groups(&mut self) {
        if tasks().sections.have_flown() {
            let heard = tasks().sections.with(|inner| inner.by_groups.now);
            add(&mut self.heard, heard);
        }
    }
}

/// The running thread has taken a lock.
pub fn begin_section(thread: &mut Thread, lock: usize) {
    let sections = &tasks().sections;
    if recording::on() || sections.ended.load(Ordering::Relaxed) >= MOST {
        return;
    }
    // SAFETY: the strand that the running thread runs.
    let Some(strand) = (unsafe { thread.strand.as_ref() }) else {
        return;
    };
    let (whose, now, heard) = (strand.description, strand.step(), strand.heard.now);
    let begin = |waited: bool| {
        sections.with(|inner| {
            let open = inner.open.entry(lock).or_default();
            let is_open = open.iter().any(|(other, _)| *other != whose);
            if is_open && !waited {
                return None;
            }
            // Whose end nobody has told by now is not told any more.
            open.retain(|(other, _)| *other == whose);
            open.push((whose, now));
            Some(inner.met.get(&lock).cloned().unwrap_or_default())
        })
    };
    // Whoever gives a lock back says so when another may have it already, and is about to.
    let mut patience = 0..PATIENCE;
    let met = loop {
        match begin(patience.next().is_none()) {
            Some(met) => break met,
            None => os::yield_now(),
        }
    };
    for (began, told) in met {
        let Some(mut asking) = Asking::of(thread, 0) else {
            return;
        };
        let is_known = asking.comes_before(began, now)
            || heard != Past::default() && joins_lead(asking.answers, began, heard);
        if is_known {
            sections.any.store(true, Ordering::Relaxed);
            // SAFETY: as above; nothing else refers to it here.
            if let Some(strand) = unsafe { thread.strand.as_mut() } {
                add(&mut strand.heard, told);
            }
        }
    }
}

/// Whether the running thread's access could not have met an earlier one if sections had come in another order.
#[cold]
pub fn is_only_possible(thread: &mut Thread, earlier: &Record) -> bool {
    // SAFETY: the strand that the running thread runs.
    let Some(strand) = (unsafe { thread.strand.as_ref() }) else {
        return false;
    };
    if may_be_chosen_by_number(thread, strand, earlier) {
        return true;
    }
    let sections = &tasks().sections;
    if !sections.have_flown() || strand.heard.now == Past::default() {
        return false;
    }
    let Some(answers) = thread.answers.as_deref_mut() else {
        return true;
    };
    let is_much = sections.ended.load(Ordering::Relaxed) >= MOST
        || sections.asked.fetch_add(1, Ordering::Relaxed) >= QUESTIONS;
    is_much || joins_lead(answers, Step(earlier.time()), strand.heard.now)
}

/// Whether one thread made an earlier access and makes this strand's, both in tasks that have asked for its number: that may decide
/// whether they are made.
fn may_be_chosen_by_number(thread: &Thread, strand: &Strand, earlier: &Record) -> bool {
    let descriptions = &tasks().descriptions;
    let has_asked = |step| descriptions.get(descriptions.task_of(step)).has_asked();
    earlier.slot() == thread.timeline.slot()
        && has_asked(Step(earlier.time()))
        && has_asked(strand.step())
}
