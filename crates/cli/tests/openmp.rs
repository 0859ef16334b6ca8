//! The programs in `tests/openmp/`, with clang and its OpenMP runtime, for every number of threads that they hold for:
//! checked while they run, and recorded.
//! Skipped, with what to install, where one of the two is missing. [`corpus`] says what can be chosen.

mod corpus;

use corpus::{Corpus, Program, deadheat, openmp_compiler, tries_all};
use serde_json::Value;

/// For how many threads a program holds that does not say so.
const THREADS: [&str; 3] = ["2", "4", "16"];

/// `make corpus` tries every number of threads. An ordinary test run tries one of them, another for other programs.
fn choose_threads(program: &mut Program) {
    let all = program.threads.len();
    if !tries_all() && all > 1 {
        let first = program.name().len() % all;
        program.threads.rotate_left(first);
        program.threads.truncate(1);
    }
}

fn openmp() -> Corpus {
    let mut corpus = Corpus::read("openmp", &["-fopenmp", "-pthread"]);
    for program in &mut corpus.programs {
        if program.threads.is_empty() {
            program.threads = THREADS.map(str::to_string).to_vec();
        }
    }
    corpus
}

#[test]
fn the_corpus_is_large_and_balanced() {
    let corpus = openmp();
    corpus.assert_large_and_balanced(150);
    // Races between tasks do not need a second thread.
    let programs = corpus.programs.iter();
    let with_one = programs.filter(|program| program.is_racy() && program.threads[0] == "1");
    let with_one = with_one.count();
    assert!(with_one >= 50, "{with_one}");
}

#[test]
fn every_command_says_the_same_of_a_race() {
    let mut corpus = openmp();
    corpus.choose_racy(6);
    if let Some(compiler) = openmp_compiler() {
        for program in &mut corpus.programs {
            program.threads.rotate_right(1);
            program.threads.truncate(1);
        }
        corpus.assert_verdicts(&[compiler], Program::agree);
    }
}

/// What goes wrong once in thirty runs, or in thirty thousand: a task that goes on on another thread while this one still returns
/// from it. Pauses at random where tasks meet bring such schedules about.
#[test]
fn tasks_have_one_verdict_in_every_run() {
    let mut corpus = openmp();
    corpus.programs.retain(|program| match tries_all() {
        true => program.has_tasks(),
        false => program.name().contains("untied"),
    });
    assert!(corpus.programs.len() >= 7);
    for program in &mut corpus.programs {
        program.threads = ["2", "3", "8"].map(str::to_string).to_vec();
        let mut threads = std::mem::take(&mut program.threads);
        threads.retain(|threads| !program.hangs_with(threads));
        program.threads = threads;
    }
    if let Some(compiler) = openmp_compiler() {
        corpus.assert_verdicts_in_runs(6, &[compiler], Program::check_with_pauses);
    }
}

#[test]
fn no_runs_promise_is_contradicted_by_another_run() {
    let mut corpus = openmp();
    if !tries_all() {
        let mut number = 0;
        corpus.programs.retain(|program| {
            number += 1;
            program.name().contains("-promise-") || number % 16 == 0
        });
    }
    for program in &mut corpus.programs {
        // Every number of threads is tried, whatever the program's verdict holds for.
        program.threads.truncate(1);
    }
    if let Some(compiler) = openmp_compiler() {
        corpus.assert_verdicts(&[compiler], Program::keep_promises);
    }
}

#[test]
fn every_program_has_the_verdict_lines_and_variable_it_says() {
    let mut corpus = openmp();
    match openmp_compiler() {
        Some(compiler) => {
            corpus.programs.iter_mut().for_each(choose_threads);
            corpus.assert_verdicts(&[compiler], Program::check_and_record);
        }
        None => println!(
            "skipped {} programs: install clang-19 and libomp-19-dev (`apt install clang-19 libomp-19-dev`)",
            corpus.programs.len()
        ),
    }
}

/// The status of a race that is certain.
const FAIL: &str = "--error-exitcode=66";

