//! Memory that means something else to one strand than to the next: stacks and what the runtime of OpenMP hands out.
//!
//! A thread runs one task on the stack of another. What lies below the stack pointer when a task begins, ends or goes
//! on was left there by calls that have returned: the next ones find other variables at the same addresses, and
//! what is known of these is forgotten. How far down that reaches is noted when the shadow comes to know an address of
//! the running thread's stack, and when a task is created, which may tell others where its creator's variables are.

use super::notes;
use crate::check::histories::UNCHECKED;
use crate::order::thread::Thread;
use crate::output::recording::{self, NewMemory};
use crate::platform::world::world;
use std::sync::atomic::Ordering;

/// What the runtime says of where a task's frames are on the stack.
#[derive(Debug)]
#[repr(C)]
pub struct Frame {
    /// Where the runtime has called the task's code.
    pub exit: usize,
    /// Where the task's code has called the runtime.
    pub enter: usize,
    flags: [i32; 2],
}

/// How far below the stack pointer a function without calls of its own may use the stack.
const RED_ZONE: usize = 128;

impl Thread {
    /// A task is created with the stack pointer here.
    pub fn note_stack(&mut self, pointer: usize) {
        if (self.stack.0..self.stack.1).contains(&pointer) {
            self.lowest = self.lowest.min(pointer);
        }
    }

    /// What lies below here on its stack is used anew: another task begins or goes on there, or another piece of a loop.
    pub fn forget_stack(&mut self, pointer: usize) {
        let end = pointer & !7;
        if (self.stack.0..self.stack.1).contains(&end) && self.lowest < end {
            let from = self.lowest.saturating_sub(RED_ZONE).max(self.stack.0) & !7;
            match recording::on() {
                true => notes::memory(from, end - from, NewMemory::Stack),
                false => world().shadow.clear(from, end),
            }
            self.lowest = end;
        }
    }
}

/// Memory is handed out that was something else before.
pub fn renew(address: usize, size: usize) {
    if address == 0 || size == 0 {
        return;
    }
    match recording::on() {
        true => notes::memory(address, size, NewMemory::Runtime),
        false => world()
            .shadow
            .clear(address & !7, (address + size).next_multiple_of(8)),
    }
}

/// Each thread has its own memory here, whatever task it runs.
pub fn leave_unchecked(address: usize, size: usize) {
    if recording::on() {
        return notes::memory(address, size, NewMemory::Unchecked);
    }
    for word in (address & !7..address + size).step_by(8) {
        let cell = world().shadow.cell(word);
        world().shadow.note(cell);
        cell.store(UNCHECKED, Ordering::Release);
    }
}
