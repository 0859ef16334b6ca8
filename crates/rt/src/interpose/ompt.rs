//! OpenMP's tool interface: what its runtime tells of regions, tasks and synchronisation.
//!
//! The runtime of LLVM looks for `ompt_start_tool` when it begins, finds ours, and calls back from then on, always on
//! the thread that does what is told of. Data of a task is its strand, data of a region its team. What each
//! construct means is not decided here, but in [`openmp`](crate::openmp).

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::openmp_entries::own_lock;
use super::openmp_loops::{takes_iterations, wants_one_thread};
use crate::openmp::descriptions::Kind;
use crate::openmp::memory::Frame;
use crate::openmp::notes::{self, Name};
use crate::openmp::strand::Strand;
use crate::openmp::team::{self, Handing, Team};
use crate::openmp::{self, Seen, with_strand};
use crate::order::sync;
use crate::order::thread::{Entered, Thread, enter};
use crate::output::recording::{self, Stamped};
use crate::platform::optional_symbol::optional_symbol;
use crate::platform::pauses;
use crate::platform::world::world;

/// What the tool keeps with a task or a region.
type Data = *mut *mut c_void;

#[repr(C)]
struct Chunk {
    start: u64,
    iterations: u64,
}

const BEGIN: c_int = 1;
const INITIAL: c_int = 1;
const EXPLICIT: c_int = 4;
const TARGET: c_int = 8;
const TASKWAIT: c_int = 0x10;
/// The teams of a `teams` region.
const LEAGUE: c_int = 0x4000_0000;
const UNTIED: c_int = 0x1000_0000;
const FINAL: c_int = 0x2000_0000;

/// Defined by OpenMP's runtime, if the program is linked to one.
pub fn is_there() -> bool {
    optional_symbol!("__kmpc_fork_call") != 0
}

/// The stack pointer, nearly.
#[inline(always)]
fn stack_pointer() -> usize {
    let here = 0u8;
    std::hint::black_box(&raw const here) as usize
}

static GET_TASK_INFO: AtomicUsize = AtomicUsize::new(0);

/// The frames of the task that the running thread is told to run, if its data is this.
fn frame_of(data: Data) -> *const Frame {
    find_frame(|found| found == data)
}

/// Notes which part of the stack is the running strand's own, before it is handed a piece.
pub fn note_home(strand: &mut Strand) {
    if strand.home.is_null() {
        strand.home = find_frame(|_| true);
    }
}

fn find_frame(is_it: impl Fn(Data) -> bool) -> *const Frame {
    let find = GET_TASK_INFO.load(Ordering::Relaxed);
    if find == 0 {
        return std::ptr::null();
    }
    type GetTaskInfo = unsafe extern "C" fn(
        c_int,
        *mut c_int,
        *mut Data,
        *mut *const Frame,
        *mut Data,
        *mut c_int,
    ) -> c_int;
    for level in 0..2 {
        let (mut flags, mut number) = (0, 0);
        let (mut found, mut region): (Data, Data) = (std::ptr::null_mut(), std::ptr::null_mut());
        let mut frame = std::ptr::null();
        // SAFETY: the runtime's own function, asked for by name.
        let known = unsafe {
            std::mem::transmute::<usize, GetTaskInfo>(find)(
                level,
                &mut flags,
                &mut found,
                &mut frame,
                &mut region,
                &mut number,
            )
        };
        if known == 0 {
            break;
        }
        if is_it(found) {
            return frame;
        }
    }
    std::ptr::null()
}

/// The strand of a task.
unsafe fn strand_of<'a>(data: Data) -> Option<&'a mut Strand> {
    // SAFETY: the data of a task is its strand, if anything.
    unsafe { data.as_ref()?.cast::<Strand>().as_mut() }
}

unsafe fn team_of(data: Data) -> Option<Arc<Team>> {
    // SAFETY: the data of a region is its team, if anything, which lives as long as it has members.
    unsafe {
        let team = data.as_ref()?.cast::<Team>().cast_const();
        if team.is_null() {
            return None;
        }
        Arc::increment_strong_count(team);
        Some(Arc::from_raw(team))
    }
}

/// Who a thread's strand is to a recording.
fn strand_name(thread: &Thread) -> Option<Name> {
    // SAFETY: the strand that the thread runs.
    unsafe { thread.strand.as_ref() }.map(|strand| strand.name)
}

