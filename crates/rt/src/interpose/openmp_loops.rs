//! What compiled code tells of its loops: with each iteration told apart, a loop is judged for every schedule.
//!
//! And whether it was the program that wanted only one thread: if not, there might have been more.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::real::real;
use crate::hooks::export;
use crate::openmp::descriptions::Kind;
use crate::openmp::meetings::{Apart, Meeting, Walk, meet};
use crate::openmp::strand::Strand;
use crate::openmp::team;
use crate::openmp::{Seen, see, tasks, with_strand};
use crate::order::thread::enter;
use crate::output::recording;
use crate::platform::world::world;

type Location = *const c_void;

thread_local! {
    /// Compiled code is about to ask for the iterations of a loop that it tells apart, or those that are not always handed out
    /// together.
    static TELLS: Cell<Option<Told>> = const { Cell::new(None) };
    /// The program wants one thread for the next parallel region.
    static WANTS_ONE: Cell<bool> = const { Cell::new(false) };
}

/// What compiled code tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Each,
    Chunks,
}

/// It has asked for one thread for all regions.
static ALWAYS_WANTS_ONE: AtomicBool = AtomicBool::new(false);

/// Whether the iterations of the loop that begins are told apart by compiled code.
pub fn takes_iterations() -> bool {
    match TELLS.take() {
        None => false,
        Some(Told::Each) => true,
        // Whose turn it is follows from how many threads there are: who knows that may rely on it.
        Some(Told::Chunks) => !tasks().has_seen(Seen::ThreadNumbers),
    }
}

/// Whether the program itself has asked for one thread, for the region that begins.
pub fn wants_one_thread() -> bool {
    WANTS_ONE.take() || ALWAYS_WANTS_ONE.load(Ordering::Relaxed)
}

extern "C" fn loop_begins(together: u32) {
    TELLS.set(Some(match together {
        0 => Told::Each,
        _ => Told::Chunks,
    }));
}

/// Something about the iterations of the loop that the running strand is in.
fn tell(what: impl FnOnce(&mut Strand)) {
    TELLS.set(None);
    if let Some(entered) = enter() {
        with_strand(entered.thread(), what);
    }
}

extern "C" fn iteration(number: u64) {
    tell(|strand| strand.begin_piece(Kind::Iterations, number, 1));
}

extern "C" fn iterations(first: u64, count: u64) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    tell(|strand| strand.begin_piece(Kind::Iterations, first, count));
}

extern "C" fn iterations_judged(first: u64, count: u64) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    tell(|strand| strand.begin_judged(first, count));
}

extern "C" fn iteration_met(number: u64) {
    tell(|strand| strand.begin_shown(number));
}

/// Whether two iterations of a loop meet by two of its accesses, and which: compiled code makes these accesses then.
macro_rules! meetings {
    ($($name:ident = $apart:expr;)*) => {
        $(unsafe extern "C" fn $name(
            begin: usize,
            by: i64,
            size: i64,
            count: i64,
            step: i64,
            other_begin: usize,
            other_by: i64,
            other_size: i64,
            other_count: i64,
            other_step: i64,
            iterations: i64,
            met: *mut [i64; 2],
        ) -> bool {
            // A recording has what the program does, once and in its order.
            if recording::on() {
                return false;
            }
            let one = Walk { begin, by, size, count, step };
            let other = Walk {
                begin: other_begin,
                by: other_by,
                size: other_size,
                count: other_count,
                step: other_step,
            };
            match meet(one, other, iterations, $apart) {
                Meeting::Of(first, second) => {
                    // SAFETY: compiled code has made room for two numbers.
                    unsafe { met.write([first, second]) };
                    true
                }
                Meeting::Never => false,
                Meeting::TooManyToSay => {
                    see(Seen::StaticLoops);
                    false
                }
            }
        })*
    };
}

meetings! {
    do_meet = Apart::Any;
    do_meet_backwards = Apart::Backwards;
}

/// A lane of `simd` does something that another one meets.
extern "C" fn lane(number: u64, pc: usize) {
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    let stack = thread.stack_at(pc);
    if with_strand(thread, |strand| strand.begin_lane(stack, number)) == Some(true) {
        team::enter_region();
        world().alone.store(false, Ordering::Relaxed);
        thread.refresh();
    }
}

extern "C" fn lanes_end() {
    let Some(entered) = enter() else { return };
    let thread = entered.thread();
    if with_strand(thread, Strand::end_lanes) == Some(true) {
        if team::leave_region() && !recording::on() {
            world().alone.store(true, Ordering::Relaxed);
        }
        thread.refresh();
    }
}

unsafe extern "C" fn serialized_parallel(location: Location, thread: i32) {
    WANTS_ONE.set(true);
    // SAFETY: the program's own call.
    unsafe { real!(__kmpc_serialized_parallel: fn(Location, i32))(location, thread) }
    WANTS_ONE.set(false);
}

unsafe extern "C" fn push_num_threads(location: Location, thread: i32, count: i32) {
    WANTS_ONE.set(count == 1);
    // SAFETY: the program's own call.
    unsafe { real!(__kmpc_push_num_threads: fn(Location, i32, i32))(location, thread, count) }
}

unsafe extern "C" fn set_num_threads(count: c_int) {
    ALWAYS_WANTS_ONE.store(count == 1, Ordering::Relaxed);
    // SAFETY: the program's own call.
    unsafe { real!(omp_set_num_threads: fn(c_int))(count) }
}

export! {
    "__deadheat_loop" plain => loop_begins;
    "__deadheat_iterations" plain => iterations;
    "__deadheat_iterations_judged" plain => iterations_judged;
    "__deadheat_iteration_met" plain => iteration_met;
    "__deadheat_meet" plain => do_meet;
    "__deadheat_meet_backwards" plain => do_meet_backwards;
    "__deadheat_lane" 1 => lane;
    "__deadheat_lanes_end" plain => lanes_end;
    "__deadheat_iteration" plain => iteration;
    "__kmpc_serialized_parallel" plain => serialized_parallel;
    "__kmpc_push_num_threads" plain => push_num_threads;
    "omp_set_num_threads" plain => set_num_threads;
}
