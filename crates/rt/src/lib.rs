//! The native runtime: what lives inside a C or C++ program under test.
#![doc = include_str!("findings.md")]
