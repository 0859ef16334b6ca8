//! From what a C program does to the operations of a trace.
//!
//! | program | trace |
//! |---|---|
//! | mutexes, reader-writer locks, waits on condition variables | `acq`, `rel`, and those of readers |
//! | semaphores | `p`, `v`; a token from the beginning orders nothing and is left out |
//! | barriers | `arrive`, `leave` |
//! | atomics | loads, stores, updates, with their memory orders |
//! | `pthread_once`, pipes, annotations, … | atomics on a variable of their own |
//! | fences | atomics on a variable of their own, read by whoever the fence reaches |
//! | `free` | a write to all of the block |
//!
//! Guarantee: the result is a trace that could have happened, whatever the program did to its locks. Where it
//! gave back what another thread held, that one gives it back.

use std::collections::BTreeMap;

use deadheat_model::finding::HeldLock;
use deadheat_model::words::Table;
use deadheat_model::{AtomicOrdering, Barrier, Location, Lock, Op, Promise, Semaphore, Strand};
use deadheat_tape::AtomicKind;
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives things names: says the number of a new one.
pub trait Naming {
    /// Why that failed.
    type Error;
    /// A new thing in a table, at an address if it has one. `what` tells it from others at the same address.
    fn number(&mut self, table: Table, address: u64, what: &str) -> Result<u64, Self::Error>;
}

/// What is known of all that threads synchronise by.
#[derive(Default)]
pub struct Lowering {
    objects: BTreeMap<u64, Object>,
    /// Locks that each strand holds, in the order in which it took them.
    held: FxHashMap<Strand, Vec<u64>>,
    /// The barrier at which each strand is. It may be destroyed before all have left.
    arrived: FxHashMap<Strand, Barrier>,
    fences: FxHashMap<Strand, Fences>,
    /// Whether the program has fences at all.
    pub has_fences: bool,
    tokens: u64,
    dependences: u64,
}

#[derive(Default)]
struct Object {
    lock: Option<LockState>,
    /// At how many barriers of a team it was held.
    kept: u32,
    /// How many tokens were given and not taken.
    semaphore: Option<(Semaphore, u64)>,
    barriers: [Option<Barrier>; 4],
    /// What `acquire` and `release` are about.
    channel: Option<Location>,
    atomic: AtomicState,
}

struct LockState {
    lock: Lock,
    writer: Option<(Strand, u32)>,
    readers: Vec<Strand>,
    /// Who has held it since before a barrier, and what it sets when it gives it back: whoever gets the lock after that
    /// barrier comes later.
    keeper: Option<Strand>,
    kept_until: Option<Promise>,
}

/// What the value of an atomic variable carries beside what the trace's own atomics say.
#[derive(Default)]
struct AtomicState {
    /// Who released into it last.
    last: Option<Strand>,
    /// The newest release of each strand that a fence of the reader would reach.
    tokens: Tokens,
}

/// A variable that stands for what a strand had done at some time. Those with higher numbers came later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Token {
    number: u64,
    variable: Location,
}

type Tokens = BTreeMap<Strand, Token>;

/// Adds tokens. The newest of a strand stands for those before it.
fn add(tokens: &mut Tokens, more: impl IntoIterator<Item = (Strand, Token)>) {
    for (by, token) in more {
        let newest = tokens.entry(by).or_insert(token);
        *newest = token.max(*newest);
    }
}

#[derive(Default)]
struct Fences {
    /// The last release fence.
    released: Option<Token>,
    /// What an acquire fence would reach.
    seen: Tokens,
}

pub type Ops = Vec<(Strand, Op)>;

impl Lowering {
    /// What lay in a piece of memory is no more.
    pub fn forget(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        let gone: Vec<u64> = self
            .objects
            .range(address..end)
            .map(|(at, _)| *at)
            .collect();
        for address in gone {
            self.objects.remove(&address);
            for held in self.held.values_mut() {
                held.retain(|lock| *lock != address);
            }
        }
    }

