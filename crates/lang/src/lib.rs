//! The `.tp` language.

pub mod syntax;
