//! Whether two accesses could have been concurrent (the thesis's CCB): both next at the same time, in some order of the
//! execution's events.
//!
//! Simple model: try every order, and visit a state once ([`State`] says what can come next). A path to a state in which
//! both are next is the witness. What makes that feasible:
//!
//! - *What is needed.* Only the events that the two accesses need are done: who forks, what is joined, the write that a
//!   read observed, every post and V that might let somebody go on, and the rest of each section that was begun. Leaving
//!   out the others forbids nothing.
//! - *What is harmless.* An event that forbids no other one is done as soon as it can be, and is no choice: all but
//!   taking a lock, a token or an observed value away. Choices are left between those who compete for a lock or a
//!   semaphore, `clear` and `post` of one flag, and writes whose values are read.
//!
//! With forks, joins, tasks, promises, barriers, posts and waits only nothing is ever chosen, as long as reads do not
//! matter: then one order decides a pair, in linear time. Otherwise the problem is NP-hard (theorem 5.1), and there is a
//! limit on what is tried.

use std::collections::BTreeMap;

use deadheat_model::{Event, EventNumber, Flag, Location, Op, StopToken, Strand, Witness};
use deadheat_witness::{Obstacle, Recording, State, reads, writes};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of two accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Meeting {
    /// After this order of events both are next.
    Possible(Witness),
    /// There is none if each read observes what it observed; if it need not, there may be one.
    IfReadsDiffer,
    /// There is none, whatever is read.
    Never,
    /// There was not enough room to tell.
    Undecided,
}

/// Whether reads must observe what they observed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Observe,
    Ignore,
}

/// What some events need, or compete for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Object {
    Flag(u64),
    Semaphore(u64),
    Promise(u64),
    Round(u32),
}

/// A strand and its events.
struct Line {
    strand: Strand,
    events: Vec<EventNumber>,
    forked_by: Option<EventNumber>,
}

/// See the [module](self).
pub(crate) struct Meetings<'r, 't> {
    recording: &'r Recording<'t>,
    lines: Vec<Line>,
    line_of: FxHashMap<Strand, usize>,
    /// What lets somebody go on: of each strand that has some, the last.
    signals: FxHashMap<Object, BTreeMap<usize, EventNumber>>,
    /// For each event that takes a lock, the one that gives it back.
    release_of: FxHashMap<EventNumber, EventNumber>,
    /// The round before, of each round of a barrier but the first.
    round_before: FxHashMap<u32, u32>,
    cleared: Vec<Flag>,
    /// The events that compete for a lock or a semaphore with other strands.
    competes: FixedBitSet,
    /// The accesses of the locations that several strands use and somebody writes.
    accesses: FxHashMap<Location, Vec<EventNumber>>,
    stop: StopToken,
}

/// How many events of each strand are needed.
type Upto = Vec<u32>;

impl<'r, 't> Meetings<'r, 't> {
    pub(crate) fn new(recording: &'r Recording<'t>, stop: StopToken) -> Meetings<'r, 't> {
        let trace = recording.trace;
        let mut meetings = Meetings {
            recording,
            lines: Vec::new(),
            line_of: FxHashMap::default(),
            signals: FxHashMap::default(),
            release_of: FxHashMap::default(),
            round_before: FxHashMap::default(),
            cleared: Vec::new(),
            competes: FixedBitSet::with_capacity(trace.events.len() + 1),
            accesses: FxHashMap::default(),
            stop,
        };
        let mut held: FxHashMap<(Strand, u64, bool), Vec<EventNumber>> = FxHashMap::default();
        let mut latest: FxHashMap<u64, u32> = FxHashMap::default();
        let isolation = trace.names.isolation().0;
        for (event, number) in trace.events.iter().zip(1..) {
            let line = meetings.line(event.strand());
            meetings.lines[line].events.push(number);
            let strand = event.strand();
            match event.op() {
                Op::Fork(child) | Op::Async(child) | Op::Future(child) => {
                    let child = meetings.line(child);
                    meetings.lines[child].forked_by = Some(number);
                }
                Op::Post(flag) => meetings.signal(Object::Flag(flag.0), line, number),
                Op::V(semaphore) => meetings.signal(Object::Semaphore(semaphore.0), line, number),
                Op::Set(promise) => meetings.signal(Object::Promise(promise.0), line, number),
                Op::Clear(flag) => meetings.cleared.push(flag),
                Op::BarrierArrive(barrier) => {
                    let round = recording.round_of(number);
                    meetings.signal(Object::Round(round), line, number);
                    let before = latest.insert(barrier.index() as u64, round);
                    if let Some(before) = before.filter(|before| *before != round) {
                        meetings.round_before.insert(round, before);
                    }
                }
                Op::Acquire(lock) => {
                    held.entry((strand, lock.0, true)).or_default().push(number);
                }
                Op::AcquireShared(lock) => {
                    held.entry((strand, lock.0, false))
                        .or_default()
                        .push(number);
                }
                Op::IsolatedBegin => {
                    held.entry((strand, isolation, true))
                        .or_default()
                        .push(number);
                }
                Op::Release(lock) => meetings.released(&mut held, (strand, lock.0, true), number),
                Op::ReleaseShared(lock) => {
                    meetings.released(&mut held, (strand, lock.0, false), number);
                }
                Op::IsolatedEnd => {
                    meetings.released(&mut held, (strand, isolation, true), number);
                }
                _ => {}
            }
            if let Some((access, _)) = event.any_access() {
                meetings
                    .accesses
                    .entry(access.location)
                    .or_default()
                    .push(number);
            }
        }
        meetings.cleared.sort_unstable();
        meetings.cleared.dedup();
        meetings.find_competitors();
        let strand = |number: &EventNumber| trace.events[*number as usize - 1].strand();
        let is_written =
            |number: &EventNumber| writes(trace.events[*number as usize - 1].op()).is_some();
        meetings.accesses.retain(|_, all| {
            all.iter().any(is_written) && all.iter().any(|other| strand(other) != strand(&all[0]))
        });
        meetings
    }

