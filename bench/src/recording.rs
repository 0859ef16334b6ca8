//! Executions written down directly, as one worker would run the program: depth first, a task right
//! after it was started, its starter afterwards.
//!
//! Cost: 16 bytes an event, and a line of a table for each task.

use std::ops::Range;

use deadheat_model::{
    Event, Execution, Finish, Location, Op, Parent, Promise, ReadKind, Site, Strand,
};
use deadheat_online::PAGE;

/// An execution in the making. What is called happens in the task started last that has not ended.
pub struct Recording {
    execution: Execution,
    /// The tasks that have not ended, innermost last, and how many children each has started.
    path: Vec<(Strand, u32)>,
    /// Open ones, innermost last.
    finishes: Vec<Finish>,
    next_finish: u64,
    next_promise: u64,
    next_location: u64,
    recorded: Coverage,
}

/// Which of a program's accesses are recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coverage {
    All,
    /// Those that make pages.
    Pages,
    None,
}

impl Recording {
    /// What a program does.
    pub fn of(program: impl Fn(&mut Recording)) -> Execution {
        Recording::make(program, Coverage::All)
    }

    /// What a program does but for its accesses: the rest, to be subtracted. Pages of
    /// [`Recording::used_room`] are made nevertheless.
    pub fn without_accesses(program: impl Fn(&mut Recording)) -> Execution {
        Recording::make(program, Coverage::Pages)
    }

    /// What a program does without touching anything at all.
    pub fn tasks_only(program: impl Fn(&mut Recording)) -> Execution {
        Recording::make(program, Coverage::None)
    }

    fn make(program: impl Fn(&mut Recording), recorded: Coverage) -> Execution {
        let mut recording = Recording {
            execution: Execution::default(),
            path: Vec::new(),
            finishes: Vec::new(),
            next_finish: 0,
            next_promise: 0,
            next_location: 0,
            recorded,
        };
        recording.begin();
        program(&mut recording);
        recording.end();
        let mut execution = recording.execution;
        let names = &mut execution.names;
        names.sites.push("1".to_string());
        names.strands = vec![String::new(); names.parents.len()];
        names.locations = vec![String::new(); recording.next_location as usize];
        execution
    }

    /// So many locations that nobody else has.
    pub fn room(&mut self, count: usize) -> Range<u64> {
        let start = self.next_location;
        self.next_location += count as u64;
        start..self.next_location
    }

    /// The same, where the first task has written one location of each page: making pages is no part
    /// of what an access costs later.
    pub fn used_room(&mut self, count: usize) -> Range<u64> {
        let room = self.room(count);
        if self.recorded != Coverage::None {
            for location in room.clone().step_by(PAGE).chain(room.clone().last()) {
                self.push(Op::Write(Location(location)));
            }
        }
        room
    }

    /// Starts a task.
    pub fn spawn(&mut self) {
        let child = self.begin();
        self.start(child, Op::Async(child));
    }

    /// Starts a task that can be waited for with [`Recording::join`].
    pub fn future(&mut self) -> Strand {
        let child = self.begin();
        self.start(child, Op::Future(child));
        child
    }

    /// The task ends.
    pub fn end(&mut self) {
        self.push(Op::End);
        self.path.pop();
    }

    pub fn begin_finish(&mut self) {
        let finish = Finish(self.next_finish);
        self.next_finish += 1;
        self.finishes.push(finish);
        self.push(Op::FinishBegin(finish));
    }

    pub fn end_finish(&mut self) {
        let finish = self.finishes.pop().expect("an open finish");
        self.push(Op::FinishEnd(finish));
    }

    pub fn promise(&mut self) -> Promise {
        let promise = Promise(self.next_promise);
        self.next_promise += 1;
        self.push(Op::NewPromise(promise));
        promise
    }

    pub fn set(&mut self, promise: Promise) {
        self.push(Op::Set(promise));
    }

    pub fn get(&mut self, promise: Promise) {
        self.push(Op::Get(promise));
    }

    pub fn join(&mut self, future: Strand) {
        self.push(Op::Join(future));
    }

    pub fn read(&mut self, location: u64) {
        if self.recorded == Coverage::All {
            self.push(Op::Read(Location(location), ReadKind::Data));
        }
    }

    pub fn write(&mut self, location: u64) {
        if self.recorded == Coverage::All {
            self.push(Op::Write(Location(location)));
        }
    }

    /// A strand begins, the innermost one now.
    fn begin(&mut self) -> Strand {
        let parents = &mut self.execution.names.parents;
        let strand = Strand(parents.len() as u32);
        parents.push(self.path.last_mut().map(|(parent, children)| {
            *children += 1;
            Parent {
                strand: *parent,
                ordinal: *children,
            }
        }));
        self.path.push((strand, 0));
        strand
    }

    /// The event by which the innermost strand was started.
    fn start(&mut self, child: Strand, op: Op) {
        let parent = self.execution.names.parents[child.index()];
        let parent = parent.expect("a strand that starts it");
        let event = Event::new(parent.strand, op, Site(0));
        self.execution.events.push(event);
    }

    fn push(&mut self, op: Op) {
        let (strand, _) = *self.path.last().expect("a strand that runs");
        self.execution.events.push(Event::new(strand, op, Site(0)));
    }
}

/// How many tasks were started.
pub fn tasks(execution: &Execution) -> usize {
    execution.names.strands.len() - 1
}

/// How many plain accesses there are.
pub fn accesses(execution: &Execution) -> usize {
    let events = execution.events.iter();
    events.filter(|event| event.access().is_some()).count()
}
