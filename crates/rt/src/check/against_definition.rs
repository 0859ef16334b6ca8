//! The core in one process against the definition: threads that are fibers of one, so that their order is chosen by chance and
//! can be chosen again.
//!
//! The definition: an access races with an earlier one of another thread if they conflict and nothing orders them. Here
//! every thread has a vector clock, every byte the last access of each kind by each thread. Until its first race a byte has to
//! be reported exactly when an access to it races.
//!
//! `DEADHEAT_PROGRAMS` says how many runs, `DEADHEAT_SEED` which.

use std::cell::RefCell;
use std::collections::HashMap;

use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Kind;

use crate::check::access::{access, access16, atomic_access};
use crate::check::range::range;
use crate::order::thread::{Frame, enter, local};
use crate::order::{fibers, sync, threads};
use crate::output::findings::RacyAccess;
use crate::platform::world::world;

/// Bytes of each run's memory, and where it begins: nobody reads or writes there.
const BYTES: usize = 64;
const MEMORY: usize = 0x2000_0000_0000;
const VARIABLES: usize = 3;
const LOCKS: usize = 2;

thread_local! {
    /// Those of this thread that were reported and not taken yet.
    static REPORTED: RefCell<Vec<RacyAccess>> = const { RefCell::new(Vec::new()) };
}

/// A race was reported.
pub fn reported(race: &RacyAccess) {
    REPORTED.with_borrow_mut(|all| all.push(*race));
}

/// The races that the thread has reported since it was last asked.
pub fn take_reported() -> Vec<RacyAccess> {
    REPORTED.take()
}

/// The bytes that race.
pub fn bytes(race: &RacyAccess) -> impl Iterator<Item = usize> {
    let (address, common) = (race.address, race.first.mask() & race.second.mask());
    let bytes = (0..8).filter(move |bit| common >> bit & 1 != 0);
    bytes.map(move |bit| address + bit)
}

type Clock = Vec<u32>;

fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The definition.
#[derive(Default)]
struct Definition {
    clocks: Vec<Clock>,
    variables: HashMap<usize, Clock>,
    /// By byte: of each thread the time of its last read, write, atomic read, atomic write.
    bytes: Vec<Vec<[u32; 4]>>,
    racy: Vec<bool>,
}

impl Definition {
    fn new() -> Definition {
        Definition {
            clocks: vec![vec![1]],
            bytes: vec![Vec::new(); BYTES],
            racy: vec![false; BYTES],
            ..Definition::default()
        }
    }

    /// What the thread has done so far is past for whoever gets this.
    fn publish(&mut self, thread: usize) -> Clock {
        let clock = self.clocks[thread].clone();
        self.clocks[thread][thread] += 1;
        clock
    }

    fn fork(&mut self, thread: usize) {
        let mut clock = self.publish(thread);
        clock.resize(self.clocks.len(), 0);
        clock.push(1);
        self.clocks.push(clock);
    }

    fn release(&mut self, thread: usize, variable: usize, more: bool) {
        let clock = self.publish(thread);
        let there = self.variables.entry(variable).or_default();
        match more {
            true => join(there, &clock),
            false => *there = clock,
        }
    }

    fn acquire(&mut self, thread: usize, variable: usize) {
        if let Some(clock) = self.variables.get(&variable) {
            join(&mut self.clocks[thread], clock);
        }
    }

    /// The bytes that race for the first time.
    fn access(&mut self, thread: usize, from: usize, size: usize, kind: Kind) -> Vec<usize> {
        let clock = &self.clocks[thread];
        let mut found = Vec::new();
        for byte in from..from + size {
            let table = &mut self.bytes[byte];
            let conflicts = |earlier: usize| {
                (earlier & 1 != 0 || kind.write) && !(earlier & 2 != 0 && kind.atomic)
            };
            let races = table.iter().enumerate().any(|(other, last)| {
                let known = clock.get(other).copied().unwrap_or(0);
                other != thread && (0..4).any(|kind| conflicts(kind) && last[kind] > known)
            });
            if races && !self.racy[byte] {
                self.racy[byte] = true;
                found.push(byte);
            }
            if table.len() <= thread {
                table.resize(thread + 1, [0; 4]);
            }
            table[thread][usize::from(kind.write) | usize::from(kind.atomic) << 1] = clock[thread];
        }
        found
    }

    /// Nothing is known of these bytes any more.
    fn clear(&mut self, from: usize, size: usize) {
        for byte in from..from + size {
            self.bytes[byte].clear();
            self.racy[byte] = false;
        }
    }
}

