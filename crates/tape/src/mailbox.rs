//! The mailbox: shared memory through which the processes of a run deliver their findings.
//!
//! `deadheat run` makes it before the program starts, as a file without a name (`memfd_create`) of [`SIZE`] bytes, of which only
//! what is written takes memory. Its descriptor is inherited by whatever the program starts; a runtime that finds it maps
//! it, and writes there by storing: no path, credential, limit for files or descriptor matters any more. The file is sealed: nobody can
//! make it shorter.
//!
//! It begins with a [`Header`]. Behind [`FIRST`] are *pieces*, each with a [`Piece`] header, at multiples of [`GRAIN`]. A process takes
//! a piece by adding its size to [`Header::used`], and then writes the header, its magic number last; where there is none, the process was
//! killed in between. The pieces with one stream's number, in the order of their places, have the lines of one process between
//! two calls of `exec`: [`Piece::length`] says how many bytes are written, and goes up after they are there.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// What a mailbox begins with.
pub const MAGIC: u64 = 0x786f_626c_6961_6d64;
/// How long it is.
pub const SIZE: usize = 1 << 36;
/// How much of it a run may take that is checked: so much is the memory of the system.
pub const MOST: usize = 1 << 30;
/// Where pieces begin.
pub const FIRST: usize = 8192;
/// Where pieces may begin, and how long the first piece of a stream is: mostly, it is the only one.
pub const GRAIN: usize = 1024;
/// How long the other pieces of a stream are.
pub const MORE: usize = 64 << 10;
/// What a piece with lines begins with.
pub const PIECE: u64 = 0x6563_6569_706d_6474;
/// What a piece begins with that has the table of a tape: the words of its sites, behind [`GRAIN`] bytes.
pub const TABLE: u64 = 0x656c_6261_746d_6474;
/// What a piece begins with that has a buffer of a tape, behind [`GRAIN`] bytes: a chunk, unless its first word is 0.
pub const BUFFER: u64 = 0x7265_6666_7562_6474;
/// What a piece begins with that says what the threads of a process wait for: [`WAITS`] places behind [`GRAIN`] bytes.
pub const WAITING: u64 = 0x7469_6177_736d_6474;
/// Of how many threads a process says what they wait for.
pub const WAITS: usize = 512;
/// The number of the descriptor is this or the next one that is free, where so many may be open: out of the way of programs that
/// count on low ones.
pub const DESCRIPTOR: i32 = 900;
/// How many numbers from [`DESCRIPTOR`] on the descriptor may have.
pub const DESCRIPTORS: i32 = 64;
/// How long a path in a header may be, with the zero byte at its end.
pub const PATH: usize = 1024;

/// What a mailbox begins with.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// How many bytes are given away.
    pub used: AtomicU64,
    /// Something was not written, for want of room: not 0.
    pub full: AtomicU32,
    /// The processes are to be recorded instead of checked: not 0.
    pub records: u32,
    /// How many bytes a process may record.
    pub limit: u64,
    /// The process of `deadheat run`, which adopts the program's orphans.
    pub run: u32,
    /// The process of the program, once it has started.
    pub program: AtomicU32,
    /// By which path a process can open the mailbox that has not inherited it.
    pub path: [u8; PATH],
    /// The path of tapes, without the number of the stream.
    pub tapes: [u8; PATH],
}

/// What a piece begins with.
#[derive(Debug)]
#[repr(C)]
pub struct Piece {
    /// [`PIECE`].
    pub magic: AtomicU64,
    /// Whose it is: the place of the stream's first piece.
    pub stream: u64,
    /// How long it is, with this.
    pub size: u64,
    /// How many bytes are written behind this.
    pub length: AtomicU64,
}

/// What a thread waits for; its place is its number. It has a cache line for itself: it is written to with every lock.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Wait {
    /// Of what kind that is ([`Waits`]), or 0.
    pub what: AtomicU32,
    /// The number that the system has for the thread.
    pub tid: AtomicU32,
    /// Where it lies; or the number of a thread.
    pub object: AtomicU64,
    /// Where the program waits.
    pub pc: AtomicU64,
}

/// What a thread can wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Waits {
    /// A mutex.
    Mutex = 1,
    /// A reader-writer lock.
    ReadWrite,
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A barrier.
    Barrier,
    /// The end of a thread.
    End,
}

impl Waits {
    /// The one with this number.
    pub fn of(number: u32) -> Option<Waits> {
        let all = [
            Waits::Mutex,
            Waits::ReadWrite,
            Waits::Condition,
            Waits::Semaphore,
            Waits::Barrier,
            Waits::End,
        ];
        all.into_iter().find(|waits| *waits as u32 == number)
    }
}

const _: () = assert!(size_of::<Header>() <= FIRST && size_of::<Piece>() == 32);
