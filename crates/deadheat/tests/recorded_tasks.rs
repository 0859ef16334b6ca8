//! What `deadheat-task` records is a trace as any other: `analyze` and `explain` read it, and say what the library said.

use deadheat::{AnalyzeOptions, ExplainOptions, analyze, explain, trace};
use deadheat_task::{Check, Options, Promise, Shared, SharedSlice, finish, isolated, par_for};

/// Runs a program checked and recorded; the engine that `analyze` chose, and the variables that it says race.
fn recorded(check: Check, workers: usize, program: impl FnOnce()) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.dht");
    let options = Options::new().check(check).workers(workers).record(&path);
    let outcome = options.run(program);
    outcome.result.unwrap();
    let source = trace::open(&path).unwrap();
    let analysis = analyze(&source, &AnalyzeOptions::default(), &|_| {}).unwrap();
    assert!(analysis.failures.is_empty());
    let report = &analysis.reports[0];
    let mut variables: Vec<String> = report
        .races
        .iter()
        .map(|race| race.variable.name.to_string())
        .collect();
    variables.sort();
    variables.dedup();
    if check != Check::Off {
        let mut said: Vec<String> = outcome
            .report
            .races
            .iter()
            .map(|race| race.variable.clone())
            .collect();
        said.sort();
        said.dedup();
        assert_eq!(said, variables);
        let explained = explain(&source, &ExplainOptions::default(), &|_| {}).unwrap();
        assert_eq!(explained.report.races.is_empty(), variables.is_empty());
    }
    (report.engine.to_string(), variables)
}

#[test]
fn a_race_of_tasks_is_in_the_trace() {
    for workers in [1, 2] {
        let (engine, variables) = recorded(Check::Spd3, workers, || {
            let (x, y) = (Shared::named("x", 0), Shared::named("y", 0));
            finish(|s| {
                s.spawn(|| x.set(1));
                s.spawn(|| x.set(y.get()));
            });
            y.set(x.get());
        });
        assert_eq!(
            (engine.as_str(), variables),
            ("spd3", vec!["x".to_string()])
        );
    }
}

#[test]
fn promises_and_futures_order_what_they_order() {
    for workers in [1, 2] {
        let (engine, variables) = recorded(Check::Drdp, workers, || {
            let a = SharedSlice::named("a", vec![0; 3]);
            let ready = Promise::new();
            finish(|s| {
                s.spawn(|| {
                    ready.get();
                    a.set(0, a.get(0) + 1);
                    a.set(1, 1);
                });
                let future = s.future(|| a.set(2, 1));
                a.set(0, 1);
                ready.set(());
                future.get();
                a.set(2, a.get(2) + 1);
                a.set(1, 2);
            });
        });
        assert_eq!(
            (engine.as_str(), variables),
            ("drdp", vec!["a[1]".to_string()])
        );
    }
}

#[test]
fn what_is_isolated_is_judged_from_the_trace() {
    for workers in [1, 2] {
        let (engine, variables) = recorded(Check::Off, workers, || {
            let (sum, last) = (Shared::named("sum", 0), Shared::named("last", 0));
            par_for(0..4, |i| {
                isolated(|| sum.set(sum.get() + i));
                last.set(i);
            });
        });
        assert_eq!(
            (engine.as_str(), variables),
            ("m2", vec!["last".to_string()])
        );
    }
}
