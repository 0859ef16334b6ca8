//! What is behind a descriptor, and which order goes through it.
//!
//! The simple model: what is sent goes into a *flow*, and whoever receives something knows what all have done that sent into
//! the flow before. Which flow that is depends on what is behind the descriptor, which the kernel is asked each time: so it
//! does not matter how a descriptor was got (`dup`, `fork`, through a socket, from who started the program).
//!
//! | behind it | sent into | received from |
//! |---|---|---|
//! | a pipe, with a name or without; a queue of messages | it | it |
//! | a file | it | it: whoever wrote to this file, wherever in it |
//! | a terminal, another device | it; both ends of a pseudo-terminal are one | it |
//! | a counter of events, a timer, a set of signals | it | it |
//! | a socket whose peer this process has | what this socket has sent | what its peer has sent |
//! | a socket whose peer is elsewhere, or unknown | what this socket has sent | the same: the answer depends on the question |
//! | a socket for datagrams | the address | its own address; and as above, if the sender may be elsewhere |
//!
//! [`sockets`](super::sockets) knows peers. Who only has *another* file, pipe or connection learns nothing: a line in a log
//! orders nobody who reads something else. Of one file the bytes are not told apart, as positions belong to all who share a
//! descriptor: a read that gets some of a file knows of all writes to that file, though not of those to another.
//! That may hide a race of two threads that use different parts of one file; it invents none.
//!
//! Standard input, output and error order nothing where they are files or terminals.
//!
//! Cost: one or a few calls of the kernel for each that the program makes; for a stream none, once its descriptor is known.
//! A flow takes some hundred bytes and is never forgotten; after a million of them, several share one channel.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};

use rustc_hash::FxHashMap;

use super::descriptors::{Descriptor, signals};
use super::processes::has_signal;
use super::sockets::{Address, Sockets};
use crate::order::sync;
use crate::order::thread::{Thread, enter};
use crate::platform::os;
use crate::platform::table::Table;

/// The addresses of this table stand for the channels of flows: nobody else synchronises there.
#[unsafe(export_name = "flow")]
static CHANNELS: [AtomicU8; 1 << 20] = [const { AtomicU8::new(0) }; 1 << 20];

/// What goes somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flow {
    /// Into a file, a pipe or a queue of messages.
    File { device: u64, inode: u64 },
    /// Into a device.
    Device(u64),
    /// Into something without a name of its own: the number that it got from the runtime.
    Nameless(u32),
    /// Through a socket, by whoever has this end.
    Socket(u64),
    /// To whoever has an address.
    Address(Address),
    /// From who adds a descriptor to one of `epoll` to who hears of it.
    Watch { poll: c_int, file: c_int },
}

/// See the [module](self).
#[derive(Default)]
pub struct OpenFiles {
    channels: FxHashMap<Flow, usize>,
    /// The flows that go on into another, inside of the kernel.
    feeds: FxHashMap<Flow, Vec<Flow>>,
    pub sockets: Sockets,
}

static OPEN_FILES: Table<OpenFiles> = Table::new();

/// In a forked child, whose only thread holds no lock.
pub fn reset_locks() {
    OPEN_FILES.reset_lock();
}

/// Does something with what is known of open files.
pub fn with<T>(what: impl FnOnce(&mut OpenFiles) -> T) -> Option<T> {
    let _entered = enter()?;
    Some(OPEN_FILES.with(what))
}

/// Does something about what is behind a descriptor, if anything has to be ordered now.
fn order(file: c_int, what: impl FnOnce(&mut OpenFiles, &mut Thread, Flow)) {
    // The kernel may take its time to answer: it is asked before the table is locked.
    if let Some(entered) = sync::entered()
        && let Some(flow) = behind(file)
    {
        OPEN_FILES.with(|files| what(files, entered.thread(), flow));
    }
}

impl OpenFiles {
    /// The address that stands for the channel of a flow.
    fn channel(&mut self, flow: Flow) -> usize {
        let next = self.channels.len();
        let index = *self.channels.entry(flow).or_insert(next);
        std::ptr::from_ref(&CHANNELS[index % CHANNELS.len()]) as usize
    }

    fn send(&mut self, thread: &mut Thread, flow: Flow) {
        sync::release_more_by(thread, self.channel(flow), 0);
    }

    /// Acquires what was sent into a flow, and into those that go on into it.
    fn receive(&mut self, thread: &mut Thread, flow: Flow) {
        let mut reached = vec![flow];
        let mut next = 0;
        while let Some(flow) = reached.get(next).copied() {
            next += 1;
            // Into what has no channel nobody has sent.
            if self.channels.contains_key(&flow) {
                sync::acquire_by(thread, self.channel(flow), 0);
            }
            for feed in self.feeds.get(&flow).into_iter().flatten() {
                if !reached.contains(feed) {
                    reached.push(*feed);
                }
            }
        }
    }

    /// What is read from a descriptor comes from there.
    fn sources(&mut self, file: c_int, flow: Flow, from: Option<Address>) -> Vec<Flow> {
        match flow {
            Flow::Socket(inode) => self.sockets.sources(file, inode, from),
            flow => vec![flow],
        }
    }
}

