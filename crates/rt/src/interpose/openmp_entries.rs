//! Functions of OpenMP's runtime that compiled code calls and that its tool interface does not tell enough of.
//!
//! Whether a task is undeferred because the program says so, not because there is only one thread; memory that the
//! runtime hands out again and again without freeing it; iterations that wait for each other; the end of an `ordered`
//! block before the next one begins; the names of critical sections; and who asks for the number of its thread, or how many there are. Reductions have a file of
//! their own.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::real::real;
use crate::hooks::export;
use crate::openmp::memory::renew;
use crate::openmp::notes;
use crate::openmp::strand::{Shared, Strand};
use crate::openmp::{Seen, is_runtime, see, with_strand};
use crate::order::sync;
use crate::order::thread::{enter, local};
use crate::platform::pauses;

type Location = *const c_void;
type Code = usize;

thread_local! {
    /// The strand whose tasks are undeferred.
    static UNDEFERRED: Cell<*const Strand> = const { Cell::new(std::ptr::null()) };
}

/// Whether the program has said that the task which is created now by this strand is undeferred.
pub fn is_undeferred(strand: *const Strand) -> bool {
    UNDEFERRED.get() == strand
}

/// Runs something that creates undeferred tasks, if it says so.
pub fn creating<T>(undeferred: bool, what: impl FnOnce() -> T) -> T {
    let before = UNDEFERRED.get();
    if undeferred && let Some(entered) = enter() {
        UNDEFERRED.set(entered.thread().strand);
    }
    let result = what();
    UNDEFERRED.set(before);
    result
}

thread_local! {
    static CALLER_STACK: Cell<usize> = const { Cell::new(0) };
    static CALLER: Cell<(*const Strand, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

/// Code that calls one of the functions here, which call the runtime in its place. GNU's entry points call them inside of the
/// runtime: then it is who has called those.
pub extern "C" fn note_caller(code: usize) {
    if is_runtime(code) {
        return;
    }
    // SAFETY: the running thread's own.
    let strand = unsafe { local().thread.get().as_ref() }.map(|thread| thread.strand.cast_const());
    CALLER.set((strand.unwrap_or(std::ptr::null()), code));
}

/// Who has called the runtime for a strand: `code` is whom the runtime takes for it.
pub fn caller(strand: *const Strand, code: usize) -> usize {
    match CALLER.get() {
        (caller, found) if caller == strand && found != 0 => found,
        _ => code,
    }
}

/// Where the stack ends of compiled code that will call a task's code itself; 0: it does not.
pub fn caller_stack() -> usize {
    CALLER_STACK.get()
}

unsafe extern "C" fn begin_if0(
    location: Location,
    thread: i32,
    task: *mut c_void,
    stack_pointer: usize,
) {
    CALLER_STACK.set(stack_pointer + 8);
    // SAFETY: the stack pointer points to where the call returns to.
    note_caller(unsafe { *(stack_pointer as *const usize) });
    // SAFETY: the program's own call.
    creating(true, || unsafe {
        real!(__kmpc_omp_task_begin_if0: fn(Location, i32, *mut c_void))(location, thread, task)
    });
    CALLER_STACK.set(0);
    CALLER.set((std::ptr::null(), 0));
}

/// A dependence, as compiled code tells the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Dependence {
    address: usize,
    length: usize,
    kind: u8,
}

impl Dependence {
    pub fn new(address: usize, kind: u8) -> Dependence {
        let length = 0;
        Dependence {
            address,
            length,
            kind,
        }
    }
}

/// A list of them.
pub type List = *const Dependence;

thread_local! {
    static DEPENDENCES: Cell<(i32, List)> = const { Cell::new((0, std::ptr::null())) };
}

/// What such a list says, of a call of compiled code that has not returned.
#[derive(Clone)]
pub struct Named {
    count: i32,
    list: List,
    next: i32,
}

impl Iterator for Named {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<(usize, u32)> {
        if self.next >= self.count {
            return None;
        }
        // SAFETY: compiled code has made the list, and waits for the call to return.
        let dependence = unsafe { *self.list.add(self.next as usize) };
        self.next += 1;
        Some((dependence.address, u32::from(dependence.kind)))
    }
}

/// Calls something with the dependences of the task that is created now, if it has any.
pub fn with_dependences(what: impl FnOnce(Named)) {
    // The task may run, and create others, before the call returns.
    let (count, list) = DEPENDENCES.replace((0, std::ptr::null()));
    if count > 0 {
        what(Named {
            count,
            list,
            next: 0,
        });
    }
}

/// Creates a task with these dependences.
pub fn with_list(list: &[Dependence], creates: impl FnOnce()) {
    DEPENDENCES.set((list.len() as i32, list.as_ptr()));
    creates();
    DEPENDENCES.set((0, std::ptr::null()));
}

/// The call has returned that was [noted](note_caller).
pub fn forget_caller() {
    CALLER.set((std::ptr::null(), 0));
}

unsafe extern "C" fn task_with_deps(
    l: Location,
    t: i32,
    task: *mut c_void,
    n: i32,
    list: List,
    m: i32,
    other: List,
) -> i32 {
    DEPENDENCES.set((n, list));
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(__kmpc_omp_task_with_deps: fn(Location, i32, *mut c_void, i32, List, i32, List) -> i32)(
            l, t, task, n, list, m, other,
        )
    };
    DEPENDENCES.set((0, std::ptr::null()));
    CALLER.set((std::ptr::null(), 0));
    result
}

