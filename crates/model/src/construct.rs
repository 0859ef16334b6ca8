//! The ways in which programs start and order strands.

use crate::Op;

/// A way of starting or ordering strands that an engine must know to judge an execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Construct {
    Async,
    Finish,
    Future,
    Promise,
    Isolated,
    Lock,
    Semaphore,
    Event,
    Fork,
    ReadWriteLock,
    Barrier,
    Atomic,
    /// A thread that is there without having been started, as in traces that do not record forks.
    Unforked,
}

impl Construct {
    /// Every construct.
    pub const ALL: [Construct; 13] = [
        Construct::Async,
        Construct::Finish,
        Construct::Future,
        Construct::Promise,
        Construct::Isolated,
        Construct::Lock,
        Construct::Semaphore,
        Construct::Event,
        Construct::Fork,
        Construct::ReadWriteLock,
        Construct::Barrier,
        Construct::Atomic,
        Construct::Unforked,
    ];

    /// What users call it.
    pub fn word(self) -> &'static str {
        match self {
            Construct::Async => "async",
            Construct::Finish => "finish",
            Construct::Future => "future",
            Construct::Promise => "promise",
            Construct::Isolated => "isolated",
            Construct::Lock => "lock",
            Construct::Semaphore => "sem",
            Construct::Event => "event",
            Construct::Fork => "fork",
            Construct::ReadWriteLock => "rwlock",
            Construct::Barrier => "barrier",
            Construct::Atomic => "atomic",
            Construct::Unforked => "thread that nobody starts",
        }
    }

    /// Whether the order it makes between strands is the program's alone, not the schedule's: what
    /// it orders in one execution, it orders in every execution that does the same events.
    pub fn orders_alike_in_every_schedule(self) -> bool {
        match self {
            Construct::Async
            | Construct::Finish
            | Construct::Future
            | Construct::Promise
            | Construct::Fork
            | Construct::Barrier
            | Construct::Unforked => true,
            Construct::Isolated
            | Construct::Lock
            | Construct::Semaphore
            | Construct::Event
            | Construct::ReadWriteLock
            | Construct::Atomic => false,
        }
    }
}

impl Op {
    /// The construct that an operation belongs to, if it starts or orders strands. Waiting for the
    /// end of a strand counts as what started that strand, which came before.
    pub fn construct(&self) -> Option<Construct> {
        match self {
            Op::Async(_) => Some(Construct::Async),
            Op::Future(_) => Some(Construct::Future),
            Op::Fork(_) => Some(Construct::Fork),
            Op::FinishBegin(_) | Op::FinishEnd(_) => Some(Construct::Finish),
            Op::NewPromise(_) | Op::Set(_) | Op::Get(_) => Some(Construct::Promise),
            Op::IsolatedBegin | Op::IsolatedEnd => Some(Construct::Isolated),
            Op::Acquire(_) | Op::Release(_) => Some(Construct::Lock),
            Op::AcquireShared(_) | Op::ReleaseShared(_) => Some(Construct::ReadWriteLock),
            Op::P(_) | Op::V(_) => Some(Construct::Semaphore),
            Op::Post(_) | Op::Wait(_) | Op::Clear(_) => Some(Construct::Event),
            Op::BarrierArrive(_) | Op::BarrierLeave(_) => Some(Construct::Barrier),
            Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::AtomicUpdate(..) => {
                Some(Construct::Atomic)
            }
            Op::Read(..) | Op::Write(_) | Op::Begin | Op::Branch | Op::Request(_) => None,
            Op::Join(_) | Op::End | Op::Alloc(_) | Op::Free(_) => None,
        }
    }
}