/// What a program's body under `deadheat run` with two threads gives: its report.
fn report_of(body: &str, compiler: &str, options: &[&str]) -> Value {
    report_with("", body, compiler, options)
}

/// The same, instrumented so.
fn report_with(instrument: &str, body: &str, compiler: &str, options: &[&str]) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let [source, executable, json] = ["p.c", "p", "p.json"].map(|name| directory.path().join(name));
    let text = format!(
        "#include <omp.h>\nint a[100];\nomp_lock_t lock;\nint main(void) {{\nomp_init_lock(&lock);\n{body}\nreturn 0; }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let mut build = deadheat();
    build.args(["cc", &format!("--with={compiler}"), "-O1", "-fopenmp"]);
    build.arg(&source).arg("-o").arg(&executable);
    build.env("DEADHEAT_INSTRUMENT", instrument);
    assert!(build.status().unwrap().success(), "{body}");
    let mut run = deadheat();
    let fails = options.contains(&FAIL);
    run.args(["run", "--quiet"]).args(options);
    // A race that is certain would change the status; one that is possible does not.
    run.args((!fails).then_some("--error-exitcode=0"));
    run.arg(format!("--json={}", json.display()));
    run.arg("--").arg(&executable).env("OMP_NUM_THREADS", "2");
    assert!(run.status().unwrap().success(), "{body}");
    serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap()
}

/// Whoever wants a lock that another member of its team holds at a barrier has to have had it before, or wait until after.
#[test]
fn no_order_is_predicted_in_which_a_lock_is_free_at_a_barrier_at_which_it_was_held() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    let body = "#pragma omp parallel
        {
          int me = omp_get_thread_num();
          if (me == 0) { a[0] = 1; omp_set_lock(&lock); a[9] = 1; omp_unset_lock(&lock);
            __atomic_store_n(&a[99], 1, __ATOMIC_RELAXED); }
          if (me == 1) { while (!__atomic_load_n(&a[99], __ATOMIC_RELAXED)) {}
            omp_set_lock(&lock); a[0] = 2; }
        #pragma omp barrier
          if (me == 1) { a[1] = 2; omp_unset_lock(&lock); }
          else { omp_set_lock(&lock); omp_unset_lock(&lock); a[1] = 1; }
        }";
    let report = report_of(body, compiler, &["--predict"]);
    assert_eq!(report["races"], serde_json::json!([]), "{report}");
    assert_eq!(report["predicted"], serde_json::json!([]), "{report}");
}

