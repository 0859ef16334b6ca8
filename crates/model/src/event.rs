//! One strand doing one thing: the event, in 16 bytes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A task or a thread: whatever runs its events one after another. `Strand(0)` is the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Strand(pub u32);

impl Strand {
    /// The strand that exists before any event.
    pub const MAIN: Strand = Strand(0);

    /// The strand's number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in the source: an index into [`Names::sites`](crate::Names::sites).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Site(pub u32);

/// The number of an event in its execution, from 1. An execution has room for 2^40 events.
pub type EventNumber = u64;

/// The largest number an object of an event (a location, a lock, …) can have: 48 bits, enough for
/// a user-space address.
pub const MAX_OBJECT: u64 = (1 << 48) - 1;

macro_rules! object {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u64);

        impl $name {
            /// The object's number as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

object! {
    /// A unit of shared memory: the finest grain at which two accesses can conflict.
    Location;
    /// A mutex or a read-write lock.
    Lock;
    /// A single-assignment synchronisation cell.
    Promise;
    /// A counting semaphore.
    Semaphore;
    /// An event variable in the sense of post, wait and clear.
    Flag;
    /// One dynamic instance of a `finish` block.
    Finish;
    /// A barrier.
    Barrier;
    /// A piece of allocated memory.
    Region;
}

/// Whether the value of a read can decide which events happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadKind {
    /// The value flows into data only.
    Data,
    /// The value reaches a condition, a loop bound or an index.
    Control,
}

/// The memory ordering of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AtomicOrdering {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// What a strand does in one event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Reads a location.
    Read(Location, ReadKind),
    /// Writes a location.
    Write(Location),
    /// Reads a location atomically.
    AtomicLoad(Location, AtomicOrdering),
    /// Writes a location atomically.
    AtomicStore(Location, AtomicOrdering),
    /// Reads and writes a location in one atomic step.
    AtomicUpdate(Location, AtomicOrdering),
    /// Starts a task that nobody can wait for by name.
    Async(Strand),
    /// Starts a task whose end can be waited for with [`Op::Join`].
    Future(Strand),
    /// Starts a thread.
    Fork(Strand),
    /// Has waited for the end of a thread or a future.
    Join(Strand),
    /// The strand's last event.
    End,
    /// Enters a `finish` block.
    FinishBegin(Finish),
    /// Has waited for every task started inside the block, transitively.
    FinishEnd(Finish),
    /// Makes a promise.
    NewPromise(Promise),
    /// Fulfils a promise.
    Set(Promise),
    /// Has waited for a promise.
    Get(Promise),
    /// Enters the one global critical section.
    IsolatedBegin,
    /// Leaves it.
    IsolatedEnd,
    /// Takes a lock exclusively.
    Acquire(Lock),
    /// Gives it back.
    Release(Lock),
    /// Takes a read-write lock for reading.
    AcquireShared(Lock),
    /// Gives it back.
    ReleaseShared(Lock),
    /// Takes a token from a semaphore.
    P(Semaphore),
    /// Adds a token.
    V(Semaphore),
    /// Turns a flag on.
    Post(Flag),
    /// Has waited for a flag to be on.
    Wait(Flag),
    /// Turns a flag off.
    Clear(Flag),
    /// Arrives at a barrier.
    BarrierArrive(Barrier),
    /// Leaves the barrier, everybody having arrived.
    BarrierLeave(Barrier),
    /// Obtains memory.
    Alloc(Region),
    /// Gives memory back.
    Free(Region),
    /// The strand's first event, in traces that record it.
    Begin,
    /// Has decided where to go on, from what it read.
    Branch,
    /// Asks for a lock, before [`Op::Acquire`] says that it got it.
    Request(Lock),
}

/// One strand doing one thing at one place in the source.
///
/// 16 bytes: 8 bits of operation, 8 bits of detail (read kind, memory ordering), 48 bits of object,
/// 32 bits of strand, 32 bits of site. Which event it is, is its position in the stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    head: u64,
    strand: Strand,
    site: Site,
}

const _: () = assert!(size_of::<Event>() == 16);

const DETAIL_SHIFT: u32 = 8;
const OBJECT_SHIFT: u32 = 16;

