//! A recorded execution of `async` and `finish`, run again by several threads at once under SPD3.
//!
//! Each strand does its own events in its own order and waits where it waited; everything else is up
//! to the threads. So this is another execution with the same graph, and SPD3 must say the same
//! about it. It is how the engine is tested and measured where it will be used: in parallel.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use deadheat_model::{Execution, Location, Op, Strand};
use deadheat_online::Shadow;
use deadheat_online::spd3::{Cell, Worker};
use deadheat_order::{Full, Place, Tree};

/// Runs an execution again on so many threads; gives the locations that race. `chance` gives a number
/// below the one it is given: it decides which strand goes on and who is held up, and need not be
/// random.
pub fn racy_locations(
    execution: &Execution,
    threads: usize,
    chance: impl Fn(usize) -> usize + Sync,
) -> Result<BTreeSet<Location>, Full> {
    let tree = Tree::new();
    let main = Job {
        strand: Strand::MAIN,
        position: 0,
        place: tree.root()?,
        finishes: Vec::new(),
    };
    let run = ParallelRun {
        execution,
        by_strand: by_strand(execution),
        tree,
        shadow: Shadow::default(),
        chance,
        queue: Mutex::new(Queue {
            ready: vec![main],
            busy: 0,
        }),
        changed: Condvar::new(),
        racy: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| run.work())).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    Ok(run
        .racy
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner))
}

/// The indices of each strand's events, by the strand's number.
fn by_strand(execution: &Execution) -> Vec<Vec<usize>> {
    let mut indices: Vec<Vec<usize>> = Vec::new();
    for (index, event) in execution.events.iter().enumerate() {
        let strand = event.strand().index();
        if strand >= indices.len() {
            indices.resize(strand + 1, Vec::new());
        }
        indices[strand].push(index);
    }
    indices
}

/// A strand that can go on.
struct Job {
    strand: Strand,
    /// How many of its events are behind.
    position: usize,
    place: Place,
    /// The finishes it has open, innermost last, behind the one it was started in.
    finishes: Vec<Arc<Mutex<Finish>>>,
}

/// A `finish` that is open.
#[derive(Default)]
struct Finish {
    /// How many tasks inside have not ended.
    running: usize,
    /// Its owner, if that waits.
    waiting: Option<Job>,
}

struct Queue {
    ready: Vec<Job>,
    /// How many threads run a job, and may make others ready.
    busy: usize,
}

struct ParallelRun<'e, F> {
    execution: &'e Execution,
    /// The indices of each strand's events.
    by_strand: Vec<Vec<usize>>,
    tree: Tree,
    shadow: Shadow<Cell>,
    chance: F,
    queue: Mutex<Queue>,
    changed: Condvar,
    racy: Mutex<BTreeSet<Location>>,
}

impl<F: Fn(usize) -> usize + Sync> ParallelRun<'_, F> {
    fn work(&self) -> Result<(), Full> {
        let mut worker = Worker::default();
        while let Some(job) = self.take() {
            let ran = self.run(job, &mut worker);
            let mut queue = lock(&self.queue);
            queue.busy -= 1;
            if ran.is_err() {
                // Nobody can go on usefully.
                queue.ready.clear();
            }
            drop(queue);
            self.changed.notify_all();
            ran?;
        }
        Ok(())
    }

    /// A job to run; none when there will be no more.
    fn take(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if !queue.ready.is_empty() {
                queue.busy += 1;
                let chosen = (self.chance)(queue.ready.len());
                return Some(queue.ready.swap_remove(chosen));
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn make_ready(&self, job: Job) {
        lock(&self.queue).ready.push(job);
        self.changed.notify_one();
    }

    /// Runs a strand until it ends or has to wait.
    fn run(&self, mut job: Job, worker: &mut Worker) -> Result<(), Full> {
        let own = self.by_strand.get(job.strand.index());
        while let Some(&index) = own.and_then(|own| own.get(job.position)) {
            job.position += 1;
            let event = &self.execution.events[index];
            if let Some(access) = event.access() {
                self.hold_up();
                let location = access.location;
                let cell = || self.shadow.cell(location);
                let step = job.place.step();
                worker.access(&self.tree, step, location, access.kind, cell, |_| {
                    lock(&self.racy).insert(location);
                });
                continue;
            }
            match event.op() {
                Op::Async(child) => {
                    let innermost = job.finishes.last().cloned();
                    if let Some(finish) = &innermost {
                        lock(finish).running += 1;
                    }
                    self.make_ready(Job {
                        strand: child,
                        position: 0,
                        place: self.tree.spawn(&mut job.place)?,
                        finishes: innermost.into_iter().collect(),
                    });
                }
                Op::FinishBegin(_) => {
                    self.tree.begin_finish(&mut job.place)?;
                    job.finishes.push(Arc::default());
                }
                Op::FinishEnd(_) => {
                    if let Some(finish) = job.finishes.last().cloned() {
                        let mut finish = lock(&finish);
                        if finish.running > 0 {
                            job.position -= 1;
                            finish.waiting = Some(job);
                            return Ok(());
                        }
                    }
                    job.finishes.pop();
                    self.tree.end_finish(&mut job.place);
                }
                Op::End => {
                    if let (Some(finish), true) = (job.finishes.first(), job.strand != Strand::MAIN)
                    {
                        let mut finish = lock(finish);
                        finish.running -= 1;
                        if finish.running == 0
                            && let Some(owner) = finish.waiting.take()
                        {
                            drop(finish);
                            self.make_ready(owner);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn hold_up(&self) {
        for _ in 0..(self.chance)(100) {
            std::hint::spin_loop();
        }
        if (self.chance)(16) == 15 {
            std::thread::yield_now();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
