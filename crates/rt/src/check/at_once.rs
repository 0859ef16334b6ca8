//! Threads of the machine that access the same words at the same time, through the entry points that programs use.
//!
//! What is tested is that words change as one and lists are whoever's they are: no access is lost, and none is taken for another.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use deadheat_model::Strand;
use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Kind;
use deadheat_order::Time;

use crate::check::access::{access, atomic_access};
use crate::check::against_definition::{bytes, take_reported};
use crate::check::range::range;
use crate::order::thread::enter;
use crate::order::{sync, threads};

/// Where nobody else reads or writes: what is accessed, and what only one thread releases to.
const MEMORY: usize = 0x2100_0000_0000;
const PRIVATE: usize = 0x2200_0000_0000;

/// Runs so many threads that know nothing of each other: all have begun before any goes on.
fn in_threads<T: Send>(count: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let begun = Barrier::new(count);
    std::thread::scope(|scope| {
        let running = (0..count).map(|number| {
            let (begun, run) = (&begun, &run);
            scope.spawn(move || {
                drop(enter());
                begun.wait();
                let result = run(number);
                // None may learn what another has done, as the next one to begin in its slot would.
                begun.wait();
                threads::end(enter().expect("a thread that is looked at"));
                result
            })
        });
        let running: Vec<_> = running.collect();
        let join = |thread: std::thread::ScopedJoinHandle<T>| thread.join().unwrap();
        running.into_iter().map(join).collect()
    })
}

/// Who the running thread is, and its time.
fn now() -> (Strand, Time) {
    let entered = enter().expect("a thread that is looked at");
    let timeline = &entered.thread().timeline;
    (timeline.slot(), timeline.now())
}

/// Any access to one or both of the two bytes that are the thread's own.
fn access_own(rng: &mut fastrand::Rng, own: usize) {
    let pc = 0x40_0000 + rng.usize(..24) * 4;
    let (address, write) = (own + rng.usize(..2), rng.bool());
    match (rng.u32(..8), write) {
        (0, _) => atomic_access(address, 1, write, pc),
        (1, _) => {
            let kind = Kind {
                write,
                atomic: false,
            };
            range(own, 2, kind, AccessCause::Range, pc);
        }
        (2, false) => access::<1, false>(own, pc),
        (2, true) => access::<1, true>(own, pc),
        (_, false) => access::<0, false>(address, pc),
        (_, true) => access::<0, true>(address, pc),
    }
}

/// Four threads have two bytes each of a few words. Who writes these words in the end races with the last access of each.
#[test]
fn what_threads_do_to_bytes_of_their_own_is_all_known_in_the_end() {
    const THREADS: usize = 4;
    const WORDS: usize = 3;
    const ROUNDS: usize = 3_000;
    let turn = Barrier::new(THREADS + 1);
    let word = |round: usize, word: usize| MEMORY + (round * WORDS + word) * 8;
    // By thread and round: who it was, and when at the earliest it last wrote each word, and when at the latest.
    let wrote = in_threads(THREADS + 1, |thread| {
        let mut rng = fastrand::Rng::with_seed(thread as u64);
        let mut wrote = Vec::new();
        let mut races = Vec::new();
        for round in 0..ROUNDS {
            turn.wait();
            let mut times = [(now(), now()); WORDS];
            if thread < THREADS {
                let own = |at: usize| word(round, at) + thread * 2;
                for _ in 0..200 {
                    let at = own(rng.usize(..WORDS));
                    access_own(&mut rng, at);
                    if rng.u32(..8) == 0 {
                        sync::release(PRIVATE + thread * 64, 0x60_0000);
                    }
                }
                sync::release(PRIVATE + thread * 64, 0x60_0000);
                for at in (0..WORDS).map(|at| (at + thread) % WORDS) {
                    let before = now();
                    access::<1, true>(own(at), 0x50_0000);
                    times[at] = (before, now());
                }
            }
            turn.wait();
            if thread == THREADS {
                for at in 0..WORDS {
                    access::<3, true>(word(round, at), 0x70_0000);
                }
            }
            wrote.push(times);
            races.push(take_reported());
        }
        (wrote, races)
    });
    let (own, last) = wrote.split_at(THREADS);
    for round in 0..ROUNDS {
        let made_up = own.iter().find(|(_, races)| !races[round].is_empty());
        assert!(made_up.is_none(), "{made_up:?} in round {round}");
        for (thread, (wrote, _)) in own.iter().enumerate() {
            for (at, ((slot, earliest), (_, latest))) in wrote[round].iter().enumerate() {
                for byte in [0, 1].map(|byte| word(round, at) + thread * 2 + byte) {
                    let found = last[0].1[round].iter().any(|race| {
                        bytes(race).any(|racy| racy == byte)
                            && race.first.slot() == *slot
                            && (*earliest..=*latest).contains(&race.first.time())
                    });
                    assert!(found, "the last write to {byte:x} in round {round} is lost");
                }
            }
        }
    }
}

#[test]
fn two_writes_at_once_are_reported_by_one_of_them_at_least() {
    const ROUNDS: usize = 100_000;
    let arrived = AtomicUsize::new(0);
    let found = in_threads(2, |_| {
        let found = (0..ROUNDS).map(|round| {
            arrived.fetch_add(1, Ordering::Relaxed);
            let mut waited = 0;
            while arrived.load(Ordering::Relaxed) < (round + 1) * 2 {
                // Both are to go on at the same moment; with one processor the other one has to run first.
                match waited % 200 {
                    199 => std::thread::yield_now(),
                    _ => std::hint::spin_loop(),
                }
                waited += 1;
            }
            let address = MEMORY + (1 << 20) + round * 8;
            access::<0, true>(address + 3, 0x40_0000);
            take_reported()
                .iter()
                .flat_map(bytes)
                .any(|byte| byte == address + 3)
        });
        found.collect::<Vec<_>>()
    });
    let missed = (0..ROUNDS).find(|&round| !found[0][round] && !found[1][round]);
    assert_eq!(missed, None);
}
