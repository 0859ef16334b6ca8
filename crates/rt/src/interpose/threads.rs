//! Threads: creation, end, joining, names, `pthread_once` and C++'s guards of static variables.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use super::library_calls::call_of_program;
use super::memory::writes;
use super::real::real;
use crate::hooks::export;
use crate::openmp;
use crate::order::sync;
use crate::order::thread::{Thread, enter, local};
use crate::order::threads;
use crate::output::recording::{self, NewMemory, Stamped};
use crate::output::waits;
use crate::platform::world::world;
use deadheat_tape::mailbox::Waits;

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

struct Begin {
    thread: *mut Thread,
    start: Start,
    argument: *mut c_void,
    /// The signals that are blocked on the creating thread, and will be on this one.
    blocked: u64,
}

/// Blocks these signals instead of those that are, and says which those were.
fn block(signals: u64) -> u64 {
    let mut old = 0u64;
    let places = [&raw const signals as usize, &raw mut old as usize];
    // SAFETY: the kernel reads and writes a word of signals.
    unsafe {
        let arguments = [libc::SIG_SETMASK as usize, places[0], places[1], 8, 0, 0];
        crate::platform::os::call(libc::SYS_rt_sigprocmask, arguments);
    }
    old
}

/// All signals but those that code causes itself.
const ALL_SIGNALS: u64 = {
    let caused = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
    ];
    let (mut all, mut index) = (u64::MAX, 0);
    while index < caused.len() {
        all &= !(1 << (caused[index] - 1));
        index += 1;
    }
    all
};

unsafe extern "C" {
    fn pthread_attr_getdetachstate(
        attributes: *const libc::pthread_attr_t,
        state: *mut c_int,
    ) -> c_int;
}

/// A stack for programs that ask for little: the runtime needs some as well.
const SMALL_STACK: usize = 64 << 10;

unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    // The C library does this before the thread begins.
    writes(handle as usize, size_of::<libc::pthread_t>(), pc);
    // SAFETY: the program's own call, with its own arguments; what is changed is a copy of the attributes.
    unsafe {
        let create = real!(pthread_create: fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> c_int);
        let mut stack_size = 8 << 20;
        let mut detached = 0;
        let mut own_stack = std::ptr::null_mut();
        let mut larger: libc::pthread_attr_t;
        let mut attributes = attributes;
        if !attributes.is_null() {
            pthread_attr_getdetachstate(attributes, &mut detached);
            libc::pthread_attr_getstack(attributes, &mut own_stack, &mut stack_size);
            libc::pthread_attr_getstacksize(attributes, &mut stack_size);
            if own_stack.is_null() && stack_size < SMALL_STACK {
                larger = *attributes;
                libc::pthread_attr_setstacksize(&mut larger, stack_size + SMALL_STACK);
                attributes = &raw const larger;
            }
        }
        born(
            start,
            argument,
            stack_size,
            detached == libc::PTHREAD_CREATE_DETACHED,
            handle,
            pc,
            |start, argument| create(handle, attributes, start, argument),
        )
    }
}

/// Creates a thread by calling `create`.
unsafe fn born(
    start: Start,
    argument: *mut c_void,
    stack_size: usize,
    detached: bool,
    handle: *mut libc::pthread_t,
    pc: usize,
    create: impl FnOnce(Start, *mut c_void) -> c_int,
) -> c_int {
    let Some(entered) = enter() else {
        return create(start, argument);
    };
    let call = match openmp::is_runtime(pc) {
        true => pc,
        false => call_of_program(entered.thread(), pc),
    };
    let thread = threads::create(&entered, call, stack_size);
    // SAFETY: just made.
    let id = unsafe { (*thread).id };
    drop(entered);
    // No handler may run on the new thread before it is known.
    let blocked = block(ALL_SIGNALS);
    let begin = Begin {
        thread,
        start,
        argument,
        blocked,
    };
    let begin = Box::into_raw(Box::new(begin));
    let result = create(run, begin.cast());
    block(blocked);
    if let Some(entered) = enter() {
        if result != 0 {
            // SAFETY: no thread has begun that would take it.
            drop(unsafe { Box::from_raw(begin) });
            threads::not_created(&entered, thread);
        } else {
            // SAFETY: the C library has written who the thread is.
            threads::created(unsafe { *handle } as usize, id, detached);
        }
    }
    result
}

/// As `pthread_create`. What the function returns has fewer bits, in the same register.
unsafe extern "C" fn thrd_create(
    handle: *mut libc::pthread_t,
    start: Start,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    writes(handle as usize, size_of::<libc::pthread_t>(), pc);
    // SAFETY: the program's own call.
    unsafe {
        let create = real!(thrd_create: fn(*mut libc::pthread_t, Start, *mut c_void) -> c_int);
        born(
            start,
            argument,
            8 << 20,
            false,
            handle,
            pc,
            |start, argument| create(handle, start, argument),
        )
    }
}

