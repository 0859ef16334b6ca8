//! File descriptors: their numbers, and what is read and written through them.
//!
//! Whoever uses a descriptor reads what stands for its number, and whoever closes it or puts another file in its place writes
//! it: a descriptor must stay what it is while it is used. [`open_files`](super::open_files) says what order goes through
//! it, [`vectors`](super::vectors) has what is read and written in pieces, [`readiness`](super::readiness) what waits.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::calls::{calls, went_well};
use super::memory::{forget, reads, writes};
use super::open_files::{
    Flow, behind, ended, flows, receives, receives_from, sends, sends_end, sends_to,
};
use super::processes::{has_locked_file, unlocks_file};
use super::real::real;
use super::sockets::Address;
use crate::hooks::export;
use crate::platform::os;

/// How many descriptors are known by their numbers.
const MANY: usize = 1 << 16;

/// What is known of a number. A word of the shadow for each: what is forgotten of one is not about its neighbours.
#[repr(C, align(8))]
pub struct Descriptor {
    /// Which of the things that have no name of their own it stands for, once somebody has asked.
    number: AtomicU32,
    /// How a stream with this descriptor orders, as [`of_stream`](super::open_files::of_stream) knows it. 0: not known.
    pub stream: AtomicU32,
}

#[unsafe(export_name = "file descriptor")]
static DESCRIPTORS: [Descriptor; MANY] = [const {
    Descriptor {
        number: AtomicU32::new(0),
        stream: AtomicU32::new(0),
    }
}; MANY];
/// The next number of something without a name.
static NEXT: AtomicU32 = AtomicU32::new(1);
/// The signals that come through a descriptor, as the kernel has them.
static SIGNALS: [AtomicU64; MANY] = [const { AtomicU64::new(0) }; MANY];

