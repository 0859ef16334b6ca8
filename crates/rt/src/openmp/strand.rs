//! Tasks: how they begin, wait for each other and end.
//!
//! A *strand* is whatever runs in sequence: an explicit task, an implicit one, a thread of the program's own. While a
//! strand has children it has not waited for, it is inside a *wait scope*, which the tree knows as a `finish`.
//! `taskwait` waits for children, not for theirs: if a child has ended without waiting for its own children, the scope
//! is left open and the children are joined one by one.

use std::cell::UnsafeCell;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use deadheat_order::{FinishPast, Knowledge, Past, Signal, Step, Task};
use rustc_hash::FxBuildHasher;

use super::dependences::{Completion, Dependences, MUTEXINOUTSET, Predecessors};
use super::descriptions::Kind;
use super::memory::Frame;
use super::messages::Messages;
use super::notes::{self, Name, TaskAction};
use super::team::Team;
use super::{Seen, tasks};
use crate::check::origin::Stack;
use crate::order::thread::{Held, UNKNOWN_SET};
use crate::output::recording;
use crate::platform::os::Spin;

/// Something that a few threads touch in turn.
#[derive(Debug, Default)]
pub struct Shared<T> {
    lock: Spin,
    inner: UnsafeCell<T>,
}

// SAFETY: the inner part is only touched with the lock held.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<Option<T>> {
    /// With nothing in it yet.
    pub const fn empty() -> Shared<Option<T>> {
        Shared {
            lock: Spin::new(),
            inner: UnsafeCell::new(None),
        }
    }
}

impl<T> Shared<T> {
    pub fn new(inner: T) -> Shared<T> {
        Shared {
            lock: Spin::new(),
            inner: UnsafeCell::new(inner),
        }
    }

    pub fn with<R>(&self, what: impl FnOnce(&mut T) -> R) -> R {
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.inner.get() })
    }
}

/// What is known of the children that a strand has created since it last waited.
#[derive(Debug, Default)]
pub struct Children {
    /// The ends of those that have ended.
    ended: Vec<Signal>,
    past: FinishPast,
    /// Whether one has ended that had not waited for all of its own.
    escaped: bool,
}

/// Where tasks are told of that end inside of it.
#[derive(Clone, Debug)]
pub enum Enclosure {
    Nothing,
    Group(Arc<Shared<FinishPast>>),
    Team(Arc<Team>),
}

#[derive(Debug)]
pub(super) enum Scope {
    Wait(Arc<Shared<Children>>),
    Group(Arc<Shared<FinishPast>>),
}

/// See the [module](self).
#[derive(Debug)]
pub struct Strand {
    pub order: Task,
    /// Who it is to a recording, and whether that has been told of the locks with which it begins.
    pub name: Name,
    pub is_told: bool,
    /// Whether it is a task that has not begun: it is counted among those.
    is_waiting: bool,
    /// Its number among the descriptions; another while it runs iterations.
    pub description: u32,
    pub(super) scopes: Vec<Scope>,
    /// The children it is one of.
    pub(super) among: Option<Arc<Shared<Children>>>,
    enclosure: Enclosure,
    pub(super) completion: Arc<Completion>,
    /// The tasks it depends on, or that it waits for by their dependences.
    after: Predecessors,
    dependences: Option<Box<Dependences>>,
    /// Some of its descendants have been waited for by nobody yet, though it has waited.
    pub(super) leaks: bool,
    /// It runs when it is created, and its creator waits for it.
    pub undeferred: bool,
    /// It runs in parts, each of them perhaps on another thread.
    pub untied: bool,
    /// Its creator, as long as its steps are the creator's, and where it was created.
    pub(super) part_of: *mut Strand,
    pub(super) stack: Stack,
    /// Its tasks are undeferred, too.
    pub is_final: bool,
    /// Whether it, or a task that it is inside of, has dependences: others may come after it by joins.
    pub joinable: bool,
    /// The parallel region that it has met and that has not ended.
    pub region: Option<Arc<Team>>,
    /// While it runs a piece of a phase: the piece's first step, and which phase, as long as it has joined nothing.
    piece: (Step, u32),
    /// A piece begins or ends, and nothing it or its children know of is under way: to its thread's stack the next
    /// piece comes after, though not to anything else.
    pub stack_is_free: bool,
    /// What orders the `ordered` block that it is in, or was in last.
    pub ordered: usize,
    /// While it runs a lane of `simd`.
    pub lanes: Option<Box<super::lanes::Lanes>>,
    /// For an implicit task: its place in the team.
    pub member: Option<super::team::Member>,
    /// What the runtime says of the frames on the stack that it shares with who waits for it.
    pub home: *const Frame,
    /// Where its stack begins at most, if that does not say: for regions of GNU's, where the runtime was called.
    pub under: usize,
    /// Where it has called the runtime to begin a region.
    pub calls_region: usize,
    /// While a thread runs it: what that ran before, and where the stack begins that it did not use.
    pub outer: *mut Strand,
    pub limit: usize,
    /// The locks it holds while it does not run.
    pub held: Vec<Held>,
    /// What it keeps of its messages, once it has any.
    pub(super) messages: Option<Box<Messages>>,
    /// What it comes after by critical sections: see [`sections`](super::sections). And the last that it heard.
    pub(super) heard: Knowledge,
    pub(super) heard_last: (usize, Past),
    /// What the undeferred task excludes that is created next.
    pub(super) excluding: Vec<Held>,
}

