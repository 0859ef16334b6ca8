//! What the runtime knows of the running thread.
//!
//! [`Local`] is the little that every access needs, in thread-local storage; [`Thread`] is the rest. A thread
//! that the runtime has not seen yet has a `Local` of zeros, and every hook takes zeros for "call someone who
//! knows": so hooks may run before anything else, on any thread.
//!
//! Whatever is more than a few instructions runs between [`enter`] and the drop of its guard. Meanwhile the
//! program's signal handlers wait, and nobody can [`pause`](crate::order::registry::pause) the runtime, which is how memory is
//! collected and processes are forked while no thread is in the midst of something.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use deadheat_online::fasttrack::{Kind, Record};
use deadheat_online::mark::{Known, TIMES};
use deadheat_online::timeline::Timeline;

use deadheat_order::{Signal, Step};

use deadheat_tape::mailbox::Wait;

use crate::check::aliases::Alias;
use crate::check::depot::ROOT as ROOT_CHAIN;
use crate::check::histories::RecordBuffer;
use crate::check::longer::Spare;
use crate::check::memo::Memo;
use crate::check::origin::{Origin, Stack};
use crate::check::past::Patience;
use crate::check::recent_origins::RecentOrigins;
use crate::check::transitions::Transitions;
use crate::openmp::notes::Name;
use crate::openmp::order::Answers;
use crate::openmp::strand::Strand;
use crate::order::registry::REGISTRY;
use crate::order::sync;
use crate::output::recording::{self, Tape};
use crate::platform::os;
use crate::platform::world::{World, world};

/// What every access needs.
#[derive(Debug)]
#[repr(C)]
pub struct Local {
    /// The epoch of marks that the thread makes now. 0: it makes none.
    pub epoch: Cell<u64>,
    /// The upper half of the keys in the thread's memo. 0: accesses are not looked at.
    pub key: Cell<u64>,
    /// See [`Shadow::base`](crate::check::shadow::Shadow::base).
    pub shadow: Cell<usize>,
    pub thread: Cell<*mut Thread>,
    /// The next free frame of the call stack, and the end of its room.
    pub frame: Cell<*mut Frame>,
    pub frames_end: Cell<*mut Frame>,
    pub frames_begin: Cell<*mut Frame>,
    /// How many guards of [`enter`] there are.
    pub depth: Cell<u32>,
    /// The atomic variable of which a running operation is going to acquire what was released there, or 0.
    pub acquires: Cell<usize>,
    /// Whether signals wait to be handled.
    pub pending: AtomicBool,
    /// The thread's life is over, or deadheat is switched off.
    pub dead: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            epoch: Cell::new(0),
            key: Cell::new(0),
            shadow: Cell::new(0),
            thread: Cell::new(std::ptr::null_mut()),
            frame: Cell::new(std::ptr::null_mut()),
            frames_end: Cell::new(std::ptr::null_mut()),
            frames_begin: Cell::new(std::ptr::null_mut()),
            depth: Cell::new(0),
            acquires: Cell::new(0),
            pending: AtomicBool::new(false),
            dead: Cell::new(false),
        }
    };
}

/// The running thread's [`Local`].
#[inline(always)]
pub fn local() -> &'static Local {
    // SAFETY: without destructor it lives as long as its thread, and it is not shared with others, but for the
    // fields that other threads set (see `Thread::local`).
    LOCAL.with(|local| unsafe { &*std::ptr::from_ref(local) })
}

/// The chain of callers of code that no instrumented function has called.
pub const ROOT: u32 = ROOT_CHAIN;

/// A function that has been entered and not left.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Frame {
    /// Where it returns to.
    pub caller: u64,
    /// The number of the chain of callers up to here; 0: not known yet.
    pub chain: u32,
    /// The lower half of the stack pointer when it was entered.
    pub stack_pointer: u32,
    /// The group of [origins](crate::check::origins) that its last access belonged to, or 0, and the set of locks then.
    pub group: u32,
    pub lockset: u32,
}

impl Frame {
    /// A function that is entered from code at an address.
    #[inline(always)]
    pub fn new(caller: usize, stack_pointer: usize) -> Frame {
        Frame {
            caller: caller as u64,
            chain: 0,
            stack_pointer: stack_pointer as u32,
            group: 0,
            lockset: 0,
        }
    }
}

/// A lock that is held.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub address: usize,
    pub write: bool,
    /// Where it was taken; 0: not known.
    pub pc: usize,
    /// The set of locks held before it was taken.
    pub before: u32,
}

