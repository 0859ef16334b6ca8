//! One run: what its workers share, and how it begins and ends.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_deque::{Stealer, Worker as Deque};

use crate::error::{Cancellation, Error, WaitingTask, cancel, message, place};
use crate::fiber::{On, Wait};
use crate::finish::{Finish, close};
use crate::isolation::Isolation;
use crate::job::{Job, Payload, StackJob};
use crate::monitor::Monitor;
use crate::options::Options;
use crate::report::{Ending, Outcome, Report};
use crate::sleep::Sleep;
use crate::stack::Stacks;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::waiter::Waiter;
use crate::worker::Worker;

/// See the [module](self).
pub(crate) struct Run {
    pub(crate) stacks: Stacks,
    pub(crate) sleep: Sleep,
    pub(crate) stealers: Vec<Stealer<Job>>,
    /// For each worker, which of its fibers others have woken.
    inboxes: Vec<Mutex<Vec<u32>>>,
    pub(crate) done: AtomicBool,
    /// The run has failed: tasks that wait, or would begin, end instead.
    cancelled: AtomicBool,
    failure: Mutex<Option<Error>>,
    stuck: Mutex<Vec<Wait>>,
    /// One worker, which goes depth first.
    pub(crate) depth_first: bool,
    pub(crate) isolation: Isolation,
    pub(crate) monitor: Option<Monitor>,
    /// What waits for futures that no `finish` waits for.
    pub(crate) outermost: Finish,
}

impl Run {
    /// Runs a program.
    pub(crate) fn execute<R>(options: &Options, program: impl FnOnce() -> R) -> Outcome<R> {
        let workers = options.worker_count();
        let deques: Vec<Deque<Job>> = (0..workers).map(|_| Deque::new_lifo()).collect();
        let run = Arc::new(Run {
            stacks: Stacks::new(options.stack_size, options.guards_split),
            sleep: Sleep::new(workers),
            stealers: deques.iter().map(Deque::stealer).collect(),
            inboxes: (0..workers).map(|_| Mutex::default()).collect(),
            done: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            failure: Mutex::default(),
            stuck: Mutex::default(),
            depth_first: workers == 1,
            isolation: Isolation::default(),
            monitor: Monitor::new(options),
            outermost: Finish::default(),
        });
        let mut deques = (0..).zip(deques);
        let first = deques.next();
        let result = std::thread::scope(|scope| {
            for (index, deque) in deques {
                let of_worker = run.clone();
                let name = format!("deadheat-task {index}");
                let thread = std::thread::Builder::new().name(name);
                let started = thread.spawn_scoped(scope, move || {
                    Worker::scope(of_worker, index, deque, Worker::work);
                });
                if let Err(error) = started {
                    run.done.store(true, Ordering::Release);
                    run.sleep.wake_all();
                    return Err(Box::new(format!("no thread for a worker: {error}")) as Payload);
                }
            }
            match first {
                Some((index, deque)) => {
                    Worker::scope(run.clone(), index, deque, |worker| root(worker, program))
                }
                None => unreachable!("a run has a worker"),
            }
        });
        run.conclude(result)
    }

    fn conclude<R>(self: Arc<Run>, result: Result<R, Payload>) -> Outcome<R> {
        let failure = lock(&self.failure).take();
        let failure = match failure {
            Some(Error::Deadlock(_)) => Some(Error::Deadlock(self.waiting())),
            other => other,
        };
        let result = match (result, failure) {
            (Err(payload), failure) if !payload.is::<Cancellation>() => match failure {
                Some(failure @ Error::Unsupported { .. }) => Err(failure),
                _ => Err(Error::Panicked {
                    message: message(&payload),
                    payload,
                }),
            },
            (_, Some(failure)) => Err(failure),
            (Ok(value), None) => Ok(value),
            (Err(payload), None) => Err(Error::Panicked {
                message: message(&payload),
                payload,
            }),
        };
        let ending = match &result {
            Ok(_) => Ending::Complete,
            Err(Error::Deadlock(_)) => Ending::Deadlock,
            Err(_) => Ending::Cut,
        };
        let (report, written) = match &self.monitor {
            Some(monitor) => monitor.report(ending),
            None => (Report::unchecked(), Ok(())),
        };
        let result = match (result, written) {
            (Ok(_), Err(error)) => Err(error.into()),
            (result, _) => result,
        };
        Outcome { result, report }
    }

