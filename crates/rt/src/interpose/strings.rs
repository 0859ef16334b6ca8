//! Strings of C: what is read of them and written to them.

use std::ffi::c_int;

use super::memory::{reads, writes};
use super::real::real;
use crate::hooks::export;

type Text = *const u8;

fn length(text: Text) -> usize {
    // SAFETY: a string of C.
    unsafe { real!(strlen: fn(Text) -> usize)(text) }
}

fn length_up_to(text: Text, most: usize) -> usize {
    // SAFETY: a string of C, as far as it is looked at.
    unsafe { real!(strnlen: fn(Text, usize) -> usize)(text, most) }
}

/// A string is read, with its end.
fn reads_all(text: Text, pc: usize) {
    reads(text as usize, length(text) + 1, pc);
}

unsafe extern "C" fn strlen(text: Text, pc: usize) -> usize {
    let length = length(text);
    reads(text as usize, length + 1, pc);
    length
}

unsafe extern "C" fn strnlen(text: Text, most: usize, pc: usize) -> usize {
    let length = length_up_to(text, most);
    reads(text as usize, most.min(length + 1), pc);
    length
}

unsafe extern "C" fn strcpy(to: *mut u8, from: Text, pc: usize) -> *mut u8 {
    reads_all(from, pc);
    writes(to as usize, length(from) + 1, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strcpy: fn(*mut u8, Text) -> *mut u8)(to, from) }
}

unsafe extern "C" fn stpcpy(to: *mut u8, from: Text, pc: usize) -> *mut u8 {
    reads_all(from, pc);
    writes(to as usize, length(from) + 1, pc);
    // SAFETY: the program's own call.
    unsafe { real!(stpcpy: fn(*mut u8, Text) -> *mut u8)(to, from) }
}

unsafe extern "C" fn strncpy(to: *mut u8, from: Text, most: usize, pc: usize) -> *mut u8 {
    reads(from as usize, most.min(length_up_to(from, most) + 1), pc);
    writes(to as usize, most, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strncpy: fn(*mut u8, Text, usize) -> *mut u8)(to, from, most) }
}

unsafe extern "C" fn strcat(to: *mut u8, from: Text, pc: usize) -> *mut u8 {
    let end = length(to);
    reads(to as usize, end + 1, pc);
    reads_all(from, pc);
    writes(to as usize + end, length(from) + 1, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strcat: fn(*mut u8, Text) -> *mut u8)(to, from) }
}

unsafe extern "C" fn strncat(to: *mut u8, from: Text, most: usize, pc: usize) -> *mut u8 {
    let (end, more) = (length(to), length_up_to(from, most));
    reads(to as usize, end + 1, pc);
    reads(from as usize, most.min(more + 1), pc);
    writes(to as usize + end, more + 1, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strncat: fn(*mut u8, Text, usize) -> *mut u8)(to, from, most) }
}

/// What a comparison looks at: up to the first difference or the end.
fn compared(a: Text, b: Text, most: usize, fold: bool, pc: usize) {
    let mut at = 0;
    // SAFETY: strings of C, as far as they are looked at.
    unsafe {
        while at < most {
            let (mut x, mut y) = (*a.add(at), *b.add(at));
            at += 1;
            if fold {
                (x, y) = (x.to_ascii_lowercase(), y.to_ascii_lowercase());
            }
            if x != y || x == 0 {
                break;
            }
        }
    }
    reads(a as usize, at, pc);
    reads(b as usize, at, pc);
}

unsafe extern "C" fn strcmp(a: Text, b: Text, pc: usize) -> c_int {
    compared(a, b, usize::MAX, false, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strcmp: fn(Text, Text) -> c_int)(a, b) }
}

unsafe extern "C" fn strncmp(a: Text, b: Text, most: usize, pc: usize) -> c_int {
    compared(a, b, most, false, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strncmp: fn(Text, Text, usize) -> c_int)(a, b, most) }
}

unsafe extern "C" fn strcasecmp(a: Text, b: Text, pc: usize) -> c_int {
    compared(a, b, usize::MAX, true, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strcasecmp: fn(Text, Text) -> c_int)(a, b) }
}

