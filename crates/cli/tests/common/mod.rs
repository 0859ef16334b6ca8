//! Running the binary.

use std::path::{Path, PathBuf};
use std::process::Output;

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