/// The running thread goes on with another strand.
fn run(thread: &mut Thread, next: *mut Strand) {
    // SAFETY: strands that nobody else runs.
    unsafe {
        if thread.strand == next {
            return;
        }
        let mut locks = !thread.held.is_empty();
        if let Some(next) = next.as_mut()
            && next.undeferred
            && !next.is_told
            && !recording::on()
        {
            // Its creator keeps its locks meanwhile.
            next.held.extend(&thread.held);
        }
        if let Some(old) = thread.strand.as_mut() {
            old.held = std::mem::take(&mut thread.held);
            old.forget_message();
        }
        thread.strand = next;
        if let Some(next) = next.as_mut() {
            locks |= !next.held.is_empty();
            thread.held = std::mem::take(&mut next.held);
            next.waits_no_more();
            next.ran_by(thread.id);
            thread.follow(next);
        }
        if locks {
            thread.locks_replaced();
        }
    }
    tell_locks(thread);
}

/// Tells a recording of the locks that a strand holds from its beginning: those of its dependences, and those that a
/// member of a team held at the barrier.
fn tell_locks(thread: &mut Thread) {
    // SAFETY: the strand that the thread runs.
    let is_told = unsafe { thread.strand.as_mut() }
        .is_none_or(|strand| std::mem::replace(&mut strand.is_told, true));
    if !is_told {
        for held in thread.held.clone() {
            sync::note_only(thread, Stamped::Lock, held.address);
        }
    }
}

extern "C" fn thread_begin(kind: c_int, _data: Data) {
    if let Some(entered) = enter() {
        let thread = entered.thread();
        if kind != INITIAL && !std::mem::replace(&mut thread.is_worker, true) {
            openmp::worker_begins();
        }
        thread.thread_local = super::thread_local::range();
    }
    if kind == INITIAL {
        super::threads::find_own_stack();
    }
}

unsafe extern "C" fn parallel_begin(
    _task: Data,
    frame: *const Frame,
    region: Data,
    size: c_uint,
    flags: c_int,
    code: usize,
) {
    let _around = pauses::around();
    let Some(entered) = enter() else { return };
    if flags & LEAGUE != 0 && size == 1 {
        openmp::see(Seen::TeamOfOne);
    }
    let thread = entered.thread();
    let stack = thread.stack_at(code);
    let outermost = team::enter_region();
    let wants_one = wants_one_thread();
    if world().alone.swap(false, Ordering::Relaxed) && recording::on() {
        recording::first_create(thread);
    }
    let begun = with_strand(thread, |strand| {
        // SAFETY: what the runtime says of the frames of who meets the region.
        strand.calls_region = unsafe { frame.as_ref() }.map_or(0, |frame| frame.enter);
        strand.region = Team::begin(strand, (code, stack), outermost, wants_one);
        strand.region.as_ref().map(Arc::as_ptr)
    });
    if let Some(Some(begun)) = begun {
        // SAFETY: the region's data is ours. The strand keeps the team as long as there are members.
        unsafe { *region = begun.cast_mut().cast() };
    }
    thread.refresh();
}

unsafe extern "C" fn parallel_end(_region: Data, _task: Data, _flags: c_int, _code: usize) {
    let _around = pauses::around();
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    // libomp may have given the region's data to another team by now.
    with_strand(thread, |strand| {
        if let Some(begun) = strand.region.take() {
            begun.end(strand);
        }
    });
    // What comes after may be told in another order, to those who predict.
    if team::leave_region() && !recording::on() {
        world().alone.store(true, Ordering::Relaxed);
    }
    thread.refresh();
}

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    region: Data,
    task: Data,
    size: c_uint,
    number: c_uint,
    _flags: c_int,
) {
    let _around = pauses::around();
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    // SAFETY: the data of tasks and regions is ours.
    unsafe {
        if endpoint == BEGIN {
            let Some(begun) = team_of(region) else {
                // The program's first task, which has been running all along.
                *task = thread.strand.cast();
                return;
            };
            if let Some(mut strand) = begun.member(number, size) {
                strand.outer = thread.strand;
                if number == 0
                    && let Some(outer) = thread.strand.as_ref()
                {
                    strand.under = outer.calls_region;
                }
                let strand = Box::into_raw(strand);
                *task = strand.cast();
                if thread.is_worker && number != 0 {
                    thread.forget_stack(thread.floor);
                }
                run(thread, strand);
                thread.refresh();
            }
        } else if let Some(strand) = thread.strand.as_mut()
            && strand.member.is_some()
        {
            strand.arrive();
            run(thread, strand.outer);
            drop(Box::from_raw(strand));
            if !task.is_null() {
                *task = std::ptr::null_mut();
            }
        }
    }
}

unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _region: Data,
    task: Data,
    _code: usize,
) {
    let _around = pauses::around();
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    let begins = endpoint == BEGIN;
    if kind == 6 && !begins {
        super::reductions::reductions_end();
    }
    with_strand(thread, |strand| match kind {
        5 if !begins => strand.wait(),
        6 if begins => strand.begin_group(),
        6 => strand.end_group(),
        1..=4 | 8..=10 if begins => strand.arrive(),
        1..=4 | 8 => strand.leave(),
        _ => (),
    });
    if !begins {
        tell_locks(thread);
    }
    if kind == 9 && begins && !task.is_null() {
        // libomp 19 keeps a worker's data beyond the region, and takes what it finds there later for the data of a
        // `taskwait`. The thread knows its strand anyway.
        // SAFETY: the data of a task is ours.
        unsafe { *task = std::ptr::null_mut() };
    }
}

unsafe extern "C" fn task_create(
    _task: Data,
    _frame: *const Frame,
    new: Data,
    flags: c_int,
    _has_dependences: c_int,
    code: usize,
) {
    let _around = pauses::around();
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    if flags & (EXPLICIT | TARGET | TASKWAIT) == 0 {
        return;
    }
    thread.note_stack(stack_pointer());
    super::openmp_entries::renew_copy(new as usize);
    let code = super::openmp_entries::caller(thread.strand, code);
    let stack = thread.stack_at(code);
    let undeferred = super::openmp_entries::is_undeferred(thread.strand);
    if flags & TASKWAIT != 0 {
        // Told of as a task; what it waits for follows.
        return;
    }
    let created = with_strand(thread, |strand| {
        strand.create(stack, undeferred || strand.is_final, flags & FINAL != 0)
    });
    if let Some(Some(mut created)) = created {
        if let Some(creator) = strand_name(thread) {
            notes::task(creator, created.name, code);
        }
        super::openmp_entries::with_dependences(|named| {
            with_strand(thread, |strand| strand.depend(&mut created, named));
        });
        created.untied = flags & UNTIED != 0;
        if flags & EXPLICIT != 0 {
            created.wait_to_run();
        }
        // SAFETY: the task's data is ours.
        unsafe { *new = Box::into_raw(created).cast() };
    }
}

/// A thread turns to another task.
///
/// What a thread has suspended lies on its stack, so strands are resumed in the opposite order: each remembers what its
/// thread ran before it (`outer`), for as long as it runs. An untied task that waits, yields or creates a task puts itself
/// back among the waiting ones, whereupon its code returns; another thread may run the next part of it at once,
/// and may end it while this one still returns. So from that moment on nothing here names it.
unsafe extern "C" fn task_schedule(prior: Data, status: c_int, next: Data, stack_pointer: usize) {
    let _around = pauses::around();
    const COMPLETE: c_int = 1;
    const CANCEL: c_int = 3;
    const DETACH: c_int = 4;
    const EARLY_FULFILL: c_int = 5;
    const LATE_FULFILL: c_int = 6;
    const TASKWAIT_COMPLETE: c_int = 8;
    if status == TASKWAIT_COMPLETE {
        return;
    }
    let Some(entered) = enter() else { return };
    // SAFETY: strands of tasks that this thread runs, or that nobody runs.
    unsafe {
        let thread = entered.thread();
        match status {
            EARLY_FULFILL | LATE_FULFILL => {
                let Some(over) = strand_of(prior) else { return };
                if let Some(Some(signal)) = with_strand(thread, Strand::signal) {
                    over.fulfilled_by(signal);
                }
                if status == LATE_FULFILL {
                    if !over.is_part() {
                        over.end();
                    }
                    free(prior);
                }
            }
            COMPLETE | CANCEL | DETACH => {
                let Some(over) = strand_of(prior) else { return };
                thread.note_asked();
                let part = over.end_part();
                // A detached task ends with its event.
                if !part && (status != DETACH || over.undeferred) {
                    over.end();
                }
                let undeferred = over.undeferred;
                // The thread has left an untied task where its last part returned, which may have been another thread.
                let limit = leave(thread, over);
                if status != DETACH {
                    free(prior);
                }
                thread.follow_asked();
                if undeferred && !part {
                    with_strand(thread, Strand::wait_innermost);
                }
                thread.forget_stack(limit);
            }
            _ => {
                let Some(running) = thread.strand.as_mut() else {
                    return;
                };
                let is_prior = strand_of(prior).is_none_or(|prior| std::ptr::eq(prior, running));
                let begins = strand_of(next).filter(|next| {
                    // Nested parts of one task: where there is no room among the waiting ones, it goes on here.
                    !std::ptr::eq(*next, running) && !std::ptr::eq(*next, running.outer)
                });
                thread.note_asked();
                let Some(begins) = begins else {
                    if is_prior && running.untied {
                        let limit = leave(thread, running);
                        thread.follow_asked();
                        thread.forget_stack(limit);
                    }
                    return;
                };
                let limit = stack_limit(frame_of(prior), stack_pointer);
                thread.forget_stack(limit);
                begins.outer = running;
                begins.limit = limit;
                super::openmp_entries::part_begins(begins);
                run(thread, begins);
                thread.follow_asked();
                with_strand(thread, Strand::follow);
            }
        }
    }
}

