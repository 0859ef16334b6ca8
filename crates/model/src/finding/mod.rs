//! A finding: one thing that can go wrong, with everything a report says about it.
//!
//! Whoever finds something fills a [`Finding`]; reports render it and add nothing. It is the same type for a race of a
//! `.tp` program, of a trace, of a native program and of a task library, for a deadlock and for a failure. What a source
//! cannot know (the stack of an event in a trace, the number of an event in a running program) stays empty.
//!
//! Names, places and stacks are shared, because very many findings have few of them between them. Cost: some 350 bytes a
//! race.

mod bug;
mod describe;
mod identity;
mod place;
mod proof;
mod remedy;
mod task;
mod variable;

pub use bug::{Bug, bugs};
pub use describe::{Describer, short_name};
pub use identity::{Identity, SourceLines};
pub use place::{Frame, Place};
pub use proof::{Proof, Reordering};
pub use remedy::Remedy;
pub use task::{Dependence, DependenceKind, Task, TaskKind};
pub use variable::{Allocation, Storage, Variable, stable_name};

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::{AccessKind, EventNumber, RaceKind};

/// What kind of thing goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Nothing ordered two conflicting accesses.
    Race,
    /// A race that another schedule shows.
    PredictedRace,
    /// A block is freed while another thread uses it.
    UseAfterFree,
    /// A lock is destroyed while it is held.
    DestroyedWhileHeld,
    /// An engine that can be wrong says so.
    Suspect,
    /// Nobody can go on.
    Deadlock,
    /// The program failed.
    Failure,
}

/// How well founded a race is, as an explanation or a run has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The two accesses ran at the same time.
    Actual,
    /// Some schedule runs them at the same time.
    Feasible,
    /// They may be possible only because of another race.
    Tangled,
    /// A reordering that a checker accepted shows them.
    Predicted,
    /// Nothing orders the two accesses, and nothing that may decide whether they are made.
    Certain,
    /// In the run they came in this order by critical sections through which values flow, or on one thread by tasks that had asked for
    /// its number: in another order of the sections, or on other threads, they might not be made.
    Possible,
}

/// What an access is part of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AccessCause {
    /// One instruction.
    #[default]
    Instruction,
    /// A call that touches a piece of memory, such as `memcpy` or `read`.
    Range,
    /// The block is freed.
    Free,
    /// The pointer to a C++ object's table of virtual functions.
    VirtualTable,
    /// A lock is taken, and not given back before it is destroyed.
    LockTaken,
    /// A lock is destroyed that is held.
    LockDestroyed,
    /// A lock begins or ends.
    LockLife,
    /// Instructions of a loop, all checked at once: of how many bytes each is, is not known.
    Loop,
}

/// What somebody does on one side of a finding.
#[derive(Clone, PartialEq, Debug)]
pub enum Act {
    /// Accesses memory.
    Access {
        /// Whether it reads or writes.
        kind: AccessKind,
        /// What it is part of.
        cause: AccessCause,
        /// Whether it is an atomic operation.
        atomic: bool,
        /// How many bytes; 0 where sizes are not known, as in traces.
        size: u64,
    },
    /// Waits, for this.
    Wait(Arc<str>),
    /// Wants a lock that another one has; for reading, unless it wants it alone.
    Want {
        /// Its name.
        lock: Arc<str>,
        /// Whether it wants it alone.
        exclusive: bool,
    },
    /// Waits for the end of this thread.
    Join(Arc<str>),
    /// Fails, with this message.
    Fail(Arc<str>),
    /// Has set the promise that is set again.
    SetFirst,
}

/// One side of a finding: an access of a race, a wait of a deadlock, the place of a failure.
#[derive(Clone, Debug)]
pub struct Side {
    /// What is done.
    pub act: Act,
    /// The name of the thread or task.
    pub thread: Arc<str>,
    /// Where in the program's own source.
    pub place: Arc<Place>,
    /// The number of the event in the execution, from 1; 0 where events have none.
    pub event: EventNumber,
    /// The calls that led there, innermost first.
    pub stack: Arc<[Arc<Frame>]>,
    /// The locks held.
    pub locks: Arc<[HeldLock]>,
    /// The task of OpenMP that does it, who created that, and so on outwards.
    pub tasks: Arc<[Task]>,
}