/// Instead of the number of a set of locks: it is not known yet.
pub const UNKNOWN_SET: u32 = u32::MAX;

/// What the runtime knows of a thread that lives.
#[derive(Debug)]
pub struct Thread {
    pub memo: Memo,
    pub transitions: Transitions,
    pub origins: RecentOrigins,
    pub known: Known,
    /// The part of the shadow in which it has last used a cell for the first time.
    pub noted: usize,
    pub timeline: Timeline,
    pub record_buffer: RecordBuffer,
    pub spare: Spare,
    /// Counts the times at which the memo was forgotten; never 0.
    generation: u32,
    /// What marks say of it now, in a program of threads.
    pub alias: Alias,
    pub patience: Patience,
    /// Counts changes of the set of locks, 16 bits.
    pub lock_generation: u16,
    /// The set of locks held: its number, or [`UNKNOWN_SET`].
    pub lockset: u32,
    pub held: Vec<Held>,
    /// The number the report calls it by.
    pub id: u32,
    /// 1 between `enter` and the drop of its guard.
    pub busy: AtomicU32,
    /// Its call stack. Before it lies the frame of code that no instrumented function has called.
    pub frames: *mut Frame,
    frames_bytes: usize,
    /// The top of its frames, for a fiber that does not run.
    top: *mut Frame,
    /// How often accesses are to be ignored, by annotation: reads, writes, synchronisation.
    pub ignore: [u32; 3],
    /// The `Local` of the thread. Other threads only set its `key`.
    local: AtomicPtr<Local>,
    /// Its native stack, if known.
    pub stack: (usize, usize),
    /// Where its thread-local variables are, if known.
    pub variables: (usize, usize),
    /// The same in a program of OpenMP, whose threads' variables are no business of tasks.
    pub thread_local: (usize, usize),
    /// In a program of OpenMP: what it runs, the step it is in, and what it keeps to ask about others.
    pub strand: *mut Strand,
    pub step: Step,
    /// The phase of which it runs a piece that has just begun, or 0.
    pub phase: u32,
    pub answers: Option<Box<Answers>>,
    /// Whether the runtime of OpenMP has made it.
    pub is_worker: bool,
    /// The lowest address of its stack that may be known to the shadow.
    pub lowest: usize,
    /// Where its stack begins to be used.
    pub floor: usize,
    /// The strand that a recording takes it to run.
    pub recorded_as: Name,
    /// The last signal of a strand that it has run and that has asked for the thread's number.
    pub thread_num_asked_at: Option<Signal>,
    pub next: *mut Thread,
    /// Where it says what it waits for, once it has.
    pub wait: Cell<Option<&'static Wait>>,
    pub signals: crate::platform::signals::Waiting,
    pub tape: Tape,
}

impl Thread {
    /// A thread that is about to live.
    pub fn new(id: u32, timeline: Timeline, stack_size: usize) -> *mut Thread {
        // A function that is instrumented takes at least 16 bytes of stack.
        let functions = stack_size.clamp(1 << 16, 1 << 32) / 16;
        let frames_bytes = functions.next_multiple_of(4096) * size_of::<Frame>();
        let frames = (os::reserve_or_die(frames_bytes) as *mut Frame).wrapping_add(1);
        let size = std::alloc::Layout::new::<Thread>();
        // SAFETY: the layout is not empty. All fields are written before the box is made; zeros are valid for
        // the caches and the tape.
        unsafe {
            let thread = os::reserve_or_die(size.size()) as *mut Thread;
            (&raw mut (*thread).timeline).write(timeline);
            (&raw mut (*thread).record_buffer).write(RecordBuffer::default());
            (*frames.sub(1)).chain = ROOT;
            (&raw mut (*thread).known).write(Known::new());
            (&raw mut (*thread).noted).write(usize::MAX);
            (&raw mut (*thread).spare).write(Spare::NONE);
            (&raw mut (*thread).generation).write(1);
            (&raw mut (*thread).alias).write(Alias::default());
            (&raw mut (*thread).patience).write(Patience::default());
            (&raw mut (*thread).lock_generation).write(1);
            (&raw mut (*thread).lockset).write(0);
            (&raw mut (*thread).held).write(Vec::new());
            (&raw mut (*thread).id).write(id);
            (&raw mut (*thread).busy).write(AtomicU32::new(0));
            (&raw mut (*thread).frames).write(frames);
            (&raw mut (*thread).frames_bytes).write(frames_bytes);
            (&raw mut (*thread).top).write(std::ptr::null_mut());
            (&raw mut (*thread).ignore).write([0; 3]);
            (&raw mut (*thread).local).write(AtomicPtr::default());
            (&raw mut (*thread).stack).write((0, 0));
            (&raw mut (*thread).variables).write((0, 0));
            (&raw mut (*thread).thread_local).write((0, 0));
            (&raw mut (*thread).strand).write(std::ptr::null_mut());
            (&raw mut (*thread).step).write(Step::NONE);
            (&raw mut (*thread).phase).write(0);
            (&raw mut (*thread).answers).write(world().tasks.as_ref().map(|_| Box::default()));
            (&raw mut (*thread).is_worker).write(false);
            (&raw mut (*thread).floor).write(0);
            (&raw mut (*thread).lowest).write(usize::MAX);
            (&raw mut (*thread).recorded_as).write(Name::thread(id));
            (&raw mut (*thread).thread_num_asked_at).write(None);
            (&raw mut (*thread).next).write(std::ptr::null_mut());
            (&raw mut (*thread).wait).write(Cell::new(None));
            (&raw mut (*thread).signals).write(Default::default());
            thread
        }
    }

