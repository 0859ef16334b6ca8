//! Sockets: who is at the other end.
//!
//! The two ends of a connection are known if both are made here: by `socketpair`, or by a `connect` of this process that
//! one of its `accept`s answers. Which `connect` that was, the client's port says; of unix sockets the kernel only says which
//! process it was, so that connections that wait at the same time for one address may each be the one. A receiver then
//! learns what any of them has sent, and so may learn too much, but never too little.
//!
//! An end that was closed here, or that was there when the process was forked, may be held by another process: what comes
//! from there may be an answer to what was sent there, as from any peer that is not known.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{calls, went_well};
use super::descriptors::Descriptor;
use super::memory::{reads, writes};
use super::open_files::{Flow, receives, receives_out_of, sends, sends_into, with};
use crate::platform::os;

/// How often the process has been forked.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process is about to be forked.
pub fn forks() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A port, or the name of a unix socket.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Address {
    Port(u16),
    /// Its hash.
    Name(u64),
}

impl Address {
    /// The address in a piece of memory, if it says something.
    ///
    /// # Safety
    /// So many bytes can be read.
    pub unsafe fn read(at: usize, length: usize) -> Option<Address> {
        if at == 0 || length < 2 {
            return None;
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, length) };
        match c_int::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
            libc::AF_INET | libc::AF_INET6 => {
                let port = u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]);
                (port != 0).then_some(Address::Port(port))
            }
            libc::AF_UNIX if length > 2 => {
                // A path ends with a zero byte, which need not be there; an abstract name begins with one.
                let name = &bytes[2..];
                let end = name[1..].iter().position(|byte| *byte == 0);
                let path = match (name[0], end) {
                    (0, _) | (_, None) => name,
                    (_, Some(end)) => &name[..=end],
                };
                Some(Address::Name(path.iter().fold(
                    path.len() as u64,
                    |hash, byte| {
                        (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
                    },
                )))
            }
            _ => None,
        }
    }

    fn asked(call: libc::c_long, file: c_int) -> Option<Address> {
        let mut room = [0u64; 16];
        let mut length = size_of_val(&room) as u32;
        let places = [room.as_mut_ptr() as usize, &raw mut length as usize];
        let arguments = [file as usize, places[0], places[1], 0, 0, 0];
        // SAFETY: the kernel fills in what it is given.
        unsafe {
            (os::call(call, arguments) == 0)
                .then(|| Address::read(places[0], (length as usize).min(size_of_val(&room))))?
        }
    }

    /// The address of a socket.
    fn own(file: c_int) -> Option<Address> {
        Address::asked(libc::SYS_getsockname, file)
    }

    /// The address of its peer.
    fn peer(file: c_int) -> Option<Address> {
        Address::asked(libc::SYS_getpeername, file)
    }
}

/// An option of a socket.
fn option<T: Default>(file: c_int, name: c_int) -> Option<T> {
    let mut value = T::default();
    let mut length = size_of::<T>() as u32;
    let places = [&raw mut value as usize, &raw mut length as usize];
    let level = libc::SOL_SOCKET as usize;
    let arguments = [file as usize, level, name as usize, places[0], places[1], 0];
    // SAFETY: the kernel writes no more than there is room for.
    (unsafe { os::call(libc::SYS_getsockopt, arguments) } == 0).then_some(value)
}

fn takes_datagrams(file: c_int) -> bool {
    option(file, libc::SO_TYPE) == Some(libc::SOCK_DGRAM)
}

fn inode(file: c_int) -> Option<u64> {
    let status = os::status(file)?;
    (status.st_mode & libc::S_IFMT == libc::S_IFSOCK).then_some(status.st_ino)
}

/// A socket that may be the other end of one.
#[derive(Clone, Copy)]
struct Peer {
    inode: u64,
    /// How often the process had been forked when it was found.
    forks: u32,
}

