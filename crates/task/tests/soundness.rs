//! What is sound without any stack being switched: memory on loan, promises, latches, sleep, between plain threads. `make miri` runs
//! this under Miri, which cannot switch stacks; `make test` runs it as it is.

#![cfg(not(loom))]
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use deadheat_task::sleep::{Sleep, WakeReason};
use deadheat_task::waiter::{Event, Latch, Waiter};
use deadheat_task::{Shared, SharedGrid, SharedSlice};

/// How often threads do it.
const TIMES: usize = if cfg!(miri) { 10 } else { 2_000 };

#[test]
fn views_of_neighbours_are_written_at_the_same_time() {
    let a = SharedSlice::new(vec![0; 12]);
    thread::scope(|scope| {
        for part in 0..3 {
            let a = &a;
            scope.spawn(move || {
                for _ in 0..TIMES {
                    let mut view = a.write(4 * part..4 * part + 4);
                    view.iter_mut().for_each(|x| *x += 1);
                    let sum: usize = view.iter().sum();
                    assert_eq!(sum % 4, 0);
                }
            });
        }
    });
    assert_eq!(a.into_vec(), vec![TIMES; 12]);
}

/// A view of a block and one of the columns beside it lie between each other in memory.
#[test]
fn views_of_blocks_side_by_side_are_written_at_the_same_time() {
    let grid = SharedGrid::new(4, 6, vec![0; 24]);
    thread::scope(|scope| {
        for part in 0..2 {
            let grid = &grid;
            scope.spawn(move || {
                for _ in 0..TIMES {
                    let mut block = grid.write(.., 3 * part..3 * part + 3);
                    for row in 0..block.rows() {
                        block.row_mut(row).iter_mut().for_each(|x| *x += row);
                    }
                }
            });
        }
    });
    for row in 0..4 {
        assert_eq!(*grid.read_row(row), [row * TIMES; 6]);
    }
}

#[test]
fn many_read_what_nobody_writes_and_who_would_write_is_refused() {
    let a = SharedSlice::new(vec![String::from("a"), String::from("b")]);
    let views = [a.read(..), a.read(0..1)];
    thread::scope(|scope| {
        for view in &views {
            scope.spawn(|| assert_eq!(view[0], "a"));
        }
        let refused = scope.spawn(|| a.set(1, String::new())).join();
        assert!(refused.is_err());
    });
    drop(views);
    a.set(1, String::from("c"));
    assert_eq!(a.into_vec(), ["a", "c"]);
}

#[test]
fn single_elements_are_written_and_read_by_all() {
    let x = Shared::new(0usize);
    let a = SharedSlice::new(vec![0usize; 3]);
    thread::scope(|scope| {
        for number in 1..=3 {
            let (x, a) = (&x, &a);
            scope.spawn(move || {
                for turn in 0..TIMES {
                    x.set(number);
                    a.set(turn % 3, number);
                    assert!((1..=3).contains(&x.get()) && a.get(turn % 3) <= 3);
                }
            });
        }
    });
}

#[test]
fn what_was_done_before_a_latch_or_an_event_is_raised_is_seen_after() {
    for _ in 0..TIMES {
        let (latch, event) = (Latch::default(), Event::default());
        let mut result = 0;
        let place = Pointer(&raw mut result);
        thread::scope(|scope| {
            let (latch, event) = (&latch, &event);
            scope.spawn(move || {
                let place = place;
                // SAFETY: nobody looks before the latch is raised, and the variable outlives the scope.
                unsafe { *place.0 = 7 };
                latch.raise();
                event.raise();
            });
            let waiter = Waiter::new(0, 0);
            while !latch.is_done() {
                latch.register(waiter);
                thread::yield_now();
            }
            // SAFETY: it was written before the latch was raised.
            assert_eq!(unsafe { *place.0 }, 7);
            while event.register(waiter) {
                thread::yield_now();
            }
            assert!(event.is_done());
        });
    }
}

#[derive(Clone, Copy)]
struct Pointer(*mut i32);

// SAFETY: who uses it keeps accesses apart.
unsafe impl Send for Pointer {}

/// Workers pass a ball; each sleeps until it has it. In the end all are idle, once.
#[test]
fn who_sleeps_is_woken_until_nothing_is_left() {
    const WORKERS: usize = 3;
    let sleep = Arc::new(Sleep::new(WORKERS));
    let mail: Arc<Vec<Mutex<Vec<usize>>>> =
        Arc::new((0..WORKERS).map(|_| Mutex::default()).collect());
    let (passed, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    mail[0].lock().unwrap().push(TIMES);
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (sleep, mail, passed, done) = (&sleep, &mail, &passed, &done);
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let ball = mail[worker].lock().unwrap().pop();
                    if let Some(left) = ball {
                        passed.fetch_add(1, Ordering::SeqCst);
                        if left > 0 {
                            let next = (worker + 1) % WORKERS;
                            mail[next].lock().unwrap().push(left - 1);
                            sleep.wake(next);
                        }
                        continue;
                    }
                    let has_work =
                        || done.load(Ordering::SeqCst) || !mail[worker].lock().unwrap().is_empty();
                    if sleep.sleep(worker, has_work) == WakeReason::AllIdle {
                        assert_eq!(passed.load(Ordering::SeqCst), TIMES + 1, "nothing is lost");
                        done.store(true, Ordering::SeqCst);
                        sleep.wake_all();
                    }
                }
            });
        }
    });
    assert_eq!(passed.into_inner(), TIMES + 1);
}