/// A `taskwait` with dependences.
pub fn taskwait(count: i32, list: List, wait: impl FnOnce()) {
    if let Some(entered) = enter() {
        with_strand(entered.thread(), |strand| {
            strand.begin_taskwait(Named {
                count,
                list,
                next: 0,
            })
        });
    }
    wait();
    if let Some(entered) = enter() {
        with_strand(entered.thread(), |strand| strand.follow());
    }
}

unsafe extern "C" fn wait_deps(l: Location, t: i32, n: i32, list: List, m: i32, other: List) {
    // SAFETY: the program's own call.
    taskwait(n, list, || unsafe {
        real!(__kmpc_omp_wait_deps: fn(Location, i32, i32, List, i32, List))(
            l, t, n, list, m, other,
        )
    });
}

unsafe extern "C" fn taskwait_deps(
    l: Location,
    t: i32,
    n: i32,
    list: List,
    m: i32,
    other: List,
    no_wait: i32,
) {
    // SAFETY: the program's own call.
    let wait = || unsafe {
        real!(__kmpc_omp_taskwait_deps_51: fn(Location, i32, i32, List, i32, List, i32))(
            l, t, n, list, m, other, no_wait,
        )
    };
    match no_wait {
        0 => taskwait(n, list, wait),
        _ => empty_task(n, list, wait),
    }
}

/// A `taskwait` that need not wait: a task that does nothing, by which others can be ordered. The runtime waits all the
/// same.
fn empty_task(count: i32, list: List, wait: impl FnOnce()) {
    let named = Named {
        count,
        list,
        next: 0,
    };
    let task = enter().and_then(|entered| {
        let thread = entered.thread();
        let stack = thread.stack_at(0);
        with_strand(thread, |strand| {
            let mut task = strand.create(stack, false, false)?;
            notes::task(strand.name, task.name, 0);
            strand.depend(&mut task, named);
            Some(task)
        })?
    });
    wait();
    if let Some(mut task) = task
        && let Some(_entered) = enter()
    {
        task.follow();
        task.end();
    }
}

/// A task as compiled code knows it.
#[repr(C)]
struct Task {
    shared: usize,
    routine: Code,
}

/// What is known of tasks by their code: how much memory one takes, and what copies it for a `taskloop`.
#[derive(Default)]
struct Known {
    tasks: FxHashMap<Code, (usize, Code)>,
}