    /// This thread begins to be the running one.
    pub fn begin(thread: *mut Thread) {
        let local = local();
        // SAFETY: the thread was just made, and nobody else has it.
        let own = unsafe { &mut *thread };
        local.shadow.set(world().shadow.base());
        Thread::register(thread);
        own.run(local, own.frames);
    }

    fn run(&mut self, local: &Local, top: *mut Frame) {
        self.local
            .store(std::ptr::from_ref(local).cast_mut(), Ordering::Release);
        local.frame.set(top);
        local.frames_begin.set(self.frames);
        local.frames_end.set(
            self.frames
                .wrapping_sub(1)
                .wrapping_byte_add(self.frames_bytes),
        );
        local.thread.set(self);
        if self.epoch() == 0 && world().tasks.is_none() {
            self.take_alias();
        }
        self.refresh();
    }

    /// Adds a thread to those that live.
    pub fn register(thread: *mut Thread) {
        let _guard = REGISTRY.lock.lock();
        // SAFETY: the list is only touched with the lock held.
        unsafe { (*thread).next = REGISTRY.first.get() };
        REGISTRY.first.set(thread);
    }

    /// The running thread goes on as another, a fiber that does not run.
    pub fn switch(next: *mut Thread) {
        let local = local();
        let old = local.thread.get();
        // SAFETY: the running thread's own, and a fiber that nobody runs.
        unsafe {
            (*old).top = local.frame.get();
            (*old).local.store(std::ptr::null_mut(), Ordering::Release);
            let top = if (*next).top.is_null() {
                (*next).frames
            } else {
                (*next).top
            };
            (*next).run(local, top);
        }
    }

    /// The running thread ends; its memory is given back. Signals that wait are handled by nobody in particular.
    pub fn end(thread: *mut Thread, entered: Entered) {
        let local = local();
        local.key.set(0);
        local.epoch.set(0);
        local.dead.set(true);
        local.thread.set(std::ptr::null_mut());
        local.frame.set(std::ptr::null_mut());
        local.frames_end.set(std::ptr::null_mut());
        local.frames_begin.set(std::ptr::null_mut());
        // SAFETY: still the running thread's own.
        unsafe { (*thread).busy.store(0, Ordering::Release) };
        std::mem::forget(entered);
        // SAFETY: as above.
        let waiting = unsafe { std::mem::take(&mut (*thread).signals) };
        Thread::unregister(thread);
        local.depth.set(0);
        waiting.handle();
    }

    /// Takes a thread from those that live, and gives its memory back.
    pub fn unregister(thread: *mut Thread) {
        let guard = REGISTRY.lock.lock();
        let mut place = REGISTRY.first.as_ptr();
        // SAFETY: the list is only touched with the lock held.
        unsafe {
            while !(*place).is_null() && *place != thread {
                place = &raw mut (**place).next;
            }
            if !(*place).is_null() {
                *place = (**place).next;
            }
        }
        drop(guard);
        // SAFETY: nobody finds the thread any more.
        unsafe { Thread::free(thread) };
    }

