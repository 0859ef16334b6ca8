//! What an access asks: does that earlier one come before, and can they meet?
//!
//! Asked from the cheapest question to the dearest: is it the same step; is it of an era that is over; what does the
//! tree say (a thread remembers what it said lately); do the joins lead there.
//!
//! Two pieces of one implicit task that nothing orders are one thread's doing all the same. What is that thread's
//! own they may both use: its stack below the region, its thread-local variables, what the task has allocated
//! itself, and, if it has asked for its number, whatever it chooses by that. So may two tasks that one thread runs, if both have
//! asked, but for a variable of its own size: no number chooses that among others. The number may still decide whether the accesses
//! are made, so such a race is only possible.
//!
//! A history is kept short: of accesses that differ in nothing but their step, by tasks with the same dependences, the
//! newest and the one farthest from it in the tree stand for all others (spd3-pldi12, section 4: whatever is parallel
//! to one of those is parallel to one of these two), and a few more for the sake of joins.

use deadheat_online::Relations;
use deadheat_online::fasttrack::{Order, Record};
use deadheat_order::{Past, Question, Search, Step, Task};

use super::descriptions::Kind;
use super::strand::Strand;
use super::{Seen, tasks};
use crate::check::origin::Origin;
use crate::order::thread::Thread;
use crate::platform::objects;
use crate::platform::world::world;

/// What a thread keeps to answer such questions quickly.
#[derive(Debug, Default)]
pub struct Answers {
    relations: Relations,
    search: Search,
    led: Led,
    /// The last two sets of locks that were compared, and whether they have one in common.
    locks: (u32, u32, bool),
}

/// Whether joins lead from a step to what somebody knows, as it was found out lately: that never changes.
#[derive(Debug)]
struct Led(Box<[(Step, Past, bool); LED]>);

const LED: usize = 256;

impl Default for Led {
    fn default() -> Led {
        Led(Box::new([(Step::NONE, Past(0), false); LED]))
    }
}

/// Asks for an access by a thread, to a word at an address.
pub struct Asking<'a> {
    strand: *mut Strand,
    pub answers: &'a mut Answers,
    pub task: Task,
    pub own: Own,
    pub address: usize,
    /// Whether others may be ordered after it by joins.
    joinable: bool,
}

/// What belongs to the running thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    /// Its stack, as far as it is the running task's.
    pub stack: (usize, usize),
    pub thread_local: (usize, usize),
}

impl Own {
    fn is_on_stack(&self, address: usize) -> bool {
        (self.stack.0..self.stack.1).contains(&address)
    }

    fn is_thread_local(&self, address: usize) -> bool {
        (self.thread_local.0..self.thread_local.1).contains(&address)
    }
}

impl Asking<'_> {
    /// None: the thread runs no strand.
    #[inline]
    pub fn of(thread: &mut Thread, address: usize) -> Option<Asking<'_>> {
        let running = thread.strand;
        // SAFETY: the strand that the running thread runs.
        let strand = unsafe { running.as_ref()? };
        let own = Own {
            stack: (thread.stack.0, strand.stack_base().min(thread.stack.1)),
            thread_local: thread.thread_local,
        };
        Some(Asking {
            strand: running,
            answers: thread.answers.as_deref_mut()?,
            task: strand.order,
            own,
            address,
            joinable: strand.joinable || tasks().has_seen(Seen::Messages),
        })
    }

    /// Whether one step is, or comes before, another, which is the running strand's.
    #[inline]
    pub fn comes_before(&mut self, a: Step, b: Step) -> bool {
        a == b
            || tasks().is_past(a)
            || self
                .answers
                .relations
                .of(&tasks().structure.tree, a, b)
                .precedes()
            || self.is_known(a)
    }

    /// Whether messages tell the running strand of a step, or joins lead there.
    fn is_known(&mut self, step: Step) -> bool {
        // SAFETY: the strand that the running thread runs, which does nothing else meanwhile.
        let messages = unsafe { &(*self.strand).messages };
        let answers = &mut *self.answers;
        let mut search = |known| joins_lead(answers, step, known);
        messages
            .as_ref()
            .is_some_and(|messages| messages.tell_of(step, &mut search))
            || search(self.task.known())
    }

    /// Whether both accesses are the running thread's, to what is its own.
    fn is_own(&self, earlier: &Record, access: &Record) -> bool {
        if earlier.slot() != access.slot() {
            return false;
        }
        let descriptions = &tasks().descriptions;
        let steps = [earlier, access].map(|record| Step(record.time()));
        let [a, b] = steps.map(|step| descriptions.task_of(step));
        let both_asked = [a, b]
            .iter()
            .all(|task| descriptions.get(*task).has_asked());
        if both_asked {
            tasks().see(Seen::ThreadsChoose);
        }
        both_asked && (a == b || !self.is_one_variable(access))
            || self.own.is_thread_local(self.address)
            || a == b && (self.own.is_on_stack(self.address) || self.allocated_by(a))
    }

    /// Whether an access is to a whole variable, and not to an element of something.
    fn is_one_variable(&self, access: &Record) -> bool {
        let mask = u32::from(access.mask());
        let address = self.address + mask.trailing_zeros() as usize;
        objects::is_whole(address, mask.count_ones() as usize)
    }

    /// Whether the thread that runs an implicit task has allocated the block around the address itself, in this region
    /// or in an earlier one.
    fn allocated_by(&self, task: u32) -> bool {
        let descriptions = &tasks().descriptions;
        let near = self.address.saturating_sub(1 << 20);
        world()
            .blocks
            .around(self.address, near)
            .is_some_and(|(_, header)| {
                descriptions.get(descriptions.whole(header.owner)).kind == Kind::Implicit
                    && descriptions.thread(header.owner) == descriptions.thread(task)
            })
    }
}