unsafe extern "C" fn thrd_join(handle: libc::pthread_t, value: *mut c_int, pc: usize) -> c_int {
    let id = who(handle);
    // SAFETY: the program's own call.
    joined((handle, value), id, pc, unsafe {
        real!(thrd_join: fn(libc::pthread_t, *mut c_int) -> c_int)(handle, value)
    })
}

unsafe extern "C" fn thrd_detach(handle: libc::pthread_t) -> c_int {
    if let Some(_entered) = enter() {
        threads::detached(handle as usize);
    }
    // SAFETY: the program's own call.
    unsafe { real!(thrd_detach: fn(libc::pthread_t) -> c_int)(handle) }
}

unsafe extern "C" fn call_once(control: *mut c_int, routine: Routine, pc: usize) {
    let before = ONCE.replace((Some(routine), control as usize));
    // SAFETY: the program's own call.
    unsafe { real!(call_once: fn(*mut c_int, Routine))(control, run_once) };
    ONCE.set(before);
    sync::acquire(control as usize, pc);
}

extern "C" fn run(begin: *mut c_void) -> *mut c_void {
    let local = local();
    local.depth.set(1);
    // SAFETY: made by `create` for this thread.
    let begin = unsafe { *Box::from_raw(begin.cast::<Begin>()) };
    // SAFETY: nobody else has the thread yet.
    unsafe { (*begin.thread).floor = &raw const begin as usize };
    Thread::begin(begin.thread);
    local.depth.set(0);
    // SAFETY: asks for the running thread's name for itself.
    threads::begin(begin.thread, unsafe { libc::pthread_self() } as usize);
    find_stack();
    watch_end();
    block(begin.blocked);
    (begin.start)(begin.argument)
}

/// Where the running thread's stack is. What was done to this memory when it was another thread's does not count.
fn find_stack() {
    find_own_stack();
    let Some(entered) = enter() else { return };
    entered.thread().variables = super::thread_local::range();
    let (from, to) = entered.thread().stack;
    if from != 0 && recording::on() {
        let thread = entered.thread();
        thread.note_memory(
            Stamped::New,
            from,
            to - from,
            recording::code(0, NewMemory::Mapped.into()),
        );
        recording::stack(thread);
    } else if from != 0 {
        world().shadow.clear(from, to & !7);
        world().channels.clear(from, to);
        world().contents.forget(from, to);
    }
}

/// Where the running thread's stack is.
pub fn find_own_stack() {
    let Some(entered) = enter() else { return };
    // SAFETY: the attributes are written before they are read.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            let (mut start, mut size) = (std::ptr::null_mut(), 0);
            libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
            entered.thread().stack = (start as usize, start as usize + size);
            libc::pthread_attr_destroy(&mut attributes);
        }
    }
}

/// The key whose destructor tells that a thread ends, plus 1.
static KEY: AtomicU32 = AtomicU32::new(0);
/// Destructors of keys run this often: the last time is the end.
const ROUNDS: usize = 4;

/// Sees to it that the end of the running thread is noticed.
pub fn watch_end() {
    let mut key = KEY.load(Ordering::Acquire);
    // SAFETY: a key of the runtime's own, made once.
    unsafe {
        if key == 0 {
            let mut new = 0;
            if libc::pthread_key_create(&mut new, Some(thread_ends)) != 0 {
                return;
            }
            key = match KEY.compare_exchange(0, new + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => new + 1,
                Err(other) => {
                    libc::pthread_key_delete(new);
                    other
                }
            };
        }
        libc::pthread_setspecific(key - 1, ROUNDS as *const c_void);
    }
}

unsafe extern "C" fn thread_ends(rounds: *mut c_void) {
    let left = rounds as usize - 1;
    if left == ROUNDS - 1 {
        super::cxx_library::thread_ends();
    }
    if left > 0 {
        // SAFETY: the runtime's own key.
        unsafe {
            libc::pthread_setspecific(KEY.load(Ordering::Relaxed) - 1, left as *const c_void)
        };
        return;
    }
    if let Some(entered) = enter() {
        threads::end(entered);
    }
}

fn who(handle: libc::pthread_t) -> Option<u32> {
    let _entered = enter()?;
    world().threads.id_of(handle as usize)
}

fn joined<T>(
    (handle, value): (libc::pthread_t, *mut T),
    id: Option<u32>,
    pc: usize,
    result: c_int,
) -> c_int {
    if result == 0
        && let Some(id) = id
        && let Some(entered) = enter()
    {
        threads::joined(&entered, handle as usize, id, pc);
    }
    if result == 0 && !value.is_null() {
        writes(value as usize, size_of::<T>(), pc);
    }
    result
}

type Value = *mut *mut c_void;

unsafe extern "C" fn join(handle: libc::pthread_t, value: Value, pc: usize) -> c_int {
    let id = who(handle);
    if let Some(id) = id {
        waits::begin(Waits::End, id as usize, pc);
    }
    // SAFETY: the program's own call.
    let result = unsafe { real!(pthread_join: fn(libc::pthread_t, Value) -> c_int)(handle, value) };
    waits::end();
    joined((handle, value), id, pc, result)
}

