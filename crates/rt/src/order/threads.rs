//! The threads of the process: who they are, when they begin and end, and which slot they have in clocks.
//!
//! A slot is a column of the clocks. A thread that ends leaves its slot to a thread that is created after its
//! end, where "after" is happens-before: the creator must know all the old thread has done. So threads
//! that are created and joined in turn share a slot, however many there are, and nothing is lost.
//! Only if there are more than [`MANY`] slots is one taken from a thread whose end the creator does not know;
//! races between the two are then missed, and the findings say so.
//!
//! A thread that the runtime did not see being created (by a library, around `pthread_create`) begins after all
//! that others have done so far: rather miss a race than invent one.

use std::cell::UnsafeCell;
use std::sync::atomic::Ordering;

use deadheat_model::Strand;
use deadheat_online::timeline::Timeline;
use deadheat_order::{Clock, Signal, Time};
use rustc_hash::FxHashMap;

use crate::check::origin::Stack;
use crate::openmp;
use crate::order::registry::{keep_only_this, pause, refresh_all, threads_before_fork};
use crate::order::thread::{Entered, Thread, enter, local};
use crate::output::recording::{self, Stamped};
use crate::platform::os::Spin;
use crate::platform::world::world;

/// More slots than this are only made if all threads of them live.
const MANY: usize = 1 << 15;

/// The threads there are and were.
#[derive(Debug)]
pub struct Threads {
    lock: Spin,
    inner: UnsafeCell<Inner>,
}

// SAFETY: the inner part is only touched with the lock held.
unsafe impl Sync for Threads {}

#[derive(Debug, Default)]
struct Inner {
    infos: Vec<Info>,
    slots: Vec<Slot>,
    /// Slots of threads that have ended, the latest last.
    free: Vec<u32>,
    live: usize,
    /// Threads to be joined, by what `pthread_self` says.
    handles: FxHashMap<usize, Handle>,
}

#[derive(Debug, Default)]
struct Handle {
    id: u32,
    /// What the thread knew at its end.
    end: Option<Clock>,
    /// In a program of OpenMP: its end, and whether OpenMP's runtime has made it.
    signal: Option<Signal>,
    is_worker: bool,
    detached: bool,
}

#[derive(Debug)]
struct Slot {
    /// The last time that something was recorded at, once its thread has ended.
    last: Option<Time>,
    newest: u32,
}

/// What is remembered of a thread for reports.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    pub parent: Option<u32>,
    /// Where it was created.
    pub stack: Stack,
    pub name: [u8; 16],
    pub finished: bool,
    /// Its first time in its slot, and who had the slot before.
    first: Time,
    previous: Option<u32>,
}

impl Threads {
    pub fn new() -> Threads {
        Threads {
            lock: Spin::new(),
            inner: UnsafeCell::default(),
        }
    }

    fn with<T>(&self, what: impl FnOnce(&mut Inner) -> T) -> T {
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.inner.get() })
    }

    /// What is known of a thread.
    pub fn info(&self, id: u32) -> Option<Info> {
        self.with(|inner| inner.infos.get(id as usize).copied())
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.with(|inner| inner.infos.len())
    }

    /// How many live, those included that are about to begin.
    pub fn living(&self) -> usize {
        self.with(|inner| inner.live)
    }

    /// Who had a slot at a time.
    pub fn at(&self, slot: Strand, time: Time) -> u32 {
        self.with(|inner| {
            let mut id = inner.slots.get(slot.index()).map_or(0, |slot| slot.newest);
            while let Some(info) = inner.infos.get(id as usize)
                && info.first > time
                && let Some(previous) = info.previous
            {
                id = previous;
            }
            id
        })
    }

    /// Names a thread.
    pub fn set_name(&self, id: u32, name: &[u8]) {
        self.with(|inner| {
            if let Some(info) = inner.infos.get_mut(id as usize) {
                info.name = [0; 16];
                let length = name.len().min(15);
                info.name[..length].copy_from_slice(&name[..length]);
            }
        });
    }

    /// Who is meant by a `pthread_t`.
    pub fn id_of(&self, handle: usize) -> Option<u32> {
        self.with(|inner| inner.handles.get(&handle).map(|handle| handle.id))
    }

    /// Nobody holds the lock: for the only thread of a forked child.
    pub fn reset_locks(&self) {
        self.lock.reset();
    }
}

