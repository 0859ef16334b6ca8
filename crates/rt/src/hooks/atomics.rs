//! Atomic operations: the hook does the operation itself, and orders threads as C11 says.
//!
//! With the channel of the variable locked, the operation and what it releases or acquires are one step, so that the
//! channel's calls come in the order in which the variable changes. A variable into which nothing was ever
//! released has no channel: its operations are done as they are. A reader that finds none looks again after it has
//! read, since what is released is in the channel before the value is in the variable.
//!
//! An operation comes after what it acquires, and before what it releases. So a load is checked after it has acquired, and a
//! store before it releases. An update that does both is checked before, by [`check_word`](crate::check::word::check_word), which acquires first
//! if there is a race otherwise: to check with the channel locked could mean to wait for who waits for the channel.

use deadheat_model::finding::AccessCause;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use deadheat_online::fasttrack::Kind;

use super::export;
use crate::check::access::atomic_access;
use crate::check::range::range;
use crate::order::sync::{Locked, entered};
use crate::order::thread::{Thread, enter, local};
use crate::output::recording::{self, AtomicKind, Stamped};
use crate::platform::world::world;

/// A memory order as the compilers number them: relaxed, consume, acquire, release, acq_rel, seq_cst. Higher bits
/// are hints.
#[derive(Clone, Copy)]
pub struct Order(pub i32);

impl Order {
    fn acquires(self) -> bool {
        matches!(self.0 & 0x7fff, 1 | 2 | 4 | 5)
    }

    fn releases(self) -> bool {
        matches!(self.0 & 0x7fff, 3..=5)
    }

    fn is_strongest(self) -> bool {
        self.0 & 0x7fff == 5
    }
}

/// A value that atomic operations work on.
///
/// # Safety
/// Of each operation: the program does it on this place itself, so that it is mapped and as well aligned as the type asks.
pub trait Value: Copy + PartialEq {
    unsafe fn load(place: *mut Self, order: Order) -> Self;
    unsafe fn store(place: *mut Self, value: Self, order: Order);
    unsafe fn exchange(place: *mut Self, value: Self) -> Self;
    unsafe fn compare_exchange(place: *mut Self, old: Self, new: Self) -> Result<Self, Self>;
    unsafe fn add(place: *mut Self, value: Self) -> Self;
    unsafe fn sub(place: *mut Self, value: Self) -> Self;
    unsafe fn and(place: *mut Self, value: Self) -> Self;
    unsafe fn or(place: *mut Self, value: Self) -> Self;
    unsafe fn xor(place: *mut Self, value: Self) -> Self;
    unsafe fn nand(place: *mut Self, value: Self) -> Self;
}

macro_rules! native {
    ($value:ty, $atomic:ty) => {
        impl Value for $value {
            #[inline]
            unsafe fn load(place: *mut $value, order: Order) -> $value {
                // SAFETY: the caller's promise. A plain access at the same time is the race of the program, which it has without us.
                let place = unsafe { <$atomic>::from_ptr(place) };
                match order.is_strongest() {
                    true => place.load(Ordering::SeqCst),
                    false => place.load(Ordering::Acquire),
                }
            }
            #[inline]
            unsafe fn store(place: *mut $value, value: $value, order: Order) {
                // SAFETY: the caller's promise. A plain access at the same time is the race of the program, which it has without us.
                let place = unsafe { <$atomic>::from_ptr(place) };
                match order.is_strongest() {
                    true => place.store(value, Ordering::SeqCst),
                    false => place.store(value, Ordering::Release),
                }
            }
            #[inline]
            unsafe fn exchange(place: *mut $value, value: $value) -> $value {
                // SAFETY: the caller's promise. A plain access at the same time is the race of the program, which it has without us.
                unsafe { <$atomic>::from_ptr(place) }.swap(value, Ordering::SeqCst)
            }
            #[inline]
            unsafe fn compare_exchange(place: *mut $value, old: $value, new: $value) -> Result<$value, $value> {
                // SAFETY: the caller's promise. A plain access at the same time is the race of the program, which it has without us.
                let place = unsafe { <$atomic>::from_ptr(place) };
                place.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst)
            }
            native!(@ $value, $atomic, add fetch_add, sub fetch_sub, and fetch_and, or fetch_or, xor fetch_xor, nand fetch_nand);
        }
    };
    (@ $value:ty, $atomic:ty, $($name:ident $operation:ident),*) => {
        $(#[inline]
        unsafe fn $name(place: *mut $value, value: $value) -> $value {
            // SAFETY: the caller's promise. A plain access at the same time is the race of the program, which it has without us.
            unsafe { <$atomic>::from_ptr(place) }.$operation(value, Ordering::SeqCst)
        })*
    };
}