impl Descriptor {
    /// What is known of a descriptor.
    pub fn of(file: c_int) -> Option<&'static Descriptor> {
        DESCRIPTORS.get(usize::try_from(file).ok()?)
    }

    /// A number stands for something new.
    pub fn opens(file: c_int) {
        if let Some(descriptor) = Descriptor::of(file) {
            descriptor.number.store(0, Ordering::Relaxed);
            descriptor.stream.store(0, Ordering::Relaxed);
            SIGNALS[file as usize].store(0, Ordering::Relaxed);
        }
    }

    /// As [`Descriptor::opens`], of something that has no name of its own: other descriptors may come to stand for it.
    fn begins(file: c_int) {
        Descriptor::opens(file);
        if let Some(descriptor) = Descriptor::of(file) {
            descriptor.number();
        }
    }

    /// The number of what it stands for, if that has no other name.
    pub fn number(&self) -> u32 {
        let own = &self.number;
        match own.load(Ordering::Relaxed) {
            0 => {
                let new = NEXT.fetch_add(1, Ordering::Relaxed);
                let set = own.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
                set.err().unwrap_or(new)
            }
            known => known,
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

/// A descriptor whose use is tracked: the standard ones belong to everybody.
fn tracked(file: c_int) -> Option<&'static Descriptor> {
    Descriptor::of(file).filter(|_| file >= 3)
}

/// The signals that come through a descriptor.
pub fn signals(file: c_int) -> u64 {
    let signals = usize::try_from(file)
        .ok()
        .and_then(|file| SIGNALS.get(file));
    signals.map_or(0, |signals| signals.load(Ordering::Relaxed))
}

/// A descriptor must stay open while it is used: what stands for it is read.
pub fn uses(file: c_int, pc: usize) {
    if let Some(descriptor) = tracked(file) {
        reads(descriptor.address(), 4, pc);
    }
}

/// A descriptor is about to be closed: nobody may use it meanwhile. Who gets its number next knows nothing of that.
pub fn closes(file: c_int, pc: usize) {
    sends_end(file);
    Descriptor::opens(file);
    if let Some(descriptor) = tracked(file) {
        writes(descriptor.address(), 4, pc);
        forget(descriptor.address(), size_of::<Descriptor>());
    }
}

/// A descriptor is about to stand for what another does: whoever uses it must know whether it still is what it was.
fn replaces(old: c_int, new: c_int, pc: usize) {
    if old == new || os::status(old).is_none() {
        return;
    }
    sends_end(new);
    Descriptor::opens(new);
    if let Some(descriptor) = tracked(new) {
        writes(descriptor.address(), 4, pc);
    }
}

/// One descriptor is another name for what is behind another.
fn same(old: c_int, new: c_int) {
    if old == new || new < 0 {
        return;
    }
    Descriptor::opens(new);
    if let (Some(Flow::Nameless(number)), Some(other)) = (behind(old), Descriptor::of(new)) {
        other.number.store(number, Ordering::Relaxed);
        SIGNALS[new as usize].store(signals(old), Ordering::Relaxed);
    }
}

/// A descriptor has come through a socket: what has no name of its own may be known by another number.
pub fn arrived(file: c_int) {
    Descriptor::opens(file);
    if !matches!(behind(file), Some(Flow::Nameless(_))) {
        return;
    }
    Descriptor::opens(file);
    // SAFETY: asks for a number.
    let process = unsafe { os::call(libc::SYS_getpid, [0; 6]) } as usize;
    const FILE: usize = 0;
    let is_same = |other: &usize| {
        let arguments = [process, process, FILE, file as usize, *other, 0];
        // SAFETY: compares what two numbers stand for.
        unsafe { os::call(libc::SYS_kcmp, arguments) == 0 }
    };
    let known = |other: &usize| DESCRIPTORS[*other].number.load(Ordering::Relaxed) != 0;
    if let Some(other) = (0..MANY).filter(known).find(is_same) {
        same(other as c_int, file);
    }
}

/// A call has read from a descriptor what its result says.
fn got(file: usize, to: usize, result: usize, pc: usize) {
    got_from(file, to, result, None, pc);
}

fn got_from(file: usize, to: usize, result: usize, from: Option<Address>, pc: usize) {
    match result as isize {
        0 => ended(file as c_int),
        1.. => {
            receives_from(file as c_int, from);
            writes(to, result, pc);
        }
        _ => {}
    }
}

/// A call has read a message, and maybe says who sent it.
fn got_datagram(call: [usize; 4], result: usize, pc: usize) {
    let [file, to, address, length] = call;
    let from = match address != 0 && length != 0 && result as isize >= 0 {
        // SAFETY: the kernel has written the address, and how long it is.
        true => unsafe { Address::read(address, *(length as *const u32) as usize) },
        false => None,
    };
    got_from(file, to, result, from, pc);
}

/// A call is about to write to a descriptor.
fn puts(file: usize, from: usize, size: usize, pc: usize) {
    puts_to(file, from, size, None, pc);
}

fn puts_to(file: usize, from: usize, size: usize, to: Option<Address>, pc: usize) {
    uses(file as c_int, pc);
    reads(from, size, pc);
    sends_to(file as c_int, to);
}

/// The address in a piece of the program's memory.
fn address(at: usize, length: usize) -> Option<Address> {
    // SAFETY: the program's own address.
    unsafe { Address::read(at, length as u32 as usize) }
}

/// A descriptor of signals, or new signals for one.
fn has_signals(old: c_int, file: c_int, signals: usize) {
    if old < 0 {
        Descriptor::begins(file);
    }
    if let Some(entry) = usize::try_from(file)
        .ok()
        .and_then(|file| SIGNALS.get(file))
    {
        // SAFETY: the program's own set, of which the kernel has read this word.
        entry.store(unsafe { *(signals as *const u64) }, Ordering::Relaxed);
    }
}

/// The kernel moves bytes from one descriptor to another, which are all there already.
fn copies(from: c_int, to: c_int) {
    receives(from);
    sends(to);
}

/// A pipe was made, if the call went well.
fn has_pipe(ends: usize, result: usize, pc: usize) {
    if went_well(result) {
        writes(ends, 2 * size_of::<c_int>(), pc);
        // SAFETY: the C library has written two descriptors.
        let ends = unsafe { *(ends as *const [c_int; 2]) };
        ends.into_iter().for_each(Descriptor::opens);
    }
}

unsafe extern "C" fn close(file: c_int, pc: usize) -> c_int {
    if os::is_own(file) {
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
    let own = |file: &c_uint| os::is_own(*file as c_int);
    if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 {
        (first..=last.min(MANY as c_uint - 1))
            .filter(|file| os::status(*file as c_int).is_some() && !own(file))
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

calls! { (pc, result)
    read(file, to, size) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    pread(file, to, size, offset) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    pread64(file, to, size, offset) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    recv(file, to, size, flags) { uses(file as c_int, pc) } { got(file, to, result, pc) };
    recvfrom(file, to, size, flags, from, length) { uses(file as c_int, pc) } {
        got_datagram([file, to, from, length], result, pc)
    };
    mq_receive(queue, to, size, priority) {} { got(queue, to, result, pc) };
    mq_timedreceive(queue, to, size, priority, time) {} { got(queue, to, result, pc) };
    write(file, from, size) { puts(file, from, size, pc) } {};
    pwrite(file, from, size, offset) { puts(file, from, size, pc) } {};
    pwrite64(file, from, size, offset) { puts(file, from, size, pc) } {};
    send(file, from, size, flags) { puts(file, from, size, pc) } {};
    sendto(file, from, size, flags, to, length) { puts_to(file, from, size, address(to, length), pc) } {};
    mq_send(queue, from, size, priority) { reads(from, size, pc); sends(queue as c_int) } {};
    mq_timedsend(queue, from, size, priority, time) { reads(from, size, pc); sends(queue as c_int) } {};
    sendfile(to, from, offset, size) { copies(from as c_int, to as c_int) } {};
    sendfile64(to, from, offset, size) { copies(from as c_int, to as c_int) } {};
    copy_file_range(from, at, to, there, size, flags) { copies(from as c_int, to as c_int) } {};
    splice(from, at, to, there, size, flags) { flows(from as c_int, to as c_int) } { receives(from as c_int) };
    tee(from, to, size, flags) { flows(from as c_int, to as c_int) } { receives(from as c_int) };

    pipe(ends) {} { has_pipe(ends, result, pc) };
    pipe2(ends, flags) {} { has_pipe(ends, result, pc) };
    eventfd(value, flags) {} { Descriptor::begins(result as c_int) };
    eventfd_write(file, value) { sends(file as c_int) } {};
    eventfd_read(file, value) {} { got(file, value, if went_well(result) { 8 } else { usize::MAX }, pc) };
    signalfd(file, signals, flags) {} { has_signals(file as c_int, result as c_int, signals) };
    timerfd_create(clock, flags) {} { Descriptor::begins(result as c_int) };
    timerfd_settime(file, flags, new, old) { sends(file as c_int) } {};
    dup(file) {} { same(file as c_int, result as c_int) };
    dup2(file, new) { replaces(file as c_int, new as c_int, pc) } { same(file as c_int, result as c_int) };
    dup3(file, new, flags) { replaces(file as c_int, new as c_int, pc) } { same(file as c_int, result as c_int) };
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
        same(file as c_int, result as c_int);
    } else if went_well(result) && lock(what, more).is_some_and(|what| what != libc::F_UNLCK) {
        has_locked_file(file, pc);
    }
}

export! {
    "close" 1 => close;
    "close_range" 3 => close_range;
    "closefrom" 1 => closefrom;
}
