//! The beginning of a witness, where it keeps the trace's order: checked without doing it.
//!
//! A *cut* is, of each strand, its events up to some number. A witness may begin with a cut's events in
//! the trace's order. Simple model: do them one by one. But a race late in a trace of many million
//! events has a cut of as many, so here is what makes doing them succeed, and only that:
//!
//! 1. *The cut has what its events need.* A read needs the write that it observed, a strand's first event
//!    its fork, a join the fork and the last event of the strand that it waits for, the end of a finish
//!    those of its tasks. In the trace, these come before; so they do in the cut, if it has them. For a fork and a join that is the whole rule. A
//!    read observes in the cut the last write before it that the cut has: between the write that it observed
//!    and the read, the trace has no other, so that is the one it observed if and only if the cut has it. A
//!    read that observed no write has none before it, in the trace or in the cut.
//! 2. *Who is left inside a section is the last to take its lock.* A strand inside a section at the cut's
//!    end holds the lock from its acquire on, and nobody else may take it after that. A section that the
//!    cut has all of comes after and before the lock's others as in the trace, where they exclude each
//!    other.
//!
//! Nothing else can go wrong: a strand's events are complete and in order, no release is without its
//! acquire, nothing is forked twice. For the events that come after the cut, the state is: so many events
//! of each strand done, the strands forked whose fork is in the cut, the locks taken whose sections are
//! open at its end. What locations hold is looked up for the reads that ask. Say a read `r` comes after
//! the cut, and nothing after the cut has written its location. It should observe what it observed in the
//! trace, `w` or nothing.
//! - If `r` is behind all of the cut in the trace, what the cut has of the location's writes comes before
//!   `r`. If it has `w`, that is the last of them, since there is none between `w` and `r`; if it has
//!   not, whatever `r` observes is wrong; if `r` observed nothing, the cut has no write to the location.
//! - If not, it is the same unless the cut has a write to the location behind `r`: then that is observed, or
//!   one further behind. So the stretch of the trace between the first such `r` and the end of the
//!   cut is looked through for writes that the cut has.
//!
//! That a strand needs an event of another is kept as the changes of the maximum, for each two strands:
//! who needs event 9 of a strand needs event 5 too.
//!
//! All this is for memory accesses, atomic ones too (what they observe is all that orders them), locks
//! and `isolated`, forks and joins, tasks and the finishes that wait for them. For a trace with semaphores, flags, promises, barriers or read-write locks there
//! are no [`Cuts`]: its witnesses are done event by event.
//!
//! Guarantee: as if the cut's events were done one by one. Cost: one pass over the trace, once; 4 bytes an
//! event, 20 an acquire and 8 a change. A cut takes a binary search for each two strands of which one needs
//! the other, and for each open section and strand; and the stretch, if reads from before the cut's end
//! were put off until after it.

use deadheat_model::{EventNumber, Lock, Op, Strand, last_of};
use rustc_hash::FxHashMap;

use crate::recording::{Recording, reads, writes};
use crate::sections::{Acquires, LockId, Sections};
use crate::state::{Obstacle, State};

/// Of each strand, its events with numbers below `before` and up to a number of its own.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'w> {
    pub before: EventNumber,
    /// In the order of the strands; 0 of those that are not there.
    pub upto: &'w [(Strand, EventNumber)],
}

impl Cut<'_> {
    /// The number up to which it has a strand's events.
    fn end(&self, recording: &Recording, strand: Strand) -> u32 {
        let end = last_of(self.upto, strand).min(self.before.saturating_sub(1));
        // Taking the trace in made sure that its events' numbers are 32 bits.
        end.min(recording.trace.events.len() as EventNumber) as u32
    }

    fn has(&self, recording: &Recording, number: EventNumber) -> bool {
        let event = recording.event(number);
        event.is_some_and(|event| number <= self.end(recording, event.strand()).into())
    }
}

/// The event that first needs another, or one behind it, of the same strand.
struct Need {
    by: u32,
    of: u32,
}

struct OfStrand {
    strand: Strand,
    /// The numbers of its events.
    events: Vec<u32>,
    sections: Sections,
}

impl OfStrand {
    /// How many of its events a cut has.
    fn done(&self, end: u32) -> usize {
        self.events.partition_point(|&number| number <= end)
    }
}