    /// Gives a thread's memory back.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub unsafe fn free(thread: *mut Thread) {
        // SAFETY: the caller's promise.
        unsafe {
            os::unmap((*thread).frames.sub(1) as usize, (*thread).frames_bytes);
            (*thread).tape.close((*thread).id);
            std::ptr::drop_in_place(&raw mut (*thread).timeline);
            std::ptr::drop_in_place(&raw mut (*thread).held);
            std::ptr::drop_in_place(&raw mut (*thread).answers);
            os::unmap(thread as usize, size_of::<Thread>());
        }
    }

    /// What the caches say no longer holds: the thread's time has gone up.
    #[inline]
    pub fn forget_known(&mut self) {
        // Some entries only know the last 20 bits of it.
        self.generation = self.generation.wrapping_add(1);
        if self.generation.is_multiple_of(1 << 20) {
            self.generation += 1;
            self.memo.clear();
        }
        self.refresh();
    }

    /// The epoch of marks it makes now. 0: it cannot make any.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.alias.epoch(self.timeline.now())
    }

    /// Gets an alias for its time, if there is one.
    #[cold]
    pub fn take_alias(&mut self) {
        let (slot, now) = (self.timeline.slot(), self.timeline.now());
        self.alias = world().aliases.take(slot, now).unwrap_or_default();
        self.know_alias();
    }

    /// What it has done itself happens before now.
    fn know_alias(&self) {
        if self.alias.number != 0 {
            self.known.learn(self.alias.number, TIMES);
        }
    }

    /// Aliases but its own may mean something else from now on.
    pub fn forget_aliases(&self) {
        self.known.forget();
        self.know_alias();
    }

    /// The set of locks has changed.
    pub fn locks_changed(&mut self) {
        self.lockset = UNKNOWN_SET;
        if !self.strand.is_null() {
            // An access with fewer locks tells more.
            self.forget_known();
        }
        self.lock_generation = self.lock_generation.wrapping_add(1);
        if self.lock_generation == 0 {
            self.memo.clear_changes();
        }
    }

    /// Code at an address, with the locks held now: as the memo knows it.
    #[inline]
    pub fn site(&self, pc: usize) -> u64 {
        pc as u64 | u64::from(self.lock_generation) << 48
    }

    /// The upper half of the keys of entries of the present time.
    #[inline]
    pub fn generation_key(&self) -> u64 {
        u64::from(self.generation) << 32
    }

    /// Sets whether accesses are looked at.
    #[inline]
    pub fn refresh(&self) {
        let off = world().off() || recording::on() || self.ignore[0] + self.ignore[1] > 0;
        // SAFETY: the local lives as long as the thread; a word written at once.
        if let Some(local) = unsafe { self.local.load(Ordering::Relaxed).as_ref() } {
            local.key.set(if off { 0 } else { self.generation_key() });
            local.epoch.set(if off { 0 } else { self.epoch() });
        }
    }

    /// The thread's time goes up if there is something to tell, before others learn of it.
    #[inline]
    pub fn advance_if_released(&mut self, release: impl FnOnce(&mut Timeline)) {
        let before = self.timeline.now();
        release(&mut self.timeline);
        if self.timeline.now() != before {
            self.forget_known();
        }
    }

    /// A lock is taken.
    pub fn push_lock(&mut self, address: usize, write: bool, pc: usize) {
        self.held.push(Held {
            address,
            write,
            pc,
            before: self.lockset,
        });
        self.locks_changed();
    }

    /// The lock that it holds at this place in the list is given back.
    pub fn remove_lock(&mut self, index: usize) {
        let held = self.held.remove(index);
        self.locks_changed();
        match index == self.held.len() {
            true => self.lockset = held.before,
            false => self.locks_replaced(),
        }
    }

    /// The list of the locks it holds has become another.
    pub fn locks_replaced(&mut self) {
        (self.held.iter_mut()).for_each(|held| held.before = UNKNOWN_SET);
        self.locks_changed();
    }

    /// The number of the set of locks held.
    #[inline]
    pub fn lockset(&mut self) -> u32 {
        match self.lockset {
            UNKNOWN_SET => self.find_lockset(),
            known => known,
        }
    }

    #[inline(never)]
    fn find_lockset(&mut self) -> u32 {
        let mut set = 0;
        for held in self.held.iter().take(64) {
            set = world()
                .locksets
                .chain(set, (held.address as u64) << 1 | u64::from(held.write));
        }
        if let [
            Held {
                address,
                write: true,
                ..
            },
        ] = self.held[..]
        {
            sync::note_alone(address, set);
        }
        self.lockset = set;
        set
    }

    /// Its frames, from the outermost on, and where they end now. It may be running.
    pub fn frames(&self) -> (*const Frame, *const Frame) {
        // SAFETY: the local lives as long as the thread; a word read at once.
        let top = match unsafe { self.local.load(Ordering::Acquire).as_ref() } {
            // SAFETY: the cell stays as long as the thread is registered, which the caller sees to; its owner may be writing the
            // word, which one instruction reads.
            Some(local) => unsafe { local.frame.as_ptr().read_volatile() },
            None => self.top,
        };
        (self.frames, top)
    }

    /// The frame of the running function.
    #[inline(always)]
    pub fn frame(&self) -> *mut Frame {
        local().frame.get().wrapping_sub(1)
    }

    /// The number of the chain of callers of the running function.
    #[inline]
    pub fn chain(&mut self) -> u32 {
        // SAFETY: there is a frame before the first; those below the top have been written.
        match unsafe { (*self.frame()).chain } {
            0 => self.find_chain(),
            known => known,
        }
    }

    #[inline(never)]
    fn find_chain(&mut self) -> u32 {
        let stacks = &world().stacks;
        let last = self.frame();
        // SAFETY: as above; the chain of the frame before the first is known.
        unsafe {
            let mut at = last;
            while (*at).chain == 0 {
                at = at.sub(1);
            }
            let mut chain = (*at).chain;
            while at < last {
                at = at.add(1);
                // Whoever called the first function is not the program.
                if at > self.frames {
                    let caller = (*at).caller;
                    chain = self
                        .origins
                        .chain(chain, caller, || stacks.chain(chain, caller));
                }
                (*at).chain = chain;
            }
            chain
        }
    }

    /// Whether a record is of this thread's present time, and tells all of such an access.
    #[inline]
    pub fn told_by(&self, record: Record, kind: Kind, mask: u8) -> bool {
        // To a strand, an access under a lock does not tell of one without.
        (self.strand.is_null() || Origin(record.origin).locks() == 0)
            && self.record(kind, mask, 0).is_told_by(&record)
    }

    /// An access that it makes now.
    #[inline]
    pub fn record(&self, kind: Kind, mask: u8, origin: u64) -> Record {
        let time = match self.strand.is_null() {
            true => self.timeline.now(),
            false => self.step.0,
        };
        Record::new(self.timeline.slot(), time, kind, mask, origin)
    }

    /// The call stack of code at an address in the running function.
    #[inline]
    pub fn stack_at(&mut self, code: usize) -> Stack {
        match recording::on() {
            true => Stack::default(),
            false => Stack::new(self.chain(), code),
        }
    }
}

