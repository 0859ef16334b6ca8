//! M2's RaceDecision to the letter (m2-popl20, Algorithms 1 to 5, 7 and 8), to show where it is wrong
//! (docs/errata.md). The engine in `src/m2` decides by other means, and is right on all that is here.
//!
//! Where the print can be read in several ways, or cannot be meant:
//! - `Before` and `After` are of the event's own process, within X, and may be the event itself; `F_p(w)`
//!   is the last read of p in X that observes w.
//! - The first successor of an event in its own process is the next event there. Without these pairs
//!   nothing looks at a process that writes, and then reads what another one wrote.
//! - A section is not put behind itself, which the definition of lock-closed and Algorithm 4 ask for.
//! - If nothing that respects t is a partial order, there is no race.
//! - The write that t has of every location before anything else is that of a process of its own, which
//!   forks all others.
//! - The worklist is a queue, Line 7 takes the first pair, by the order of the trace, and a linearisation
//!   takes, of what may be next, what comes first in the trace.
//! - The pairs that an insertion inserts are those of Algorithm 7, whose update never takes an order back.

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};

use deadheat_model::{Event, EventNumber, Execution, Location, Lock, Op, Site, Strand};
use deadheat_offline::{Listing, Options, Recording, m2};
use deadheat_testing::Trials;
use deadheat_testing::traces::{
    FIGURE_1A, FIGURE_1B, FIGURE_6, Shape, on_random_traces, predictable_races, random_trace, trace,
};
use deadheat_witness::Witnesses;

type Pair = (EventNumber, EventNumber);

/// A set of events, by their numbers from 0.
type Events = u64;

fn has(set: Events, event: usize) -> bool {
    set >> event & 1 == 1
}

fn members(set: Events) -> impl DoubleEndedIterator<Item = usize> {
    (0..64).filter(move |&event| has(set, event))
}

/// An order: for each event, those behind it.
#[derive(Clone)]
struct Partial(Vec<Events>);

impl Partial {
    fn before(&self, a: usize, b: usize) -> bool {
        has(self.0[a], b)
    }

    fn unordered(&self, a: usize, b: usize) -> bool {
        a != b && !self.before(a, b) && !self.before(b, a)
    }

    /// Puts an event, and all before it, before another one and all behind that.
    fn insert(&mut self, a: usize, b: usize) {
        let behind = self.0[b] | 1 << b;
        for event in 0..self.0.len() {
            if event == a || self.before(event, a) {
                self.0[event] |= behind;
            }
        }
    }

    fn is_cyclic(&self) -> bool {
        (0..self.0.len()).any(|event| self.before(event, event))
    }
}

/// How to read the print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As above.
    Meant,
    /// Algorithm 2 begins with the successors in other processes only.
    OtherProcesses,
    /// Algorithm 4 puts a section behind itself.
    SameSection,
    /// Corrected: Algorithm 3 looks at every read behind e2.
    EveryRead,
}

/// A trace as the paper has it: first a write to every location.
struct Printed {
    reading: Reading,
    events: Vec<Event>,
    /// How many of these are the first writes.
    added: usize,
    /// Program order, with forks and joins.
    po: Partial,
    /// O_t.
    observed: Vec<Option<usize>>,
    /// match_t.
    matching: Vec<Option<usize>>,
    processes: Vec<Strand>,
    locations: Vec<Location>,
    locks: Vec<Lock>,
}

/// What RaceDecision says of a pair, for one choice in Line 6.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Verdict {
    /// True; with the max-min linearisation, in numbers of the trace.
    Race(Vec<EventNumber>),
    /// False, and by section 5 there is no race: rule 4 added nothing to a cone, and Line 8 was not reached.
    NoRace,
    /// False.
    Open,
}

