//! The frame of a function that runs, by an address in it: whose variable lies there.
//!
//! A thread's call stack has, for each function, where it returns to and where the stack pointer is in it. The address to
//! return to lies on the stack right below the caller's part: so a search from the stack pointer upwards finds where the
//! function's frame ends. Where the stack pointer is lies what the function's last call returns to: an address of the
//! function's own code. Nothing of this costs anything before a race is found.
//!
//! The owner of the stack may be running meanwhile, and its stack may go away: memory is read with the kernel's help, and
//! what has changed in the end was not known.

use deadheat_tape::findings::{List, StackFrame};

use crate::order::thread::Frame;
use crate::platform::os;

/// How far a frame is searched for its end.
const LARGEST: usize = 64 << 20;
/// How many bytes are read at once.
const PIECE: usize = 1 << 16;
/// How many words at the stack pointer may be addresses of the function's code.
const WORDS: usize = 8;
/// How many pointers into the part of the frame that has no fixed size are told of.
const POINTERS: usize = 32;

/// The frame of a function that runs.
pub type Found = StackFrame<List<Vec<u64>>, List<Vec<(u64, u64)>>>;

/// The frame around an address, among those from `first` (the outermost) up to `end`, which another thread may be changing.
/// `budget` is how many bytes may still be read.
pub fn around(
    (first, end): (*const Frame, *const Frame),
    address: usize,
    budget: &mut usize,
) -> Option<Found> {
    let pointer = |at: *const Frame| pointer(at, address);
    // From the innermost outwards, up to the first one that was called before the address came into use.
    let mut outer = end;
    while outer > first && pointer(outer.wrapping_sub(1)) <= address {
        outer = outer.wrapping_sub(1);
    }
    let within = |at: *const Frame, budget: &mut usize| -> Option<Found> {
        if at < first || at >= end {
            return None;
        }
        let stack_pointer = pointer(at);
        // SAFETY: as above.
        let caller = unsafe { (&raw const (*at).caller).read_volatile() };
        let limit = match at > first {
            true => pointer(at.wrapping_sub(1)),
            false => stack_pointer.saturating_add(LARGEST),
        };
        let base = find(stack_pointer, limit, caller, budget)? + 8;
        Some(Found {
            base: base as u64,
            stack_pointer: stack_pointer as u64,
            caller,
            outermost: at == first,
            code: List(Vec::new()),
            pointers: List(Vec::new()),
        })
    };
    // The address lies above the stack pointer of `outer`: in its frame, unless that ends below.
    let fixed = within(outer, budget).filter(|found| (address as u64) < found.base);
    let mut found = match fixed {
        Some(found) => found,
        // Then it lies below the fixed part of the next one's.
        None => {
            let mut found = within(outer.wrapping_sub(1), budget)?;
            found.pointers = List(pointers(&found, address, budget));
            found
        }
    };
    let bottom = found.stack_pointer as usize - WORDS * 8;
    let mut words = [0_u64; WORDS];
    read(bottom, &mut words);
    let likely = words.into_iter().rev().filter(|word| *word > 4096);
    found.code = List(likely.collect());
    Some(found)
}

/// The frame of the function that none of the program's has called. The stack lies around an address.
pub fn outermost(frames: (*const Frame, *const Frame), stack: usize) -> Option<Found> {
    let (first, end) = frames;
    let lowest = (first < end).then(|| pointer(first, stack))?;
    around(frames, lowest, &mut (2 * LARGEST))
}

/// Where the stack pointer was in a function, on a stack around an address.
fn pointer(at: *const Frame, address: usize) -> usize {
    // SAFETY: frames are plain words, in memory that stays as long as the thread is registered, which the caller sees to.
    let low = unsafe { (&raw const (*at).stack_pointer).read_volatile() } as usize;
    // The hook's own return address was there.
    near(address, low) + 8
}

/// The address with this lower half that is nearest to another.
pub fn near(address: usize, low: usize) -> usize {
    let half = 1_usize << 31;
    let there = address & !(half * 2 - 1) | low;
    match there.wrapping_sub(address) as isize {
        above if above > half as isize => there - half * 2,
        below if below < -(half as isize) => there + half * 2,
        _ => there,
    }
}

