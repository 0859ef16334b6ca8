//! What the graph of an execution so far means for its future.
//!
//! The simple model: keep the whole computation graph; two conflicting accesses race if neither
//! reaches the other. A search over all schedules cannot keep graphs, and need not. What a future
//! access can race with is decided by which past accesses its strand *knows* (which of them happen before it),
//! and of the accesses one strand makes at one place to one location only the last matters: who
//! knows it knows the earlier ones, and who does not races with that place already. So the state
//! keeps, for each such *instance*, who knows it: each strand, and whatever can pass knowledge on
//! (a lock's last release, a promise, a token, …). Executions that agree in this, and in the
//! machine's state, have the same races in their futures.
//!
//! Beside it runs a digest of the graph itself (each strand's last node, hashed with all it is
//! reached from), which is *not* part of that: it tells whether two executions that came to the
//! same state have the same graph.
//!
//! That this is exact is tested against the graphs themselves, schedule by schedule.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

use deadheat_model::{AccessKind, Event, Finish, Op, Site, Strand};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::bits::Bits;
use deadheat_lang::code::Value;
use deadheat_lang::digest::digest;

/// The accesses one strand makes at one place to one location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Instance {
    pub(super) cell: u32,
    pub(super) strand: Strand,
    pub(super) site: Site,
    pub(super) kind: AccessKind,
}

/// Numbers for instances, the same for all executions of a search.
#[derive(Debug, Default)]
pub(super) struct Instances {
    list: Vec<Instance>,
    numbers: FxHashMap<Instance, u32>,
    /// By cell: all instances, and those that write.
    of_cell: FxHashMap<u32, (Bits, Bits)>,
}

impl Instances {
    /// The instance of a number.
    pub(super) fn get(&self, number: u32) -> Instance {
        self.list[number as usize]
    }

    fn number(&mut self, instance: Instance) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(instance).or_insert(next);
        if number == next {
            self.list.push(instance);
            let (all, writes) = self.of_cell.entry(instance.cell).or_default();
            all.insert(number);
            if instance.kind == AccessKind::Write {
                writes.insert(number);
            }
        }
        number
    }
}

/// What is known at some point, and the digest of the graph up to there.
#[derive(Clone, Debug, Default)]
struct Past {
    known: Bits,
    node: u128,
}

/// Only what is known decides the future.
impl Hash for Past {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.known.hash(state);
    }
}

impl Past {
    fn join(&mut self, other: &Past) {
        self.known.union(&other.known);
        self.node = digest((self.node, other.node));
    }
}

/// A token that a `v` added. Which `v`s are left is in the graph, but not their order, and the
/// order decides which `p` gets which: so whose it is decides the future too.
#[derive(Clone, Debug, Hash)]
struct Token {
    by: Strand,
    past: Past,
}

/// A flag that is on, by the post that turned it on. Which of the posts that was is not in the
/// graph before somebody waits: so whose it is, and how many the same strand has made since,
/// decides the future too. (Counted to 255: more matter only to a program that posts a flag so
/// often before anybody clears it, in two orders.)
#[derive(Clone, Debug, Hash)]
struct FlagPost {
    by: Strand,
    since: u8,
    past: Past,
}

#[derive(Clone, Debug, Default, Hash)]
struct StrandPast {
    past: Past,
    /// The finish that waits for it.
    finish: Option<Finish>,
    /// Whether its end can be waited for by name.
    joinable: bool,
}

/// The tasks of a finish that have ended: what they know, and their last nodes in no order.
#[derive(Clone, Debug, Default)]
struct FinishPast {
    known: Bits,
    nodes: u128,
    enclosing: Option<Finish>,
}

impl Hash for FinishPast {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.known.hash(state);
        self.enclosing.hash(state);
    }
}

/// Who knows what, in an execution so far. Its hash covers what decides the future, and only that.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Causality {
    strands: Vec<StrandPast>,
    occurred: Bits,
    locks: BTreeMap<u64, Past>,
    isolated: Past,
    /// Tokens that a semaphore had at the start and still has, by semaphore: they are taken first.
    initial_tokens: Vec<u64>,
    tokens: BTreeMap<u64, VecDeque<Token>>,
    flags: BTreeMap<u64, FlagPost>,
    promises: BTreeMap<u64, Past>,
    finishes: BTreeMap<Finish, FinishPast>,
}

impl Causality {
    /// Before the first event, with the tokens that semaphores start with.
    pub(super) fn new(initial_tokens: Vec<u64>) -> Causality {
        Causality {
            strands: vec![StrandPast::default()],
            initial_tokens,
            ..Causality::default()
        }
    }

    /// About how many bytes this takes.
    pub(super) fn bytes(&self) -> usize {
        let tokens: usize = self.tokens.values().map(VecDeque::len).sum();
        let maps = self.locks.len() + self.flags.len() + self.promises.len() + self.finishes.len();
        let holders = self.strands.len() + tokens + maps + 2;
        // A set of more than two words lies elsewhere.
        let set = match self.occurred.words() {
            0..=2 => 0,
            words => words * size_of::<u64>(),
        };
        holders * (size_of::<StrandPast>() + set)
    }

    /// A digest of the whole graph so far.
    pub(super) fn graph(&self) -> u64 {
        let nodes = self.strands.iter().map(|strand| strand.past.node);
        let nodes: SmallVec<[u128; 16]> = nodes.collect();
        digest(nodes) as u64
    }