static KNOWN: Shared<Option<Known>> = Shared::empty();
/// Whether there was a `taskloop`: until then nothing is copied.
static ANY_LOOP: AtomicBool = AtomicBool::new(false);
/// How far behind the tool's data of a task the task itself is.
static DISTANCE: AtomicUsize = AtomicUsize::new(0);

fn known<T>(what: impl FnOnce(&mut Known) -> T) -> T {
    KNOWN.with(|known| what(known.get_or_insert_default()))
}

/// Runs a part of a task.
type Routine = unsafe extern "C" fn(i32, *mut Task) -> i32;

thread_local! {
    /// The code and size of the last task that the thread has created: as known to all.
    static NOTED: Cell<(Code, usize)> = const { Cell::new((0, 0)) };
    /// The untied task of which a part begins.
    static BEGINS: Cell<*mut Strand> = const { Cell::new(std::ptr::null_mut()) };
}

/// The runtime will call the code of this strand.
pub fn part_begins(strand: &mut Strand) {
    BEGINS.set(match strand.untied {
        true => strand,
        false => std::ptr::null_mut(),
    });
}

/// What the runtime calls in place of an untied task's code: nobody else tells when that returns.
unsafe extern "C" fn run_part(thread: i32, task: *mut Task) -> i32 {
    let strand = BEGINS.replace(std::ptr::null_mut());
    let _around = pauses::around();
    // SAFETY: the task's own code, called as the runtime would.
    let result = unsafe { std::mem::transmute::<Code, Routine>((*task).code())(thread, task) };
    if let Some(entered) = enter() {
        super::ompt::part_returns(entered.thread(), strand);
    }
    result
}

impl Task {
    /// The code that the program has given it. An untied task has it behind its own memory, before what it shares.
    fn code(&self) -> Code {
        match self.routine == run_part as *const () as Code {
            // SAFETY: `task_alloc` has made room there, and copies for a `taskloop` have it, too.
            true => unsafe { *(self.shared as *const Code).sub(1) },
            false => self.routine,
        }
    }
}

unsafe extern "C" fn task_alloc(
    location: Location,
    thread: i32,
    flags: i32,
    mut size: usize,
    mut shared: usize,
    routine: Code,
) -> *mut Task {
    const TIED: i32 = 1;
    const WORD: usize = size_of::<Code>();
    let untied = flags & TIED == 0;
    if untied {
        size = size.next_multiple_of(WORD) + WORD;
        shared = shared.max(WORD);
    }
    // SAFETY: the program's own call.
    let task = unsafe {
        real!(__kmpc_omp_task_alloc: fn(Location, i32, i32, usize, usize, Code) -> *mut Task)(
            location, thread, flags, size, shared, routine,
        )
    };
    if untied {
        // SAFETY: a task that was just made, with room for one word more.
        unsafe {
            *((*task).shared as *mut Code).sub(1) = routine;
            (*task).routine = run_part as *const () as Code;
        }
    }
    if let Some(_entered) = enter() {
        note_task(task, size, shared, routine);
    }
    task
}

unsafe extern "C" fn target_task_alloc(
    location: Location,
    thread: i32,
    flags: i32,
    size: usize,
    shared: usize,
    routine: Code,
    device: i64,
) -> *mut Task {
    // SAFETY: the program's own call.
    let task = unsafe {
        real!(__kmpc_omp_target_task_alloc: fn(Location, i32, i32, usize, usize, Code, i64) -> *mut Task)(
            location, thread, flags, size, shared, routine, device,
        )
    };
    if let Some(_entered) = enter() {
        note_task(task, size, shared, routine);
    }
    task
}

fn note_task(task: *mut Task, size: usize, shared: usize, routine: Code) {
    renew(task as usize, size);
    // SAFETY: a task that was just made.
    if let Some(task) = unsafe { task.as_ref() } {
        renew(task.shared, shared);
    }
    let all = size.next_multiple_of(16) + shared;
    if NOTED.replace((routine, all)) != (routine, all) {
        known(|known| known.tasks.entry(routine).or_insert((all, 0)).0 = all);
    }
}

