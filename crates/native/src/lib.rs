//! C and C++ programs, from the outside: built, launched, and what was found in them told in their own
//! names and lines. What lives *inside* such a program is `deadheat-rt`, which this crate carries along.
//!
//! - [`compile_if_called`] runs a compiler the way `cc` and `c++` are run, with what checking needs added.
//! - [`cargo`] does the same for Rust programs.
//! - [`launch`] runs a program so built and gives back how it ended and what it has delivered.
//! - [`write_trace`] makes a trace of what a program has recorded.
//! - [`Findings`] reads that; [`Survey`] gives addresses their functions, files, lines and
//!   variables, groups what is the same and leaves out what a [`Suppressions`] file names.

mod arguments;
mod driver;
mod findings;
mod flang;
mod gfortran;
mod launch;
mod mailbox;
mod names;
mod private;
mod recording;
mod runtime;
mod rust;
mod suppressions;
mod survey;
mod symbols;
mod toolchain;
mod unchecked;
mod waits;

pub use driver::{CompileError, Language, compile_if_called};
pub use findings::{
    Access, Depend, End, Findings, FindingsError, Lock, Memory, OpenMp, Process, Race, StackFrame,
    Task, Thread,
};
pub use launch::{Launch, LaunchError, Outcome, Program, Tapes, launch};
pub use mailbox::{Letters, Mailbox};
pub use private::temporary_directory;
pub use recording::{Recorded, RecordingError, write_trace};
pub use runtime::{Runtime, RuntimeError};
pub use rust::{CARGO_SINCE, RustError, cargo, cargo_words};
pub use suppressions::{SuppressionError, Suppressions};
pub use survey::Survey;
pub use toolchain::{Compiler, Family, NoCompiler};
pub use waits::{Awaited, Waiter, Waiting};