/// Two tasks or threads of which one follows the other because of flags in critical sections, or because who has a lock meets the other
/// before giving it back: neither the order of tasks nor a lock that both hold keeps their accesses apart.
const DECIDED: [&str; 7] = [
    // The zipper paper's Figure 2.
    "#pragma omp parallel
     #pragma omp single
     {
     #pragma omp task if(0)
       {
     #pragma omp task
         {
     #pragma omp critical
           { if (!a[1]) a[0] = 1; a[3] = 1; }
         }
       }
       for (int seen = 0; !seen;) {
     #pragma omp taskyield
     #pragma omp critical
         seen = a[3];
       }
     #pragma omp critical
       a[1] = 1;
       a[2] = a[0];
     }",
    // A barrier made of flags.
    "#pragma omp parallel
     {
       int me, seen;
     #pragma omp critical
       me = a[1]++;
       if (me == 0) a[0] = 1;
     #pragma omp critical
       a[2]++;
       do {
     #pragma omp critical
         seen = a[2];
       } while (seen < 2);
       if (me == 1) a[3] = a[0];
     }",
    // A lock that is held across a barrier.
    "#pragma omp parallel num_threads(2)
     {
       if (omp_get_thread_num() == 0) omp_set_lock(&lock);
     #pragma omp barrier
       if (omp_get_thread_num() == 0) {
         a[0] = 1;
         omp_unset_lock(&lock);
       } else {
         omp_set_lock(&lock);
         omp_unset_lock(&lock);
         a[0] = 2;
       }
     }",
    // A barrier of two locks: each thread gives back its own and waits for the other's.
    "static omp_lock_t other;
     omp_init_lock(&other);
     #pragma omp parallel num_threads(2)
     {
       int first = omp_get_thread_num() == 0;
       omp_lock_t *mine = first ? &lock : &other, *theirs = first ? &other : &lock;
       omp_set_lock(mine);
     #pragma omp barrier
       if (first) a[0] = 1;
       omp_unset_lock(mine);
       omp_set_lock(theirs);
       omp_unset_lock(theirs);
       if (!first) a[0] = 2;
     }",
    // A barrier that can be used again, of three locks for each thread: it holds the next one before it gives back this one.
    "static omp_lock_t locks[2][3];
     for (int i = 0; i < 6; i++) omp_init_lock(&locks[i / 3][i % 3]);
     #pragma omp parallel num_threads(2)
     {
       int me = omp_get_thread_num();
       omp_lock_t *mine = locks[me], *theirs = locks[1 - me];
       omp_set_lock(&mine[0]);
     #pragma omp barrier
       for (int i = 0; i < 6; i++) {
         if (i % 2 == me) a[0] = i;
         omp_set_lock(&mine[(i + 1) % 3]);
         omp_unset_lock(&mine[i % 3]);
         omp_set_lock(&theirs[i % 3]);
         omp_unset_lock(&theirs[i % 3]);
       }
       omp_unset_lock(&mine[0]);
     }",
    // A lock that is held while the task is created that takes it.
    "#pragma omp parallel num_threads(2)
     #pragma omp single
     {
       omp_set_lock(&lock);
     #pragma omp task
       {
         omp_set_lock(&lock);
         omp_unset_lock(&lock);
         a[0] = 1;
       }
       a[0] = 2;
       omp_unset_lock(&lock);
     }",
    // Tasks of one thread, which ask for its number: that chooses an element of the array, but no other variable.
    "static int whole;
     #pragma omp parallel num_threads(1)
     {
       a[2 + omp_get_thread_num()]++;
     #pragma omp task
       {
         a[2 + omp_get_thread_num()]++;
         whole++;
       }
       a[1] = whole;
     }",
];

#[test]
fn a_race_that_flags_locks_or_a_threads_number_may_rule_out_is_only_possible() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    for body in DECIDED {
        let report = report_of(body, compiler, &[FAIL]);
        let races = report["races"].as_array().unwrap();
        assert_eq!(races.len(), 1, "{report}");
        assert_eq!(races[0]["status"], "possible", "{report}");
        let promise = report["guarantee"].as_str().unwrap();
        assert!(
            promise.starts_with("no certain race in this run"),
            "{promise}"
        );
    }
}

#[test]
fn a_race_beside_critical_sections_is_certain() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    let body = "#pragma omp parallel
        for (int i = 0; i < 50; i++) {
        #pragma omp critical
          a[1]++;
          a[0]++;
        }";
    let report = report_of(body, compiler, &[]);
    assert_eq!(report["races"][0]["status"], "certain", "{report}");
}

/// Programs without race in a run with two threads, which another run may show; and the most that this one may promise.
const LIMITED: [(&str, &str, &str); 8] = [
    (
        "iterations that one task has, as many as there are for so many threads",
        "schedules",
        "#pragma omp parallel
         #pragma omp single
         #pragma omp taskloop
         for (int i = 0; i < 100; i++) a[i == 1 ? 0 : i] = i;",
    ),
    (
        "a team of the runtime's choice",
        "schedules",
        "#pragma omp teams
         a[0]++;",
    ),
    (
        "how many threads there are decides",
        "schedules",
        "#pragma omp parallel
         if (omp_get_num_threads() > 2) a[0] = 1;",
    ),
    (
        "a block for a thread that is not there",
        "schedules",
        "#pragma omp parallel
         {
         #pragma omp masked filter(3)
           a[0] = 1;
         #pragma omp masked
           a[0] = 2;
         }",
    ),
    (
        "critical sections may decide",
        "orders",
        "#pragma omp parallel
         {
           int mine;
         #pragma omp critical
           mine = a[1]++ == 7;
           if (mine) a[0] = 1;
         }",
    ),
    (
        "a chunk is taken for its thread's own",
        "run",
        "#pragma omp parallel
         {
           int me = omp_get_thread_num();
         #pragma omp for schedule(dynamic, 50)
           for (int i = 0; i < 100; i++) a[i] = me;
         }",
    ),
    (
        "a task is taken for its thread's own",
        "run",
        "#pragma omp parallel num_threads(1)
         {
         #pragma omp task
           a[2 + omp_get_thread_num()] = 1;
         }",
    ),
    (
        "an atomic variable's order is taken as it came",
        "run",
        "#pragma omp parallel num_threads(2)
         if (omp_get_thread_num() == 0) {
           a[0] = 1;
         #pragma omp atomic write seq_cst
           a[1] = 1;
         } else {
           for (int seen = 0; !seen;) {
         #pragma omp atomic read seq_cst
             seen = a[1];
           }
           a[0]++;
         }",
    ),
];