/// A lock that was held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldLock {
    /// Its name, or its address.
    pub name: String,
    /// Held for writing, that is alone.
    pub exclusive: bool,
    /// Where it was taken, if that is known.
    pub taken: Option<Arc<Place>>,
}

impl HeldLock {
    /// What a trace calls a lock between two of the barriers across which it is held, `times` after the first; 0: its own name.
    pub fn held_across(times: u64) -> String {
        match times {
            0 => String::new(),
            1 => format!("{HELD_ACROSS}a barrier"),
            n => format!("{HELD_ACROSS}{n} barriers"),
        }
    }

    /// A lock by the name that a trace gives it: one that is held across barriers has several there.
    pub fn traced(name: &str, exclusive: bool) -> HeldLock {
        let own = name.split_once(&format!(" ({HELD_ACROSS}"));
        HeldLock {
            name: own.map_or(name, |(own, _)| own).to_string(),
            exclusive,
            taken: None,
        }
    }
}

const HELD_ACROSS: &str = "held across ";

/// How a thread came to be.
#[derive(Clone, Debug)]
pub struct Creation {
    /// The thread.
    pub thread: Arc<str>,
    /// Who created it.
    pub parent: Arc<str>,
    /// Where, in the program's own source.
    pub place: Arc<Place>,
    /// The calls that led there, innermost first.
    pub stack: Arc<[Arc<Frame>]>,
    /// Whether it had ended when the finding was made.
    pub finished: bool,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is.
    pub rule: Rule,
    /// The same in every format, for every command, and tomorrow.
    pub identity: Identity,
    /// Who found it.
    pub engine: &'static str,
    /// What the accesses touch; nothing for what is no race.
    pub variable: Variable,
    /// The two accesses of a race, the earlier one first; everybody who waits in a deadlock; the place of a failure.
    pub sides: Vec<Side>,
    /// How many pairs of accesses a race stands for, how many wait in a deadlock.
    pub count: u64,
    /// How the threads of the finding came to be, as far as that is known; the first thread is not among them.
    pub creations: Arc<[Creation]>,
    /// The process, if there was more than one.
    pub process: Option<u64>,
    /// How well founded it is, if that was judged.
    pub status: Option<Status>,
    /// Whether no other race can have caused it, if that was judged.
    pub is_first: Option<bool>,
    /// What would have ordered the accesses or kept them apart, where that is known.
    pub remedy: Option<Remedy>,
    /// What shows it, accepted by its checker.
    pub proof: Option<Arc<dyn Proof>>,
    /// A read in the order that shows it that raced: if it saw another write than was recorded, the order shows nothing.
    pub rests_on: Option<RacingRead>,
    /// A wait on a condition variable that ends earlier in that order than in the run: a spurious wake-up, perhaps.
    pub wakes_early: Option<Arc<Place>>,
}

/// A read that raced with a write.
#[derive(Clone, Debug)]
pub struct RacingRead {
    /// What was read.
    pub variable: Arc<str>,
    /// Where in the program's own source.
    pub place: Arc<Place>,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 7] = [
        Rule::Race,
        Rule::PredictedRace,
        Rule::UseAfterFree,
        Rule::DestroyedWhileHeld,
        Rule::Suspect,
        Rule::Deadlock,
        Rule::Failure,
    ];

    /// Its name, for other programs to read.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Race => "race",
            Rule::PredictedRace => "predicted-race",
            Rule::UseAfterFree => "use-after-free",
            Rule::DestroyedWhileHeld => "destroyed-while-held",
            Rule::Suspect => "suspect",
            Rule::Deadlock => "deadlock",
            Rule::Failure => "failure",
        }
    }

    /// What findings of this rule share in their identity: however a race was found, it is the same race.
    pub fn family(self) -> &'static str {
        match self {
            Rule::Race | Rule::PredictedRace | Rule::UseAfterFree | Rule::Suspect => "race",
            Rule::DestroyedWhileHeld => "lock",
            Rule::Deadlock => "deadlock",
            Rule::Failure => "error",
        }
    }
}

