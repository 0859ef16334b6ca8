//! What the constructs do: results, errors, and shapes that hurt, with one worker and with several.

#![cfg(not(loom))]

use std::sync::atomic::{AtomicUsize, Ordering};

use deadheat_task::{
    Check, Error, Options, Promise, Scope, Shared, SharedGrid, SharedSlice, finish, future,
    isolated, join, par_for, run,
};

/// Every way to run: workers and checks.
fn each_way(test: impl Fn(&Options)) {
    for workers in [1, 2, 4] {
        for check in [Check::Off, Check::Spd3, Check::Drdp] {
            test(&Options::new().workers(workers).check(check));
        }
    }
}

/// The ways that can order promises.
fn each_way_with_promises(test: impl Fn(&Options)) {
    for workers in [1, 2, 4] {
        for check in [Check::Off, Check::Drdp] {
            test(&Options::new().workers(workers).check(check));
        }
    }
}

#[test]
fn a_finish_waits_for_all_tasks_below_it() {
    each_way(|options| {
        let count = AtomicUsize::new(0);
        let outcome = options.run(|| {
            finish(|s| {
                for _ in 0..10 {
                    s.spawn(|| {
                        for _ in 0..10 {
                            s.spawn(|| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                }
            });
            count.load(Ordering::Relaxed)
        });
        assert_eq!(outcome.result.unwrap(), 100, "{options:?}");
    });
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn join_gives_both_results() {
    each_way(|options| {
        let outcome = options.run(|| fib(16));
        assert_eq!(outcome.result.unwrap(), 987);
        assert!(outcome.report.races.is_empty());
    });
}

#[test]
fn a_loop_calls_each_index_once() {
    each_way(|options| {
        let counts: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        let outcome = options.run(|| {
            par_for(0..1000, |i| {
                counts[i].fetch_add(1, Ordering::Relaxed);
            });
        });
        outcome.result.unwrap();
        assert!(
            counts
                .iter()
                .all(|count| count.load(Ordering::Relaxed) == 1)
        );
    });
}

#[test]
fn indices_of_a_loop_can_wait_for_each_other() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let promises: Vec<Promise<usize>> = (0..101).map(|_| Promise::new()).collect();
            promises[100].set(0);
            par_for(0..100, |i| promises[i].set(promises[i + 1].get() + 1));
            *promises[0].get()
        });
        assert_eq!(outcome.result.unwrap(), 100, "{options:?}");
    });
}

#[test]
fn tasks_wait_for_promises_and_futures_in_any_order() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let (first, second) = (Promise::new(), Promise::new());
            let sum = finish(|s| {
                let last = s.future(|| second.get() + 1);
                s.spawn(|| second.set(first.get() + 1));
                s.spawn(|| first.set(1));
                *last.get()
            });
            let free = future(move || first.get() * 10);
            (sum, free.take())
        });
        assert_eq!(outcome.result.unwrap(), (3, 10), "{options:?}");
    });
}

#[test]
fn a_task_started_in_an_outer_block_is_waited_for_there() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let x = Shared::new(0);
            let ready = Promise::new();
            finish(|outer| {
                finish(|_| {
                    outer.spawn(|| {
                        ready.get();
                        x.set(1);
                    });
                });
                // The inner block has not waited.
                ready.set(());
            });
            x.get()
        });
        assert_eq!(outcome.result.unwrap(), 1, "{options:?}");
        assert!(outcome.report.races.is_empty());
    });
}

#[test]
fn isolated_blocks_do_not_mix() {
    for workers in [1, 2, 4] {
        let sum = Options::new().workers(workers).run(|| {
            let sum = Shared::new(0);
            par_for(0..1000, |_| {
                isolated(|| isolated(|| sum.set(sum.get() + 1)))
            });
            sum.get()
        });
        assert_eq!(sum.result.unwrap(), 1000);
    }
}