/// The largest detail and object that an operation can have, by its code.
const LAST_PARTS: [(u8, u64); 33] = {
    let mut last = [(0, MAX_OBJECT); 33];
    let mut code = 0;
    while code < last.len() {
        match code {
            0 => last[code].0 = 1,
            2..=4 => last[code].0 = 4,
            5..=8 => last[code].1 = u32::MAX as u64,
            9 | 15 | 16 | 30 | 31 => last[code].1 = 0,
            _ => {}
        }
        code += 1;
    }
    last
};

impl Event {
    /// Packs an event. An object number above [`MAX_OBJECT`] loses its upper bits: sources check
    /// what they read before they make events of it.
    pub fn new(strand: Strand, op: Op, site: Site) -> Event {
        let (code, detail, object) = encode(op);
        debug_assert!(object <= MAX_OBJECT);
        Event {
            head: u64::from(code)
                | u64::from(detail) << DETAIL_SHIFT
                | (object & MAX_OBJECT) << OBJECT_SHIFT,
            strand,
            site,
        }
    }

    /// What was done as numbers, for storing: code, detail, object. [`Event::from_parts`] is the way
    /// back. The numbers of an operation never change.
    #[inline]
    pub fn to_parts(&self) -> (u8, u8, u64) {
        let (code, detail) = (self.head as u8, (self.head >> DETAIL_SHIFT) as u8);
        (code, detail, self.head >> OBJECT_SHIFT)
    }

    /// An event from what [`Event::to_parts`] gave; nothing if no operation has these numbers.
    #[inline]
    pub fn from_parts(
        strand: Strand,
        (code, detail, object): (u8, u8, u64),
        site: Site,
    ) -> Option<Event> {
        let (last_detail, last_object) = *LAST_PARTS.get(code as usize)?;
        let valid = detail <= last_detail && object <= last_object;
        let head = u64::from(code) | u64::from(detail) << DETAIL_SHIFT | object << OBJECT_SHIFT;
        valid.then_some(Event { head, strand, site })
    }

    /// The same operation by another strand, on another object, in another place. The object is one that the
    /// operation can have.
    #[inline]
    pub fn with(self, strand: Strand, object: u64, site: Site) -> Event {
        debug_assert!(LAST_PARTS[self.head as u8 as usize].1 >= object);
        let head = self.head & ((1 << OBJECT_SHIFT) - 1) | object << OBJECT_SHIFT;
        Event { head, strand, site }
    }

    /// Who did it.
    #[inline]
    pub fn strand(&self) -> Strand {
        self.strand
    }

    /// Where in the source.
    #[inline]
    pub fn site(&self) -> Site {
        self.site
    }

    /// What was done.
    #[inline]
    pub fn op(&self) -> Op {
        decode(
            self.head as u8,
            (self.head >> DETAIL_SHIFT) as u8,
            self.head >> OBJECT_SHIFT,
        )
    }

    /// The plain (not atomic) memory access this event is, if it is one.
    #[inline]
    pub fn access(&self) -> Option<Access> {
        // Most events are accesses: these are told without looking at what else an event can be.
        let kind = match self.head as u8 {
            READ => AccessKind::Read,
            WRITE => AccessKind::Write,
            _ => return None,
        };
        let location = Location(self.head >> OBJECT_SHIFT);
        Some(Access { location, kind })
    }

    /// The memory access this event is, plain or atomic, and whether it is atomic. What reads and writes
    /// in one step writes.
    pub fn any_access(&self) -> Option<(Access, bool)> {
        let (location, kind) = match self.op() {
            Op::AtomicLoad(location, _) => (location, AccessKind::Read),
            Op::AtomicStore(location, _) | Op::AtomicUpdate(location, _) => {
                (location, AccessKind::Write)
            }
            _ => return self.access().map(|access| (access, false)),
        };
        Some((Access { location, kind }, true))
    }

    /// Whether two accesses conflict: same location, at least one writes, and not both are atomic.
    pub fn conflicts_with(&self, other: &Event) -> bool {
        match (self.any_access(), other.any_access()) {
            (Some((one, atomic)), Some((other, also_atomic))) => {
                one.conflicts_with(&other) && !(atomic && also_atomic)
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "strand {} {:?} at site {}",
            self.strand.0,
            self.op(),
            self.site.0
        )
    }
}

/// Whether an access reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
        })
    }
}

/// A plain memory access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// What is touched.
    pub location: Location,
    /// Read or write.
    pub kind: AccessKind,
}

