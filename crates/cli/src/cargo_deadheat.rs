//! `cargo deadheat`: what cargo calls for a word that it does not know. Becomes `deadheat cargo`.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // The command lies beside, or is on the path.
    let beside = std::env::current_exe().map(|own| own.with_file_name("deadheat"));
    let deadheat = match beside {
        Ok(path) if path.exists() => path,
        _ => PathBuf::from("deadheat"),
    };
    let mut words = std::env::args_os().skip(1).peekable();
    // cargo says by which word it was called.
    words.next_if(|word| word == "deadheat");
    let error = Command::new(&deadheat).arg("cargo").args(words).exec();
    eprintln!(
        "error: `{}` could not be started: {error}",
        deadheat.display()
    );
    ExitCode::FAILURE
}