impl Inner {
    /// A new thread that knows what its creator does.
    fn add(&mut self, parent: Option<u32>, stack: Stack, clock: &Clock) -> (u32, Timeline) {
        let id = self.infos.len() as u32;
        let (slot, before, previous) = self.take_slot(clock);
        let mut line = Timeline::new(Strand(slot), before);
        line.learn(clock);
        self.slots[slot as usize] = Slot {
            last: None,
            newest: id,
        };
        let info = Info {
            parent,
            stack,
            name: [0; 16],
            finished: false,
            first: before + 1,
            previous,
        };
        self.infos.push(info);
        self.live += 1;
        (id, line)
    }

    fn take_slot(&mut self, clock: &Clock) -> (u32, Time, Option<u32>) {
        let known = |slot: &&u32| {
            let last = self.slots[**slot as usize].last.unwrap_or(Time::MAX);
            last <= clock.get(Strand(**slot)) && last < Time::MAX / 2
        };
        let newest = self.free.iter().rev().take(256).find(known).copied();
        let found = newest.or_else(|| self.free.iter().take(256).find(known).copied());
        let forced = || {
            (self.slots.len() > MANY)
                .then(|| self.free.first().copied())
                .flatten()
        };
        let taken = found.or_else(|| {
            let forced = forced();
            if forced.is_some() {
                world().drop_one();
            }
            forced
        });
        let Some(slot) = taken else {
            self.slots.push(Slot {
                last: None,
                newest: 0,
            });
            return (self.slots.len() as u32 - 1, 0, None);
        };
        self.free.retain(|free| *free != slot);
        let old = &self.slots[slot as usize];
        (slot, old.last.unwrap_or(0), Some(old.newest))
    }

    /// All that threads that have ended have done.
    fn know_ended(&self, clock: &mut Clock) {
        for slot in &self.free {
            let last = self.slots[*slot as usize].last.unwrap_or(0);
            clock.set(Strand(*slot), last.max(clock.get(Strand(*slot))));
        }
    }

    /// Whether somebody with this clock knows all that threads that have ended have done.
    fn knows_all(&self, clock: &Clock) -> bool {
        let known = |slot: &u32| {
            self.slots[*slot as usize]
                .last
                .is_some_and(|last| last <= clock.get(Strand(*slot)))
        };
        self.free.iter().all(known)
    }
}

/// A thread is about to be created. It knows what the creator knows.
pub fn create(entered: &Entered, code: usize, stack_size: usize) -> *mut Thread {
    let world = world();
    let creator = entered.thread();
    let stack = creator.stack_at(code);
    if world.alone.swap(false, Ordering::Relaxed) && recording::on() {
        recording::first_create(creator);
    }
    let mut clock = Clock::default();
    creator.advance_if_released(|timeline| clock.copy_from(timeline.publish()));
    creator.refresh();
    let id = creator.id;
    let (id, line) = world
        .threads
        .with(|inner| inner.add(Some(id), stack, &clock));
    if recording::on() && !openmp::is_runtime(code) {
        creator.note(Stamped::Create, id as usize, recording::code(code, 0));
    }
    let thread = Thread::new(id, line, stack_size);
    if let Some(Some(strand)) = openmp::with_strand(creator, |strand| strand.fork(id, stack)) {
        strand.ran_by(id);
        // SAFETY: just made.
        unsafe {
            (*thread).set_step(strand.step());
            (*thread).strand = Box::into_raw(strand);
        }
        openmp::thread_begins();
    }
    thread
}

/// The running thread is called so from now on.
pub fn name_own(thread: &mut Thread, name: &[u8]) {
    world().threads.set_name(thread.id, name);
    if recording::on() {
        recording::name(thread, name);
    }
}

