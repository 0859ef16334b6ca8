//! Wide strings and memory in wide characters.

use super::calls::{calls, count};
use super::memory::{reads, touch2, writes};
use super::real::real;
use super::strings::reads_text;

const WIDE: usize = 4;

/// How many bytes a wide string takes, with its end.
fn size(text: usize) -> usize {
    // SAFETY: a wide string.
    let length = unsafe { real!(wcslen: fn(usize) -> usize)(text) };
    (length + 1) * WIDE
}

fn size_up_to(text: usize, most: usize) -> usize {
    // SAFETY: a wide string, as far as it is looked at.
    let length = unsafe { real!(wcsnlen: fn(usize, usize) -> usize)(text, most) };
    most.min(length + 1) * WIDE
}

/// What a comparison looks at: up to the first difference, or the end if that counts.
fn compares(a: usize, b: usize, most: usize, ends: bool, pc: usize) {
    let mut at = 0;
    while at < most {
        // SAFETY: wide strings, as far as they are looked at.
        let (x, y) = unsafe { (*(a as *const u32).add(at), *(b as *const u32).add(at)) };
        at += 1;
        if x != y || ends && x == 0 {
            break;
        }
    }
    reads(a, at * WIDE, pc);
    reads(b, at * WIDE, pc);
}

calls! { (pc, result)
    wcslen(text) {} { reads(text, (result + 1) * WIDE, pc) };
    wcsnlen(text, most) {} { reads(text, most.min(result + 1) * WIDE, pc) };
    wcscpy(to, from) { touch2(to, from, size(from), pc); } {};
    wcsncpy(to, from, most) { reads(from, size_up_to(from, most), pc); writes(to, most * WIDE, pc); } {};
    wcscat(to, from) { reads(to, size(to), pc); touch2(to + size(to) - WIDE, from, size(from), pc); } {};
    wcscmp(a, b) { compares(a, b, usize::MAX, true, pc); } {};
    wcsncmp(a, b, most) { compares(a, b, most, true, pc); } {};
    wcschr(text, what) {} {
        match result {
            0 => reads(text, size(text), pc),
            _ => reads(text, result - text + WIDE, pc),
        }
    };
    wcsrchr(text, what) { reads(text, size(text), pc); } {};
    wcsstr(text, part) { reads(text, size(text), pc); reads(part, size(part), pc); } {};
    wcsdup(text) { reads(text, size(text), pc); } {};
    wmemcpy(to, from, number) { touch2(to, from, number * WIDE, pc); } {};
    wmemmove(to, from, number) { touch2(to, from, number * WIDE, pc); } {};
    wmemset(to, what, number) { writes(to, number * WIDE, pc); } {};
    wmemcmp(a, b, number) { compares(a, b, number, false, pc); } {};
    mbstowcs(to, from, most) { reads_text(from, pc); } {
        if to != 0 { writes(to, most.min(count(result).saturating_add(1)) * WIDE, pc) }
    };
    wcstombs(to, from, most) { reads(from, size(from), pc); } {
        if to != 0 { writes(to, most.min(count(result).saturating_add(1)), pc) }
    };
}
