//! `par_for`: every index of a range is a task.
//!
//! Simple model: a `finish` that spawns a task for each index.
//!
//! The tasks are not made one by one: a part of the range is a *chunk*, whose indices run one after another on one stack. A
//! chunk gives away half of its rest whenever the worker has nothing else to offer: so loops split as often as there are
//! thieves. If an index has to wait, all of the rest is given away before, since it may be what is waited
//! for. Checked runs keep every index a task of its own: what the checker says does not depend on chunks.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use crate::fiber::Caller;
use crate::finish::{Finish, close};
use crate::indices::Indices;
use crate::worker::Worker;

/// Calls `body` with each index, perhaps in parallel, and waits for all.
///
/// ```
/// # deadheat_task::run(|| {
/// use deadheat_task::{SharedSlice, par_for};
///
/// let squares = SharedSlice::new(vec![0; 100]);
/// par_for(0..100, |i| squares.set(i, i * i));
/// assert_eq!(squares.get(9), 81);
/// # });
/// ```
#[track_caller]
pub fn par_for(range: Range<usize>, body: impl Fn(usize) + Sync) {
    let at = Location::caller();
    let worker = Worker::of("par_for");
    if range.is_empty() {
        return;
    }
    if !worker.has_room() {
        return worker.on_new_stack(|| parallel_loop(worker, range, body, at));
    }
    parallel_loop(worker, range, body, at);
}

fn parallel_loop(worker: &Worker, range: Range<usize>, body: impl Fn(usize) + Sync, at: Caller) {
    let finish = Finish::default();
    let outer = worker.begin_finish(&finish, at);
    let (start, length) = (range.start, range.len());
    let parent = worker.task().map(|task| task.get());
    let index = |i: usize| match parent {
        None => body(i),
        Some(parent) => {
            let worker = Worker::of("par_for");
            if let Some(mut child) = worker.begin_index(parent, i - start, at) {
                let end = |child: &_| {
                    worker.end_task(child, &finish);
                };
                child.perform(worker, || body(i), end);
            }
        }
    };
    let parallel = Loop {
        finish: &finish,
        body: &index,
    };
    let first = catch_unwind(AssertUnwindSafe(|| parallel.run(worker, range)));
    let awaited = catch_unwind(AssertUnwindSafe(|| close(worker, &finish)));
    worker.end_finish(&finish, outer, at);
    worker.count_indices(length);
    for result in [first, awaited] {
        result.unwrap_or_else(|payload| resume_unwind(payload));
    }
}

/// A loop that is running.
struct Loop<'l> {
    finish: &'l Finish,
    body: &'l (dyn Fn(usize) + Sync),
}

/// A part of a loop, on the stack of who runs it.
pub(crate) struct Chunk {
    indices: Indices,
    /// The loop, whose lifetime is that of the chunk.
    of: *const Loop<'static>,
    /// The chunk that this one runs inside of, on the same stack.
    outer: *const Chunk,
}

impl Loop<'_> {
    fn run(&self, worker: &Worker, range: Range<usize>) {
        struct Reset<'w>(&'w Worker, *const Chunk);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set_chunk(self.1);
            }
        }
        let chunk = Chunk {
            indices: range.into(),
            of: std::ptr::from_ref(self).cast(),
            outer: worker.chunk(),
        };
        worker.set_chunk(&chunk);
        let reset = Reset(worker, chunk.outer);
        while let Some(i) = chunk.indices.take() {
            if !chunk.indices.is_empty() && !worker.run.depth_first && worker.all_taken() {
                self.give_away(worker, chunk.indices.give_half());
            }
            (self.body)(i);
        }
        drop(reset);
    }

    /// Offers a part of the range to others.
    fn give_away(&self, worker: &Worker, range: Range<usize>) {
        let parallel = Pointer(std::ptr::from_ref(self).cast());
        let task = move || {
            let parallel = parallel;
            // SAFETY: the loop waits for this task, which its `finish` counts.
            #[allow(unsafe_code)]
            let parallel: &Loop = unsafe { &*parallel.0 };
            parallel.run(Worker::of("par_for"), range);
        };
        // SAFETY: the same.
        #[allow(unsafe_code)]
        unsafe {
            self.finish.offer(worker, task);
        }
    }
}

struct Pointer(*const Loop<'static>);

// SAFETY: a loop is a reference to a `Finish`, which is `Sync`, and one to a closure that is.
#[allow(unsafe_code)]
unsafe impl Send for Pointer {}

/// The fiber that is in a chunk has to wait: what is left of this chunk and those around it goes to others.
pub(crate) fn give_away(worker: &Worker, mut chunk: *const Chunk) {
    // SAFETY: the chunks on a fiber's stack live while it runs them, and so do their loops.
    #[allow(unsafe_code)]
    while let Some(inner) = unsafe { chunk.as_ref() } {
        if !inner.indices.is_empty() {
            // SAFETY: as above.
            unsafe { &*inner.of }.give_away(worker, inner.indices.give_all());
        }
        chunk = inner.outer;
    }
}