/// In the runtime, until dropped.
#[derive(Debug)]
pub struct Entered {
    local: &'static Local,
}

impl Entered {
    /// The running thread.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub fn thread(&self) -> &mut Thread {
        // SAFETY: `enter` has made sure that there is one. Only the running thread takes a reference, and no
        // code of the program runs meanwhile that could take another.
        unsafe { &mut *self.local.thread.get() }
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        let depth = self.local.depth.get() - 1;
        if depth == 0 {
            self.thread().busy.store(0, Ordering::Release);
        }
        self.local.depth.set(depth);
        if depth == 0 && self.local.pending.load(Ordering::Relaxed) {
            crate::platform::signals::handle_waiting();
        }
    }
}

/// Enters the runtime. None: the thread is not looked at (any more), or is in the runtime already.
#[inline]
pub fn enter() -> Option<Entered> {
    let local = local();
    if local.thread.get().is_null() && !start() {
        return None;
    }
    let depth = local.depth.get();
    if depth != 0 {
        return None;
    }
    local.depth.set(1);
    let entered = Entered { local };
    // With the kernel's help, whoever pauses the runtime makes this store visible to itself.
    entered.thread().busy.store(1, Ordering::Relaxed);
    match os::barriers() {
        true => std::sync::atomic::compiler_fence(Ordering::SeqCst),
        false => std::sync::atomic::fence(Ordering::SeqCst),
    }
    if REGISTRY.stop.load(Ordering::Relaxed) != 0 {
        entered.resume();
    }
    Some(entered)
}

/// The first hook on a thread. False: it is not to be looked at.
#[cold]
fn start() -> bool {
    let local = local();
    if local.dead.get() || local.depth.get() != 0 {
        return false;
    }
    // Meanwhile hooks do nothing.
    local.depth.set(1);
    let begun = World::begin();
    if begun {
        crate::order::threads::begin_unknown();
    } else {
        local.dead.set(true);
    }
    local.depth.set(0);
    begun
}
