//! File descriptors: what goes through a pipe or a socket orders whoever wrote it and whoever reads it.
//!
//! Each pipe, socket pair or event counter has a channel for both its ends; all sockets that are connected in
//! other ways share one, and all files another. Standard input, output and error order nothing.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicU32, Ordering};

use super::memory::{reads, writes};
use super::real::real;
use crate::hooks::export;
use crate::sync;

const MANY: usize = 1 << 16;
/// Which channel a descriptor has: 0 that of all files, 1 that of all sockets, else its own.
static CHANNELS: [AtomicU32; MANY] = [const { AtomicU32::new(0) }; MANY];
static NEXT: AtomicU32 = AtomicU32::new(2);

fn channel(file: c_int) -> Option<usize> {
    let file = usize::try_from(file)
        .ok()
        .filter(|file| (3..MANY).contains(file))?;
    // The table's own addresses stand for the channels: nobody else synchronises there.
    let number = CHANNELS[file].load(Ordering::Relaxed) as usize % MANY;
    Some(std::ptr::from_ref(&CHANNELS[number]) as usize)
}

fn set(file: c_int, number: u32) {
    if let Some(entry) = usize::try_from(file)
        .ok()
        .and_then(|file| CHANNELS.get(file))
    {
        entry.store(number, Ordering::Relaxed);
    }
}

fn sends(file: c_int) {
    if let Some(channel) = channel(file) {
        sync::release_more(channel, 0);
    }
}

fn receives(file: c_int) {
    if let Some(channel) = channel(file) {
        sync::acquire(channel, 0);
    }
}

fn pair(ends: *const c_int) {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the C library has written two descriptors.
    unsafe {
        set(*ends, number);
        set(*ends.add(1), number);
    }
}

unsafe extern "C" fn read(file: c_int, to: usize, size: usize, pc: usize) -> isize {
    // SAFETY: the program's own call.
    let result = unsafe { real!(read: fn(c_int, usize, usize) -> isize)(file, to, size) };
    got(file, to, result, pc)
}

unsafe extern "C" fn pread(file: c_int, to: usize, size: usize, offset: i64, pc: usize) -> isize {
    // SAFETY: the program's own call.
    let result =
        unsafe { real!(pread: fn(c_int, usize, usize, i64) -> isize)(file, to, size, offset) };
    got(file, to, result, pc)
}

unsafe extern "C" fn recv(file: c_int, to: usize, size: usize, flags: c_int, pc: usize) -> isize {
    // SAFETY: the program's own call.
    let result =
        unsafe { real!(recv: fn(c_int, usize, usize, c_int) -> isize)(file, to, size, flags) };
    got(file, to, result, pc)
}

fn got(file: c_int, to: usize, result: isize, pc: usize) -> isize {
    if result > 0 {
        receives(file);
        writes(to, result as usize, pc);
    }
    result
}

unsafe extern "C" fn write(file: c_int, from: usize, size: usize, pc: usize) -> isize {
    reads(from, size, pc);
    sends(file);
    // SAFETY: the program's own call.
    unsafe { real!(write: fn(c_int, usize, usize) -> isize)(file, from, size) }
}

unsafe extern "C" fn pwrite(
    file: c_int,
    from: usize,
    size: usize,
    offset: i64,
    pc: usize,
) -> isize {
    reads(from, size, pc);
    sends(file);
    // SAFETY: the program's own call.
    unsafe { real!(pwrite: fn(c_int, usize, usize, i64) -> isize)(file, from, size, offset) }
}

unsafe extern "C" fn send(file: c_int, from: usize, size: usize, flags: c_int, pc: usize) -> isize {
    reads(from, size, pc);
    sends(file);
    // SAFETY: the program's own call.
    unsafe { real!(send: fn(c_int, usize, usize, c_int) -> isize)(file, from, size, flags) }
}

/// Scattered pieces, of which `most` bytes are touched.
unsafe fn pieces(
    vector: *const libc::iovec,
    count: c_int,
    most: usize,
    touch: impl Fn(usize, usize),
) {
    let mut left = most;
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the program's own vector.
        let piece = unsafe { *vector.add(index) };
        let size = piece.iov_len.min(left);
        touch(piece.iov_base as usize, size);
        left -= size;
    }
}

unsafe extern "C" fn readv(
    file: c_int,
    vector: *const libc::iovec,
    count: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        let result =
            real!(readv: fn(c_int, *const libc::iovec, c_int) -> isize)(file, vector, count);
        if result > 0 {
            receives(file);
            pieces(vector, count, result as usize, |at, size| {
                writes(at, size, pc)
            });
        }
        result
    }
}

unsafe extern "C" fn writev(
    file: c_int,
    vector: *const libc::iovec,
    count: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        pieces(vector, count, usize::MAX, |at, size| reads(at, size, pc));
        sends(file);
        real!(writev: fn(c_int, *const libc::iovec, c_int) -> isize)(file, vector, count)
    }
}

unsafe extern "C" fn sendmsg(
    file: c_int,
    message: *const libc::msghdr,
    flags: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        pieces(
            (*message).msg_iov,
            (*message).msg_iovlen as c_int,
            usize::MAX,
            |at, size| reads(at, size, pc),
        );
        sends(file);
        real!(sendmsg: fn(c_int, *const libc::msghdr, c_int) -> isize)(file, message, flags)
    }
}

