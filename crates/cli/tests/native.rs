//! The programs in `tests/native/`, with clang and with gcc. A compiler that is not there is counted as skipped, with
//! what to install. [`corpus`] says what can be chosen.

mod corpus;

use corpus::{Corpus, compiles};

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
    corpus.assert_verdicts(&compilers);
}