impl Access {
    /// Same location, and at least one of the two writes.
    pub fn conflicts_with(&self, other: &Access) -> bool {
        self.location == other.location
            && (self.kind == AccessKind::Write || other.kind == AccessKind::Write)
    }
}

const READ: u8 = 0;
const WRITE: u8 = 1;

fn encode(op: Op) -> (u8, u8, u64) {
    match op {
        Op::Read(x, kind) => (READ, (kind == ReadKind::Control) as u8, x.0),
        Op::Write(x) => (WRITE, 0, x.0),
        Op::AtomicLoad(x, o) => (2, o as u8, x.0),
        Op::AtomicStore(x, o) => (3, o as u8, x.0),
        Op::AtomicUpdate(x, o) => (4, o as u8, x.0),
        Op::Async(s) => (5, 0, s.0.into()),
        Op::Future(s) => (6, 0, s.0.into()),
        Op::Fork(s) => (7, 0, s.0.into()),
        Op::Join(s) => (8, 0, s.0.into()),
        Op::End => (9, 0, 0),
        Op::FinishBegin(f) => (10, 0, f.0),
        Op::FinishEnd(f) => (11, 0, f.0),
        Op::NewPromise(p) => (12, 0, p.0),
        Op::Set(p) => (13, 0, p.0),
        Op::Get(p) => (14, 0, p.0),
        Op::IsolatedBegin => (15, 0, 0),
        Op::IsolatedEnd => (16, 0, 0),
        Op::Acquire(l) => (17, 0, l.0),
        Op::Release(l) => (18, 0, l.0),
        Op::AcquireShared(l) => (19, 0, l.0),
        Op::ReleaseShared(l) => (20, 0, l.0),
        Op::P(s) => (21, 0, s.0),
        Op::V(s) => (22, 0, s.0),
        Op::Post(e) => (23, 0, e.0),
        Op::Wait(e) => (24, 0, e.0),
        Op::Clear(e) => (25, 0, e.0),
        Op::BarrierArrive(b) => (26, 0, b.0),
        Op::BarrierLeave(b) => (27, 0, b.0),
        Op::Alloc(r) => (28, 0, r.0),
        Op::Free(r) => (29, 0, r.0),
        Op::Begin => (30, 0, 0),
        Op::Branch => (31, 0, 0),
        Op::Request(l) => (32, 0, l.0),
    }
}

