//! Traces of threads of any size, that look like those of programs, event by event.
//!
//! The idea: thread 0 writes what all will read, forks the others, everybody runs procedures, thread
//! 0 joins them. A procedure is a few places in the source that always do the same: make an object
//! or use one that is the thread's own; read what was written before the forks; enter a section of
//! a lock and use the lock's objects, perhaps entering a section of a higher lock inside; put an
//! object into a cell that a lock protects or take one out of it; or touch a variable that nothing
//! protects. A thread plans a procedure and then does it, in turns with the others; where it finds a
//! lock taken, its turn is over. What is planned next is what the trace has too little of so far.
//!
//! Guarantee: the trace is well-formed, has exactly the asked number of events (fewer only where threads
//! have no variable and no lock to use), and depends on the shape alone. Without a racy share it
//! has no predictable race: a variable is one thread's own; or read-only after the forks; or always
//! used under the same lock; or handed over, in which case the taker has read, under the cell's lock,
//! what the giver wrote behind its last use, so that no reordering in which that read sees the same
//! write brings the two uses together.
//!
//! Cost: some ns for each event; memory for each thread, lock and site, none for events and
//! variables.

mod code;
mod due;
mod heap;
mod layout;
#[cfg(test)]
mod tests;

use deadheat_model::{Event, Location, Lock, Names, Op, ReadKind, Site, Strand};
use fastrand::Rng;
use thiserror::Error;

use code::{Code, Procedure, Step};
use due::Due;
use heap::{FIELDS, Heap};
use layout::Layout;

/// What a trace should be like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    /// How many events.
    pub events: u64,
    /// How many threads, thread 0 among them.
    pub threads: u32,
    /// How many variables there are to be used. Most are.
    pub variables: u64,
    /// How many locks.
    pub locks: u32,
    /// How many places in the source.
    pub sites: u32,
    /// How many sections can be inside one another.
    pub nesting: u32,
    /// How many of the events are acquires and releases.
    pub sync_share: f64,
    /// How many of the accesses are reads.
    pub read_share: f64,
    /// How many of the accesses can race.
    pub racy_share: f64,
    /// Another seed, another trace.
    pub seed: u64,
}

/// Why there is no such trace.
#[derive(Clone, PartialEq, Debug, Error)]
#[allow(missing_docs)]
pub enum ShapeError {
    #[error("a trace has at least one thread")]
    NoThread,
    #[error("a trace has at least one site")]
    NoSite,
    #[error("{threads} threads need {} events to be forked and joined: ask for more than {events}",
        2 * (u64::from(*threads) - 1))]
    TooFewEvents { threads: u32, events: u64 },
    #[error("{what} cannot be as many as {number}: there are {events} events")]
    TooMany {
        what: &'static str,
        number: u64,
        events: u64,
    },
    #[error("{what} has to be between 0 and 1, and is {share}")]
    NoShare { what: &'static str, share: f64 },
}

impl Shape {
    /// What the numbers in the trace are called: `T0`, `V0`, `L0`, and the bare number of a site.
    pub fn names(&self) -> Names {
        // An object without a name is called by its letter and number, and there may be millions.
        let unnamed = |number: u64| vec![String::new(); number as usize];
        Names {
            strands: unnamed(self.threads.into()),
            sites: (0..self.sites).map(|site| site.to_string()).collect(),
            locations: unnamed(self.variables),
            locks: unnamed(self.locks.into()),
            ..Names::default()
        }
    }

