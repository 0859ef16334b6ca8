//! What the threads of a program wait for when its time is up.
//!
//! Each thread says in the mailbox what it is about to wait for. Who has it, if that is a lock, the C library writes into the lock: it is
//! read in the memory of the process, as long as that lives.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use deadheat_model::finding::Place;
use deadheat_tape::mailbox::Waits;

use crate::findings::{Findings, Process};
use crate::mailbox::{Letters, Mailbox};
use crate::survey::{object_name, place, thread_name};
use crate::symbols::Symbols;

/// A thread that waits, by numbers.
#[derive(Clone, Debug)]
pub struct Waiter {
    /// Of its process.
    stream: u64,
    thread: u64,
    what: Waits,
    object: u64,
    pc: u64,
    /// The thread that has the lock, if it is known.
    holder: Option<u64>,
}

/// A thread that waited when the time was up.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: Arc<str>,
    /// Where it waited.
    pub place: Arc<Place>,
    /// For what.
    pub awaited: Awaited,
}

/// What a thread waited for.
#[derive(Clone, Debug)]
pub enum Awaited {
    /// A lock, and the thread that held it, if that is known.
    Lock {
        /// What it is called.
        name: String,
        /// Who held it.
        holder: Option<Arc<str>>,
    },
    /// A condition variable.
    Condition(String),
    /// A semaphore.
    Semaphore(String),
    /// A barrier.
    Barrier(String),
    /// The end of a thread.
    End(Arc<str>),
}

/// Where in a lock the C library keeps the number of the thread that has it.
fn owner(what: Waits) -> Option<u64> {
    const OF_MUTEX: u64 = 8;
    const OF_WRITER: u64 = 24;
    match what {
        Waits::Mutex => Some(OF_MUTEX),
        Waits::ReadWrite => Some(OF_WRITER),
        Waits::Condition | Waits::Semaphore | Waits::Barrier | Waits::End => None,
    }
}

/// The threads that wait now.
pub fn waiters(mailbox: &Mailbox) -> Vec<Waiter> {
    let mut letters = Letters::default();
    letters.take(mailbox);
    let mut waiters = Vec::new();
    for process in letters.processes() {
        let own = Path::new("/proc").join(process.pid.to_string());
        let memory = File::open(own.join("mem"));
        let places = mailbox.waits(process.stream);
        let thread_of = |tid: u32| {
            let known = places.iter().find(|place| place.tid == tid);
            known.map(|place| place.thread).or_else(|| {
                // The first thread may never have waited.
                (u64::from(tid) == process.pid).then_some(0)
            })
        };
        for place in &places {
            let lives = own.join("task").join(place.tid.to_string()).exists();
            let Some(what) = Waits::of(place.what).filter(|_| lives) else {
                continue;
            };
            let holder = owner(what)
                .zip(memory.as_ref().ok())
                .and_then(|(at, memory)| {
                    let mut tid = [0; 4];
                    memory.read_exact_at(&mut tid, place.object + at).ok()?;
                    thread_of(u32::from_ne_bytes(tid))
                });
            waiters.push(Waiter {
                stream: process.stream,
                thread: place.thread,
                what,
                object: place.object,
                pc: place.pc,
                holder,
            });
        }
    }
    waiters
}

impl Findings {
    /// What the threads waited for, with names.
    pub fn waiting(&self, waiters: &[Waiter]) -> Vec<Waiting> {
        let mut symbols = Symbols::default();
        let named = waiters.iter().filter_map(|waiter| {
            let mut processes = self.processes.iter();
            let process = processes.find(|process| process.stream == waiter.stream)?;
            Some(waiter.named(&mut symbols, process))
        });
        named.collect()
    }
}

impl Waiter {
    fn named(&self, symbols: &mut Symbols, process: &Process) -> Waiting {
        let mut name = || object_name(symbols, process, self.object);
        let awaited = match self.what {
            Waits::Mutex | Waits::ReadWrite => Awaited::Lock {
                name: name(),
                holder: self.holder.map(|holder| thread_name(process, holder)),
            },
            Waits::Condition => Awaited::Condition(name()),
            Waits::Semaphore => Awaited::Semaphore(name()),
            Waits::Barrier => Awaited::Barrier(name()),
            Waits::End => Awaited::End(thread_name(process, self.object)),
        };
        Waiting {
            thread: thread_name(process, self.thread),
            place: place(&symbols.stack(process, &[self.pc])),
            awaited,
        }
    }
}