/// The flow into what is behind a descriptor. None: there is nothing, or it orders nothing.
pub fn behind(file: c_int) -> Option<Flow> {
    let status = os::status(file)?;
    let (device, inode) = (status.st_dev, status.st_ino);
    let standard = (0..3).contains(&file);
    match status.st_mode & libc::S_IFMT {
        libc::S_IFREG if !standard => Some(Flow::File { device, inode }),
        libc::S_IFCHR | libc::S_IFBLK if !standard => Some(Flow::Device(
            terminal(file, status.st_rdev).unwrap_or(status.st_rdev),
        )),
        libc::S_IFIFO => Some(Flow::File { device, inode }),
        libc::S_IFSOCK => Some(Flow::Socket(inode)),
        // One inode stands for all of these.
        0 => Some(Flow::Nameless(Descriptor::of(file)?.number())),
        _ => None,
    }
}

/// The device of the other end, if a descriptor is the end of a pseudo-terminal that makes them.
fn terminal(file: c_int, device: u64) -> Option<u64> {
    const OTHER_ENDS: u32 = 136;
    if device != libc::makedev(5, 2) {
        return None;
    }
    let mut number: u32 = 0;
    let place = &raw mut number as usize;
    let arguments = [file as usize, libc::TIOCGPTN as usize, place, 0, 0, 0];
    // SAFETY: the kernel writes a number.
    let asked = unsafe { os::call(libc::SYS_ioctl, arguments) };
    (asked == 0).then(|| libc::makedev(OTHER_ENDS, number))
}

/// What the thread has done happens before what follows a read of what is written now.
pub fn sends(file: c_int) {
    sends_to(file, None);
}

/// As [`sends`], to an address.
pub fn sends_to(file: c_int, to: Option<Address>) {
    order(file, |files, thread, flow| {
        files.send(thread, flow);
        if let Flow::Socket(_) = flow
            && let Some(address) = files.sockets.destination(file, to)
        {
            files.send(thread, Flow::Address(address));
        }
    });
}

/// Something has come through a descriptor: whoever sent it comes before.
pub fn receives(file: c_int) {
    receives_from(file, None);
}

/// As [`receives`], from an address.
pub fn receives_from(file: c_int, from: Option<Address>) {
    order(file, |files, thread, flow| {
        for flow in files.sources(file, flow, from) {
            files.receive(thread, flow);
        }
    });
    let signals = signals(file);
    (1..=64)
        .filter(|signal| signals >> (signal - 1) & 1 != 0)
        .for_each(|signal| has_signal(signal, 0));
}

/// As [`sends`], into a flow.
pub fn sends_into(flow: Flow) {
    if let Some(entered) = sync::entered() {
        OPEN_FILES.with(|files| files.send(entered.thread(), flow));
    }
}

/// As [`receives`], from a flow.
pub fn receives_out_of(flow: Flow) {
    if let Some(entered) = sync::entered() {
        OPEN_FILES.with(|files| files.receive(entered.thread(), flow));
    }
}

/// There is nothing more to come: whoever closed the other end comes before. The end of a file says nothing.
pub fn ended(file: c_int) {
    if os::status(file).is_some_and(|status| status.st_mode & libc::S_IFMT != libc::S_IFREG) {
        receives(file);
    }
}

/// A descriptor is about to be closed: whoever reads at the other end may find that nothing more will come.
pub fn sends_end(file: c_int) {
    let Some(status) = os::status(file) else {
        return;
    };
    // SAFETY: asks for numbers.
    let flags = || unsafe {
        let arguments = [file as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
        os::call(libc::SYS_fcntl, arguments) as c_int
    };
    match status.st_mode & libc::S_IFMT {
        libc::S_IFIFO if flags() & libc::O_ACCMODE != libc::O_RDONLY => sends(file),
        libc::S_IFSOCK => {
            sends(file);
            with(|files| files.sockets.closes(file, status.st_ino));
        }
        _ => {}
    }
}

/// What comes through one descriptor goes on through another, inside of the kernel and at any time from now.
pub fn flows(from: c_int, to: c_int) {
    with(|files| {
        if let (Some(source), Some(flow)) = (behind(from), behind(to)) {
            let sources = files.sources(from, source, None);
            let feeds = files.feeds.entry(flow).or_default();
            for source in sources {
                if source != flow && !feeds.contains(&source) {
                    feeds.push(source);
                }
            }
        }
    });
    sends(to);
}

/// How a stream orders, which is remembered for its descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OfStream {
    /// Not at all.
    Nothing,
    /// By the channel of a file: what is written stays with the stream for a while.
    File(usize),
    /// By the channel of a pipe.
    Pipe(usize),
    /// As its descriptor does.
    Descriptor,
}

/// How a stream with this descriptor orders.
pub fn of_stream(file: c_int) -> OfStream {
    let Some(descriptor) = Descriptor::of(file).filter(|_| file >= 3) else {
        return OfStream::Nothing;
    };
    let channel = |word: u32| std::ptr::from_ref(&CHANNELS[word as usize / 2]) as usize;
    let (nothing, other, first) = (1, 2, 4);
    let known = match descriptor.stream.load(Ordering::Relaxed) {
        0 => {
            let found = with(|files| match os::status(file)?.st_mode & libc::S_IFMT {
                kind @ (libc::S_IFREG | libc::S_IFIFO) => {
                    let channel = files.channel(behind(file)?);
                    let index = (channel - CHANNELS.as_ptr() as usize) as u32;
                    Some(first + 2 * index + u32::from(kind == libc::S_IFREG))
                }
                _ => Some(other),
            });
            // What cannot be asked now is asked again.
            let Some(found) = found else {
                return OfStream::Nothing;
            };
            let found = found.unwrap_or(nothing);
            descriptor.stream.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    };
    match known {
        1 => OfStream::Nothing,
        2 => OfStream::Descriptor,
        file if file % 2 == 1 => OfStream::File(channel(file - first)),
        pipe => OfStream::Pipe(channel(pipe - first)),
    }
}