/// Children of one task that exclude each other by their dependences do so as if by a lock, which has no address: it is
/// told from others by a hash, above all addresses.
fn excluding(
    creator: u32,
    dependences: impl Iterator<Item = (usize, u32)>,
) -> impl Iterator<Item = Held> {
    const NO_ADDRESS: usize = 1 << 47;
    let excluding = dependences.filter(|named| named.1 == MUTEXINOUTSET);
    excluding.map(move |(address, _)| Held {
        address: NO_ADDRESS | (FxBuildHasher.hash_one((creator, address)) as usize % NO_ADDRESS),
        write: true,
        pc: 0,
        before: UNKNOWN_SET,
    })
}

impl Strand {
    pub fn new(order: Task, description: u32, enclosure: Enclosure) -> Strand {
        let strand = Strand::at(order, description, enclosure);
        strand.note_step();
        strand
    }

    /// In a step that is known.
    pub(super) fn at(order: Task, description: u32, enclosure: Enclosure) -> Strand {
        Strand {
            order,
            name: Name::strand(order.step()),
            is_told: false,
            is_waiting: false,
            description,
            scopes: Vec::new(),
            among: None,
            enclosure,
            completion: Arc::default(),
            after: Predecessors::default(),
            dependences: None,
            leaks: false,
            undeferred: false,
            untied: false,
            part_of: std::ptr::null_mut(),
            stack: Stack::default(),
            is_final: false,
            joinable: false,
            region: None,
            piece: (Step::NONE, 0),
            stack_is_free: false,
            ordered: 0,
            lanes: None,
            member: None,
            home: std::ptr::null(),
            under: 0,
            calls_region: 0,
            outer: std::ptr::null_mut(),
            limit: 0,
            held: Vec::new(),
            messages: None,
            heard: Knowledge::default(),
            heard_last: (0, Past::default()),
            excluding: Vec::new(),
        }
    }

    /// The program's first strand.
    pub fn root() -> Option<Box<Strand>> {
        let order = tasks().or_drop(tasks().structure.main())?;
        let description = tasks()
            .descriptions
            .add(Kind::Thread, 0, Stack::default(), 0, 0);
        let mut strand = Strand::new(order, description, Enclosure::Nothing);
        strand.is_told = true;
        Some(Box::new(strand))
    }

    /// A thread that this strand creates.
    pub fn fork(&mut self, thread: u32, stack: Stack) -> Option<Box<Strand>> {
        self.settle();
        let order = tasks().or_drop(tasks().structure.fork(&mut self.order))?;
        self.note_step();
        let description =
            tasks()
                .descriptions
                .add(Kind::Thread, self.description, stack, u64::from(thread), 0);
        let mut strand = Strand::new(order, description, Enclosure::Nothing);
        strand.name = Name::thread(thread);
        strand.is_told = true;
        strand.heard = self.heard.inherit();
        Some(Box::new(strand))
    }