    fn check(&self) -> Result<(), ShapeError> {
        let events = self.events;
        if self.threads == 0 {
            return Err(ShapeError::NoThread);
        }
        if self.sites == 0 {
            return Err(ShapeError::NoSite);
        }
        if 2 * self.forks() > events {
            let threads = self.threads;
            return Err(ShapeError::TooFewEvents { threads, events });
        }
        let numbers = [
            ("variables", self.variables),
            ("locks", self.locks.into()),
            ("sites", self.sites.into()),
        ];
        for (what, number) in numbers {
            if number > events.max(1) {
                return Err(ShapeError::TooMany {
                    what,
                    number,
                    events,
                });
            }
        }
        let shares = [
            ("the share of acquires and releases", self.sync_share),
            ("the share of reads", self.read_share),
            ("the share of racy accesses", self.racy_share),
        ];
        for (what, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return Err(ShapeError::NoShare { what, share });
            }
        }
        Ok(())
    }

    fn forks(&self) -> u64 {
        u64::from(self.threads) - 1
    }

    /// How many accesses there will be, about.
    fn accesses(&self) -> f64 {
        let sync_share = if self.locks == 0 {
            0.0
        } else {
            self.sync_share
        };
        (self.events - 2 * self.forks()) as f64 * (1.0 - sync_share)
    }

    /// Which share of what is neither made, nor read by all, nor racy, is read: so that the sum is as
    /// asked.
    fn read_share_of_uses(&self) -> f64 {
        let made = self.variables as f64 / self.accesses().max(1.0);
        let reads = self.read_share - SHARED - self.racy_share / 2.0;
        let uses = 1.0 - SHARED - self.racy_share - made;
        (reads / uses.max(0.05)).clamp(0.0, 1.0)
    }
}

/// The share of accesses to, and of variables with, what is written before the forks only.
const SHARED: f64 = 0.1;
/// The same for what locks protect; the rest is threads' own.
const PROTECTED: f64 = 0.25;
/// Events are handed out in pieces of about this size.
const PIECE: usize = 4096;
/// How many events a turn has, on average; fewer where that would leave a thread few turns.
const TURN: u32 = 25;
/// How many racy procedures in a row are about the same variable; that keeps the racy pairs of
/// events, which grow with the square of it, few.
const RACES_EACH: u64 = 8;
/// No procedure is planned longer; this, too, is less in short traces.
const LONGEST: u64 = 1024;
/// How many handed-over objects there are at most.
const CELLS: u64 = 16;

/// Whose is the object of a cell?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// Nobody has used it yet.
    New,
    /// A thread's, that may use it and put it.
    Held(u32),
    /// Being put.
    Leaving,
    /// In the cell: who takes it, has it.
    There,
}

/// What a thread is about to do.
#[derive(Default)]
struct Thread {
    plan: Vec<Event>,
    /// How much of it is done.
    done: usize,
    /// The cell that is full once the plan is done.
    puts: Option<usize>,
    last_lock: Option<u32>,
}

/// How many events of what kind are planned or done.
#[derive(Default)]
struct EventCounts {
    events: u64,
    syncs: u64,
    shared: u64,
    racy: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Thread 0 is about to write the n-th variable that all read.
    Writing(u64),
    /// It is about to fork that thread.
    Forking(u32),
    Working,
    /// It is about to join that thread.
    Joining(u32),
}

/// A trace, as an iterator over its events.
pub struct Generator {
    shape: Shape,
    rng: Rng,
    code: Code,
    phase: Phase,
    layout: Layout,
    cells: Vec<Cell>,
    /// How many times a racy procedure has been planned.
    races: u64,
    /// A racy variable and who used it: whoever comes next uses it, too.
    dare: Option<(u64, u32)>,
    threads: Vec<Thread>,
    /// Who has not finished.
    running: Vec<u32>,
    /// Whose turn it is, by place in `running`, and for how many events.
    turn: usize,
    left: u32,
    mean_turn: u32,
    longest: u64,
    /// By lock.
    holders: Vec<Option<u32>>,
    /// Locks below have been taken, or are about to be.
    locks_used: u32,
    own_due: Due,
    protected_due: Due,
    locks_due: Due,
    planned: EventCounts,
    /// Events to hand out, from `given` on.
    piece: Vec<Event>,
    given: usize,
}

