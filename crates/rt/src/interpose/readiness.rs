//! Waiting until something can be read: `poll`, `select` and `epoll` tell of what has come, and order as reading it does. That
//! there is room to write tells nothing.

use std::ffi::c_int;

use rustc_hash::FxHashMap;

use super::calls::calls;
use super::memory::{reads, writes};
use super::open_files::{Flow, receives, receives_out_of, sends_into};
use super::real::real;
use crate::hooks::export;
use crate::order::thread::enter;
use crate::platform::table::Table;

/// What each descriptor of `epoll` waits for.
#[derive(Default)]
struct Watches {
    /// The descriptors that were added with this data, by that of `epoll`.
    files: FxHashMap<(c_int, u64), Vec<c_int>>,
    /// The data that a descriptor of `epoll` has for a file.
    data: FxHashMap<(c_int, c_int), u64>,
}

static WATCHES: Table<Watches> = Table::new();

impl Watches {
    fn remove(&mut self, poll: c_int, file: c_int) {
        if let Some(data) = self.data.remove(&(poll, file))
            && let Some(files) = self.files.get_mut(&(poll, data))
        {
            files.retain(|watched| *watched != file);
        }
    }

    fn add(&mut self, poll: c_int, file: c_int, data: u64) {
        self.remove(poll, file);
        self.data.insert((poll, file), data);
        self.files.entry((poll, data)).or_default().push(file);
    }
}

/// In a forked child, whose only thread holds no lock.
pub fn reset_locks() {
    WATCHES.reset_lock();
}

/// An event of `epoll`, as the kernel has it.
#[repr(C, packed)]
struct Event {
    what: u32,
    data: u64,
}

/// Whether what is ready says that something has come, or that nothing will.
fn has_come(events: u32) -> bool {
    const COME: c_int =
        libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLRDHUP;
    events & COME as u32 != 0
}

unsafe extern "C" fn epoll_ctl(
    poll: c_int,
    what: c_int,
    file: c_int,
    event: *const Event,
) -> c_int {
    // The kernel may tell of the file before the call returns.
    let added = what != libc::EPOLL_CTL_DEL && !event.is_null();
    let before = enter().and_then(|_entered| {
        WATCHES.with(|watches| {
            let before = watches.data.get(&(poll, file)).copied();
            if added {
                // SAFETY: the program's own event.
                watches.add(poll, file, unsafe { (*event).data });
            }
            before
        })
    });
    sends_into(Flow::Watch { poll, file });
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(epoll_ctl: fn(c_int, c_int, c_int, *const Event) -> c_int)(poll, what, file, event)
    };
    if let Some(_entered) = enter() {
        WATCHES.with(|watches| match before {
            Some(data) if added && result != 0 => watches.add(poll, file, data),
            _ if added == (result != 0) => watches.remove(poll, file),
            _ => {}
        });
    }
    result
}

/// Events have come: whoever made them comes before.
fn has_events(poll: usize, events: usize, number: usize, pc: usize) {
    let (poll, number) = (poll as c_int, number as c_int);
    let number = usize::try_from(number).unwrap_or(0);
    writes(events, number * size_of::<Event>(), pc);
    for index in 0..number {
        // SAFETY: the kernel has written so many.
        let event = unsafe { (events as *const Event).add(index).read_unaligned() };
        let (what, data) = (event.what, event.data);
        let mut next = 0;
        while let Some(file) = watched(poll, data, next) {
            next += 1;
            receives_out_of(Flow::Watch { poll, file });
            if has_come(what) {
                receives(file);
            }
        }
    }
}

/// One of the descriptors that were added with some data, by its place.
fn watched(poll: c_int, data: u64, place: usize) -> Option<c_int> {
    let _entered = enter()?;
    WATCHES.with(|watches| watches.files.get(&(poll, data))?.get(place).copied())
}

/// Something can be read from these descriptors, or is otherwise worth knowing.
fn are_ready(files: usize, number: usize, result: usize, pc: usize) {
    reads(files, number.saturating_mul(size_of::<libc::pollfd>()), pc);
    if result as c_int > 0 {
        for index in 0..number {
            // SAFETY: the program's own list.
            let file = unsafe { &*(files as *const libc::pollfd).add(index) };
            if file.revents != 0 {
                writes(&raw const file.revents as usize, 2, pc);
            }
            if has_come(file.revents as u16 as u32) {
                receives(file.fd);
            }
        }
    }
}

/// As [`are_ready`], for a set of descriptors below a number.
fn are_readable(number: usize, set: usize, result: usize, pc: usize) {
    if result as c_int > 0 && set != 0 {
        let number = (number as c_int).clamp(0, libc::FD_SETSIZE as c_int);
        writes(set, (number as usize).div_ceil(64) * 8, pc);
        for file in 0..number {
            // SAFETY: the program's own set.
            if unsafe { libc::FD_ISSET(file, set as *const libc::fd_set) } {
                receives(file);
            }
        }
    }
}

calls! { (pc, result)
    epoll_wait(poll, events, most, time) {} { has_events(poll, events, result, pc) };
    epoll_pwait(poll, events, most, time, mask) {} { has_events(poll, events, result, pc) };
    epoll_pwait2(poll, events, most, time, mask) {} { has_events(poll, events, result, pc) };
    poll(files, number, time) {} { are_ready(files, number, result, pc) };
    ppoll(files, number, time, mask) {} { are_ready(files, number, result, pc) };
    select(number, readable, writable, special, time) {} { are_readable(number, readable, result, pc) };
    pselect(number, readable, writable, special, time, mask) {} { are_readable(number, readable, result, pc) };
}

export! {
    "epoll_ctl" plain => epoll_ctl;
}
