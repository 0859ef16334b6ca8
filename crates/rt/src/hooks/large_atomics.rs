//! Atomic operations on objects of any size, which compilers leave to a library.
//!
//! The library's own keep the object under a lock that nobody sees. Here the lock is ours: the operation is what it is for the
//! program, an atomic one with its memory order, and not a critical section. Sizes that the processor knows are done by it, as the
//! same object may be accessed by code that does not ask a library.

use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Kind;

use super::atomics::{
    Order, Value, Variable, compare, exchange, load, load_by, store, store_by, update,
};
use super::export;
use crate::check::range::range;
use crate::order::thread::{Entered, enter};
use crate::platform::os::{Spin, SpinGuard};

/// The locks of all objects, by address.
static LOCKS: [Spin; 64] = [const { Spin::new() }; 64];

/// As long as this lives, nobody else accesses the object, copies of it are the runtime's own, and signals wait.
fn lock(address: usize) -> (SpinGuard<'static>, Option<Entered>) {
    let entered = enter();
    let lock = &LOCKS[(address >> 3) % LOCKS.len()];
    (lock.lock(), entered)
}

fn variable(address: usize, size: usize) -> Variable {
    Variable { address, size }
}

/// Copies an object, out of or into one that is accessed atomically.
unsafe fn copy(from: usize, to: usize, size: usize) {
    // SAFETY: both are objects of the program; the atomic one is locked.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, size) };
}

unsafe fn equal(a: usize, b: usize, size: usize) -> bool {
    // SAFETY: both are objects of the program, so long; the atomic one is locked.
    let bytes = |at: usize| unsafe { std::slice::from_raw_parts(at as *const u8, size) };
    bytes(a) == bytes(b)
}

/// An argument that is read or written as any other memory.
fn plain(address: usize, size: usize, write: bool, pc: usize) {
    let atomic = false;
    range(
        address,
        size,
        Kind { write, atomic },
        AccessCause::Instruction,
        pc,
    );
}

/// Calls with the type of this size, if the processor knows it, or else what is behind.
macro_rules! by_size {
    ($size:ident, $place:ident: $native:ident($($argument:expr),*), $large:expr) => {
        match $size {
            1 => $native::<u8>($($argument),*),
            2 if $place.is_multiple_of(2) => $native::<u16>($($argument),*),
            4 if $place.is_multiple_of(4) => $native::<u32>($($argument),*),
            8 if $place.is_multiple_of(8) => $native::<u64>($($argument),*),
            16 if $place.is_multiple_of(16) => $native::<u128>($($argument),*),
            _ => $large,
        }
    };
}

unsafe fn get<T: Value>(from: usize) -> T {
    // SAFETY: an object of the program that has at least this size.
    unsafe { (from as *const T).read_unaligned() }
}

unsafe fn put<T: Value>(to: usize, value: T) {
    // SAFETY: an object of the program that has at least this size, and that it has handed over to be written.
    unsafe { (to as *mut T).write_unaligned(value) };
}

unsafe fn load_native<T: Value>(place: usize, to: usize, order: i32, pc: usize) {
    // SAFETY: `by_size` has seen that the place is aligned; both objects are the program's, and have this size.
    unsafe { put(to, load(place as *mut T, Order(order), pc)) };
}

unsafe extern "C" fn load_any(size: usize, place: usize, to: usize, order: i32, pc: usize) {
    let load = || {
        let _lock = lock(place);
        // SAFETY: both objects are the program's, and have this size; the atomic one is locked.
        unsafe { copy(place, to, size) };
    };
    // SAFETY: the program's own operation, with its own arguments.
    unsafe {
        by_size!(size, place: load_native(place, to, order, pc), {
            load_by(variable(place, size), Order(order), pc, load)
        });
    }
    plain(to, size, true, pc);
}

