//! The programs in `tests/native/`, with clang and with gcc: checked while they run, and recorded, where what m2 predicts
//! must be among the program's races. Those of `tests/predict/` are run by `deadheat run --predict`. A compiler that is not
//! there is counted as skipped, with what to install. [`corpus`] says what can be chosen.

mod corpus;

use corpus::{Corpus, Program, compiles};

fn native() -> Corpus {
    Corpus::read("native", &["-pthread"])
}

#[test]
fn the_corpus_is_large_and_balanced() {
    native().assert_large_and_balanced(120);
}

#[test]
fn every_program_has_the_verdict_lines_and_variable_it_says() {
    let corpus = native();
    corpus.assert_verdicts(&compilers(&corpus), Program::check_twice);
}

#[test]
fn every_command_says_the_same_of_a_race() {
    let mut corpus = native();
    corpus.choose_racy(4);
    let compilers = compilers(&corpus);
    corpus.assert_verdicts(&compilers[..1.min(compilers.len())], Program::agree);
}

#[test]
fn every_command_says_that_a_lock_must_live_while_it_is_used() {
    let mut corpus = native();
    corpus
        .programs
        .retain(|program| program.name() == "lock-life.c");
    let compilers = compilers(&corpus);
    corpus.assert_verdicts(&compilers[..1.min(compilers.len())], Program::agree);
}

#[test]
fn what_other_schedules_do_is_predicted_with_a_witness_and_nothing_else_is() {
    let corpus = Corpus::read("predict", &["-pthread"]);
    corpus.assert_verdicts(&compilers(&corpus), Program::predict);
}

/// The compilers that are here; says what to install for those that are not.
fn compilers(corpus: &Corpus) -> Vec<&'static str> {
    let families = [("clang-19", "clang", "clang-19"), ("gcc", "gcc", "gcc g++")];
    let mut compilers = Vec::new();
    for (best, other, package) in families {
        match [best, other]
            .into_iter()
            .find(|name| compiles(name, &["--version"]))
        {
            Some(name) => compilers.push(name),
            None => println!(
                "skipped {} programs: install {package} (`apt install {package}`)",
                corpus.programs.len()
            ),
        }
    }
    compilers
}
