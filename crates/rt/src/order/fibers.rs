//! Fibers: what a program calls a thread of its own making. The running thread changes who it is.

use deadheat_order::Clock;

use crate::order::thread::{Thread, enter, local};
use crate::order::threads;
use crate::output::recording::{self, Stamped};
use crate::platform::world::world;

/// A new fiber, which knows what its creator does.
pub fn create(code: usize) -> usize {
    match enter() {
        Some(entered) => {
            let fiber = threads::create(&entered, code, 8 << 20);
            drop(entered);
            undisturbed(|| Thread::register(fiber));
            fiber as usize
        }
        None => 0,
    }
}

/// A fiber that does not run goes away.
pub fn destroy(fiber: usize) {
    let fiber = fiber as *mut Thread;
    if fiber.is_null() || fiber == local().thread.get() {
        return;
    }
    if let Some(entered) = enter() {
        threads::fiber_ends(&entered, fiber);
        drop(entered);
        undisturbed(|| Thread::unregister(fiber));
    }
}

/// The running thread goes on as another fiber. If they are to be ordered, what was done before happens before
/// what is done after.
pub fn switch(fiber: usize, ordered: bool) {
    let next = fiber as *mut Thread;
    if next.is_null() || next == local().thread.get() {
        return;
    }
    let Some(entered) = enter() else { return };
    let mut clock = Clock::default();
    if ordered && recording::on() {
        entered.thread().note(Stamped::ReleaseMore, fiber, 0);
    } else if ordered {
        entered
            .thread()
            .advance_if_released(|timeline| clock.copy_from(timeline.publish()));
    }
    drop(entered);
    undisturbed(|| Thread::switch(next));
    if let Some(entered) = enter() {
        if ordered && recording::on() {
            entered.thread().note(Stamped::Acquire, fiber, 0);
        }
        entered.thread().timeline.learn(&clock);
    }
}

/// Names a fiber.
pub fn name(fiber: usize, name: &[u8]) {
    let fiber = fiber as *const Thread;
    if let Some(_entered) = enter()
        && !fiber.is_null()
    {
        // SAFETY: the program's promise: a fiber that was created and not destroyed.
        world().threads.set_name(unsafe { (*fiber).id }, name);
    }
}

/// Runs something during which handlers wait, but others may pause the runtime.
fn undisturbed(what: impl FnOnce()) {
    let depth = &local().depth;
    depth.set(depth.get() + 1);
    what();
    depth.set(depth.get() - 1);
}
