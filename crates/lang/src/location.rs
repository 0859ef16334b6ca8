//! What a program calls its shared memory.

use std::fmt;

/// What a location is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LocationName {
    /// A variable.
    Variable(String),
    /// An element of an array.
    Element(String, u64),
    /// A cell made while the program ran.
    Cell {
        /// The line that made it.
        line: u32,
        /// It was the n-th cell made by that line, from 1.
        ordinal: u32,
    },
}

impl fmt::Display for LocationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocationName::Variable(name) => f.write_str(name),
            LocationName::Element(name, index) => write!(f, "{name}[{index}]"),
            LocationName::Cell { line, ordinal } => write!(f, "alloc@{line}#{ordinal}"),
        }
    }
}
