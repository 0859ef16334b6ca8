//! What is said of one run, against every schedule: no sentence of `check`, `analyze` or `explain` is contradicted by what
//! `--explore` finds in the same program.

use std::collections::BTreeSet;
use std::path::Path;

use deadheat::trace;
use deadheat::{
    AnalyzeOptions, Check, CheckError, CheckOptions, EngineChoice, ExplainOptions, Verdict,
    analyze, check, explain,
};
use deadheat_lang::Schedule;
use deadheat_model::finding::{Rule, Status};
use deadheat_offline::{ENGINES, Worth};
use deadheat_testing::Trials;
use deadheat_testing::programs::{self, Family, Recipe};

/// How many states a program may have to be explored.
const MAX_STATES: u64 = 3_000;

/// How many schedules of a program are run.
const RUNS: u64 = 4;

/// What every schedule of a program says.
struct Truth {
    racy: BTreeSet<String>,
    deterministic: bool,
    deadlock: bool,
    error: bool,
}

impl Truth {
    /// Nothing, if there are too many schedules, or one never ends.
    fn new(source: &str) -> Option<Truth> {
        let options = CheckOptions {
            explore: Some(MAX_STATES),
            ..CheckOptions::default()
        };
        let explored = check("p.tp", source, &options, &|_| {}).ok()?;
        let explored = explored.report.explored?;
        let truth = Truth {
            racy: explored.racy_locations.into_iter().collect(),
            deterministic: explored.deterministic?,
            deadlock: explored.deadlock_possible,
            error: explored.error_possible,
        };
        (explored.complete && !explored.endless_possible).then_some(truth)
    }

    /// What a sentence says of all schedules, if that is not so.
    fn contradicts(&self, sentence: &str) -> Option<&'static str> {
        let everywhere = [
            "race-free",
            "no two accesses of this trace race, under any schedule",
        ];
        let is_promised = everywhere.iter().any(|words| sentence.contains(words));
        let of = |words| sentence.contains(words);
        if is_promised && !self.racy.is_empty() {
            return Some("some schedule has a race");
        }
        if of("and deterministic") && !self.deterministic {
            return Some("schedules differ");
        }
        if of("every schedule ends in this deadlock") && !(self.deadlock && self.deterministic) {
            return Some("some schedule ends in no deadlock");
        }
        None
    }
}

/// How often something was said that could have been wrong.
#[derive(Default, Debug)]
struct Tally {
    programs: u64,
    of_all_schedules: u64,
    of_this_schedule: u64,
    real: u64,
    first_or_deadlock: u64,
    predicted: u64,
}

fn is_run(error: &CheckError) -> bool {
    !matches!(
        error,
        CheckError::CannotOrder { .. } | CheckError::Engine(_)
    )
}

/// The run of a program under a schedule, as an engine sees it; nothing if it cannot order what the program uses.
fn run(source: &str, schedule: u64, engine: &'static deadheat_offline::Engine) -> Option<Check> {
    let options = CheckOptions {
        engine: Some(engine),
        schedule: Schedule::Random(schedule),
        ..CheckOptions::default()
    };
    match check("p.tp", source, &options, &|_| {}) {
        Ok(checked) => Some(checked),
        Err(error) if is_run(&error) => panic!("{error}\n{source}"),
        Err(_) => None,
    }
}

/// A sentence about a run of a program that some schedule contradicts.
fn fault(source: &str, seed: u64, folder: &Path, tally: &mut Tally) -> Option<String> {
    let truth = Truth::new(source)?;
    tally.programs += 1;
    for schedule in seed..seed + RUNS {
        let own = run(source, schedule, &deadheat_offline::graph::ENGINE)?;
        let own_racy = own.report.racy_locations.clone();
        for engine in ENGINES {
            let Some(checked) = run(source, schedule, engine) else {
                continue;
            };
            let report = &checked.report;
            let sentence = report.guarantee();
            let wrong = |why: &str| {
                Some(format!(
                    "{}, schedule {schedule}: {why}: {sentence}",
                    engine.name
                ))
            };
            if let Some(why) = truth.contradicts(&sentence) {
                return wrong(why);
            }
            tally.of_all_schedules += u64::from(sentence.contains("under every schedule"));
            if sentence.contains("no race in this schedule") {
                tally.of_this_schedule += 1;
                if !own_racy.is_empty() {
                    return wrong("the schedule has a race");
                }
            }
            if sentence.contains("nothing orders the accesses shown")
                && !report.racy_locations.iter().all(|x| own_racy.contains(x))
            {
                return wrong("something orders them");
            }
            let mut racy = report.racy_locations.iter();
            match engine.worth {
                Worth::Suspects(_) => {}
                Worth::FirstIsRealOrDeadlock => {
                    tally.first_or_deadlock += u64::from(!report.races.is_empty());
                    let mut races = report.races.iter();
                    let is_real = |x: &str| truth.racy.contains(x);
                    let some = races.any(|race| is_real(&race.variable.name));
                    if sentence.contains("the first race can happen")
                        && !some
                        && !truth.deadlock
                        && !truth.error
                    {
                        return wrong("no schedule has one of these races, nor a deadlock");
                    }
                }
                _ => {
                    tally.real += report.racy_locations.len() as u64;
                    if let Some(x) = racy.find(|x| !truth.racy.contains(*x)) {
                        return wrong(&format!("no schedule has a race on {x}"));
                    }
                }
            }
        }
        let file = folder.join("run.dht");
        trace::save(&file, own.execution()).unwrap();
        let is_whole = !own.report.has_error() && !own.report.has_deadlock();
        let told = fault_of_trace(&file, &truth, &own_racy, is_whole, tally);
        if let Some(told) = told {
            return Some(format!("schedule {schedule}: {told}"));
        }
    }
    None
}

