//! Random small traces, for comparing engines with brute force.
//!
//! The idea: let threads run in turns of a few events, each event one that the thread could do there,
//! so that the trace is one that could have happened. What makes traces worth comparing is made
//! frequent: accesses inside critical sections, reads of what another thread wrote, sections on the
//! same few locks by different threads, and locks that are not given back before the trace ends. Of
//! the default shape's conflicting pairs, some six in ten race; one trace in thirty has a race for
//! which sections must change places.
//!
//! Guarantee: a trace depends on the shape and the generator's state alone; it is accepted by
//! [`Witnesses::new`](deadheat_witness::Witnesses::new). Cost: linear in the trace, times the threads.

use deadheat_model::{
    AtomicOrdering, Barrier, Event, Execution, Flag, Location, Lock, Names, Op, ReadKind,
    Semaphore, Site, Strand,
};
use fastrand::Rng;

/// What random traces look like.
#[derive(Clone, PartialEq, Debug)]
pub struct Shape {
    /// How many events.
    pub events: usize,
    /// How many threads; the first is always there.
    pub threads: usize,
    /// How many locations.
    pub locations: usize,
    /// How many locks.
    pub locks: usize,
    /// How likely a thread without a lock takes one rather than touch memory, from 0 to 1.
    pub sections: f64,
    /// How likely a thread with a lock takes another one.
    pub inner_sections: f64,
    /// How likely a section ends after each of its events.
    pub releases: f64,
    /// How likely it ends before the first: an empty section tells little, but not nothing.
    pub empty_sections: f64,
    /// How likely another thread goes on after an event inside a section. Whoever needs the lock can
    /// do nothing then.
    pub interruptions: f64,
    /// The share of accesses that read, from 0 to 1.
    pub reads: f64,
    /// The share of accesses to what another thread wrote last, where there is such a location.
    pub sharing: f64,
    /// How likely a thread is forked rather than there from the start.
    pub forks: f64,
    /// How likely a turn begins with a join.
    pub joins: f64,
    /// How likely a turn ends with the end of its thread.
    pub ends: f64,
    /// How many locks a thread may have at once.
    pub nesting: usize,
    /// Whether a thread may take a lock that it has.
    pub reentrant: bool,
    /// Whether there are read-write locks, a semaphore, a flag, a barrier and atomic accesses too.
    pub everything: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            events: 14,
            threads: 3,
            locations: 3,
            locks: 2,
            sections: 0.7,
            inner_sections: 0.15,
            releases: 0.5,
            empty_sections: 0.05,
            interruptions: 0.1,
            reads: 0.4,
            sharing: 0.7,
            forks: 0.1,
            joins: 0.1,
            ends: 0.0,
            nesting: 2,
            reentrant: false,
            everything: false,
        }
    }
}

impl Shape {
    /// A shape of which every part but the last two is drawn, with at most so many events.
    pub fn random(rng: &mut Rng, events: usize) -> Shape {
        Shape {
            events: rng.usize(events / 2..=events),
            threads: rng.choice([2, 2, 3, 3, 4]).unwrap_or(2),
            locations: rng.usize(1..=4),
            locks: rng.choice([0, 1, 1, 2, 2, 3]).unwrap_or(1),
            sections: 0.5 + rng.f64() * 0.5,
            inner_sections: 0.15,
            releases: 0.5,
            empty_sections: 0.05,
            interruptions: 0.1,
            reads: rng.f64() * 0.8,
            sharing: 0.7,
            forks: rng.choice([0.0, 0.0, 0.5]).unwrap_or(0.0),
            joins: rng.choice([0.0, 0.0, 0.2]).unwrap_or(0.0),
            ends: 0.0,
            nesting: rng.usize(1..=3),
            reentrant: false,
            everything: false,
        }
    }

    /// A shape for comparing partial orders: more threads and locks, which are nested and taken
    /// again, and threads that end before they are joined.
    pub fn nested(rng: &mut Rng, events: usize) -> Shape {
        // Two threads that nest two locks: what one knows of the other's sections everybody knows.
        let pair = rng.u32(..8) == 0;
        Shape {
            events: rng.usize(4..=events),
            threads: if pair { 2 } else { rng.usize(2..=5) },
            locks: if pair { 2 } else { rng.usize(1..=4) },
            nesting: if pair { 2 } else { rng.usize(1..=3) },
            sections: 0.2 + rng.f64() * 0.6,
            inner_sections: 0.1 + rng.f64() * 0.4,
            releases: 0.2 + rng.f64() * 0.3,
            empty_sections: rng.f64() * 0.4,
            interruptions: 0.1 + rng.f64() * 0.3,
            reads: 0.5,
            sharing: rng.choice([0.0, 0.0, 0.7]).unwrap_or(0.0),
            forks: rng.choice([0.0, 0.5, 0.5]).unwrap_or(0.0),
            joins: rng.choice([0.0, 0.02, 0.1]).unwrap_or(0.0),
            ends: rng.choice([0.0, 0.03]).unwrap_or(0.0),
            reentrant: rng.bool(),
            ..Shape::random(rng, events)
        }
    }
}