/// Loops without race in a run with two threads whose iterations clang's own pass does not tell apart; and whether they have one.
const LOOPS: [(&str, bool, &str); 3] = [
    (
        "iterations that always come together",
        false,
        "#pragma omp parallel for schedule(static, 4)
         for (int i = 1; i < 8; i++) a[i == 1 ? 2 : i] = i;",
    ),
    (
        "iterations that one thread runs together",
        true,
        "#pragma omp parallel for schedule(static)
         for (int i = 1; i < 8; i++) a[i == 1 ? 2 : i] = i;",
    ),
    (
        "iterations that one chunk of a shrinking size has",
        true,
        "#pragma omp parallel for schedule(guided)
         for (int i = 0; i < 100; i++) a[i == 1 ? 0 : i] = i;",
    ),
];

#[test]
fn loops_whose_iterations_are_not_told_apart_limit_the_promise() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    for (what, races, body) in LOOPS {
        let report = report_with("clang", body, compiler, &[]);
        assert_eq!(report["races"], serde_json::json!([]), "{what}");
        assert_eq!(report["scope"], "schedules", "{what}");
        if deadheat_instrument::PLUGIN.is_some() {
            let report = report_of(body, compiler, &[]);
            assert_eq!(report["scope"], "threads", "{what}");
            let found = report["races"].as_array().unwrap();
            assert_eq!(!found.is_empty(), races, "{what}: {report}");
        }
    }
}

/// Lanes go on together, statement by statement: what a later iteration needs of an earlier one has to come before it in the program.
#[test]
fn lanes_of_simd_that_need_each_other_are_races() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    if deadheat_instrument::PLUGIN.is_none() {
        return;
    }
    for (races, body) in [
        (true, "for (int i = 0; i < 90; i++) a[i + 1] = a[i] + 1;"),
        (
            true,
            "for (int i = 0; i < 90; i++) { a[i] = i; a[99 - i] = a[i + 1]; }",
        ),
        (false, "for (int i = 0; i < 90; i++) a[i] = a[i + 1] + 1;"),
        (false, "for (int i = 0; i < 90; i++) a[i] += 1;"),
        (false, "for (int i = 0; i < 90; i++) a[0] = i;"),
        (false, "for (int i = 0; i < 40; i++) a[i + 40] = a[i];"),
    ] {
        for around in ["", "#pragma omp parallel\n#pragma omp single\n"] {
            let report = report_of(&format!("{around}#pragma omp simd\n{body}"), compiler, &[]);
            let found = report["races"].as_array().unwrap();
            assert_eq!(!found.is_empty(), races, "{around}{body}: {report}");
        }
    }
}

#[test]
fn what_one_run_cannot_know_limits_its_promise() {
    let Some(compiler) = openmp_compiler() else {
        return;
    };
    for (what, scope, body) in LIMITED {
        let report = report_of(body, compiler, &[]);
        assert_eq!(report["races"], serde_json::json!([]), "{what}");
        assert_eq!(report["scope"], scope, "{what}: {}", report["guarantee"]);
        let says_any = report["guarantee"].as_str().unwrap().contains("any number");
        assert!(!says_any, "{what}: {}", report["guarantee"]);
    }
}
