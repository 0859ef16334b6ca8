//! File descriptors: what goes through a pipe or a socket orders whoever wrote it and whoever reads it.
//!
//! `poll`, `select` and `epoll` tell of what has come, and order as reading it does. Through a descriptor of signals comes what
//! their senders did. [`vectors`](super::vectors) has what is read and written in pieces.
//!
//! Each pipe, socket pair or event counter has a channel for both its ends; all sockets that are connected in
//! other ways share one, and all files another. Standard input, output and error order nothing.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_long, c_uint};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::calls::{calls, went_well};
use super::memory::{forget, reads, writes};
use super::processes::{has_locked_file, has_signal, unlocks_file};
use super::real::real;
use crate::hooks::export;
use crate::order::sync;
use crate::order::thread::enter;
use crate::platform::os::{self, Spin};

const MANY: usize = 1 << 16;
/// Which channel a descriptor has: 0 that of all files, 1 that of all sockets, else its own.
#[unsafe(export_name = "file descriptor")]
static CHANNELS: [AtomicU32; MANY] = [const { AtomicU32::new(0) }; MANY];
static NEXT: AtomicU32 = AtomicU32::new(2);
/// The channel of all files, for what is not one: whoever uses it as a stream sends and receives, too.
const LIKE_A_PIPE: u32 = MANY as u32;
/// The signals that come through a descriptor, as the kernel has them.
static SIGNALS: [AtomicU64; MANY] = [const { AtomicU64::new(0) }; MANY];

/// What a table has for a descriptor.
fn of<T>(table: &'static [T], file: c_int) -> Option<&'static T> {
    table.get(usize::try_from(file).ok()?)
}

fn channel(file: c_int) -> Option<usize> {
    let file = usize::try_from(file)
        .ok()
        .filter(|file| (3..MANY).contains(file))?;
    // The table's own addresses stand for the channels: nobody else synchronises there.
    let number = CHANNELS[file].load(Ordering::Relaxed) as usize % MANY;
    Some(std::ptr::from_ref(&CHANNELS[number]) as usize)
}

/// A descriptor must stay open while it is used: what stands for it is read.
pub fn uses(file: c_int, pc: usize) {
    if let Some(entry) = entry(file) {
        reads(std::ptr::from_ref(entry) as usize, 4, pc);
    }
}

fn entry(file: c_int) -> Option<&'static AtomicU32> {
    of(&CHANNELS, file).filter(|_| file >= 3)
}

/// A descriptor is about to be closed: nobody may use it meanwhile. Who gets its number next knows nothing of that.
pub fn closes(file: c_int, pc: usize) {
    sends(file);
    set(file, 0);
    if let Some(entry) = entry(file) {
        let address = std::ptr::from_ref(entry) as usize;
        writes(address, 4, pc);
        forget(address, 4);
    }
}

fn set(file: c_int, number: u32) {
    if let (Some(entry), Some(signals)) = (of(&CHANNELS, file), of(&SIGNALS, file)) {
        entry.store(number, Ordering::Relaxed);
        signals.store(0, Ordering::Relaxed);
    }
}

fn number(file: c_int) -> u32 {
    of(&CHANNELS, file).map_or(0, |entry| entry.load(Ordering::Relaxed))
}

/// What the thread has done happens before what follows a read of what is written now.
pub fn sends(file: c_int) {
    if let Some(channel) = channel(file) {
        sync::release_more(channel, 0);
    }
}

/// Something has come through a descriptor: whoever sent it comes before.
pub fn receives(file: c_int) {
    if let Some(channel) = channel(file) {
        sync::acquire(channel, 0);
    }
    let signals = of(&SIGNALS, file).map_or(0, |signals| signals.load(Ordering::Relaxed));
    (1..=64)
        .filter(|signal| signals >> (signal - 1) & 1 != 0)
        .for_each(|signal| has_signal(signal, 0));
}

/// The descriptor of a stream, if it has a channel of its own: the order of all files is not that of their streams.
fn own_channel(stream: usize) -> Option<c_int> {
    // SAFETY: a stream that the program uses.
    let file = unsafe { real!(fileno: fn(usize) -> c_int)(stream) };
    (number(file) != 0).then_some(file)
}