native!(u8, AtomicU8);
native!(u16, AtomicU16);
native!(u32, AtomicU32);
native!(u64, AtomicU64);

/// Compares and exchanges sixteen bytes. Returns what was there.
#[cfg(target_arch = "x86_64")]
unsafe fn exchange16(place: *mut u128, old: u128, new: u128) -> u128 {
    let (mut low, mut high) = (old as u64, (old >> 64) as u64);
    // SAFETY: the program does this operation on this place. rbx is LLVM's own and put back.
    unsafe {
        std::arch::asm!("xchg rbx, rsi", "lock cmpxchg16b [rdi]", "mov rbx, rsi",
            inout("rsi") new as u64 => _, in("rdi") place,
            inout("rax") low, inout("rdx") high, in("rcx") (new >> 64) as u64);
    }
    u128::from(low) | u128::from(high) << 64
}

fn update16(place: *mut u128, change: impl Fn(u128) -> u128) -> u128 {
    let mut old = 0;
    loop {
        // SAFETY: the program does an operation on this place.
        match unsafe { exchange16(place, old, change(old)) } {
            found if found == old => return old,
            found => old = found,
        }
    }
}

impl Value for u128 {
    unsafe fn load(place: *mut u128, _: Order) -> u128 {
        // SAFETY: the caller's promise, for all sixteen bytes.
        unsafe { exchange16(place, 0, 0) }
    }
    unsafe fn store(place: *mut u128, value: u128, _: Order) {
        update16(place, |_| value);
    }
    unsafe fn exchange(place: *mut u128, value: u128) -> u128 {
        update16(place, |_| value)
    }
    unsafe fn compare_exchange(place: *mut u128, old: u128, new: u128) -> Result<u128, u128> {
        // SAFETY: the caller's promise, for all sixteen bytes.
        match unsafe { exchange16(place, old, new) } {
            found if found == old => Ok(found),
            found => Err(found),
        }
    }
    unsafe fn add(place: *mut u128, value: u128) -> u128 {
        update16(place, |old| old.wrapping_add(value))
    }
    unsafe fn sub(place: *mut u128, value: u128) -> u128 {
        update16(place, |old| old.wrapping_sub(value))
    }
    unsafe fn and(place: *mut u128, value: u128) -> u128 {
        update16(place, |old| old & value)
    }
    unsafe fn or(place: *mut u128, value: u128) -> u128 {
        update16(place, |old| old | value)
    }
    unsafe fn xor(place: *mut u128, value: u128) -> u128 {
        update16(place, |old| old ^ value)
    }
    unsafe fn nand(place: *mut u128, value: u128) -> u128 {
        update16(place, |old| !(old & value))
    }
}

/// What an operation works on.
#[derive(Clone, Copy)]
pub struct Variable {
    pub address: usize,
    pub size: usize,
}

impl Variable {
    #[inline]
    fn at<T: Value>(place: *mut T) -> Variable {
        Variable {
            address: place as usize,
            size: size_of::<T>(),
        }
    }

