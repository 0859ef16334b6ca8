//! OpenMP: the order of tasks, whatever threads ran them.
//!
//! The simple model: a graph whose nodes are the steps of tasks (implicit tasks, explicit tasks, iterations handed out
//! one by one, threads) and whose edges are what OpenMP promises: from a task's creation to its first step, from its
//! last to whoever waits for it (`taskwait`: children; `taskgroup`: descendants; a barrier and the end of a
//! region: everything in the region), from a task to those that depend on it, from `ordered` block to `ordered` block.
//! Two accesses race if no path leads from one to the other, they conflict, and no lock is held at both.
//! That is true of every schedule, so it does not matter which thread ran what, and when. `docs/openmp.md` has the
//! whole mapping.
//!
//! Where the structure is a tree (`parallel`, barriers, `taskgroup`, and `taskwait` if the children have
//! waited for theirs) the program structure tree answers; what is not becomes a join beside it, which a search finds:
//! `deadheat_order::Structure`. What the constructs do to it is in [`strand`] (tasks and their waiting rules),
//! [`dependences`] and [`team`] (regions, barriers, loops); what an access asks is in [`order`]; [`descriptions`] says
//! in OpenMP's words who a step belongs to.
//!
//! Guarantee: a step comes before another exactly if the graph has a path. Not seen: iterations of a loop with a
//! static schedule are one strand for each thread.
//! Cost: about 100 bytes a task that stay, and a few hundred nanoseconds.

pub mod dependences;
pub mod descriptions;
pub mod lanes;
pub mod meetings;
pub mod memory;
pub mod messages;
pub mod notes;
pub mod order;
pub mod sections;
pub mod settled;
pub mod strand;
pub mod team;
mod thread;
mod undeferred;

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use deadheat_order::{Full, Signal, Step, Structure};

use crate::order::thread::Thread;
use crate::platform::world::{World, world};
use descriptions::Descriptions;
use sections::Sections;
use settled::Settled;

/// What limits what a run says of others.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Seen {
    /// Critical sections and locks can come in another order.
    Locks = 1,
    /// Iterations that one thread runs together, by how many threads there are, are not told apart.
    StaticLoops = 2,
    /// Somebody has asked for the number of its thread, or how many threads there are.
    ThreadNumbers = 4,
    /// Atomic variables, or locks that are not OpenMP's, have ordered strands.
    Messages = 8,
    /// A team had only one thread.
    TeamOfOne = 16,
    /// Which thread runs what may decide what it accesses, or was taken to order it.
    ThreadsChoose = 32,
}

/// What is known of all tasks.
#[derive(Debug)]
pub struct Tasks {
    pub structure: Structure,
    pub descriptions: Descriptions,
    pub settled: Settled,
    pub sections: Sections,
    /// What belongs to a step below this one comes before whatever is done now: there was a time when only one
    /// strand was left, or all met.
    era: AtomicU32,
    /// Regions in progress, and threads that are not OpenMP's own and that nobody has waited for: one that has ended
    /// is before nothing until then.
    pub busy: AtomicU32,
    /// What was seen that the verdict has to say: see [`Seen`].
    seen: AtomicU32,
    /// Explicit tasks that were created and have not begun.
    pub waiting: AtomicU32,
    /// How many phases have begun.
    phases: AtomicU32,
    /// Where OpenMP's runtime has its code.
    runtime: [AtomicUsize; 2],
}

impl Tasks {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Tasks> {
        Some(Tasks {
            structure: Structure::new(),
            descriptions: Descriptions::new()?,
            settled: Settled::new()?,
            sections: Sections::default(),
            era: AtomicU32::new(0),
            busy: AtomicU32::new(0),
            seen: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            phases: AtomicU32::new(0),
            runtime: Default::default(),
        })
    }

    /// Something was seen.
    pub fn see(&self, what: Seen) {
        if !self.has_seen(what) {
            self.seen.fetch_or(what as u32, Ordering::Relaxed);
        }
    }

    /// Whether something was seen.
    pub fn has_seen(&self, what: Seen) -> bool {
        self.seen.load(Ordering::Relaxed) & what as u32 != 0
    }

