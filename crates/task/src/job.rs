//! A closure in a deque, as one pointer.
//!
//! Simple model: `Box<dyn FnOnce() + Send>` with a tag that says which `finish` waits for it.
//!
//! A job begins with a [`Header`], whose function knows the rest: so a deque holds single words. A
//! [`StackJob`] lies on the stack of who waits for it and costs no allocation; a [`HeapJob`] owns itself.

#![allow(unsafe_code)]

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::waiter::Latch;
use crate::worker::Worker;

/// What a job begins with.
#[repr(C)]
pub(crate) struct Header {
    execute: unsafe fn(*const Header),
    /// The address of what waits for it.
    owner: usize,
}

/// A job that is to be executed once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job(*const Header);

// SAFETY: whoever makes a job makes sure that its closure may go to another thread (`F: Send`).
unsafe impl Send for Job {}

impl Job {
    /// The address of what waits for it.
    #[inline]
    pub(crate) fn owner(self) -> usize {
        // SAFETY: a job is alive until it has been executed, and it is taken out of a deque once, by
        // whoever executes it.
        unsafe { (*self.0).owner }
    }

    /// Executes it. It does not unwind.
    ///
    /// # Safety
    /// Once only.
    #[inline]
    pub(crate) unsafe fn execute(self) {
        // SAFETY: as for `owner`.
        unsafe { ((*self.0).execute)(self.0) }
    }
}

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// A closure on the stack of who waits for its result.
#[repr(C)]
pub(crate) struct StackJob<F, R> {
    header: Header,
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<R, Payload>>>,
    pub(crate) latch: Latch,
}

impl<F: FnOnce() -> R, R> StackJob<F, R> {
    pub(crate) fn new(closure: F) -> StackJob<F, R> {
        StackJob {
            header: Header {
                execute: Self::execute,
                owner: 0,
            },
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            latch: Latch::default(),
        }
    }

    /// # Safety
    /// The job stays where it is until it has been executed, or taken back by [`StackJob::run`]. If another
    /// thread may execute it, `F` and `R` are `Send`.
    #[inline]
    pub(crate) unsafe fn job(&self) -> Job {
        Job(std::ptr::from_ref(self).cast())
    }

    /// Calls the closure here: nobody else has the job.
    ///
    /// # Safety
    /// Nobody else has executed it or will.
    #[inline]
    pub(crate) unsafe fn run(&self) -> R {
        // SAFETY: nobody else touches the closure.
        match unsafe { (*self.closure.get()).take() } {
            Some(closure) => closure(),
            None => unreachable!("a job is run once"),
        }
    }

    /// What the closure gave, after the latch was raised.
    pub(crate) fn result(&self) -> Result<R, Payload> {
        assert!(self.latch.is_done());
        // SAFETY: the latch was raised after the result was written, by who no longer touches it.
        match unsafe { (*self.result.get()).take() } {
            Some(result) => result,
            None => unreachable!("a job's result is there when its latch is raised"),
        }
    }

    unsafe fn execute(header: *const Header) {
        // SAFETY: `job` made the header's address from that of a job, which stays in place until the latch is
        // raised. Only whoever executes touches closure and result until then.
        unsafe {
            let this = header.cast::<Self>();
            let result = catch_unwind(AssertUnwindSafe(|| (*this).run()));
            *(*this).result.get() = Some(result);
            let waiter = (*this).latch.raise();
            if let Some(waiter) = waiter
                && let Some(worker) = Worker::current()
            {
                worker.wake(waiter);
            }
        }
    }
}

/// A closure that owns its place on the heap.
#[repr(C)]
pub(crate) struct HeapJob<F> {
    header: Header,
    closure: F,
}

impl<F: FnOnce()> HeapJob<F> {
    /// A job of a closure that does not unwind, for an owner's address.
    ///
    /// # Safety
    /// The job is executed before anything that the closure borrows goes away, and `F` is `Send` if another thread may
    /// execute it.
    pub(crate) unsafe fn job(closure: F, owner: usize) -> Job {
        let header = Header {
            execute: Self::execute,
            owner,
        };
        let job = Box::new(HeapJob { header, closure });
        Job(Box::into_raw(job).cast())
    }

    unsafe fn execute(header: *const Header) {
        // SAFETY: `job` made the header's address from a box's, and a job is executed once.
        let job = unsafe { Box::from_raw(header.cast_mut().cast::<Self>()) };
        (job.closure)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs that borrow from their maker's stack, executed by another thread; `make miri` watches.
    #[test]
    fn jobs_run_elsewhere_and_give_back_what_they_gave() {
        let words = [String::from("a"), String::from("few")];
        let stack = StackJob::new(|| words.len());
        let panics = StackJob::new(|| -> usize { panic!("{}", words[0]) });
        let mut longest = 0;
        let place = &mut longest;
        // SAFETY: all of them are executed below, once, before anything they borrow goes away.
        let (jobs, last) = unsafe {
            let last = HeapJob::job(
                || *place = words.iter().map(String::len).max().unwrap_or(0),
                3,
            );
            ([stack.job(), panics.job()], last)
        };
        assert_eq!(last.owner(), 3);
        std::thread::scope(|scope| {
            for job in jobs.into_iter().chain([last]) {
                // SAFETY: as above.
                scope.spawn(move || unsafe { job.execute() });
            }
        });
        assert_eq!(stack.result().unwrap(), 2);
        assert!(panics.result().is_err());
        assert_eq!(longest, 3);
    }

    #[test]
    fn a_job_taken_back_is_run_in_place() {
        let job = StackJob::new(|| 5);
        // SAFETY: nobody else has it.
        assert_eq!(unsafe { job.run() }, 5);
    }
}