/// The trace of that shape.
pub fn generate(shape: Shape) -> Result<Generator, ShapeError> {
    shape.check()?;
    let layout = Layout::new(&shape);
    let accesses = shape.accesses();
    let own_share = (1.0 - SHARED - PROTECTED - shape.racy_share).max(0.0);
    let variables = |heaps: &[Heap]| heaps.iter().map(Heap::variables).sum();
    let each = shape.events / u64::from(shape.threads);
    Ok(Generator {
        rng: Rng::with_seed(shape.seed),
        code: Code::new(shape.sites, shape.read_share_of_uses(), layout.racy > 0),
        phase: Phase::Writing(0),
        cells: vec![Cell::New; layout.cells as usize],
        races: 0,
        dare: None,
        threads: (0..shape.threads).map(|_| Thread::default()).collect(),
        running: (0..shape.threads).collect(),
        turn: 0,
        left: 0,
        mean_turn: (each / 8).clamp(1, TURN.into()) as u32,
        longest: (each / 2).clamp(1, LONGEST),
        holders: vec![None; shape.locks as usize],
        locks_used: 0,
        own_due: Due::new(variables(&layout.own), own_share * accesses),
        protected_due: Due::new(variables(&layout.protected), PROTECTED * accesses),
        locks_due: Due::new(
            shape.locks.into(),
            shape.sync_share * shape.events as f64 / 2.0,
        ),
        planned: EventCounts {
            events: 2 * shape.forks() + layout.shared.variables(),
            ..EventCounts::default()
        },
        piece: Vec::with_capacity(PIECE + 2 * TURN as usize),
        given: 0,
        layout,
        shape,
    })
}

impl Iterator for Generator {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if self.given == self.piece.len() {
            self.next_piece();
        }
        let event = self.piece.get(self.given).copied();
        self.given += usize::from(event.is_some());
        event
    }
}

impl Generator {
    /// Makes the next events to hand out; none at the end of the trace.
    fn next_piece(&mut self) {
        self.piece.clear();
        self.given = 0;
        while self.piece.len() < PIECE {
            match self.phase {
                Phase::Writing(n) if n < self.layout.shared.variables() => {
                    let (variable, step) = (self.layout.shared.nth(n), n as usize);
                    let site = self.code.shared_maker.step(step).site;
                    self.piece.push(write(0, variable, site));
                    self.phase = Phase::Writing(n + 1);
                }
                Phase::Writing(_) => self.phase = Phase::Forking(1),
                Phase::Forking(thread) if thread < self.shape.threads => {
                    let op = Op::Fork(Strand(thread));
                    self.piece
                        .push(Event::new(Strand::MAIN, op, self.code.fork));
                    self.phase = Phase::Forking(thread + 1);
                }
                Phase::Forking(_) => self.phase = Phase::Working,
                Phase::Working if !self.running.is_empty() => self.work(),
                Phase::Working => self.phase = Phase::Joining(1),
                Phase::Joining(thread) if thread < self.shape.threads => {
                    let op = Op::Join(Strand(thread));
                    self.piece
                        .push(Event::new(Strand::MAIN, op, self.code.join));
                    self.phase = Phase::Joining(thread + 1);
                }
                Phase::Joining(_) => break,
            }
        }
    }

    /// Lets the thread whose turn it is go on: to the end of its turn or its plan, or to a lock that
    /// another holds. Somebody can always go on, since locks are taken in the order of their
    /// numbers.
    fn work(&mut self) {
        if self.left == 0 {
            self.turn = self.rng.usize(..self.running.len());
            self.left = self.rng.u32(1..2 * self.mean_turn);
        }
        let number = self.running[self.turn];
        if self.threads[number as usize].plan.is_empty() && !self.plan(number) {
            self.running.swap_remove(self.turn);
            self.left = 0;
            return;
        }
        let thread = &mut self.threads[number as usize];
        let end = thread.plan.len().min(thread.done + self.left as usize);
        let mut blocked = false;
        while thread.done < end {
            let event = thread.plan[thread.done];
            match event.op() {
                Op::Acquire(lock) => {
                    let holder = &mut self.holders[lock.index()];
                    if holder.is_some() {
                        blocked = true;
                        break;
                    }
                    *holder = Some(number);
                }
                Op::Release(lock) => self.holders[lock.index()] = None,
                _ => {}
            }
            self.piece.push(event);
            thread.done += 1;
            self.left -= 1;
        }
        if blocked {
            self.left = 0;
        }
        if thread.done == thread.plan.len() {
            thread.plan.clear();
            thread.done = 0;
            if let Some(cell) = thread.puts.take() {
                self.cells[cell] = Cell::There;
            }
        }
    }