    #[inline]
    fn check(self, write: bool, pc: usize) {
        let Variable { address, size } = self;
        let atomic = true;
        match size {
            1 | 2 | 4 | 8 => atomic_access(address, size, write, pc),
            _ => range(
                address,
                size,
                Kind { write, atomic },
                AccessCause::Instruction,
                pc,
            ),
        }
    }
}

/// Whether atomic operations order threads now.
#[inline]
fn unwatched() -> bool {
    local().key.get() == 0 && !local().thread.get().is_null() && world().off()
}

pub unsafe fn load<T: Value>(place: *mut T, order: Order, pc: usize) -> T {
    // SAFETY: the program's own operation.
    load_by(Variable::at(place), order, pc, || unsafe {
        T::load(place, order)
    })
}

/// Loads a value, once or twice.
#[inline]
pub fn load_by<R>(variable: Variable, order: Order, pc: usize, load: impl Fn() -> R) -> R {
    if recording::on() {
        let load = || (load(), AtomicKind::Load, order.0);
        return recording::atomic(variable.address, variable.size, pc, load);
    }
    if unwatched() {
        return load();
    }
    let value = load_in_order(variable.address, order, load);
    variable.check(false, pc);
    value
}

/// Loads a value, and acquires what was released with it.
#[inline]
fn load_in_order<R>(address: usize, order: Order, load: impl Fn() -> R) -> R {
    let Some(entered) = entered() else {
        return load();
    };
    let channels = &world().channels;
    let value = match channels.find(address) {
        Some(_) => None,
        None => Some(load()),
    };
    let Some(channel) = channels.find(address) else {
        return value.unwrap_or_else(load);
    };
    let channel = channel.lock();
    let value = load();
    read(&channel, entered.thread(), order);
    value
}

fn read(channel: &Locked, thread: &mut Thread, order: Order) {
    match order.acquires() {
        true => channel.acquire(thread),
        false => channel.peek(thread),
    }
}

pub unsafe fn store<T: Value>(place: *mut T, value: T, order: Order, pc: usize) {
    // SAFETY: the program's own operation.
    store_by(Variable::at(place), order, pc, || unsafe {
        T::store(place, value, order);
    });
}

/// Stores a value.
#[inline]
pub fn store_by(variable: Variable, order: Order, pc: usize, store: impl FnOnce()) {
    let Variable { address, size } = variable;
    if recording::on() {
        let store = || (store(), AtomicKind::Store, order.0);
        return recording::atomic(address, size, pc, store);
    }
    if unwatched() {
        return store();
    }
    variable.check(true, pc);
    let Some(entered) = entered() else {
        return store();
    };
    let thread = entered.thread();
    let channels = &world().channels;
    if order.releases() {
        let mut channel = channels.get(address).lock();
        channel.release(thread);
        return store();
    }
    let place_of = match thread.has_fence() {
        true => Some(channels.get(address)),
        false => channels.find(address),
    };
    let _channel = place_of.map(|channel| {
        let mut channel = channel.lock();
        channel.relaxed_store(thread);
        channel
    });
    store();
}

pub unsafe fn exchange<T: Value>(place: *mut T, value: T, order: Order, pc: usize) -> T {
    // SAFETY: the program's own operation.
    let exchange = || unsafe { (T::exchange(place, value), true) };
    update(Variable::at(place), (order, Order(0)), pc, true, exchange)
}

/// A read-modify-write. `writes` says whether it is going to write, as far as that is known, and `operation` whether it
/// has; if not it was a read, in the other order.
#[inline]
pub fn update<R>(
    variable: Variable,
    (order, failure): (Order, Order),
    pc: usize,
    writes: bool,
    operation: impl FnOnce() -> (R, bool),
) -> R {
    if recording::on() {
        return recording::atomic(variable.address, variable.size, pc, || match operation() {
            (result, true) => (result, AtomicKind::Update, order.0),
            (result, false) => (result, AtomicKind::Load, failure.0),
        });
    }
    if unwatched() {
        return operation().0;
    }
    let releases = writes && order.releases();
    if releases {
        let acquires = order.acquires().then_some(variable.address);
        local().acquires.set(acquires.unwrap_or(0));
        variable.check(true, pc);
        local().acquires.set(0);
    }
    let (result, written) = update_in_order(variable.address, (order, failure), operation);
    // What was going to write may not have, and the other way round: seldom, and nobody can tell from outside.
    if !releases {
        variable.check(written, pc);
    }
    result
}