    fn line(&mut self, strand: Strand) -> usize {
        *self.line_of.entry(strand).or_insert_with(|| {
            self.lines.push(Line {
                strand,
                events: Vec::new(),
                forked_by: None,
            });
            self.lines.len() - 1
        })
    }

    fn signal(&mut self, object: Object, line: usize, number: EventNumber) {
        self.signals.entry(object).or_default().insert(line, number);
    }

    fn released(
        &mut self,
        held: &mut FxHashMap<(Strand, u64, bool), Vec<EventNumber>>,
        key: (Strand, u64, bool),
        number: EventNumber,
    ) {
        if let Some(acquire) = held.get_mut(&key).and_then(Vec::pop) {
            self.release_of.insert(acquire, number);
        }
    }

    /// A lock or semaphore that one strand takes takes nothing away from others.
    fn find_competitors(&mut self) {
        let mut takers: FxHashMap<(bool, u64), (Strand, bool)> = FxHashMap::default();
        let isolation = self.recording.trace.names.isolation();
        let taken = |event: &Event| match event.op() {
            Op::Acquire(lock) | Op::AcquireShared(lock) => Some((true, lock.0)),
            Op::IsolatedBegin => Some((true, isolation.0)),
            Op::P(semaphore) => Some((false, semaphore.0)),
            _ => None,
        };
        let events = &self.recording.trace.events;
        for event in events {
            if let Some(object) = taken(event) {
                let known = takers.entry(object).or_insert((event.strand(), false));
                known.1 |= known.0 != event.strand();
            }
        }
        for (event, number) in events.iter().zip(1..) {
            let shared = taken(event).is_some_and(|object| takers[&object].1);
            self.competes.set(number, shared);
        }
    }

    /// Whether two accesses can be next at the same time, within so much work.
    pub(crate) fn decide(&self, a: EventNumber, b: EventNumber, work: &mut u64) -> Meeting {
        match self.search(&[a, b], Reads::Observe, work) {
            None => Meeting::Undecided,
            Some(Some(mut then)) => {
                then.extend([a, b]);
                Meeting::Possible(as_they_come(then))
            }
            Some(None) => match self.search(&[a, b], Reads::Ignore, work) {
                Some(None) => Meeting::Never,
                _ => Meeting::IfReadsDiffer,
            },
        }
    }

    /// An order after which all of some events of different strands are next, that there is none, or that the work does
    /// not suffice to tell.
    pub(crate) fn together(
        &self,
        events: &[EventNumber],
        work: &mut u64,
    ) -> Option<Option<Witness>> {
        let order = self.search(events, Reads::Observe, work)?;
        Some(order.map(as_they_come))
    }