    /// Plans the thread's next procedure; `false` if it has finished.
    fn plan(&mut self, thread: u32) -> bool {
        let room = self.shape.events.saturating_sub(self.planned.events);
        let room = room.min(self.longest) as usize;
        let mut plan = std::mem::take(&mut self.threads[thread as usize].plan);
        if room > 0 {
            self.choose(thread, room, &mut plan);
        }
        debug_assert!(plan.len() <= room);
        self.planned.events += plan.len() as u64;
        let planned = !plan.is_empty();
        self.threads[thread as usize].plan = plan;
        planned
    }

    /// Plans what there is too little of.
    fn choose(&mut self, thread: u32, room: usize, plan: &mut Vec<Event>) {
        let planned = &self.planned;
        let events = (planned.events + 1) as f64;
        let accesses = events - planned.syncs as f64;
        let dared = self.dare.is_some_and(|(_, by)| by != thread);
        let own = self.layout.own[thread as usize].variables() > 0;
        let shared = self.layout.shared.variables() > 0;
        let locks = self.shape.locks > 0 && self.shape.sync_share > 0.0 && room >= 2;

        if self.layout.racy > 0
            && (dared || (planned.racy as f64) < self.shape.racy_share * accesses)
        {
            self.race(thread, room, plan);
        } else if locks && (planned.syncs as f64) < self.shape.sync_share * events {
            if !self.hand_over(thread, room, plan) {
                let lock = self.pick_lock(thread);
                self.section(thread, lock, 1, room, plan);
            }
        } else if shared && (!own || (planned.shared as f64) < SHARED * accesses) {
            self.read_shared(thread, room, plan);
        } else if own {
            let uses = self.rng.usize(4..24);
            self.use_own(thread, uses, room, plan);
        } else if locks {
            let lock = self.pick_lock(thread);
            self.section(thread, lock, 1, room, plan);
        }
    }

    /// Loops over the thread's own objects: about that many accesses, and no more than fit.
    fn use_own(&mut self, thread: u32, uses: usize, limit: usize, plan: &mut Vec<Event>) {
        self.own_due.pass(uses);
        let heap = &mut self.layout.own[thread as usize];
        let end = limit.min(plan.len() + uses);
        while plan.len() < end {
            if let Some(object) = heap.make(&mut self.own_due) {
                make(thread, heap, object, &self.code.own_maker, limit, plan);
            } else {
                let object = heap.pick(&mut self.rng);
                let procedure = Code::one_of(&self.code.own, object, self.rng.bool());
                access(thread, heap, object, procedure, end, plan);
            }
        }
    }

    /// Loops over what was written before the forks.
    fn read_shared(&mut self, thread: u32, room: usize, plan: &mut Vec<Event>) {
        let end = self.rng.usize(2..16).min(room);
        while plan.len() < end {
            let object = self.layout.shared.pick(&mut self.rng);
            let procedure = Code::one_of(&self.code.shared, object, self.rng.bool());
            access(thread, &self.layout.shared, object, procedure, end, plan);
        }
        self.planned.shared += plan.len() as u64;
    }