/// Where a word lies between two addresses.
fn find(from: usize, to: usize, word: u64, budget: &mut usize) -> Option<usize> {
    let mut found = None;
    each(from, to, budget, |at, there| {
        found = (there == word).then_some(at);
        found.is_none()
    });
    found
}

/// Pointers in a frame to the largest thing that ends behind an address.
fn pointers(found: &Found, address: usize, budget: &mut usize) -> Vec<(u64, u64)> {
    let mut pointers = Vec::new();
    let (from, to) = (found.stack_pointer as usize, found.base as usize);
    each(from, to, budget, |at, word| {
        let into = (address.saturating_sub(LARGEST)..=address).contains(&(word as usize));
        if into {
            pointers.push((at as u64, word));
        }
        pointers.len() < POINTERS
    });
    pointers
}

/// Calls `what` with the words between two addresses, and where they lie, until it says that it is enough.
fn each(from: usize, to: usize, budget: &mut usize, mut what: impl FnMut(usize, u64) -> bool) {
    let mut words = vec![0_u64; PIECE / 8];
    let mut at = from;
    while at + 8 <= to && *budget > 0 {
        // Up to the end of a page, so that one that is not there hides nothing before it.
        let length = (PIECE - at % 4096).min(to - at) / 8;
        let length = read(at, &mut words[..length]);
        if length == 0 {
            return;
        }
        *budget = budget.saturating_sub(length * 8);
        for (index, word) in words[..length].iter().enumerate() {
            if !what(at + index * 8, *word) {
                return;
            }
        }
        at += length * 8;
    }
}

/// Reads words of this process that may not be there; says how many were.
fn read(address: usize, words: &mut [u64]) -> usize {
    let own = [words.as_mut_ptr() as usize, size_of_val(words)];
    let there = [address, size_of_val(words)];
    // SAFETY: the kernel reads two pieces' places and lengths, and writes into the slice.
    let read = unsafe {
        let pid = os::call(libc::SYS_getpid, [0; 6]) as usize;
        let arguments = [pid, own.as_ptr() as usize, 1, there.as_ptr() as usize, 1, 0];
        os::call(libc::SYS_process_vm_readv, arguments)
    };
    usize::try_from(read).unwrap_or(0) / 8
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_frame_around_an_address_ends_where_its_caller_s_begins() {
        // Three functions on a stack that grows towards lower addresses, and the places they return to.
        let stack = [const { Cell::new(0_u64) }; 64];
        let start = stack.as_ptr() as usize;
        let at = |index: usize| (start + index * 8) as u64;
        let put = |index: usize, word: u64| stack[index].set(word);
        for (index, word) in [(60, 0x9000), (40, 0x9100), (20, 0x9200)] {
            put(index, word);
        }
        // The last call of each returns to its own code.
        for (index, word) in [(47, 0x5000), (27, 0x5100)] {
            put(index, word);
        }
        // The second has a part that has no fixed size, from 22 on.
        put(35, at(22));
        let frame = |index: usize, caller| Frame::new(caller, (at(index) - 8) as usize);
        let frames = [frame(48, 0x9000), frame(28, 0x9100), frame(10, 0x9200)];
        let range = frames.as_ptr_range();
        let around =
            |index: usize| around((range.start, range.end), at(index) as usize, &mut (1 << 20));
        let outer = around(50).unwrap();
        assert_eq!(
            (outer.base, outer.caller, outer.code.0[0]),
            (at(61), 0x9000, 0x5000)
        );
        let middle = around(30).unwrap();
        assert_eq!(
            (middle.base, middle.caller, middle.code.0[0]),
            (at(41), 0x9100, 0x5100)
        );
        assert!(middle.pointers.0.is_empty());
        let open = around(24).unwrap();
        assert_eq!(
            (open.base, open.pointers.0),
            (at(41), vec![(at(35), at(22))])
        );
        assert_eq!(around(12).unwrap().base, at(21));
        let frames = (range.start, range.end);
        assert_eq!(outermost(frames, start).unwrap().base, at(61));
        assert!(outermost((range.start, range.start), start).is_none());
        assert_eq!(around(2).unwrap().caller, 0x9200);
    }

    #[test]
    fn memory_that_is_not_there_is_not_read() {
        let mut words = [7];
        assert_eq!(read(16, &mut words), 0);
        assert_eq!(find(16, 1 << 12, 7, &mut (1 << 20)), None);
    }
}