    fn object(&mut self, address: u64) -> &mut Object {
        self.objects.entry(address).or_default()
    }

    /// A lock is taken.
    pub fn lock<N: Naming>(
        &mut self,
        strand: Strand,
        address: u64,
        write: bool,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        if self.object(address).lock.is_none() {
            let kept = self.object(address).kept;
            let what = HeldLock::held_across(kept.into());
            // What has no address is a dependence of OpenMP.
            let lock = Lock(match address >> 47 {
                0 => names.number(Table::Locks, address, &what)?,
                _ => {
                    self.dependences += 1;
                    let name = format!("mutexinoutset {}", self.dependences);
                    names.number(Table::Locks, 0, &name)?
                }
            });
            self.object(address).lock = Some(LockState {
                lock,
                writer: None,
                readers: Vec::new(),
                keeper: (kept > 0).then_some(strand),
                kept_until: None,
            });
        }
        let Some(state) = &mut self.object(address).lock else {
            return Ok(());
        };
        ops.extend(state.kept_until.map(|until| (strand, Op::Get(until))));
        let mut loser = None;
        match state.writer {
            Some((owner, _)) if owner != strand => {
                state.writer = None;
                ops.push((owner, Op::Release(state.lock)));
                loser = Some(owner);
            }
            _ => {}
        }
        if write {
            for reader in std::mem::take(&mut state.readers) {
                ops.push((reader, Op::ReleaseShared(state.lock)));
            }
            let depth = state.writer.map_or(0, |(_, depth)| depth);
            state.writer = Some((strand, depth + 1));
            ops.push((strand, Op::Acquire(state.lock)));
        } else {
            state.readers.push(strand);
            ops.push((strand, Op::AcquireShared(state.lock)));
        }
        if let Some(held) = loser.and_then(|loser| self.held.get_mut(&loser)) {
            held.retain(|lock| *lock != address);
        }
        self.held.entry(strand).or_default().push(address);
        Ok(())
    }

    /// Whether a strand holds a lock.
    pub fn holds(&self, strand: Strand, address: u64) -> bool {
        self.held
            .get(&strand)
            .is_some_and(|held| held.contains(&address))
    }

    /// A lock is given back.
    pub fn unlock(&mut self, strand: Strand, address: u64, ops: &mut Ops) {
        if let Some(held) = self.held.get_mut(&strand)
            && let Some(place) = held.iter().rposition(|lock| *lock == address)
        {
            held.remove(place);
        }
        let Some(state) = &mut self.object(address).lock else {
            return;
        };
        if let Some(place) = state.readers.iter().rposition(|reader| *reader == strand) {
            state.readers.remove(place);
            ops.push((strand, Op::ReleaseShared(state.lock)));
            return;
        }
        if let Some((owner, depth)) = state.writer {
            state.writer = (owner == strand && depth > 1).then_some((owner, depth - 1));
            for _ in 0..if owner == strand { 1 } else { depth } {
                ops.push((owner, Op::Release(state.lock)));
            }
        }
    }

    /// A lock is about to be given back, if this strand has held it since before a barrier: it sets the promise by which
    /// those who get the lock later come after it.
    pub fn kept_until(
        &mut self,
        strand: Strand,
        address: u64,
        new_promise: impl FnOnce() -> Promise,
        ops: &mut Ops,
    ) {
        if let Some(state) = &mut self.object(address).lock
            && state.keeper == Some(strand)
            && state.writer == Some((strand, 1))
        {
            let until = new_promise();
            state.keeper = None;
            state.kept_until = Some(until);
            ops.extend([Op::NewPromise(until), Op::Set(until)].map(|op| (strand, op)));
        }
    }

