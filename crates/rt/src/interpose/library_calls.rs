//! The program's call that led into a library, which asks for something on the program's behalf: a thread, a block.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::order::thread::{Thread, local};
use crate::output::frames::near;
use crate::platform::checked::{follows_call, is_checked};
use crate::platform::modules::first_stack;

/// How far the first thread's stack may have grown to be searched.
const FIRST_STACK: usize = 8 << 20;

/// Where the running function of the program has called code at an address, if that is a library's: what a library does,
/// the program has asked it to do. The address itself if it is the program's, or the call is not known.
///
/// A call puts where it returns to below all that the function has on the stack, where the hook at its start has found
/// this to end. In a function that enlarges its part of the stack later, something else lies there: an address that follows
/// no call, or where an earlier call of the same function has returned to.
pub fn call_of_program(thread: &Thread, code: usize) -> usize {
    let local = local();
    let top = local.frame.get();
    if is_checked(code) || top == local.frames_begin.get() {
        return code;
    }
    let here = &raw const top as usize;
    // SAFETY: a frame of the running thread, which has some.
    let low = unsafe { (*top.wrapping_sub(1)).stack_pointer } as usize;
    let there = near(here, low);
    // The function may run on another stack than the library does: a signal's, a coroutine's.
    let (start, end) = stack_of(thread);
    if here < start || there <= here || there + 8 > end {
        return code;
    }
    // SAFETY: a word of the stack that is in use.
    let returns_to = unsafe { *(there as *const usize) };
    match follows_call(returns_to) {
        true => returns_to,
        false => code,
    }
}

/// Where a thread's stack is.
fn stack_of(thread: &Thread) -> (usize, usize) {
    if thread.id != 0 || thread.stack.1 != 0 {
        return thread.stack;
    }
    // The first thread's grows as it is used. Nobody has asked where it ends if this is 0.
    static END: AtomicUsize = AtomicUsize::new(0);
    let end = match END.load(Ordering::Relaxed) {
        0 => first_stack().map_or(1, |(_, end)| end),
        end => end,
    };
    END.store(end, Ordering::Relaxed);
    (end.saturating_sub(FIRST_STACK), end)
}
