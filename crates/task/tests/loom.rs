//! The scheduler's own protocols under every interleaving that the memory model allows: waiting and waking (`src/waiter.rs`), sleeping
//! and deadlock (`src/sleep.rs`), blocks and what loops give away (`src/task_count.rs`, `src/indices.rs`), `isolated`
//! (`src/isolation.rs`). Run by `make test`, in a build of its own.

#![cfg(loom)]

use deadheat_task::indices::Indices;
use deadheat_task::isolation::{Entry, Isolation};
use deadheat_task::sleep::{Sleep, WakeReason};
use deadheat_task::task_count::TaskCount;
use deadheat_task::waiter::{Event, Latch, Waiter};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Condvar, Mutex, Notify};
use loom::thread;

#[test]
fn whoever_waits_on_a_latch_is_woken_or_told_that_it_is_too_late() {
    loom::model(|| {
        let latch = Arc::new(Latch::default());
        let result = Arc::new(AtomicUsize::new(0));
        let setter = thread::spawn({
            let (latch, result) = (latch.clone(), result.clone());
            move || {
                result.store(7, Ordering::Relaxed);
                latch.raise()
            }
        });
        let waiter = Waiter::new(3, 4);
        let registered = latch.register(waiter);
        if !registered {
            assert!(latch.is_done());
            assert_eq!(result.load(Ordering::Relaxed), 7);
        }
        let woken = setter.join().unwrap();
        assert_eq!(woken, registered.then_some(waiter));
        assert!(latch.is_done() && !latch.register(waiter));
    });
}

#[test]
fn everybody_who_waits_on_an_event_is_woken_once_or_told() {
    loom::model(|| {
        let event = Arc::new(Event::default());
        let registers = |slot| {
            let event = event.clone();
            thread::spawn(move || event.register(Waiter::new(0, slot)))
        };
        let waiters = [1, 2].map(registers);
        let mut woken: Vec<u32> = event.raise().into_iter().map(Waiter::slot).collect();
        woken.sort_unstable();
        let registered = waiters.map(|waiter| waiter.join().unwrap());
        let expected = [1, 2]
            .into_iter()
            .zip(registered)
            .filter(|(_, waits)| *waits);
        let expected: Vec<u32> = expected.map(|(slot, _)| slot).collect();
        assert_eq!(woken, expected);
    });
}

/// One worker sends another something and goes to sleep itself: the other gets it, and only then are all idle.
#[test]
fn no_wake_up_is_lost_and_all_are_idle_only_when_nothing_is_left() {
    loom::model(|| {
        let sleep = Arc::new(Sleep::new(2));
        let mail = Arc::new(Mutex::new(false));
        let received = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicBool::new(false));
        let receiver = thread::spawn({
            let (sleep, mail) = (sleep.clone(), mail.clone());
            let (received, done) = (received.clone(), done.clone());
            move || {
                loop {
                    if std::mem::take(&mut *mail.lock().unwrap()) {
                        received.store(true, Ordering::SeqCst);
                    }
                    if done.load(Ordering::SeqCst) {
                        return;
                    }
                    let has_work = || *mail.lock().unwrap() || done.load(Ordering::SeqCst);
                    if sleep.sleep(1, has_work) == WakeReason::AllIdle {
                        assert!(received.load(Ordering::SeqCst), "idle with mail unread");
                        done.store(true, Ordering::SeqCst);
                        sleep.wake(0);
                        return;
                    }
                }
            }
        });
        *mail.lock().unwrap() = true;
        sleep.wake(1);
        while !done.load(Ordering::SeqCst) {
            if sleep.sleep(0, || done.load(Ordering::SeqCst)) == WakeReason::AllIdle {
                assert!(received.load(Ordering::SeqCst), "idle with mail unread");
                done.store(true, Ordering::SeqCst);
                sleep.wake(1);
            }
        }
        receiver.join().unwrap();
        assert!(received.load(Ordering::SeqCst));
    });
}