/// A socket that has asked for a connection, which nobody has accepted here yet.
struct Connecting {
    file: c_int,
    inode: u64,
    to: Address,
    /// Its port, if it is known.
    port: Option<Address>,
}

/// What is known of the process's sockets.
#[derive(Default)]
pub struct Sockets {
    peers: FxHashMap<u64, Vec<Peer>>,
    /// Closed here, at least once: somebody else may have it.
    closed: FxHashSet<u64>,
    connecting: Vec<Connecting>,
    /// How many connections were accepted of those that wait for an address, without telling which.
    unclear: FxHashMap<Address, usize>,
    /// Where the process waits for connections.
    listening: FxHashSet<Address>,
    /// The addresses to which datagrams are sent that this process gets.
    own: FxHashSet<Address>,
}

impl Sockets {
    /// A socket with this inode is new: what was known of another is not about it.
    fn begins(&mut self, inode: u64) {
        self.peers.remove(&inode);
        self.closed.remove(&inode);
    }

    fn pair(&mut self, one: u64, other: u64) {
        let forks = FORKS.load(Ordering::Relaxed);
        for (own, inode) in [(one, other), (other, one)] {
            self.peers
                .entry(own)
                .or_default()
                .push(Peer { inode, forks });
        }
    }

    /// The address to which a socket sends datagrams.
    pub fn destination(&mut self, file: c_int, to: Option<Address>) -> Option<Address> {
        if !takes_datagrams(file) {
            return None;
        }
        self.own.extend(Address::own(file));
        to.or_else(|| Address::peer(file))
    }

    /// Where that comes from which a socket receives.
    pub fn sources(&mut self, file: c_int, inode: u64, from: Option<Address>) -> Vec<Flow> {
        let itself = Flow::Socket(inode);
        let forks = FORKS.load(Ordering::Relaxed);
        if let Some(peers) = self.peers.get(&inode) {
            let is_here = |peer: &Peer| peer.forks == forks && !self.closed.contains(&peer.inode);
            let elsewhere = (!peers.iter().all(is_here)).then_some(itself);
            let peers = peers.iter().map(|peer| Flow::Socket(peer.inode));
            return peers.chain(elsewhere).collect();
        }
        if !takes_datagrams(file) {
            return vec![itself];
        }
        let own = Address::own(file);
        self.own.extend(own);
        let from = from.or_else(|| Address::peer(file));
        let is_known = forks == 0 && from.is_some_and(|from| self.own.contains(&from));
        let itself = (!is_known).then_some(itself);
        own.map(Flow::Address).into_iter().chain(itself).collect()
    }

    /// A socket is about to be closed.
    pub fn closes(&mut self, file: c_int, inode: u64) {
        self.closed.insert(inode);
        // One that waits to be accepted here stays, as what it has sent does.
        let listening = &self.listening;
        self.connecting.retain_mut(|socket| {
            if socket.inode != inode {
                return true;
            }
            socket.port = socket.port.or_else(|| Address::own(file));
            listening.contains(&socket.to)
        });
    }

    /// A connection was accepted: finds out from whom.
    fn accepted(&mut self, file: c_int, inode: u64) {
        self.begins(inode);
        let (Some(own), remote) = (Address::own(file), Address::peer(file)) else {
            return;
        };
        let is_named = matches!(own, Address::Name(_));
        // SAFETY: asks for a number.
        let process = unsafe { os::call(libc::SYS_getpid, [0; 6]) } as i32;
        let by = option::<[i32; 3]>(file, libc::SO_PEERCRED);
        if is_named && by.is_some_and(|by| by[0] != process) {
            return;
        }
        let may_be = |socket: &Connecting| {
            let port = || match self::inode(socket.file) == Some(socket.inode) {
                true => Address::own(socket.file),
                false => None,
            };
            socket.to == own && (is_named || socket.port.or_else(port) == remote)
        };
        let found: Vec<u64> = (self.connecting.iter())
            .filter(|socket| may_be(socket))
            .map(|socket| socket.inode)
            .collect();
        for other in &found {
            self.pair(inode, *other);
        }
        let unclear = self.unclear.entry(own).or_default();
        *unclear += 1;
        if *unclear >= found.len() {
            self.unclear.remove(&own);
            self.connecting
                .retain(|socket| !found.contains(&socket.inode));
        }
    }
}