/// The same of what is said about a run that was recorded.
fn fault_of_trace(
    file: &Path,
    truth: &Truth,
    own: &[String],
    is_whole: bool,
    tally: &mut Tally,
) -> Option<String> {
    let source = trace::open(file).unwrap();
    let options = AnalyzeOptions {
        engines: EngineChoice::All,
        ..AnalyzeOptions::default()
    };
    let analysis = analyze(&source, &options, &|_| {}).ok()?;
    if !analysis.refused.is_empty() {
        return Some(analysis.refused.join("; "));
    }
    for report in &analysis.reports {
        let sentence = report.guarantee();
        let wrong = |why: &str| Some(format!("analyze, {}: {why}: {sentence}", report.engine));
        // A trace that ends early says nothing about what would have come behind.
        if is_whole
            && sentence.starts_with("no two accesses of this trace race")
            && !truth.racy.is_empty()
        {
            return wrong("some schedule has a race");
        }
        let is_clean = sentence.contains("in this schedule;")
            || sentence.contains("sections took in this trace;");
        if is_clean && sentence.starts_with("no race") && !own.is_empty() {
            return wrong("the schedule has a race");
        }
        let are_real = sentence.contains("every race shown can happen")
            || sentence.contains("these are all races of any order");
        for race in report.races.iter().filter(|_| are_real) {
            tally.predicted += 1;
            if !truth.racy.contains(&*race.variable.name) {
                return wrong(&format!("no schedule has a race on {}", race.variable.name));
            }
        }
    }
    let explained = explain(&source, &ExplainOptions::default(), &|_| {}).ok()?;
    let report = &explained.report;
    let sentence = report.guarantee();
    if sentence.contains("no two conflicting accesses were left unordered in this run")
        && !own.is_empty()
    {
        return Some(format!("explain: the schedule has a race: {sentence}"));
    }
    for race in &report.races {
        let finding = &race.finding;
        let is_real = finding.status != Some(Status::Tangled) && finding.rule != Rule::Suspect;
        if is_real && !truth.racy.contains(&*finding.variable.name) {
            let text = explained.text(20);
            return Some(format!(
                "explain: no schedule has {:?}\n{text}",
                finding.variable.name
            ));
        }
    }
    None
}

fn compare(salt: u64, recipe: &Recipe) -> (Trials, Tally) {
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::default();
    let trials = Trials::new(salt, 40);
    for trial in &trials {
        let program = programs::program(recipe, &mut trial.rng());
        let Some(told) = fault(&program.to_string(), trial.seed, folder.path(), &mut tally) else {
            continue;
        };
        let smallest = programs::shrink(&program, |candidate| {
            let source = candidate.to_string();
            fault(&source, trial.seed, folder.path(), &mut Tally::default()).is_some()
        });
        let again = fault(
            &smallest.to_string(),
            trial.seed,
            folder.path(),
            &mut Tally::default(),
        );
        panic!("{told}\nsmallest: {again:?}\n{smallest}");
    }
    println!("{tally:?}");
    (trials, tally)
}

#[test]
fn no_sentence_about_threads_with_locks_semaphores_and_events_is_contradicted() {
    let (trials, tally) = compare(0xa1, &Family::Locks.recipe());
    trials.expect(
        tally.of_this_schedule > 10 && tally.predicted > 10,
        format!("{tally:?}"),
    );
    // Little is accessed, so that much is race-free and much deadlocks.
    let sparse = Recipe {
        racy: 15,
        locks: 2,
        semaphores: 1,
        events: 1,
        ..Family::Locks.recipe()
    };
    compare(0xa2, &sparse);
}

#[test]
fn no_sentence_about_tasks_with_promises_is_contradicted() {
    let (trials, tally) = compare(0xa3, &Family::Promises.recipe());
    trials.expect(tally.real > 10, format!("{tally:?}"));
    compare(0xa4, &Family::SharedControl.recipe());
}

#[test]
fn no_sentence_about_all_constructs_is_contradicted() {
    let (trials, tally) = compare(0xa5, &Family::Everything.recipe());
    trials.expect(tally.real > 10, format!("{tally:?}"));
    compare(0xa6, &Family::Isolated.recipe());
}
