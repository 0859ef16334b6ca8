//! The programs in `tests/openmp/`, with clang and its OpenMP runtime, for every number of threads that they hold for:
//! checked while they run, and recorded.
//! Skipped, with what to install, where one of the two is missing. [`corpus`] says what can be chosen.

mod corpus;

use corpus::{Corpus, Program, openmp_compiler, tries_all};

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

/// What goes wrong once in thirty runs: a task that goes on on another thread while this one still returns from it.
#[test]
fn untied_tasks_have_one_verdict_in_every_run() {
    let mut corpus = openmp();
    let about = if tries_all() { "task" } else { "untied" };
    let chosen = |program: &Program| program.name().contains(about);
    corpus.programs.retain(chosen);
    assert!(corpus.programs.len() >= 7);
    for program in &mut corpus.programs {
        program.threads = ["2", "3", "8"].map(str::to_string).to_vec();
    }
    if let Some(compiler) = openmp_compiler() {
        corpus.assert_verdicts_in_runs(6, &[compiler], Program::check);
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