#[test]
fn a_promise_set_twice_is_an_error_that_names_both_places() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let promise = Promise::new();
            promise.set(1);
            promise.set(2);
        });
        match outcome.result {
            Err(Error::Panicked { message, .. }) => {
                assert!(message.contains("was set before at"), "{message}");
                assert_eq!(message.matches("tests/tasks.rs").count(), 3, "{message}");
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_panic_in_a_task_ends_the_run_when_the_others_have_ended() {
    each_way(|options| {
        let count = AtomicUsize::new(0);
        let outcome = options.run(|| {
            finish(|s| {
                for i in 0..20 {
                    let count = &count;
                    s.spawn(move || {
                        assert!(i != 7, "seven");
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
        });
        match outcome.result {
            Err(Error::Panicked { message, .. }) => assert_eq!(message, "seven"),
            other => panic!("{other:?}"),
        }
        assert_eq!(count.load(Ordering::Relaxed), 19);
    });
}

#[test]
fn a_panic_that_leaves_others_waiting_is_told_and_not_the_wait() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let promise = Promise::<()>::new();
            finish(|s| {
                s.spawn(|| promise.get().to_owned());
                s.spawn(|| panic!("never set"));
            });
        });
        match outcome.result {
            Err(Error::Panicked { message, .. }) => assert_eq!(message, "never set"),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn who_waits_for_a_future_that_panicked_panics() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            finish(|s| {
                let answer = s.future(|| -> u64 { panic!("no answer") });
                *answer.get()
            })
        });
        match outcome.result {
            Err(Error::Panicked { message, .. }) => assert_eq!(message, "no answer"),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_deadlock_names_who_waits_for_what_and_where() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let (a, b) = (Promise::<u32>::new(), Promise::<u32>::new());
            finish(|s| {
                s.spawn(|| a.set(b.get() + 1));
                s.spawn(|| b.set(a.get() + 1));
            });
        });
        match outcome.result {
            Err(Error::Deadlock(waiting)) => {
                assert_eq!(waiting.len(), 2, "{waiting:?}");
                for waiting in &waiting {
                    assert!(waiting.at.contains("tests/tasks.rs"), "{waiting}");
                    assert!(waiting.what.contains("promise made at"), "{waiting}");
                }
                if outcome.report.engine == "drdp" {
                    assert_eq!(waiting[0].task.as_deref(), Some("main/1"));
                    assert_eq!(waiting[1].task.as_deref(), Some("main/2"));
                    assert!(outcome.report.guarantee.starts_with("deadlock under every"));
                }
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn what_borrows_is_dropped_before_a_failed_run_returns() {
    struct Guard<'a>(&'a AtomicUsize);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    each_way_with_promises(|options| {
        let dropped = AtomicUsize::new(0);
        let outcome = options.run(|| {
            let never = Promise::<()>::new();
            finish(|s| {
                for _ in 0..50 {
                    let guard = Guard(&dropped);
                    s.spawn(|| {
                        let guard = guard;
                        never.get();
                        drop(guard);
                    });
                }
            });
        });
        assert!(matches!(outcome.result, Err(Error::Deadlock(_))));
        assert_eq!(dropped.load(Ordering::Relaxed), 50);
    });
}

#[test]
fn an_engine_that_cannot_order_a_construct_names_one_that_can() {
    let spd3 = Options::new().workers(1).check(Check::Spd3);
    let outcome = spd3.run(|| Promise::new().set(1));
    let error = outcome.result.unwrap_err().to_string();
    assert!(
        error.contains("spd3 cannot order `promise`; Check::Drdp can"),
        "{error}"
    );
    let outcome = spd3.run(|| finish(|s| *s.future(|| 1).get()));
    let error = outcome.result.unwrap_err().to_string();
    assert!(error.contains("`future`; Check::Drdp can"), "{error}");
    let drdp = Options::new().workers(2).check(Check::Drdp);
    let error = drdp.run(|| isolated(|| 1)).result.unwrap_err().to_string();
    assert!(error.contains("deadheat analyze"), "{error}");
}

#[test]
fn constructs_outside_a_run_say_so() {
    let message = std::panic::catch_unwind(|| join(|| 1, || 2)).unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(message.contains("inside `deadheat_task::run`"), "{message}");
}

#[test]
fn runs_can_be_nested_and_repeated() {
    for _ in 0..20 {
        assert_eq!(run(|| run(|| fib(10)) + fib(10)), 110);
    }
}

#[test]
fn recursion_goes_deep() {
    fn down(n: u64) -> u64 {
        match n {
            0 => 0,
            _ => finish(|s| {
                let below = Shared::new(0);
                finish(|s| s.spawn(|| below.set(down(n - 1))));
                let _ = s;
                below.get() + 1
            }),
        }
    }
    each_way(|options| {
        assert_eq!(options.run(|| down(10_000)).result.unwrap(), 10_000);
    });
}

#[test]
fn deep_joins_and_deep_futures() {
    fn joins(n: u64) -> u64 {
        match n {
            0 => 0,
            _ => join(|| joins(n - 1), || 1).0 + 1,
        }
    }
    fn futures(n: u64) -> u64 {
        match n {
            0 => 0,
            _ => finish(|s| s.future(|| futures(n - 1)).get() + 1),
        }
    }
    each_way(|options| assert_eq!(options.run(|| joins(10_000)).result.unwrap(), 10_000));
    each_way_with_promises(|options| {
        assert_eq!(options.run(|| futures(10_000)).result.unwrap(), 10_000);
    });
}

#[test]
fn many_tasks_wait_at_once() {
    each_way_with_promises(|options| {
        let outcome = options.run(|| {
            let go = Promise::new();
            let count = AtomicUsize::new(0);
            finish(|s| {
                for _ in 0..20_000 {
                    s.spawn(|| {
                        count.fetch_add(*go.get(), Ordering::Relaxed);
                    });
                }
                s.spawn(|| go.set(1));
            });
            count.load(Ordering::Relaxed)
        });
        assert_eq!(outcome.result.unwrap(), 20_000);
    });
}

#[test]
fn views_that_conflict_are_refused_and_others_are_not() {
    each_way(|options| {
        let outcome = options.run(|| {
            let a = SharedSlice::new(vec![0; 10]);
            let mut left = a.write(..5);
            let right = a.read(5..);
            let again = a.read(7..);
            left[0] = right[0] + again[0] + 1;
            drop(left);
            assert_eq!(a.get(0), 1);
            let _write = a.write(4..6);
        });
        match outcome.result {
            Err(Error::Panicked { message, .. }) => {
                assert!(
                    message.contains("a write of [4..6] overlaps [5..10]"),
                    "{message}"
                );
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn blocks_of_a_matrix_are_apart() {
    each_way(|options| {
        let outcome = options.run(|| {
            let a = SharedGrid::new(8, 8, vec![0; 64]);
            par_for(0..4, |i| {
                let (r, c) = (i / 2 * 4, i % 2 * 4);
                let mut block = a.write(r..r + 4, c..c + 4);
                for row in 0..block.rows() {
                    block.row_mut(row).fill(i);
                }
            });
            [a.get(0, 0), a.get(3, 4), a.get(4, 3), a.get(7, 7)]
        });
        assert_eq!(outcome.result.unwrap(), [0, 1, 2, 3]);
        assert!(outcome.report.races.is_empty());
    });
}

#[test]
fn a_race_is_reported_with_both_places_and_how_the_tasks_came_to_be() {
    let mut identities = std::collections::BTreeSet::new();
    for workers in [1, 2] {
        for check in [Check::Spd3, Check::Drdp] {
            let outcome = Options::new().workers(workers).check(check).run(|| {
                let x = Shared::named("x", 0);
                finish(|s| {
                    s.spawn(|| finish(|s| s.spawn(|| x.set(1)))); // first
                    s.spawn(|| x.set(2)); // second
                });
            });
            let report = &outcome.report;
            assert_eq!(report.races.len(), 1, "{report}");
            let race = &report.races[0];
            // The same as every other source of deadheat describes it, the same in each run and by each engine.
            let found = &report.described(&())[0];
            assert_eq!(&*found.variable.name, race.variable);
            assert_eq!(found.sides[0].place.as_str(), race.first.loc);
            assert_eq!(&*found.sides[1].thread, race.second.task);
            identities.insert(found.identity);
            assert_eq!(
                (race.variable.as_str(), race.kind.as_str()),
                ("x", "write-write")
            );
            let mut tasks = [&race.first, &race.second].map(|access| &*access.task);
            tasks.sort_unstable();
            assert_eq!(tasks, ["main/1/1", "main/2"]);
            let deep = [&race.first, &race.second]
                .into_iter()
                .find(|a| a.task == "main/1/1");
            let deep = deep.unwrap();
            assert_eq!(deep.spawned.len(), 2);
            assert!(deep.loc.contains("tests/tasks.rs"));
            assert!(!report.deterministic);
            assert!(report.json().contains("\"task\": \"main/1/1\""));
        }
    }
    assert_eq!(identities.len(), 1);
}

#[test]
fn a_view_that_is_used_after_a_spawn_is_an_access_there() {
    // The task writes through its view after it has started a reader.
    for workers in [1, 2] {
        for check in [Check::Spd3, Check::Drdp] {
            let outcome = Options::new().workers(workers).check(check).run(|| {
                let a = SharedSlice::named("a", vec![0; 4]);
                finish(|s| {
                    let mut view = a.write(..2);
                    s.spawn(|| {
                        a.get(0);
                    });
                    view[0] = 1;
                });
            });
            // With the view alive, the reader is refused; else it is a race. It is never silent.
            let refused = outcome.result.is_err();
            assert!(
                refused || outcome.report.races.len() == 1,
                "{}",
                outcome.report
            );
            assert!(!outcome.report.deterministic);
        }
    }
}

#[test]
fn indices_of_a_loop_have_names_of_their_own() {
    let outcome = Options::new().workers(1).check(Check::Spd3).run(|| {
        let x = Shared::named("x", 0);
        finish(|s| s.spawn(|| ()));
        par_for(0..2, |_| x.set(1));
        finish(|s| {
            s.spawn(|| x.set(2));
            s.spawn(|| x.set(3));
        });
    });
    let races = outcome.report.races.iter();
    let tasks: Vec<_> = races
        .map(|race| (race.first.task.as_str(), race.second.task.as_str()))
        .collect();
    assert_eq!(tasks, [("main/2", "main/3"), ("main/4", "main/5")]);
}

#[test]
fn a_promise_set_twice_is_not_deterministic_even_if_the_error_is_ignored() {
    let outcome = Options::new().workers(1).check(Check::Drdp).run(|| {
        let first = Promise::new();
        finish(|s| {
            s.spawn(|| _ = first.try_set(1));
            s.spawn(|| _ = first.try_set(2));
        });
    });
    outcome.result.unwrap();
    assert!(!outcome.report.deterministic, "{}", outcome.report);
}

/// Not a test by itself: what [`an_overflow_is_told`] runs in a process of its own.
#[test]
#[ignore = "overflows its stack"]
fn overflow() {
    #[inline(never)]
    fn down(n: u64) -> u64 {
        let room = std::hint::black_box([n; 16]);
        if n == 0 { 0 } else { down(n - 1) + room[3] }
    }
    run(|| finish(|s| s.spawn(|| assert!(down(10_000_000) > 0))));
}

#[test]
fn an_overflow_is_told() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "overflow", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("a task has overflowed its stack"),
        "{errors}"
    );
}

#[test]
fn recursion_that_does_not_end_is_an_error() {
    fn forever(n: u64) -> u64 {
        let room = std::hint::black_box([n; 1000]);
        let (a, b) = join(|| forever(n + 1), || 1);
        a + b + room[3]
    }
    for workers in [1, 2] {
        let error = Options::new()
            .workers(workers)
            .run(|| forever(0))
            .result
            .unwrap_err();
        assert!(matches!(error, Error::Depth), "{error}");
        assert!(error.to_string().contains("does the recursion end?"));
    }
}

/// A single worker runs each task inside of the one that spawns it: 50,000 of them work, and there is an end to it.
#[test]
fn spawning_that_does_not_end_is_an_error_on_one_worker() {
    fn down<'scope>(s: &'scope Scope<'scope, '_>, left: u64) {
        if left > 0 {
            s.spawn(move || down(s, left - 1));
        }
    }
    let nest = |depth| {
        let options = Options::new().workers(1);
        options.run(|| finish(|s| down(s, depth))).result
    };
    nest(50_000).unwrap();
    let error = nest(u64::MAX).unwrap_err();
    assert!(matches!(error, Error::Depth), "{error}");
}

/// So many tasks wait at once, and are woken.
fn all_wait(options: &Options, tasks: usize) -> Result<usize, Error> {
    let outcome = options.run(|| {
        let go = Promise::new();
        let here: Vec<Promise<()>> = (0..tasks).map(|_| Promise::new()).collect();
        let count = AtomicUsize::new(0);
        finish(|s| {
            let (go, count) = (&go, &count);
            for here in &here {
                s.spawn(move || {
                    here.set(());
                    count.fetch_add(*go.get(), Ordering::Relaxed);
                });
            }
            for here in &here {
                here.get();
            }
            go.set(1);
        });
        count.load(Ordering::Relaxed)
    });
    outcome.result
}

/// Not a test by itself: what [`where_guards_split_mappings_too_many_stacks_are_one_error`] runs in a process of its own.
#[test]
#[ignore = "takes all mappings that the process may have"]
fn too_many_stacks() {
    for (workers, check) in [(1, Check::Off), (2, Check::Drdp)] {
        let options = Options::new().workers(workers).check(check).guards_split();
        match all_wait(&options, 40_000) {
            Err(error @ Error::Stacks(_)) => println!("error: {error}"),
            other => panic!("{workers} workers: {other:?}"),
        }
        assert_eq!(all_wait(&options, 1_000).unwrap(), 1_000, "and then again");
    }
}

/// Before Linux 6.13 a guard page costs a mapping, of which there are 65,530.
#[test]
fn where_guards_split_mappings_too_many_stacks_are_one_error() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "too_many_stacks", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let (printed, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{printed}{errors}");
    assert_eq!(printed.matches("error: no stack").count(), 2, "{printed}");
    assert!(printed.contains("vm.max_map_count"), "{printed}");
    assert_eq!(errors, "", "nothing else is said");
}
