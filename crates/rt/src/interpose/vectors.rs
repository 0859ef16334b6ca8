//! What is read and written in pieces, and messages, one or several at once.

use std::ffi::c_int;

use super::calls::calls;
use super::descriptors::{ended, receives, sends, uses};
use super::memory::{reads, writes};
use super::real::real;
use crate::hooks::export;

/// Scattered pieces, of which `most` bytes are touched. What is not there is for the kernel to complain of.
unsafe fn pieces(
    vector: *const libc::iovec,
    count: c_int,
    most: usize,
    touch: impl Fn(usize, usize),
) {
    let mut left = most;
    let count = if vector.is_null() { 0 } else { count };
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the program's own vector.
        let piece = unsafe { *vector.add(index) };
        let size = piece.iov_len.min(left);
        touch(piece.iov_base as usize, size);
        left -= size;
    }
}

unsafe fn reads_message(message: *const libc::msghdr, pc: usize) {
    if message.is_null() {
        return;
    }
    // SAFETY: the program's own message.
    unsafe {
        pieces(
            (*message).msg_iov,
            (*message).msg_iovlen as c_int,
            usize::MAX,
            |at, size| reads(at, size, pc),
        )
    };
}

unsafe fn writes_message(message: *const libc::msghdr, size: usize, pc: usize) {
    // SAFETY: the program's own message.
    unsafe {
        pieces(
            (*message).msg_iov,
            (*message).msg_iovlen as c_int,
            size,
            |at, size| writes(at, size, pc),
        )
    };
}

unsafe extern "C" fn sendmsg(
    file: c_int,
    message: *const libc::msghdr,
    flags: c_int,
    pc: usize,
) -> isize {
    uses(file, pc);
    // SAFETY: the program's own call.
    unsafe {
        reads_message(message, pc);
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
    uses(file, pc);
    // SAFETY: the program's own call.
    unsafe {
        let result =
            real!(recvmsg: fn(c_int, *mut libc::msghdr, c_int) -> isize)(file, message, flags);
        if result > 0 {
            receives(file);
            writes_message(message, result as usize, pc);
        } else if result == 0 {
            ended(file);
        }
        result
    }
}

fn got_pieces(file: usize, vector: usize, number: usize, result: usize, pc: usize) {
    if result == 0 {
        ended(file as c_int);
    }
    if result as isize > 0 {
        receives(file as c_int);
        // SAFETY: the program's own vector.
        unsafe {
            pieces(
                vector as *const libc::iovec,
                number as c_int,
                result,
                |at, size| writes(at, size, pc),
            )
        };
    }
}

fn sends_pieces(file: usize, vector: usize, number: usize, pc: usize) {
    // SAFETY: the program's own vector.
    unsafe {
        pieces(
            vector as *const libc::iovec,
            number as c_int,
            usize::MAX,
            |at, size| reads(at, size, pc),
        )
    };
    sends(file as c_int);
}

/// Each of so many messages.
fn each(messages: usize, number: usize, mut what: impl FnMut(&libc::mmsghdr)) {
    let number = if messages == 0 { 0 } else { number };
    for index in 0..number {
        // SAFETY: the program's own list.
        what(unsafe { &*(messages as *const libc::mmsghdr).add(index) });
    }
}

fn sends_messages(file: usize, messages: usize, number: usize, pc: usize) {
    uses(file as c_int, pc);
    // SAFETY: the program's own messages.
    each(messages, number, |message| unsafe {
        reads_message(&message.msg_hdr, pc)
    });
    sends(file as c_int);
}

fn got_messages(file: usize, messages: usize, result: usize, pc: usize) {
    if result as c_int > 0 {
        receives(file as c_int);
        each(messages, result as c_int as usize, |message| {
            writes(&raw const message.msg_len as usize, 4, pc);
            // SAFETY: the program's own messages.
            unsafe { writes_message(&message.msg_hdr, message.msg_len as usize, pc) };
        });
    }
}

calls! { (pc, result)
    preadv(file, vector, number, offset) { uses(file as c_int, pc); } { got_pieces(file, vector, number, result, pc) };
    preadv64(file, vector, number, offset) { uses(file as c_int, pc); } { got_pieces(file, vector, number, result, pc) };
    pwritev(file, vector, number, offset) { uses(file as c_int, pc); sends_pieces(file, vector, number, pc); } {};
    pwritev64(file, vector, number, offset) { uses(file as c_int, pc); sends_pieces(file, vector, number, pc); } {};
    readv(file, vector, number) { uses(file as c_int, pc); } { got_pieces(file, vector, number, result, pc) };
    writev(file, vector, number) { uses(file as c_int, pc); sends_pieces(file, vector, number, pc); } {};
    sendmmsg(file, messages, number, flags) { sends_messages(file, messages, number, pc); } {};
    recvmmsg(file, messages, number, flags, time) { uses(file as c_int, pc); } { got_messages(file, messages, result, pc) };
}

export! {
    "sendmsg" 3 => sendmsg;
    "recvmsg" 3 => recvmsg;
}
