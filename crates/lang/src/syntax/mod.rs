//! The text of a program and its shape: characters to tokens to tree.

pub mod ast;
mod lexer;
mod parser;
mod print;

pub use parser::{MAX_SOURCE_BYTES, parse};