/// A run of the core.
struct Run {
    definition: Definition,
    fibers: Vec<usize>,
    running: usize,
    memory: usize,
    holders: [Option<usize>; LOCKS],
    said: Vec<String>,
}

impl Run {
    fn new(number: u64) -> Run {
        Run {
            definition: Definition::new(),
            fibers: vec![local().thread.get() as usize],
            running: 0,
            memory: MEMORY + (number as usize % 4096) * 4096,
            holders: [None; LOCKS],
            said: Vec::new(),
        }
    }

    fn variable(&self, number: usize) -> usize {
        self.memory + 2048 + number * 64
    }

    fn access(&mut self, rng: &mut fastrand::Rng) {
        let write = rng.bool();
        let pc = 0x40_0000 + rng.usize(..24) * 4;
        let offset = rng.usize(..BYTES);
        let (mut size, shape) = match rng.u32(..20) {
            0..9 => (1 << rng.usize(..4), 0),
            9..13 => (1 << rng.usize(..5), 1),
            13..16 => (1 << rng.usize(..4), 2),
            _ => (rng.usize(1..40), 3),
        };
        // Aligned, anywhere, atomic, a range.
        let offset = match shape {
            0 | 2 => offset / size * size,
            _ => offset,
        };
        if shape != 3 && offset + size > BYTES {
            return;
        }
        size = size.min(BYTES - offset);
        self.access_at(offset, size, shape, write, pc);
    }

    /// A loop over all words does the same to some bytes of each, which its words may share what is known of.
    fn run_over(&mut self, rng: &mut fastrand::Rng) {
        let parts: Vec<_> = (0..rng.usize(1..6))
            .map(|site| (rng.usize(..8), rng.u32(..3) == 0, 0x48_0000 + site * 4))
            .collect();
        for word in (0..BYTES).step_by(8) {
            for &(byte, write, pc) in &parts {
                self.access_at(word + byte, 1, 0, write, pc);
            }
        }
    }

    fn access_at(&mut self, offset: usize, size: usize, shape: u32, write: bool, pc: usize) {
        let atomic = shape == 2;
        let kind = Kind { write, atomic };
        let address = self.memory + offset;
        let thread = self.running;
        self.said
            .push(format!("T{thread} {kind:?} {offset}+{size} from {pc:x}"));
        let wanted = self.definition.access(thread, offset, size, kind);
        take_reported();
        match (shape, size, write) {
            (2, ..) => atomic_access(address, size, write, pc),
            (3, ..) => range(address, size, kind, AccessCause::Range, pc),
            (_, 1, false) => access::<0, false>(address, pc),
            (_, 1, true) => access::<0, true>(address, pc),
            (_, 2, false) => access::<1, false>(address, pc),
            (_, 2, true) => access::<1, true>(address, pc),
            (_, 4, false) => access::<2, false>(address, pc),
            (_, 4, true) => access::<2, true>(address, pc),
            (_, 8, false) => access::<3, false>(address, pc),
            (_, 8, true) => access::<3, true>(address, pc),
            (_, _, false) => access16::<false>(address, pc),
            (_, _, true) => access16::<true>(address, pc),
        }
        let reported: Vec<_> = take_reported().iter().flat_map(bytes).collect();
        let is_new = |byte: &usize| reported.contains(&(self.memory + byte));
        let racy = &self.definition.racy;
        let wrong = (offset..offset + size)
            .filter(|byte| is_new(byte) != wanted.contains(byte))
            // A byte that has raced before may be reported again, or not.
            .find(|byte| wanted.contains(byte) || !racy[*byte]);
        if let Some(byte) = wrong {
            let what = match is_new(&byte) {
                true => "reported and does not race",
                false => "races and is not reported",
            };
            panic!("byte {byte} {what}:\n{}", self.said.join("\n"));
        }
    }

    fn switch(&mut self, to: usize) {
        if to != self.running {
            fibers::switch(self.fibers[to], false);
            self.running = to;
        }
    }

    fn fork(&mut self) {
        self.said
            .push(format!("T{} forks T{}", self.running, self.fibers.len()));
        self.definition.fork(self.running);
        self.fibers.push(fibers::create(0x50_0000));
    }

    fn synchronise(&mut self, rng: &mut fastrand::Rng) {
        let (number, thread) = (rng.usize(..VARIABLES), self.running);
        let (variable, pc) = (self.variable(number), 0x60_0000);
        let how = rng.u32(..4);
        let what = ["acquires", "releases", "adds to", "updates"][how as usize];
        self.said.push(format!("T{thread} {what} {number}"));
        if how == 0 || how == 3 {
            self.definition.acquire(thread, variable);
            sync::acquire(variable, pc);
        }
        match how {
            1 => {
                self.definition.release(thread, variable, false);
                sync::release(variable, pc);
            }
            2 | 3 => {
                self.definition.release(thread, variable, true);
                sync::release_more(variable, pc);
            }
            _ => (),
        }
    }

