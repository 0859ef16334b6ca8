//! Running the binary.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use deadheat::model::Construct;
use tempfile::TempDir;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `deadheat` with these arguments in the project's root.
pub fn deadheat<A: AsRef<OsStr>>(arguments: &[A]) -> Output {
    command(arguments).output().expect("the binary runs")
}

/// Runs `deadheat` with a program on its standard input.
pub fn deadheat_on(arguments: &[&str], source: impl Into<Vec<u8>>) -> Output {
    let mut command = command(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().expect("the binary runs");
    let (mut stdin, source) = (running.stdin.take().expect("piped"), source.into());
    // It may answer before it has read everything, and need not read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&source));
    let output = running.wait_with_output().expect("the binary runs");
    let _ = writer.join().expect("writing does not panic");
    output
}

/// Runs `deadheat` in a directory.
pub fn deadheat_in(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    command.current_dir(directory).output().unwrap()
}

/// `deadheat` with these arguments in the project's root.
pub fn command<A: AsRef<OsStr>>(arguments: &[A]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
    command.current_dir(root()).args(arguments);
    command
}

/// A directory with these files; none where nothing can be compiled.
pub fn directory(files: &[(&str, &str)]) -> Option<TempDir> {
    let there = deadheat(&["cc", "--version"]);
    if !there.status.success() {
        println!("skipped: {}", stderr(&there));
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    Some(directory)
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The engines that order threads and their locks, and the others.
pub fn engines_of_threads_and_tasks() -> [Vec<&'static str>; 2] {
    [true, false].map(|of_threads| {
        let engines = deadheat::ENGINES.iter();
        let engines = engines.filter(|engine| engine.orders(Construct::Lock) == of_threads);
        engines.map(|engine| engine.name).collect()
    })
}

/// A command by each engine: on the trace, which is of threads, or else on a program of tasks.
pub fn by_every_engine(trace: &str) -> Vec<Vec<&str>> {
    let [threads, tasks] = engines_of_threads_and_tasks();
    let analyze = |engine| vec!["analyze", "--engine", engine, trace];
    let check = |engine| vec!["check", "--engine", engine, "examples/lost-update.tp"];
    let commands = threads.into_iter().map(analyze);
    commands.chain(tasks.into_iter().map(check)).collect()
}