impl Asking<'_> {
    /// Whether a read tells nothing that two earlier ones do not tell: both are parallel to it, and it lies below their
    /// lowest common ancestor. Whoever is parallel to it later is parallel to one of them (spd3-pldi12, section 4), as
    /// long as the tree alone decides.
    #[inline]
    pub fn is_superfluous(&mut self, history: &[Record], access: &Record) -> bool {
        // What is read in a section, others may write in the next one.
        let in_section = Origin(access.origin).locks() != 0;
        if access.kind().write || in_section || self.joinable || history.len() < 2 {
            return false;
        }
        let tree = &tasks().structure.tree;
        let now = Step(access.time());
        let mut one: Option<(Step, u32)> = None;
        for record in history {
            let step = Step(record.time());
            if record.kind() != access.kind()
                || access.mask() & !record.mask() != 0
                || step == now
                || tasks().is_past(step)
                || !is_as_exposed(record, access)
            {
                continue;
            }
            let to_now = self.answers.relations.of(tree, step, now);
            let descriptions = &tasks().descriptions;
            if !to_now.parallel || descriptions.get(descriptions.of(step)).is_joinable() {
                continue;
            }
            match one {
                None => one = Some((step, to_now.depth)),
                Some((other, depth)) => {
                    let between = self.answers.relations.of(tree, step, other).depth;
                    if between <= depth.min(to_now.depth) {
                        return true;
                    }
                    one = Some((step, to_now.depth));
                }
            }
        }
        false
    }
}

impl Asking<'_> {
    /// A superfluous access was made in the first step of a piece of a phase: notes if any other piece would find the
    /// same. What two pieces of a phase are to all others is the same for both, unless locks or joins matter.
    pub fn settle(&mut self, phase: u32, history: u32, access: &Record) {
        let tree = &tasks().structure.tree;
        let now = Step(access.time());
        let precedes = |record: &Record| {
            let step = Step(record.time());
            tasks().is_past(step)
                || step != now && self.answers.relations.of(tree, step, now).precedes()
        };
        let records = world().histories.get(history);
        let mut writes = records.iter().filter(|record| record.kind().write);
        if !access.kind().atomic && Origin(access.origin).locks() == 0 && writes.all(precedes) {
            tasks().settled.note(phase, history, access.mask());
        }
    }
}

impl Order for &mut Asking<'_> {
    #[inline]
    fn precedes(&mut self, earlier: &Record, access: &Record) -> bool {
        self.comes_before(Step(earlier.time()), Step(access.time()))
    }

    #[inline]
    fn is_over(&mut self, earlier: &Record) -> bool {
        is_over(earlier)
    }

    #[inline]
    fn excludes(&mut self, earlier: &Record, access: &Record) -> bool {
        let [a, b] = [earlier, access].map(|record| Origin(record.origin).locks());
        if a == 0 || b == 0 {
            return self.is_own(earlier, access);
        }
        if (self.answers.locks.0, self.answers.locks.1) != (a, b) {
            self.answers.locks = (a, b, share_a_lock(a, b));
        }
        let is_own = self.is_own(earlier, access);
        if self.answers.locks.2 && !is_own {
            // SAFETY: the strand that the running thread runs, which does nothing else meanwhile.
            unsafe { &mut *self.strand }.hear(earlier, access);
        }
        self.answers.locks.2 || is_own
    }

    #[inline]
    fn is_as_exposed(&mut self, first: &Record, second: &Record) -> bool {
        is_as_exposed(first, second)
    }
}

