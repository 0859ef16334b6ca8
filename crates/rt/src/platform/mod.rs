//! What the runtime stands on instead of the C library: the kernel, memory, modules, signals, and what all threads share.

pub mod allocator;
#[cfg(feature = "interpose")]
pub mod checked;
pub mod heap;
pub mod modules;
pub mod options;
pub mod os;
pub mod signals;
pub mod table;
pub mod world;
