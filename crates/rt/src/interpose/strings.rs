//! Strings of C: what is read of them and written to them.

use super::calls::calls;
use super::memory::{reads, writes};
use super::real::real;
use crate::hooks::export;

/// How long a string is, without its end.
pub fn length(text: usize) -> usize {
    // SAFETY: a string of C.
    unsafe { real!(strlen: fn(usize) -> usize)(text) }
}

fn length_up_to(text: usize, most: usize) -> usize {
    // SAFETY: a string of C, as far as it is looked at.
    unsafe { real!(strnlen: fn(usize, usize) -> usize)(text, most) }
}

/// A string is read, with its end. Nothing is, if there is none: by that some find out what the kernel can do.
pub fn reads_text(text: usize, pc: usize) {
    if text != 0 {
        reads(text, length(text) + 1, pc);
    }
}

/// No more than so many bytes of a string are read.
pub fn reads_text_up_to(text: usize, most: usize, pc: usize) {
    reads(
        text,
        most.min(length_up_to(text, most).saturating_add(1)),
        pc,
    );
}

/// A string has been written, with its end.
pub fn writes_text(text: usize, pc: usize) {
    writes(text, length(text) + 1, pc);
}

/// A string is read up to where something was found, or all of it.
fn reads_up_to(text: usize, found: usize, pc: usize) {
    match found {
        0 => reads_text(text, pc),
        _ => reads(text, found - text + 1, pc),
    }
}

fn copies(to: usize, from: usize, pc: usize) {
    reads_text(from, pc);
    writes(to, length(from) + 1, pc);
}

/// What a comparison looks at: up to the first difference or the end.
fn compares(a: usize, b: usize, most: usize, fold: bool, pc: usize) {
    let mut at = 0;
    while at < most {
        // SAFETY: strings of C, as far as they are looked at.
        let (mut x, mut y) = unsafe { (*((a + at) as *const u8), *((b + at) as *const u8)) };
        at += 1;
        if fold {
            (x, y) = (x.to_ascii_lowercase(), y.to_ascii_lowercase());
        }
        if x != y || x == 0 {
            break;
        }
    }
    reads(a, at, pc);
    reads(b, at, pc);
}

calls! { (pc, result)
    strlen(text) {} { reads(text, result + 1, pc) };
    strnlen(text, most) {} { reads(text, most.min(result + 1), pc) };
    strcpy(to, from) { copies(to, from, pc); } {};
    stpcpy(to, from) { copies(to, from, pc); } {};
    strncpy(to, from, most) { reads_text_up_to(from, most, pc); writes(to, most, pc); } {};
    stpncpy(to, from, most) { reads_text_up_to(from, most, pc); writes(to, most, pc); } {};
    strcat(to, from) { reads_text(to, pc); copies(to + length(to), from, pc); } {};
    strncat(to, from, most) {
        reads_text(to, pc);
        reads_text_up_to(from, most, pc);
        writes(to + length(to), length_up_to(from, most) + 1, pc);
    } {};
    strcmp(a, b) { compares(a, b, usize::MAX, false, pc); } {};
    strcoll(a, b) { reads_text(a, pc); reads_text(b, pc); } {};
    strncmp(a, b, most) { compares(a, b, most, false, pc); } {};
    strcasecmp(a, b) { compares(a, b, usize::MAX, true, pc); } {};
    strncasecmp(a, b, most) { compares(a, b, most, true, pc); } {};
    strchr(text, byte) {} { reads_up_to(text, result, pc) };
    strchrnul(text, byte) {} { reads_up_to(text, result, pc) };
    strrchr(text, byte) { reads_text(text, pc); } {};
    strstr(text, part) { reads_text(text, pc); reads_text(part, pc); } {};
    strcasestr(text, part) { reads_text(text, pc); reads_text(part, pc); } {};
    strspn(text, set) { reads_text(set, pc); } { reads(text, result + 1, pc) };
    strcspn(text, set) { reads_text(set, pc); } { reads(text, result + 1, pc) };
    strpbrk(text, set) { reads_text(set, pc); } { reads_up_to(text, result, pc) };
    strdup(text) { reads_text(text, pc); } {};
    strndup(text, most) { reads_text_up_to(text, most, pc); } {};
    __strdup(text) { reads_text(text, pc); } {};
    __strndup(text, most) { reads_text_up_to(text, most, pc); } {};
    strxfrm(to, from, most) { reads_text(from, pc); } { writes(to, most.min(result + 1), pc) };
    strtok_r(text, set, rest) { reads_text(set, pc); } { token(result, rest, pc) };
    __strtok_r(text, set, rest) { reads_text(set, pc); } { token(result, rest, pc) };
    strsep(text, set) { reads_text(set, pc); writes(text, 8, pc); } {
        if result != 0 {
            // SAFETY: the function has left the address of the rest there.
            let more = unsafe { *(text as *const usize) } != 0;
            reads_text(result, pc);
            writes(result + length(result), usize::from(more), pc);
        }
    };
}

