//! What must have happened before what, whatever order synchronisation takes (chapter 5).
//!
//! Algorithm 5.1 decides one pair of events in linear time: visit as much as can be visited without
//! the one and see whether the other is reached. Simple model: do that for all pairs.
//!
//! Here one clock for each event says it for all pairs. An event needs what its strand did before, all of
//! what it waits for (a fork, a join, a promise, a barrier's round), and, if it waits for *some* post,
//! whatever all posts need. So a clock is the join of what is needed for certain, and of the meet over
//! the posts that might let a wait go. What a post needs may depend on that wait in turn: clocks start
//! as high as can be and are lowered, pass after pass, until nothing changes.
//!
//! Guarantee: exact for forks, joins, tasks, futures, promises, barriers that gather the same strands
//! each time, and post and wait. Where `clear`, semaphores, locks, `isolated` and atomics are used, only
//! orders that are certain are kept: a wait or a P needs some post or V (unless the semaphore has
//! tokens to start with), and locks order nothing. Cost: a pass is linear, but for waits, which look at all posts; few
//! are needed. All of them can be stopped.

use deadheat_model::{Event, EventNumber, Lock, Op, StopReason, StopToken, Strand};
use deadheat_order::{PersistentClock, Time};
use deadheat_witness::Recording;
use rustc_hash::FxHashMap;

/// How many passes are made. If that is not enough, waits are taken to order nothing.
const MAX_PASSES: usize = 100;

/// See the [module](self).
pub(crate) struct MustOrder<'r, 't> {
    recording: &'r Recording<'t>,
    /// What each post and V needs and is, in the order of the execution, by what they signal.
    signals: Option<Signals>,
    /// Whether the orders kept are all there are.
    pub(crate) exact: bool,
    stop: StopToken,
}

pub(crate) type Signals = FxHashMap<Object, Vec<PersistentClock>>;

/// A flag or a semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    Flag(u64),
    Semaphore(u64),
}

impl<'r, 't> MustOrder<'r, 't> {
    pub(crate) fn new(
        recording: &'r Recording<'t>,
        stop: StopToken,
    ) -> Result<MustOrder<'r, 't>, StopReason> {
        let events = &recording.trace.events;
        let mut must = MustOrder {
            recording,
            signals: Some(Signals::default()),
            exact: events.iter().all(|event| orders_alike(event.op())),
            stop,
        };
        for _ in 0..MAX_PASSES {
            let lowered = must.pass(|_, _, _| {})?;
            let known = must.signals.replace(lowered);
            let same = |a: &[PersistentClock], b: &[PersistentClock]| {
                let mut pairs = a.iter().zip(b);
                a.len() == b.len() && pairs.all(|(a, b)| a.within(b) && b.within(a))
            };
            let (new, old) = (must.signals.iter().flatten(), known.unwrap_or_default());
            let none = Vec::new();
            if new
                .clone()
                .all(|(key, new)| same(new, old.get(key).unwrap_or(&none)))
            {
                return Ok(must);
            }
        }
        must.signals = None;
        must.exact = false;
        Ok(must)
    }

    /// What is held inside `isolated`.
    pub(crate) fn isolation(&self) -> Lock {
        self.recording.trace.names.isolation()
    }

    /// Calls `each` with every event, its number, and what must come before it. Gives what posts and Vs
    /// are now known to need; or why it was stopped before the last event.
    pub(crate) fn pass(
        &self,
        mut each: impl FnMut(&Event, EventNumber, &PersistentClock),
    ) -> Result<Signals, StopReason> {
        let recording = self.recording;
        let names = &recording.trace.names;
        let mut strands: FxHashMap<Strand, PersistentClock> = FxHashMap::default();
        let mut promises: FxHashMap<u64, PersistentClock> = FxHashMap::default();
        let mut rounds: FxHashMap<u32, PersistentClock> = FxHashMap::default();
        let mut signals = Signals::default();
        for (event, number) in recording.trace.events.iter().zip(1..) {
            // One wait can look at as many posts as there are events.
            let is_long = matches!(event.op(), Op::Wait(_) | Op::P(_)) || number % 1024 == 1;
            if is_long && let Some(why) = self.stop.due() {
                return Err(why);
            }
            let strand = event.strand();
            let op = event.op();
            let mut clock = strands.remove(&strand).unwrap_or_default();
            match op {
                Op::Join(child) => {
                    if let Some(known) = strands.get(&child) {
                        clock.join(known);
                    }
                }
                Op::FinishEnd(_) => {
                    let tasks = recording.tasks(number).iter();
                    tasks
                        .filter_map(|task| strands.get(task))
                        .for_each(|known| clock.join(known));
                }
                Op::Get(promise) => {
                    if let Some(known) = promises.get(&promise.0) {
                        clock.join(known);
                    }
                }
                Op::BarrierLeave(_) => {
                    if let Some(known) = rounds.get(&recording.round_of(number)) {
                        clock.join(known);
                    }
                }
                Op::Wait(flag) => self.wait(&mut clock, Object::Flag(flag.0), &signals),
                Op::P(semaphore) if names.tokens.get(semaphore.index()).is_none_or(|n| *n == 0) => {
                    self.wait(&mut clock, Object::Semaphore(semaphore.0), &signals);
                }
                _ => {}
            }
            each(event, number, &clock);
            clock.raise(strand, number as Time);
            match op {
                Op::Fork(child) | Op::Async(child) | Op::Future(child) => {
                    strands.entry(child).or_default().join(&clock);
                }
                Op::Set(promise) => drop(promises.insert(promise.0, clock.clone())),
                Op::BarrierArrive(_) => {
                    let round = rounds.entry(recording.round_of(number)).or_default();
                    round.join(&clock);
                }
                Op::Post(flag) => {
                    let posts = signals.entry(Object::Flag(flag.0)).or_default();
                    posts.push(clock.clone());
                }
                Op::V(semaphore) => {
                    let posts = signals.entry(Object::Semaphore(semaphore.0)).or_default();
                    posts.push(clock.clone());
                }
                _ => {}
            }
            strands.insert(strand, clock);
        }
        Ok(signals)
    }

    /// What all that might let a strand go on need comes first: those before as they are known by now,
    /// those behind as they were known before.
    fn wait(&self, clock: &mut PersistentClock, object: Object, now: &Signals) {
        let Some(known) = &self.signals else { return };
        let now = now.get(&object).map_or(&[][..], |posts| posts);
        let known = known.get(&object).map_or(&[][..], |posts| posts);
        let behind = known.get(now.len()..).unwrap_or(&[]);
        let mut posts = now.iter().chain(behind);
        let Some(first) = posts.next() else { return };
        if now.len() + behind.len() == 1 {
            return clock.join(first);
        }
        let others: Vec<&PersistentClock> = posts.collect();
        let mut needed = Vec::new();
        first.ahead_of(clock, |strand, time| {
            let all = others.iter().map(|other| other.get(strand));
            needed.push((strand, all.fold(time, Time::min)));
            true
        });
        needed
            .into_iter()
            .for_each(|(strand, time)| clock.raise(strand, time));
    }
}

/// Whether what an operation orders is the same in every schedule, or decided exactly.
fn orders_alike(op: Op) -> bool {
    !matches!(
        op,
        Op::Clear(_)
            | Op::P(_)
            | Op::Acquire(_)
            | Op::AcquireShared(_)
            | Op::IsolatedBegin
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicUpdate(..)
    )
}
