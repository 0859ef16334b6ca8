//! Locks, condition variables, barriers and semaphores.
//!
//! A lock is released before the real function gives it away, and acquired after the real function has got it, so
//! that whoever gets it finds what was released.

use std::ffi::{c_int, c_uint, c_void};

use super::calls::calls;
use super::memory::writes;
use super::real::real;
use crate::check::access::access;
use crate::hooks::export;
use crate::openmp::is_runtime;
use crate::order::sync;
use crate::platform::checked::{is_allocator, is_checked};

type Lock = *mut c_void;
type Time = *const libc::timespec;

/// Where the readers of a lock release: beside where its writers do.
fn readers(lock: Lock) -> usize {
    lock as usize + 1
}

/// Whether a lock is none of the program's: code at an address uses it to keep its own things in order.
#[inline]
fn is_internal(pc: usize) -> bool {
    is_runtime(pc) || is_allocator(pc)
}

/// A lock must live while it is used: its memory is read.
fn uses(lock: Lock, pc: usize) {
    if is_checked(pc) {
        access::<0, false>(lock as usize, pc);
    }
}

/// A lock begins or ends: nobody may use it meanwhile.
fn changes(lock: Lock, pc: usize) {
    writes(lock as usize, 1, pc);
}

fn got_write(lock: Lock, result: c_int, pc: usize) {
    // A mutex whose owner has died is locked, too.
    if result == 0 || result == libc::EOWNERDEAD {
        sync::hold(lock as usize, true, Some(readers(lock)), pc);
    }
    uses(lock, pc);
}

fn got_mutex(lock: Lock, result: c_int, pc: usize) {
    if result == 0 || result == libc::EOWNERDEAD {
        sync::hold(lock as usize, true, None, pc);
    }
    uses(lock, pc);
}

fn got_read(lock: Lock, result: c_int, pc: usize) {
    if result == 0 {
        sync::hold(lock as usize, false, None, pc);
    }
    uses(lock, pc);
}

unsafe extern "C" fn mutex_lock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_mutex_lock: fn(Lock) -> c_int)(lock) };
    if !is_internal(pc) {
        got_mutex(lock, result, pc);
    }
    result
}

unsafe extern "C" fn mutex_trylock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_mutex_trylock: fn(Lock) -> c_int)(lock) };
    if !is_internal(pc) {
        got_mutex(lock, result, pc);
    }
    result
}

