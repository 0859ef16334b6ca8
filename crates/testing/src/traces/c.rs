//! A trace of threads as a C program that does the same, in the same order.
//!
//! Before each event a thread waits for its turn, by means that the runtime does not see ([`TURNS`], compiled apart and without
//! checking). So what orders the threads is what the trace says, and the locations that race are those that race in
//! the trace by happens-before.
//!
//! The locations of a trace lie close together, some of one byte and some of up to eight, some at addresses that are no
//! multiple of their size; in some, plain accesses are to any bytes of all. What races is told byte by byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use deadheat_model::{AtomicOrdering, Event, Execution, Location, Op, Strand};
use deadheat_offline::threads::hb;
use deadheat_offline::{Options, Recording};
use fastrand::Rng;

/// Where turns come from, as C.
pub const TURNS: &str = "\
#include <sched.h>
static int now;
void await_turn(int turn) { while (__atomic_load_n(&now, __ATOMIC_SEQ_CST) != turn) sched_yield(); }
void end_turn(void) { __atomic_fetch_add(&now, 1, __ATOMIC_SEQ_CST); }
void first_turn(void) { __atomic_store_n(&now, 0, __ATOMIC_SEQ_CST); }
";

/// A trace that becomes a part of a program.
pub struct Replica {
    trace: Execution,
    /// What memory each event accesses: where it begins, and how many bytes.
    spans: Vec<Range<usize>>,
}

/// How much memory a trace has.
const BYTES: usize = 64;

/// What C has nothing like.
fn is_flag(event: &Event) -> bool {
    matches!(event.op(), Op::Post(_) | Op::Wait(_) | Op::Clear(_))
}

impl Replica {
    /// Of a trace, but for what C has nothing like.
    pub fn new(trace: Execution, rng: &mut Rng) -> Replica {
        let overlaps = rng.choice([0.0, 0.0, 0.3]).unwrap_or(0.0);
        Replica::overlapping(trace, rng, overlaps)
    }

    /// The same, where every access to a location is to all of it and to nothing else: what races are pairs of its events.
    pub fn of_whole_locations(trace: Execution, rng: &mut Rng) -> Replica {
        Replica::overlapping(trace, rng, 0.0)
    }

    /// The trace that it does.
    pub fn trace(&self) -> &Execution {
        &self.trace
    }

    fn overlapping(mut trace: Execution, rng: &mut Rng, overlaps: f64) -> Replica {
        trace.events.retain(|event| !is_flag(event));
        let mut end = 0;
        let places = (0..trace.names.locations.len() as u64).map(|x| {
            let size = rng.choice([1, 1, 2, 4, 4, 8]).unwrap_or(4);
            let is_atomic = |event: &Event| match event.op() {
                Op::AtomicLoad(y, _) | Op::AtomicStore(y, _) | Op::AtomicUpdate(y, _) => {
                    y == Location(x)
                }
                _ => false,
            };
            let mut start = end + rng.usize(..3);
            if trace.events.iter().any(is_atomic) || rng.bool() {
                start = start.next_multiple_of(size);
            }
            end = start + size;
            start..end
        });
        let places: Vec<Range<usize>> = places.collect();
        let spans = trace.events.iter().map(|event| match event.op() {
            Op::Read(..) | Op::Write(_) if rng.f64() < overlaps => {
                let size = rng.choice([1, 2, 4, 8]).unwrap_or(4);
                let start = rng.usize(..end);
                start..start + size
            }
            Op::Read(x, _) | Op::Write(x) => places[x.index()].clone(),
            Op::AtomicLoad(x, _) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => {
                places[x.index()].clone()
            }
            _ => 0..0,
        });
        let spans = spans.collect();
        Replica { trace, spans }
    }

    /// The bytes that race in a run. A semaphore of C is a counter: who takes a token comes after all who have added one.
    pub fn racy(&self) -> BTreeSet<usize> {
        let counter = Location(BYTES as u64);
        self.racy_with(|op| match op {
            Op::P(_) => Some(Op::AtomicUpdate(counter, AtomicOrdering::Acquire)),
            Op::V(_) => Some(Op::AtomicUpdate(counter, AtomicOrdering::Release)),
            op => Some(op),
        })
    }

