//! Streams of C: what is read and written through them, and in which order. A stream must be open while it is used.

use super::calls::{calls, count, went_well};
use super::descriptors::{closes_stream, opens_stream, receives_stream, sends_stream};
use super::memory::{reads, writes};
use super::strings::{reads_text, writes_text};
use crate::order::sync;

/// The program writes to a stream.
pub fn outputs(stream: usize, pc: usize) {
    reads(stream, 1, pc);
    sends_stream(stream);
}

/// The program has read from a stream.
pub fn has_input(stream: usize, pc: usize) {
    reads(stream, 1, pc);
    receives_stream(stream);
}

/// Where a stream keeps how far it has been read and written. Compilers do what is short themselves, there.
const READ: usize = 8;
const WRITTEN: usize = 40;

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
    fputc(byte, stream) { outputs(stream, pc); } {};
    putc(byte, stream) { outputs(stream, pc); } {};
    fflush(stream) { if stream != 0 { outputs(stream, pc) } } {};
    fopen(path, mode) { reads_text(path, pc); } { opens_stream(result) };
    fopen64(path, mode) { reads_text(path, pc); } { opens_stream(result) };
    fdopen(file, mode) {} { opens_stream(result) };
    fclose(stream) { closes_stream(stream, pc); writes(stream, 1, pc); } {};
    fgets(to, size, stream) {} { has_input(stream, pc); if result != 0 { writes_text(to, pc) } };
    fgetc(stream) {} { has_input(stream, pc) };
    getc(stream) {} { has_input(stream, pc) };
    fread(to, size, number, stream) {} { has_input(stream, pc); writes(to, result.saturating_mul(size), pc) };
    fwrite(from, size, number, stream) { reads(from, number.saturating_mul(size), pc); outputs(stream, pc); } {};
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