impl Status {
    /// Its name, for other programs to read.
    pub fn name(self) -> &'static str {
        match self {
            Status::Actual => "actual",
            Status::Feasible => "feasible",
            Status::Tangled => "tangled",
            Status::Predicted => "predicted",
            Status::Certain => "certain",
            Status::Possible => "possible",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Act {
    /// An access about which nothing else is known.
    pub fn plain(kind: AccessKind) -> Act {
        Act::Access {
            kind,
            cause: AccessCause::Instruction,
            atomic: false,
            size: 0,
        }
    }

    /// Whether it reads or writes, if it accesses memory. Freeing counts as writing.
    pub fn kind(&self) -> Option<AccessKind> {
        match self {
            Act::Access { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// Whether it writes.
    pub fn writes(&self) -> bool {
        self.kind() == Some(AccessKind::Write)
    }

    /// Whether it frees.
    pub fn frees(&self) -> bool {
        matches!(
            self,
            Act::Access {
                cause: AccessCause::Free,
                ..
            }
        )
    }

    /// Whether a lock begins or ends by it.
    pub fn begins_or_ends_lock(&self) -> bool {
        matches!(
            self,
            Act::Access {
                cause: AccessCause::LockLife,
                ..
            }
        )
    }

    /// Whether it is an atomic operation.
    pub fn is_atomic(&self) -> bool {
        matches!(self, Act::Access { atomic: true, .. })
    }
}

impl Side {
    /// Somebody does something at a place; nothing else is known.
    pub fn new(act: Act, thread: Arc<str>, place: Arc<Place>) -> Side {
        Side {
            act,
            thread,
            place,
            event: 0,
            stack: Arc::default(),
            locks: Arc::default(),
            tasks: Arc::default(),
        }
    }
}

impl Finding {
    /// Whether another order of critical sections, or tasks on other threads, might not have it: nobody knows.
    pub fn is_possible(&self) -> bool {
        self.status == Some(Status::Possible)
    }

    /// A finding that still lacks its identity and whatever else its source knows.
    pub fn new(rule: Rule, engine: &'static str, variable: Variable, sides: Vec<Side>) -> Finding {
        Finding {
            rule,
            identity: Identity::default(),
            engine,
            variable,
            sides,
            count: 1,
            creations: Arc::default(),
            process: None,
            status: None,
            is_first: None,
            remedy: None,
            proof: None,
            rests_on: None,
            wakes_early: None,
        }
    }

    /// The two accesses, if it is about such.
    pub fn pair(&self) -> Option<(&Side, &Side)> {
        match &self.sides[..] {
            [first, second] if first.act.kind().and(second.act.kind()).is_some() => {
                Some((first, second))
            }
            _ => None,
        }
    }

    /// `write-read` and so on: what the first access does, then what the second does.
    pub fn kind(&self) -> Option<RaceKind> {
        let (first, second) = self.pair()?;
        Some(RaceKind(first.act.kind()?, second.act.kind()?))
    }

    /// Gives it its identity, by what its lines say.
    #[must_use]
    pub fn identified(mut self, lines: &dyn SourceLines) -> Finding {
        let places: Vec<&Place> = match self.rule {
            // Where the promise was set first is a matter of chance.
            Rule::Failure => self.sides.iter().take(1).map(|side| &*side.place).collect(),
            _ => self.sides.iter().map(|side| &*side.place).collect(),
        };
        let about = match self.sides.first().map(|side| &side.act) {
            Some(Act::Fail(message)) => message,
            _ => &self.variable.name,
        };
        self.identity = Identity::new(self.rule, about, &places, lines);
        self
    }
}

#[cfg(test)]
mod tests;
