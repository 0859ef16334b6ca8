//! The scheduler's own protocols under every interleaving that the memory model allows: waiting and waking (`src/waiter.rs`), sleeping
//! and deadlock (`src/sleep.rs`). Run by `make test`, in a build of its own.

#![cfg(loom)]

use deadheat_task::sleep::{Sleep, Waking};
use deadheat_task::waiter::{Event, Latch, Waiter};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
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
                    if sleep.sleep(1, has_work) == Waking::AllIdle {
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
            if sleep.sleep(0, || done.load(Ordering::SeqCst)) == Waking::AllIdle {
                assert!(received.load(Ordering::SeqCst), "idle with mail unread");
                done.store(true, Ordering::SeqCst);
                sleep.wake(1);
            }
        }
        receiver.join().unwrap();
        assert!(received.load(Ordering::SeqCst));
    });
}