    #[inline]
    pub fn step(&self) -> Step {
        self.order.step()
    }

    /// Where the part of its thread's stack begins that is its own; 0 if not known.
    pub fn stack_base(&self) -> usize {
        // SAFETY: the runtime's description of a task that runs.
        match unsafe { self.home.as_ref() } {
            Some(frame) if frame.exit != 0 => frame.exit,
            Some(_) => self.under,
            None => 0,
        }
    }

    /// The phase of which it runs a piece, if that has just begun.
    pub fn phase(&self) -> u32 {
        match self.piece.0 == self.step() && !self.joinable {
            true => self.piece.1,
            false => 0,
        }
    }

    /// A new step begins.
    pub fn note_step(&self) {
        let time = tasks().structure.joins.now();
        tasks()
            .descriptions
            .set_step(self.step(), self.description, time);
    }

    /// A task is created.
    pub fn create(
        &mut self,
        stack: Stack,
        undeferred: bool,
        is_final: bool,
    ) -> Option<Box<Strand>> {
        self.settle();
        if undeferred && !recording::on() {
            return Some(Box::new(self.part(stack, is_final)));
        }
        self.part_ways();
        let structure = &tasks().structure;
        if undeferred || !matches!(self.scopes.last(), Some(Scope::Wait(_))) {
            tasks().or_drop(structure.begin_finish(&mut self.order))?;
            self.scopes.push(Scope::Wait(Arc::default()));
        }
        let order = tasks().or_drop(structure.spawn(&mut self.order))?;
        self.note_step();
        let kind = if undeferred {
            Kind::Undeferred
        } else {
            Kind::Explicit
        };
        let description = tasks()
            .descriptions
            .add(kind, self.description, stack, 0, 0);
        let mut child = Strand::new(order, description, self.inner_enclosure());
        child.undeferred = undeferred;
        child.heard = self.heard.inherit();
        let excluding = std::mem::take(&mut self.excluding);
        if undeferred {
            child.home = self.home;
            child.held = excluding;
        }
        child.is_final = is_final || self.is_final;
        if self.joinable {
            child.set_joinable();
        }
        if let Some(Scope::Wait(children)) = self.scopes.last() {
            child.among = Some(children.clone());
        }
        Some(Box::new(child))
    }

    /// Something was not waited for that its children have created.
    pub(super) fn leak(&mut self) {
        match self.scopes.last() {
            // What was not waited for here is not waited for there either.
            Some(Scope::Wait(outer)) => outer.with(|children| children.escaped = true),
            Some(Scope::Group(_)) => (),
            None => self.leaks = true,
        }
    }

    pub(super) fn set_joinable(&mut self) {
        self.joinable = true;
        tasks().descriptions.get(self.description).set_joinable();
    }

    /// What tasks that it creates now are inside of.
    pub fn inner_enclosure(&self) -> Enclosure {
        let group = self.scopes.iter().rev().find_map(|scope| match scope {
            Scope::Group(group) => Some(group.clone()),
            Scope::Wait(_) => None,
        });
        group.map_or_else(|| self.enclosure.clone(), Enclosure::Group)
    }

    /// A `taskwait` with dependences begins.
    ///
    /// An undeferred task's dependences come as such, just before it: those that exclude are its own.
    pub fn begin_taskwait(&mut self, dependences: impl Iterator<Item = (usize, u32)> + Clone) {
        self.excluding = excluding(self.description, dependences.clone()).collect();
        let among = self.dependences.get_or_insert_default();
        among.add(None, dependences, &mut self.after);
    }

    /// It asks which thread it runs on.
    pub fn ask(&self) {
        tasks().see(Seen::ThreadNumbers);
        let descriptions = &tasks().descriptions;
        let own = descriptions.get(self.description);
        if !matches!(own.kind, Kind::Implicit | Kind::Thread) {
            // Any thread may run it, and learn another number.
            tasks().see(Seen::ThreadsChoose);
        }
        own.ask();
        descriptions.get(descriptions.task_of(self.step())).ask();
    }