unsafe extern "C" fn strncasecmp(a: Text, b: Text, most: usize, pc: usize) -> c_int {
    compared(a, b, most, true, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strncasecmp: fn(Text, Text, usize) -> c_int)(a, b, most) }
}

unsafe extern "C" fn strchr(text: Text, byte: c_int, pc: usize) -> Text {
    // SAFETY: the program's own call.
    let found = unsafe { real!(strchr: fn(Text, c_int) -> Text)(text, byte) };
    match found.is_null() {
        true => reads_all(text, pc),
        false => reads(text as usize, found as usize - text as usize + 1, pc),
    }
    found
}

unsafe extern "C" fn strrchr(text: Text, byte: c_int, pc: usize) -> Text {
    reads_all(text, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strrchr: fn(Text, c_int) -> Text)(text, byte) }
}

unsafe extern "C" fn strstr(text: Text, part: Text, pc: usize) -> Text {
    reads_all(text, pc);
    reads_all(part, pc);
    // SAFETY: the program's own call.
    unsafe { real!(strstr: fn(Text, Text) -> Text)(text, part) }
}

unsafe extern "C" fn strdup(text: Text, pc: usize) -> Text {
    reads_all(text, pc);
    // SAFETY: the program's own call. Its allocation comes back through `malloc`.
    unsafe { real!(strdup: fn(Text) -> Text)(text) }
}

unsafe extern "C" fn atoi(text: Text, pc: usize) -> c_int {
    reads_all(text, pc);
    // SAFETY: the program's own call.
    unsafe { real!(atoi: fn(Text) -> c_int)(text) }
}

unsafe extern "C" fn puts(text: Text, pc: usize) -> c_int {
    reads_all(text, pc);
    // SAFETY: the program's own call.
    unsafe { real!(puts: fn(Text) -> c_int)(text) }
}

unsafe extern "C" fn fputs(text: Text, stream: usize, pc: usize) -> c_int {
    reads_all(text, pc);
    // SAFETY: the program's own call.
    unsafe { real!(fputs: fn(Text, usize) -> c_int)(text, stream) }
}

unsafe extern "C" fn fgets(to: *mut u8, size: c_int, stream: usize, pc: usize) -> *mut u8 {
    // SAFETY: the program's own call.
    let result = unsafe { real!(fgets: fn(*mut u8, c_int, usize) -> *mut u8)(to, size, stream) };
    if !result.is_null() {
        writes(to as usize, length(to) + 1, pc);
    }
    result
}

unsafe extern "C" fn fread(
    to: usize,
    size: usize,
    count: usize,
    stream: usize,
    pc: usize,
) -> usize {
    // SAFETY: the program's own call.
    let result =
        unsafe { real!(fread: fn(usize, usize, usize, usize) -> usize)(to, size, count, stream) };
    writes(to, result.saturating_mul(size), pc);
    result
}

unsafe extern "C" fn fwrite(
    from: usize,
    size: usize,
    count: usize,
    stream: usize,
    pc: usize,
) -> usize {
    reads(from, count.saturating_mul(size), pc);
    // SAFETY: the program's own call.
    unsafe { real!(fwrite: fn(usize, usize, usize, usize) -> usize)(from, size, count, stream) }
}

export! {
    "strlen" 1 => strlen;
    "strnlen" 2 => strnlen;
    "strcpy" 2 => strcpy;
    "stpcpy" 2 => stpcpy;
    "strncpy" 3 => strncpy;
    "strcat" 2 => strcat;
    "strncat" 3 => strncat;
    "strcmp" 2 => strcmp;
    "strncmp" 3 => strncmp;
    "strcasecmp" 2 => strcasecmp;
    "strncasecmp" 3 => strncasecmp;
    "strchr" 2 => strchr;
    "strrchr" 2 => strrchr;
    "strstr" 2 => strstr;
    "strdup" 1 => strdup;
    "atoi" 1 => atoi;
    "puts" 1 => puts;
    "fputs" 2 => fputs;
    "fgets" 3 => fgets;
    "fread" 4 => fread;
    "fwrite" 4 => fwrite;
}