/// Does a read-modify-write, and acquires and releases as it is to.
#[inline]
fn update_in_order<R>(
    address: usize,
    (order, failure): (Order, Order),
    operation: impl FnOnce() -> (R, bool),
) -> (R, bool) {
    let Some(entered) = entered() else {
        return operation();
    };
    let thread = entered.thread();
    let channels = &world().channels;
    let wanted = order.releases() || order.acquires() || failure.acquires() || thread.has_fence();
    let place_of = match wanted {
        true => Some(channels.get(address)),
        false => channels.find(address),
    };
    let Some(channel) = place_of else {
        return operation();
    };
    let mut channel = channel.lock();
    let (result, written) = operation();
    if !written {
        read(&channel, thread, failure);
        return (result, written);
    }
    read(&channel, thread, order);
    match order.releases() {
        true => channel.release_more(thread),
        false => channel.relaxed_update(thread),
    }
    (result, written)
}

pub unsafe fn compare<T: Value>(
    place: *mut T,
    old: T,
    new: T,
    order: i32,
    failure: i32,
    pc: usize,
) -> Result<T, T> {
    // SAFETY: the program does this operation on `place`, and may therefore read there, too.
    unsafe {
        let writes = T::load(place, Order(0)) == old;
        let orders = (Order(order), Order(failure));
        update(Variable::at(place), orders, pc, writes, || {
            let result = T::compare_exchange(place, old, new);
            (result, result.is_ok())
        })
    }
}

unsafe extern "C" fn thread_fence(order: i32, pc: usize) {
    std::sync::atomic::fence(Ordering::SeqCst);
    if recording::on() {
        return recording::synchronise(Stamped::Fence, 0, pc, (order & 7) as u64);
    }
    if unwatched() {
        return;
    }
    if let Some(entered) = entered() {
        let order = Order(order);
        entered.thread().fence(order.acquires(), order.releases());
    }
}

extern "C" fn signal_fence(_order: i32) {
    drop(enter());
}

export! {
    "__tsan_atomic_thread_fence" 1 => thread_fence;
    "__tsan_atomic_signal_fence" plain => signal_fence;
}

macro_rules! operations {
    ($value:ty: $($name:ident $symbol:literal $arguments:tt),*) => {
        $(unsafe extern "C" fn $name(place: *mut $value, value: $value, order: i32, pc: usize) -> $value {
            // SAFETY: the program's own operation.
            unsafe {
                let operation = || (<$value as Value>::$name(place, value), true);
                update(Variable::at(place), (Order(order), Order(0)), pc, true, operation)
            }
        }
        export! { $symbol $arguments => $name; })*
    };
}