    /// It is a task that OpenMP's runtime is to run.
    pub fn wait_to_run(&mut self) {
        self.is_waiting = true;
        tasks().waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// It is run, or not going to be.
    pub fn waits_no_more(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            tasks().waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A thread runs it.
    pub fn ran_by(&self, thread: u32) {
        tasks().descriptions.run_by(self.description, thread);
    }

    /// A child has dependences among the children.
    pub fn depend(
        &mut self,
        child: &mut Strand,
        dependences: impl Iterator<Item = (usize, u32)> + Clone,
    ) {
        tasks()
            .descriptions
            .depend(child.description, dependences.clone());
        child.set_joinable();
        child
            .held
            .extend(excluding(self.description, dependences.clone()));
        let among = self.dependences.get_or_insert_default();
        among.add(Some(&child.completion), dependences, &mut child.after);
    }

    /// What it depends on has ended: it begins to run, or a `taskwait` with dependences ends.
    pub fn follow(&mut self) {
        let after = std::mem::take(&mut self.after);
        self.piece = (Step::NONE, 0);
        after.note(self.name);
        after.each_signal(|signal| self.hear_of(&[signal]));
        tasks().or_drop(after.join(&mut self.order));
    }

    /// It ends. Whoever waits for it waits for the event, too, that was part of its end.
    pub fn end(&mut self) {
        self.settle();
        let structure = &tasks().structure;
        let events = self.completion.signals();
        tasks().or_drop(structure.join_all(&mut self.order, &events));
        notes::join(self.name, &events);
        self.hear_of(&events);
        self.tell_heard();
        let signal = structure.end(&self.order, None);
        notes::signal(self.name, TaskAction::End, &signal);
        self.completion.end(signal);
        match &self.enclosure {
            Enclosure::Nothing => (),
            Enclosure::Group(group) => group.with(|past| {
                structure.end(&self.order, Some(past));
            }),
            Enclosure::Team(team) => team.tell_end(self),
        }
        let escapes = self.leaks || !self.scopes.is_empty();
        if let Some(among) = &self.among {
            among.with(|children| {
                structure.end(&self.order, Some(&mut children.past));
                children.ended.push(signal);
                children.escaped |= escapes;
            });
        }
    }

    /// Somebody else's doing is part of its end, as well: a detached task's event. It may run meanwhile.
    pub fn fulfilled_by(&self, signal: Signal) {
        self.completion.end(signal);
    }

    /// `taskwait`: all children have ended.
    pub fn wait(&mut self) {
        self.wait_innermost();
        let mut all = Vec::new();
        for scope in &self.scopes {
            if let Scope::Wait(children) = scope {
                all.extend(children.with(|children| std::mem::take(&mut children.ended)));
            }
        }
        tasks().or_drop(tasks().structure.join_all(&mut self.order, &all));
        notes::join(self.name, &all);
        self.hear_of(&all);
        self.dependences = None;
        self.note_step();
    }

    /// The children of the innermost scope have ended, of which an undeferred task is the only one.
    pub fn wait_innermost(&mut self) {
        let structure = &tasks().structure;
        let Some(Scope::Wait(_)) = self.scopes.last() else {
            return;
        };
        let Some(Scope::Wait(children)) = self.scopes.pop() else {
            return;
        };
        let Children {
            ended,
            past,
            escaped,
        } = children.with(std::mem::take);
        notes::join(self.name, &ended);
        self.hear_of(&ended);
        if escaped {
            structure.leave_open(&mut self.order);
            tasks().or_drop(structure.join_all(&mut self.order, &ended));
            self.leak();
        } else {
            tasks().or_drop(structure.end_finish(&mut self.order, past));
        }
        self.note_step();
    }

    fn is_in_group(&self) -> bool {
        self.scopes
            .iter()
            .any(|scope| matches!(scope, Scope::Group(_)))
    }

    /// `taskgroup` begins.
    pub fn begin_group(&mut self) {
        self.part_ways();
        if let Some(past) = tasks().or_drop(tasks().structure.begin_finish(&mut self.order)) {
            self.scopes.push(Scope::Group(Arc::new(Shared::new(past))));
            notes::tell(self.name, TaskAction::BeginGroup, 0);
        }
        self.note_step();
    }

    /// `taskgroup` ends: all that was created inside has ended, and what that created.
    pub fn end_group(&mut self) {
        let structure = &tasks().structure;
        if !self.is_in_group() {
            return;
        }
        notes::tell(self.name, TaskAction::EndGroup, 0);
        self.hear_of_groups();
        while let Some(scope) = self.scopes.pop() {
            match scope {
                Scope::Wait(children) => {
                    let past = children.with(|children| std::mem::take(&mut children.past));
                    tasks().or_drop(structure.end_finish(&mut self.order, past));
                }
                Scope::Group(group) => {
                    let past = group.with(std::mem::take);
                    tasks().or_drop(structure.end_finish(&mut self.order, past));
                    break;
                }
            }
        }
        self.note_step();
    }

    /// What it has done so far can be waited for.
    pub fn signal(&mut self) -> Option<Signal> {
        self.settle();
        self.cut()
    }

    /// As [`signal`](Strand::signal), for who is told of what it has acquired beside that.
    pub(super) fn cut(&mut self) -> Option<Signal> {
        self.tell_heard();
        let signal = tasks().or_drop(tasks().structure.signal(&mut self.order));
        self.note_step();
        if let Some(signal) = &signal {
            notes::signal(self.name, TaskAction::Set, signal);
        }
        signal
    }

    /// It has joined something: it knows more than another piece of its phase.
    pub(super) fn is_no_piece(&mut self) {
        self.piece = (Step::NONE, 0);
    }

    /// It has waited for what others have done.
    pub fn join(&mut self, signals: &[Signal]) {
        self.is_no_piece();
        tasks().or_drop(tasks().structure.join_all(&mut self.order, signals));
        notes::join(self.name, signals);
        self.hear_of(signals);
    }

    /// Whether it has children that it has not waited for.
    pub fn has_children(&self) -> bool {
        !self.scopes.is_empty() || self.leaks
    }

    /// It goes on elsewhere in the tree, where everything it had begun has been waited for.
    pub fn go_on(&mut self, order: Task, heard: Knowledge) {
        self.order = order;
        self.heard = heard;
        self.forget_reach();
        self.name = Name::strand(order.step());
        self.is_told = false;
        self.scopes.clear();
        self.leaks = false;
        self.dependences = None;
        self.note_step();
    }

    /// It goes on elsewhere in the tree: with a piece of a phase. What it has begun before is set aside.
    pub fn step_aside(
        &mut self,
        (order, heard): (Task, Knowledge),
        description: u32,
        phase: u32,
    ) -> Aside {
        self.stack_is_free = !self.has_children();
        let aside = Aside {
            order: std::mem::replace(&mut self.order, order),
            heard: std::mem::replace(&mut self.heard, heard),
            description: std::mem::replace(&mut self.description, description),
            scopes: std::mem::take(&mut self.scopes),
            dependences: self.dependences.take(),
            messages: self.messages.take(),
        };
        self.piece = (self.step(), phase);
        self.note_step();
        aside
    }

    /// It comes back from such a part.
    pub fn step_back(&mut self, aside: Aside) {
        self.piece = (Step::NONE, 0);
        self.stack_is_free = !self.has_children();
        self.order = aside.order;
        self.heard = aside.heard;
        self.description = aside.description;
        self.leaks |= !self.scopes.is_empty();
        self.scopes = aside.scopes;
        self.dependences = aside.dependences;
        self.messages = aside.messages;
    }
}

/// What a strand has set aside while it runs iterations.
#[derive(Debug)]
pub struct Aside {
    pub order: Task,
    heard: Knowledge,
    pub description: u32,
    scopes: Vec<Scope>,
    dependences: Option<Box<Dependences>>,
    messages: Option<Box<Messages>>,
}