    /// The bytes that may race in a recording: there, each token has come from somewhere, and which one somebody takes is not
    /// known. So semaphores may order less.
    pub fn may_race_in_recording(&self) -> BTreeSet<usize> {
        self.racy_with(|op| match op {
            Op::P(_) | Op::V(_) => None,
            op => Some(op),
        })
    }

    /// The bytes that race by happens-before, each a location of its own, if semaphores are something else.
    fn racy_with(&self, semaphore: impl Fn(Op) -> Option<Op>) -> BTreeSet<usize> {
        let mut trace = Execution {
            names: self.trace.names.clone(),
            events: Vec::new(),
        };
        trace.names.locations = (0..=BYTES).map(|byte| byte.to_string()).collect();
        for (event, span) in self.trace.events.iter().zip(&self.spans) {
            let mut push = |op| {
                let event = Event::new(event.strand(), op, event.site());
                trace.events.push(event);
            };
            if span.is_empty() {
                semaphore(event.op()).into_iter().for_each(&mut push);
            }
            let location = |byte: usize| Location(byte as u64);
            let first = location(span.start);
            // Order comes from the first byte: what is acquired before all bytes are accessed, what is released after.
            if let Op::AtomicLoad(_, how) | Op::AtomicUpdate(_, how) = event.op() {
                push(Op::AtomicLoad(first, how));
            }
            for x in span.clone().map(location) {
                push(match event.op() {
                    Op::Read(_, kind) => Op::Read(x, kind),
                    Op::AtomicLoad(..) => Op::AtomicLoad(x, AtomicOrdering::Relaxed),
                    Op::AtomicStore(..) | Op::AtomicUpdate(..) if x == first => continue,
                    Op::AtomicStore(..) => Op::AtomicStore(x, AtomicOrdering::Relaxed),
                    Op::AtomicUpdate(..) => Op::AtomicUpdate(x, AtomicOrdering::Relaxed),
                    _ => Op::Write(x),
                });
            }
            match event.op() {
                Op::AtomicStore(_, how) => push(Op::AtomicStore(first, how)),
                Op::AtomicUpdate(_, how) => push(Op::AtomicUpdate(first, how)),
                _ => {}
            }
        }
        let found = hb::ENGINE.ask(Recording::InMemory(&trace), &Options::default());
        let racy = found.expect("it can have happened").racy;
        racy.iter().map(|x| x.index()).collect()
    }

    /// Whether an access is to two words. Each is checked by itself, and one that races stands for the other.
    pub fn straddles(&self) -> bool {
        let spans = self.spans.iter().filter(|span| !span.is_empty());
        spans
            .clone()
            .any(|span| span.start / 8 != (span.end - 1) / 8)
    }

    /// How many bytes are accessed.
    pub fn bytes(&self) -> usize {
        let bytes: BTreeSet<usize> = self.spans.iter().cloned().flatten().collect();
        bytes.len()
    }

    /// Functions `tN_0`, `tN_1`, … for the threads, and `runN`, which starts them.
    pub fn c(&self, number: usize) -> String {
        let strands = self.trace.names.strands.len();
        let mut text = format!(
            "static _Alignas(64) char m{number}[{BYTES}];\nstatic pthread_t p{number}[{strands}];\n"
        );
        for (lock, is_shared) in self.locks() {
            let _ = match is_shared {
                true => writeln!(
                    text,
                    "static pthread_rwlock_t l{number}_{lock} = PTHREAD_RWLOCK_INITIALIZER;"
                ),
                false => writeln!(
                    text,
                    "static pthread_mutex_t l{number}_{lock} = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;"
                ),
            };
        }
        let _ = writeln!(
            text,
            "static sem_t s{number};\nstatic pthread_barrier_t b{number}[{}];",
            self.meetings().len() + 1
        );
        for strand in 0..strands {
            let _ = writeln!(text, "static void *t{number}_{strand}(void *unused);");
        }
        for strand in 0..strands as u32 {
            let _ = writeln!(text, "static void *t{number}_{strand}(void *unused) {{");
            for (turn, event) in self.trace.events.iter().enumerate() {
                if event.strand() == Strand(strand) {
                    let _ = writeln!(
                        text,
                        "  await_turn({turn}); {}",
                        self.statement(number, turn, event)
                    );
                }
            }
            text += "  return unused;\n}\n";
        }
        text + &self.start(number)
    }

