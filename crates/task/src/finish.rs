//! `finish`: a block that ends when all tasks started in it have.
//!
//! Simple model: `std::thread::scope`.
//!
//! A panic in a task is kept, the others go on, and the block panics with it at its end.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::error::{Cancellation, cancel};
use crate::future::{Future, Outlet};
use crate::job::{HeapJob, Job, Payload};
use crate::monitor::{FinishState, Kind};
use crate::sync::{Mutex, lock};
use crate::task_count::TaskCount;
use crate::worker::Worker;

/// What a block and its tasks share.
#[derive(Default)]
pub(crate) struct Finish {
    tasks: TaskCount,
    panic: Mutex<Option<Payload>>,
    pub(crate) state: FinishState,
}

impl Finish {
    /// Tells it from others that are there at the same time.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// A task ends. The block may be gone afterwards.
    pub(crate) fn end(&self, worker: &Worker, result: Result<(), Payload>) {
        if let Err(payload) = result {
            self.keep(payload);
        }
        if let Some(waiter) = self.tasks.end() {
            worker.wake(waiter);
        }
    }

    /// Keeps the first panic; one that the user has made, if there is any.
    fn keep(&self, payload: Payload) {
        let mut kept = lock(&self.panic);
        let replaced = match &*kept {
            Some(first) if !first.is::<Cancellation>() => Some(payload),
            _ => kept.replace(payload),
        };
        drop(kept);
        drop(replaced);
    }

    /// Starts a task that this block waits for.
    ///
    /// # Safety
    /// What `body` borrows outlives the wait for this block.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn launch(&self, worker: &Worker, body: impl FnOnce() + Send) {
        // SAFETY: the caller's promise.
        worker.launch(unsafe { self.job(body) });
    }

    /// The same, for others to take; not even a single worker runs it at once.
    ///
    /// # Safety
    /// As for `launch`.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn offer(&self, worker: &Worker, body: impl FnOnce() + Send) {
        // SAFETY: the caller's promise.
        worker.push(unsafe { self.job(body) });
    }

    #[allow(unsafe_code)]
    unsafe fn job(&self, body: impl FnOnce() + Send) -> Job {
        self.tasks.begin();
        let finish = Pointer(self);
        let closure = move || {
            // The whole of it, not the field: a field by itself could not be sent.
            let finish = finish;
            // SAFETY: the block waits until this task has called `end`.
            let finish = unsafe { &*finish.0 };
            let worker = Worker::of("spawn");
            let result = match worker.run.is_cancelled() {
                true => {
                    let dropped = catch_unwind(AssertUnwindSafe(|| drop(body)));
                    dropped.and_then(|()| catch_unwind(|| cancel()))
                }
                false => catch_unwind(AssertUnwindSafe(body)),
            };
            finish.end(worker, result);
        };
        // SAFETY: the caller's promise, and this block waits for the job.
        unsafe { HeapJob::job(closure, self.address()) }
    }
}

struct Pointer(*const Finish);

// SAFETY: a `Finish` is made of atomics and locks; who has the pointer counts as one that it waits for.
#[allow(unsafe_code)]
unsafe impl Send for Pointer {}

/// Waits for all tasks of a block; panics as they did.
pub(crate) fn close(worker: &Worker, finish: &Finish) {
    if let Some(latch) = finish.tasks.close() {
        worker.wait_for_own(latch, finish.address());
    }
    let panic = lock(&finish.panic).take();
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}

/// A block that tasks can be started in; see [`finish`].
pub struct Scope<'scope, 'env: 'scope> {
    finish: Finish,
    run: *const crate::run::Run,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

// SAFETY: a `Finish` is made of atomics and locks; the pointer to the run is only compared.
#[allow(unsafe_code)]
unsafe impl Sync for Scope<'_, '_> {}

/// Runs a block, and waits for every task that was started in it, by whomever.
///
/// If one of them panics, the others go on, and `finish` panics when all have ended.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::finish;
///
/// let mut squares = [1, 2, 3, 4];
/// finish(|s| {
///     for number in &mut squares {
///         s.spawn(move || *number *= *number);
///     }
/// });
/// assert_eq!(squares, [1, 4, 9, 16]);
/// # });
/// ```
#[track_caller]
pub fn finish<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let worker = Worker::of("finish");
    if !worker.has_room() {
        let at = std::panic::Location::caller();
        return worker.on_new_stack(|| block(worker, at, body));
    }
    block(worker, std::panic::Location::caller(), body)
}

