//! One order of what all threads did.
//!
//! The simple model: of the next records of all threads, take one whose turn it is, again and again. It is the turn of a
//! stamped record if all lower stamps are over; of any other, always. Among several, the earliest in time is taken.
//!
//! Guarantee: program order and the order of stamps are kept. So the result is an order in which
//! everything can have happened (`crates/rt/src/output/recording/mod.rs` says why), whatever the clocks say.
//! Cost: a chunk in memory for each thread, and a heap of threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use deadheat_tape::{AccessSite, Stamped};

use super::tape::{Record, Records, Stamp, Tape};

/// What a thread does next, in the order of all.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Access { address: u64, code: AccessSite },
    Stamp(Stamp),
    Stack { address: u64, size: u64 },
}

impl Step {
    /// Whether it says what memory is, whoever says so.
    pub fn is_about_memory(&self) -> bool {
        match self {
            Step::Access { .. } => false,
            Step::Stack { .. } => true,
            Step::Stamp(stamped) => matches!(stamped.what, Stamped::Allocated | Stamped::New),
        }
    }
}

/// See the [module](self).
pub struct Order<'a> {
    threads: Vec<Thread<'a>>,
    /// Threads whose turn it may be, by time.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// Threads that wait for lower stamps, by stamp.
    waiting: BTreeMap<u64, usize>,
    /// The lowest stamp that is not over.
    stamp: u64,
    /// Whose step was taken last: it has not been asked for the next one yet.
    last: Option<usize>,
    /// From when on there was no room, if so: a time and a stamp. What comes later is left out.
    end: Option<(u64, u64)>,
}

struct Thread<'a> {
    id: u32,
    records: Records<'a>,
    /// Where the functions that it has entered return to, outermost first.
    calls: Vec<u64>,
    time: u64,
    next: Option<Step>,
}

impl Thread<'_> {
    /// Reads on up to the next step.
    fn advance(&mut self) {
        self.next = None;
        while self.next.is_none() {
            match self.records.next() {
                None => return,
                Some(Record::Entered(caller)) => self.calls.push(caller),
                Some(Record::Left(depth)) => self.calls.truncate(depth as usize),
                Some(Record::Time(time)) => self.time = time,
                Some(Record::Name(_)) => {}
                Some(Record::Access { address, code }) => {
                    self.next = Some(Step::Access { address, code });
                }
                Some(Record::Stack { address, size }) => {
                    self.next = Some(Step::Stack { address, size });
                }
                Some(Record::Stamp(stamped)) => {
                    self.time = stamped.time;
                    self.next = Some(Step::Stamp(stamped));
                }
            }
        }
    }
}

impl<'a> Order<'a> {
    /// Before the first record of a tape.
    pub fn new(tape: &'a Tape) -> Order<'a> {
        let thread = |id| {
            let mut thread = Thread {
                id,
                records: tape.records(id),
                calls: Vec::new(),
                time: 0,
                next: None,
            };
            thread.advance();
            thread
        };
        let threads: Vec<Thread> = tape.threads().map(thread).collect();
        let ready = threads.iter().enumerate();
        Order {
            ready: ready
                .map(|(index, thread)| Reverse((thread.time, index)))
                .collect(),
            threads,
            waiting: BTreeMap::new(),
            stamp: 1,
            last: None,
            end: tape.end(),
        }
    }

    /// The next step: who, what, and where the functions return to that the thread is in, outermost first.
    pub fn step(&mut self) -> Option<(u32, Step, &[u64])> {
        if let Some(last) = self.last.take() {
            self.threads[last].advance();
            self.ready.push(Reverse((self.threads[last].time, last)));
        }
        loop {
            let Some(Reverse((time, index))) = self.ready.pop() else {
                // A stamp was taken and not written down: the process was killed just then.
                let (stamp, index) = self.waiting.pop_first()?;
                self.stamp = stamp;
                self.ready.push(Reverse((0, index)));
                continue;
            };
            let Some(step) = self.threads[index].next else {
                continue;
            };
            if self.end.is_some_and(|(end, _)| time >= end) {
                return None;
            }
            if let Step::Stamp(stamped) = step {
                if self
                    .end
                    .is_some_and(|(_, end)| end != 0 && stamped.stamp >= end)
                {
                    continue;
                }
                if stamped.stamp > self.stamp {
                    self.waiting.insert(stamped.stamp, index);
                    continue;
                }
                self.stamp = self.stamp.max(stamped.stamp.saturating_add(1));
                if let Some(next) = self.waiting.remove(&self.stamp) {
                    self.ready.push(Reverse((self.threads[next].time, next)));
                }
            }
            self.last = Some(index);
            let thread = &self.threads[index];
            return Some((thread.id, step, &thread.calls));
        }
    }
}