/// A stream has been opened, if it has. A pipe with a name is not known as one yet.
pub fn opens_stream(stream: usize) {
    if stream == 0 {
        return;
    }
    // SAFETY: a stream that the C library has opened; the kernel fills in what it is given.
    unsafe {
        let file = real!(fileno: fn(usize) -> c_int)(stream);
        let mut status: libc::stat = std::mem::zeroed();
        let fstat = real!(fstat: fn(c_int, *mut libc::stat) -> c_int);
        if number(file) == 0
            && fstat(file, &mut status) == 0
            && status.st_mode & libc::S_IFMT == libc::S_IFIFO
        {
            set(file, LIKE_A_PIPE);
        }
    }
}

/// As [`sends`], through a stream.
pub fn sends_stream(stream: usize) {
    if let Some(file) = own_channel(stream) {
        sends(file);
    }
}

/// A stream is about to be closed, and its descriptor with it.
pub fn closes_stream(stream: usize, pc: usize) {
    // SAFETY: a stream that the program uses.
    closes(unsafe { real!(fileno: fn(usize) -> c_int)(stream) }, pc);
}

/// Something has come through a stream.
pub fn receives_stream(stream: usize) {
    if let Some(file) = own_channel(stream) {
        receives(file);
    }
}

/// Two descriptors are the ends of one channel, if the call went well.
fn pair(ends: usize, result: usize, pc: usize) {
    if !went_well(result) {
        return;
    }
    writes(ends, 2 * size_of::<c_int>(), pc);
    let ends = ends as *const c_int;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the C library has written two descriptors.
    unsafe {
        set(*ends, number);
        set(*ends.add(1), number);
    }
}

/// A call has read from a descriptor what its result says.
fn got(file: usize, to: usize, result: usize, pc: usize) {
    match result as isize {
        0 => ended(file as c_int),
        1.. => {
            receives(file as c_int);
            writes(to, result, pc);
        }
        _ => {}
    }
}

/// A call is about to write to a descriptor.
fn puts(file: usize, from: usize, size: usize, pc: usize) {
    uses(file as c_int, pc);
    reads(from, size, pc);
    sends(file as c_int);
}

/// Somebody has connected.
fn has_accepted(file: usize, result: usize) {
    receives(file as c_int);
    set(result as c_int, 1);
}

/// There is nothing more to come: whoever closed the other end comes before. The end of a file says nothing.
pub fn ended(file: c_int) {
    if number(file) != 0 {
        receives(file);
    }
}

