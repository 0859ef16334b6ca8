//! A thread that runs tasks: its deque, its fibers, and what it does next.
//!
//! The rules of the scheduler:
//! - A started task goes into the deque of its worker; the worker takes the newest, thieves take the oldest. With one
//!   worker it is run at once instead, depth first, and its parent goes on when it ends or
//!   waits (drdp-ecoop23, section 4.2).
//! - Whoever waits for tasks of its own takes them from the top of its deque and runs them on its own stack, like
//!   a call: it cannot go on before they end anyway. It never runs anybody else's: what is
//!   below on a stack always waits for what is above, so nesting adds no deadlock.
//! - A task that has to wait is suspended with its stack; the worker goes on with something else, on another stack.
//! - Where little of a stack is left, the next call continues on a new one, up to 256 MiB of them; a single worker runs up to
//!   65,536 tasks inside of each other. More is an error, since recursion that does not end would take all memory.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use corosensei::{Coroutine, CoroutineResult};
use crossbeam_deque::{Steal, Worker as Deque};

use crate::error::{Error, cancel};
use crate::fiber::{Fiber, Fibers, On, RunningTask, Wait};
use crate::job::{Job, StackJob};
use crate::monitor::{Tables, TaskState};
use crate::par_for::Chunk;
use crate::run::Run;
use crate::sleep::WakeReason;
use crate::stack::{GUARD, Stack, page};
use crate::waiter::{Latch, Waiter};

/// How many bytes of stacks tasks that have run out of theirs may go on on, on each worker.
const DEEP: usize = 256 << 20;

/// How many tasks may be running inside of each other on a single worker because each was started by the one before: each has a
/// stack of its own, of which it uses two pages or more.
const NESTED: usize = 1 << 16;

/// How often a worker looks for work before it sleeps.
const PATIENCE: u32 = 100;

/// See the [module](self).
pub(crate) struct Worker {
    pub(crate) run: Arc<Run>,
    index: u32,
    deque: Deque<Job>,
    fibers: RefCell<Fibers>,
    ready: RefCell<VecDeque<u32>>,
    running: Cell<RunningTask>,
    spare: RefCell<Vec<Stack>>,
    cancelled: Cell<bool>,
    /// How many stacks others go on on that have run out of theirs.
    deep: Cell<usize>,
    /// How many tasks run inside of the ones that started them.
    nested: Cell<usize>,
    /// What the monitor keeps for each worker.
    pub(crate) tables: RefCell<Tables>,
}

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(std::ptr::null()) };
}

impl Worker {
    /// The worker that this thread is.
    #[inline]
    pub(crate) fn current<'w>() -> Option<&'w Worker> {
        // SAFETY: `scope` sets and resets it around the worker's life. Tasks run inside, and do not change threads.
        unsafe { CURRENT.get().as_ref() }
    }

    /// The worker that this thread is; a panic that names the `construct` if it is none.
    #[inline]
    #[track_caller]
    pub(crate) fn of<'w>(construct: &str) -> &'w Worker {
        match Worker::current() {
            Some(worker) => worker,
            None => panic!("`{construct}` is for tasks: call it inside `deadheat_task::run`"),
        }
    }

    /// Makes this thread a worker for the time of a call.
    pub(crate) fn scope<R>(
        run: Arc<Run>,
        index: u32,
        deque: Deque<Job>,
        body: impl FnOnce(&Worker) -> R,
    ) -> R {
        let tables = RefCell::new(Tables::new(run.monitor.as_ref()));
        let worker = Worker {
            run,
            index,
            deque,
            fibers: RefCell::default(),
            ready: RefCell::default(),
            running: Cell::new(RunningTask::NOTHING),
            spare: RefCell::default(),
            cancelled: Cell::new(false),
            deep: Cell::new(0),
            nested: Cell::new(0),
            tables,
        };
        let outer = CURRENT.replace(&worker);
        let result = body(&worker);
        CURRENT.set(outer);
        if let Some(monitor) = &worker.run.monitor {
            monitor.collect(&mut worker.tables.borrow_mut());
        }
        result
    }

    /// Runs tasks until the run has ended.
    pub(crate) fn work(&self) {
        let run = &self.run;
        let mut tries = 0;
        loop {
            self.receive();
            let ready = self.ready.borrow_mut().pop_front();
            if let Some(slot) = ready {
                self.resume(slot);
                tries = 0;
                continue;
            }
            if let Some(job) = self.deque.pop().or_else(|| self.steal()) {
                self.start(job);
                tries = 0;
                continue;
            }
            if run.done.load(Ordering::Acquire) {
                return;
            }
            tries += 1;
            if tries < PATIENCE && !run.depth_first {
                std::thread::yield_now();
                continue;
            }
            if run.sleep.sleep(self.index as usize, || self.has_work()) == WakeReason::AllIdle
                && !run.done.load(Ordering::Acquire)
            {
                run.deadlock();
            }
        }
    }