    fn start(&self, number: usize) -> String {
        let mut text = format!("static void run{number}(void) {{\n  first_turn();\n");
        let tokens = self.trace.names.tokens.first().copied().unwrap_or(0);
        let _ = writeln!(text, "  sem_init(&s{number}, 0, {tokens});");
        for (meeting, members) in self.meetings().iter().enumerate() {
            let _ = writeln!(
                text,
                "  pthread_barrier_init(&b{number}[{meeting}], 0, {members});"
            );
        }
        let strands = 0..self.trace.names.strands.len();
        let ops = || self.trace.events.iter().map(|event| event.op());
        let forked = |strand: usize| ops().any(|op| op == Op::Fork(Strand(strand as u32)));
        let joined = |strand: usize| ops().any(|op| op == Op::Join(Strand(strand as u32)));
        for strand in strands.clone().filter(|strand| !forked(*strand)) {
            let _ = writeln!(
                text,
                "  pthread_create(&p{number}[{strand}], 0, t{number}_{strand}, 0);"
            );
        }
        let _ = writeln!(text, "  await_turn({});", self.trace.events.len());
        // Who was to be forked later than the trace goes is there, too: it does nothing.
        for strand in strands.filter(|strand| !joined(*strand)) {
            let _ = writeln!(text, "  pthread_join(p{number}[{strand}], 0);");
        }
        text + "}\n"
    }

    /// The locks, and whether somebody takes them for reading.
    fn locks(&self) -> impl Iterator<Item = (u64, bool)> {
        let locks = 0..self.trace.names.locks.len() as u64;
        locks.map(|lock| {
            let mut ops = self.trace.events.iter().map(|event| event.op());
            let is_shared = ops
                .any(|op| matches!(op, Op::AcquireShared(of) if of == deadheat_model::Lock(lock)));
            (lock, is_shared)
        })
    }

    /// How many threads meet at the barrier, each time that they do.
    fn meetings(&self) -> Vec<usize> {
        let arrives = |event: &&Event| matches!(event.op(), Op::BarrierArrive(_));
        let mut meetings = Vec::new();
        let mut members = 0;
        for event in &self.trace.events {
            if arrives(&event) {
                members += 1;
            } else if members > 0 {
                meetings.push(members);
                members = 0;
            }
        }
        meetings.extend((members > 0).then_some(members));
        meetings
    }

    /// Which meeting an event at a turn is about.
    fn meeting(&self, turn: usize) -> usize {
        let arrives = |event: &Event| matches!(event.op(), Op::BarrierArrive(_));
        let before = self.trace.events[..turn].windows(2);
        before
            .filter(|two| arrives(&two[0]) && !arrives(&two[1]))
            .count()
    }

    fn statement(&self, number: usize, turn: usize, event: &Event) -> String {
        let Range { start, end } = self.spans[turn];
        let size = end - start;
        let aligned = if size > 0 && start % size == 0 {
            "A"
        } else {
            "U"
        };
        let place = format!("{aligned}{}(m{number} + {start})", 8 * size);
        let is_shared = |lock: u64| self.locks().any(|known| known == (lock, true));
        let done = "end_turn();";
        match event.op() {
            Op::Read(..) => format!("(void){}; {done}", place),
            Op::Write(_) => format!("{} = 1; {done}", place),
            Op::AtomicLoad(_, how) => {
                format!("(void)__atomic_load_n(&{}, {}); {done}", place, load(how))
            }
            Op::AtomicStore(_, how) => {
                format!("__atomic_store_n(&{}, 1, {}); {done}", place, store(how))
            }
            Op::AtomicUpdate(_, how) => {
                format!("__atomic_fetch_add(&{}, 1, {}); {done}", place, update(how))
            }
            Op::Fork(child) => format!(
                "pthread_create(&p{number}[{0}], 0, t{number}_{0}, 0); {done}",
                child.0
            ),
            Op::Join(child) => format!("pthread_join(p{number}[{}], 0); {done}", child.0),
            Op::Acquire(lock) if is_shared(lock.0) => {
                format!("pthread_rwlock_wrlock(&l{number}_{}); {done}", lock.0)
            }
            Op::AcquireShared(lock) => {
                format!("pthread_rwlock_rdlock(&l{number}_{}); {done}", lock.0)
            }
            Op::Release(lock) | Op::ReleaseShared(lock) if is_shared(lock.0) => {
                format!("pthread_rwlock_unlock(&l{number}_{}); {done}", lock.0)
            }
            Op::Acquire(lock) => format!("pthread_mutex_lock(&l{number}_{}); {done}", lock.0),
            Op::Release(lock) => format!("pthread_mutex_unlock(&l{number}_{}); {done}", lock.0),
            Op::P(_) => format!("sem_wait(&s{number}); {done}"),
            Op::V(_) => format!("sem_post(&s{number}); {done}"),
            // Whoever arrives must not keep the others from it.
            Op::BarrierArrive(_) => {
                let meeting = self.meeting(turn);
                format!("{done} pthread_barrier_wait(&b{number}[{meeting}]);")
            }
            _ => done.to_string(),
        }
    }
}

