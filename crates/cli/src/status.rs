//! The exit status: 0 nothing found, 1 something can go wrong, 2 bad input.

use std::process::ExitCode;

use clap::ValueEnum;

/// The exit status, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Status {
    /// Nothing was found.
    #[default]
    Clean = 0,
    /// Something can go wrong.
    Found = 1,
    /// Bad input, or the result could not be delivered.
    Bad = 2,
}

impl Status {
    /// `Found`, if something was.
    pub fn found(found: bool) -> Status {
        if found { Status::Found } else { Status::Clean }
    }

    /// `Bad`, unless the result was delivered.
    pub fn unless(self, delivered: bool) -> Status {
        if delivered { self } else { Status::Bad }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status as u8)
    }
}

/// What makes the exit status 1.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A race
    Race,
    /// A deadlock
    Deadlock,
    /// A failed assertion or another error of the program
    Error,
    /// A search that did not see everything
    Incomplete,
}
