//! C and C++ programs, from the outside: built, launched, and what was found in them told in their own
//! names and lines. What lives *inside* such a program is `deadheat-rt`, which this crate carries along.
//!
//! - [`compile_if_called`] runs a compiler the way `cc` and `c++` are run, with what checking needs added.
//! - [`cargo`] does the same for Rust programs.
//! - [`launch`] runs a program so built and gives back how it ended and the files it left.
//! - [`write_trace`] makes a trace of what a program has recorded.
//! - [`Findings`] reads those files; [`Survey`] gives addresses their functions, files, lines and
//!   variables, groups what is the same and leaves out what a [`Suppressions`] file names.

mod arguments;
mod driver;
mod findings;
mod launch;
mod names;
mod recording;
mod runtime;
mod rust;
mod suppressions;
mod survey;
mod symbols;
mod toolchain;

pub use driver::{CompileError, Language, compile_if_called};
pub use findings::{
    Access, Depend, End, Findings, FindingsError, Lock, Memory, OpenMp, Process, Race, StackFrame,
    Task, Thread, findings_files,
};
pub use launch::{Launch, LaunchError, Outcome, Program, launch};
pub use recording::{Recorded, RecordingError, tape_of, write_trace};
pub use runtime::{Runtime, RuntimeError};
pub use rust::{CARGO_SINCE, RustError, cargo, cargo_words};
pub use suppressions::{SuppressionError, Suppressions};
pub use survey::Survey;
pub use toolchain::{Compiler, Family, NoCompiler};
