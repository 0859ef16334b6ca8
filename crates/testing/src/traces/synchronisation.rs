//! Which event of a trace waits for which of another strand: straight from what each operation means, by
//! looking back from it.
//!
//! Right by inspection, not fast: quadratic. It is what engines are told as publishing and awaiting.

use deadheat_model::{AtomicOrdering, Event, Execution, Lock, Op, Semaphore};

/// Pairs of events, numbered from 0, of which the second could not come before the first: forks, joins, tokens,
/// flags, barriers, readers of locks, atomics that synchronise.
pub fn synchronisation(execution: &Execution) -> Vec<(usize, usize)> {
    let events = &execution.events;
    let mut pairs = Vec::new();
    for later in 0..events.len() {
        let mut add = |earlier: usize| pairs.push((earlier, later));
        let before = || (0..later).rev().map(|at| (at, events[at].op()));
        match events[later].op() {
            Op::P(semaphore) => token(execution, semaphore, later).into_iter().for_each(add),
            Op::Wait(flag) => {
                // The post that turned it on: the first since it was turned off.
                let since = before().take_while(|(_, op)| *op != Op::Clear(flag));
                let posts = since.filter(|(_, op)| *op == Op::Post(flag));
                posts.last().into_iter().for_each(|(at, _)| add(at));
            }
            Op::BarrierArrive(_) | Op::BarrierLeave(_) => {
                arrivals(events, later).into_iter().for_each(add);
            }
            Op::AcquireShared(lock) if !has(events, lock, later) => {
                let given = before().filter(|(_, op)| *op == Op::Release(lock));
                given.for_each(|(at, _)| add(at));
            }
            Op::Acquire(lock) if !owns(events, lock, later) => {
                let given = before().filter(|(_, op)| *op == Op::ReleaseShared(lock));
                given.for_each(|(at, _)| add(at));
            }
            Op::AtomicLoad(x, ordering) | Op::AtomicUpdate(x, ordering) if acquires(ordering) => {
                // Back to the last store; updates hand on what came before them.
                for (at, op) in before() {
                    match op {
                        Op::AtomicStore(y, ordering) if x == y => {
                            releases(ordering).then(|| add(at));
                            break;
                        }
                        Op::AtomicUpdate(y, ordering) if x == y && releases(ordering) => add(at),
                        _ => {}
                    }
                }
            }
            _ => {
                let first = |at: &usize| starts_or_ends(&events[*at], &events[later]);
                (0..later).filter(first).for_each(&mut add);
            }
        }
        let strand = events[later].strand();
        if events[..later].iter().all(|event| event.strand() != strand) {
            let forks = |at: &usize| events[*at].op() == Op::Fork(strand);
            let fork = (0..later).find(forks);
            pairs.extend(fork.map(|fork| (fork, later)));
        }
    }
    pairs
}

/// Whether the later event waits for the end of the earlier one's strand, or for its fork if it did nothing.
fn starts_or_ends(earlier: &Event, later: &Event) -> bool {
    let Op::Join(child) = later.op() else {
        return false;
    };
    earlier.strand() == child || earlier.op() == Op::Fork(child)
}

/// The event that put in the token that is taken: tokens are taken in the order in which they come, those
/// from the start first.
fn token(execution: &Execution, semaphore: Semaphore, taken: usize) -> Option<usize> {
    let initial = execution.names.tokens.get(semaphore.index());
    let initial = initial.copied().unwrap_or(0) as usize;
    let same = |op: Op| (0..taken).filter(move |at| execution.events[*at].op() == op);
    let before = same(Op::P(semaphore)).count();
    let from = before.checked_sub(initial)?;
    same(Op::V(semaphore)).nth(from)
}

/// Of an arrival at a barrier, the arrivals at the round before; of who leaves it, those at the same round. A
/// round ends with the first who leaves it.
fn arrivals(events: &[Event], at: usize) -> Vec<usize> {
    let (Op::BarrierArrive(barrier) | Op::BarrierLeave(barrier)) = events[at].op() else {
        return Vec::new();
    };
    let mut rounds: Vec<Vec<usize>> = vec![Vec::new()];
    let mut ended = false;
    let mut round_of = 0;
    for (now, event) in events[..=at].iter().enumerate() {
        if event.op() == Op::BarrierArrive(barrier) {
            if std::mem::take(&mut ended) {
                rounds.push(Vec::new());
            }
            let last = rounds.len() - 1;
            if event.strand() == events[at].strand() {
                round_of = last;
            }
            rounds[last].push(now);
        } else if event.op() == Op::BarrierLeave(barrier) {
            ended = true;
        }
    }
    match events[at].op() {
        Op::BarrierLeave(_) => rounds.swap_remove(round_of),
        _ if round_of == 0 => Vec::new(),
        _ => rounds.swap_remove(round_of - 1),
    }
}

/// Whether the strand of an event has a lock already, for writing.
fn owns(events: &[Event], lock: Lock, at: usize) -> bool {
    let depth = depth(events, at, Op::Acquire(lock), Op::Release(lock));
    depth > 0
}

/// Whether the strand of an event has a lock already, for reading or for writing.
fn has(events: &[Event], lock: Lock, at: usize) -> bool {
    let readers = depth(events, at, Op::AcquireShared(lock), Op::ReleaseShared(lock));
    readers > 0 || owns(events, lock, at)
}

/// How often the strand of an event has done one thing more than the other.
fn depth(events: &[Event], at: usize, one: Op, other: Op) -> i32 {
    let own = events[..at].iter();
    let own = own.filter(|event| event.strand() == events[at].strand());
    own.map(|event| i32::from(event.op() == one) - i32::from(event.op() == other))
        .sum()
}

fn acquires(ordering: AtomicOrdering) -> bool {
    use AtomicOrdering::*;
    matches!(ordering, Acquire | AcquireRelease | SequentiallyConsistent)
}

fn releases(ordering: AtomicOrdering) -> bool {
    use AtomicOrdering::*;
    matches!(ordering, Release | AcquireRelease | SequentiallyConsistent)
}
