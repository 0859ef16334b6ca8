//! Functions of the C library that the program calls here first.
//!
//! Each tells the runtime what it must know and calls the next definition, be it the C library's or that of a
//! library loaded before it. The symbols are weak, as those of the hooks are.

pub mod calls;
pub mod cxx_library;
pub mod descriptors;
mod exceptions;
pub mod formatted;
mod gfortran_library;
mod gomp;
pub mod heap;
mod library_calls;
pub mod locks;
pub mod memory;
pub mod ompt;
pub mod open_files;
pub mod openmp_entries;
pub mod openmp_loops;
mod openmp_memory;
pub mod process;
pub mod processes;
mod readiness;
pub mod real;
pub mod reductions;
pub mod results;
pub mod signals;
pub mod sockets;
pub mod streams;
pub mod strings;
mod system_calls;
pub mod thread_local;
pub mod threads;
mod vectors;
pub mod wide;