/// A trace of the shape, with a few events more where its last turn begins with a fork and a join or
/// ends with a barrier.
pub fn random_trace(rng: &mut Rng, shape: &Shape) -> Execution {
    let mut draft = Draft::new(rng, shape);
    while draft.trace.events.len() < shape.events {
        draft.turn();
    }
    draft.trace
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// It waits for somebody to fork it.
    Unborn,
    Running,
    Ended,
    Joined,
}

struct Thread {
    stage: Stage,
    /// The locks it has and whether for reading, in the order in which it took them.
    held: Vec<(Lock, bool)>,
}

/// A trace in the making.
struct Draft<'a> {
    rng: &'a mut Rng,
    shape: &'a Shape,
    trace: Execution,
    threads: Vec<Thread>,
    current: usize,
    /// Who wrote each location last.
    writers: Vec<Option<usize>>,
    tokens: u64,
    on: bool,
}

impl<'a> Draft<'a> {
    fn new(rng: &'a mut Rng, shape: &'a Shape) -> Draft<'a> {
        let threads = (0..shape.threads.max(1)).map(|number| Thread {
            stage: match number > 0 && rng.f64() < shape.forks {
                true => Stage::Unborn,
                false => Stage::Running,
            },
            held: Vec::new(),
        });
        let threads: Vec<_> = threads.collect();
        let named =
            |prefix: &str, count: usize| (1..=count).map(|n| format!("{prefix}{n}")).collect();
        let locations = shape.locations.max(1);
        let tokens = rng.u64(0..=1);
        let mut names = Names {
            strands: named("T", threads.len()),
            locations: named("x", locations),
            locks: named("l", shape.locks),
            ..Names::default()
        };
        if shape.everything {
            names.semaphores = vec!["s".to_string()];
            names.tokens = vec![tokens];
            names.flags = vec!["e".to_string()];
            names.barriers = vec!["b".to_string()];
        }
        Draft {
            rng,
            shape,
            trace: Execution {
                events: Vec::new(),
                names,
            },
            threads,
            current: 0,
            writers: vec![None; locations],
            tokens,
            on: false,
        }
    }

    /// Lets a thread do a few events.
    fn turn(&mut self) {
        let others = self.others();
        self.current = self.rng.choice(others).unwrap_or(self.current);
        self.fork_or_join();
        self.run();
        if self.rng.f64() < self.shape.ends
            && self.threads[self.current].held.is_empty()
            && !self.others().is_empty()
        {
            self.threads[self.current].stage = Stage::Ended;
            self.push(Op::End);
        }
    }

    /// The threads that could run instead.
    fn others(&self) -> Vec<usize> {
        self.all(|t, thread| t != self.current && thread.stage == Stage::Running)
    }

    fn run(&mut self) {
        loop {
            if self.trace.events.len() >= self.shape.events {
                return;
            }
            let done = self.shape.everything && self.rng.f64() < 0.3 && self.something_else();
            if !done && !self.step() {
                return;
            }
            let over = match self.threads[self.current].held.is_empty() {
                true => 0.4,
                false => self.shape.interruptions,
            };
            if self.rng.f64() < over {
                return;
            }
        }
    }

    fn fork_or_join(&mut self) {
        let unborn = self.all(|_, thread| thread.stage == Stage::Unborn);
        if let Some(&child) = unborn.first()
            && self.rng.bool()
        {
            self.threads[child].stage = Stage::Running;
            self.push(Op::Fork(Strand(child as u32)));
        }
        let idle = self.all(|t, thread| {
            let is_there = matches!(thread.stage, Stage::Running | Stage::Ended);
            t != self.current && is_there && thread.held.is_empty()
        });
        if self.rng.f64() < self.shape.joins
            && let Some(other) = self.rng.choice(idle)
        {
            self.threads[other].stage = Stage::Joined;
            self.push(Op::Join(Strand(other as u32)));
        }
    }

    /// Takes a lock, gives one back, or touches memory. Says whether the thread can go on.
    fn step(&mut self) -> bool {
        let held = self.threads[self.current].held.len();
        let take = match held {
            0 => self.shape.sections,
            _ if held < self.shape.nesting => self.shape.inner_sections,
            _ => 0.0,
        };
        let give_back = match self.trace.events.last().map(Event::op) {
            _ if held == 0 => 0.0,
            Some(Op::Acquire(_) | Op::AcquireShared(_)) => self.shape.empty_sections,
            _ => self.shape.releases,
        };
        let draw = self.rng.f64();
        if draw < take && self.shape.locks > 0 {
            // Who does not get the lock mostly waits for it.
            if self.take_lock(false) || self.rng.f64() < 0.8 {
                return !self.threads[self.current].held.is_empty();
            }
        }
        match draw >= 1.0 - give_back {
            true => self.give_back(),
            false => self.access(),
        }
        true
    }

    fn take_lock(&mut self, shared: bool) -> bool {
        let locks = (0..self.shape.locks as u64).map(Lock);
        let free = locks.filter(|&lock| self.is_free(lock, shared));
        let Some(lock) = self.rng.choice(free.collect::<Vec<_>>()) else {
            return false;
        };
        self.threads[self.current].held.push((lock, shared));
        self.push(match shared {
            true => Op::AcquireShared(lock),
            false => Op::Acquire(lock),
        });
        true
    }

    /// Whether the current thread can take a lock.
    fn is_free(&self, lock: Lock, shared: bool) -> bool {
        let excludes = |number: usize, (other, for_reading): (Lock, bool)| {
            lock == other
                && match number == self.current {
                    true => !self.shape.reentrant || shared != for_reading,
                    false => !(shared && for_reading),
                }
        };
        let mut threads = self.threads.iter().enumerate();
        threads.all(|(number, thread)| !thread.held.iter().any(|&held| excludes(number, held)))
    }

    /// Gives a lock back, mostly the one taken last.
    fn give_back(&mut self) {
        let held = &mut self.threads[self.current].held;
        let index = match self.rng.f64() < 0.8 {
            true => held.len() - 1,
            false => self.rng.usize(0..held.len()),
        };
        let (lock, shared) = held.remove(index);
        self.push(match shared {
            true => Op::ReleaseShared(lock),
            false => Op::Release(lock),
        });
    }

    fn access(&mut self) {
        let location = self.some_location();
        let op = match self.rng.f64() < self.shape.reads {
            true => Op::Read(location, ReadKind::Data),
            false => Op::Write(location),
        };
        self.push(op);
    }

    /// A location, rather one that another thread wrote last.
    fn some_location(&mut self) -> Location {
        let current = self.current;
        let by_others = |&x: &usize| self.writers[x].is_some_and(|writer| writer != current);
        let by_others: Vec<_> = (0..self.writers.len()).filter(by_others).collect();
        let prefer = self.rng.f64() < self.shape.sharing;
        let chosen = self.rng.choice(by_others).filter(|_| prefer);
        let location = chosen.unwrap_or_else(|| self.rng.usize(0..self.writers.len()));
        Location(location as u64)
    }

    /// One of the less common operations, if it is possible now.
    fn something_else(&mut self) -> bool {
        let (s, e) = (Semaphore(0), Flag(0));
        use AtomicOrdering::*;
        let orderings = [
            Relaxed,
            Acquire,
            Release,
            AcquireRelease,
            SequentiallyConsistent,
        ];
        let ordering = self.rng.choice(orderings).unwrap_or(Relaxed);
        let op = match self.rng.u32(0..10) {
            0 | 1 => return self.take_lock(true),
            2 => Op::V(s),
            3 if self.tokens > 0 => Op::P(s),
            4 => Op::Post(e),
            5 if self.on => Op::Wait(e),
            6 => Op::Clear(e),
            7 => Op::AtomicStore(self.some_location(), ordering),
            8 => match self.rng.bool() {
                true => Op::AtomicLoad(self.some_location(), ordering),
                false => Op::AtomicUpdate(self.some_location(), ordering),
            },
            9 => return self.meet(),
            _ => return false,
        };
        self.push(op);
        true
    }

    /// Lets all running threads meet at the barrier.
    fn meet(&mut self) -> bool {
        let mut members = self.all(|_, thread| thread.stage == Stage::Running);
        let barrier = Barrier(0);
        for op in [Op::BarrierArrive(barrier), Op::BarrierLeave(barrier)] {
            self.rng.shuffle(&mut members);
            for &member in &members {
                self.current = member;
                self.push(op);
            }
        }
        true
    }

    fn all(&self, wanted: impl Fn(usize, &Thread) -> bool) -> Vec<usize> {
        let numbers = 0..self.threads.len();
        numbers
            .filter(|&number| wanted(number, &self.threads[number]))
            .collect()
    }

    /// Lets the current thread do something.
    fn push(&mut self, op: Op) {
        match op {
            Op::Write(x) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => {
                self.writers[x.index()] = Some(self.current);
            }
            Op::V(_) => self.tokens += 1,
            Op::P(_) => self.tokens -= 1,
            Op::Post(_) => self.on = true,
            Op::Clear(_) => self.on = false,
            _ => {}
        }
        let Execution { events, names } = &mut self.trace;
        let site = Site(events.len() as u32);
        names.sites.push((events.len() + 1).to_string());
        events.push(Event::new(Strand(self.current as u32), op, site));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::predictable_races;
    use deadheat_witness::Witnesses;

    fn traces(seeds: u64, shape: impl Fn(&mut Rng) -> Shape) -> impl Iterator<Item = Execution> {
        (0..seeds).map(move |seed| {
            let mut rng = Rng::with_seed(seed);
            let shape = shape(&mut rng);
            random_trace(&mut rng, &shape)
        })
    }

    #[test]
    fn a_random_trace_could_have_happened() {
        let any = |rng: &mut Rng| Shape {
            reentrant: rng.bool(),
            everything: rng.bool(),
            ..Shape::random(rng, 40)
        };
        for trace in traces(2000, any).chain(traces(2000, |rng| Shape::nested(rng, 40))) {
            if let Err(error) = Witnesses::new(&trace) {
                panic!("{error}\n{}", trace);
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_trace() {
        let texts = || traces(20, |_| Shape::default()).map(|trace| trace.to_string());
        assert!(texts().eq(texts()));
        let mut distinct: Vec<_> = texts().collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 20);
    }

    #[test]
    fn shapes_at_their_limits_make_traces() {
        let none = Shape {
            events: 20,
            threads: 0,
            locations: 0,
            locks: 0,
            sections: 1.0,
            inner_sections: 1.0,
            releases: 1.0,
            empty_sections: 1.0,
            interruptions: 0.0,
            reads: 2.0,
            sharing: 1.0,
            forks: 1.0,
            joins: 1.0,
            ends: 1.0,
            nesting: 0,
            reentrant: true,
            everything: true,
        };
        let many = Shape {
            threads: 9,
            locations: 9,
            locks: 9,
            nesting: 9,
            ..none.clone()
        };
        for shape in [none, many] {
            for trace in traces(200, |_| shape.clone()) {
                assert!(trace.events.len() >= 20);
                assert!(Witnesses::new(&trace).is_ok(), "{}", trace);
            }
        }
    }

    /// Whether events left out of the trace up to the second access show the race, without any
    /// being moved but the first access.
    fn shown_in_order(witnesses: &Witnesses, first: u64, second: u64) -> bool {
        let others: Vec<_> = (1..second).filter(|&number| number != first).collect();
        (0..1_u32 << others.len()).any(|chosen| {
            let kept = (0..others.len()).filter(|i| chosen >> i & 1 == 1);
            let kept = kept.map(|i| others[i]);
            let witness: Vec<_> = kept.chain([first, second]).collect();
            witnesses.verify(first, second, &witness).is_ok()
        })
    }

    #[test]
    fn random_traces_are_worth_comparing() {
        let (mut conflicts, mut races, mut swapped, mut unreleased) = (0, 0, 0, 0);
        for trace in traces(500, |_| Shape::default()) {
            for (i, one) in trace.events.iter().enumerate() {
                let others = trace.events[i + 1..].iter();
                let others = others.filter(|other| other.strand() != one.strand());
                let conflicting = others.filter(|other| match (one.access(), other.access()) {
                    (Some(one), Some(other)) => one.conflicts_with(&other),
                    _ => false,
                });
                conflicts += conflicting.count();
            }
            let witnesses = Witnesses::new(&trace).unwrap();
            for (first, second) in predictable_races(&trace).unwrap().into_keys() {
                races += 1;
                swapped += u32::from(!shown_in_order(&witnesses, first, second));
            }
            let count = |wanted: fn(&Op) -> bool| {
                let ops = trace.events.iter().map(Event::op);
                ops.filter(wanted).count()
            };
            let acquires = count(|op| matches!(op, Op::Acquire(_)));
            let releases = count(|op| matches!(op, Op::Release(_)));
            unreleased += u32::from(acquires > releases);
        }
        let counts = (conflicts, races, swapped, unreleased);
        assert!(races > 500 && races < conflicts * 3 / 4, "{counts:?}");
        assert!(swapped > 10 && unreleased > 100, "{counts:?}");
    }
}
