//! OpenMP's reductions: the runtime's own combining is not the program's doing.
//!
//! What threads have computed is combined inside of the runtime, in which accesses are not looked at; whoever is told to
//! combine the rest does so as if under a lock. Tasks that take part in a reduction are given memory of
//! their thread's own, which is not looked at.

use std::ffi::{c_int, c_void};

use rustc_hash::FxHashMap;

use super::real::real;
use crate::hooks::export;
use crate::openmp::memory::{leave_unchecked, renew};
use crate::openmp::strand::{Shared, Strand};
use crate::openmp::with_strand;
use crate::order::sync;
use crate::order::thread::{Thread, enter};

type Location = *const c_void;
type Code = usize;

/// Runs something of the runtime's in which the thread's accesses are not looked at.
fn unwatched<T>(what: impl FnOnce() -> T) -> T {
    let set = |change: fn(&mut Thread)| {
        if let Some(entered) = enter() {
            change(entered.thread());
            entered.thread().refresh();
        }
    };
    set(|thread| {
        (thread.ignore[0], thread.ignore[1]) = (thread.ignore[0] + 1, thread.ignore[1] + 1)
    });
    let result = what();
    set(|thread| {
        (thread.ignore[0], thread.ignore[1]) = (thread.ignore[0] - 1, thread.ignore[1] - 1)
    });
    result
}

/// A reduction's begin and end, of one kind. The runtime combines what threads have; whoever gets 1 combines the
/// rest, one after the other.
macro_rules! reduction {
    ($begin:ident: $real_begin:ident, $end:ident: $real_end:ident) => {
        unsafe extern "C" fn $begin(
            location: Location,
            thread: i32,
            count: i32,
            size: usize,
            data: *mut c_void,
            combine: Code,
            lock: *mut c_void,
        ) -> i32 {
            // SAFETY: the program's own call.
            let todo = unwatched(|| unsafe {
                real!($real_begin: fn(Location, i32, i32, usize, *mut c_void, Code, *mut c_void) -> i32)(
                    location, thread, count, size, data, combine, lock,
                )
            });
            if todo == 1
                && let Some(entered) = enter()
            {
                let thread = entered.thread();
                with_strand(thread, |strand| {
                    super::ompt::note_home(strand);
                    strand.begin_combining();
                });
                sync::hold_only(thread, lock as usize);
            }
            todo
        }

        unsafe extern "C" fn $end(location: Location, thread: i32, lock: *mut c_void) {
            if let Some(entered) = enter() {
                let thread = entered.thread();
                sync::unhold_only(thread, lock as usize);
                with_strand(thread, Strand::end_pieces);
            }
            // SAFETY: the program's own call.
            unsafe { real!($real_end: fn(Location, i32, *mut c_void))(location, thread, lock) }
        }
    };
}

reduction!(reduce: __kmpc_reduce, end_reduce: __kmpc_end_reduce);
reduction!(reduce_nowait: __kmpc_reduce_nowait, end_reduce_nowait: __kmpc_end_reduce_nowait);

/// The sizes of what tasks reduce, by its address, and whether they share it: where there is one thread only.
static REDUCED: Shared<Option<FxHashMap<usize, (usize, bool)>>> = Shared::empty();

/// The sizes of what threads were given of their own, by its address: a task inside of one that takes part names what
/// that one was given.
static COPIES: Shared<Option<FxHashMap<usize, usize>>> = Shared::empty();

/// Notes what tasks will reduce: a list of so many words each, in which the size is at a place.
unsafe fn note_reduced(list: *const usize, count: c_int, words: usize, size_at: usize) {
    let Some(_entered) = enter() else { return };
    REDUCED.with(|reduced| {
        let reduced = reduced.get_or_insert_default();
        for index in 0..count.max(0) as usize {
            // SAFETY: the list that compiled code has made for the runtime.
            let (address, size) =
                unsafe { (*list.add(index * words), *list.add(index * words + size_at)) };
            reduced.insert(address, (size, false));
        }
    });
}

/// The tasks of a group have ended: what they shared is looked at again.
pub fn reductions_end() {
    REDUCED.with(|reduced| {
        for (address, (size, shared)) in reduced.iter_mut().flatten() {
            if std::mem::take(shared) {
                renew(*address, *size);
            }
        }
    });
}

unsafe extern "C" fn taskred_init(thread: i32, count: i32, list: *mut c_void) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe {
        note_reduced(list.cast(), count, 7, 2);
        real!(__kmpc_taskred_init: fn(i32, i32, *mut c_void) -> *mut c_void)(thread, count, list)
    }
}

unsafe extern "C" fn taskred_modifier_init(
    l: Location,
    t: i32,
    loops: i32,
    count: i32,
    list: *mut c_void,
) -> *mut c_void {
    // SAFETY: the program's own call.
    unsafe {
        note_reduced(list.cast(), count, 7, 2);
        real!(__kmpc_taskred_modifier_init: fn(Location, i32, i32, i32, *mut c_void) -> *mut c_void)(
            l, t, loops, count, list,
        )
    }
}

unsafe extern "C" fn reduction_data(
    thread: i32,
    group: *mut c_void,
    item: *mut c_void,
) -> *mut c_void {
    // SAFETY: the program's own call.
    let own = unwatched(|| unsafe {
        real!(__kmpc_task_reduction_get_th_data: fn(i32, *mut c_void, *mut c_void) -> *mut c_void)(
            thread, group, item,
        )
    });
    if let Some(_entered) = enter() {
        let original = REDUCED.with(|reduced| {
            let (size, shared) = reduced.as_mut()?.get_mut(&(item as usize))?;
            *shared |= own == item;
            Some(*size)
        });
        let size = COPIES.with(|copies| {
            let copies = copies.get_or_insert_default();
            let size = original.or_else(|| copies.get(&(item as usize)).copied())?;
            copies.insert(own as usize, size);
            Some(size)
        });
        if let Some(size) = size {
            leave_unchecked(own as usize, size);
        }
    }
    own
}

export! {
    "__kmpc_reduce" plain => reduce;
    "__kmpc_reduce_nowait" plain => reduce_nowait;
    "__kmpc_end_reduce" plain => end_reduce;
    "__kmpc_end_reduce_nowait" plain => end_reduce_nowait;
    "__kmpc_taskred_init" plain => taskred_init;
    "__kmpc_taskred_modifier_init" plain => taskred_modifier_init;
    "__kmpc_task_reduction_get_th_data" plain => reduction_data;
}