/// One descriptor is another name for what is behind another.
fn same(old: usize, new: usize) {
    let (old, new) = (old as c_int, new as c_int);
    set(new, number(old));
    if let (Some(from), Some(to)) = (of(&SIGNALS, old), of(&SIGNALS, new)) {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// A descriptor of signals, or new signals for one.
fn has_signals(file: c_int, signals: usize) {
    set(file, NEXT.fetch_add(1, Ordering::Relaxed));
    if let Some(entry) = of(&SIGNALS, file) {
        // SAFETY: the program's own set, of which the kernel has read this word.
        entry.store(unsafe { *(signals as *const u64) }, Ordering::Relaxed);
    }
}

/// What comes through one descriptor goes on through another, inside of the kernel and at any time from now: both have one
/// channel from then on.
fn flows(from: c_int, to: c_int) {
    let (one, other) = (number(from), number(to));
    if one > 1 && other > 1 && one != other {
        for entry in &CHANNELS {
            let _ = entry.compare_exchange(other, one, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
    sends(to);
}

unsafe extern "C" fn close(file: c_int, pc: usize) -> c_int {
    if os::own_files().any(|own| own == file) {
        // For the program, it is not open.
        // SAFETY: the thread's own.
        unsafe { *libc::__errno_location() = libc::EBADF };
        return -1;
    }
    closes(file, pc);
    // SAFETY: the program's own call.
    unsafe { real!(close: fn(c_int) -> c_int)(file) }
}

/// Descriptors from one to another are closed, but for the runtime's own.
unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int, pc: usize) -> c_int {
    let own = |file: &c_uint| os::own_files().any(|own| own as c_uint == *file);
    if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 {
        // Of files, nothing is known that a new one of the same number should not have.
        (first..=last.min(MANY as c_uint - 1))
            .filter(|file| number(*file as c_int) != 0 && !own(file))
            .for_each(|file| closes(file as c_int, pc));
    }
    let mut from = first;
    // SAFETY: the program's own call, in parts.
    unsafe {
        let close_range = real!(close_range: fn(c_uint, c_uint, c_int) -> c_int);
        while let Some(own) = os::own_files()
            .map(|own| own as c_uint)
            .filter(|own| (from..=last).contains(own))
            .min()
        {
            if from < own && close_range(from, own - 1, flags) != 0 {
                return -1;
            }
            from = own + 1;
        }
        match from > last && first <= last {
            true => 0,
            false => close_range(from, last, flags),
        }
    }
}

unsafe extern "C" fn closefrom(first: c_int, pc: usize) {
    // SAFETY: the program's own call, by another name.
    unsafe { close_range(first.max(0) as c_uint, c_uint::MAX, 0, pc) };
}

/// A program is about to close a descriptor by a system call of its own.
extern "C" fn before_close(file: c_long, pc: usize) {
    closes(file as c_int, pc);
}

extern "C" fn after_close(_result: c_long, _file: c_long) {}

/// What each descriptor of `epoll` waits for: the descriptors that were added with this data.
static WATCHED: (Spin, Watched) = (Spin::new(), Watched(UnsafeCell::new(None)));

#[derive(Default)]
struct Watches {
    /// By descriptor of `epoll` and data.
    files: FxHashMap<(c_int, u64), Vec<c_int>>,
    /// The data that a descriptor of `epoll` has for a file.
    data: FxHashMap<(c_int, c_int), u64>,
}

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
    WATCHED.0.reset();
}

struct Watched(UnsafeCell<Option<Watches>>);

// SAFETY: only touched with the lock held.
unsafe impl Sync for Watched {}

fn watched<T>(what: impl FnOnce(&mut Watches) -> T) -> Option<T> {
    let _entered = enter()?;
    let _guard = WATCHED.0.lock();
    // SAFETY: the lock is held.
    Some(what(
        unsafe { &mut *WATCHED.1.0.get() }.get_or_insert_default(),
    ))
}

/// An event of `epoll`, as the kernel has it.
#[repr(C, packed)]
struct Event {
    what: u32,
    data: u64,
}

unsafe extern "C" fn epoll_ctl(
    poll: c_int,
    what: c_int,
    file: c_int,
    event: *const Event,
) -> c_int {
    sends(poll);
    // SAFETY: the program's own call.
    let result = unsafe {
        real!(epoll_ctl: fn(c_int, c_int, c_int, *const Event) -> c_int)(poll, what, file, event)
    };
    if result == 0 {
        watched(|watches| match what {
            libc::EPOLL_CTL_DEL => watches.remove(poll, file),
            // SAFETY: an event that the kernel has read.
            _ => watches.add(poll, file, unsafe { (*event).data }),
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
        receives(poll);
        // SAFETY: the kernel has written so many.
        let data = unsafe { (*(events as *const Event).add(index)).data };
        let files = watched(|watches| watches.files.get(&(poll, data)).cloned());
        files.flatten().into_iter().flatten().for_each(receives);
    }
}

/// Something can be read from these descriptors, or is otherwise worth knowing.
fn are_ready(files: usize, number: usize, result: usize, pc: usize) {
    reads(files, number.saturating_mul(size_of::<libc::pollfd>()), pc);
    if result as c_int > 0 {
        for index in 0..number {
            // SAFETY: the program's own list.
            let file = unsafe { &*(files as *const libc::pollfd).add(index) };
            if file.revents != 0 {
                receives(file.fd);
                writes(&raw const file.revents as usize, 2, pc);
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
    read(file, to, size) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    pread(file, to, size, offset) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    pread64(file, to, size, offset) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    recv(file, to, size, flags) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    recvfrom(file, to, size, flags, address, length) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    mq_receive(queue, to, size, priority) {} { got(queue, to, result, pc) };
    mq_timedreceive(queue, to, size, priority, time) {} { got(queue, to, result, pc) };
    write(file, from, size) { puts(file, from, size, pc) } {};
    pwrite(file, from, size, offset) { puts(file, from, size, pc) } {};
    pwrite64(file, from, size, offset) { puts(file, from, size, pc) } {};
    send(file, from, size, flags) { puts(file, from, size, pc) } {};
    sendto(file, from, size, flags, address, length) { puts(file, from, size, pc) } {};
    mq_send(queue, from, size, priority) { reads(from, size, pc); sends(queue as c_int) } {};
    mq_timedsend(queue, from, size, priority, time) { reads(from, size, pc); sends(queue as c_int) } {};
    sendfile(to, from, offset, size) { sends(to as c_int) } { receives(from as c_int) };
    splice(from, at, to, there, size, flags) { flows(from as c_int, to as c_int) } { receives(from as c_int) };
    tee(from, to, size, flags) { flows(from as c_int, to as c_int) } { receives(from as c_int) };

    pipe(ends) {} { pair(ends, result, pc) };
    pipe2(ends, flags) {} { pair(ends, result, pc) };
    socketpair(domain, kind, protocol, ends) {} { pair(ends, result, pc) };
    socket(domain, kind, protocol) {} { set(result as c_int, 1) };
    connect(file, address, length) { sends(file as c_int) } {};
    accept(file, address, length) {} { has_accepted(file, result) };
    accept4(file, address, length, flags) {} { has_accepted(file, result) };
    shutdown(file, how) { sends(file as c_int) } {};
    eventfd(value, flags) {} { set(result as c_int, NEXT.fetch_add(1, Ordering::Relaxed)) };
    eventfd_write(file, value) { sends(file as c_int) } {};
    eventfd_read(file, value) {} { got(file, value, if went_well(result) { 8 } else { usize::MAX }, pc) };
    signalfd(file, signals, flags) {} { has_signals(result as c_int, signals) };
    timerfd_settime(file, flags, new, old) { sends(file as c_int) } {};
    dup(file) {} { same(file, result) };
    dup2(file, new) { if new as c_int != file as c_int { closes(new as c_int, pc) } } { same(file, result) };
    dup3(file, new, flags) {} { same(file, result) };
    fcntl(file, what, more) { controls(file, what, more, pc); } { has_controlled(file, what, more, result, pc) };
    fcntl64(file, what, more) { controls(file, what, more, pc); } { has_controlled(file, what, more, result, pc) };
}

/// What is about to be done to a lock on a file, if this is about one that belongs to the descriptor.
fn lock(what: usize, more: usize) -> Option<c_int> {
    // SAFETY: the program's own lock.
    [libc::F_OFD_SETLK, libc::F_OFD_SETLKW]
        .contains(&(what as c_int))
        .then(|| c_int::from(unsafe { (*(more as *const libc::flock)).l_type }))
}

fn controls(file: usize, what: usize, more: usize, pc: usize) {
    if lock(what, more) == Some(libc::F_UNLCK) {
        unlocks_file(file, pc);
    }
}

fn has_controlled(file: usize, what: usize, more: usize, result: usize, pc: usize) {
    if [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&(what as c_int)) {
        same(file, result);
    } else if went_well(result) && lock(what, more).is_some_and(|what| what != libc::F_UNLCK) {
        has_locked_file(file, pc);
    }
}

export! {
    "close" 1 => close;
    "close_range" 3 => close_range;
    "closefrom" 1 => closefrom;
    "__sanitizer_syscall_pre_impl_close" 1 => before_close;
    "__sanitizer_syscall_post_impl_close" plain => after_close;
    "epoll_ctl" plain => epoll_ctl;
}