    fn lock(&mut self, lock: usize) {
        let (address, thread) = (self.variable(VARIABLES + lock), self.running);
        match self.holders[lock] {
            None => {
                self.said.push(format!("T{thread} locks {lock}"));
                self.holders[lock] = Some(thread);
                self.definition.acquire(thread, address);
                sync::hold(address, true, None, 0x70_0000);
            }
            Some(holder) if holder == thread => {
                self.said.push(format!("T{thread} unlocks {lock}"));
                self.holders[lock] = None;
                self.definition.release(thread, address, false);
                sync::unhold(address, None, 0x70_0000);
            }
            Some(_) => (),
        }
    }

    /// The running thread calls a function, or returns from one.
    fn call(&mut self, rng: &mut fastrand::Rng) {
        let local = local();
        let top = local.frame.get();
        if rng.bool() {
            // SAFETY: frames have room for more than a run's calls.
            unsafe { top.write(Frame::new(0x80_0000 + rng.usize(..4) * 16, 0)) };
            local.frame.set(top.wrapping_add(1));
        } else if top != local.frames_begin.get() {
            local.frame.set(top.wrapping_sub(1));
        }
    }

    fn clear(&mut self, rng: &mut fastrand::Rng) {
        let from = rng.usize(..BYTES / 8) * 8;
        let size = rng.usize(1..=(BYTES - from) / 8) * 8;
        self.said.push(format!("{from}+{size} is new"));
        self.definition.clear(from, size);
        let from = self.memory + from;
        world().shadow.clear(from, from + size);
    }

    fn end(mut self) {
        for lock in 0..LOCKS {
            if let Some(holder) = self.holders[lock] {
                self.switch(holder);
                self.lock(lock);
            }
        }
        // The first knows all, as if it had joined the others.
        for thread in 1..self.fibers.len() {
            self.switch(thread);
            sync::release(self.variable(0), 0x60_0000);
            self.switch(0);
            sync::acquire(self.variable(0), 0x60_0000);
        }
        self.fibers[1..]
            .iter()
            .for_each(|fiber| fibers::destroy(*fiber));
        local().frame.set(local().frames_begin.get());
        if let Some(_entered) = enter() {
            world().channels.clear(self.memory, self.memory + 4096);
        }
        world().shadow.clear(self.memory, self.memory + BYTES);
    }
}

fn number(name: &str, usual: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(usual, |value| value.parse().expect("a number"))
}

#[test]
fn every_byte_is_reported_exactly_when_it_races_first() {
    let (runs, seed) = (
        number("DEADHEAT_PROGRAMS", 3_000),
        number("DEADHEAT_SEED", 0),
    );
    drop(enter());
    let mut racy = 0;
    for trial in 0..runs {
        let mut rng = fastrand::Rng::with_seed(seed.wrapping_add(trial));
        let mut run = Run::new(trial);
        let threads = match rng.u32(..200) {
            // More than there are aliases.
            0 => 300,
            1..20 => rng.usize(8..40),
            _ => rng.usize(2..7),
        };
        run.fork();
        let length = rng.usize(20..400);
        // How often threads take turns, and synchronise.
        let (turns, orders) = (rng.u32(2..30), rng.u32(2..60));
        for _ in 0..length {
            if run.fibers.len() < threads && rng.u32(..8) == 0 {
                run.fork();
            }
            if rng.u32(..turns) == 0 {
                run.switch(rng.usize(..run.fibers.len()));
            }
            match rng.u32(..orders) {
                0 => run.synchronise(&mut rng),
                1 => run.lock(rng.usize(..LOCKS)),
                2 => run.call(&mut rng),
                3 if rng.u32(..10) == 0 => run.clear(&mut rng),
                4 if rng.u32(..4) == 0 => run.run_over(&mut rng),
                _ => run.access(&mut rng),
            }
        }
        racy += u64::from(run.definition.racy.contains(&true));
        run.end();
    }
    threads::end(enter().expect("a thread that is looked at"));
    assert!(runs < 1000 || racy > runs / 4, "{racy} of {runs} race");
    assert!(runs < 1000 || racy < runs, "every run has a race");
    assert_eq!(
        world().dropped.load(std::sync::atomic::Ordering::Relaxed),
        0
    );
}