/// What a trace says about all of its cuts.
pub(crate) struct Cuts {
    /// In the order of their numbers.
    strands: Vec<OfStrand>,
    /// The event that forks a strand.
    forks: FxHashMap<Strand, u32>,
    /// What the first strand's events need of the second's; both numbers of a need increase.
    needs: FxHashMap<(Strand, Strand), Vec<Need>>,
    locks: Vec<Lock>,
    acquires: Acquires,
}

impl Cuts {
    /// Nothing, if the trace has what only doing it can tell.
    pub fn new(recording: &Recording) -> Option<Cuts> {
        let mut draft = Draft::default();
        for number in 1..=recording.trace.events.len() as u32 {
            draft.take_in(recording, number)?;
        }
        let Draft {
            mut strands,
            forks,
            needs,
            locks,
            ..
        } = draft;
        strands.sort_unstable_by_key(|of| of.strand);
        strands.iter_mut().for_each(|of| of.sections.finish());
        let acquires = Acquires::new(strands.iter().map(|of| &of.sections), locks.len());
        Some(Cuts {
            strands,
            forks,
            needs,
            locks,
            acquires,
        })
    }

    /// How many events a cut has, up to an event.
    pub fn length(&self, recording: &Recording, cut: Cut, number: EventNumber) -> usize {
        let upto = |of: &OfStrand| of.done(cut.end(recording, of.strand).min(clamp(number)));
        self.strands.iter().map(upto).sum()
    }

    /// The last event of a cut.
    pub fn last(&self, recording: &Recording, cut: Cut) -> Option<EventNumber> {
        let last = self.strands.iter().filter_map(|of| {
            let done = of.done(cut.end(recording, of.strand));
            of.events[..done].last()
        });
        last.max().map(|&number| number.into())
    }

    /// The state in which a cut's events leave all but the locations, if they can be done in the
    /// trace's order; otherwise one that cannot be.
    pub fn state_after(
        &self,
        recording: &Recording,
        cut: Cut,
    ) -> Result<State, (EventNumber, Obstacle)> {
        let end = |strand| cut.end(recording, strand);
        for (&(who, whom), needs) in &self.needs {
            let so_far = needs.partition_point(|need| need.by <= end(who));
            if let Some(need) = needs[..so_far].last()
                && need.of > end(whom)
            {
                return Err((need.by.into(), Obstacle::LeftOut(need.of.into())));
            }
        }
        let mut state = State::default();
        for of in &self.strands {
            let end = end(of.strand);
            state.skip(of.strand, of.done(end) as u32);
            for (lock, acquire) in of.sections.after(end) {
                self.is_last_to_take(recording, cut, of.strand, (lock, acquire))?;
                state.own(self.locks[lock as usize], of.strand);
            }
        }
        for (&child, &fork) in &self.forks {
            if cut.has(recording, fork.into()) {
                state.fork(child);
            }
        }
        Ok(state)
    }

    /// That nobody else takes a lock in a cut after a strand that does not give it back.
    fn is_last_to_take(
        &self,
        recording: &Recording,
        cut: Cut,
        strand: Strand,
        (lock, acquire): (LockId, u32),
    ) -> Result<(), (EventNumber, Obstacle)> {
        let others = self.strands.iter().map(|of| of.strand);
        for other in others.filter(|&other| other != strand) {
            let end = cut.end(recording, other);
            if end > acquire
                && let Some(later) = self.acquires.last(recording, lock, other, end)
                && later > acquire
            {
                let lock = self.locks[lock as usize];
                return Err((later.into(), Obstacle::Owned(lock, strand)));
            }
        }
        Ok(())
    }
}

/// Lets the state after a cut know what the cut wrote, as far as the reads among the events that come
/// next can tell.
pub(crate) fn recall_writes(
    recording: &Recording,
    cut: Cut,
    next: &[EventNumber],
    state: &mut State,
) {
    let reading = |&number: &EventNumber| {
        let location = reads(recording.event(number)?.op())?;
        (!cut.has(recording, number)).then_some((number, location))
    };
    let next = || next.iter().filter_map(reading);
    let put_off = next().map(|(number, _)| number).min();
    let cut_end = cut.before.min(recording.trace.events.len() as u64 + 1);
    for number in put_off.unwrap_or(cut_end)..cut_end {
        let written = recording.event(number).and_then(|event| writes(event.op()));
        if let Some(location) = written
            && cut.has(recording, number)
        {
            state.write(location, number);
        }
    }
    for (number, location) in next() {
        if let Some(write) = recording.observed(number)
            && cut.has(recording, write)
            && state.written(location).is_none()
        {
            state.write(location, write);
        }
    }
}

