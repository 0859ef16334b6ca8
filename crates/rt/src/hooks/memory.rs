//! Plain accesses, function entry and exit.

use std::ffi::c_int;

use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Kind;

use super::{export, export_one};
use crate::check::access::{access, access16};
use crate::check::range::range;
use crate::interpose::real::real;
use crate::order::thread::{Frame, enter, local};
use crate::output::recording;

/// The functions for accesses of each size.
macro_rules! accesses {
    ($($read:ident $write:ident $update:ident = $path:ident $(, $log:literal)?;)*) => {
        $(extern "C" fn $read(address: usize, pc: usize) {
            $path::<$($log,)? false>(address, pc)
        }
        extern "C" fn $write(address: usize, pc: usize) {
            $path::<$($log,)? true>(address, pc)
        }
        /// A read and then a write of the same place. The write conflicts with all that the read does; a recording has both.
        extern "C" fn $update(address: usize, pc: usize) {
            if local().epoch.get() == 0 && recording::on() {
                $path::<$($log,)? false>(address, pc);
            }
            $path::<$($log,)? true>(address, pc)
        })*
    };
}

accesses! {
    read1 write1 update1 = access, 0;
    read2 write2 update2 = access, 1;
    read4 write4 update4 = access, 2;
    read8 write8 update8 = access, 3;
    read16 write16 update16 = access16;
}

/// Exports them under the names that the compilers call.
macro_rules! export_sizes {
    ($($prefix:literal $sizes:tt)*) => { $(export_sizes!(@ $prefix $sizes);)* };
    (@ $prefix:literal [$($size:literal $read:ident $write:ident $update:ident),*]) => {
        $(export_one!(concat!($prefix, "read", $size), 1, $read);
        export_one!(concat!($prefix, "write", $size), 1, $write);
        export_one!(concat!($prefix, "read_write", $size), 1, $update);)*
    };
}

export_sizes! {
    "__tsan_" [1 read1 write1 update1, 2 read2 write2 update2, 4 read4 write4 update4, 8 read8 write8 update8, 16 read16 write16 update16]
    "__tsan_unaligned_" [2 read2 write2 update2, 4 read4 write4 update4, 8 read8 write8 update8, 16 read16 write16 update16]
    "__tsan_volatile_" [1 read1 write1 update1, 2 read2 write2 update2, 4 read4 write4 update4, 8 read8 write8 update8, 16 read16 write16 update16]
    "__tsan_unaligned_volatile_" [2 read2 write2 update2, 4 read4 write4 update4, 8 read8 write8 update8, 16 read16 write16 update16]
}

const READ: Kind = Kind {
    write: false,
    atomic: false,
};
const WRITE: Kind = Kind {
    write: true,
    atomic: false,
};

extern "C" fn read_range(address: usize, size: usize, pc: usize) {
    range(address, size, READ, AccessCause::Range, pc)
}
extern "C" fn write_range(address: usize, size: usize, pc: usize) {
    range(address, size, WRITE, AccessCause::Range, pc)
}

/// What a loop reads and writes, all of it: one range, or pieces with a step from one to the next.
macro_rules! loops {
    ($($range:ident $pieces:ident = $reads:literal $writes:literal;)*) => {
        $(extern "C" fn $range(address: usize, size: usize, pc: usize) {
            of_loop(address, size, $reads, $writes, pc)
        }
        extern "C" fn $pieces(first: usize, size: usize, count: usize, step: usize, pc: usize) {
            for index in 0..count {
                let address = first.wrapping_add(index.wrapping_mul(step));
                of_loop(address, size, $reads, $writes, pc);
            }
        })*
    };
}

loops! {
    loop_reads loop_reads_pieces = true false;
    loop_writes loop_writes_pieces = false true;
    loop_updates loop_updates_pieces = true true;
}

/// Whether code of the executable that returns to an address has called one of these. Code of libraries calls them by way of a
/// table, and may be gone.
pub fn is_of_loop(pc: usize) -> bool {
    unsafe extern "C" {
        static __executable_start: u8;
        static etext: u8;
        fn __deadheat_read_range();
        fn __deadheat_write_range();
        fn __deadheat_update_range();
        fn __deadheat_read_pieces();
        fn __deadheat_write_pieces();
        fn __deadheat_update_pieces();
    }
    const CALL: u8 = 0xe8;
    const LENGTH: usize = 5;
    let hooks = [
        __deadheat_read_range as *const (),
        __deadheat_write_range as *const (),
        __deadheat_update_range as *const (),
        __deadheat_read_pieces as *const (),
        __deadheat_write_pieces as *const (),
        __deadheat_update_pieces as *const (),
    ];
    let code = (&raw const __executable_start).addr() + LENGTH..(&raw const etext).addr();
    if !code.contains(&pc) {
        return false;
    }
    // SAFETY: within the code of the executable, which stays where it is.
    unsafe {
        let call = pc.wrapping_sub(LENGTH) as *const u8;
        let distance = || (call.add(1) as *const i32).read_unaligned() as isize;
        *call == CALL && hooks.contains(&(pc.wrapping_add_signed(distance()) as *const ()))
    }
}

#[inline]
fn of_loop(address: usize, size: usize, reads: bool, writes: bool, pc: usize) {
    if reads && (!writes || recording::on()) {
        range(address, size, READ, AccessCause::Instruction, pc);
    }
    if writes {
        range(address, size, WRITE, AccessCause::Instruction, pc);
    }
}