impl Printed {
    fn new(trace: &Execution, reading: Reading) -> Printed {
        let first = Strand(trace.names.strands.len() as u32);
        let locations: Vec<Location> = (0..trace.names.locations.len() as u64)
            .map(Location)
            .collect();
        let writes = locations.iter();
        let writes = writes.map(|&x| Event::new(first, Op::Write(x), Site(0)));
        let mut events: Vec<Event> = writes.collect();
        let added = events.len();
        events.extend(&trace.events);
        assert!(events.len() <= 64, "for small traces");
        let n = events.len();
        let mut po = Partial(vec![0; n]);
        for a in (0..n).rev() {
            for b in a + 1..n {
                let (p, q) = (events[a].strand(), events[b].strand());
                let forks = a < added || events[a].op() == Op::Fork(q);
                let joined = match events[b].op() {
                    Op::Join(child) => p == child || events[a].op() == Op::Fork(child),
                    _ => false,
                };
                if p == q || forks || joined {
                    po.insert(a, b);
                }
            }
        }
        let observed = (0..n).map(|read| match events[read].op() {
            Op::Read(x, _) => (0..read).rfind(|&w| events[w].op() == Op::Write(x)),
            _ => None,
        });
        let matching = (0..n).map(|event| match events[event].op() {
            Op::Acquire(l) => (event..n).find(|&e| events[e].op() == Op::Release(l)),
            Op::Release(l) => (0..event).rfind(|&e| events[e].op() == Op::Acquire(l)),
            _ => None,
        });
        let processes: BTreeSet<Strand> = events.iter().map(|e| e.strand()).collect();
        Printed {
            reading,
            observed: observed.collect(),
            matching: matching.collect(),
            po,
            processes: processes.into_iter().collect(),
            locations,
            locks: (0..trace.names.locks.len() as u64).map(Lock).collect(),
            events,
            added,
        }
    }

    fn of_process(&self, x: Events, process: Strand) -> Events {
        let events = members(x).filter(|&event| self.events[event].strand() == process);
        events.fold(0, |set, event| set | 1 << event)
    }

    /// RCone_t(e, p), with or without rule 4.
    fn cone(&self, e: usize, p: Strand, rule_4: bool) -> Events {
        let n = self.events.len();
        let past = |e: usize| (0..n).filter(move |&before| self.po.before(before, e));
        let mut cone: Events = past(e).fold(0, |set, event| set | 1 << event);
        loop {
            let mut more = cone;
            for event in members(cone) {
                past(event).for_each(|before| more |= 1 << before);
                let strand = self.events[event].strand();
                let third = strand != self.events[e].strand() && strand != p;
                match self.events[event].op() {
                    Op::Read(..) => more |= 1 << self.observed[event].unwrap(),
                    Op::Acquire(_) if rule_4 && third => {
                        more |= self.matching[event].map_or(0, |release| 1 << release);
                    }
                    _ => {}
                }
            }
            if more == cone {
                return cone;
            }
            cone = more;
        }
    }

    /// The acquires of X whose releases are not in X.
    fn open(&self, x: Events) -> impl Iterator<Item = (usize, Lock)> {
        let open = move |event: usize| match self.events[event].op() {
            Op::Acquire(l) if !self.matching[event].is_some_and(|r| has(x, r)) => Some((event, l)),
            _ => None,
        };
        members(x).filter_map(open)
    }

    fn is_lock_feasible(&self, x: Events) -> bool {
        let mut locks = BTreeSet::new();
        self.open(x).all(|(_, lock)| locks.insert(lock))
    }

    /// R_t(X), which may have cycles.
    fn respecting(&self, x: Events) -> Partial {
        let n = self.events.len();
        let within = |event| {
            if has(x, event) {
                self.po.0[event] & x
            } else {
                0
            }
        };
        let mut order = Partial((0..n).map(within).collect());
        for read in members(x) {
            if let Some(write) = self.observed[read] {
                order.insert(write, read);
            }
        }
        for (acquire, lock) in self.open(x) {
            for release in members(x) {
                if self.events[release].op() == Op::Release(lock) {
                    order.insert(release, acquire);
                }
            }
        }
        order
    }