#[inline]
fn decode(code: u8, detail: u8, object: u64) -> Op {
    let ordering = || match detail {
        0 => AtomicOrdering::Relaxed,
        1 => AtomicOrdering::Acquire,
        2 => AtomicOrdering::Release,
        3 => AtomicOrdering::AcquireRelease,
        _ => AtomicOrdering::SequentiallyConsistent,
    };
    let strand = || Strand(object as u32);
    match code {
        READ if detail == 0 => Op::Read(Location(object), ReadKind::Data),
        READ => Op::Read(Location(object), ReadKind::Control),
        WRITE => Op::Write(Location(object)),
        2 => Op::AtomicLoad(Location(object), ordering()),
        3 => Op::AtomicStore(Location(object), ordering()),
        4 => Op::AtomicUpdate(Location(object), ordering()),
        5 => Op::Async(strand()),
        6 => Op::Future(strand()),
        7 => Op::Fork(strand()),
        8 => Op::Join(strand()),
        9 => Op::End,
        10 => Op::FinishBegin(Finish(object)),
        11 => Op::FinishEnd(Finish(object)),
        12 => Op::NewPromise(Promise(object)),
        13 => Op::Set(Promise(object)),
        14 => Op::Get(Promise(object)),
        15 => Op::IsolatedBegin,
        16 => Op::IsolatedEnd,
        17 => Op::Acquire(Lock(object)),
        18 => Op::Release(Lock(object)),
        19 => Op::AcquireShared(Lock(object)),
        20 => Op::ReleaseShared(Lock(object)),
        21 => Op::P(Semaphore(object)),
        22 => Op::V(Semaphore(object)),
        23 => Op::Post(Flag(object)),
        24 => Op::Wait(Flag(object)),
        25 => Op::Clear(Flag(object)),
        26 => Op::BarrierArrive(Barrier(object)),
        27 => Op::BarrierLeave(Barrier(object)),
        28 => Op::Alloc(Region(object)),
        29 => Op::Free(Region(object)),
        30 => Op::Begin,
        31 => Op::Branch,
        32 => Op::Request(Lock(object)),
        // `head` is private and written by `encode` only.
        _ => unreachable!("no operation has code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation, with the largest object it can carry.
    fn every_op() -> Vec<Op> {
        let m = MAX_OBJECT;
        let s = Strand(u32::MAX);
        let mut ops = vec![
            Op::Read(Location(m), ReadKind::Data),
            Op::Read(Location(m), ReadKind::Control),
            Op::Write(Location(m)),
            Op::Async(s),
            Op::Future(s),
            Op::Fork(s),
            Op::Join(s),
            Op::End,
            Op::FinishBegin(Finish(m)),
            Op::FinishEnd(Finish(m)),
            Op::NewPromise(Promise(m)),
            Op::Set(Promise(m)),
            Op::Get(Promise(m)),
            Op::IsolatedBegin,
            Op::IsolatedEnd,
            Op::Acquire(Lock(m)),
            Op::Release(Lock(m)),
            Op::AcquireShared(Lock(m)),
            Op::ReleaseShared(Lock(m)),
            Op::P(Semaphore(m)),
            Op::V(Semaphore(m)),
            Op::Post(Flag(m)),
            Op::Wait(Flag(m)),
            Op::Clear(Flag(m)),
            Op::BarrierArrive(Barrier(m)),
            Op::BarrierLeave(Barrier(m)),
            Op::Alloc(Region(m)),
            Op::Free(Region(m)),
            Op::Begin,
            Op::Branch,
            Op::Request(Lock(m)),
        ];
        for ordering in [
            AtomicOrdering::Relaxed,
            AtomicOrdering::Acquire,
            AtomicOrdering::Release,
            AtomicOrdering::AcquireRelease,
            AtomicOrdering::SequentiallyConsistent,
        ] {
            ops.push(Op::AtomicLoad(Location(m), ordering));
            ops.push(Op::AtomicStore(Location(m), ordering));
            ops.push(Op::AtomicUpdate(Location(m), ordering));
        }
        ops
    }

    #[test]
    fn an_event_gives_back_what_was_packed_into_it() {
        let mut seen = std::collections::HashSet::new();
        for op in every_op() {
            let event = Event::new(Strand(u32::MAX), op, Site(u32::MAX));
            assert_eq!(event.op(), op);
            let access = match op {
                Op::Read(location, _) => Some((location, AccessKind::Read)),
                Op::Write(location) => Some((location, AccessKind::Write)),
                _ => None,
            };
            let found = event.access().map(|access| (access.location, access.kind));
            assert_eq!(found, access);
            assert_eq!(event.strand(), Strand(u32::MAX));
            assert_eq!(event.site(), Site(u32::MAX));
            assert!(seen.insert(event), "{op:?} packs like another operation");
            let again = Event::from_parts(event.strand(), event.to_parts(), event.site());
            assert_eq!(again, Some(event));
        }
    }

    /// What can be put together from numbers is what [`encode`] gives, no more and no less.
    #[test]
    fn only_numbers_of_operations_make_events() {
        let mut made = 0;
        for code in 0..=u8::MAX {
            for detail in 0..=u8::MAX {
                for object in [0, 1, u32::MAX.into(), 1 << 32, MAX_OBJECT, MAX_OBJECT + 1] {
                    let parts = (code, detail, object);
                    let event = Event::from_parts(Strand(1), parts, Site(2));
                    let Some(event) = event else { continue };
                    assert_eq!(
                        event,
                        Event::new(Strand(1), event.op(), Site(2)),
                        "{parts:?}"
                    );
                    made += usize::from(object == 0);
                }
            }
        }
        // Every operation has one encoding for each detail; `every_op` has all of them.
        assert_eq!(made, every_op().len());
    }

    #[test]
    fn two_reads_do_not_conflict() {
        let read = |x| Access {
            location: Location(x),
            kind: AccessKind::Read,
        };
        let write = |x| Access {
            location: Location(x),
            kind: AccessKind::Write,
        };
        assert!(!read(1).conflicts_with(&read(1)));
        assert!(read(1).conflicts_with(&write(1)));
        assert!(write(1).conflicts_with(&write(1)));
        assert!(!write(1).conflicts_with(&write(2)));
    }
}