fn clamp(number: EventNumber) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What is known of a trace up to an event.
#[derive(Default)]
struct Draft {
    strands: Vec<OfStrand>,
    /// Where each strand is among them.
    index: FxHashMap<Strand, usize>,
    forks: FxHashMap<Strand, u32>,
    needs: FxHashMap<(Strand, Strand), Vec<Need>>,
    locks: Vec<Lock>,
    /// For each lock, where it is among them and which of its sections its owner is in, the inner ones
    /// last.
    inside: FxHashMap<Lock, (LockId, Vec<u32>)>,
}

impl Draft {
    /// Takes the next event in; nothing if cuts cannot tell what it asks for.
    fn take_in(&mut self, recording: &Recording, number: u32) -> Option<()> {
        let event = recording.event(number.into())?;
        let strand = event.strand();
        let index = self.index_of(recording, strand);
        if self.strands[index].events.is_empty() {
            self.need(
                recording,
                (strand, number),
                self.forks.get(&strand).copied(),
            );
        }
        self.strands[index].events.push(number);
        let observed = recording.observed(number.into());
        self.need(recording, (strand, number), observed.map(clamp));
        match event.op() {
            Op::Fork(child) | Op::Async(child) | Op::Future(child) => {
                self.forks.insert(child, number);
            }
            Op::Join(other) => self.need_end(recording, (strand, number), other),
            Op::FinishEnd(_) => {
                let tasks = recording.tasks(number.into()).iter();
                tasks.for_each(|&task| self.need_end(recording, (strand, number), task));
            }
            Op::Acquire(lock) => self.acquire(index, lock, number),
            Op::Release(lock) => self.release(index, lock, number)?,
            Op::IsolatedBegin => self.acquire(index, recording.names().isolation(), number),
            Op::IsolatedEnd => self.release(index, recording.names().isolation(), number)?,
            Op::FinishBegin(_) => {}
            Op::Read(..) | Op::Write(_) => {}
            Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::AtomicUpdate(..) => {}
            Op::Begin | Op::End | Op::Branch | Op::Request(_) => {}
            Op::Alloc(_) | Op::Free(_) | Op::NewPromise(_) => {}
            _ => return None,
        }
        Some(())
    }

    fn acquire(&mut self, index: usize, lock: Lock, number: u32) {
        let (id, inside) = self.inside.entry(lock).or_insert_with(|| {
            self.locks.push(lock);
            (self.locks.len() as LockId - 1, Vec::new())
        });
        inside.push(self.strands[index].sections.begin(*id, number));
    }

    fn release(&mut self, index: usize, lock: Lock, number: u32) -> Option<()> {
        let section = self.inside.get_mut(&lock)?.1.pop()?;
        self.strands[index].sections.end(section, number);
        Some(())
    }

    /// A strand's event needs all of another strand.
    fn need_end(&mut self, recording: &Recording, by: (Strand, u32), other: Strand) {
        self.need(recording, by, self.forks.get(&other).copied());
        let other = self.index.get(&other);
        let last = other.and_then(|&other| self.strands[other].events.last());
        self.need(recording, by, last.copied());
    }

    fn index_of(&mut self, recording: &Recording, strand: Strand) -> usize {
        *self.index.entry(strand).or_insert_with(|| {
            self.strands.push(OfStrand {
                strand,
                events: Vec::with_capacity(recording.strands[&strand].events as usize),
                sections: Sections::default(),
            });
            self.strands.len() - 1
        })
    }

    /// A strand's event needs another, if there is one.
    fn need(&mut self, recording: &Recording, (who, by): (Strand, u32), of: Option<u32>) {
        if let Some(of) = of
            && let Some(needed) = recording.event(of.into())
            && needed.strand() != who
        {
            let needs = self.needs.entry((who, needed.strand())).or_default();
            if needs.last().is_none_or(|last| last.of < of) {
                needs.push(Need { by, of });
            }
        }
    }
}
