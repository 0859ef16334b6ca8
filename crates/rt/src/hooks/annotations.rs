//! What programs tell of themselves: custom synchronisation, benign accesses, fibers.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};

use super::export;
use crate::check::access::atomic_access;
use crate::interpose::memory::lock_life;
use crate::order::sync;
use crate::order::thread::{enter, local};
use crate::output::recording::{self, NewMemory, Stamped};
use crate::platform::world::world;

extern "C" fn acquire(address: usize, pc: usize) {
    sync::acquire(address, pc)
}
extern "C" fn release(address: usize, pc: usize) {
    sync::release_more(address, pc)
}

const LINKER_INIT: u32 = 1 << 0;
const READ_LOCK: u32 = 1 << 3;
const TRY_FAILED: u32 = 1 << 5;
const RECURSIVE_LOCK: u32 = 1 << 6;
const RECURSIVE_UNLOCK: u32 = 1 << 7;
const NOT_STATIC: u32 = 1 << 8;

/// A mutex of the program's own begins or ends: nobody may use it meanwhile.
fn mutex_changes(address: usize, pc: usize) {
    lock_life(address, pc);
}

/// A mutex of the program's own must live while it is used. Its state is atomic: who looks at it does no harm.
fn uses_mutex(address: usize, pc: usize) {
    atomic_access(address, 1, false, pc);
}

extern "C" fn mutex_create(address: usize, flags: u32, pc: usize) {
    if flags & LINKER_INIT == 0 {
        mutex_changes(address, pc);
    }
}

extern "C" fn mutex_destroy(address: usize, flags: u32, pc: usize) {
    // One that may be static may be in use to the end.
    if flags & (LINKER_INIT | NOT_STATIC) == 0 {
        mutex_changes(address, pc);
    }
    sync::destroy(address, pc);
}

/// The code of a mutex begins: what it does to keep others out is its own business, neither checked nor an order.
fn mutex_code_begins() {
    ignore_begin();
    ignore(2, true);
}

fn mutex_code_ends() {
    ignore(2, false);
    ignore_end();
}

extern "C" fn mutex_pre_lock(address: usize, _flags: u32, pc: usize) {
    uses_mutex(address, pc);
    mutex_code_begins();
}

extern "C" fn mutex_post_lock(address: usize, flags: u32, recursion: i32, pc: usize) {
    mutex_code_ends();
    if flags & TRY_FAILED == 0 {
        let write = flags & READ_LOCK == 0;
        let times = if flags & RECURSIVE_LOCK != 0 {
            recursion.clamp(1, DEEPEST)
        } else {
            1
        };
        for _ in 0..times {
            sync::hold(address, write, Some(address + 1), pc);
        }
    }
}

/// How often a recursive mutex is taken at once: whoever says more is wrong.
const DEEPEST: i32 = 1 << 16;

/// Says how often a recursive mutex that is given back for good was held.
extern "C" fn mutex_pre_unlock(address: usize, flags: u32, pc: usize) -> i32 {
    uses_mutex(address, pc);
    let times = match flags & RECURSIVE_UNLOCK != 0 {
        true => sync::times_held(address).max(1),
        false => 1,
    };
    for _ in 0..times {
        sync::unhold(address, Some(address + 1), pc);
    }
    mutex_code_begins();
    times as i32
}

extern "C" fn mutex_post_unlock(_address: usize, _flags: u32) {
    mutex_code_ends();
}

extern "C" fn mutex_pre_signal(_address: usize, _flags: u32) {
    mutex_code_begins();
}

extern "C" fn mutex_post_signal(_address: usize, _flags: u32) {
    mutex_code_ends();
}

/// In the midst of a mutex's code, code begins that is not.
extern "C" fn mutex_pre_divert(_address: usize, _flags: u32) {
    mutex_code_ends();
}

extern "C" fn mutex_post_divert(_address: usize, _flags: u32) {
    mutex_code_begins();
}

fn ignore(which: usize, more: bool) {
    if let Some(entered) = enter() {
        let thread = entered.thread();
        let count = &mut thread.ignore[which];
        *count = if more {
            *count + 1
        } else {
            count.saturating_sub(1)
        };
        thread.refresh();
    }
}