/// A thread goes on with what it ran before this strand, if that is what it runs. Returns where the stack begins that the
/// strand has used.
fn leave(thread: &mut Thread, strand: &mut Strand) -> usize {
    if !std::ptr::eq(thread.strand, strand) {
        return 0;
    }
    let limit = strand.limit;
    let outer = std::mem::replace(&mut strand.outer, std::ptr::null_mut());
    run(thread, outer);
    limit
}

/// The code of an untied task's part has returned. If the task has not put itself back among the waiting ones, that was
/// the last part; yet another thread, where an earlier part still returns, may be the one that tells of its end.
pub fn part_returns(thread: &mut Thread, strand: *mut Strand) {
    if strand.is_null() || thread.strand != strand {
        return;
    }
    thread.note_asked();
    // SAFETY: the strand that the thread runs.
    let limit = leave(thread, unsafe { &mut *strand });
    thread.follow_asked();
    thread.forget_stack(limit);
}

/// A task is over.
unsafe fn free(task: Data) {
    // SAFETY: its strand, which nobody runs.
    unsafe {
        if !task.is_null() && !(*task).is_null() {
            let mut strand = Box::from_raw((*task).cast::<Strand>());
            strand.waits_no_more();
            drop(strand);
            *task = std::ptr::null_mut();
        }
    }
}

/// What the runtime's own frames take, at least, between those of a task and those of the next one on the same
/// stack, and at most between the latter and the frame that calls back.
const BETWEEN: usize = 256;

/// Where the stack begins that another task will use, while the one with this frame is suspended: below its frames.
unsafe fn stack_limit(frame: *const Frame, stack_pointer: usize) -> usize {
    let known = super::openmp_entries::caller_stack();
    if known != 0 {
        return known;
    }
    // SAFETY: what the runtime says of the strand's frames, if it does.
    let enter = unsafe { frame.as_ref() }.map_or(0, |frame| frame.enter);
    match (stack_pointer..stack_pointer + (1 << 16)).contains(&enter) {
        true => enter,
        false => stack_pointer + BETWEEN,
    }
}

unsafe extern "C" fn work(
    kind: c_int,
    endpoint: c_int,
    _region: Data,
    _task: Data,
    _count: u64,
    code: usize,
) {
    let _around = pauses::around();
    const SECTIONS: c_int = 2;
    const SINGLE_EXECUTOR: c_int = 3;
    const LOOP: c_int = 1;
    const DISTRIBUTE: c_int = 6;
    const STATIC: c_int = 10;
    const DYNAMIC: c_int = 11;
    const GUIDED: c_int = 12;
    const OTHER: c_int = 13;
    let told = takes_iterations() && endpoint == BEGIN;
    if !told
        && endpoint == BEGIN
        && matches!(kind, SECTIONS | STATIC | LOOP | DISTRIBUTE | GUIDED | OTHER)
    {
        openmp::see(Seen::StaticLoops);
    }
    let in_pieces = matches!(kind, SECTIONS | SINGLE_EXECUTOR | DYNAMIC..=OTHER);
    let may_be_told = matches!(kind, STATIC | LOOP);
    if !in_pieces && !may_be_told || may_be_told && !told && endpoint == BEGIN {
        return;
    }
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    let stack = thread.stack_at(code);
    let handing = match (told, kind) {
        (false, _) => Handing::ToAny,
        (true, STATIC | LOOP) => Handing::Fixed,
        (true, _) => Handing::EachToAny,
    };
    with_strand(thread, |strand| match endpoint == BEGIN {
        true => {
            note_home(strand);
            strand.begin_pieces(stack, handing);
            if kind == SINGLE_EXECUTOR {
                strand.begin_piece(Kind::Single, 0, 0);
            }
        }
        false => strand.end_pieces(),
    });
}

