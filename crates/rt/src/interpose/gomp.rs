//! Functions of GNU's OpenMP runtime that code made by gcc and gfortran calls, and that LLVM's runtime has, too.
//!
//! They call the other ones inside of that runtime, where nobody sees it. Its tool interface tells of most; not of the memory of tasks,
//! which is handed out again, nor enough of dependences, undeferred tasks and the end of an `ordered` block.

use std::cell::Cell;
use std::ffi::c_void;

use rustc_hash::FxHashMap;

use super::openmp_entries::{
    Dependence, creating, end_ordered_block, forget_caller, note_loop, taskwait, with_list,
};
use super::real::real;
use crate::hooks::export;
use crate::openmp::memory::{leave_unchecked, renew};
use crate::openmp::strand::Shared;
use crate::openmp::{Seen, see};
use crate::order::thread::enter;

/// What a task is given, and what other places are given a copy of it.
type Data = *mut c_void;
/// Copies that, as the compiled code wants it.
type CopyData = Option<unsafe extern "C" fn(Data, Data)>;
/// The code of a task.
type Code = usize;

const DEPENDS: u32 = 1 << 3;

/// The dependences in a list as gcc makes it: how many there are of each kind, then their addresses.
unsafe fn dependences(list: *const usize) -> Vec<Dependence> {
    const IN: u8 = 1;
    const INOUT: u8 = 3;
    const MUTEXINOUTSET: u8 = 4;
    const INOUTSET: u8 = 7;
    const OBJECT: u8 = 0;
    // SAFETY: compiled code has made the list.
    let at = |index: usize| unsafe { *list.add(index) };
    // An older gcc names those that are written, then those that are read.
    let (count, first, kinds) = match at(0) {
        0 => (
            at(1),
            5,
            [
                (at(2), INOUT),
                (at(3), MUTEXINOUTSET),
                (at(4), IN),
                (at(1), OBJECT),
            ],
        ),
        count => (
            count,
            2,
            [(at(1), INOUT), (count, IN), (0, OBJECT), (0, OBJECT)],
        ),
    };
    let kinds = kinds.into_iter();
    let kinds = kinds.flat_map(|(count, kind)| std::iter::repeat_n(kind, count));
    let all = (first..first + count).zip(kinds);
    all.map(|(index, kind)| {
        let (address, kind) = match kind {
            // SAFETY: a `depobj` is an address, and of which kind it is.
            OBJECT => unsafe {
                let object = at(index) as *const usize;
                let kind = match *object.add(1) {
                    1 => IN,
                    4 => MUTEXINOUTSET,
                    5 => INOUTSET,
                    _ => INOUT,
                };
                (*object, kind)
            },
            kind => (at(index), kind),
        };
        Dependence::new(address, kind)
    })
    .collect()
}

thread_local! {
    /// How the task is to be given its data that is created now, and how much that is.
    static GIVES: Cell<(CopyData, usize)> = const { Cell::new((None, 0)) };
}