/// A thread could not be created after all.
pub fn not_created(entered: &Entered, thread: *mut Thread) {
    // SAFETY: nobody else has it.
    let (id, slot) = unsafe { ((*thread).id, (*thread).timeline.slot()) };
    world().threads.with(|inner| {
        inner.infos[id as usize].finished = true;
        let last = inner.infos[id as usize].first - 1;
        inner.slots[slot.index()].last = Some(last);
        inner.free.push(slot.0);
        inner.live -= 1;
    });
    // SAFETY: nobody else has it.
    if unsafe { !(*thread).strand.is_null() } {
        openmp::thread_is_gone();
    }
    // SAFETY: nobody else has it.
    unsafe { Thread::free(thread) };
    alone_again(entered);
}

/// A fiber goes away. Nobody waits for it.
pub fn fiber_ends(_entered: &Entered, fiber: *mut Thread) {
    // SAFETY: a fiber that does not run.
    let (id, slot, last) = unsafe {
        (
            (*fiber).id,
            (*fiber).timeline.slot(),
            (*fiber).timeline.last(),
        )
    };
    world().threads.with(|inner| {
        inner.infos[id as usize].finished = true;
        inner.slots[slot.index()].last = Some(last);
        inner.free.push(slot.0);
        inner.live -= 1;
    });
}

/// The running thread begins, known as `handle` to those who join it.
pub fn begin(thread: *mut Thread, handle: usize) {
    // SAFETY: the running thread's own.
    let id = unsafe { (*thread).id };
    let entered = enter();
    if let Some(entered) = entered.as_ref().filter(|_| recording::on()) {
        entered.thread().note(Stamped::Begin, 1, 0);
    }
    world().threads.with(|inner| {
        let detached = inner
            .handles
            .get(&handle)
            .is_some_and(|old| old.id == id && old.detached);
        inner.handles.insert(
            handle,
            Handle {
                id,
                detached,
                ..Handle::default()
            },
        );
    });
}

/// A thread nobody told of, or the first: called in `start`, with hooks switched off.
pub fn begin_unknown() {
    let world = world();
    let mut clock = Clock::default();
    let pause = pause();
    let mut signals = Vec::new();
    // Nobody may know a time before it is over: each thread's goes up.
    pause.threads(|thread| {
        signals.extend(openmp::with_strand(thread, |strand| strand.signal()).flatten());
        thread.advance_if_released(|timeline| {
            timeline.record();
            clock.join(timeline.publish());
        });
    });
    let (id, line) = world.threads.with(|inner| {
        inner.know_ended(&mut clock);
        inner.add(None, Stack::default(), &clock)
    });
    drop(pause);
    let thread = Thread::new(id, line, stack_limit());
    openmp::unknown_thread_begins(thread, id, &signals);
    if id == 0 {
        world.threads.set_name(0, b"main");
    } else {
        world.alone.store(false, Ordering::Relaxed);
        refresh_all();
    }
    Thread::begin(thread);
    if recording::on() {
        // SAFETY: the running thread's own.
        unsafe { (*thread).note(Stamped::Begin, 0, 0) };
    }
    #[cfg(feature = "interpose")]
    crate::interpose::threads::watch_end();
}

/// How large the first thread's stack may become.
fn stack_limit() -> usize {
    crate::platform::os::limit(libc::RLIMIT_STACK)[0].clamp(8 << 20, 1 << 32)
}

/// The running thread ends.
pub fn end(entered: Entered) {
    let thread = entered.thread();
    if recording::on() {
        thread.note(Stamped::End, 0, 0);
    } else if !world().off() {
        crate::order::sync::abandon(thread);
    }
    let (id, slot) = (thread.id, thread.timeline.slot());
    let mut clock = Clock::default();
    thread.advance_if_released(|timeline| clock.copy_from(timeline.publish()));
    let last = thread.timeline.last();
    let signal = openmp::thread_ends(thread);
    let is_worker = thread.is_worker;
    world().threads.with(|inner| {
        inner.infos[id as usize].finished = true;
        inner.slots[slot.index()].last = Some(last);
        inner.free.push(slot.0);
        inner.live -= 1;
        // SAFETY: asks for the running thread's name for itself.
        let handle = unsafe { libc::pthread_self() } as usize;
        if inner
            .handles
            .get(&handle)
            .is_some_and(|handle| handle.id == id)
        {
            if inner.handles[&handle].detached {
                inner.handles.remove(&handle);
            } else if let Some(handle) = inner.handles.get_mut(&handle) {
                handle.end = Some(clock);
                handle.signal = signal;
                handle.is_worker = is_worker;
            }
        }
    });
    // No handler may run as this thread any more: it leaves the runtime as nobody.
    let thread = std::ptr::from_mut(thread);
    Thread::end(thread, entered);
    #[cfg(feature = "interpose")]
    crate::ALLOCATOR.give_all();
}