extern "C" fn ignore_reads_begin(_file: *const c_char, _line: i32) {
    ignore(0, true)
}
extern "C" fn ignore_reads_end(_file: *const c_char, _line: i32) {
    ignore(0, false)
}
extern "C" fn ignore_writes_begin(_file: *const c_char, _line: i32) {
    ignore(1, true)
}
extern "C" fn ignore_writes_end(_file: *const c_char, _line: i32) {
    ignore(1, false)
}
extern "C" fn ignore_sync_begin(_file: *const c_char, _line: i32) {
    ignore(2, true)
}
extern "C" fn ignore_sync_end(_file: *const c_char, _line: i32) {
    ignore(2, false)
}

extern "C" fn ignore_begin() {
    ignore(0, true);
    ignore(1, true);
}

extern "C" fn ignore_end() {
    ignore(0, false);
    ignore(1, false);
}

extern "C" fn happens_before(_file: *const c_char, _line: i32, address: usize) {
    sync::release_more(address, 0)
}
extern "C" fn happens_after(_file: *const c_char, _line: i32, address: usize) {
    sync::acquire(address, 0)
}
extern "C" fn lock_create(_file: *const c_char, _line: i32, _address: usize) {}
extern "C" fn lock_destroy(_file: *const c_char, _line: i32, address: usize) {
    sync::destroy(address, 0)
}

extern "C" fn lock_acquired(_file: *const c_char, _line: i32, address: usize, write: usize) {
    sync::hold(address, write != 0, Some(address + 1), 0);
}

extern "C" fn lock_released(_file: *const c_char, _line: i32, address: usize, _write: usize) {
    sync::unhold(address, Some(address + 1), 0);
}

/// The memory is as new: nothing that was done to it counts.
extern "C" fn new_memory(_file: *const c_char, _line: i32, address: usize, size: usize) {
    crate::interpose::memory::forget(address, size);
}

/// Races on this memory are none.
extern "C" fn benign_sized(
    _file: *const c_char,
    _line: i32,
    address: usize,
    size: usize,
    _why: *const c_char,
) {
    benign(address, size);
}

extern "C" fn benign_race(_file: *const c_char, _line: i32, address: usize, _why: *const c_char) {
    benign(address, 8);
}

/// Races on this memory are none. A recording leaves out what is done to it from now on.
pub fn benign(address: usize, size: usize) {
    if let Some(entered) = enter() {
        if recording::on() {
            let code = recording::code(0, NewMemory::Unchecked.into());
            return entered
                .thread()
                .note_memory(Stamped::New, address, size, code);
        }
        world().findings.benign(address, size);
    }
}

/// The running thread is called so.
///
/// # Safety
/// The name is a string of C.
unsafe extern "C" fn thread_name(_file: *const c_char, _line: i32, name: *const c_char) {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if let Some(entered) = enter() {
        crate::order::threads::name_own(entered.thread(), name);
    }
}

pub extern "C" fn nothing() {}
pub extern "C" fn zero() -> usize {
    0
}

extern "C" fn current_fiber() -> usize {
    drop(enter());
    local().thread.get() as usize
}

extern "C" fn create_fiber(_flags: u32, pc: usize) -> usize {
    crate::order::fibers::create(pc)
}

extern "C" fn destroy_fiber(fiber: usize) {
    crate::order::fibers::destroy(fiber)
}
extern "C" fn switch_fiber(fiber: usize, flags: u32) {
    crate::order::fibers::switch(fiber, flags & 1 == 0)
}

/// A barrier that orders nothing, for programs that want two things to come one after the other and still race: how
/// many threads meet in the low byte, how many have come above it.
extern "C" fn silent_barrier_init(barrier: &AtomicU64, count: u32) {
    barrier.store(u64::from(count) & 0xff, Ordering::Relaxed);
}

extern "C" fn silent_barrier_wait(barrier: &AtomicU64) {
    let come = barrier.fetch_add(1 << 8, Ordering::Relaxed);
    let count = (come & 0xff).max(1);
    let round = (come >> 8) / count;
    while (barrier.load(Ordering::Relaxed) >> 8) / count == round {
        crate::platform::os::yield_now();
    }
}

/// # Safety
/// The name is a string of C.
unsafe extern "C" fn name_fiber(fiber: usize, name: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { crate::order::fibers::name(fiber, CStr::from_ptr(name).to_bytes()) }
}

