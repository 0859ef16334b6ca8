//! The exit status: 0 nothing found, 1 something can go wrong, 2 bad input, or a program's own.

use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The exit status, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing was found.
    Clean,
    /// Something can go wrong.
    Found,
    /// Bad input, or the result could not be delivered.
    Bad,
    /// That of a program that was run.
    Program(u8),
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
        ExitCode::from(match status {
            Status::Clean => 0,
            Status::Found => 1,
            Status::Bad => 2,
            Status::Program(own) => own,
        })
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
    /// A witness that is not valid
    Refused,
    /// A race without a witness
    Unproven,
    /// A race that another order of critical sections may have, or not
    Possible,
    /// A search that did not see everything
    Incomplete,
}

impl FailOn {
    /// The parser for a command that can find `kinds`; no other kind is offered or accepted.
    pub fn among(kinds: &'static [FailOn]) -> impl TypedValueParser<Value = FailOn> {
        let values = kinds.iter().filter_map(FailOn::to_possible_value);
        PossibleValuesParser::new(values).map(|word| {
            let kind = <FailOn as ValueEnum>::from_str(&word, false);
            kind.unwrap_or_else(|error| unreachable!("a possible value: {error}"))
        })
    }
}
