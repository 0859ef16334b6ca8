//! Streams of C: what is read and written through them, and in which order. A stream must be open while it is used.

use super::calls::{calls, count, went_well};
use std::ffi::c_int;
use std::sync::atomic::Ordering;

use super::descriptors::{Descriptor, closes};
use super::memory::{reads, writes};
use super::open_files::{OfStream, of_stream, receives, sends, sends_end};
use super::real::real;
use super::strings::{reads_text, writes_text};
use crate::order::sync;

/// Where a stream keeps how far it has been read and written. Compilers do what is short themselves, there.
const READ: usize = 8;
const WRITTEN: usize = 40;
/// Where it keeps the beginning of what is written and not in the file yet, and the end of the room for it.
const UNWRITTEN: usize = 32;
const ROOM: usize = 48;
/// What most calls write at most.
const SHORT: usize = 256;

fn descriptor(stream: usize) -> c_int {
    // SAFETY: a stream that the program uses.
    unsafe { real!(fileno: fn(usize) -> c_int)(stream) }
}

/// The program writes to a stream.
pub fn outputs(stream: usize, pc: usize) {
    outputs_bytes(stream, SHORT, pc);
}

/// As [`outputs`], so many bytes.
fn outputs_bytes(stream: usize, size: usize, pc: usize) {
    reads(stream, 1, pc);
    let file = descriptor(stream);
    match of_stream(file) {
        OfStream::Nothing => {}
        OfStream::Descriptor => sends(file),
        OfStream::Pipe(channel) => sync::release_more(channel, 0),
        // What fits into the stream's memory is not in the file before somebody flushes or closes the stream: to tell each
        // time what the thread has done would cost more than writing.
        OfStream::File(channel) if size > 0 && fills(stream, size) => {
            sync::release_more(channel, 0)
        }
        OfStream::File(_) => {}
    }
}

/// Whether a stream has no room for so many bytes.
fn fills(stream: usize, size: usize) -> bool {
    place(stream, ROOM).saturating_sub(place(stream, WRITTEN)) <= size
}

/// One of the addresses that a stream keeps.
fn place(stream: usize, at: usize) -> usize {
    // SAFETY: a stream of the C library, which has these addresses there.
    unsafe { *((stream + at) as *const usize) }
}

/// The program has read from a stream.
pub fn has_input(stream: usize, pc: usize) {
    reads(stream, 1, pc);
    let file = descriptor(stream);
    match of_stream(file) {
        OfStream::Nothing => {}
        OfStream::Descriptor => receives(file),
        OfStream::Pipe(channel) | OfStream::File(channel) => sync::acquire(channel, 0),
    }
}

/// What a stream holds goes where it belongs.
fn flushes(stream: usize, pc: usize) {
    let holds = place(stream, WRITTEN) != place(stream, UNWRITTEN);
    outputs_bytes(stream, if holds { usize::MAX } else { 0 }, pc);
}

/// A stream has been opened, if it has: its descriptor may have been another's.
fn opens(stream: usize) {
    if stream != 0
        && let Some(descriptor) = Descriptor::of(descriptor(stream))
    {
        descriptor.stream.store(0, Ordering::Relaxed);
    }
}

/// A stream is about to be closed, and its descriptor with it.
fn closes_stream(stream: usize, pc: usize) {
    flushes(stream, pc);
    closes(descriptor(stream), pc);
    writes(stream, 1, pc);
}

/// A stream is about to be opened again, for another file.
fn reopens(stream: usize, pc: usize) {
    flushes(stream, pc);
    sends_end(descriptor(stream));
}

/// The program writes to a stream, and sees to it itself that nobody else does.
fn outputs_unlocked(stream: usize, pc: usize) {
    outputs(stream, pc);
    writes(stream + WRITTEN, 8, pc);
}

fn has_input_unlocked(stream: usize, pc: usize) {
    has_input(stream, pc);
    writes(stream + READ, 8, pc);
}