    fn has_work(&self) -> bool {
        let run = &self.run;
        run.done.load(Ordering::Acquire)
            || (run.is_cancelled() && !self.cancelled.get())
            || run.has_mail(self.index)
            || run.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// Makes ready what others have woken.
    fn receive(&self) {
        let woken = self.run.mail(self.index);
        for slot in woken {
            self.make_ready(slot);
        }
        if self.run.is_cancelled() && !self.cancelled.replace(true) {
            let stuck = self.fibers.borrow().stuck();
            for (slot, wait) in stuck {
                self.run.note_stuck(wait);
                self.make_ready(slot);
            }
        }
    }

    fn make_ready(&self, slot: u32) {
        if self.fibers.borrow_mut().unpark(slot) {
            self.ready.borrow_mut().push_back(slot);
        }
    }

    fn steal(&self) -> Option<Job> {
        let stealers = &self.run.stealers;
        let own = self.index as usize;
        let others = (1..stealers.len()).map(|n| &stealers[(own + n) % stealers.len()]);
        for stealer in others {
            loop {
                match stealer.steal() {
                    Steal::Success(job) => return Some(job),
                    Steal::Empty => break,
                    Steal::Retry => {}
                }
            }
        }
        None
    }

    /// Offers a job to everybody.
    #[inline]
    pub(crate) fn push(&self, job: Job) {
        self.deque.push(job);
        self.run.sleep.wake_any();
    }

    /// Whether everything this worker has offered was taken.
    #[inline]
    pub(crate) fn all_taken(&self) -> bool {
        self.deque.is_empty()
    }

    /// Takes back the last job offered, if it is still there.
    #[inline]
    pub(crate) fn take_back(&self, job: Job) -> bool {
        match self.deque.pop() {
            Some(top) if top == job => true,
            Some(other) => {
                self.deque.push(other);
                false
            }
            None => false,
        }
    }

    /// A new task: run now by a single worker, offered to everybody by one of several.
    pub(crate) fn launch(&self, job: Job) {
        if !self.run.depth_first {
            return self.push(job);
        }
        if self.nested.get() >= NESTED {
            self.run.fail(Error::Depth);
            // SAFETY: it is executed once, here. In a run that has failed, jobs only end.
            return unsafe { job.execute() };
        }
        self.nested.set(self.nested.get() + 1);
        self.start(job);
        self.nested.set(self.nested.get() - 1);
    }

    /// Runs a job on a stack of its own, until it ends or waits.
    pub(crate) fn start(&self, job: Job) {
        let spare = self.spare.borrow_mut().pop();
        let stack = match spare.map_or_else(|| self.run.stacks.make(), Ok) {
            Ok(stack) => stack,
            Err(error) => {
                self.run.fail_for_stacks(error);
                // SAFETY: whoever took the job from the deque executes it. In a run that is cancelled, jobs only end.
                unsafe { job.execute() };
                return;
            }
        };
        let slot = self.fibers.borrow_mut().number();
        let lowest = stack.lowest();
        let limit = lowest + self.run.stacks.usable() / 4;
        let worker: *const Worker = self;
        let fiber = Coroutine::with_stack(stack, move |yielder, ()| {
            // SAFETY: fibers end before their worker does, and stay on its thread.
            let worker = unsafe { &*worker };
            worker.enter(RunningTask {
                yielder,
                slot,
                limit,
                guard: lowest - page(),
                ..RunningTask::NOTHING
            });
            // SAFETY: as above: executed once, here.
            unsafe { job.execute() };
        });
        self.go(slot, fiber);
    }

    fn resume(&self, slot: u32) {
        let fiber = self.fibers.borrow_mut().take(slot);
        if let Some(fiber) = fiber {
            self.go(slot, fiber);
        }
    }

    /// Runs a fiber until it ends or waits; whoever calls this goes on then.
    fn go(&self, slot: u32, mut fiber: Fiber) {
        let caller = self.running.get();
        loop {
            match fiber.resume(()) {
                CoroutineResult::Return(()) => {
                    self.spare.borrow_mut().push(fiber.into_stack());
                    self.fibers.borrow_mut().remove(slot);
                    break;
                }
                CoroutineResult::Yield(wait) => {
                    self.fibers.borrow_mut().park(slot, fiber, wait);
                    // SAFETY: it is suspended.
                    if unsafe { wait.on.register(Waiter::new(self.index, slot)) } {
                        break;
                    }
                    let parked = self.fibers.borrow_mut().take(slot);
                    match parked {
                        Some(parked) => fiber = parked,
                        None => break,
                    }
                }
            }
        }
        self.enter(caller);
    }

    fn enter(&self, running: RunningTask) {
        self.running.set(running);
        GUARD.set(running.guard);
    }

    /// Suspends the current task. It may be resumed for nothing: the caller looks again.
    pub(crate) fn suspend(&self, on: On, at: Option<crate::fiber::Caller>) {
        let running = self.running.get();
        let task = self.task().map(|task| task.get().number);
        crate::par_for::give_away(self, running.chunk);
        // SAFETY: the yielder belongs to the fiber that this code runs on.
        unsafe { (*running.yielder).suspend(Wait { on, at, task }) };
        self.enter(running);
    }

    /// Waits for a latch.
    pub(crate) fn wait(&self, latch: &Latch) {
        while !latch.is_done() {
            self.suspend(On::Latch(latch), None);
        }
    }

    /// Waits for a latch, and meanwhile runs what an owner waits for as long as that is on top of the deque.
    pub(crate) fn wait_for_own(&self, latch: &Latch, owner: usize) {
        while !latch.is_done() {
            match self.deque.pop() {
                Some(job) if job.owner() == owner => match self.has_room() {
                    // SAFETY: we have taken it from the deque.
                    true => unsafe { job.execute() },
                    false => self.start(job),
                },
                other => {
                    if let Some(other) = other {
                        self.deque.push(other);
                    }
                    self.suspend(On::Latch(latch), None);
                }
            }
        }
    }

    /// Wakes a fiber.
    pub(crate) fn wake(&self, waiter: Waiter) {
        match waiter.worker() == self.index {
            true => self.make_ready(waiter.slot()),
            false => self.run.send(waiter),
        }
    }

    /// Wakes those who have waited for a promise. A single worker goes on with them at once
    /// (drdp-ecoop23, section 4.2).
    pub(crate) fn wake_all(&self, waiters: Vec<Waiter>) {
        for waiter in waiters {
            match self.run.depth_first {
                true => self.resume(waiter.slot()),
                false => self.wake(waiter),
            }
        }
    }

    /// Whether enough of the stack is left for another task.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        let here = 0u8;
        (&raw const here).addr() > self.running.get().limit
    }