/// Whether joins lead from a step to what somebody knows.
#[inline]
pub(super) fn joins_lead(answers: &mut Answers, step: Step, known: Past) -> bool {
    if known.0 == 0 {
        return false;
    }
    let place = (step.0 ^ known.0.rotate_left(3)) as usize % LED;
    let (of, to, leads) = answers.led.0[place];
    if (of, to) == (step, known) {
        return leads;
    }
    let question = Question {
        step,
        since: tasks().descriptions.time(step),
        milestone: Step::NONE,
        known,
    };
    let structure = &tasks().structure;
    let leads = answers
        .search
        .finds(&structure.tree, &structure.joins, question);
    answers.led.0[place] = (step, known, leads);
    leads
}

/// Whether an access comes before whatever is done from now on.
#[inline]
pub fn is_over(record: &Record) -> bool {
    tasks().is_past(Step(record.time()))
}

/// Whether the first access was made with no other locks than the second.
#[inline]
fn is_as_exposed(first: &Record, second: &Record) -> bool {
    let [a, b] = [first, second].map(|record| Origin(record.origin).locks());
    let sets = &world().locksets;
    let has = |lock| sets.addresses(b).any(|other| other == lock);
    a == 0 || a == b || sets.addresses(a).all(has)
}

/// Whether two sets have a lock in common that one of them holds to write.
fn share_a_lock(a: u32, b: u32) -> bool {
    let sets = &world().locksets;
    sets.addresses(a).any(|lock| {
        sets.addresses(b)
            .any(|other| lock >> 1 == other >> 1 && (lock | other) & 1 == 1)
    })
}

/// How long a history may be, and how many records that differ in their step only are kept.
const LONG: usize = 8;
const ALIKE: usize = 3;
/// What is longer is shortened each time that its length has doubled: tasks whose dependences differ do not stand for
/// each other, and comparing each with each takes time.
const VERY_LONG: usize = 64;
/// How long a history may be at all: each access copies it, and asks about each of its records.
const MOST: usize = 1024;

impl Asking<'_> {
    /// Shortens a history that has become long, and says how long it is then.
    #[inline]
    pub fn shorten(&mut self, history: &mut [Record]) -> usize {
        match history.len() {
            length @ ..=LONG => length,
            length if length > VERY_LONG && !length.is_power_of_two() => length,
            // Only of those that are like the newest there are more than before.
            length if count_like_newest(history) < ALIKE && length < MOST => length,
            _ => shorten_long(history, self.answers),
        }
    }
}

/// Whether two accesses differ in nothing but their step, and perhaps in the tasks' dependences.
#[inline]
fn are_alike(a: &Record, b: &Record) -> bool {
    a.kind() == b.kind()
        && a.mask() == b.mask()
        && Origin(a.origin).locks() == Origin(b.origin).locks()
}

fn count_like_newest(history: &[Record]) -> usize {
    let like = history.iter().filter(|other| are_alike(&history[0], other));
    like.count()
}

#[cold]
fn shorten_long(history: &mut [Record], answers: &mut Answers) -> usize {
    let dependences = |record: &Record| tasks().descriptions.dependences_of(Step(record.time()));
    let alike = |a: &Record, b: &Record| are_alike(a, b) && dependences(a) == dependences(b);
    let newest = Step(history[0].time());
    let tree = &tasks().structure.tree;
    let all = history.to_vec();
    let mut kept = 0;
    for (index, record) in all.iter().enumerate() {
        let like: Vec<usize> = (0..all.len())
            .filter(|other| alike(record, &all[*other]))
            .collect();
        // Steps grow with time: the newest of them, and the farthest from the newest of all.
        let far = |other: &&usize| match Step(all[**other].time()) {
            step if step == newest => u32::MAX,
            step => answers.relations.of(tree, step, newest).depth,
        };
        let farthest = like.iter().min_by_key(far).copied();
        let newer = like
            .iter()
            .filter(|other| all[**other].time() > record.time())
            .count();
        if index == 0 || farthest == Some(index) || newer < ALIKE - 1 {
            history[kept] = *record;
            kept += 1;
        }
    }
    if kept >= MOST {
        // Many tasks, locks, sizes and kinds: rather miss a race than hang.
        world().drop_one();
        kept = LONG;
    }
    deadheat_online::fasttrack::end(&mut history[..kept]);
    kept
}