    /// Algorithm 5, for one choice in Line 6.
    fn race_decision(&self, (first, second): Pair, choice: usize) -> Verdict {
        let focal = [first, second].map(|number| number as usize - 1 + self.added);
        let [p1, p2] = focal.map(|event| self.events[event].strand());
        let cones = |rule_4| self.cone(focal[0], p2, rule_4) | self.cone(focal[1], p1, rule_4);
        let x = cones(true);
        let no = match x == cones(false) {
            true => Verdict::NoRace,
            false => Verdict::Open,
        };
        if has(x, focal[0]) || has(x, focal[1]) || !self.is_lock_feasible(x) {
            return no;
        }
        let mut closing = Closing {
            of: self,
            x,
            order: self.respecting(x),
            worklist: VecDeque::new(),
        };
        if closing.order.is_cyclic() || closing.closure().is_none() {
            return no;
        }
        let x1 = self.of_process(x, [p1, p2][choice]);
        while let Some((a, b)) = self.conflict(x & !x1, &closing.order) {
            closing.insert(a, b);
            if closing.work().is_none() {
                return Verdict::Open;
            }
        }
        let max_min = self.max_min(x, x1, &closing.order);
        let numbers = max_min.into_iter().filter(|event| *event >= self.added);
        let numbers = numbers.map(|event| (event - self.added) as EventNumber + 1);
        Verdict::Race(numbers.collect())
    }

    /// Two events that conflict and are not ordered.
    fn conflict(&self, set: Events, order: &Partial) -> Option<(usize, usize)> {
        let pairs = members(set).flat_map(|a| members(set).map(move |b| (a, b)));
        let mut pairs = pairs.filter(|&(a, b)| a < b && order.unordered(a, b));
        pairs.find(|&(a, b)| match (self.events[a].op(), self.events[b].op()) {
            (Op::Acquire(l) | Op::Release(l), Op::Acquire(k) | Op::Release(k)) => l == k,
            _ => match (self.events[a].access(), self.events[b].access()) {
                (Some(one), Some(other)) => one.conflicts_with(&other),
                _ => false,
            },
        })
    }

    /// Algorithm 1.
    fn max_min(&self, x: Events, x1: Events, order: &Partial) -> Vec<usize> {
        let mut q = order.clone();
        for a in members(x1) {
            for b in members(x & !x1) {
                if order.unordered(a, b) {
                    q.insert(a, b);
                }
            }
        }
        let mut row = Vec::new();
        let mut left = x;
        while left != 0 {
            let next = members(left).find(|&e| members(left).all(|before| !q.before(before, e)));
            let next = next.expect("an order");
            row.push(next);
            left &= !(1 << next);
        }
        row
    }
}

/// A partial order that is being closed.
struct Closing<'a> {
    of: &'a Printed,
    x: Events,
    order: Partial,
    worklist: VecDeque<(usize, usize)>,
}