    /// Calls `body` on a stack of its own.
    #[cold]
    pub(crate) fn on_new_stack<R>(&self, body: impl FnOnce() -> R) -> R {
        let task = self.running.get().task;
        let job = StackJob::new(|| {
            if self.cancelled_for_stacks() {
                cancel();
            }
            self.set_task(task);
            body()
        });
        if self.deep.get() * self.run.stacks.usable() > DEEP {
            self.run.fail(Error::Depth);
            cancel();
        }
        self.deep.set(self.deep.get() + 1);
        // SAFETY: it is executed on this thread, and we wait for it.
        self.start(unsafe { job.job() });
        self.wait(&job.latch);
        self.deep.set(self.deep.get() - 1);
        job.result().unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Whether this code runs on no fiber, or on one without room, because no more stacks were to be had.
    fn cancelled_for_stacks(&self) -> bool {
        self.run.is_cancelled() && !self.has_room()
    }

    /// The task that runs, in a run that is checked or recorded.
    #[inline]
    pub(crate) fn task(&self) -> Option<&Cell<TaskState>> {
        if !cfg!(feature = "check") {
            return None;
        }
        // SAFETY: whoever sets the pointer, around the task's code, resets it before the state goes away.
        unsafe { self.running.get().task.as_ref() }
    }

    fn set_task(&self, task: *const Cell<TaskState>) {
        self.running.set(RunningTask {
            task,
            ..self.running.get()
        });
    }

    /// Runs a part of a task's code as another task.
    pub(crate) fn as_task<R>(&self, state: &Cell<TaskState>, body: impl FnOnce() -> R) -> R {
        struct Reset<'w>(&'w Worker, *const Cell<TaskState>);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set_task(self.1);
            }
        }
        let reset = Reset(self, self.running.get().task);
        self.set_task(state);
        let result = body();
        drop(reset);
        result
    }

    /// The innermost part of a parallel loop on this fiber.
    pub(crate) fn chunk(&self) -> *const Chunk {
        self.running.get().chunk
    }

    /// Says which part of a parallel loop runs on this fiber.
    pub(crate) fn set_chunk(&self, chunk: *const Chunk) {
        let running = self.running.get();
        self.running.set(RunningTask { chunk, ..running });
    }

    /// Who is running: a worker's fiber.
    pub(crate) fn waiter(&self) -> Waiter {
        Waiter::new(self.index, self.running.get().slot)
    }
}
