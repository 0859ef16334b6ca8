//! What a recording is told of tasks.
//!
//! A tape has a list of records for each thread of the system. Which strand a thread runs is told whenever that changes;
//! what follows is that strand's doing. A strand is called by the step in which it begins, a thread of the program's own
//! by its number; a signal by the step that it ends. What a team does at its barriers is told as the doing of the
//! strand that met the region and now waits for its end: phases are `finish` blocks of that strand, in each of
//! which every member begins anew.
//!
//! Guarantee: the strands, and what they are told to wait for, have the order that [`structure`](deadheat_order::Structure)
//! has, but for pieces of loops: those that one thread was handed are told as one after the other.

use deadheat_order::{Signal, Step};
pub use deadheat_tape::TaskAction;
use deadheat_tape::{Member, THREAD_STRAND};

use super::with_strand;
use crate::order::thread::{Thread, local};
use crate::output::recording::{self, NewMemory, Stamped, code};

/// Who a strand is to a recording: see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(u64);

impl Name {
    /// A thread of the program's own.
    pub fn thread(id: u32) -> Name {
        Name(THREAD_STRAND | u64::from(id))
    }

    /// A strand that begins with this step.
    pub fn strand(first: Step) -> Name {
        Name(u64::from(first.0))
    }
}

/// The running thread, if it is recorded.
fn recorder<'a>() -> Option<&'a mut Thread> {
    // SAFETY: the running thread's own, in the runtime, which nobody interrupts.
    recording::on().then(|| unsafe { local().thread.get().as_mut() })?
}

/// The strand that the running thread is said to run does something.
fn note(action: TaskAction, number: u64, pc: usize) {
    if let Some(thread) = recorder() {
        thread.note(Stamped::Task, number as usize, code(pc, action.into()));
    }
}

/// A strand does something, whoever the running thread runs.
pub fn tell(name: Name, action: TaskAction, pc: usize) {
    tell_of(name, action, 0, pc);
}

fn tell_of(name: Name, action: TaskAction, number: u64, pc: usize) {
    if let Some(thread) = recorder() {
        let before = thread.recorded_as;
        thread.tell_strand(name);
        note(action, number, pc);
        if let Some(thread) = recorder() {
            thread.tell_strand(before);
        }
    }
}

/// A strand has created a task.
pub fn task(creator: Name, task: Name, pc: usize) {
    if let Some(thread) = recorder() {
        thread.tell_strand(creator);
        note(TaskAction::Task, task.0, pc);
    }
}

/// A member of a number has begun a phase, in a region that a strand has met.
pub fn member(region: Name, member: Name, number: u32, pc: usize) {
    let member = Member {
        strand: member.0,
        number: number.into(),
    };
    tell_of(region, TaskAction::Member, member.payload(), pc);
}

/// A strand ends, or what it has done can be waited for.
pub fn signal(name: Name, action: TaskAction, signal: &Signal) {
    tell_of(name, action, u64::from(signal.step.0), 0);
}

/// A strand has waited for others.
pub fn join(name: Name, signals: &[Signal]) {
    for signal in signals {
        tell_of(name, TaskAction::Get, u64::from(signal.step.0), 0);
    }
}

/// What the running thread has done so far is over for whoever is told of later.
pub fn pause() {
    if let Some(thread) = recorder() {
        thread.note(Stamped::Run, thread.recorded_as.0 as usize, 0);
    }
}

/// A piece of memory is something new.
pub fn memory(address: usize, size: usize, what: NewMemory) {
    if let Some(thread) = recorder() {
        thread.note_memory(Stamped::New, address, size, code(0, what.into()));
    }
}

/// What strands choose by the number of their thread is that thread's own: of those that ask for it, the ones that one
/// thread runs are told as one after the other.
impl Thread {
    /// It is about to leave its strand.
    pub fn note_asked(&mut self) {
        if recording::on() {
            let signal = with_strand(self, |strand| strand.has_asked().then(|| strand.signal()));
            self.thread_num_asked_at = signal.flatten().flatten().or(self.thread_num_asked_at);
        }
    }

    /// It has gone on with another strand, or this one has asked.
    pub fn follow_asked(&mut self) {
        if let Some(asked) = self.thread_num_asked_at {
            with_strand(self, |strand| {
                if strand.has_asked() {
                    strand.join(&[asked]);
                }
            });
        }
    }

    /// What follows is this strand's doing.
    pub fn tell_strand(&mut self, name: Name) {
        if recording::on() && std::mem::replace(&mut self.recorded_as, name) != name {
            self.note(Stamped::Run, name.0 as usize, 0);
        }
    }
}