/// A loop over some elements: whoever runs a part of it gives some away, each to a new thread.
struct Loop {
    tasks: TaskCount,
    /// How often each index was run.
    runs: Vec<UnsafeCell<u32>>,
    /// Rings when the block has been woken.
    bell: Notify,
}

impl Loop {
    /// Runs some indices. Before the first, half of the rest is given away; before the second all of it, as when an index
    /// has to wait.
    fn run(parallel: &Arc<Loop>, indices: &Indices) {
        let mut turn = 0;
        while let Some(i) = indices.take() {
            turn += 1;
            if !indices.is_empty() {
                let given = match turn {
                    1 => indices.give_half(),
                    _ => indices.give_all(),
                };
                let other = parallel.clone();
                parallel.tasks.begin();
                thread::spawn(move || {
                    Loop::run(&other, &Indices::from(given));
                    if other.tasks.end().is_some() {
                        other.bell.notify();
                    }
                });
            }
            // SAFETY: every index is run once: loom looks.
            #[allow(unsafe_code)]
            parallel.runs[i].with_mut(|runs| unsafe { *runs += 1 });
        }
    }
}

#[test]
fn a_loop_runs_every_index_once_and_goes_on_when_all_have_ended() {
    for count in [2, 3] {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let parallel = Arc::new(Loop {
                tasks: TaskCount::default(),
                runs: (0..count).map(|_| UnsafeCell::new(0)).collect(),
                bell: Notify::new(),
            });
            Loop::run(&parallel, &Indices::from(0..count));
            if let Some(latch) = parallel.tasks.close() {
                while !latch.is_done() {
                    if latch.register(Waiter::new(0, 0)) {
                        parallel.bell.wait();
                    }
                }
            }
            for runs in &parallel.runs {
                // SAFETY: all have ended: loom looks.
                #[allow(unsafe_code)]
                runs.with(|runs| assert_eq!(unsafe { *runs }, 1));
            }
        });
    }
}

/// What wakes a fiber that is suspended. Nothing else does: a fiber that is registered once is resumed once.
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn new() -> Bell {
        Bell {
            rung: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    fn ring(&self) {
        *self.rung.lock().unwrap() = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !std::mem::take(&mut *rung) {
            rung = self.changed.wait(rung).unwrap();
        }
    }
}

/// Three fibers enter, one of them twice: one at a time, and everybody gets in.
#[test]
fn one_fiber_at_a_time_is_isolated_and_nobody_waits_for_ever() {
    struct World {
        isolation: Isolation,
        inside: UnsafeCell<u32>,
        bells: [Bell; 3],
    }
    fn isolated(world: &World, slot: usize) {
        let fiber = Waiter::new(0, slot as u32);
        loop {
            match world.isolation.enter(fiber) {
                Entry::Entered => break,
                Entry::Inside => panic!("this fiber has left"),
                Entry::Wait => {
                    if world.isolation.register(fiber) {
                        world.bells[slot].wait();
                    }
                }
            }
        }
        assert_eq!(world.isolation.enter(fiber), Entry::Inside);
        // SAFETY: nobody else is inside: loom looks.
        #[allow(unsafe_code)]
        world.inside.with_mut(|inside| unsafe { *inside += 1 });
        if let Some(next) = world.isolation.leave() {
            world.bells[next.slot() as usize].ring();
        }
    }
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let world = Arc::new(World {
            isolation: Isolation::default(),
            inside: UnsafeCell::new(0),
            bells: [Bell::new(), Bell::new(), Bell::new()],
        });
        let others = [1, 2].map(|slot| {
            let world = world.clone();
            thread::spawn(move || isolated(&world, slot))
        });
        isolated(&world, 0);
        isolated(&world, 0);
        for other in others {
            other.join().unwrap();
        }
        // SAFETY: all have left.
        #[allow(unsafe_code)]
        world
            .inside
            .with(|inside| assert_eq!(unsafe { *inside }, 4));
    });
}
