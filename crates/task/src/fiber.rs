//! A task's stack and where it stopped: what a worker suspends and resumes.
//!
//! A fiber belongs to the worker that started it and never runs on another thread. So what a task keeps on its stack need not
//! be `Send`, and its thread's thread-locals stay its own: safe code stays safe. Only what has not begun is stolen.

use std::cell::Cell;
use std::panic::Location;

use corosensei::{Coroutine, Yielder};

use crate::isolation::Isolation;
use crate::monitor::TaskState;
use crate::par_for::Chunk;
use crate::stack::Stack;
use crate::waiter::{Event, Latch, Waiter};

/// See the [module](self).
pub(crate) type Fiber = Coroutine<(), Wait, (), Stack>;

/// A place in the user's source.
pub(crate) type Caller = &'static Location<'static>;

/// What a fiber waits for.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) on: On,
    /// Where in the source it waits.
    pub(crate) at: Option<Caller>,
    /// The number of the task that waits, in a run that keeps numbers.
    pub(crate) task: Option<u32>,
}

#[derive(Clone, Copy)]
pub(crate) enum On {
    /// Tasks that it has started: these end.
    Latch(*const Latch),
    /// A promise, and where that was made.
    Promise(*const Event, Caller),
    /// A future, and where that was made.
    Future(*const Event, Caller),
    /// Others to leave `isolated`.
    Isolation(*const Isolation),
}

impl On {
    /// Has a fiber woken when this has happened; false if it has happened already.
    ///
    /// # Safety
    /// The fiber is suspended, so that what it waits for is still there.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn register(self, waiter: Waiter) -> bool {
        // SAFETY: the pointers come from references that the suspended fiber holds.
        unsafe {
            match self {
                On::Latch(latch) => (*latch).register(waiter),
                On::Promise(event, _) | On::Future(event, _) => (*event).register(waiter),
                On::Isolation(isolation) => (*isolation).register(waiter),
            }
        }
    }

    /// Whether it may never happen.
    pub(crate) fn may_deadlock(self) -> bool {
        !matches!(self, On::Latch(_))
    }
}

/// What a worker is running.
#[derive(Clone, Copy)]
pub(crate) struct RunningTask {
    pub(crate) yielder: *const Yielder<(), Wait>,
    pub(crate) slot: u32,
    /// Below this address, little of the stack is left.
    pub(crate) limit: usize,
    /// The address of the stack's guard.
    pub(crate) guard: usize,
    /// The task, in a run that is checked or recorded.
    pub(crate) task: *const Cell<TaskState>,
    /// The innermost part of a parallel loop on this fiber.
    pub(crate) chunk: *const Chunk,
}

impl RunningTask {
    /// The worker itself, on its thread's own stack.
    pub(crate) const NOTHING: RunningTask = RunningTask {
        yielder: std::ptr::null(),
        slot: u32::MAX,
        limit: 0,
        guard: 0,
        task: std::ptr::null(),
        chunk: std::ptr::null(),
    };
}

enum Slot {
    Vacant,
    /// Running, or about to.
    Away,
    Waiting(Fiber, Wait),
    Ready(Fiber),
}

/// The fibers of a worker, by number.
#[derive(Default)]
pub(crate) struct Fibers {
    slots: Vec<Slot>,
    vacant: Vec<u32>,
}

impl Fibers {
    /// A number for a new fiber.
    pub(crate) fn number(&mut self) -> u32 {
        if let Some(slot) = self.vacant.pop() {
            self.slots[slot as usize] = Slot::Away;
            return slot;
        }
        self.slots.push(Slot::Away);
        self.slots.len() as u32 - 1
    }

    /// A fiber has ended.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.slots[slot as usize] = Slot::Vacant;
        self.vacant.push(slot);
    }

    /// A fiber waits.
    pub(crate) fn park(&mut self, slot: u32, fiber: Fiber, wait: Wait) {
        self.slots[slot as usize] = Slot::Waiting(fiber, wait);
    }

    /// A fiber need not wait any more; false if it does not wait.
    pub(crate) fn unpark(&mut self, slot: u32) -> bool {
        let place = &mut self.slots[slot as usize];
        match std::mem::replace(place, Slot::Away) {
            Slot::Waiting(fiber, _) => {
                *place = Slot::Ready(fiber);
                true
            }
            other => {
                *place = other;
                false
            }
        }
    }

    /// Takes out a fiber that waits or is ready.
    pub(crate) fn take(&mut self, slot: u32) -> Option<Fiber> {
        let place = &mut self.slots[slot as usize];
        match std::mem::replace(place, Slot::Away) {
            Slot::Waiting(fiber, _) | Slot::Ready(fiber) => Some(fiber),
            other => {
                *place = other;
                None
            }
        }
    }

    /// Those that wait for what may never happen.
    pub(crate) fn stuck(&self) -> Vec<(u32, Wait)> {
        let slots = (0..).zip(&self.slots);
        let stuck = slots.filter_map(|(number, slot)| match slot {
            Slot::Waiting(_, wait) if wait.on.may_deadlock() => Some((number, *wait)),
            _ => None,
        });
        stuck.collect()
    }
}