macro_rules! sized {
    ($module:ident $value:ty, $load:literal, $store:literal $three:tt,
     $strong:literal, $weak:literal $strong_arguments:tt, $val:literal $val_arguments:tt,
     $($name:ident $symbol:literal),*) => {
        mod $module {
            use super::*;
            unsafe extern "C" fn load(place: *mut $value, order: i32, pc: usize) -> $value {
                // SAFETY: the program's own operation.
                unsafe { super::load(place, Order(order), pc) }
            }
            unsafe extern "C" fn store(place: *mut $value, value: $value, order: i32, pc: usize) {
                // SAFETY: the program's own operation.
                unsafe { super::store(place, value, Order(order), pc) }
            }
            unsafe extern "C" fn strong(place: *mut $value, old: *mut $value, new: $value, order: i32, failure: i32, pc: usize) -> i32 {
                // SAFETY: the program's own operation.
                unsafe {
                    match super::compare(place, *old, new, order, failure, pc) {
                        Ok(_) => 1,
                        Err(found) => {
                            *old = found;
                            0
                        }
                    }
                }
            }
            unsafe extern "C" fn val(place: *mut $value, old: $value, new: $value, order: i32, failure: i32, pc: usize) -> $value {
                // SAFETY: the program's own operation.
                unsafe { super::compare(place, old, new, order, failure, pc).unwrap_or_else(|found| found) }
            }
            export! {
                $load 2 => load;
                $store $three => store;
                $strong $strong_arguments => strong;
                $weak $strong_arguments => strong;
                $val $val_arguments => val;
            }
            operations!($value: $($name $symbol $three),*);
        }
    };
}

sized!(bits8 u8, "__tsan_atomic8_load", "__tsan_atomic8_store" 3,
    "__tsan_atomic8_compare_exchange_strong", "__tsan_atomic8_compare_exchange_weak" 5, "__tsan_atomic8_compare_exchange_val" 5,
    exchange "__tsan_atomic8_exchange", add "__tsan_atomic8_fetch_add", sub "__tsan_atomic8_fetch_sub", and "__tsan_atomic8_fetch_and", or "__tsan_atomic8_fetch_or", xor "__tsan_atomic8_fetch_xor", nand "__tsan_atomic8_fetch_nand");
sized!(bits16 u16, "__tsan_atomic16_load", "__tsan_atomic16_store" 3,
    "__tsan_atomic16_compare_exchange_strong", "__tsan_atomic16_compare_exchange_weak" 5, "__tsan_atomic16_compare_exchange_val" 5,
    exchange "__tsan_atomic16_exchange", add "__tsan_atomic16_fetch_add", sub "__tsan_atomic16_fetch_sub", and "__tsan_atomic16_fetch_and", or "__tsan_atomic16_fetch_or", xor "__tsan_atomic16_fetch_xor", nand "__tsan_atomic16_fetch_nand");
sized!(bits32 u32, "__tsan_atomic32_load", "__tsan_atomic32_store" 3,
    "__tsan_atomic32_compare_exchange_strong", "__tsan_atomic32_compare_exchange_weak" 5, "__tsan_atomic32_compare_exchange_val" 5,
    exchange "__tsan_atomic32_exchange", add "__tsan_atomic32_fetch_add", sub "__tsan_atomic32_fetch_sub", and "__tsan_atomic32_fetch_and", or "__tsan_atomic32_fetch_or", xor "__tsan_atomic32_fetch_xor", nand "__tsan_atomic32_fetch_nand");
sized!(bits64 u64, "__tsan_atomic64_load", "__tsan_atomic64_store" 3,
    "__tsan_atomic64_compare_exchange_strong", "__tsan_atomic64_compare_exchange_weak" 5, "__tsan_atomic64_compare_exchange_val" 5,
    exchange "__tsan_atomic64_exchange", add "__tsan_atomic64_fetch_add", sub "__tsan_atomic64_fetch_sub", and "__tsan_atomic64_fetch_and", or "__tsan_atomic64_fetch_or", xor "__tsan_atomic64_fetch_xor", nand "__tsan_atomic64_fetch_nand");
sized!(bits128 u128, "__tsan_atomic128_load", "__tsan_atomic128_store" 4,
    "__tsan_atomic128_compare_exchange_strong", "__tsan_atomic128_compare_exchange_weak" 6, "__tsan_atomic128_compare_exchange_val" 7,
    exchange "__tsan_atomic128_exchange", add "__tsan_atomic128_fetch_add", sub "__tsan_atomic128_fetch_sub", and "__tsan_atomic128_fetch_and", or "__tsan_atomic128_fetch_or", xor "__tsan_atomic128_fetch_xor", nand "__tsan_atomic128_fetch_nand");
