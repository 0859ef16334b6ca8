//! Two threads count what they have done. `unsafe` promises that nobody else does so at the same time; it is not kept.

use std::cell::UnsafeCell;
use std::thread;

struct Counter(UnsafeCell<u64>);

// SAFETY: a promise that `add` breaks.
unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self) {
        // SAFETY: wrong. Other threads may be here, too.
        unsafe { *self.0.get() += 1 }
    }

    fn get(&self) -> u64 {
        // SAFETY: only called when all threads have ended.
        unsafe { *self.0.get() }
    }
}

static DONE: Counter = Counter(UnsafeCell::new(0));

fn main() {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..1_000_000 {
                    DONE.add();
                }
            });
        }
    });
    println!("{} of 2000000", DONE.get());
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
    use std::thread;

    /// What the standard library orders is in order: here nothing races.
    #[test]
    fn threads_hand_over_what_they_made() {
        let (sender, receiver) = mpsc::channel();
        let total = Arc::new(Mutex::new(0));
        let names = Arc::new(RwLock::new(Vec::new()));
        let ready = Arc::new((Mutex::new(false), Condvar::new()));
        let threads: Vec<_> = (0..4u64)
            .map(|number| {
                let (sender, total) = (sender.clone(), total.clone());
                let (names, ready) = (names.clone(), ready.clone());
                thread::spawn(move || {
                    sender.send(vec![number; 10]).unwrap();
                    *total.lock().unwrap() += number;
                    names.write().unwrap().push(number.to_string());
                    *ready.0.lock().unwrap() = true;
                    ready.1.notify_all();
                })
            })
            .collect();
        drop(sender);
        let mut is_ready = ready.0.lock().unwrap();
        while !*is_ready {
            is_ready = ready.1.wait(is_ready).unwrap();
        }
        drop(is_ready);
        assert_eq!(receiver.iter().flatten().sum::<u64>(), 60);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!((*total.lock().unwrap(), names.read().unwrap().len()), (6, 4));
    }

    #[test]
    fn a_lost_update() {
        let counter = super::Counter(std::cell::UnsafeCell::new(0));
        thread::scope(|scope| {
            scope.spawn(|| counter.add());
            counter.add();
        });
    }
}