fn block<'env, R>(
    worker: &Worker,
    at: crate::fiber::Caller,
    body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    let scope = Scope {
        finish: Finish::default(),
        run: Arc::as_ptr(&worker.run),
        scope: PhantomData,
        env: PhantomData,
    };
    let outer = worker.begin_finish(&scope.finish, at);
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let awaited = catch_unwind(AssertUnwindSafe(|| close(worker, &scope.finish)));
    worker.end_finish(&scope.finish, outer, at);
    match (result, awaited) {
        (Ok(value), Ok(())) => value,
        (Err(payload), Err(other)) if payload.is::<Cancellation>() => resume_unwind(other),
        (Err(payload), _) | (Ok(_), Err(payload)) => resume_unwind(payload),
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a task.
    ///
    /// ```
    /// # deadheat_task::run(|| {
    /// use deadheat_task::{Shared, finish};
    ///
    /// let (left, right) = (Shared::new(0), Shared::new(0));
    /// finish(|s| {
    ///     s.spawn(|| left.set(1));
    ///     s.spawn(|| right.set(2));
    /// });
    /// assert_eq!(left.get() + right.get(), 3);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn(&'scope self, body: impl FnOnce() + Send + 'scope) {
        let worker = self.worker("spawn");
        match worker.begin_task(&self.finish, Kind::Async, std::panic::Location::caller()) {
            // SAFETY: `finish` waits before anything of 'scope can go away.
            #[allow(unsafe_code)]
            None => unsafe { self.finish.launch(worker, body) },
            Some(mut child) => {
                let finish = Pointer(&self.finish);
                let body = move || {
                    let finish = finish;
                    // SAFETY: the block waits for this task.
                    #[allow(unsafe_code)]
                    let finish = unsafe { &*finish.0 };
                    let worker = Worker::of("spawn");
                    child.perform(worker, body, |child| {
                        worker.end_task(child, finish);
                    });
                };
                // SAFETY: as above.
                #[allow(unsafe_code)]
                unsafe {
                    self.finish.launch(worker, body)
                }
            }
        }
    }

    /// Starts a task whose result can be waited for, before the block ends, by whoever has the [`Future`].
    ///
    /// ```
    /// # deadheat_task::run(|| {
    /// use deadheat_task::finish;
    ///
    /// let words = ["a", "few", "words"];
    /// let letters = finish(|s| {
    ///     let first = s.future(|| words[0].len());
    ///     let rest = s.future(|| words[1..].iter().map(|word| word.len()).sum::<usize>());
    ///     first.get() + rest.get()
    /// });
    /// assert_eq!(letters, 9);
    /// # });
    /// ```
    #[track_caller]
    pub fn future<T: Send + Sync + 'scope>(
        &'scope self,
        body: impl FnOnce() -> T + Send + 'scope,
    ) -> Future<T> {
        let worker = self.worker("future");
        // SAFETY: `finish` waits before anything of 'scope can go away.
        #[allow(unsafe_code)]
        unsafe {
            launch_future(worker, &self.finish, body, std::panic::Location::caller())
        }
    }

    #[track_caller]
    fn worker(&self, construct: &str) -> &'static Worker {
        let worker = Worker::of(construct);
        assert!(
            Arc::as_ptr(&worker.run) == self.run,
            "`{construct}`: the scope belongs to another run"
        );
        worker
    }
}

/// Starts the task of a future.
///
/// # Safety
/// What `body` borrows outlives the wait for `finish`.
#[allow(unsafe_code)]
pub(crate) unsafe fn launch_future<T: Send + Sync>(
    worker: &Worker,
    finish: &Finish,
    body: impl FnOnce() -> T + Send,
    at: crate::fiber::Caller,
) -> Future<T> {
    let (future, outlet) = Future::pair(at);
    let child = worker.begin_task(finish, Kind::Future, at);
    let pointer = Pointer(finish);
    let task = move || {
        let pointer = pointer;
        let worker = Worker::of("future");
        let outlet: Outlet<T> = outlet;
        match child {
            None => outlet.put(worker, catch_unwind(AssertUnwindSafe(body)), None),
            Some(mut child) => {
                // SAFETY: the block waits for this task.
                let finish = unsafe { &*pointer.0 };
                let mut end = None;
                let result = catch_unwind(AssertUnwindSafe(|| {
                    child.perform(worker, body, |child| {
                        end = worker.end_task(child, finish);
                    })
                }));
                outlet.put(worker, result, end);
            }
        }
    };
    // SAFETY: the caller's promise.
    unsafe { finish.launch(worker, task) };
    future
}
