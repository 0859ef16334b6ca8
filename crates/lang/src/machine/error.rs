//! What can go wrong while a program runs.

use std::fmt;

use deadheat_model::{Site, Strand};

use super::{MAX_STRAND_DEPTH, MAX_STRANDS};

/// A run-time error: it ends the run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuntimeError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The operation that failed.
    pub site: Site,
    /// In which strand.
    pub strand: Strand,
}

/// What can go wrong while a program runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum ErrorKind {
    DivisionByZero,
    IndexOutOfRange {
        index: i64,
        length: u32,
    },
    /// A value of another kind than the operation needs.
    WrongKind {
        wanted: &'static str,
        found: &'static str,
    },
    AssertionFailed,
    /// A promise was set again; where it was set first.
    SetTwice {
        first: Site,
    },
    AcquiredTwice {
        lock: String,
    },
    ReleasedNotHeld {
        lock: String,
    },
    CallsTooDeep,
    StrandsTooDeep,
    TooManyStrands,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::DivisionByZero => f.write_str("division by zero"),
            ErrorKind::IndexOutOfRange { index, length } => write!(
                f,
                "index {index} is out of range: the array has {length} elements"
            ),
            ErrorKind::WrongKind { wanted, found } => write!(f, "expected {wanted}, found {found}"),
            ErrorKind::AssertionFailed => f.write_str("the assertion does not hold"),
            ErrorKind::SetTwice { .. } => f.write_str("this promise is already set"),
            ErrorKind::AcquiredTwice { lock } => {
                write!(f, "this strand already holds lock `{lock}`")
            }
            ErrorKind::ReleasedNotHeld { lock } => {
                write!(f, "this strand does not hold lock `{lock}`")
            }
            ErrorKind::CallsTooDeep => f.write_str("procedure calls are nested too deep"),
            ErrorKind::StrandsTooDeep => {
                write!(f, "tasks start tasks more than {MAX_STRAND_DEPTH} deep")
            }
            ErrorKind::TooManyStrands => {
                write!(
                    f,
                    "more than {MAX_STRANDS} tasks and threads, or too many at once"
                )
            }
        }
    }
}