/// Gives a task its data, in memory that is new to it.
unsafe extern "C" fn give(to: Data, from: Data) {
    let (copy, size) = GIVES.get();
    if let Some(_entered) = enter() {
        renew(to as usize, size);
    }
    match copy {
        // SAFETY: what the program has given for this.
        Some(copy) => unsafe { copy(to, from) },
        // SAFETY: so much of it there is.
        None => unsafe { from.cast::<u8>().copy_to_nonoverlapping(to.cast(), size) },
    }
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn task(
    code: Code,
    data: Data,
    copy: CopyData,
    size: usize,
    alignment: usize,
    is_deferred: bool,
    mut flags: u32,
    depend: *const usize,
    priority: i32,
    detach: Data,
) {
    let mut list = Vec::new();
    if flags & DEPENDS != 0 {
        if is_deferred {
            // SAFETY: the program's own list.
            list = unsafe { dependences(depend) };
        } else {
            // SAFETY: the program's own list: the task begins when those have ended that it names.
            unsafe { taskwait_depend(depend) };
            flags &= !DEPENDS;
        }
    }
    let before = GIVES.replace((copy, size));
    with_list(&list, || {
        // SAFETY: the program's own call.
        creating(!is_deferred, || unsafe {
            real!(GOMP_task: fn(Code, Data, CopyData, usize, usize, bool, u32, *const usize, i32, Data))(
                code,
                data,
                Some(give),
                size,
                alignment,
                is_deferred,
                flags,
                depend,
                priority,
                detach,
            )
        })
    });
    GIVES.set(before);
    forget_caller();
}

unsafe extern "C" fn taskwait_depend(depend: *const usize) {
    // SAFETY: the program's own list.
    let list = unsafe { dependences(depend) };
    // SAFETY: the program's own call.
    taskwait(list.len() as i32, list.as_ptr(), || unsafe {
        real!(GOMP_taskwait_depend: fn(*const usize))(depend)
    });
}

/// What copies the data of a `taskloop`'s tasks, and how much that is, by their code.
static LOOPS: Shared<Option<FxHashMap<Code, (CopyData, usize)>>> = Shared::empty();

/// Copies the data of a `taskloop`'s task for another one, which may be on any thread.
unsafe extern "C" fn copy_data(to: Data, from: Data) {
    // A task lies before its data: where that is, and its code.
    let words = (1..16).map(|back| from.cast::<usize>().wrapping_sub(back));
    // SAFETY: the runtime's description of the task is longer.
    let mut tasks = words.filter(|word| unsafe { **word } == from as usize);
    let found = LOOPS.with(|loops| {
        // SAFETY: the same.
        tasks.find_map(|task| loops.as_ref()?.get(unsafe { &*task.add(1) }).copied())
    });
    if let Some((copy, size)) = found {
        if let Some(_entered) = enter() {
            renew(to as usize, size);
        }
        if let Some(copy) = copy {
            // SAFETY: what the program has given for this.
            unsafe { copy(to, from) };
        }
    }
}

/// A `taskloop` over numbers of a type.
macro_rules! taskloop {
    ($name:ident: $real:ident, $number:ty) => {
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $name(
            code: Code,
            data: Data,
            copy: CopyData,
            size: usize,
            alignment: usize,
            flags: u32,
            tasks: usize,
            priority: i32,
            start: $number,
            end: $number,
            step: $number,
        ) {
            const IF: u32 = 1 << 10;
            const REDUCTIONS: u32 = 1 << 12;
            if tasks == 0 {
                see(Seen::StaticLoops);
            }
            if flags & REDUCTIONS != 0 {
                // SAFETY: behind the bounds of its iterations, the loop's data says where its reductions are described.
                note_reductions(unsafe { *data.cast::<usize>().add(2) });
            }
            note_loop(code, size + alignment);
            LOOPS.with(|loops| loops.get_or_insert_default().insert(code, (copy, size)));
            let copy = copy.map(|_| copy_data as unsafe extern "C" fn(Data, Data));
            // SAFETY: the program's own call.
            creating(flags & IF == 0, || unsafe {
                real!($real: fn(Code, Data, CopyData, usize, usize, u32, usize, i32, $number, $number, $number))(
                    code, data, copy, size, alignment, flags, tasks, priority, start, end, step,
                )
            });
            forget_caller();
        }
    };
}

taskloop!(taskloop: GOMP_taskloop, i64);
taskloop!(taskloop_unsigned: GOMP_taskloop_ull, u64);

/// Descriptions of what tasks reduce. Their third and seventh words say where the threads' copies begin and end, once the
/// runtime has made them.
static REDUCTIONS: Shared<Option<Vec<usize>>> = Shared::empty();

fn note_reductions(description: usize) {
    REDUCTIONS.with(|all| {
        let all = all.get_or_insert_default();
        if !all.contains(&description) {
            all.push(description);
        }
    });
}

/// The copies are one thread's own each, whatever tasks it runs.
unsafe fn leave_copies_unchecked(description: *const usize) {
    // SAFETY: the compiled code's description, which the runtime has completed.
    let (from, to) = unsafe { (*description.add(2), *description.add(6)) };
    leave_unchecked(from, to.saturating_sub(from));
}

unsafe extern "C" fn reduction_register(description: *const usize) {
    // SAFETY: the program's own call.
    unsafe {
        real!(GOMP_taskgroup_reduction_register: fn(*const usize))(description);
        if let Some(_entered) = enter() {
            leave_copies_unchecked(description);
        }
    }
}

unsafe extern "C" fn reduction_remap(count: usize, originals: usize, places: *mut usize) {
    // SAFETY: the program's own call.
    unsafe {
        real!(GOMP_task_reduction_remap: fn(usize, usize, *mut usize))(count, originals, places)
    };
    let Some(_entered) = enter() else { return };
    REDUCTIONS.with(|all| {
        for index in 0..count {
            // SAFETY: so many of them there are.
            let place = unsafe { *places.add(index) };
            all.iter().flatten().for_each(|&description| {
                let description = description as *const usize;
                // SAFETY: a loop's, which has not ended: this is one of its tasks.
                unsafe {
                    if (*description.add(2)..*description.add(6)).contains(&place) {
                        leave_copies_unchecked(description);
                    }
                }
            });
        }
    });
}

unsafe extern "C" fn reduction_unregister(description: usize) {
    REDUCTIONS.with(|all| {
        if let Some(all) = all {
            all.retain(|other| *other != description);
        }
    });
    // SAFETY: the program's own call.
    unsafe { real!(GOMP_taskgroup_reduction_unregister: fn(usize))(description) };
}

/// A region whose tasks reduce: its data begins with where that is described.
unsafe extern "C" fn parallel_reductions(_code: Code, data: *const usize) -> usize {
    // SAFETY: the program's own call.
    unsafe {
        note_reductions(*data);
        real!(GOMP_parallel_reductions: fn()) as usize
    }
}

unsafe extern "C" fn ordered_end() {
    end_ordered_block();
    // SAFETY: the program's own call.
    unsafe { real!(GOMP_ordered_end: fn())() }
}

export! {
    "GOMP_task" noted => task;
    "GOMP_taskwait_depend" plain => taskwait_depend;
    "GOMP_taskloop" noted => taskloop;
    "GOMP_taskloop_ull" noted => taskloop_unsigned;
    "GOMP_taskgroup_reduction_register" plain => reduction_register;
    "GOMP_taskgroup_reduction_unregister" plain => reduction_unregister;
    "GOMP_task_reduction_remap" plain => reduction_remap;
    "GOMP_parallel_reductions" before => parallel_reductions;
    "GOMP_ordered_end" plain => ordered_end;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_dependences_have_two_forms() {
        // SAFETY: each list is as long as it says.
        let of = |list: &[usize]| unsafe { dependences(list.as_ptr()) };
        let named = |address, kind| Dependence::new(address, kind);
        // Two, of which one is written.
        assert_eq!(of(&[2, 1, 80, 88]), [named(80, 3), named(88, 1)]);
        // One that is written, one in a set, one that is read, and an object that says it is read.
        let object = [104_usize, 1];
        let list = [0, 4, 1, 1, 1, 80, 88, 96, object.as_ptr() as usize];
        let expected = [named(80, 3), named(88, 4), named(96, 1), named(104, 1)];
        assert_eq!(of(&list), expected);
    }
}