    fn waiting(&self) -> Vec<WaitingTask> {
        let stuck = lock(&self.stuck);
        let numbers: Vec<Option<u32>> = stuck.iter().map(|wait| wait.task).collect();
        let names = match &self.monitor {
            Some(monitor) => monitor.task_names(&numbers),
            None => vec![None; numbers.len()],
        };
        let waiting = stuck.iter().zip(names).map(|(wait, task)| WaitingTask {
            task,
            what: match wait.on {
                On::Promise(_, made) => format!("the promise made at {}", place(made)),
                On::Future(_, made) => format!("the future made at {}", place(made)),
                On::Isolation(_) => "another task to leave `isolated`".to_string(),
                On::Latch(_) => "tasks that it has started".to_string(),
            },
            at: wait.at.map(place).unwrap_or_default(),
        });
        let mut waiting: Vec<WaitingTask> = waiting.collect();
        waiting.sort_by(|a, b| (&a.task, &a.at).cmp(&(&b.task, &b.at)));
        waiting
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// The run fails: every task is to end. The first failure counts.
    pub(crate) fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.cancelled.store(true, Ordering::Release);
        self.sleep.wake_all();
    }

    pub(crate) fn fail_for_stacks(&self, error: io::Error) {
        self.fail(Error::Stacks(error));
    }

    /// Nothing can run any more.
    pub(crate) fn deadlock(&self) {
        if self.is_cancelled() {
            // Those that wait were unwound, and yet nothing runs: better to end than to hang.
            eprintln!("deadheat-task: tasks do not end after the run has failed; this is a bug");
            std::process::abort();
        }
        self.fail(Error::Deadlock(Vec::new()));
    }

    /// A task waited when the run failed.
    pub(crate) fn note_stuck(&self, wait: Wait) {
        lock(&self.stuck).push(wait);
    }

    /// A fiber of another worker need not wait any more.
    pub(crate) fn send(&self, waiter: Waiter) {
        let worker = waiter.worker() as usize;
        lock(&self.inboxes[worker]).push(waiter.slot());
        self.sleep.wake(worker);
    }

    pub(crate) fn has_mail(&self, worker: u32) -> bool {
        !lock(&self.inboxes[worker as usize]).is_empty()
    }

    pub(crate) fn mail(&self, worker: u32) -> Vec<u32> {
        std::mem::take(&mut *lock(&self.inboxes[worker as usize]))
    }
}

// SAFETY: what is waited for is only named, never followed, once its fiber has gone on.
#[allow(unsafe_code)]
unsafe impl Send for Wait {}

/// Runs the first task, and what that starts, to the end.
fn root<R>(worker: &Worker, program: impl FnOnce() -> R) -> Result<R, Payload> {
    let run = &worker.run;
    let job = StackJob::new(|| {
        let body = || {
            let result = catch_unwind(AssertUnwindSafe(program));
            let awaited = catch_unwind(AssertUnwindSafe(|| close(worker, &run.outermost)));
            match (result, awaited) {
                (Ok(value), Ok(())) => Ok(value),
                (Err(payload), Err(other)) if payload.is::<Cancellation>() => Err(other),
                (Err(payload), _) | (Ok(_), Err(payload)) => Err(payload),
            }
        };
        let result = match &run.monitor {
            None => body(),
            Some(monitor) => match monitor.main(&run.outermost) {
                Ok(main) => {
                    let result = worker.as_task(&main, body);
                    monitor.end_main(&main);
                    result
                }
                Err(error) => {
                    run.fail(error);
                    catch_unwind(|| cancel())
                }
            },
        };
        run.done.store(true, Ordering::Release);
        run.sleep.wake_all();
        result
    });
    // SAFETY: it is executed on this thread only, and has ended when the worker's loop ends: only it says that
    // the run is done.
    #[allow(unsafe_code)]
    worker.start(unsafe { job.job() });
    worker.work();
    job.result().and_then(|result| result)
}