impl Closing<'_> {
    fn chain(&self, process: Strand) -> Events {
        self.of.of_process(self.x, process)
    }

    fn successor(&self, e: usize, process: Strand) -> Option<usize> {
        members(self.chain(process)).find(|&other| self.order.before(e, other))
    }

    fn predecessor(&self, e: usize, process: Strand) -> Option<usize> {
        members(self.chain(process)).rfind(|&other| self.order.before(other, e))
    }

    /// The first event of e's process in X from e on that is one.
    fn after(&self, e: usize, is: impl Fn(Op) -> bool) -> Option<usize> {
        let chain = self.chain(self.of.events[e].strand());
        members(chain).find(|&other| other >= e && is(self.of.events[other].op()))
    }

    /// The last event of e's process in X up to e that is one.
    fn before(&self, e: usize, is: impl Fn(Op) -> bool) -> Option<usize> {
        let chain = self.chain(self.of.events[e].strand());
        members(chain).rfind(|&other| other <= e && is(self.of.events[other].op()))
    }

    fn push(&mut self, pair: (usize, usize)) {
        self.worklist.push_back(pair);
    }

    /// Algorithm 2.
    fn closure(&mut self) -> Option<()> {
        for e1 in members(self.x) {
            for &process in &self.of.processes {
                let own = process == self.of.events[e1].strand();
                if own && self.of.reading == Reading::OtherProcesses {
                    continue;
                }
                if let Some(e2) = self.successor(e1, process) {
                    self.obs_closure(e1, e2);
                    self.lock_closure(e1, e2);
                }
            }
        }
        self.work()
    }

    /// The main computation; nothing if there is a cycle.
    fn work(&mut self) -> Option<()> {
        while let Some((e1, e2)) = self.worklist.pop_front() {
            if e1 == e2 || self.order.before(e2, e1) {
                return None;
            }
            if !self.order.before(e1, e2) {
                self.insert(e1, e2);
            }
        }
        Some(())
    }

    /// Algorithm 7, and the closures of what it inserts.
    fn insert(&mut self, e1: usize, e2: usize) {
        let mut inserted = Vec::new();
        let own = |e: usize, process| self.of.events[e].strand() == process;
        for &p in &self.of.processes {
            for &q in &self.of.processes {
                let from = if own(e1, p) {
                    Some(e1)
                } else {
                    self.predecessor(e1, p)
                };
                let to = if own(e2, q) {
                    Some(e2)
                } else {
                    self.successor(e2, q)
                };
                inserted.extend(from.zip(to));
            }
        }
        self.order.insert(e1, e2);
        for (e1, e2) in inserted {
            self.obs_closure(e1, e2);
            self.lock_closure(e1, e2);
        }
    }

    /// What the reads observe that Algorithm 3 looks at: the first one of a location from e2 on, as printed.
    fn observed_behind(&self, e2: usize, x: Location) -> Vec<usize> {
        let is_read = |op| matches!(op, Op::Read(y, _) if y == x);
        let mut reads: Vec<usize> = self.after(e2, is_read).into_iter().collect();
        if self.of.reading == Reading::EveryRead {
            let chain = members(self.chain(self.of.events[e2].strand()));
            reads = chain
                .filter(|&r| r >= e2 && is_read(self.of.events[r].op()))
                .collect();
        }
        reads
            .iter()
            .map(|&r| self.of.observed[r].unwrap())
            .collect()
    }

    /// Algorithm 3.
    fn obs_closure(&mut self, e1: usize, e2: usize) {
        for &x in &self.of.locations {
            let Some(w) = self.before(e1, |op| op == Op::Write(x)) else {
                continue;
            };
            for observed in self.observed_behind(e2, x) {
                if observed != w {
                    self.push((w, observed));
                }
            }
            if let Some(next) = self.after(e2, |op| op == Op::Write(x)) {
                for &p in &self.of.processes {
                    let mut reads = members(self.chain(p));
                    if let Some(last) = reads.rfind(|&r| self.of.observed[r] == Some(w)) {
                        self.push((last, next));
                    }
                }
            }
        }
    }

    /// Algorithm 4.
    fn lock_closure(&mut self, e1: usize, e2: usize) {
        for &lock in &self.of.locks {
            let acq1 = self.before(e1, |op| op == Op::Acquire(lock));
            let rel1 = acq1.and_then(|acq1| self.of.matching[acq1]);
            let rel2 = self.after(e2, |op| op == Op::Release(lock));
            let acq2 = rel2.and_then(|rel2| self.of.matching[rel2]);
            if let (Some(rel1), Some(acq2)) = (rel1.filter(|&rel1| has(self.x, rel1)), acq2)
                && (acq1 != Some(acq2) || self.of.reading == Reading::SameSection)
            {
                self.push((rel1, acq2));
            }
        }
    }
}

/// The pairs of conflicting accesses of different strands.
fn conflicting(trace: &Execution) -> Vec<Pair> {
    let n = trace.events.len() as EventNumber;
    let all = (1..=n).flat_map(move |b| (1..b).map(move |a| (a, b)));
    let conflict = |&(a, b): &Pair| {
        let (one, other) = (trace.event(a).unwrap(), trace.event(b).unwrap());
        let accesses = (one.access(), other.access());
        one.strand() != other.strand()
            && matches!(accesses, (Some(one), Some(other)) if one.conflicts_with(&other))
    };
    all.filter(conflict).collect()
}