    /// A member of a team ends with a phase of it. It keeps its locks: a trace has another strand for what the member does
    /// after the barrier, and nobody can give back the lock of another. So what it holds is never given back here, and
    /// after the barrier there is another lock, which the member takes first.
    pub fn keep(&mut self, strand: Strand, ops: &mut Ops) {
        for address in self.held.remove(&strand).unwrap_or_default() {
            let object = self.object(address);
            let is_its = |state: &LockState| state.writer.is_some_and(|(owner, _)| owner == strand);
            match object.lock.as_ref().is_some_and(is_its) {
                true => (object.lock, object.kept) = (None, object.kept + 1),
                false => self.unlock(strand, address, ops),
            }
        }
        self.fences.remove(&strand);
    }

    /// A strand ends: whoever gets the locks that it holds comes after it.
    pub fn end(&mut self, strand: Strand, ops: &mut Ops) {
        for address in self.held.remove(&strand).unwrap_or_default() {
            self.unlock(strand, address, ops);
        }
        self.fences.remove(&strand);
    }

    /// A token is given to a semaphore, or taken from it.
    pub fn semaphore<N: Naming>(
        &mut self,
        strand: Strand,
        address: u64,
        give: bool,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        if give && self.object(address).semaphore.is_none() {
            let semaphore = Semaphore(names.number(Table::Semaphores, address, "")?);
            self.object(address).semaphore = Some((semaphore, 0));
        }
        match &mut self.object(address).semaphore {
            Some((semaphore, tokens)) if give => {
                *tokens += 1;
                ops.push((strand, Op::V(*semaphore)));
            }
            Some((semaphore, tokens)) if *tokens > 0 => {
                *tokens -= 1;
                ops.push((strand, Op::P(*semaphore)));
            }
            _ => {}
        }
        Ok(())
    }

    /// A strand arrives at a round of a barrier, or leaves it.
    pub fn barrier<N: Naming>(
        &mut self,
        strand: Strand,
        (address, round): (u64, u64),
        arrive: bool,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        if !arrive {
            let left = self.arrived.remove(&strand);
            ops.extend(left.map(|barrier| (strand, Op::BarrierLeave(barrier))));
            return Ok(());
        }
        // Those of a round may arrive before all of the one before it have left.
        let turn = (round % 4) as usize;
        let barrier = match self.object(address).barriers[turn] {
            Some(barrier) => barrier,
            None => {
                let which = format!("{turn}");
                let barrier = Barrier(names.number(Table::Barriers, address, &which)?);
                self.object(address).barriers[turn] = Some(barrier);
                barrier
            }
        };
        self.arrived.insert(strand, barrier);
        ops.push((strand, Op::BarrierArrive(barrier)));
        Ok(())
    }

    /// What was released at an address is acquired, if anything was.
    pub fn acquire(&mut self, strand: Strand, address: u64, ops: &mut Ops) {
        if let Some(channel) = self.object(address).channel {
            ops.push((strand, Op::AtomicLoad(channel, AtomicOrdering::Acquire)));
        }
    }

    /// What a strand did is released at an address; with `more`, besides what was released before.
    pub fn release<N: Naming>(
        &mut self,
        strand: Strand,
        address: u64,
        more: bool,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        let channel = match self.object(address).channel {
            Some(channel) => channel,
            None => {
                let channel = names.number(Table::Locations, address, "synchronisation")?;
                *self.object(address).channel.insert(Location(channel))
            }
        };
        let order = AtomicOrdering::Release;
        ops.push((
            strand,
            match more {
                true => Op::AtomicUpdate(channel, order),
                false => Op::AtomicStore(channel, order),
            },
        ));
        Ok(())
    }

