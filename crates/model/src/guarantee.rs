//! What a verdict promises, and what limits it.
//!
//! A [`Guarantee`] is made where something is judged and travels whole; reports make one sentence of it. Whoever learns
//! later that less was seen adds a [`Limit`], and each limit lowers the promise to what it still allows: so the main
//! clause of the sentence is never stronger than what follows it.

use serde::Serialize;

/// What is said about executions: about which of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Nothing was checked.
    Nothing,
    /// A part of one run: the rest was not seen or not judged.
    PartOfRun,
    /// One run, in the order in which it happened.
    Run,
    /// Any order of what one run did.
    Orders,
    /// Any schedule of this input.
    Schedules,
    /// Any schedule of this input, with any number of threads.
    Threads,
}

/// Why a promise is not stronger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// This is about what is left of a recording, or of a trace that was repaired.
    Remains(String),
    /// There was no room to write everything down: why.
    NoRoom(&'static str),
    /// So many accesses or threads could not be tracked.
    Untracked(u64),
    /// So many lines of the findings could not be read.
    Unreadable(u64),
    /// A program was not checked.
    Unchecked(Unchecked),
    /// A signal ended a process before it had counted.
    Killed,
    /// A process ended itself by `abort`, before it was through.
    Aborted,
    /// A process still ran when this was put together.
    StillRunning,
    /// OpenMP's runtime has not run so many tasks.
    TasksNotRun(u64),
    /// OpenMP: critical sections and locks may change what is computed.
    SectionsDecide,
    /// OpenMP: what atomic variables and threads' locks ordered was taken as it came.
    Messages,
    /// OpenMP: iterations that one thread or task ran together, by how many threads there were, were not told apart.
    StaticLoops,
    /// OpenMP: the program asks for its threads' numbers, or how many there are.
    ThreadNumbers,
    /// OpenMP: which thread ran what decided what it accessed, or was taken to order it.
    ThreadsChoose,
    /// OpenMP: of teams of one thread only tasks and iterations were told apart.
    TeamOfOne,
    /// So many races were only counted.
    OnlyCounted(u64),
    /// The search for other orders failed: why.
    NotPredicted(String),
    /// So many pairs of places could not be decided.
    Undecided(u64),
    /// Not every other order was tried.
    NotAllOrders,
    /// Not everything that was recorded was judged: why.
    NotAllJudged(String),
}

/// Why a process was not checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Obstacle {
    /// It was not built for that, nor was anything that it started.
    NotBuilt,
    /// It was built for that, and has not reported itself.
    Silent,
    /// Its address space is limited: there is no room for what a check keeps.
    AddressSpace,
    /// No file could be made for its recording.
    NoTape,
}

/// A program that was not checked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Unchecked {
    /// The executable.
    pub program: String,
    /// Why.
    pub why: Obstacle,
}

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guarantee {
    scope: Scope,
    limits: Vec<Limit>,
}

impl Scope {
    /// Its name, for other programs to read.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Nothing => "nothing",
            Scope::PartOfRun => "part-of-run",
            Scope::Run => "run",
            Scope::Orders => "orders",
            Scope::Schedules => "schedules",
            Scope::Threads => "threads",
        }
    }
}

impl Limit {
    /// The strongest promise that it allows.
    pub fn allows(&self) -> Scope {
        match self {
            Limit::Remains(_)
            | Limit::NoRoom(_)
            | Limit::Untracked(_)
            | Limit::Unreadable(_)
            | Limit::Unchecked(_)
            | Limit::Killed
            | Limit::NotAllJudged(_)
            | Limit::StillRunning => Scope::PartOfRun,
            Limit::Aborted
            | Limit::NotPredicted(_)
            | Limit::Undecided(_)
            | Limit::NotAllOrders
            | Limit::Messages
            | Limit::ThreadsChoose => Scope::Run,
            Limit::SectionsDecide | Limit::TasksNotRun(_) => Scope::Orders,
            Limit::StaticLoops | Limit::ThreadNumbers | Limit::TeamOfOne => Scope::Schedules,
            Limit::OnlyCounted(_) => Scope::Threads,
        }
    }
}

impl Guarantee {
    /// A promise about these executions that nothing limits so far.
    pub fn new(scope: Scope) -> Guarantee {
        Guarantee {
            scope,
            limits: Vec::new(),
        }
    }

    /// Adds a limit, which lowers the promise if it has to.
    pub fn limit(&mut self, limit: Limit) {
        self.scope = self.scope.min(limit.allows());
        self.limits.push(limit);
    }

    /// What is promised: no more than every limit allows.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// What limits it, in the order in which that was learnt.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_never_stronger_than_its_limits_allow() {
        let mut guarantee = Guarantee::new(Scope::Threads);
        guarantee.limit(Limit::OnlyCounted(3));
        assert_eq!(guarantee.scope(), Scope::Threads);
        guarantee.limit(Limit::SectionsDecide);
        guarantee.limit(Limit::StaticLoops);
        assert_eq!(guarantee.scope(), Scope::Orders);
        guarantee.limit(Limit::Untracked(1));
        assert_eq!(guarantee.scope(), Scope::PartOfRun);
        assert_eq!(guarantee.limits().len(), 4);
        let mut run = Guarantee::new(Scope::Run);
        run.limit(Limit::StaticLoops);
        assert_eq!(run.scope(), Scope::Run);
    }
}