/// The print, beside brute force.
#[derive(Default, PartialEq, Eq, Debug)]
struct Compared {
    /// Races that a choice finds.
    found: usize,
    /// Races that neither choice finds.
    missed: Vec<Pair>,
    /// Of these, those of which the paper says that they are known not to race.
    denied: Vec<Pair>,
    /// Pairs that a choice accepts whose linearisation is no correct reordering, and the choice.
    not_reordered: Vec<(Pair, usize)>,
    /// Pairs that a choice accepts and that do not race.
    not_races: Vec<Pair>,
}

fn compared(trace: &Execution, reading: Reading) -> Compared {
    let printed = Printed::new(trace, reading);
    let truth = predictable_races(trace).unwrap();
    let witnesses = Witnesses::new(trace).unwrap();
    let mut compared = Compared::default();
    for pair in conflicting(trace) {
        let verdicts = [0, 1].map(|choice| printed.race_decision(pair, choice));
        let mut accepted = false;
        for (choice, verdict) in verdicts.iter().enumerate() {
            if let Verdict::Race(row) = verdict {
                accepted = true;
                let witness = [&row[..], &[pair.0, pair.1]].concat();
                if witnesses.verify(pair.0, pair.1, &witness).is_err() {
                    compared.not_reordered.push((pair, choice));
                }
            }
        }
        match (accepted, truth.contains_key(&pair)) {
            (true, true) => compared.found += 1,
            (true, false) => compared.not_races.push(pair),
            (false, true) => {
                compared.missed.push(pair);
                if verdicts.contains(&Verdict::NoRace) {
                    compared.denied.push(pair);
                }
            }
            (false, false) => {}
        }
    }
    compared
}

/// Whether a strand takes a lock that it holds, which the paper does not know.
fn takes_again(trace: &Execution) -> bool {
    let mut held = BTreeSet::new();
    trace.events.iter().any(|event| match event.op() {
        Op::Acquire(lock) => !held.insert(lock),
        Op::Release(lock) => !held.remove(&lock),
        _ => false,
    })
}

/// Compares random traces of the paper's kind, and shows a small one for which something does not hold.
fn compare_random(
    salt: u64,
    threads: &[usize],
    reading: Reading,
    holds: impl Fn(&Compared) -> bool,
) -> Trials {
    let trials = Trials::new(salt, 4000);
    let some_trace = |rng: &mut fastrand::Rng| {
        let shape = Shape {
            events: rng.usize(8..=20),
            threads: rng.choice(threads.iter().copied()).unwrap(),
            reads: 0.3 + rng.f64() * 0.4,
            ..Shape::random(rng, 20)
        };
        random_trace(rng, &shape)
    };
    on_random_traces(&trials, some_trace, |trace| {
        if takes_again(trace) {
            return None;
        }
        let compared = compared(trace, reading);
        (!holds(&compared)).then(|| format!("{compared:?}"))
    });
    trials
}

#[test]
fn with_two_processes_the_print_is_right() {
    let races = Cell::new(0);
    let trials = compare_random(1, &[2], Reading::Meant, |compared| {
        races.set(races.get() + compared.found);
        let Compared {
            missed,
            not_reordered,
            not_races,
            ..
        } = compared;
        missed.is_empty() && not_reordered.is_empty() && not_races.is_empty()
    });
    println!("{} races", races.get());
    trials.expect(races.get() > trials.count() as usize, races.get());
}

#[test]
fn with_more_processes_what_it_accepts_races_and_what_it_denies_does_not() {
    let (races, missed, not_reordered) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let trials = compare_random(2, &[3, 3, 4], Reading::Meant, |compared| {
        races.set(races.get() + compared.found);
        missed.set(missed.get() + compared.missed.len());
        not_reordered.set(not_reordered.get() + compared.not_reordered.len());
        compared.not_races.is_empty() && compared.denied.is_empty()
    });
    println!(
        "{} races, {} missed, {} linearisations that are no reorderings",
        races.get(),
        missed.get(),
        not_reordered.get()
    );
    trials.expect(races.get() > trials.count() as usize, races.get());
}

