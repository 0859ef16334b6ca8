//! What every command that runs a program has.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use deadheat::native;

use crate::status::Status;

/// A program under test.
#[derive(Args)]
pub struct Program {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,

    /// Send SIGTERM to the program after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    timeout: Option<Duration>,

    /// Exit with the program's own status even if it, or a program that it started, was not checked; otherwise 2
    #[arg(long)]
    allow_unchecked: bool,
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

    /// The status where no race was found: it means something only if all was checked.
    pub fn status(&self, is_unchecked: bool, own: u8) -> Status {
        match is_unchecked && !self.allow_unchecked {
            true => Status::Bad,
            false => Status::Program(own),
        }
    }
}
