//! What is read and written in pieces, and messages, one or several at once.

use std::ffi::c_int;

use super::calls::calls;
use super::descriptors::{arrived, uses};
use super::memory::{reads, writes};
use super::open_files::{ended, receives, receives_from, sends, sends_to};
use super::real::real;
use super::sockets::Address;
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

/// Where a message goes, or where it comes from.
///
/// # Safety
/// The message is the program's own.
unsafe fn address(message: *const libc::msghdr) -> Option<Address> {
    // SAFETY: the caller's promise. What is no message is for the kernel to complain of.
    unsafe {
        let message = message.as_ref()?;
        Address::read(message.msg_name as usize, message.msg_namelen as usize)
    }
}

/// Descriptors may have come with a message.
fn has_descriptors(message: &libc::msghdr) {
    // SAFETY: the kernel has written what the lengths say.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = part.as_ref() {
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let files = libc::CMSG_DATA(part).cast::<c_int>();
                let length = header.cmsg_len - (files as usize - part as usize);
                for index in 0..length / size_of::<c_int>() {
                    arrived(files.add(index).read_unaligned());
                }
            }
            part = libc::CMSG_NXTHDR(message, part);
        }
    }
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
        sends_to(file, address(message));
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
        if result >= 0 {
            has_descriptors(&*message);
        }
        if result > 0 {
            receives_from(file, address(message));
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
    each(messages, number, |message| {
        // SAFETY: the program's own messages.
        sends_to(file as c_int, unsafe { address(&message.msg_hdr) })
    });
}

fn got_messages(file: usize, messages: usize, result: usize, pc: usize) {
    if result as c_int > 0 {
        each(messages, result as c_int as usize, |message| {
            has_descriptors(&message.msg_hdr);
            // SAFETY: the program's own messages.
            receives_from(file as c_int, unsafe { address(&message.msg_hdr) });
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
    vmsplice(file, vector, number, flags) { uses(file as c_int, pc); sends_pieces(file, vector, number, pc); } {};
    sendmmsg(file, messages, number, flags) { sends_messages(file, messages, number, pc); } {};
    recvmmsg(file, messages, number, flags, time) { uses(file as c_int, pc); } { got_messages(file, messages, result, pc) };
}

export! {
    "sendmsg" 3 => sendmsg;
    "recvmsg" 3 => recvmsg;
}
