//! Work that is stopped at any moment keeps what it has found, and claims nothing of the rest.

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat::model::StopToken;
use deadheat::{
    AnalyzeOptions, CheckOptions, ENGINES, Engine, EngineChoice, Step, Verdict, analyze, check,
    engine_named, trace,
};
use deadheat_testing::Trials;
use deadheat_testing::traces::{Shape, random_trace};

/// A flag for this call alone.
fn flag() -> &'static AtomicBool {
    Box::leak(Box::default())
}

/// Two threads that write many variables, each at two places of its own.
fn racy(folder: &std::path::Path) -> trace::Source {
    let path = folder.join("racy.std");
    let line = |n: u32| format!("A|w(v{n})|a{n}\nB|w(v{n})|b{n}\n");
    std::fs::write(&path, (0..300).map(line).collect::<String>()).unwrap();
    trace::open(path).unwrap()
}

#[test]
fn races_found_before_the_search_was_stopped_are_kept_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let source = racy(folder.path());
    let asked = flag();
    let options = AnalyzeOptions {
        engines: EngineChoice::These(vec![engine_named("m2").unwrap()]),
        stop: StopToken::when(asked),
        ..AnalyzeOptions::default()
    };
    // The search has a unit for each of the 300 pairs of places; the passes count in thousands.
    let after_ten = |step: Step<'_>| {
        if let Step::Judging("m2", 10.., 300) = step {
            asked.store(true, Ordering::Relaxed);
        }
    };
    let analysis = analyze(&source, &options, &after_ten).unwrap();
    let report = &analysis.reports[0];
    assert_eq!(report.stopped.as_deref(), Some("interrupted"));
    // What the search has not come to, the recorded order still shows.
    assert_eq!(report.races.len(), 300);
    assert!(report.races.iter().all(|race| race.proof.is_some()));
    assert!(!report.complete && analysis.refused.is_empty());
    let guarantee = report.guarantee();
    assert!(
        guarantee.starts_with("every race shown can happen")
            && guarantee.contains("m2 was stopped before everything was tried (interrupted)"),
        "{guarantee}"
    );
}

/// Whatever pass or search the stop comes in: what is reported is a race of the whole trace, and nothing is refused.
#[test]
fn what_is_found_before_any_stop_is_found_without_one() {
    let mut cut = 0;
    let trials = Trials::new(78, 60);
    let engines = ENGINES.iter().filter(|engine| engine.orders_everything());
    let engines: Vec<&Engine> = engines.copied().collect();
    for trial in &trials {
        let mut rng = trial.rng();
        let shape = Shape::random(&mut rng, 300);
        let execution = random_trace(&mut rng, &shape);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.dht");
        trace::save(&path, &execution).unwrap();
        let source = trace::open(path).unwrap();
        let engine = engines[rng.usize(..engines.len())];
        let mut options = AnalyzeOptions {
            engines: EngineChoice::These(vec![engine]),
            listing: deadheat::Listing::Pairs,
            ..AnalyzeOptions::default()
        };
        let whole = analyze(&source, &options, &|_| {}).unwrap();
        let asked = flag();
        options.stop = StopToken::when(asked);
        let (steps, after) = (std::sync::atomic::AtomicU32::new(0), rng.u32(..12));
        let stopped = analyze(&source, &options, &|_| {
            if steps.fetch_add(1, Ordering::Relaxed) >= after {
                asked.store(true, Ordering::Relaxed);
            }
        });
        // There may be no time to read it.
        let Ok(stopped) = stopped else { continue };
        assert!(stopped.refused.is_empty(), "{:?}", stopped.refused);
        let (whole, stopped) = (&whole.reports[0], &stopped.reports[0]);
        let all: std::collections::HashSet<_> = whole
            .races
            .iter()
            .map(|race| (race.sides[0].event, race.sides[1].event))
            .collect();
        for race in &stopped.races {
            let pair = (race.sides[0].event, race.sides[1].event);
            assert!(all.contains(&pair), "{} {pair:?}", engine.name);
        }
        if stopped.stopped.is_some() {
            cut += 1;
            assert!(!stopped.complete);
        } else {
            assert_eq!(stopped.races.len(), whole.races.len(), "{}", engine.name);
        }
    }
    trials.expect(cut > trials.count() / 4, format!("{cut} cut short"));
}

#[test]
fn a_race_whose_schedule_was_not_followed_again_says_so() {
    // Only if the child is second, which it is not in the plain run, do the two write y.
    let program = "shared x; shared y;\nproc main() {\n  async { x = 1; }\n  if x == 0 {\n    async { y = 1; }\n    y = 2;\n  }\n}\n";
    let options = CheckOptions {
        explore: Some(CheckOptions::MAX_STATES),
        ..CheckOptions::default()
    };
    let mut check = check("p.tp", program, &options, &|_| {}).unwrap();
    let shown = check.text(usize::MAX);
    let explored = check.report.explored.as_mut().unwrap();
    assert!(!explored.races.is_empty());
    let races = explored.races.iter_mut();
    races.for_each(|race| race.proof = None);
    let hidden = check.text(usize::MAX);
    let [example, none] = ["for example, by the schedule", "without a schedule"];
    assert!(shown.contains(example) && !shown.contains(none), "{shown}");
    assert!(
        hidden.contains(none) && !hidden.contains(example),
        "{hidden}"
    );
}
