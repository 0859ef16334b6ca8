//! Running the binary.

use std::path::{Path, PathBuf};
use std::process::Output;

use deadheat::model::Construct;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `deadheat` with these arguments in the project's root.
#[allow(dead_code)]
pub fn deadheat<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Output {
    command(arguments).output().expect("the binary runs")
}

/// Runs `deadheat` with a program on its standard input.
#[allow(dead_code)]
pub fn deadheat_on(arguments: &[&str], source: impl Into<Vec<u8>>) -> Output {
    command(arguments)
        .write_stdin(source)
        .output()
        .expect("the binary runs")
}

fn command<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_deadheat"));
    command.current_dir(root()).args(arguments);
    command
}

/// Standard output as text.
#[allow(dead_code)]
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Standard error as text.
#[allow(dead_code)]
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The engines that order threads and their locks, and the others.
#[allow(dead_code)]
pub fn engines_of_threads_and_tasks() -> [Vec<&'static str>; 2] {
    [true, false].map(|of_threads| {
        let engines = deadheat::ENGINES.iter();
        let engines = engines.filter(|engine| engine.orders(Construct::Lock) == of_threads);
        engines.map(|engine| engine.name).collect()
    })
}

/// A command by each engine: on the trace, which is of threads, or else on a program of tasks.
#[allow(dead_code)]
pub fn by_every_engine(trace: &str) -> Vec<Vec<&str>> {
    let [threads, tasks] = engines_of_threads_and_tasks();
    let analyze = |engine| vec!["analyze", "--engine", engine, trace];
    let check = |engine| vec!["check", "--engine", engine, "examples/lost-update.tp"];
    let commands = threads.into_iter().map(analyze);
    commands.chain(tasks.into_iter().map(check)).collect()
}