unsafe extern "C" fn tryjoin(handle: libc::pthread_t, value: Value, pc: usize) -> c_int {
    let id = who(handle);
    // SAFETY: the program's own call.
    joined((handle, value), id, pc, unsafe {
        real!(pthread_tryjoin_np: fn(libc::pthread_t, Value) -> c_int)(handle, value)
    })
}

unsafe extern "C" fn timedjoin(
    handle: libc::pthread_t,
    value: Value,
    time: *const libc::timespec,
    pc: usize,
) -> c_int {
    let id = who(handle);
    // SAFETY: the program's own call.
    joined((handle, value), id, pc, unsafe {
        real!(pthread_timedjoin_np: fn(libc::pthread_t, Value, *const libc::timespec) -> c_int)(
            handle, value, time,
        )
    })
}

unsafe extern "C" fn clockjoin(
    handle: libc::pthread_t,
    value: Value,
    clock: c_int,
    time: *const libc::timespec,
    pc: usize,
) -> c_int {
    let id = who(handle);
    // SAFETY: the program's own call.
    joined((handle, value), id, pc, unsafe {
        real!(pthread_clockjoin_np: fn(libc::pthread_t, Value, c_int, *const libc::timespec) -> c_int)(
            handle, value, clock, time,
        )
    })
}

unsafe extern "C" fn detach(handle: libc::pthread_t) -> c_int {
    if let Some(_entered) = enter() {
        threads::detached(handle as usize);
    }
    // SAFETY: the program's own call.
    unsafe { real!(pthread_detach: fn(libc::pthread_t) -> c_int)(handle) }
}

unsafe extern "C" fn setname(handle: libc::pthread_t, name: *const c_char) -> c_int {
    if let Some(entered) = enter() {
        // SAFETY: a string of C, by the function's contract.
        let text = unsafe { CStr::from_ptr(name) };
        // SAFETY: asks for the running thread's name for itself.
        if handle == unsafe { libc::pthread_self() } {
            threads::name_own(entered.thread(), text.to_bytes());
        } else if let Some(id) = world().threads.id_of(handle as usize) {
            world().threads.set_name(id, text.to_bytes());
        }
    }
    // SAFETY: the program's own call.
    unsafe { real!(pthread_setname_np: fn(libc::pthread_t, *const c_char) -> c_int)(handle, name) }
}

type Routine = extern "C" fn();

thread_local! {
    /// What `pthread_once` is to call on this thread.
    static ONCE: Cell<(Option<Routine>, usize)> = const { Cell::new((None, 0)) };
}

unsafe extern "C" fn once(control: *mut c_int, routine: Routine, pc: usize) -> c_int {
    let before = ONCE.replace((Some(routine), control as usize));
    // SAFETY: the program's own call.
    let result =
        unsafe { real!(pthread_once: fn(*mut c_int, Routine) -> c_int)(control, run_once) };
    ONCE.set(before);
    sync::acquire(control as usize, pc);
    result
}

extern "C" fn run_once() {
    let (routine, control) = ONCE.get();
    // An attempt before this one may have ended in an exception.
    sync::acquire(control, 0);
    if let Some(routine) = routine {
        routine();
    }
    sync::release(control, 0);
}

/// An exception is thrown: if it ends what `pthread_once` has called, another thread tries again.
pub fn throws() {
    if let (Some(_), control) = ONCE.get() {
        sync::release_more(control, 0);
    }
}

unsafe extern "C" fn guard_acquire(guard: *mut u64, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(__cxa_guard_acquire: fn(*mut u64) -> c_int)(guard) };
    sync::acquire(guard as usize, pc);
    result
}

unsafe extern "C" fn guard_release(guard: *mut u64, pc: usize) {
    sync::release(guard as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(__cxa_guard_release: fn(*mut u64))(guard) }
}

unsafe extern "C" fn guard_abort(guard: *mut u64, pc: usize) {
    sync::release(guard as usize, pc);
    // SAFETY: the program's own call.
    unsafe { real!(__cxa_guard_abort: fn(*mut u64))(guard) }
}

export! {
    "pthread_create" 4 => create;
    "pthread_join" 2 => join;
    "pthread_tryjoin_np" 2 => tryjoin;
    "pthread_timedjoin_np" 3 => timedjoin;
    "pthread_clockjoin_np" 4 => clockjoin;
    "pthread_detach" plain => detach;
    "pthread_setname_np" plain => setname;
    "thrd_create" 3 => thrd_create;
    "thrd_join" 2 => thrd_join;
    "thrd_detach" plain => thrd_detach;
    "call_once" 2 => call_once;
    "pthread_once" 2 => once;
    "__cxa_guard_acquire" 1 => guard_acquire;
    "__cxa_guard_release" 1 => guard_release;
    "__cxa_guard_abort" 1 => guard_abort;
}
