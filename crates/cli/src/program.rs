//! What every command that runs a program has.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use deadheat::native;

use crate::output::warn_of;

/// A program under test.
#[derive(Args)]
pub struct Program {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,

    /// Send SIGTERM to the program after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    timeout: Option<Duration>,
}

impl Program {
    /// The program and its arguments, as they were written.
    pub fn command(&self) -> &[OsString] {
        &self.command
    }

    /// The same for the library.
    pub fn to_run(&self) -> native::Program {
        let mut words = self.command.iter().cloned();
        native::Program {
            path: words.next().unwrap_or_default(),
            arguments: words.collect(),
            timeout: self.timeout,
        }
    }

    /// Says that the program was not built for it: nothing was `done`.
    pub fn warn_of_nothing(&self, done: &str) {
        let program = self.to_run().path;
        warn_of(format_args!(
            "nothing was {done}: `{}` was not built by `deadheat cc` or `deadheat c++`",
            program.to_string_lossy()
        ));
    }
}