unsafe fn store_native<T: Value>(place: usize, from: usize, order: i32, pc: usize) {
    // SAFETY: `by_size` has seen that the place is aligned; both objects are the program's, and have this size.
    unsafe { store(place as *mut T, get(from), Order(order), pc) };
}

unsafe extern "C" fn store_any(size: usize, place: usize, from: usize, order: i32, pc: usize) {
    plain(from, size, false, pc);
    let store = || {
        let _lock = lock(place);
        // SAFETY: both objects are the program's, and have this size; the atomic one is locked.
        unsafe { copy(from, place, size) };
    };
    // SAFETY: the program's own operation, with its own arguments.
    unsafe {
        by_size!(size, place: store_native(place, from, order, pc), {
            store_by(variable(place, size), Order(order), pc, store)
        });
    }
}

unsafe fn exchange_native<T: Value>(place: usize, from: usize, to: usize, order: i32, pc: usize) {
    // SAFETY: `by_size` has seen that the place is aligned; the objects are the program's, and have this size.
    unsafe { put(to, exchange(place as *mut T, get(from), Order(order), pc)) };
}

unsafe extern "C" fn exchange_any(
    size: usize,
    place: usize,
    from: usize,
    to: usize,
    order: i32,
    pc: usize,
) {
    plain(from, size, false, pc);
    let exchange = || {
        let _lock = lock(place);
        // One object may be both what is stored and where the old one goes.
        for at in 0..size {
            // SAFETY: the three objects are the program's, and have more than `at` bytes; the atomic one is locked.
            unsafe {
                let new = get::<u8>(from + at);
                put(to + at, get::<u8>(place + at));
                put(place + at, new);
            }
        }
        ((), true)
    };
    // SAFETY: the program's own operation, with its own arguments.
    unsafe {
        by_size!(size, place: exchange_native(place, from, to, order, pc), {
            let orders = (Order(order), Order(0));
            update(variable(place, size), orders, pc, true, exchange)
        });
    }
    plain(to, size, true, pc);
}

/// Whether it was exchanged; if not, what is there is put where the old value is.
unsafe fn compare_native<T: Value>(
    place: usize,
    old: usize,
    new: usize,
    (order, failure): (i32, i32),
    pc: usize,
) -> bool {
    // SAFETY: `by_size` has seen that the place is aligned; the objects are the program's, and have this size.
    unsafe {
        match compare::<T>(place as *mut T, get(old), get(new), order, failure, pc) {
            Ok(_) => true,
            Err(found) => {
                put(old, found);
                false
            }
        }
    }
}

unsafe extern "C" fn compare_any(
    size: usize,
    place: usize,
    old: usize,
    new: usize,
    order: i32,
    failure: i32,
    pc: usize,
) -> bool {
    plain(old, size, false, pc);
    plain(new, size, false, pc);
    // SAFETY: both objects are the program's, and have this size; the atomic one is locked by whoever asks.
    let is_old = || unsafe { equal(place, old, size) };
    let exchange = || {
        let _lock = lock(place);
        let exchanged = is_old();
        match exchanged {
            // SAFETY: as above; another object of this size, which is only read.
            true => unsafe { copy(new, place, size) },
            // SAFETY: as above; the program has handed the old value over to be written.
            false => unsafe { copy(place, old, size) },
        }
        (exchanged, exchanged)
    };
    // SAFETY: the program's own operation, with its own arguments.
    let exchanged = unsafe {
        by_size!(size, place: compare_native(place, old, new, (order, failure), pc), {
            let writes = {
                let _lock = lock(place);
                is_old()
            };
            let orders = (Order(order), Order(failure));
            update(variable(place, size), orders, pc, writes, exchange)
        })
    };
    if !exchanged {
        plain(old, size, true, pc);
    }
    exchanged
}

export! {
    "__atomic_load" 4 => load_any;
    "__atomic_store" 4 => store_any;
    "__atomic_exchange" 5 => exchange_any;
    "__atomic_compare_exchange" 6 => compare_any;
}