/// A task is created with the tool's data here. If it is a copy that a `taskloop` has made, nobody has told of its
/// memory yet.
pub fn renew_copy(data: usize) {
    if !ANY_LOOP.load(Ordering::Relaxed) {
        return;
    }
    let distance = match DISTANCE.load(Ordering::Relaxed) {
        0 => {
            // The task begins a little behind: its second word is code that is known. What the runtime creates for its
            // own ends, to share out a long loop, has code of its own, and behind it lies something else.
            let codes = (1..128).map(|word| {
                // SAFETY: within the runtime's own description of the task, or the task.
                let task = unsafe { &*((data + word * 8) as *const Task) };
                (word * 8, task.routine)
            });
            let mut codes = codes.take_while(|(_, code)| !is_runtime(*code));
            let found = codes.find(|(_, code)| {
                *code == run_part as *const () as Code
                    || known(|known| known.tasks.contains_key(code))
            });
            let Some((found, _)) = found else { return };
            DISTANCE.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    };
    // SAFETY: the task whose data this is.
    let routine = unsafe { (*((data + distance) as *const Task)).code() };
    let size = known(|known| known.tasks.get(&routine).copied());
    if let Some((size, copy)) = size
        && copy != 0
    {
        renew(data + distance, size);
    }
}

/// A `taskloop` of GNU's begins, whose tasks have this code and so much data.
pub fn note_loop(code: Code, size: usize) {
    let all = size_of::<Task>().next_multiple_of(16) + OTHER_WORDS + size;
    known(|known| known.tasks.insert(code, (all, NO_COPY)));
    ANY_LOOP.store(true, Ordering::Relaxed);
}

/// What the runtime has of a task behind its code.
const OTHER_WORDS: usize = 32;

/// Nothing needs to be copied.
const NO_COPY: Code = 1;

/// Copies a task for a `taskloop`, as the compiled code wants it, into memory that is new.
unsafe extern "C" fn copy_task(to: *mut Task, from: *mut Task, last: i32) {
    // SAFETY: tasks that the runtime has made.
    let routine = unsafe { (*from).code() };
    let found = match enter() {
        Some(_entered) => {
            let found = known(|known| known.tasks.get(&routine).copied());
            if let Some((size, _)) = found {
                renew(to as usize, size);
            }
            found
        }
        None => known(|known| known.tasks.get(&routine).copied()),
    };
    if let Some((_, copy)) = found
        && copy > NO_COPY
    {
        // SAFETY: what the program has given for this.
        unsafe {
            std::mem::transmute::<Code, unsafe extern "C" fn(*mut Task, *mut Task, i32)>(copy)(
                to, from, last,
            )
        };
    }
}

/// What to give the runtime instead of the program's own function for copying.
unsafe fn watch_copies(task: *mut Task, copy: Code) -> Code {
    let Some(_entered) = enter() else { return copy };
    // SAFETY: the task that the program has made for its loop.
    let routine = unsafe { (*task).code() };
    known(|known| known.tasks.entry(routine).or_default().1 = copy.max(NO_COPY));
    ANY_LOOP.store(true, Ordering::Relaxed);
    match copy {
        0 => 0,
        _ => copy_task as *const () as Code,
    }
}

/// A `taskloop`, in one of the ways that compiled code calls it: with these arguments before the last.
macro_rules! taskloop {
    ($name:ident: $real:ident $(, $modifier:ident: $type:ty)?) => {
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $name(
            location: Location,
            thread: i32,
            task: *mut Task,
            condition: i32,
            lower: *mut u64,
            upper: *mut u64,
            stride: i64,
            no_group: i32,
            schedule: i32,
            grain: u64,
            $($modifier: $type,)?
            copy: Code,
        ) {
            const AS_MANY_AS_THREADS_WANT: i32 = 0;
            if schedule == AS_MANY_AS_THREADS_WANT {
                see(Seen::StaticLoops);
            }
            // SAFETY: the program's own call.
            unsafe {
                let copy = watch_copies(task, copy);
                creating(condition == 0, || {
                    real!($real: fn(Location, i32, *mut Task, i32, *mut u64, *mut u64, i64, i32, i32, u64, $($type,)? Code))(
                        location, thread, task, condition, lower, upper, stride, no_group, schedule, grain,
                        $($modifier,)? copy,
                    );
                });
                CALLER.set((std::ptr::null(), 0));
            }
        }
    };
}

taskloop!(taskloop: __kmpc_taskloop);
taskloop!(taskloop_5: __kmpc_taskloop_5, modifier: i32);

thread_local! {
    /// The variable of the critical section that compiled code enters or leaves just now.
    static CRITICAL: Cell<usize> = const { Cell::new(0) };
}

/// The lock that the runtime tells of. That of a critical section is its variable, which has the section's name.
pub fn own_lock(kind: c_int, lock: usize) -> usize {
    const CRITICAL_SECTION: c_int = 5;
    match CRITICAL.get() {
        variable if kind == CRITICAL_SECTION && variable != 0 => variable,
        _ => lock,
    }
}

fn with_critical(variable: usize, what: impl FnOnce()) {
    let before = CRITICAL.replace(variable);
    what();
    CRITICAL.set(before);
}

unsafe extern "C" fn begin_critical(location: Location, thread: i32, variable: usize) {
    // SAFETY: the program's own call.
    with_critical(variable, || unsafe {
        real!(__kmpc_critical: fn(Location, i32, usize))(location, thread, variable)
    });
}

unsafe extern "C" fn begin_critical_with_hint(
    location: Location,
    thread: i32,
    variable: usize,
    hint: u32,
) {
    // SAFETY: the program's own call.
    with_critical(variable, || unsafe {
        real!(__kmpc_critical_with_hint: fn(Location, i32, usize, u32))(
            location, thread, variable, hint,
        )
    });
}

unsafe extern "C" fn end_critical(location: Location, thread: i32, variable: usize) {
    // SAFETY: the program's own call.
    with_critical(variable, || unsafe {
        real!(__kmpc_end_critical: fn(Location, i32, usize))(location, thread, variable)
    });
}

unsafe extern "C" fn unset_lock(lock: usize) {
    if let Some(entered) = enter() {
        sync::about_to_unhold(entered.thread(), lock);
    }
    // SAFETY: the program's own call.
    unsafe { real!(omp_unset_lock: fn(usize))(lock) }
}

/// The strand's `ordered` block ends.
pub fn end_ordered_block() {
    if let Some(entered) = enter() {
        with_strand(entered.thread(), Strand::end_ordered);
    }
}

unsafe extern "C" fn end_ordered(location: Location, thread: i32) {
    end_ordered_block();
    // SAFETY: the program's own call.
    unsafe { real!(__kmpc_end_ordered: fn(Location, i32))(location, thread) }
}

unsafe extern "C" fn doacross_init(
    location: Location,
    thread: i32,
    dimensions: i32,
    bounds: *const c_void,
) {
    // SAFETY: the program's own call.
    unsafe {
        real!(__kmpc_doacross_init: fn(Location, i32, i32, *const c_void))(
            location, thread, dimensions, bounds,
        )
    };
    if let Some(entered) = enter() {
        with_strand(entered.thread(), |strand| {
            strand.begin_posts(dimensions.max(0) as usize)
        });
    }
}

unsafe extern "C" fn doacross_post(location: Location, thread: i32, iteration: *const i64) {
    if let Some(entered) = enter() {
        with_strand(entered.thread(), |strand| {
            let dimensions = strand.member.as_ref().map_or(0, |member| member.dimensions);
            // SAFETY: one number for each dimension.
            strand.post(unsafe { std::slice::from_raw_parts(iteration, dimensions) });
        });
    }
    // SAFETY: the program's own call.
    unsafe {
        real!(__kmpc_doacross_post: fn(Location, i32, *const i64))(location, thread, iteration)
    }
}

unsafe extern "C" fn doacross_wait(location: Location, thread: i32, iteration: *const i64) {
    // SAFETY: the program's own call.
    unsafe {
        real!(__kmpc_doacross_wait: fn(Location, i32, *const i64))(location, thread, iteration)
    };
    if let Some(entered) = enter() {
        with_strand(entered.thread(), |strand| {
            let dimensions = strand.member.as_ref().map_or(0, |member| member.dimensions);
            // SAFETY: one number for each dimension.
            strand.await_post(unsafe { std::slice::from_raw_parts(iteration, dimensions) });
        });
    }
}

unsafe extern "C" fn get_thread_num() -> c_int {
    if let Some(entered) = enter() {
        let thread = entered.thread();
        let asked = with_strand(thread, |strand| {
            let asked = strand.has_asked();
            strand.ask();
            asked
        });
        if asked == Some(false) {
            thread.follow_asked();
        }
    }
    // SAFETY: the program's own call.
    unsafe { real!(omp_get_thread_num: fn() -> c_int)() }
}

unsafe extern "C" fn masked(location: Location, thread: i32, filter: i32) -> i32 {
    if filter != 0 {
        see_number();
    }
    // SAFETY: the program's own call.
    unsafe { real!(__kmpc_masked: fn(Location, i32, i32) -> i32)(location, thread, filter) }
}

/// The program wants to know how many threads there are, or which of them it may have.
fn see_number() {
    if let Some(_entered) = enter() {
        see(Seen::ThreadNumbers);
    }
}

/// Functions that say how many threads or teams there are.
macro_rules! counts {
    ($($name:ident: $real:ident;)*) => {
        $(unsafe extern "C" fn $name() -> c_int {
            see_number();
            // SAFETY: the program's own call.
            unsafe { real!($real: fn() -> c_int)() }
        })*
    };
}

counts! {
    get_num_threads: omp_get_num_threads;
    get_max_threads: omp_get_max_threads;
    get_num_procs: omp_get_num_procs;
    get_thread_limit: omp_get_thread_limit;
    get_num_teams: omp_get_num_teams;
    get_max_teams: omp_get_max_teams;
    get_team_num: omp_get_team_num;
    in_parallel: omp_in_parallel;
}

export! {
    "__kmpc_omp_task_begin_if0" stack3 => begin_if0;
    "__kmpc_omp_task_alloc" plain => task_alloc;
    "__kmpc_omp_target_task_alloc" plain => target_task_alloc;
    "__kmpc_omp_task_with_deps" noted => task_with_deps;
    "__kmpc_omp_wait_deps" plain => wait_deps;
    "__kmpc_omp_taskwait_deps_51" plain => taskwait_deps;
    "__kmpc_taskloop" noted => taskloop;
    "__kmpc_taskloop_5" noted => taskloop_5;
    "__kmpc_critical" plain => begin_critical;
    "__kmpc_critical_with_hint" plain => begin_critical_with_hint;
    "__kmpc_end_critical" plain => end_critical;
    "__kmpc_end_ordered" plain => end_ordered;
    "omp_unset_lock" plain => unset_lock;
    "__kmpc_doacross_init" plain => doacross_init;
    "__kmpc_doacross_post" plain => doacross_post;
    "__kmpc_doacross_wait" plain => doacross_wait;
    "__kmpc_masked" plain => masked;
    "omp_get_thread_num" plain => get_thread_num;
    "omp_get_num_threads" plain => get_num_threads;
    "omp_get_max_threads" plain => get_max_threads;
    "omp_get_num_procs" plain => get_num_procs;
    "omp_get_thread_limit" plain => get_thread_limit;
    "omp_get_num_teams" plain => get_num_teams;
    "omp_get_max_teams" plain => get_max_teams;
    "omp_get_team_num" plain => get_team_num;
    "omp_in_parallel" plain => in_parallel;
}
