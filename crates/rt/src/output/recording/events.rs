//! What hooks and interposed functions tell a recording.

use std::sync::atomic::{Ordering, compiler_fence};

use deadheat_tape::{AtomicDetail, Unstamped};
pub use deadheat_tape::{AtomicKind, LockDetail, NewMemory, Stamped};

use super::lines::Lines;
pub use super::tape::code;
use crate::openmp::is_runtime;
use crate::order::thread::{Thread, enter, local};
use crate::platform::world::world;

/// Whether accesses and synchronisation are written down: there has been a second thread.
#[inline]
fn running() -> bool {
    !world().off()
}

/// A plain access of 1, 2, 4, 8 or 16 bytes.
#[inline(never)]
pub fn access<const LOG: u32, const WRITES: bool>(address: usize, pc: usize) {
    let local = local();
    let thread = local.thread.get();
    if thread.is_null() || local.depth.get() != 0 {
        return first::<LOG, WRITES>(address, pc);
    }
    if !running() {
        return;
    }
    // SAFETY: the running thread's own.
    let thread = unsafe { &mut *thread };
    if thread.ignore[usize::from(WRITES)] > 0 || thread.is_thread_local(address) {
        return;
    }
    thread.note_lowest(address);
    // Handlers wait meanwhile; nobody else looks at a tape.
    local.depth.set(1);
    compiler_fence(Ordering::SeqCst);
    let (frames, id) = (thread.frames, thread.id);
    thread.tape.access::<LOG, WRITES>(frames, id, address, pc);
    compiler_fence(Ordering::SeqCst);
    local.depth.set(0);
    if local.pending.load(Ordering::Relaxed) {
        crate::platform::signals::handle_waiting();
    }
}

/// An access on a thread that is not known yet.
#[cold]
fn first<const LOG: u32, const WRITES: bool>(address: usize, pc: usize) {
    if local().depth.get() == 0 && !local().dead.get() && enter().is_some() {
        access::<LOG, WRITES>(address, pc);
    }
}

/// A piece of memory is read or written.
pub fn range(address: usize, size: usize, write: bool, pc: usize) {
    range_of(address, size, write, pc, 0);
}

/// A lock begins or ends there.
pub fn lock_life(lock: usize, pc: usize) {
    range_of(lock, 1, true, pc, 1);
}

fn range_of(address: usize, size: usize, write: bool, pc: usize, of_lock: u64) {
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    let watched = thread.ignore[usize::from(write)] == 0 && !thread.is_thread_local(address);
    if running() && watched && !is_runtime(pc) {
        thread.note_lowest(address);
        let record = match write {
            true => Unstamped::WriteRange,
            false => Unstamped::ReadRange,
        };
        let (frames, id) = (thread.frames, thread.id);
        let more = [code(pc, of_lock), size as u64];
        thread.tape.touch(address, size, write);
        thread.tape.note(frames, id, record, address as u64, more);
    }
}

/// The thread is called so.
pub fn name(thread: &mut Thread, name: &[u8]) {
    let mut text = [0; 16];
    let length = name.len().min(15);
    text[..length].copy_from_slice(&name[..length]);
    let more = [0, 8].map(|at| u64::from_ne_bytes(std::array::from_fn(|byte| text[at + byte])));
    thread
        .tape
        .note(thread.frames, thread.id, Unstamped::Name, 0, more);
}

/// The thread's stack lies there.
pub fn stack(thread: &mut Thread) {
    let (from, to) = thread.stack;
    let more = [0, (to - from) as u64];
    thread.tape.note(
        thread.frames,
        thread.id,
        Unstamped::Stack,
        from as u64,
        more,
    );
}

/// Something that orders threads, if synchronisation is looked at on the running thread.
pub fn synchronise(record: Stamped, address: usize, pc: usize, detail: u64) {
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    if running() && thread.ignore[2] == 0 {
        thread.note(record, address, code(pc, detail));
    }
}

/// A block is allocated or freed, or memory is mapped ([`NewMemory::Mapped`], which is 0).
pub fn memory(record: Stamped, address: usize, size: usize, pc: usize) {
    if let Some(entered) = enter() {
        let code = code(pc, 0);
        let thread = entered.thread();
        if record == Stamped::Freed {
            thread.tape.touch(address, size, true);
        }
        thread.note_memory(record, address, size, code);
    }
}

/// The memory order of an operation that orders nothing.
const RELAXED: u64 = 0;

/// An atomic operation, which `operate` does and says what it was. Its place among those of the same variable is fixed
/// while it is done.
pub fn atomic<R>(
    address: usize,
    size: usize,
    pc: usize,
    operate: impl FnOnce() -> (R, AtomicKind, i32),
) -> R {
    let Some(entered) = enter() else {
        return operate().0;
    };
    let thread = entered.thread();
    if !running() {
        return operate().0;
    }
    let _channel = world().channels.get(address).lock();
    let (result, kind, order) = operate();
    let orders = thread.ignore[2] == 0;
    let detail = AtomicDetail {
        order: if orders { order as u64 } else { RELAXED },
        kind,
        size: size as u64,
    };
    if orders || thread.ignore[usize::from(kind != AtomicKind::Load)] == 0 {
        Lines::change_atomically(address, size);
        thread.note(Stamped::Atomic, address, code(pc, detail.into()));
    }
    result
}

/// A second thread is about to be created: what the first one holds is told.
pub fn first_create(thread: &mut Thread) {
    world().findings.tell_modules();
    if thread.id == 0 {
        if thread.stack == (0, 0) {
            thread.stack = crate::platform::modules::first_stack().unwrap_or_default();
        }
        stack(thread);
        if let Some(frame) = crate::output::frames::outermost(thread.frames(), thread.stack.1) {
            world().findings.tell_main(frame);
        }
    }
    for index in 0..thread.held.len() {
        let held = thread.held[index];
        let detail = LockDetail::of_threads(held.write).into();
        thread.note(Stamped::Lock, held.address, code(0, detail));
    }
}