    /// A section of a lock, in which there may be one of another: up to the `limit`th event of the
    /// plan, which has room for two at least.
    fn section(&mut self, thread: u32, lock: u32, depth: u32, limit: usize, plan: &mut Vec<Event>) {
        let procedure = *Code::one_of(&self.code.protected, lock.into(), self.rng.bool());
        plan.push(acquire(thread, lock, procedure.enter));
        self.planned.syncs += 2;

        // As many accesses as make the protected ones the share they should be.
        let sync_share = self.shape.sync_share;
        let mean = (2.0 * PROTECTED * (1.0 - sync_share) / sync_share).min(40.0);
        let uses = (self.rng.f64() * (2.0 * mean + 1.0)) as usize;
        if self.layout.protected[lock as usize].variables() > 0 {
            self.use_protected(thread, lock, uses, limit - 1, plan);
        } else if self.layout.own[thread as usize].variables() > 0 {
            self.use_own(thread, uses, limit - 1, plan);
        }

        let above = self.shape.locks - lock - 1;
        let deeper = depth < self.shape.nesting && above > 0 && self.rng.u8(..4) == 0;
        if deeper && plan.len() + 3 <= limit {
            let inner = lock + 1 + self.rng.u32(..above.min(8));
            self.section(thread, inner, depth + 1, limit - 1, plan);
        }
        plan.push(release(thread, lock, procedure.leave));
    }

    /// The same with a lock's objects.
    fn use_protected(
        &mut self,
        thread: u32,
        lock: u32,
        uses: usize,
        limit: usize,
        plan: &mut Vec<Event>,
    ) {
        self.protected_due.pass(uses);
        let heap = &mut self.layout.protected[lock as usize];
        let end = limit.min(plan.len() + uses);
        while plan.len() < end {
            if let Some(object) = heap.make(&mut self.protected_due) {
                make(
                    thread,
                    heap,
                    object,
                    &self.code.protected_maker,
                    limit,
                    plan,
                );
            } else {
                let object = heap.pick(&mut self.rng);
                let procedure = Code::one_of(&self.code.protected, lock.into(), self.rng.bool());
                access(thread, heap, object, procedure, end, plan);
            }
        }
    }

    /// The lock the thread had last, or a new one if it is time, or any: the lower, the more often.
    fn pick_lock(&mut self, thread: u32) -> u32 {
        let locks = self.shape.locks;
        self.locks_due.pass(1);
        let last = &mut self.threads[thread as usize].last_lock;
        let lock = if self.locks_used < locks && self.locks_due.take(1) {
            self.locks_used += 1;
            self.locks_used - 1
        } else {
            match *last {
                Some(lock) if self.rng.bool() => lock,
                _ => heap::skewed(locks.into(), self.rng.u32(..)) as u32,
            }
        };
        *last = Some(lock);
        lock
    }

    /// Puts an object into a cell or takes one, if it is time for that and the cell allows it.
    fn hand_over(&mut self, thread: u32, room: usize, plan: &mut Vec<Event>) -> bool {
        if self.cells.is_empty() || room < 2 * FIELDS as usize + 4 || self.rng.u8(..8) != 0 {
            return false;
        }
        let cell = self.rng.usize(..self.cells.len());
        let lock = cell as u32 % self.shape.locks;
        let slot = self.cell_variable(cell, 0);
        match self.cells[cell] {
            Cell::New => self.put(thread, lock, cell, plan),
            Cell::Held(holder) if holder == thread => self.put(thread, lock, cell, plan),
            Cell::There => {
                let take = self.code.take;
                plan.push(acquire(thread, lock, take.enter));
                plan.push(read(thread, slot, self.code.slot_read));
                plan.push(write(thread, slot, self.code.slot_empty));
                plan.push(release(thread, lock, take.leave));
                self.use_handed_over(thread, cell, &take, plan);
                self.cells[cell] = Cell::Held(thread);
            }
            Cell::Held(_) | Cell::Leaving => return false,
        }
        self.planned.syncs += 2;
        true
    }

    fn put(&mut self, thread: u32, lock: u32, cell: usize, plan: &mut Vec<Event>) {
        let put = self.code.put;
        self.use_handed_over(thread, cell, &put, plan);
        plan.push(acquire(thread, lock, put.enter));
        plan.push(write(
            thread,
            self.cell_variable(cell, 0),
            self.code.slot_full,
        ));
        plan.push(release(thread, lock, put.leave));
        self.cells[cell] = Cell::Leaving;
        self.threads[thread as usize].puts = Some(cell);
    }