/// An object gets a table of virtual functions. Setting the same again, as destructors do, is no change.
extern "C" fn vptr_update(place: *const usize, value: usize, pc: usize) {
    // SAFETY: the program is about to write there.
    if unsafe { *place } != value {
        range(place as usize, 8, WRITE, AccessCause::VirtualTable, pc);
    }
}

extern "C" fn vptr_read(place: usize, pc: usize) {
    range(place, 8, READ, AccessCause::VirtualTable, pc)
}

extern "C" fn func_entry(caller: usize, stack_pointer: usize) {
    let local = local();
    let frame = local.frame.get();
    if frame == local.frames_end.get() {
        return func_entry_slow(caller, stack_pointer);
    }
    // SAFETY: there is room for a frame.
    unsafe { frame.write(Frame::new(caller, stack_pointer)) };
    local.frame.set(frame.wrapping_add(1));
}

#[cold]
#[inline(never)]
fn func_entry_slow(caller: usize, stack_pointer: usize) {
    let unknown = local().thread.get().is_null();
    if unknown && enter().is_some() && !local().frame.get().is_null() {
        func_entry(caller, stack_pointer);
    }
}

extern "C" fn func_exit() {
    let local = local();
    let frame = local.frame.get();
    if frame != local.frames_begin.get() {
        local.frame.set(frame.wrapping_sub(1));
    }
}

extern "C" fn init() {
    crate::platform::checked::update();
    drop(enter());
}

unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, size: usize, pc: usize) -> *mut u8 {
    crate::interpose::memory::touch2(to as usize, from as usize, size, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memcpy: fn(*mut u8, *const u8, usize) -> *mut u8)(to, from, size) }
}

unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, size: usize, pc: usize) -> *mut u8 {
    crate::interpose::memory::touch2(to as usize, from as usize, size, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memmove: fn(*mut u8, *const u8, usize) -> *mut u8)(to, from, size) }
}

unsafe extern "C" fn memset(to: *mut u8, byte: i32, size: usize, pc: usize) -> *mut u8 {
    crate::interpose::memory::writes(to as usize, size, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memset: fn(*mut u8, i32, usize) -> *mut u8)(to, byte, size) }
}

/// What marks have told of already.
unsafe extern "C" fn memcpy_told(to: *mut u8, from: *const u8, size: usize) {
    // SAFETY: the program's own call.
    unsafe { real!(memcpy: fn(*mut u8, *const u8, usize) -> *mut u8)(to, from, size) };
}

unsafe extern "C" fn memmove_told(to: *mut u8, from: *const u8, size: usize) {
    // SAFETY: the program's own call.
    unsafe { real!(memmove: fn(*mut u8, *const u8, usize) -> *mut u8)(to, from, size) };
}

unsafe extern "C" fn memset_told(to: *mut u8, byte: i32, size: usize) {
    // SAFETY: the program's own call.
    unsafe { real!(memset: fn(*mut u8, i32, usize) -> *mut u8)(to, byte, size) };
}

unsafe extern "C" fn memcmp_told(a: *const u8, b: *const u8, size: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe { real!(memcmp: fn(*const u8, *const u8, usize) -> c_int)(a, b, size) }
}

export! {
    "__deadheat_compare" 3 => crate::interpose::memory::compare;
    "__deadheat_memcmp" plain => memcmp_told;
    "__deadheat_memcpy" plain => memcpy_told;
    "__deadheat_memmove" plain => memmove_told;
    "__deadheat_memset" plain => memset_told;
    "__deadheat_read_range" 2 => loop_reads;
    "__deadheat_write_range" 2 => loop_writes;
    "__deadheat_update_range" 2 => loop_updates;
    "__deadheat_update_pieces" 4 => loop_updates_pieces;
    "__deadheat_read_pieces" 4 => loop_reads_pieces;
    "__deadheat_write_pieces" 4 => loop_writes_pieces;
    "__tsan_init" plain => init;
    "__tsan_func_entry" stack => func_entry;
    "__tsan_func_exit" plain => func_exit;
    // Here the program says itself who accesses.
    "__tsan_read1_pc" plain => read1;
    "__tsan_read2_pc" plain => read2;
    "__tsan_read4_pc" plain => read4;
    "__tsan_read8_pc" plain => read8;
    "__tsan_read16_pc" plain => read16;
    "__tsan_write1_pc" plain => write1;
    "__tsan_write2_pc" plain => write2;
    "__tsan_write4_pc" plain => write4;
    "__tsan_write8_pc" plain => write8;
    "__tsan_write16_pc" plain => write16;
    "__tsan_read_range_pc" plain => read_range;
    "__tsan_write_range_pc" plain => write_range;
    "__tsan_external_read" plain => read1;
    "__tsan_external_write" plain => write1;
    "__tsan_read_range" 2 => read_range;
    "__tsan_write_range" 2 => write_range;
    "__tsan_vptr_update" 2 => vptr_update;
    "__tsan_vptr_read" 1 => vptr_read;
    "__tsan_memcpy" 3 => memcpy;
    "__tsan_memmove" 3 => memmove;
    "__tsan_memset" 3 => memset;
    "memcpy" 3 => memcpy;
    "memmove" 3 => memmove;
    "memset" 3 => memset;
}