/// A token has been cut off a string, of which the rest begins where `rest` says.
fn token(token: usize, rest: usize, pc: usize) {
    writes(rest, 8, pc);
    if token != 0 {
        let end = token + length(token);
        reads(token, end - token + 1, pc);
        // SAFETY: the function has left the address of the rest there.
        let cut = unsafe { *(rest as *const usize) } != end;
        writes(end, usize::from(cut), pc);
    }
}

/// Where the next call of `strtok` goes on, for all threads.
#[unsafe(export_name = "strtok's position")]
static mut POSITION: usize = 0;

unsafe extern "C" fn strtok(text: usize, set: usize, pc: usize) -> usize {
    let position = &raw mut POSITION as usize;
    // SAFETY: as the program would call it with a position of its own.
    unsafe { strtok_r(text, set, position, pc) }
}

export! {
    "strtok" 2 => strtok;
}

/// Functions that read a number from the beginning of a text and tell where it ends.
macro_rules! numbers {
    ($($name:ident($($base:ident)?) $result:ty;)*) => {
        $(
            unsafe extern "C" fn $name(text: usize, end: *mut usize, $($base: i32,)? pc: usize) -> $result {
                let mut own_end = 0;
                let at = if end.is_null() { &raw mut own_end } else { end };
                // SAFETY: the program's own call; where it does not want to know the end, we do.
                unsafe {
                    let result = real!($name: fn(usize, *mut usize $(, number!($base))?) -> $result)(text, at $(, $base)?);
                    reads(text, *at - text + 1, pc);
                    if !end.is_null() {
                        writes(end as usize, 8, pc);
                    }
                    result
                }
            }
            numbers!(@export $name $($base)?);
        )*
    };
    (@export $name:ident $base:ident) => { $crate::hooks::export_one!(stringify!($name), 3, $name); };
    (@export $name:ident) => { $crate::hooks::export_one!(stringify!($name), 2, $name); };
}

macro_rules! number {
    ($base:ident) => {
        i32
    };
}

numbers! {
    strtol(base) usize;
    strtoul(base) usize;
    strtoll(base) usize;
    strtoull(base) usize;
    strtoimax(base) usize;
    strtoumax(base) usize;
    __isoc23_strtol(base) usize;
    __isoc23_strtoul(base) usize;
    __isoc23_strtoll(base) usize;
    __isoc23_strtoull(base) usize;
    __isoc23_strtoimax(base) usize;
    __isoc23_strtoumax(base) usize;
    strtod() f64;
    strtof() f32;
}

unsafe extern "C" fn atoi(text: usize, pc: usize) -> usize {
    // SAFETY: the program's own call, as the C library defines it.
    unsafe { strtol(text, std::ptr::null_mut(), 10, pc) }
}

unsafe extern "C" fn atof(text: usize, pc: usize) -> f64 {
    // SAFETY: as above.
    unsafe { strtod(text, std::ptr::null_mut(), pc) }
}

export! {
    "atoi" 1 => atoi;
    "atol" 1 => atoi;
    "atoll" 1 => atoi;
    "atof" 1 => atof;
}
