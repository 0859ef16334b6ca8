//! What would keep the accesses of a race apart. It is advice, and follows only from what the finding itself shows.

use std::sync::Arc;

/// What would have ordered two accesses, or kept them apart. Sides are named by their index in the finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// Hold one lock at both, or make a counter or a flag atomic.
    SameLock,
    /// One of the two is atomic: make both so.
    BothAtomic,
    /// One holds a lock that the other does not.
    OneHolds {
        /// The lock.
        lock: String,
        /// The side that holds it.
        holder: usize,
    },
    /// The two hold different locks.
    DifferentLocks,
    /// A writer holds a lock for reading only.
    HeldForReading {
        /// The side that writes.
        writer: usize,
        /// The lock.
        lock: String,
    },
    /// A block must live until this side is done with it.
    FreeLater {
        /// The side that uses it.
        user: usize,
    },
    /// A descriptor must stay open until this side is done with it.
    CloseLater {
        /// The side that uses it.
        user: usize,
    },
    /// A lock must live while this side uses it.
    LockLives {
        /// The side that uses it.
        user: usize,
    },
    /// A thread creates another and goes on: it should join that first.
    Join {
        /// Who goes on.
        parent: Arc<str>,
        /// Who was created.
        child: Arc<str>,
    },
    /// A task starts another and goes on: it should wait for that first.
    WaitForChild {
        /// Who goes on.
        parent: Arc<str>,
        /// Who was started.
        child: Arc<str>,
    },
    /// A task starts two others: it should wait for one before it starts the other.
    WaitBetween {
        /// Who starts both.
        parent: Arc<str>,
        /// Who was started first.
        first: Arc<str>,
        /// Who was started then.
        second: Arc<str>,
    },
    /// OpenMP: two tasks of one creator, whose `depend` clauses, if they have some, do not order them.
    TasksOfOneCreator {
        /// What both use, if it has a name.
        variable: Option<String>,
    },
    /// OpenMP: two tasks of different creators.
    TasksOfDifferentCreators,
    /// OpenMP: a task, and the code beside it.
    WaitForTask,
    /// OpenMP: a thread of the program's own, and something beside it.
    JoinThread,
    /// OpenMP: iterations of one loop.
    Iterations,
    /// OpenMP: threads of one team.
    Team,
    /// OpenMP: a worksharing construct that nobody waits for.
    Barrier,
}
