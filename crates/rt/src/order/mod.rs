//! Threads and what orders them.

pub mod fibers;
pub mod registry;
pub mod sync;
pub mod thread;
pub mod threads;