    /// Takes note of an event. Calls `race` with the number of each past instance the event races
    /// with, and of the event's own.
    pub(super) fn event(
        &mut self,
        event: &Event,
        value: Value,
        instances: &mut Instances,
        mut race: impl FnMut(u32, u32),
    ) {
        let strand = event.strand();
        if let Some(access) = event.access() {
            let instance = Instance {
                cell: access.location.0 as u32,
                strand,
                site: event.site(),
                kind: access.kind,
            };
            self.access(instance, instances, &mut race);
        }
        match event.op() {
            Op::Async(child) | Op::Future(child) | Op::Fork(child) => {
                let is_task = !matches!(event.op(), Op::Fork(_));
                let joinable = !matches!(event.op(), Op::Async(_));
                self.node(event, value);
                let parent = &self.strands[strand.index()];
                let new = StrandPast {
                    past: parent.past.clone(),
                    finish: parent.finish.filter(|_| is_task),
                    joinable,
                };
                if self.strands.len() <= child.index() {
                    self.strands
                        .resize(child.index() + 1, StrandPast::default());
                }
                self.strands[child.index()] = new;
                return;
            }
            Op::Join(other) => {
                let past = self.strands[other.index()].past.clone();
                self.past(strand).join(&past);
            }
            Op::FinishBegin(finish) => {
                let enclosing = self.strands[strand.index()].finish.replace(finish);
                let new = FinishPast {
                    enclosing,
                    ..FinishPast::default()
                };
                self.finishes.insert(finish, new);
            }
            Op::FinishEnd(finish) => {
                if let Some(ended) = self.finishes.remove(&finish) {
                    self.strands[strand.index()].finish = ended.enclosing;
                    self.past(strand).join(&Past {
                        known: ended.known,
                        node: ended.nodes,
                    });
                }
            }
            Op::Get(promise) => {
                if let Some(past) = self.promises.get(&promise.0).cloned() {
                    self.past(strand).join(&past);
                }
            }
            Op::IsolatedBegin => {
                let past = self.isolated.clone();
                self.past(strand).join(&past);
            }
            Op::Acquire(lock) => {
                if let Some(past) = self.locks.get(&lock.0).cloned() {
                    self.past(strand).join(&past);
                }
            }
            Op::P(semaphore) => match &mut self.initial_tokens[semaphore.index()] {
                0 => {
                    let token = self.tokens.entry(semaphore.0).or_default().pop_front();
                    let past = token.map(|token| token.past).unwrap_or_default();
                    self.past(strand).join(&past);
                }
                initial => *initial -= 1,
            },
            Op::Wait(flag) => {
                if let Some(posted) = self.flags.get(&flag.0).cloned() {
                    self.past(strand).join(&posted.past);
                }
            }
            Op::Clear(flag) => {
                self.flags.remove(&flag.0);
            }
            _ => {}
        }
        self.node(event, value);
        let past = self.strands[strand.index()].past.clone();
        match event.op() {
            Op::Set(promise) => {
                self.promises.insert(promise.0, past);
            }
            Op::IsolatedEnd => self.isolated = past,
            Op::Release(lock) => {
                self.locks.insert(lock.0, past);
            }
            Op::V(semaphore) => {
                let tokens = self.tokens.entry(semaphore.0).or_default();
                tokens.push_back(Token { by: strand, past });
            }
            // A flag that is on was turned on by an earlier post.
            Op::Post(flag) => match self.flags.get_mut(&flag.0) {
                Some(posted) if posted.by == strand => {
                    posted.since = posted.since.saturating_add(1);
                }
                Some(_) => {}
                None => {
                    let posted = FlagPost {
                        by: strand,
                        since: 0,
                        past,
                    };
                    self.flags.insert(flag.0, posted);
                }
            },
            Op::End => {
                let ended = &mut self.strands[strand.index()];
                if !ended.joinable {
                    ended.past.known = Bits::default();
                }
                let finish = ended.finish.take();
                if let Some(finish) = finish.and_then(|f| self.finishes.get_mut(&f)) {
                    finish.known.union(&past.known);
                    finish.nodes = finish.nodes.wrapping_add(digest(past.node));
                }
            }
            _ => {}
        }
    }

    fn past(&mut self, strand: Strand) -> &mut Past {
        &mut self.strands[strand.index()].past
    }

    /// Adds the event to the graph, after all that its strand's past has joined. That a strand has ended
    /// is not a node: what happens after it happens after its last event.
    fn node(&mut self, event: &Event, value: Value) {
        if event.op() == Op::End {
            return;
        }
        let past = self.past(event.strand());
        past.node = digest((past.node, event, value));
    }

    fn access(
        &mut self,
        instance: Instance,
        instances: &mut Instances,
        race: &mut impl FnMut(u32, u32),
    ) {
        let number = instances.number(instance);
        let known = &self.strands[instance.strand.index()].past.known;
        if let Some((all, writes)) = instances.of_cell.get(&instance.cell) {
            let conflicting = match instance.kind {
                AccessKind::Write => all,
                AccessKind::Read => writes,
            };
            for past in self.occurred.select(conflicting, known) {
                race(past, number);
            }
        }
        // Nobody else knows this newest one.
        if self.occurred.contains(number) {
            self.each_known(|known| known.remove(number));
        }
        self.occurred.insert(number);
        self.past(instance.strand).known.insert(number);
    }

    fn each_known(&mut self, f: impl Fn(&mut Bits)) {
        let strands = self.strands.iter_mut().map(|s| &mut s.past);
        let pasts = strands
            .chain(self.locks.values_mut())
            .chain(std::iter::once(&mut self.isolated))
            .chain(self.tokens.values_mut().flatten().map(|t| &mut t.past))
            .chain(self.flags.values_mut().map(|posted| &mut posted.past))
            .chain(self.promises.values_mut());
        pasts.for_each(|past| f(&mut past.known));
        self.finishes
            .values_mut()
            .for_each(|past| f(&mut past.known));
    }
}