#[test]
fn if_every_read_is_looked_at_all_linearisations_are_reorderings() {
    let races = Cell::new(0);
    let trials = compare_random(2, &[3, 3, 4], Reading::EveryRead, |compared| {
        races.set(races.get() + compared.found);
        compared.not_reordered.is_empty()
    });
    trials.expect(races.get() > trials.count() as usize, races.get());
}

/// What the engine says: all races, and each has a witness that is one.
fn by_engine(trace: &Execution) -> BTreeSet<Pair> {
    let options = Options {
        listing: Listing::Pairs,
        complete: None,
    };
    let recorded = Recording::InMemory(trace);
    let found = m2::ENGINE.ask(recorded, &options).unwrap();
    let witnesses = Witnesses::new(trace).unwrap();
    let races = found.races.iter().map(|shown| {
        let pair = (shown.race.first.event, shown.race.second.event);
        let witness = shown.witness.as_ref().unwrap();
        witnesses.verify_witness(pair.0, pair.1, witness).unwrap();
        pair
    });
    races.collect()
}

fn truth(trace: &Execution) -> BTreeSet<Pair> {
    predictable_races(trace).unwrap().into_keys().collect()
}

#[test]
fn the_races_of_figures_1_and_6_are_found() {
    let [figure_1a, figure_1b, figure_6] = [FIGURE_1A, FIGURE_1B, FIGURE_6].map(trace);
    let decide =
        |trace: &Execution, pair| Printed::new(trace, Reading::Meant).race_decision(pair, 0);
    let witness = vec![4, 5, 6, 1];
    assert_eq!(decide(&figure_1a, (2, 7)), Verdict::Race(witness));
    let witness = vec![5, 6, 7, 8, 9, 10, 1, 11, 12, 13];
    assert_eq!(decide(&figure_1b, (2, 14)), Verdict::Race(witness));
    let witness = vec![4, 5, 6, 1, 9];
    assert_eq!(decide(&figure_6, (2, 10)), Verdict::Race(witness));
    for figure in [figure_1a, figure_1b, figure_6] {
        let compared = compared(&figure, Reading::Meant);
        assert!(compared.missed.is_empty() && compared.not_reordered.is_empty());
        assert_eq!(by_engine(&figure), truth(&figure));
    }
}

#[test]
fn no_section_is_behind_itself() {
    let trace = trace("T0 acq(l); T0 w(y); T0 rel(l); T0 w(x); T1 w(x)");
    assert_eq!(compared(&trace, Reading::SameSection).missed, [(4, 5)]);
    assert!(compared(&trace, Reading::Meant).missed.is_empty());
}

#[test]
fn a_section_that_need_not_be_completed_hides_a_race() {
    // What comes later in the section of a third process observes one of the two.
    let smallest = trace("T0 acq(l); T1 w(x); T0 fork(T2); T0 r(x); T0 rel(l); T2 w(x)");
    let without_fork = trace("T0 acq(l); T0 w(x); T1 r(x); T1 w(y); T0 r(y); T0 rel(l); T2 w(y)");
    for (trace, pair) in [(smallest, (2, 6)), (without_fork, (4, 7))] {
        assert_eq!(compared(&trace, Reading::Meant).missed, [pair]);
        assert!(truth(&trace).contains(&pair));
        assert_eq!(by_engine(&trace), truth(&trace));
    }
}

#[test]
fn a_max_min_linearisation_that_is_no_reordering() {
    // Event 4 observes event 3, so that event 1, which comes before event 4, comes before event 3. But of
    // the reads behind event 1 only the first is looked at, which observes event 1 itself.
    let trace = trace("T0 w(x); T1 r(x); T2 w(x); T1 r(x); T1 w(y); T2 w(y)");
    let printed = Printed::new(&trace, Reading::Meant);
    let verdict = printed.race_decision((5, 6), 1);
    assert_eq!(verdict, Verdict::Race(vec![3, 1, 2, 4]));
    let compared = compared(&trace, Reading::Meant);
    assert_eq!(compared.not_reordered, [((5, 6), 1)]);
    // The other choice is right.
    let verdict = printed.race_decision((5, 6), 0);
    assert_eq!(verdict, Verdict::Race(vec![1, 2, 3, 4]));
    assert_eq!(by_engine(&trace), truth(&trace));
}