    fn event(&self, number: EventNumber) -> &'t Event {
        &self.recording.trace.events[number as usize - 1]
    }

    /// An order of events after which all of these are next, or that there is none; nothing if the work does not suffice to
    /// tell.
    fn search(
        &self,
        wanted: &[EventNumber],
        how: Reads,
        work: &mut u64,
    ) -> Option<Option<Vec<EventNumber>>> {
        let upto = self.needed(wanted, how, work)?;
        let needed = (0..self.lines.len()).filter(|line| upto[*line] > 0);
        let needed: Vec<usize> = needed.collect();
        let observed = self.observed(&needed, &upto, how);
        let mut seen = FxHashSet::default();
        // The events of each step behind those of the step that it comes after.
        let mut log: Vec<EventNumber> = Vec::new();
        let mut steps: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        let mut open = vec![(State::default(), usize::MAX, None)];
        while let Some((mut state, after, choice)) = open.pop() {
            let start = log.len();
            if let Some(choice) = choice {
                state.perform(self.recording, choice);
                log.push(choice);
            }
            self.go_on(&mut state, &needed, &upto, how, &mut log);
            steps.push((after, start..log.len()));
            let cost = log.len() - start + needed.len() + observed.len() + 1;
            *work = work.checked_sub(cost as u64)?;
            self.stop.due().map_or(Some(()), |_| None)?;
            let is_next = |&number: &EventNumber| state.has_turn(self.recording, number).is_ok();
            if wanted.iter().all(is_next) {
                return Some(Some(path(&log, &steps)));
            }
            if !seen.insert(self.key(&state, &needed, &observed)) {
                continue;
            }
            let choices = needed.iter().filter_map(|&line| {
                let next = self.next(&state, line, &upto)?;
                self.allows(&state, next, how).then_some(next)
            });
            let mut choices: Vec<EventNumber> = choices.collect();
            // The order of the trace is the first that is tried.
            choices.sort_unstable_by(|one, other| other.cmp(one));
            let copied = choices.len() * log.len().min(self.recording.trace.events.len()) / 16;
            *work = work.checked_sub(copied as u64)?;
            let step = steps.len() - 1;
            let next = choices
                .into_iter()
                .map(|choice| (state.clone(), step, Some(choice)));
            open.extend(next);
        }
        Some(None)
    }

    /// The next event of a strand, if it is needed.
    fn next(&self, state: &State, line: usize, upto: &Upto) -> Option<EventNumber> {
        let done = state.done(self.lines[line].strand);
        let is_needed = done < upto[line];
        is_needed.then(|| self.lines[line].events[done as usize])
    }

    fn allows(&self, state: &State, number: EventNumber, how: Reads) -> bool {
        match state.allows(self.recording, number) {
            Ok(()) => true,
            Err(Obstacle::Observes { .. }) => how == Reads::Ignore,
            Err(_) => false,
        }
    }

    /// Does what is harmless.
    fn go_on(
        &self,
        state: &mut State,
        needed: &[usize],
        upto: &Upto,
        how: Reads,
        log: &mut Vec<EventNumber>,
    ) {
        loop {
            let before = log.len();
            for &line in needed {
                while let Some(next) = self.next(state, line, upto)
                    && self.allows(state, next, how)
                    && self.is_harmless(state, next, upto, how)
                {
                    state.perform(self.recording, next);
                    log.push(next);
                }
            }
            if log.len() == before {
                return;
            }
        }
    }

    /// Whether doing an event forbids nothing that is possible without it.
    fn is_harmless(&self, state: &State, number: EventNumber, upto: &Upto, how: Reads) -> bool {
        if self.competes.contains(number as usize) {
            return false;
        }
        let op = self.event(number).op();
        if let Op::Post(flag) | Op::Clear(flag) = op {
            return self.cleared.binary_search(&flag).is_err();
        }
        let Some(x) = writes(op).filter(|_| how == Reads::Observe) else {
            return true;
        };
        let Some(accesses) = self.accesses.get(&x) else {
            return true;
        };
        let is_to_come = |other: &&EventNumber| {
            let strand = self.event(**other).strand();
            let place = self.recording.place(**other);
            **other != number && place < upto[self.line_of[&strand]] && place >= state.done(strand)
        };
        // Nobody waits for what it overwrites, and it is overwritten by nobody before it is read.
        let current = state.written(x);
        let (mut is_read, mut is_overwritten) = (false, false);
        for &other in accesses.iter().filter(is_to_come) {
            let op = self.event(other).op();
            if reads(op).is_some() {
                let observed = self.recording.observed(other);
                if observed == current {
                    return false;
                }
                is_read |= observed == Some(number);
            }
            is_overwritten |= writes(op).is_some();
        }
        !(is_read && is_overwritten)
    }

    /// What distinguishes states: how far each strand is, which flags are on, what is read next.
    fn key(&self, state: &State, needed: &[usize], observed: &[Location]) -> Vec<u32> {
        let done = needed
            .iter()
            .map(|line| state.done(self.lines[*line].strand));
        let on = self.cleared.iter().map(|flag| state.is_on(*flag).into());
        let written = observed
            .iter()
            .map(|x| state.written(*x).unwrap_or(0) as u32);
        done.chain(on).chain(written).collect()
    }

    /// The locations of which it matters who wrote them last.
    fn observed(&self, needed: &[usize], upto: &Upto, how: Reads) -> Vec<Location> {
        if how == Reads::Ignore {
            return Vec::new();
        }
        let events = needed
            .iter()
            .flat_map(|&line| &self.lines[line].events[..upto[line] as usize]);
        let read = events.filter_map(|&number| reads(self.event(number).op()));
        let mut observed: Vec<Location> = read.filter(|x| self.accesses.contains_key(x)).collect();
        observed.sort_unstable();
        observed.dedup();
        observed
    }

    /// How many events of each strand some events may need; nothing if the work does not suffice.
    fn needed(&self, wanted: &[EventNumber], how: Reads, work: &mut u64) -> Option<Upto> {
        let mut needed = Needed {
            upto: vec![0; self.lines.len()],
            most: self
                .lines
                .iter()
                .map(|line| line.events.len() as u32)
                .collect(),
            open: Vec::new(),
        };
        for &number in wanted {
            needed.most[self.line_of[&self.event(number).strand()]] = self.recording.place(number);
        }
        for &number in wanted {
            let line = self.line_of[&self.event(number).strand()];
            needed.raise(line, self.recording.place(number));
            if let Some(fork) = self.lines[line].forked_by {
                self.need(&mut needed, fork);
            }
        }
        while let Some((line, from, to)) = needed.open.pop() {
            *work = work.checked_sub(1 + u64::from(to - from))?;
            if let Some(fork) = self.lines[line].forked_by.filter(|_| from == 0) {
                self.need(&mut needed, fork);
            }
            for place in from..to {
                let number = self.lines[line].events[place as usize];
                self.add_needs(&mut needed, number, how);
            }
        }
        Some(needed.upto)
    }

    fn need(&self, needed: &mut Needed, number: EventNumber) {
        let line = self.line_of[&self.event(number).strand()];
        needed.raise(line, self.recording.place(number) + 1);
    }

    fn need_signals(&self, needed: &mut Needed, object: Object) {
        for &number in self
            .signals
            .get(&object)
            .into_iter()
            .flat_map(BTreeMap::values)
        {
            self.need(needed, number);
        }
    }

    fn need_all_of(&self, needed: &mut Needed, strand: Strand) {
        if let Some(&line) = self.line_of.get(&strand) {
            needed.raise(line, u32::MAX);
            if let Some(fork) = self.lines[line].forked_by {
                self.need(needed, fork);
            }
        }
    }

    /// What an event needs before it, or, where it takes a lock, behind it.
    fn add_needs(&self, needed: &mut Needed, number: EventNumber, how: Reads) {
        let recording = self.recording;
        if let Some(&release) = self.release_of.get(&number) {
            self.need(needed, release);
        }
        if how == Reads::Observe
            && let Some(write) = recording.observed(number)
        {
            self.need(needed, write);
        }
        match self.event(number).op() {
            Op::Join(child) => self.need_all_of(needed, child),
            Op::FinishEnd(_) => {
                let tasks = recording.tasks(number).iter();
                tasks.for_each(|&task| self.need_all_of(needed, task));
            }
            Op::Get(promise) => self.need_signals(needed, Object::Promise(promise.0)),
            Op::Wait(flag) => self.need_signals(needed, Object::Flag(flag.0)),
            Op::P(semaphore) => self.need_signals(needed, Object::Semaphore(semaphore.0)),
            Op::BarrierLeave(_) => {
                self.need_signals(needed, Object::Round(recording.round_of(number)));
            }
            Op::BarrierArrive(_) => {
                let before = self.round_before.get(&recording.round_of(number));
                if let Some(&before) = before {
                    self.need_signals(needed, Object::Round(before));
                }
            }
            _ => {}
        }
    }
}

/// How many events of each strand are needed so far.
struct Needed {
    upto: Upto,
    /// The racing accesses and what comes behind them are never done.
    most: Vec<u32>,
    /// What was added, and whose needs are to be added.
    open: Vec<(usize, u32, u32)>,
}

impl Needed {
    fn raise(&mut self, line: usize, to: u32) {
        let (from, to) = (self.upto[line], to.min(self.most[line]));
        if from < to {
            self.upto[line] = to;
            self.open.push((line, from, to));
        }
    }
}

/// A witness that has no prefix of the trace.
fn as_they_come(then: Vec<EventNumber>) -> Witness {
    Witness {
        before: 1,
        upto: Vec::new(),
        then,
    }
}

/// The events that lead to the last step.
fn path(log: &[EventNumber], steps: &[(usize, std::ops::Range<usize>)]) -> Vec<EventNumber> {
    let mut chain = Vec::new();
    let mut at = steps.len().checked_sub(1);
    while let Some((after, events)) = at.and_then(|at| steps.get(at)) {
        chain.push(events.clone());
        at = Some(*after);
    }
    let events = chain.into_iter().rev().flat_map(|events| &log[events]);
    events.copied().collect()
}