export! {
    "__tsan_acquire" 1 => acquire;
    "__tsan_release" 1 => release;
    "__tsan_mutex_create" 2 => mutex_create;
    "__tsan_mutex_destroy" 2 => mutex_destroy;
    "__tsan_mutex_pre_lock" 2 => mutex_pre_lock;
    "__tsan_mutex_post_lock" 3 => mutex_post_lock;
    "__tsan_mutex_pre_unlock" 2 => mutex_pre_unlock;
    "__tsan_mutex_post_unlock" plain => mutex_post_unlock;
    "__tsan_mutex_pre_signal" plain => mutex_pre_signal;
    "__tsan_mutex_post_signal" plain => mutex_post_signal;
    "__tsan_mutex_pre_divert" plain => mutex_pre_divert;
    "__tsan_mutex_post_divert" plain => mutex_post_divert;
    "__tsan_ignore_thread_begin" plain => ignore_begin;
    "__tsan_ignore_thread_end" plain => ignore_end;
    "__tsan_get_current_fiber" plain => current_fiber;
    "__tsan_create_fiber" 1 => create_fiber;
    "__tsan_destroy_fiber" plain => destroy_fiber;
    "__tsan_switch_to_fiber" plain => switch_fiber;
    "__tsan_set_fiber_name" plain => name_fiber;
    "__tsan_external_register_tag" plain => zero;
    "__tsan_external_register_header" plain => nothing;
    "__tsan_external_assign_tag" plain => nothing;
    "__tsan_check_no_mutexes_held" plain => nothing;
    "__tsan_flush_memory" plain => nothing;
    "__tsan_testonly_barrier_init" plain => silent_barrier_init;
    "__tsan_testonly_barrier_wait" plain => silent_barrier_wait;
    "AnnotateMemoryIsInitialized" plain => nothing;
    "AnnotateMemoryIsUninitialized" plain => nothing;
    "AnnotateIgnoreReadsBegin" plain => ignore_reads_begin;
    "AnnotateIgnoreReadsEnd" plain => ignore_reads_end;
    "AnnotateIgnoreWritesBegin" plain => ignore_writes_begin;
    "AnnotateIgnoreWritesEnd" plain => ignore_writes_end;
    "AnnotateIgnoreSyncBegin" plain => ignore_sync_begin;
    "AnnotateIgnoreSyncEnd" plain => ignore_sync_end;
    "AnnotateHappensBefore" plain => happens_before;
    "AnnotateHappensAfter" plain => happens_after;
    "AnnotateRWLockCreate" plain => lock_create;
    "AnnotateRWLockCreateStatic" plain => lock_create;
    "AnnotateRWLockDestroy" plain => lock_destroy;
    "AnnotateRWLockAcquired" plain => lock_acquired;
    "AnnotateRWLockReleased" plain => lock_released;
    "AnnotateNewMemory" plain => new_memory;
    "AnnotateBenignRace" plain => benign_race;
    "AnnotateBenignRaceSized" plain => benign_sized;
    "WTFAnnotateBenignRaceSized" plain => benign_sized;
    "WTFAnnotateHappensBefore" plain => happens_before;
    "WTFAnnotateHappensAfter" plain => happens_after;
    "AnnotateThreadName" plain => thread_name;
    "AnnotateCondVarSignal" plain => nothing;
    "AnnotateCondVarSignalAll" plain => nothing;
    "AnnotateCondVarWait" plain => nothing;
    "AnnotateMutexIsNotPHB" plain => nothing;
    "AnnotateMutexIsUsedAsCondVar" plain => nothing;
    "AnnotatePublishMemoryRange" plain => nothing;
    "AnnotateUnpublishMemoryRange" plain => nothing;
    "AnnotatePCQCreate" plain => nothing;
    "AnnotatePCQDestroy" plain => nothing;
    "AnnotatePCQPut" plain => nothing;
    "AnnotatePCQGet" plain => nothing;
    "AnnotateExpectRace" plain => nothing;
    "AnnotateFlushExpectedRaces" plain => nothing;
    "AnnotateEnableRaceDetection" plain => nothing;
    "AnnotateFlushState" plain => nothing;
    "AnnotateTraceMemory" plain => nothing;
    "AnnotateNoOp" plain => nothing;
    "RunningOnValgrind" plain => zero;
}