    /// An atomic operation on a variable that is made of some locations.
    pub fn atomic<N: Naming>(
        &mut self,
        strand: Strand,
        (address, locations): (u64, &[Location]),
        (operation, order): (AtomicKind, AtomicOrdering),
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        let (reads, writes) = (
            operation != AtomicKind::Store,
            operation != AtomicKind::Load,
        );
        if reads && acquires(order) {
            // The guard of a static variable of C++ is released by a function and acquired by an atomic load.
            self.acquire(strand, address, ops);
        }
        if self.has_fences && reads {
            let carried = &self.objects.entry(address).or_default().atomic.tokens;
            match acquires(order) {
                true => await_tokens(strand, carried, ops),
                false => {
                    let fences = self.fences.entry(strand).or_default();
                    add(
                        &mut fences.seen,
                        carried.iter().map(|(by, token)| (*by, *token)),
                    );
                }
            }
        }
        // A plain store ends what was released, but for the thread that did so last: C11 has it continue.
        let state = &mut self.objects.entry(address).or_default().atomic;
        let continues =
            operation == AtomicKind::Store && !releases(order) && state.last == Some(strand);
        for location in locations {
            let op = match operation {
                AtomicKind::Load => Op::AtomicLoad(*location, order),
                AtomicKind::Store if continues => Op::AtomicUpdate(*location, order),
                AtomicKind::Store => Op::AtomicStore(*location, order),
                AtomicKind::Update => Op::AtomicUpdate(*location, order),
            };
            ops.push((strand, op));
        }
        if !writes {
            return Ok(());
        }
        if operation == AtomicKind::Store && !continues {
            state.last = None;
            state.tokens.clear();
        }
        if releases(order) {
            state.last = Some(strand);
        }
        if self.has_fences {
            let token = match releases(order) {
                true => Some(self.token(strand, names, ops)?),
                false => self.fences.entry(strand).or_default().released,
            };
            let state = &mut self.objects.entry(address).or_default().atomic;
            add(&mut state.tokens, token.map(|token| (strand, token)));
        }
        Ok(())
    }

    /// A fence.
    pub fn fence<N: Naming>(
        &mut self,
        strand: Strand,
        order: AtomicOrdering,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        if acquires(order) {
            let seen = std::mem::take(&mut self.fences.entry(strand).or_default().seen);
            await_tokens(strand, &seen, ops);
        }
        if releases(order) {
            let token = self.token(strand, names, ops)?;
            self.fences.entry(strand).or_default().released = Some(token);
        }
        Ok(())
    }

    /// Strands that live come before one that nobody is known to have created.
    pub fn begin_unknown<N: Naming>(
        &mut self,
        strand: Strand,
        living: &FxHashSet<Strand>,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<(), N::Error> {
        for other in living {
            let token = self.token(*other, names, ops)?;
            let load = Op::AtomicLoad(token.variable, AtomicOrdering::Acquire);
            ops.push((strand, load));
        }
        Ok(())
    }

    /// A variable that stands for what a strand has done up to now.
    fn token<N: Naming>(
        &mut self,
        strand: Strand,
        names: &mut N,
        ops: &mut Ops,
    ) -> Result<Token, N::Error> {
        self.tokens += 1;
        let number = self.tokens;
        let what = format!("release {number}");
        let variable = Location(names.number(Table::Locations, 0, &what)?);
        let store = Op::AtomicStore(variable, AtomicOrdering::Release);
        ops.push((strand, store));
        Ok(Token { number, variable })
    }
}

fn await_tokens(strand: Strand, tokens: &Tokens, ops: &mut Ops) {
    for (_, token) in tokens.iter().filter(|(by, _)| **by != strand) {
        let load = Op::AtomicLoad(token.variable, AtomicOrdering::Acquire);
        ops.push((strand, load));
    }
}

/// A memory order as the compilers number them.
pub fn ordering(number: u64) -> AtomicOrdering {
    match number {
        0 => AtomicOrdering::Relaxed,
        1 | 2 => AtomicOrdering::Acquire,
        3 => AtomicOrdering::Release,
        4 => AtomicOrdering::AcquireRelease,
        _ => AtomicOrdering::SequentiallyConsistent,
    }
}

fn acquires(order: AtomicOrdering) -> bool {
    !matches!(order, AtomicOrdering::Relaxed | AtomicOrdering::Release)
}

fn releases(order: AtomicOrdering) -> bool {
    !matches!(order, AtomicOrdering::Relaxed | AtomicOrdering::Acquire)
}
