//! What the runtime stands on instead of the C library: the kernel, memory, modules, signals, and what all threads share.

pub mod allocator;
#[cfg(feature = "interpose")]
pub mod checked;
pub mod heap;
pub mod modules;
pub mod objects;
#[cfg(feature = "interpose")]
pub mod optional_symbol;
pub mod options;
pub mod os;
pub mod pauses;
pub mod signals;
pub mod table;
pub mod world;
