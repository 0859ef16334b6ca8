//! The native runtime: what lives inside a C or C++ program under test.
//!
//! `deadheat cc` compiles with the compiler's own instrumentation for races and links this crate, built
//! as a static library with the feature `interpose`. Every access of the program calls a hook; every
//! call that creates, joins or synchronises threads, or gives memory a new meaning, passes through an
//! interposed function.
#![allow(unsafe_code)]
#![cfg_attr(not(feature = "interpose"), allow(dead_code))]

mod access;
mod allocator;
mod depot;
mod fibers;
mod findings;
mod heap;
mod histories;
#[cfg(feature = "interpose")]
mod hooks;
#[cfg(feature = "interpose")]
mod interpose;
mod line;
mod memo;
mod modules;
mod origin;
mod os;
mod shadow;
mod signals;
mod sync;
mod thread;
mod threads;
mod world;

#[cfg(feature = "interpose")]
#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator::new();
