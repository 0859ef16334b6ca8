//! The text of a program and its shape: characters to tokens to tree, and back to text.

pub mod ast;