unsafe extern "C" fn dispatch(_region: Data, _task: Data, kind: c_int, instance: usize) {
    let _around = pauses::around();
    const SECTION: c_int = 2;
    const LOOP: c_int = 3;
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    match kind {
        SECTION => drop(with_strand(thread, |strand| {
            strand.begin_piece(Kind::Section, 0, 0)
        })),
        LOOP => {
            // SAFETY: the runtime's description of the chunk.
            if let Some(chunk) = unsafe { (instance as *const Chunk).as_ref() } {
                let count = u32::try_from(chunk.iterations).unwrap_or(u32::MAX);
                with_strand(thread, |strand| {
                    if !strand.tells_iterations() {
                        strand.begin_piece(Kind::Iterations, chunk.start, count)
                    }
                });
            }
        }
        _ => (),
    }
}

const ORDERED: c_int = 7;

unsafe extern "C" fn mutex_acquired(kind: c_int, lock: usize, _code: usize) {
    let _around = pauses::around();
    let Some(entered) = enter() else { return };
    match kind {
        ORDERED => drop(with_strand(entered.thread(), |strand| {
            strand.begin_ordered(lock)
        })),
        _ => sync::hold_only(entered.thread(), own_lock(kind, lock)),
    }
}

unsafe extern "C" fn mutex_released(kind: c_int, lock: usize, _code: usize) {
    let _around = pauses::around();
    // Told when the next `ordered` block may have begun already: `__kmpc_end_ordered` comes in time.
    if kind != ORDERED
        && let Some(entered) = enter()
    {
        sync::unhold_only(entered.thread(), own_lock(kind, lock));
    }
}

unsafe extern "C" fn flush(_thread: Data, code: usize) {
    const ACQUIRE_RELEASE: u64 = 4;
    if recording::on() {
        return recording::synchronise(Stamped::Fence, 0, code, ACQUIRE_RELEASE);
    }
    if let Some(entered) = enter() {
        entered.thread().fence(true, true);
    }
}

type Lookup = unsafe extern "C" fn(*const c_char) -> usize;

unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    // SAFETY: the runtime's own functions, asked for by their names.
    unsafe {
        let set = lookup(c"ompt_set_callback".as_ptr());
        if set == 0 {
            return 0;
        }
        GET_TASK_INFO.store(lookup(c"ompt_get_task_info".as_ptr()), Ordering::Relaxed);
        let set = std::mem::transmute::<usize, unsafe extern "C" fn(c_int, usize) -> c_int>(set);
        let callbacks: [(c_int, usize); 12] = [
            (1, thread_begin as *const () as usize),
            (3, parallel_begin as *const () as usize),
            (4, parallel_end as *const () as usize),
            (5, task_create as *const () as usize),
            (6, deadheat_task_schedule as *const () as usize),
            (7, implicit_task as *const () as usize),
            (17, mutex_released as *const () as usize),
            (20, work as *const () as usize),
            (23, sync_region as *const () as usize),
            (27, mutex_acquired as *const () as usize),
            (29, flush as *const () as usize),
            (32, dispatch as *const () as usize),
        ];
        for (event, callback) in callbacks {
            set(event, callback);
        }
        if let (Some(tasks), Some((start, end))) = (
            &world().tasks,
            crate::platform::modules::around(lookup as usize),
        ) {
            tasks.set_runtime(start, end);
        }
    }
    1
}

unsafe extern "C" fn finalize(_data: Data) {}

#[repr(C)]
struct StartToolResult {
    initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    finalize: unsafe extern "C" fn(Data),
    data: usize,
}

static RESULT: StartToolResult = StartToolResult {
    initialize,
    finalize,
    data: 0,
};

unsafe extern "C" fn start_tool(
    _version: c_uint,
    _runtime: *const c_char,
) -> *const StartToolResult {
    let entered: Option<Entered> = enter();
    match entered.is_some() && world().tasks.is_some() {
        true => &RESULT,
        false => std::ptr::null(),
    }
}

unsafe extern "C" {
    fn deadheat_task_schedule();
}

crate::hooks::export! {
    "deadheat_task_schedule" stack3 => task_schedule;
    "ompt_start_tool" plain => start_tool;
}