fn has_line(to: usize, size: usize, stream: usize, result: usize, pc: usize) {
    has_input(stream, pc);
    writes(to, 8, pc);
    writes(size, 8, pc);
    if result as isize > 0 {
        // SAFETY: the function has left the line's address there.
        writes(unsafe { *(to as *const usize) }, result + 1, pc);
    }
}

calls! { (pc, result)
    puts(text) { reads_text(text, pc); } {};
    perror(text) { if text != 0 { reads_text(text, pc) } } {};
    fputs(text, stream) { reads_text(text, pc); outputs(stream, pc); } {};
    fputc(byte, stream) { outputs_bytes(stream, 1, pc); } {};
    putc(byte, stream) { outputs_bytes(stream, 1, pc); } {};
    fflush(stream) { if stream != 0 { flushes(stream, pc) } } {};
    fseek(stream, offset, from) { flushes(stream, pc); } {};
    fseeko(stream, offset, from) { flushes(stream, pc); } {};
    fopen(path, mode) { reads_text(path, pc); } { opens(result) };
    fopen64(path, mode) { reads_text(path, pc); } { opens(result) };
    freopen(path, mode, stream) { reopens(stream, pc); } { opens(result) };
    freopen64(path, mode, stream) { reopens(stream, pc); } { opens(result) };
    fdopen(file, mode) {} { opens(result) };
    tmpfile() {} { opens(result) };
    popen(command, mode) { reads_text(command, pc); super::process::hands_over(); } { opens(result) };
    pclose(stream) { closes_stream(stream, pc); } {};
    fclose(stream) { closes_stream(stream, pc); } {};
    fgets(to, size, stream) {} { has_input(stream, pc); if result != 0 { writes_text(to, pc) } };
    fgetc(stream) {} { has_input(stream, pc) };
    getc(stream) {} { has_input(stream, pc) };
    fread(to, size, number, stream) {} { has_input(stream, pc); writes(to, result.saturating_mul(size), pc) };
    fwrite(from, size, number, stream) {
        reads(from, number.saturating_mul(size), pc);
        outputs_bytes(stream, number.saturating_mul(size), pc);
    } {};
    putc_unlocked(byte, stream) { outputs_unlocked(stream, pc); } {};
    fputc_unlocked(byte, stream) { outputs_unlocked(stream, pc); } {};
    fputs_unlocked(text, stream) { reads_text(text, pc); outputs_unlocked(stream, pc); } {};
    fwrite_unlocked(from, size, number, stream) {
        reads(from, number.saturating_mul(size), pc);
        outputs_unlocked(stream, pc);
    } {};
    fflush_unlocked(stream) { if stream != 0 { outputs_unlocked(stream, pc) } } {};
    getc_unlocked(stream) {} { has_input_unlocked(stream, pc) };
    fgetc_unlocked(stream) {} { has_input_unlocked(stream, pc) };
    fgets_unlocked(to, size, stream) {} { has_input_unlocked(stream, pc); if result != 0 { writes_text(to, pc) } };
    fread_unlocked(to, size, number, stream) {} {
        has_input_unlocked(stream, pc);
        writes(to, result.saturating_mul(size), pc)
    };
    getline(to, size, stream) {} { has_line(to, size, stream, result, pc) };
    getdelim(to, size, end, stream) {} { has_line(to, size, stream, result, pc) };
    __getdelim(to, size, end, stream) {} { has_line(to, size, stream, result, pc) };
    flockfile(stream) {} { sync::hold(lock_of(stream), true, None, pc) };
    ftrylockfile(stream) {} { if went_well(result) { sync::hold(lock_of(stream), true, None, pc) } };
    funlockfile(stream) { sync::unhold(lock_of(stream), None, pc); } {};
    getcwd(to, size) {} { if result == to && to != 0 { writes_text(to, pc) } };
    readlink(path, to, size) { reads_text(path, pc); } { writes(to, count(result), pc) };
    realpath(path, to) { reads_text(path, pc); } { if result == to && to != 0 { writes_text(to, pc) } };
}

/// A stream's own lock, apart from what else may be at its address.
fn lock_of(stream: usize) -> usize {
    stream + 2
}
