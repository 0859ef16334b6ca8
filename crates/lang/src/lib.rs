//! The `.tp` language.

mod code;
mod compile;
mod constructs;
mod diagnostic;
mod program;
pub mod syntax;

pub use code::Value;
pub use constructs::Construct;
pub use diagnostic::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS};
pub use program::Program;