/// A socket has been made, if it has.
fn begins(file: usize) {
    with(|files| {
        if let Some(inode) = inode(file as c_int) {
            files.sockets.begins(inode);
        }
    });
    Descriptor::opens(file as c_int);
}

/// Two sockets are the ends of one connection, if the call went well.
fn pair(ends: usize, result: usize, pc: usize) {
    if !went_well(result) {
        return;
    }
    writes(ends, 2 * size_of::<c_int>(), pc);
    // SAFETY: the C library has written two descriptors.
    let ends = unsafe { *(ends as *const [c_int; 2]) };
    ends.iter().for_each(|end| Descriptor::opens(*end));
    with(|files| {
        if let [Some(one), Some(other)] = ends.map(inode) {
            files.sockets.begins(one);
            files.sockets.begins(other);
            files.sockets.pair(one, other);
        }
    });
}

/// A socket asks for a connection. Datagrams need none: their socket learns an address.
fn connects(file: c_int, address: usize, length: usize) {
    sends(file);
    with(|files| {
        // SAFETY: the program's own address.
        let to = unsafe { Address::read(address, length) };
        if let (Some(inode), Some(to)) = (inode(file), to)
            && !takes_datagrams(file)
        {
            let sockets = &mut files.sockets;
            sockets.connecting.retain(|socket| socket.inode != inode);
            let port = None;
            #[rustfmt::skip]
            sockets.connecting.push(Connecting { file, inode, to, port });
        }
    });
}

/// Whether it got one, or will.
fn has_connected(file: c_int, address: usize, length: usize, result: usize) {
    // SAFETY: the thread's own.
    let error = unsafe { *libc::__errno_location() };
    let waits = [
        libc::EINPROGRESS,
        libc::EINTR,
        libc::EALREADY,
        libc::EISCONN,
    ];
    if went_well(result) {
        // SAFETY: the program's own address.
        if let Some(to) = unsafe { Address::read(address, length) } {
            receives_out_of(Flow::Address(to));
        }
    } else if !waits.contains(&error) {
        with(|files| {
            let inode = inode(file);
            let connecting = &mut files.sockets.connecting;
            connecting.retain(|socket| Some(socket.inode) != inode);
        });
    }
}

/// The process is about to wait for connections: whoever gets one comes after.
fn listens(file: c_int) {
    if let Some(own) = Address::own(file) {
        sends_into(Flow::Address(own));
        with(|files| files.sockets.listening.insert(own));
    }
}

fn has_accepted(result: usize) {
    let file = result as c_int;
    if file < 0 {
        return;
    }
    Descriptor::opens(file);
    with(|files| {
        if let Some(inode) = inode(file) {
            files.sockets.accepted(file, inode);
        }
    });
    receives(file);
}

fn has_bound(file: c_int, result: usize) {
    if went_well(result) && takes_datagrams(file) {
        with(|files| files.sockets.own.extend(Address::own(file)));
    }
}

calls! { (pc, result)
    socket(domain, kind, protocol) {} { begins(result) };
    socketpair(domain, kind, protocol, ends) {} { pair(ends, result, pc) };
    bind(file, address, length) { reads(address, length as u32 as usize, pc); } { has_bound(file as c_int, result) };
    listen(file, most) { listens(file as c_int) } {};
    connect(file, address, length) { connects(file as c_int, address, length as u32 as usize) } {
        has_connected(file as c_int, address, length as u32 as usize, result)
    };
    accept(file, address, length) {} { has_accepted(result) };
    accept4(file, address, length, flags) {} { has_accepted(result) };
    shutdown(file, how) { sends(file as c_int) } {};
}
