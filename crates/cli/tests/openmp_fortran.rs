//! The Fortran programs in `tests/openmp/`, with every Fortran compiler there is, for every number of threads that they hold
//! for. Skipped, with what to install, where there is none. [`corpus`] says what can be chosen.

mod corpus;

use std::path::Path;
use std::process::Output;

use corpus::{Corpus, Program, deadheat, fortran_compilers, tries_all};

fn fortran() -> Corpus {
    let mut corpus = Corpus::in_languages("openmp", &["f90", "f"], &["-fopenmp"]);
    for program in &mut corpus.programs {
        if program.threads.is_empty() {
            program.threads = ["2", "4"].map(str::to_string).to_vec();
        }
        if !tries_all() {
            let first = program.name().len() % program.threads.len();
            program.threads.rotate_left(first);
            program.threads.truncate(1);
        }
    }
    corpus
}

fn compilers() -> Vec<&'static str> {
    let compilers = fortran_compilers();
    if compilers.is_empty() {
        println!(
            "skipped: install flang with clang, or gfortran, and libomp (`apt install gfortran libomp-19-dev`)"
        );
    }
    compilers
}

#[test]
fn the_corpus_is_large_and_balanced() {
    fortran().assert_large_and_balanced(60);
}

#[test]
fn every_fortran_program_has_the_verdict_lines_and_variable_it_says() {
    let compilers = compilers();
    let mut corpus = fortran();
    if !tries_all() && compilers.len() > 1 {
        // One for each is enough for an ordinary test run.
        let of_any = corpus
            .programs
            .iter_mut()
            .filter(|program| program.compiler.is_none());
        for (number, program) in of_any.enumerate() {
            program.compiler = Some(["flang", "gfortran"][number / 2 % 2].to_string());
        }
    }
    corpus.assert_verdicts(&compilers, Program::check);
}

fn fc(directory: &Path, words: &str) -> Output {
    let mut command = deadheat();
    command.arg("fc").args(words.split(' '));
    command.current_dir(directory).output().unwrap()
}

/// A module and a program that uses it, which writes a variable of the module in all threads.
fn write_module(directory: &Path) {
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    write(
        "shared.f90",
        "module shared\n  integer :: table(0:3, -1:4) = 0\nend module\n",
    );
    write(
        "main.F90",
        "program main\n  use shared\n#ifdef RACY\n  !$omp parallel num_threads(2)\n  table(2, 3) = 1\n  !$omp end parallel\n#endif\nend program\n",
    );
}

#[test]
fn files_are_compiled_one_by_one_with_modules_and_the_preprocessor() {
    for compiler in compilers() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        std::fs::create_dir(directory.join("mods")).unwrap();
        write_module(directory);
        for words in [
            "-fopenmp -J mods -c shared.f90",
            "-fopenmp -J mods -O2 -DRACY -c main.F90 -o m.o",
            "-fopenmp shared.o m.o -o prog",
        ] {
            let built = fc(directory, &format!("--with={compiler} {words}"));
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            assert!(
                built.status.success() && said.is_empty(),
                "{compiler} {words}: {said}"
            );
        }
        let mut run = deadheat();
        let run = run
            .args(["run", "--", "./prog"])
            .current_dir(directory)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(66), "{compiler}: {said}");
        assert!(
            said.contains("`table(2,3)`") && said.contains("main.F90:5:"),
            "{compiler}: {said}"
        );
    }
}

#[test]
fn a_mistake_in_a_source_is_the_compilers_to_tell() {
    for compiler in compilers() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(
            directory.path().join("wrong.f90"),
            "program wrong\n  x = = 1\nend\n",
        )
        .unwrap();
        let built = fc(directory.path(), &format!("--with={compiler} wrong.f90"));
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(
            !built.status.success() && said.contains("wrong.f90"),
            "{compiler}: {said}"
        );
        assert!(!directory.path().join("a.out").exists());
    }
}