#[test]
fn neither_choice_gives_a_reordering_of_a_race() {
    // Twice the same, once in each direction.
    let trace = trace(
        "T0 w(x); T1 r(x); T2 w(x); T1 r(x); T0 w(x); T1 r(x); T2 w(x); T1 w(x);
        T0 r(x); T0 w(x)",
    );
    let as_meant = compared(&trace, Reading::Meant);
    let wrong = &as_meant.not_reordered;
    assert!(wrong.contains(&((7, 10), 0)) && wrong.contains(&((7, 10), 1)));
    assert!(truth(&trace).contains(&(7, 10)));
    let corrected = compared(&trace, Reading::EveryRead);
    assert!(corrected.not_reordered.is_empty() && corrected.missed.is_empty());
    assert_eq!(by_engine(&trace), truth(&trace));
}

#[test]
fn an_event_has_a_successor_in_its_own_process() {
    let trace = trace("T0 w(x); T1 w(x); T0 r(x); T0 w(y); T1 w(y)");
    let printed = Printed::new(&trace, Reading::OtherProcesses);
    let verdict = printed.race_decision((4, 5), 1);
    assert_eq!(verdict, Verdict::Race(vec![2, 1, 3]));
    let by_others = compared(&trace, Reading::OtherProcesses);
    assert_eq!(by_others.not_reordered, [((4, 5), 1)]);
    let by_every = compared(&trace, Reading::Meant);
    assert!(by_every.not_reordered.is_empty() && by_every.missed.is_empty());
    assert_eq!(by_engine(&trace), truth(&trace));
}

/// Appendix A: for each node of a chain, the first of another chain that it has an edge to.
struct Ds {
    out: Vec<Vec<Vec<usize>>>,
    /// Whether an update sets an entry, as printed, or only makes it smaller.
    sets: bool,
}

type Node = (usize, usize);

impl Ds {
    fn new(chains: usize, nodes: usize, sets: bool) -> Ds {
        let out = vec![vec![vec![usize::MAX; nodes]; chains]; chains];
        Ds { out, sets }
    }

    fn successor(&self, (i, j): Node, other: usize) -> usize {
        let edges = &self.out[i][other][j..];
        if i == other {
            j
        } else {
            *edges.iter().min().unwrap()
        }
    }

    fn predecessor(&self, (i, j): Node, other: usize) -> Option<usize> {
        let edges = &self.out[other][i];
        if i == other {
            Some(j)
        } else {
            edges.iter().rposition(|&to| to <= j)
        }
    }

    /// Algorithm 7, without what leads nowhere.
    fn insert(&mut self, from: Node, to: Node) {
        for i in 0..self.out.len() {
            for k in (0..self.out.len()).filter(|&k| k != i) {
                let first = self.successor(to, k);
                let Some(j) = self.predecessor(from, i).filter(|_| first < usize::MAX) else {
                    continue;
                };
                let entry = &mut self.out[i][k][j];
                *entry = if self.sets { first } else { first.min(*entry) };
            }
        }
    }

    /// Algorithm 8.
    fn query(&self, from: Node, to: Node) -> bool {
        self.successor(from, to.0) <= to.1
    }
}

#[test]
fn the_data_structure_as_printed_forgets_an_order() {
    for sets in [true, false] {
        let mut ds = Ds::new(3, 2, sets);
        ds.insert((0, 0), (1, 0));
        ds.insert((0, 0), (2, 0));
        assert!(ds.query((0, 0), (1, 0)) && !ds.query((2, 0), (1, 1)));
        ds.insert((2, 0), (1, 1));
        // The new way from the first chain to the second is not as early as the old one.
        assert_eq!(ds.query((0, 0), (1, 0)), !sets);
    }
}