    fn use_handed_over(
        &self,
        thread: u32,
        cell: usize,
        procedure: &Procedure,
        plan: &mut Vec<Event>,
    ) {
        for step in procedure.steps() {
            let variable = self.cell_variable(cell, 1 + u64::from(step.field));
            plan.push(done(thread, variable, step));
        }
    }

    /// Of a cell, variable 0 is the slot, which its lock protects; the others are the object that is
    /// handed over.
    fn cell_variable(&self, cell: usize, n: u64) -> u64 {
        self.layout.first_in_cells + cell as u64 * (FIELDS + 1) + n
    }

    /// Touches a variable that nothing protects, or that somebody else forgets to protect. Half of
    /// the time, the next thread that comes along does so, too: such pairs have little between
    /// them, others much.
    fn race(&mut self, thread: u32, room: usize, plan: &mut Vec<Event>) {
        let seen = (self.races / RACES_EACH + 1).min(self.layout.racy);
        let n = match self.dare.take_if(|(_, by)| *by != thread) {
            Some((n, _)) => n,
            None => {
                let n = match self.rng.u8(..4) {
                    0 => self.rng.u64(..seen),
                    _ => self.races / RACES_EACH % self.layout.racy,
                };
                self.dare = self.rng.bool().then_some((n, thread));
                n
            }
        };
        self.races += 1;
        let variable = self.layout.first_racy + n;
        let family = self.code.racy[n as usize % self.code.racy.len()];
        match self.rng.u8(..3) {
            0 if room >= 2 => {
                plan.push(read(thread, variable, family.read));
                plan.push(write(thread, variable, family.write));
            }
            1 if room >= 3 && self.shape.locks > 0 && self.shape.sync_share > 0.0 => {
                let lock = (n % u64::from(self.shape.locks)) as u32;
                plan.push(acquire(thread, lock, family.acquire));
                plan.push(write(thread, variable, family.write_in_section));
                plan.push(release(thread, lock, family.release));
                self.planned.syncs += 2;
                self.planned.racy += 1;
                return;
            }
            1 => plan.push(write(thread, variable, family.write)),
            _ => plan.push(read(thread, variable, family.read)),
        }
        self.planned.racy += plan.len() as u64;
    }
}

/// The procedure's steps on one object, up to the `end`th event of the plan.
fn access(
    thread: u32,
    heap: &Heap,
    object: u64,
    procedure: &Procedure,
    end: usize,
    plan: &mut Vec<Event>,
) {
    for step in procedure.steps().iter().take(end - plan.len()) {
        plan.push(done(thread, heap.field(object, step.field), step));
    }
}

/// The same for each field that a new object has.
fn make(
    thread: u32,
    heap: &Heap,
    object: u64,
    maker: &Procedure,
    end: usize,
    plan: &mut Vec<Event>,
) {
    let end = end.min(plan.len() + heap.fields(object));
    access(thread, heap, object, maker, end, plan);
}

#[inline]
fn done(thread: u32, variable: u64, step: &Step) -> Event {
    if step.read {
        read(thread, variable, step.site)
    } else {
        write(thread, variable, step.site)
    }
}

#[inline]
fn read(thread: u32, variable: u64, site: Site) -> Event {
    let op = Op::Read(Location(variable), ReadKind::Control);
    Event::new(Strand(thread), op, site)
}

#[inline]
fn write(thread: u32, variable: u64, site: Site) -> Event {
    Event::new(Strand(thread), Op::Write(Location(variable)), site)
}

fn acquire(thread: u32, lock: u32, site: Site) -> Event {
    Event::new(Strand(thread), Op::Acquire(Lock(lock.into())), site)
}

fn release(thread: u32, lock: u32, site: Site) -> Event {
    Event::new(Strand(thread), Op::Release(Lock(lock.into())), site)
}