unsafe extern "C" fn recvmsg(
    file: c_int,
    message: *mut libc::msghdr,
    flags: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        let result =
            real!(recvmsg: fn(c_int, *mut libc::msghdr, c_int) -> isize)(file, message, flags);
        if result > 0 {
            receives(file);
            pieces(
                (*message).msg_iov,
                (*message).msg_iovlen as c_int,
                result as usize,
                |at, size| writes(at, size, pc),
            );
        }
        result
    }
}

unsafe extern "C" fn pipe(ends: *mut c_int) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pipe: fn(*mut c_int) -> c_int)(ends) };
    if result == 0 {
        pair(ends);
    }
    result
}

unsafe extern "C" fn pipe2(ends: *mut c_int, flags: c_int) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real!(pipe2: fn(*mut c_int, c_int) -> c_int)(ends, flags) };
    if result == 0 {
        pair(ends);
    }
    result
}

unsafe extern "C" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut c_int,
) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(socketpair: fn(c_int, c_int, c_int, *mut c_int) -> c_int)(
            domain, kind, protocol, ends,
        )
    };
    if result == 0 {
        pair(ends);
    }
    result
}

unsafe extern "C" fn eventfd(value: u32, flags: c_int) -> c_int {
    // SAFETY: the program's own call.
    let file = unsafe { real!(eventfd: fn(u32, c_int) -> c_int)(value, flags) };
    set(file, NEXT.fetch_add(1, Ordering::Relaxed));
    file
}

unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the program's own call.
    let file = unsafe { real!(socket: fn(c_int, c_int, c_int) -> c_int)(domain, kind, protocol) };
    set(file, 1);
    file
}

unsafe extern "C" fn connect(file: c_int, address: usize, length: u32) -> c_int {
    sends(file);
    // SAFETY: the program's own call.
    unsafe { real!(connect: fn(c_int, usize, u32) -> c_int)(file, address, length) }
}

unsafe extern "C" fn accept(file: c_int, address: usize, length: usize) -> c_int {
    // SAFETY: the program's own call.
    let new = unsafe { real!(accept: fn(c_int, usize, usize) -> c_int)(file, address, length) };
    receives(file);
    set(new, 1);
    new
}

unsafe extern "C" fn accept4(file: c_int, address: usize, length: usize, flags: c_int) -> c_int {
    // SAFETY: the program's own call.
    let new = unsafe {
        real!(accept4: fn(c_int, usize, usize, c_int) -> c_int)(file, address, length, flags)
    };
    receives(file);
    set(new, 1);
    new
}

fn same(old: c_int, new: c_int) -> c_int {
    if let Some(entry) = usize::try_from(old).ok().and_then(|old| CHANNELS.get(old)) {
        set(new, entry.load(Ordering::Relaxed));
    }
    new
}

unsafe extern "C" fn dup(file: c_int) -> c_int {
    // SAFETY: the program's own call.
    same(file, unsafe { real!(dup: fn(c_int) -> c_int)(file) })
}

unsafe extern "C" fn dup2(file: c_int, new: c_int) -> c_int {
    // SAFETY: the program's own call.
    same(file, unsafe {
        real!(dup2: fn(c_int, c_int) -> c_int)(file, new)
    })
}

unsafe extern "C" fn close(file: c_int) -> c_int {
    sends(file);
    set(file, 0);
    // SAFETY: the program's own call.
    unsafe { real!(close: fn(c_int) -> c_int)(file) }
}

/// A program is about to close a descriptor by a system call of its own.
extern "C" fn before_close(file: c_long) {
    sends(file as c_int);
    set(file as c_int, 0);
}

extern "C" fn after_close(_result: c_long, _file: c_long) {}

unsafe extern "C" fn epoll_ctl(poll: c_int, what: c_int, file: c_int, event: usize) -> c_int {
    sends(poll);
    // SAFETY: the program's own call.
    unsafe { real!(epoll_ctl: fn(c_int, c_int, c_int, usize) -> c_int)(poll, what, file, event) }
}

unsafe extern "C" fn epoll_wait(poll: c_int, events: usize, most: c_int, time: c_int) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(epoll_wait: fn(c_int, usize, c_int, c_int) -> c_int)(poll, events, most, time)
    };
    if result > 0 {
        receives(poll);
    }
    result
}

export! {
    "read" 3 => read;
    "pread" 4 => pread;
    "pread64" 4 => pread;
    "recv" 4 => recv;
    "write" 3 => write;
    "pwrite" 4 => pwrite;
    "pwrite64" 4 => pwrite;
    "send" 4 => send;
    "readv" 3 => readv;
    "writev" 3 => writev;
    "sendmsg" 3 => sendmsg;
    "recvmsg" 3 => recvmsg;
    "pipe" plain => pipe;
    "pipe2" plain => pipe2;
    "socketpair" plain => socketpair;
    "eventfd" plain => eventfd;
    "socket" plain => socket;
    "connect" plain => connect;
    "accept" plain => accept;
    "accept4" plain => accept4;
    "dup" plain => dup;
    "dup2" plain => dup2;
    "close" plain => close;
    "__sanitizer_syscall_pre_impl_close" plain => before_close;
    "__sanitizer_syscall_post_impl_close" plain => after_close;
    "epoll_ctl" plain => epoll_ctl;
    "epoll_wait" plain => epoll_wait;
}