    /// A number for a phase that begins.
    fn new_phase(&self) -> u32 {
        self.phases.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Whether a step comes before everything done now.
    #[inline]
    pub fn is_past(&self, step: Step) -> bool {
        step.0 < self.era.load(Ordering::Relaxed)
    }

    /// All steps below this one come before all from this one on.
    fn begin_era(&self, step: Step) {
        self.era.fetch_max(step.0, Ordering::Relaxed);
    }

    /// What to do where the order of tasks has no more room: steps are no longer told apart.
    fn or_drop<T>(&self, result: Result<T, Full>) -> Option<T> {
        if result.is_err() {
            world().drop_one();
        }
        result.ok()
    }

    /// OpenMP's runtime has its code here.
    pub fn set_runtime(&self, start: usize, end: usize) {
        self.runtime[0].store(start, Ordering::Relaxed);
        self.runtime[1].store(end, Ordering::Relaxed);
    }

    fn is_runtime(&self, code: usize) -> bool {
        let [start, end] = &self.runtime;
        (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&code)
    }
}

/// Whether code at an address is OpenMP's runtime: how that synchronises its threads is not the program's doing.
#[inline]
pub fn is_runtime(code: usize) -> bool {
    World::exists()
        && world()
            .tasks
            .as_ref()
            .is_some_and(|tasks| tasks.is_runtime(code))
}

/// What is known of all tasks. Only for programs of OpenMP.
pub fn tasks() -> &'static Tasks {
    match &world().tasks {
        Some(tasks) => tasks,
        None => unreachable!("only programs of OpenMP have strands"),
    }
}

impl Tasks {
    /// Whether only the program's first strand is left.
    pub fn is_alone(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0
    }
}

/// A thread of the program's own begins.
pub fn thread_begins() {
    tasks().busy.fetch_add(1, Ordering::Relaxed);
}

/// A thread of the program's own turns out to be OpenMP's.
#[cfg(feature = "interpose")]
pub fn worker_begins() {
    tasks().busy.fetch_sub(1, Ordering::Relaxed);
}

/// A thread begins that nobody told of: it comes after all that others have done so far.
pub fn unknown_thread_begins(thread: *mut Thread, id: u32, others: &[Signal]) {
    if world().tasks.is_some()
        && let Some(mut strand) = strand::Strand::root()
    {
        strand.name = notes::Name::thread(id);
        strand.join(others);
        strand.ran_by(id);
        let step = strand.step();
        // SAFETY: a thread that is about to begin.
        unsafe {
            (*thread).strand = Box::into_raw(strand);
            (*thread).set_step(step);
        }
        if id != 0 {
            thread_begins();
        }
    }
}

/// A thread ends: what it did can be waited for.
pub fn thread_ends(thread: &mut Thread) -> Option<Signal> {
    with_strand(thread, strand::Strand::signal).flatten()
}

/// A thread of the program's own has been waited for, or was not created after all.
pub fn thread_is_gone() {
    tasks().busy.fetch_sub(1, Ordering::Relaxed);
}

/// Whether a plain read in a piece of a phase is known to change nothing.
#[inline]
pub fn is_settled(phase: u32, history: u32, bytes: u8) -> bool {
    tasks().settled.has(phase, history, bytes) && !tasks().has_seen(Seen::Messages)
}

/// Another history is to have this number.
#[inline]
pub fn unsettle(history: u32) {
    tasks().settled.forget(history);
}

/// Something was seen, if the program is one of OpenMP.
pub fn see(what: Seen) {
    if let Some(tasks) = &world().tasks {
        tasks.see(what);
    }
}

/// Runs something with the strand that a thread runs, if it runs one; its step may be another afterwards.
pub fn with_strand<T>(
    thread: &mut Thread,
    what: impl FnOnce(&mut strand::Strand) -> T,
) -> Option<T> {
    // SAFETY: a strand is run by one thread at a time, which is the running one.
    let strand = unsafe { thread.strand.as_mut()? };
    let result = what(strand);
    if std::mem::take(&mut strand.stack_is_free) {
        thread.forget_stack(strand.stack_base());
    }
    thread.follow(strand);
    Some(result)
}