unsafe extern "C" fn mutex_timedlock(lock: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_mutex_timedlock: fn(Lock, Time) -> c_int)(lock, time) };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn mutex_clocklock(lock: Lock, clock: c_int, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(pthread_mutex_clocklock: fn(Lock, c_int, Time) -> c_int)(lock, clock, time)
    };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn spin_lock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_spin_lock: fn(Lock) -> c_int)(lock) };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn spin_trylock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_spin_trylock: fn(Lock) -> c_int)(lock) };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn mutex_unlock(lock: Lock, pc: usize) -> c_int {
    if !is_internal(pc) {
        uses(lock, pc);
        sync::unhold(lock as usize, None, pc);
    }
    // SAFETY: the program's own call.
    unsafe { real!(pthread_mutex_unlock: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn spin_unlock(lock: Lock, pc: usize) -> c_int {
    uses(lock, pc);
    sync::unhold(lock as usize, None, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_spin_unlock: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn mutex_destroy(lock: Lock, pc: usize) -> c_int {
    changes(lock, pc);
    sync::destroy(lock as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_mutex_destroy: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn spin_destroy(lock: Lock, pc: usize) -> c_int {
    changes(lock, pc);
    sync::destroy(lock as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_spin_destroy: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn rwlock_destroy(lock: Lock, pc: usize) -> c_int {
    changes(lock, pc);
    sync::destroy(lock as usize, pc);
    sync::destroy(readers(lock), pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_rwlock_destroy: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn cond_destroy(lock: Lock, pc: usize) -> c_int {
    changes(lock, pc);
    sync::destroy(lock as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_cond_destroy: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn rwlock_rdlock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_rwlock_rdlock: fn(Lock) -> c_int)(lock) };
    got_read(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_tryrdlock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_rwlock_tryrdlock: fn(Lock) -> c_int)(lock) };
    got_read(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_timedrdlock(lock: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_rwlock_timedrdlock: fn(Lock, Time) -> c_int)(lock, time) };
    got_read(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_clockrdlock(lock: Lock, clock: c_int, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(pthread_rwlock_clockrdlock: fn(Lock, c_int, Time) -> c_int)(lock, clock, time)
    };
    got_read(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_wrlock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_rwlock_wrlock: fn(Lock) -> c_int)(lock) };
    got_write(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_trywrlock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_rwlock_trywrlock: fn(Lock) -> c_int)(lock) };
    got_write(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_timedwrlock(lock: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_rwlock_timedwrlock: fn(Lock, Time) -> c_int)(lock, time) };
    got_write(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_clockwrlock(lock: Lock, clock: c_int, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(pthread_rwlock_clockwrlock: fn(Lock, c_int, Time) -> c_int)(lock, clock, time)
    };
    got_write(lock, result, pc);
    result
}

unsafe extern "C" fn rwlock_unlock(lock: Lock, pc: usize) -> c_int {
    uses(lock, pc);
    sync::unhold(lock as usize, Some(readers(lock)), pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_rwlock_unlock: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn sem_wait(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(sem_wait: fn(Lock) -> c_int)(lock) };
    if result == 0 {
        sync::take(lock as usize, pc);
    }
    uses(lock, pc);
    result
}

unsafe extern "C" fn sem_trywait(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(sem_trywait: fn(Lock) -> c_int)(lock) };
    if result == 0 {
        sync::take(lock as usize, pc);
    }
    uses(lock, pc);
    result
}

unsafe extern "C" fn sem_timedwait(lock: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(sem_timedwait: fn(Lock, Time) -> c_int)(lock, time) };
    if result == 0 {
        sync::take(lock as usize, pc);
    }
    uses(lock, pc);
    result
}

unsafe extern "C" fn sem_clockwait(lock: Lock, clock: c_int, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(sem_clockwait: fn(Lock, c_int, Time) -> c_int)(lock, clock, time) };
    if result == 0 {
        sync::take(lock as usize, pc);
    }
    uses(lock, pc);
    result
}

unsafe extern "C" fn sem_post(lock: Lock, pc: usize) -> c_int {
    uses(lock, pc);
    sync::give(lock as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(sem_post: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn sem_destroy(lock: Lock, pc: usize) -> c_int {
    changes(lock, pc);
    sync::destroy(lock as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(sem_destroy: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn barrier_init(
    lock: Lock,
    attributes: *const c_void,
    count: c_uint,
    pc: usize,
) -> c_int {
    changes(lock, pc);
    sync::begin_barrier(lock as usize, u64::from(count));
    // SAFETY: the program's own call.
    unsafe {
        real!(pthread_barrier_init: fn(Lock, *const c_void, c_uint) -> c_int)(
            lock, attributes, count,
        )
    }
}

unsafe extern "C" fn barrier_wait(lock: Lock, pc: usize) -> c_int {
    uses(lock, pc);
    let round = sync::arrive(lock as usize, pc);
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_barrier_wait: fn(Lock) -> c_int)(lock) };
    if let Some(round) = round {
        sync::leave(lock as usize, round, pc);
    }
    result
}

unsafe extern "C" fn barrier_destroy(lock: Lock, pc: usize) -> c_int {
    changes(lock, pc);
    // SAFETY: the program's own call. It waits for those who still leave.
    let result = unsafe { real!(pthread_barrier_destroy: fn(Lock) -> c_int)(lock) };
    sync::end_barrier(lock as usize, pc);
    result
}

unsafe extern "C" fn mtx_lock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(mtx_lock: fn(Lock) -> c_int)(lock) };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn mtx_trylock(lock: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(mtx_trylock: fn(Lock) -> c_int)(lock) };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn mtx_timedlock(lock: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(mtx_timedlock: fn(Lock, Time) -> c_int)(lock, time) };
    got_mutex(lock, result, pc);
    result
}

unsafe extern "C" fn mtx_unlock(lock: Lock, pc: usize) -> c_int {
    uses(lock, pc);
    sync::unhold(lock as usize, None, pc);
    // SAFETY: the program's own call.
    unsafe { real!(mtx_unlock: fn(Lock) -> c_int)(lock) }
}

unsafe extern "C" fn mtx_destroy(lock: Lock, pc: usize) {
    changes(lock, pc);
    sync::destroy(lock as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(mtx_destroy: fn(Lock))(lock) }
}

unsafe extern "C" fn cnd_wait(condition: Lock, mutex: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    waiting(condition, mutex, pc, || unsafe {
        real!(cnd_wait: fn(Lock, Lock) -> c_int)(condition, mutex)
    })
}

unsafe extern "C" fn cnd_timedwait(condition: Lock, mutex: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    waiting(condition, mutex, pc, || unsafe {
        real!(cnd_timedwait: fn(Lock, Lock, Time) -> c_int)(condition, mutex, time)
    })
}

/// The cleanup of the C library: what it calls if a wait is cancelled.
#[repr(C)]
struct Cleanup {
    routine: extern "C" fn(*mut c_void),
    argument: *mut c_void,
    cancel_type: c_int,
    previous: *mut Cleanup,
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        routine: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

/// A cancelled wait has its mutex back before the program's own cleanup runs.
extern "C" fn wait_cancelled(mutex: *mut c_void) {
    sync::hold(mutex as usize, true, None, 0);
}

/// Waits on a condition variable: the mutex is given back meanwhile.
fn waiting(condition: Lock, mutex: Lock, pc: usize, wait: impl FnOnce() -> c_int) -> c_int {
    if is_internal(pc) {
        return wait();
    }
    uses(condition, pc);
    uses(mutex, pc);
    sync::unhold(mutex as usize, None, pc);
    let mut cleanup = Cleanup {
        routine: wait_cancelled,
        argument: mutex,
        cancel_type: 0,
        previous: std::ptr::null_mut(),
    };
    // SAFETY: the buffer lives until it is taken out again, or its frame is unwound.
    unsafe { _pthread_cleanup_push(&mut cleanup, wait_cancelled, mutex) };
    let result = wait();
    // SAFETY: as above.
    unsafe { _pthread_cleanup_pop(&mut cleanup, 0) };
    sync::hold(mutex as usize, true, None, pc);
    result
}

unsafe extern "C" fn cond_wait(condition: Lock, mutex: Lock, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    waiting(condition, mutex, pc, || unsafe {
        real!(pthread_cond_wait: fn(Lock, Lock) -> c_int)(condition, mutex)
    })
}

unsafe extern "C" fn cond_timedwait(condition: Lock, mutex: Lock, time: Time, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    waiting(condition, mutex, pc, || unsafe {
        real!(pthread_cond_timedwait: fn(Lock, Lock, Time) -> c_int)(condition, mutex, time)
    })
}

unsafe extern "C" fn cond_clockwait(
    condition: Lock,
    mutex: Lock,
    clock: c_int,
    time: Time,
    pc: usize,
) -> c_int {
    // SAFETY: the program's own call.
    waiting(condition, mutex, pc, || unsafe {
        real!(pthread_cond_clockwait: fn(Lock, Lock, c_int, Time) -> c_int)(
            condition, mutex, clock, time,
        )
    })
}

unsafe extern "C" fn cond_signal(condition: Lock, pc: usize) -> c_int {
    uses(condition, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_cond_signal: fn(Lock) -> c_int)(condition) }
}

unsafe extern "C" fn cond_broadcast(condition: Lock, pc: usize) -> c_int {
    uses(condition, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_cond_broadcast: fn(Lock) -> c_int)(condition) }
}

unsafe extern "C" fn cond_init(condition: Lock, attributes: *const c_void, pc: usize) -> c_int {
    changes(condition, pc);
    // SAFETY: the program's own call.
    unsafe { real!(pthread_cond_init: fn(Lock, *const c_void) -> c_int)(condition, attributes) }
}

calls! { (pc, result)
    pthread_mutex_init(lock, attributes) { changes(lock as Lock, pc); } {};
    pthread_rwlock_init(lock, attributes) { changes(lock as Lock, pc); } {};
    pthread_spin_init(lock, shared) { changes(lock as Lock, pc); } {};
    sem_init(lock, shared, value) { changes(lock as Lock, pc); } {};
    mtx_init(lock, kind) { changes(lock as Lock, pc); } {};
}

export! {
    "pthread_mutex_lock" 1 => mutex_lock;
    "pthread_mutex_trylock" 1 => mutex_trylock;
    "pthread_mutex_timedlock" 2 => mutex_timedlock;
    "pthread_mutex_clocklock" 3 => mutex_clocklock;
    "pthread_spin_lock" 1 => spin_lock;
    "pthread_spin_trylock" 1 => spin_trylock;
    "pthread_mutex_unlock" 1 => mutex_unlock;
    "pthread_spin_unlock" 1 => spin_unlock;
    "pthread_mutex_destroy" 1 => mutex_destroy;
    "pthread_spin_destroy" 1 => spin_destroy;
    "pthread_rwlock_destroy" 1 => rwlock_destroy;
    "pthread_cond_destroy" 1 => cond_destroy;
    "pthread_rwlock_rdlock" 1 => rwlock_rdlock;
    "pthread_rwlock_tryrdlock" 1 => rwlock_tryrdlock;
    "pthread_rwlock_timedrdlock" 2 => rwlock_timedrdlock;
    "pthread_rwlock_clockrdlock" 3 => rwlock_clockrdlock;
    "pthread_rwlock_wrlock" 1 => rwlock_wrlock;
    "pthread_rwlock_trywrlock" 1 => rwlock_trywrlock;
    "pthread_rwlock_timedwrlock" 2 => rwlock_timedwrlock;
    "pthread_rwlock_clockwrlock" 3 => rwlock_clockwrlock;
    "pthread_rwlock_unlock" 1 => rwlock_unlock;
    "sem_wait" 1 => sem_wait;
    "sem_trywait" 1 => sem_trywait;
    "sem_timedwait" 2 => sem_timedwait;
    "sem_clockwait" 3 => sem_clockwait;
    "sem_post" 1 => sem_post;
    "sem_destroy" 1 => sem_destroy;
    "pthread_barrier_init" 3 => barrier_init;
    "mtx_lock" 1 => mtx_lock;
    "mtx_trylock" 1 => mtx_trylock;
    "mtx_timedlock" 2 => mtx_timedlock;
    "mtx_unlock" 1 => mtx_unlock;
    "mtx_destroy" 1 => mtx_destroy;
    "cnd_wait" 2 => cnd_wait;
    "cnd_timedwait" 3 => cnd_timedwait;
    "pthread_barrier_wait" 1 => barrier_wait;
    "pthread_barrier_destroy" 1 => barrier_destroy;
    "pthread_cond_wait" 2 => cond_wait;
    "pthread_cond_timedwait" 3 => cond_timedwait;
    "pthread_cond_clockwait" 4 => cond_clockwait;
    "pthread_cond_signal" 1 => cond_signal;
    "pthread_cond_broadcast" 1 => cond_broadcast;
    "pthread_cond_init" 2 => cond_init;
}
