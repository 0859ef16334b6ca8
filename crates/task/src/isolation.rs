//! Who is inside `isolated`, and who waits for it.
//!
//! Simple model: a lock that suspends tasks, not threads. Whoever leaves wakes one that waits.
//!
//! Nobody is handed the lock: whoever is woken tries again, and may find that another has come first. No wake-up is lost: who
//! waits is registered under the same lock that tells whether somebody is inside, and whoever is inside leaves
//! later. Whoever is woken has been registered and is so no more: a fiber in this list waits. `tests/loom.rs` tries every interleaving.

use std::collections::VecDeque;

use crate::sync::{Mutex, lock};
use crate::waiter::Waiter;

/// See the [module](self).
#[derive(Debug)]
pub struct Isolation {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    holder: Option<Waiter>,
    waiters: VecDeque<Waiter>,
}

/// What came of the attempt to enter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Nobody was inside.
    Entered,
    /// The same fiber is inside.
    Inside,
    /// Another one is: wait and try again.
    Wait,
}

impl Default for Isolation {
    fn default() -> Isolation {
        Isolation {
            state: Mutex::new(State {
                holder: None,
                waiters: VecDeque::new(),
            }),
        }
    }
}

impl Isolation {
    /// Has a fiber woken when nobody is inside; false if nobody is now.
    pub fn register(&self, waiter: Waiter) -> bool {
        let mut state = lock(&self.state);
        if state.holder.is_none() {
            return false;
        }
        state.waiters.push_back(waiter);
        true
    }

    /// A fiber tries to enter.
    pub fn enter(&self, fiber: Waiter) -> Entry {
        let mut state = lock(&self.state);
        match state.holder {
            None => {
                state.holder = Some(fiber);
                Entry::Entered
            }
            Some(holder) if holder == fiber => Entry::Inside,
            Some(_) => Entry::Wait,
        }
    }

    /// Who is inside leaves; tells who is to be woken.
    pub fn leave(&self) -> Option<Waiter> {
        let mut state = lock(&self.state);
        state.holder = None;
        state.waiters.pop_front()
    }
}
