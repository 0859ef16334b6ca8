//! Who a step belongs to, in OpenMP's words, for reports.
//!
//! Two tables that only grow: one has an entry for each task (and for whatever counts as one: an implicit task, an
//! iteration, a section), the other says for each step which of these it belongs to, and the time of joins when it
//! began.
//! Cost: 32 bytes a task, 8 a step; reserved address space that is touched as it is needed.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use deadheat_model::finding::TaskKind;
use deadheat_order::Step;

use crate::check::depot::Depot;
use crate::check::origin::Stack;
use crate::platform::os;

const TASKS: usize = 1 << 31;
const STEPS: usize = 1 << 32;
const DEPENDENCES: u32 = 1 << 26;

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A thread that is not OpenMP's, or the program's first.
    Thread = 0,
    Implicit = 1,
    Explicit = 2,
    /// An explicit task whose creator waits for it.
    Undeferred = 7,
    Iterations = 3,
    Section = 4,
    Single = 5,
    Region = 6,
}

impl Kind {
    /// As findings call it.
    pub fn of_report(self) -> TaskKind {
        match self {
            Kind::Thread => TaskKind::Thread,
            Kind::Implicit => TaskKind::Implicit,
            Kind::Explicit | Kind::Undeferred => TaskKind::Explicit,
            Kind::Iterations => TaskKind::Iterations,
            Kind::Section => TaskKind::Section,
            Kind::Single => TaskKind::Single,
            Kind::Region => TaskKind::Region,
        }
    }
}

/// An entry.
#[derive(Debug)]
#[repr(C)]
pub struct Description {
    /// Where the construct stands in the program.
    pub stack: Stack,
    /// The task that has created it; an implicit task's is its region.
    pub parent: u32,
    /// A chain of dependences: 256 times the address, and the kind.
    pub dependences: AtomicU32,
    /// The thread's number in its team; the first iteration.
    pub number: u64,
    /// How many iterations; for others, the thread that runs it.
    count: AtomicU32,
    pub kind: Kind,
    /// Whether it has asked which thread it runs on.
    asked: AtomicU8,
    /// Whether it, or a task that it is inside of, has dependences.
    joinable: AtomicU8,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Descriptions {
    tasks: *mut Description,
    used: AtomicU32,
    steps: *const AtomicU64,
    pub dependences: Depot,
}

// SAFETY: an entry is written before its number is known to anyone, and then only by atomic stores.
unsafe impl Sync for Descriptions {}
// SAFETY: as above.
unsafe impl Send for Descriptions {}

impl Descriptions {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Descriptions> {
        Some(Descriptions {
            tasks: os::reserve(TASKS * size_of::<Description>())? as *mut Description,
            used: AtomicU32::new(0),
            steps: os::reserve(STEPS * 8)? as *const AtomicU64,
            dependences: Depot::new(DEPENDENCES),
        })
    }

    /// A new entry. The last one serves for all that find no room.
    pub fn add(&self, kind: Kind, parent: u32, stack: Stack, number: u64, count: u32) -> u32 {
        let index = self
            .used
            .fetch_add(1, Ordering::Relaxed)
            .min(TASKS as u32 - 1);
        let description = Description {
            stack,
            parent,
            dependences: AtomicU32::new(0),
            number,
            count: AtomicU32::new(count),
            kind,
            asked: AtomicU8::new(0),
            joinable: AtomicU8::new(0),
        };
        // SAFETY: within the table, and nobody else's index, but for the last.
        unsafe { self.tasks.add(index as usize).write(description) };
        index
    }

    pub fn get(&self, index: u32) -> &Description {
        // SAFETY: within the table; what was never written is a thread without a stack.
        unsafe { &*self.tasks.add(index as usize % TASKS) }
    }

    /// How many entries there are.
    pub fn count(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    fn step(&self, step: Step) -> &AtomicU64 {
        // SAFETY: within the table.
        unsafe { &*self.steps.add(step.0 as usize) }
    }

    /// A step begins, at a time of joins.
    #[inline]
    pub fn set_step(&self, step: Step, task: u32, time: u32) {
        self.step(step)
            .store(u64::from(task) | u64::from(time) << 32, Ordering::Relaxed);
    }

    /// Who a step belongs to.
    pub fn of(&self, step: Step) -> u32 {
        self.step(step).load(Ordering::Relaxed) as u32
    }

    /// The time of joins when a step began.
    #[inline]
    pub fn time(&self, step: Step) -> u32 {
        (self.step(step).load(Ordering::Relaxed) >> 32) as u32
    }

    /// A thread runs a task.
    pub fn run_by(&self, task: u32, thread: u32) {
        let description = self.get(task);
        if !description.is_part() {
            description.count.store(thread, Ordering::Relaxed);
        }
    }

    /// A task has dependences.
    pub fn depend(&self, task: u32, dependences: impl Iterator<Item = (usize, u32)>) {
        let chain = dependences.fold(0, |chain, (address, kind)| {
            self.dependences
                .chain(chain, (address as u64) << 8 | u64::from(kind & 0xff))
        });
        self.get(task).dependences.store(chain, Ordering::Relaxed);
    }

    /// The thread that has run a task.
    pub fn thread(&self, task: u32) -> u32 {
        self.get(self.whole(task)).count.load(Ordering::Relaxed)
    }

    /// The dependences of the task that a step belongs to, or of the innermost around it that has any; 0 if there is none.
    pub fn dependences_of(&self, step: Step) -> u32 {
        let mut task = self.of(step);
        while self.get(task).is_joinable() {
            match self.get(task).dependences.load(Ordering::Relaxed) {
                0 => task = self.get(task).parent,
                chain => return chain,
            }
        }
        0
    }

    /// The implicit task, deferred task or thread that a step is part of.
    pub fn task_of(&self, step: Step) -> u32 {
        self.whole(self.of(step))
    }

    /// What a task is part of, if it is run by whoever runs its parent.
    pub fn whole(&self, mut task: u32) -> u32 {
        while self.get(task).is_part() {
            task = self.get(task).parent;
        }
        task
    }
}

impl Description {
    /// Whether it is run by whoever runs its parent.
    fn is_part(&self) -> bool {
        matches!(
            self.kind,
            Kind::Iterations | Kind::Section | Kind::Single | Kind::Undeferred
        )
    }

    /// How many iterations it is.
    pub fn iterations(&self) -> u32 {
        match self.kind {
            Kind::Iterations => self.count.load(Ordering::Relaxed),
            _ => 0,
        }
    }

    /// Others may come after it by joins.
    pub fn set_joinable(&self) {
        self.joinable.store(1, Ordering::Relaxed);
    }

    pub fn is_joinable(&self) -> bool {
        self.joinable.load(Ordering::Relaxed) != 0
    }

    /// It asks which thread it runs on.
    pub fn ask(&self) {
        self.asked.store(1, Ordering::Relaxed);
    }

    pub fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) != 0
    }
}