fn load(how: AtomicOrdering) -> &'static str {
    match how {
        AtomicOrdering::Relaxed | AtomicOrdering::Release => "__ATOMIC_RELAXED",
        AtomicOrdering::Acquire | AtomicOrdering::AcquireRelease => "__ATOMIC_ACQUIRE",
        AtomicOrdering::SequentiallyConsistent => "__ATOMIC_SEQ_CST",
    }
}

fn store(how: AtomicOrdering) -> &'static str {
    match how {
        AtomicOrdering::Relaxed | AtomicOrdering::Acquire => "__ATOMIC_RELAXED",
        AtomicOrdering::Release | AtomicOrdering::AcquireRelease => "__ATOMIC_RELEASE",
        AtomicOrdering::SequentiallyConsistent => "__ATOMIC_SEQ_CST",
    }
}

fn update(how: AtomicOrdering) -> &'static str {
    match how {
        AtomicOrdering::Relaxed => "__ATOMIC_RELAXED",
        AtomicOrdering::Acquire => "__ATOMIC_ACQUIRE",
        AtomicOrdering::Release => "__ATOMIC_RELEASE",
        AtomicOrdering::AcquireRelease => "__ATOMIC_ACQ_REL",
        AtomicOrdering::SequentiallyConsistent => "__ATOMIC_SEQ_CST",
    }
}

/// Which trace's event each line of a [`file()`] does, by the line's number from 1: the trace, and the event's number from 1.
pub fn events_of_lines(file: &str) -> BTreeMap<u32, (usize, u64)> {
    let mut events = BTreeMap::new();
    let mut trace = 0;
    for (line, text) in (1..).zip(file.lines()) {
        if let Some(name) = text.strip_prefix("static void *t") {
            let number = name
                .split('_')
                .next()
                .and_then(|number| number.parse().ok());
            trace = number.unwrap_or(trace);
        }
        let turn = text.strip_prefix("  await_turn(");
        let turn = turn.and_then(|text| text.split_once(");"));
        // The line that waits for the end does nothing else.
        if let Some((turn, statement)) = turn
            && let Ok(turn) = turn.parse::<u64>()
            && !statement.is_empty()
        {
            events.insert(line, (trace, turn + 1));
        }
    }
    events
}

/// A whole program: one trace after the other.
pub fn file(replicas: &[Replica]) -> String {
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <pthread.h>\n#include <semaphore.h>\n\
         void await_turn(int), end_turn(void), first_turn(void);\n",
    );
    for (bits, of) in [(8, "char"), (16, "short"), (32, "int"), (64, "long")] {
        let _ = writeln!(
            text,
            "struct __attribute__((packed)) u{bits} {{ {of} it; }};\n\
             #define A{bits}(at) (*(volatile {of} *)(at))\n\
             #define U{bits}(at) (((volatile struct u{bits} *)(at))->it)"
        );
    }
    for (number, replica) in replicas.iter().enumerate() {
        text += &replica.c(number);
    }
    text += "int main(void) {\n";
    for number in 0..replicas.len() {
        let _ = writeln!(text, "  run{number}();");
    }
    text + "  return 0;\n}\n"
}
