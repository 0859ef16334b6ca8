//! Plain accesses, function entry and exit.

use deadheat_online::fasttrack::Kind;

use super::export;
use crate::access::{access, access16};
use crate::interpose::real::real;
use crate::origin::What;
use crate::range::range;
use crate::thread::{Frame, enter, local};

extern "C" fn read1(address: usize, pc: usize) {
    access::<0, false>(address, pc)
}
extern "C" fn read2(address: usize, pc: usize) {
    access::<1, false>(address, pc)
}
extern "C" fn read4(address: usize, pc: usize) {
    access::<2, false>(address, pc)
}
extern "C" fn read8(address: usize, pc: usize) {
    access::<3, false>(address, pc)
}
extern "C" fn write1(address: usize, pc: usize) {
    access::<0, true>(address, pc)
}
extern "C" fn write2(address: usize, pc: usize) {
    access::<1, true>(address, pc)
}
extern "C" fn write4(address: usize, pc: usize) {
    access::<2, true>(address, pc)
}
extern "C" fn write8(address: usize, pc: usize) {
    access::<3, true>(address, pc)
}

extern "C" fn read16(address: usize, pc: usize) {
    access16::<false>(address, pc)
}

extern "C" fn write16(address: usize, pc: usize) {
    access16::<true>(address, pc)
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
    range(address, size, READ, What::Range, pc)
}
extern "C" fn write_range(address: usize, size: usize, pc: usize) {
    range(address, size, WRITE, What::Range, pc)
}

/// An object gets a table of virtual functions. Setting the same again, as destructors do, is no change.
extern "C" fn vptr_update(place: *const usize, value: usize, pc: usize) {
    // SAFETY: the program is about to write there.
    if unsafe { *place } != value {
        range(place as usize, 8, WRITE, What::Vptr, pc);
    }
}

extern "C" fn vptr_read(place: usize, pc: usize) {
    range(place, 8, READ, What::Vptr, pc)
}

extern "C" fn func_entry(caller: usize, stack_pointer: usize) {
    let local = local();
    let frame = local.frame.get();
    if frame == local.frames_end.get() {
        return func_entry_slow(caller, stack_pointer);
    }
    // SAFETY: there is room for a frame.
    unsafe {
        frame.write(Frame {
            caller: caller as u64,
            chain: 0,
            stack_pointer: stack_pointer as u32,
        })
    };
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
    range(to as usize, size, WRITE, What::Range, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memset: fn(*mut u8, i32, usize) -> *mut u8)(to, byte, size) }
}

export! {
    "__tsan_init" plain => init;
    "__tsan_func_entry" stack => func_entry;
    "__tsan_func_exit" plain => func_exit;
    "__tsan_read1" 1 => read1;
    "__tsan_read2" 1 => read2;
    "__tsan_read4" 1 => read4;
    "__tsan_read8" 1 => read8;
    "__tsan_read16" 1 => read16;
    "__tsan_write1" 1 => write1;
    "__tsan_write2" 1 => write2;
    "__tsan_write4" 1 => write4;
    "__tsan_write8" 1 => write8;
    "__tsan_write16" 1 => write16;
    "__tsan_unaligned_read2" 1 => read2;
    "__tsan_unaligned_read4" 1 => read4;
    "__tsan_unaligned_read8" 1 => read8;
    "__tsan_unaligned_read16" 1 => read16;
    "__tsan_unaligned_write2" 1 => write2;
    "__tsan_unaligned_write4" 1 => write4;
    "__tsan_unaligned_write8" 1 => write8;
    "__tsan_unaligned_write16" 1 => write16;
    "__tsan_volatile_read1" 1 => read1;
    "__tsan_volatile_read2" 1 => read2;
    "__tsan_volatile_read4" 1 => read4;
    "__tsan_volatile_read8" 1 => read8;
    "__tsan_volatile_read16" 1 => read16;
    "__tsan_volatile_write1" 1 => write1;
    "__tsan_volatile_write2" 1 => write2;
    "__tsan_volatile_write4" 1 => write4;
    "__tsan_volatile_write8" 1 => write8;
    "__tsan_volatile_write16" 1 => write16;
    "__tsan_unaligned_volatile_read2" 1 => read2;
    "__tsan_unaligned_volatile_read4" 1 => read4;
    "__tsan_unaligned_volatile_read8" 1 => read8;
    "__tsan_unaligned_volatile_read16" 1 => read16;
    "__tsan_unaligned_volatile_write2" 1 => write2;
    "__tsan_unaligned_volatile_write4" 1 => write4;
    "__tsan_unaligned_volatile_write8" 1 => write8;
    "__tsan_unaligned_volatile_write16" 1 => write16;
    // A read and a write of the same place: the write conflicts with all the read does.
    "__tsan_read_write1" 1 => write1;
    "__tsan_read_write2" 1 => write2;
    "__tsan_read_write4" 1 => write4;
    "__tsan_read_write8" 1 => write8;
    "__tsan_read_write16" 1 => write16;
    "__tsan_unaligned_read_write2" 1 => write2;
    "__tsan_unaligned_read_write4" 1 => write4;
    "__tsan_unaligned_read_write8" 1 => write8;
    "__tsan_unaligned_read_write16" 1 => write16;
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