/// The running thread has waited for the end of another.
pub fn joined(entered: &Entered, handle: usize, id: u32, pc: usize) {
    let end = world()
        .threads
        .with(|inner| match inner.handles.get(&handle) {
            Some(found) if found.id == id => inner.handles.remove(&handle),
            _ => None,
        });
    if recording::on() && !openmp::is_runtime(pc) {
        entered
            .thread()
            .note(Stamped::Join, id as usize, recording::code(pc, 0));
    }
    if let Some(Handle {
        end: Some(clock),
        signal,
        is_worker,
        ..
    }) = end
    {
        let thread = entered.thread();
        thread.timeline.learn(&clock);
        openmp::with_strand(thread, |strand| strand.join(signal.as_slice()));
        if signal.is_some() && !is_worker {
            openmp::thread_is_gone();
        }
    }
    alone_again(entered);
}

/// Nobody will wait for a thread's end.
pub fn detached(handle: usize) {
    world().threads.with(|inner| {
        if inner
            .handles
            .get(&handle)
            .is_some_and(|handle| handle.end.is_some())
        {
            inner.handles.remove(&handle);
        } else if let Some(handle) = inner.handles.get_mut(&handle) {
            handle.detached = true;
        }
    });
}

/// A thread has been created, and is known as `handle` to those who join it. It may have ended already.
pub fn created(handle: usize, id: u32, detached: bool) {
    world().threads.with(|inner| {
        let finished = inner.infos[id as usize].finished;
        match inner.handles.get_mut(&handle) {
            Some(known) if known.id == id => known.detached |= detached,
            _ if finished => (),
            _ => drop(inner.handles.insert(
                handle,
                Handle {
                    id,
                    detached,
                    ..Handle::default()
                },
            )),
        }
        if finished
            && detached
            && inner
                .handles
                .get(&handle)
                .is_some_and(|known| known.id == id)
        {
            inner.handles.remove(&handle);
        }
    });
}

/// If the running thread is the only one and knows everything, it need not be looked at.
fn alone_again(entered: &Entered) {
    // What only a lock has ordered may come in another order, for those who predict.
    if recording::on() {
        return;
    }
    let clock = entered.thread().timeline.clock();
    let alone = match &world().tasks {
        Some(tasks) => tasks.is_alone(),
        None => world()
            .threads
            .with(|inner| inner.live == 1 && inner.knows_all(clock)),
    };
    if alone {
        world().alone.store(true, Ordering::Relaxed);
        entered.thread().refresh();
    }
}

/// In a forked child, with hooks switched off: only the running thread is left, and everything happens before
/// what it does now.
pub fn only_this() {
    // SAFETY: the running thread's own; a thread that has none was never looked at.
    let Some(this) = (unsafe { local().thread.get().as_mut() }) else {
        return keep_only_this();
    };
    let own = this.timeline.slot();
    let mut clock = Clock::default();
    let alone = world().threads.with(|inner| {
        threads_before_fork(|thread| {
            let slot = thread.timeline.slot();
            if slot != own {
                clock.set(slot, thread.timeline.now());
                inner.slots[slot.index()].last = Some(thread.timeline.now());
                inner.free.push(slot.0);
            }
        });
        inner.know_ended(&mut clock);
        inner.handles.clear();
        inner.live = 1;
        for (id, info) in inner.infos.iter_mut().enumerate() {
            info.finished |= id as u32 != this.id;
        }
        this.timeline.learn(&clock);
        inner.knows_all(this.timeline.clock())
    });
    keep_only_this();
    // A recording of this process begins anew.
    let alone = alone || recording::on();
    world().alone.store(alone, Ordering::Relaxed);
    this.refresh();
}
